# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory has one policy, lib/common/memory.h: whatever allocates is wrapped in memory_need().
Requests to the kernel are built by lib/network/nl.h only, where nothing can be forgotten. Bits of
slots are those of bpf/slots.h, and lib/lacp/, which uses no other folder, has the same.
"""
import re

import pytest

from built import ROOT
from test_ladder import FILES

ALLOCATORS = (r"(?<!memory_need\()\b"
              r"(malloc|calloc|realloc|reallocarray|strdup|strndup|open_memstream)\(")
PRINTERS = r"\bv?asprintf\("  # memory_text() is ours
BUILDERS = r"\b(nlmsg_(alloc\w*|append|put|convert)|nla_(put\w*|nest_\w+|reserve))\("
SLOT = r"(?:\w+(?:->|\.))*slot\b"
BITS = rf"(?<!& )\b1u?l*\)? ?<< ?{SLOT}|>> ?{SLOT} ?& ?1\b"
# For programs of others, whose caller learns of it.
OTHERS = ("include/xbond/loader.h", "xsk/")


def code(path):
    """Without comments, texts, and line breaks behind a parenthesis."""
    text = (ROOT / path).read_text()
    return re.sub(r'/\*.*?\*/|"(\\.|[^"\\])*"|(?<=\()\s+', "", text, flags=re.S)


@pytest.mark.parametrize("pattern,homes", [
    (ALLOCATORS, ("lib/common/memory.c", *OTHERS)), (PRINTERS, ("lib/common/memory.c", *OTHERS)),
    (BUILDERS, ("lib/network/nl.c",)), (BITS, ("bpf/slots.h", "lib/lacp/machines.h"))])
def test_one_way(pattern, homes):
    found = {str(path): call[0] for path in FILES
             for call in re.finditer(pattern, code(path), re.IGNORECASE)}
    assert any(path.startswith(homes) for path in found)
    assert {path: call for path, call in found.items() if not path.startswith(homes)} == {}
