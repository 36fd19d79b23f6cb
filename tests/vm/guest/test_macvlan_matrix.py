# SPDX-License-Identifier: GPL-2.0-or-later
"""macvlan and ipvlan devices on a bond, in all of their modes and all of the bond's, over NICs with
MAC filters: the 16 rows of the kernel's selftest bond_macvlan_ipvlan.sh for each pair of modes,
again after a slave has lost its cable. A switch or a bond of the kernel is at the other end.
"""
import pytest

from test_bonding import kernel_slaves_up
from waiting import PATIENCE, moments, wait_for

SWITCHED = ["active-backup", "balance-tlb", "balance-alb"]
BONDED = ["balance-rr", "balance-xor", "broadcast", "802.3ad"]
KINDS = [("macvlan", "bridge"), ("macvlan", "private"), ("macvlan", "vepa"),
         ("macvlan", "passthru"), ("ipvlan", "l2"), ("ipvlan", "l3"), ("ipvlan", "l3s")]
IN_CORE = [("active-backup", "ipvlan", "l2"), ("balance-alb", "macvlan", "bridge")]
CASES = [pytest.param(mode, *kind, id="-".join((mode, *kind)),
                      marks=pytest.mark.once if (mode, *kind) in IN_CORE else pytest.mark.full)
         for mode in [*SWITCHED, *BONDED] for kind in KINDS]
NETS = ("10.0.0.", "fd00::")
NUMBERS = {"near": 1, "far": 2, "x1": 31, "x2": 32}  # the ends of their addresses


def build(mode):
    """The far end's device is in made.far.dev."""
    def at_switch(made):
        made.far.dev = "sw0"
        return made.switch().bond(mode, "xmit_hash_policy", "layer3+4", "lp_interval", 1)

    def at_kernel_bond(made):
        made.far.dev = "kb0"
        fast = ["lacp_rate", "fast"] if mode == "802.3ad" else []
        return made.kernel_bond(mode, *fast).bond(mode, *fast, "xmit_hash_policy", "layer3+4")
    return at_switch if mode in SWITCHED else at_kernel_bond


def rows(made, guests):
    """(its name, who pings, whom) for each row of the selftest: the far end and the bond, each
    device and the far end, the devices and each other; IPv4 and IPv6.
    """
    ends = {"far": made.far, "near": made.near, **guests}
    pairs = [pair for name in ("near", *guests) for pair in (("far", name), (name, "far"))]
    if len(guests) == 2:
        pairs += [tuple(guests), tuple(reversed(guests))]
    return [(f"{one}->{other} {net}", ends[one], f"{net}{NUMBERS[other]}")
            for one, other in pairs for net in NETS]


def unanswered(asked):
    """Which of the rows have no answer in time."""
    for _ in moments(10 * PATIENCE):
        asked = [row for row in asked if not row[1].ping(row[2], timeout=0.3)]
        if not asked:
            break
    return [name for name, *_ in asked]


def goes(mode, row):
    """What the modes of the devices allow. (In l3 and l3s, the host's own routes.)"""
    if mode == "passthru":  # takes everything that is the bond's
        return "near" not in row
    return mode not in ("private", "vepa") or "far" in row


def add_device(made, name, kind, mode):
    """In a namespace of its own."""
    guest, number = made.lab.namespace(name), NUMBERS[name]
    made.near.ip("link", "add", "link", "bond0", "name", name, "type", kind, "mode", mode)
    made.near.ip("link", "set", name, "netns", guest.name)
    made.address(guest, name, number)
    if mode in ("l3", "l3s"):  # devices of these modes answer nobody who asks for their address
        for net in NETS:
            made.far.ip("neigh", "replace", f"{net}{number}", "lladdr", made.near.show()["mac"],
                        "dev", made.far.dev)
    return guest


def remove_device(made, name, guest):
    guest.ip("link", "del", name)  # at once, while the kernel ends a namespace at its leisure
    guest.remove()
    made.lab.namespaces.remove(guest)
    for net in NETS:
        made.far.ip("neigh", "del", f"{net}{NUMBERS[name]}", "dev", made.far.dev, check=False)


def cut(made, mode, number, plugged):
    """A switch does not notice; a bond of the kernel does."""
    for end in (number,) if mode in SWITCHED else (number, number + 1):
        made.nics.cable(end, plugged)
    lost = () if plugged else (f"eth{number}", f"eth{number + 1}")
    made.near.wait_slaves(*[name for name in made.near.links if name not in lost])
    if mode in BONDED:
        wait_for(lambda: kernel_slaves_up(made) ==
                 [name for name in made.far.links if name not in lost], "the kernel's slaves")


@pytest.mark.parametrize("bond_mode, kind, mode", CASES)
def test_rows(keeper, bond_mode, kind, mode):
    made = keeper.get(bond_mode, build(bond_mode))
    made.near.wait_slaves(*made.near.links)
    guests = {name: add_device(made, name, kind, mode)
              for name in (("x1",) if mode == "passthru" else ("x1", "x2"))}
    asked = rows(made, guests)
    assert len(asked) == (16 if len(guests) == 2 else 8)
    meant = [row for row in asked if goes(mode, row[0])]
    assert unanswered(meant) == []
    assert [row[0] for row in asked if row not in meant and row[1].ping(row[2], timeout=0.3)] == []
    active = made.near.show()["active_slave"] or made.near.links[0]
    number = int(active.removeprefix("eth"))
    cut(made, bond_mode, number, False)
    assert unanswered(meant) == []
    cut(made, bond_mode, number, True)
    assert unanswered(meant) == []
    for name, guest in guests.items():
        remove_device(made, name, guest)
