# SPDX-License-Identifier: GPL-2.0-or-later
"""`make check` finds tests for every file, and every test is found by some file."""
import pathlib
import re

import pytest

import concerns
from built import BUILD, ROOT
from test_ladder import FILES

NAMES = {name for names in concerns.rows().values() for name in names.split()} - {"users"}
# They take too long, or prove what others prove, for a check of one file.
NEVER = {"net/soak", "net/hitless"}


def test_the_table_names_what_exists():
    gone = [name for name in NAMES if not (ROOT / concerns.path_of(name)).exists()]
    gone += [prefix for prefix in concerns.rows() if not list(ROOT.glob(f"{prefix}*"))]
    assert not gone


def test_every_test_of_the_network_concerns_something():
    """The other suites are named as a whole."""
    found = {f"net/{path.stem.removeprefix('test_')}"
             for path in (ROOT / "tests/net").glob("test_*.py")}
    assert found - NAMES == NEVER


@pytest.mark.parametrize("folder", sorted({path.parent.as_posix() for path in FILES}))
def test_every_folder_has_a_line_of_its_own(folder):
    assert f"{folder}/" in concerns.rows()


@pytest.mark.parametrize("path,expected", [
    ("daemon/slave/slave_team.c", "tests/net/test_team.py"),
    ("tests/net/test_top.py", "tests/net/test_top.py"), ("man/bondctl.8.scd", "tests/manual")])
def test_the_longest_prefix_counts(path, expected):
    assert concerns.by_table(path) == [expected]


def test_who_uses_a_file_is_concerned():
    assert "tests/net/test_alb.py" in concerns.by_table("lib/network/mac_lists.c")


def test_units_by_what_they_are_linked_with():
    units = concerns.programs_of("unit/test_*")
    found = {pathlib.Path(path).name for path in concerns.linked(units, ["lib/lacp/transmit.c"])}
    assert "test_lacp_system" in found and "test_names" not in found, BUILD
    assert concerns.sources_of("cli/top/top.h") and not concerns.sources_of("bpf/abi.h")


def test_the_guests_have_the_kernels_that_are_named():
    kernels = re.findall(r"^([\d.]+)\s", (ROOT / "tests/vm/kernels").read_text(), re.M)
    named = re.findall(r"^tests/\S+ +(\S+)$", (ROOT / "tests/vm/net-core").read_text(), re.M)
    assert kernels and set(named) <= set(kernels)


def test_what_a_suite_has_already_is_not_named_again():
    assert list(concerns.pytest_parts(["tests/cli", "tests/cli/test_top.py", "tests/manual"])) == \
        [["tests/cli"], ["tests/manual"]]
