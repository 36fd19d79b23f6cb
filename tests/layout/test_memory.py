# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory has one policy, lib/common/memory.h: whatever allocates is wrapped in memory_need().
Requests to the kernel are built by lib/network/nl.h only, where nothing can be forgotten.
"""
import re

import pytest

from built import ROOT
from test_ladder import FILES

ALLOCATORS = (r"(?<!memory_need\()\b"
              r"(malloc|calloc|realloc|reallocarray|strdup|strndup|open_memstream)\(")
PRINTERS = r"\bv?asprintf\("  # memory_text() is ours
BUILDERS = r"\b(nlmsg_(alloc\w*|append|put|convert)|nla_(put\w*|nest_\w+|reserve))\("
# For programs of others, whose caller learns of it.
OTHERS = ("include/xbond/loader.h", "xsk/")


def code(path):
    """Without comments, texts, and line breaks behind a parenthesis."""
    text = (ROOT / path).read_text()
    return re.sub(r'/\*.*?\*/|"(\\.|[^"\\])*"|(?<=\()\s+', "", text, flags=re.S)


@pytest.mark.parametrize("pattern,home", [
    (ALLOCATORS, "lib/common/memory.c"), (PRINTERS, "lib/common/memory.c"),
    (BUILDERS, "lib/network/nl.c")])
def test_one_way(pattern, home):
    files = [path for path in FILES if str(path) != home and not str(path).startswith(OTHERS)]
    found = [f"{path}: {call[0]}" for path in files for call in re.finditer(pattern, code(path))]
    assert found == []
