# SPDX-License-Identifier: GPL-2.0-or-later
"""The cores of LACP and BFD are pure: by their objects they can do nothing but compute on what they
are given.
"""
import re
import subprocess

import pytest

from built import BUILD, ROOT

ALLOWED = {"memcpy", "memmove", "memset", "memcmp"}
COMPILER = re.compile(
    r"__(popcount[ds]i2|stack_chk_fail|mem(cpy|move|set)_chk|[au]san_.*|ubsan_.*|gcov_.*)$")

pytestmark = pytest.mark.parametrize("core", ["lib/lacp", "lib/bfd"])


def objects(core):
    return sorted((BUILD / core).glob("*.o"))


def symbols(path, *options):
    lines = subprocess.run(["nm", *options, path], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return [line.split()[-2:] for line in lines if len(line.split()) >= 2]


def test_every_source_is_looked_at(core):
    sources = sorted(path.stem for path in (ROOT / core).glob("*.c"))
    assert sources and [path.stem for path in objects(core)] == sources


def test_calls_nothing_outside(core):
    outside = {(path.name, name) for path in objects(core) for _, name in symbols(path, "-u")
               if not name.startswith(f"{core[4:]}_") and name not in ALLOWED
               and not COMPILER.match(name)}
    assert not outside


def test_what_it_exports_is_named_after_it(core):
    wrong = {(path.name, name) for path in objects(core)
             for _, name in symbols(path, "-g", "--defined-only")
             if not name.startswith(f"{core[4:]}_")}
    assert not wrong


def test_keeps_no_state_of_its_own(core):
    """Initialized or zeroed writable data. Constant tables of pointers (.data.rel.ro) are
    read-only.
    """
    found = set()
    for path in objects(core):
        headers = subprocess.run(["objdump", "-h", path], check=True, capture_output=True,
                                 text=True).stdout
        for name, size in re.findall(r"^\s*\d+ (\.data\S*|\.bss\S*)\s+([0-9a-f]+)", headers, re.M):
            if int(size, 16) and not name.startswith(".data.rel.ro"):
                found.add((path.name, name))
    assert not found


def test_includes_nothing_but_types_and_itself(core):
    allowed = {"string.h", "errno.h", "stdbool.h", "stddef.h", "stdint.h"}
    wrong = {(path.name, header) for path in (ROOT / core).glob("*.[ch]")
             for header in re.findall(r'#include [<"]([^>"]+)', path.read_text())
             if header not in allowed and not header.startswith(f"{core[4:]}/")}
    assert not wrong
