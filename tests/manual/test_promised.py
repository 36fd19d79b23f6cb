# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing that docs/compatibility.md promises has gone, or is otherwise."""
import re

import pytest

from built import ROOT
import promised


def test_nothing_that_is_promised_has_gone():
    """Other tests hold the manuals against the same tables, and schemas against real output."""
    lines = promised.PROMISED.read_text().splitlines()
    gone = "\n".join(promised.vanished(lines, promised.names()))
    assert not gone, f"docs/compatibility.md forbids that this goes or changes in 1.x:\n{gone}"


def test_the_page_of_the_control_socket_has_the_fields_of_each_method():
    page = (ROOT / "docs/developers/control.md").read_text()
    requests = dict(re.findall(r'`\{"method": "([a-z-]+)"(.*?)\}`', page))
    told = {(method, field) for method, rest in requests.items()
            for field in ["method", *re.findall(r'"(\w+)": ', rest)]}
    assert requests.pop("load") == ", ..."  # as apply
    told |= {("load", field) for method, field in told if method == "apply"}
    assert told == {tuple(line.split()[1:4:2]) for line in promised.of_methods()
                    if " field " in line}


def test_the_list_is_as_make_promised_writes_it():
    lines = promised.PROMISED.read_text().splitlines()
    assert len(lines) > 1000 and lines == sorted(set(lines))


@pytest.mark.parametrize("now, gone", [
    (["abi 9", "abi 9: map a at 4", "select 1: map a at 0"], ["abi 9: map a at 0"]),
    (["abi 9", "abi 10", "abi 10: map a at 4", "select 1: map a at 4"], ["select 1: map a at 0"]),
    (["abi 10", "abi 10: map a at 4", "select 2: map a at 4"], ["abi 9"]),
    (["abi 9", "abi 10", "abi 10: map a at 4", "select 2: map a at 4"], [])])
def test_a_layout_holds_as_long_as_its_version(now, gone):
    """But every version that was promised is converted."""
    lines = ["abi 9", "abi 9: map a at 0", "select 1: map a at 0"]
    assert promised.vanished(lines, now) == gone


@pytest.mark.parametrize("now, holds", [("1..9", True), ("0..10", True), ("2..9", False),
                                        ("1..8", False), ("1", False)])
def test_a_range_may_become_wider_but_not_narrower(now, holds):
    gone = promised.vanished(["option bond x takes 1..9"], {f"option bond x takes {now}",
                                                            "option bond y takes 0..99"})
    assert (not gone) == holds
