# SPDX-License-Identifier: GPL-2.0-or-later
"""The LACP core is pure: by its objects it can do nothing but compute on what it is given."""
import re
import subprocess

from built import BUILD, ROOT

OBJECTS = sorted((BUILD / "lacp").glob("*.o"))
ALLOWED = {"memcpy", "memmove", "memset", "memcmp"}
COMPILER = re.compile(
    r"__(popcount[ds]i2|stack_chk_fail|mem(cpy|move|set)_chk|[au]san_.*|ubsan_.*|gcov_.*)$")


def symbols(path, *options):
    lines = subprocess.run(["nm", *options, path], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return [line.split()[-2:] for line in lines if len(line.split()) >= 2]


def test_every_source_is_looked_at():
    sources = sorted(path.stem for path in (ROOT / "lacp").glob("*.c"))
    assert [path.stem for path in OBJECTS] == sources


def test_calls_nothing_outside():
    outside = {(path.name, name) for path in OBJECTS for _, name in symbols(path, "-u")
               if not name.startswith("lacp_") and name not in ALLOWED and not COMPILER.match(name)}
    assert not outside


def test_what_it_exports_is_named_lacp():
    wrong = {(path.name, name) for path in OBJECTS
             for _, name in symbols(path, "-g", "--defined-only") if not name.startswith("lacp_")}
    assert not wrong


def test_keeps_no_state_of_its_own():
    """Initialized or zeroed writable data. Constant tables of pointers (.data.rel.ro) are
    read-only.
    """
    found = set()
    for path in OBJECTS:
        headers = subprocess.run(["objdump", "-h", path], check=True, capture_output=True,
                                 text=True).stdout
        for name, size in re.findall(r"^\s*\d+ (\.data\S*|\.bss\S*)\s+([0-9a-f]+)", headers, re.M):
            if int(size, 16) and not name.startswith(".data.rel.ro"):
                found.add((path.name, name))
    assert not found


def test_includes_nothing_but_types_and_itself():
    allowed = {"string.h", "errno.h", "stdbool.h", "stddef.h", "stdint.h"}
    wrong = {(path.name, header) for path in (ROOT / "lacp").glob("*.[ch]")
             for header in re.findall(r'#include [<"]([^>"]+)', path.read_text())
             if header not in allowed and not header.startswith("lacp/")}
    assert not wrong
