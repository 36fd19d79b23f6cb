# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds xbond-maps(5) against the maps' layout, and xbond(7) against the reasons that xbond
prints.
"""
import re
import sys

import pytest

from built import ROOT

sys.path.insert(0, str(ROOT / "tests/bpf"))
import abi  # noqa: E402

OPTIONS = set(re.findall(r'OF_\w+\(OPT_\w+, "(\w+)"',
                         (ROOT / "lib/options/option_table.c").read_text()))
STRUCTS = {"settings": "xbond_settings", "table": "xbond_table", "buckets": "xbond_buckets",
           "counters": "xbond_counters", "cursor": "xbond_cursor", "bond": "xbond_bond",
           "slaves": "xbond_slave", "monitors": "xbond_verdict", "failover": "xbond_failover",
           "attached": "xbond_attached", "wake": "xbond_wake", "told": "xbond_told"}
# Where the sentences of `show` are.
REASONS = ("lib/view/view_why.c", "lib/common/mode.c", "lib/view/lacp_why.c")


def section(manual, title):
    page = (ROOT / f"man/{manual}.scd").read_text()
    return page.split(f"\n# {title}\n")[1].split("\n# ")[0].replace("\\_", "_")


def entries(text):
    """{word: the paragraph below}, for headings of one or more words in bold."""
    found = {}
    for heading, below in re.findall(r"^(\*\w+\*(?:, \*\w+\*)*)\n((?:\t.*\n)+)", text, re.M):
        found |= {name: below for name in re.findall(r"\w+", heading)}
    return found


def maps():
    """The pins of abi.h that are maps."""
    text = (ROOT / "bpf/abi.h").read_text()
    listed = text.split("Maps: */")[1].split("Prefixes of the names of links")[0]
    return {name for pin, name in re.findall(r'#define XBOND_PIN_(\w+) "(\w+)"', listed)
            if not pin.startswith("PROG_")}


def test_every_map_and_no_other():
    assert set(entries(section("xbond-maps.5", "MAPS"))) | {"losses"} == maps()


@pytest.mark.parametrize("name", STRUCTS)
def test_fields_of_a_map(name):
    """Every field is there. Options of the bond are there by being options."""
    fields = {field for field, _ in abi.btf().struct(STRUCTS[name])._fields_}
    fields = {field for field in fields if not re.match(r"pad\d|unnamed\d", field)}
    described = set(re.findall(r"\*(\w+)\*", entries(section("xbond-maps.5", "MAPS"))[name]))
    of_options = {field for field in fields if name == "bond" and
                  {field, re.sub("_[mu]?s$", "", field)} & OPTIONS} | {"num_peer_notif"}
    assert fields - described - of_options == set()
    assert described - fields - OPTIONS - {"settings", "losses", "path"} == set()


def test_reasons_are_printed_like_this():
    """What is quoted is in the sources, where a string may go on in the next line."""
    text = "".join((ROOT / name).read_text() for name in REASONS)
    text = re.sub(r'"\s*\n\s*"', "", text)
    page = section("xbond.7", "TROUBLESHOOTING").split("## Why is there no traffic")[0]
    quoted = re.findall(r"\*([^*\n]+)\*", "".join(
        line for line in page.splitlines(keepends=True) if line.startswith("*")))
    assert len(quoted) > 15
    for reason in quoted:
        if not reason.startswith("bondctl "):
            words = [part for part in re.split(r"[()]", reason) if part.strip()]
            assert all(part.strip() in text for part in words), reason
