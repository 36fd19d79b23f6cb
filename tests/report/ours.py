# SPDX-License-Identifier: GPL-2.0-or-later
"""Row 6: what nobody publishes about bonding, by the benchmarks of tests/bench: packets lost at a
cut, cost of a packet, balance, unequal links, and cost against slaves, bonds and flows.
"""
import importlib
import json
import pathlib
import re
import types

from . import plot
from .figures import Figure

TITLE = "Failover, cost of a packet, balance, unequal links, scale"
ABOUT = (
    "From the benchmarks of xbond (docs/users/datapath.md describes them). A cut sets the far end "
    "of a link down under 60,000 numbered packets per second, while bondd works, after it was "
    "killed, and while it is stopped. Costs are ratios to the same packet over a plain device. "
    "Balance is computed by the datapath's own hash over a million flows, beside the kernel's "
    "hash % n.",
    "The cost beside kernel bonding was measured before, at the date in its rows, in an emulated "
    "machine with Linux 6.12, whose clock follows executed instructions.")
GUEST = pathlib.Path(__file__).with_name("kernel_bonding.json")
# What to take of a benchmark's rows, as a regular expression.
SUBJECTS = {"failover": r": lost at a cut, median$|: worst of \d+$", "transmit": r"ratio|/|adds",
            "receive": r"^receive( to a UDP socket)?: (direct|counted)", "many": "",
            "balance": r"8 slaves, equal.*ideal share|moved?$|8 slaves, 1:10",
            "unequal": r"cubic.*/ sum$|alone"}
STATES = ("works", "killed", "stopped")


def scale_of(scale):
    """What the benchmarks want to know."""
    return types.SimpleNamespace(
        rounds=5 if scale.brief else 21, seconds=0.1, tcp_rounds=1 if scale.brief else 3,
        tcp_seconds=2 if scale.brief else 3, failovers=1 if scale.brief else 3,
        every_failover=False)


def figure(row, command):
    return Figure(row.name, row.value, row.unit, command, bound=row.bound, least=row.least)


def guest_figures():
    """Measured earlier, in the emulated machine."""
    earlier = json.loads(GUEST.read_text())
    command = f"{earlier['command']} ({earlier['date']})"
    added = {}
    for row in earlier["rows"]:
        found = re.search(r"send: (.*) adds$", row["name"])
        if found:
            added[found[1]] = row["value"]
            yield Figure(row["name"], row["value"], row["unit"], command)
    for ours, theirs in (("xbond direct", "bonding xor"), ("xbond direct rr", "bonding rr")):
        yield Figure(f"Linux 6.12, send: {ours} adds, over {theirs}", added[ours] / added[theirs],
                     "ratio", command, bound=1, least=False)


def plots(section):
    lost = {}
    for each in section.figures:
        found = re.match(r"([^,]+), .*bondd (\w+): worst", each.what)
        if found:
            lost.setdefault(found[1], {})[found[2]] = each.value
    if lost:
        yield "failover.svg", plot.bars(
            "Packets lost at a cut, of 60,000 per second: the worst", "packets", list(lost),
            {f"bondd {state}": [each.get(state) for each in lost.values()] for state in STATES})
    added = {found[1]: each.value for each in section.figures
             if (found := re.match(r"Linux 6.12, send: ([^,]*) adds$", each.what))}
    names = [name for name in added if "netkit" not in name]
    yield "cost.svg", plot.bars(
        "What a small packet costs to send beyond a plain device (emulated machine)", "virtual ns",
        names, {"Linux 6.12": [added[name] for name in names]})


def fill(section, scale, say):
    for name, wanted in SUBJECTS.items():
        module = importlib.import_module(f"..bench.{name}", __package__)
        for row in module.rows(scale_of(scale)):
            if re.search(wanted, row.name):
                section.figures.append(figure(row, f"make bench ONLY={name}"))
        say(name)
    section.figures += guest_figures()
    section.plots += plots(section)
