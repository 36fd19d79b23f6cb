# SPDX-License-Identifier: GPL-2.0-or-later
"""show and top without bondd say what the programs do: they avoid slaves that lose carrier."""
import pytest

from test_carrier import in_place_only
from test_explain import explanations, links_taken

CONTINUES = "traffic continues"


def links_of(proc):
    """{slave: its MII Status}, with the bond's under None"""
    found, name = {}, None
    for line in proc.splitlines():
        key, _, value = line.partition(": ")
        if key == "Slave Interface":
            name = value
        elif key == "MII Status":
            found[name] = value
    return found


@in_place_only
@pytest.mark.parametrize("mode", ["balance-xor", "active-backup", "balance-tlb"])
def test_a_slave_that_packets_avoid_is_not_in_use(pair, mode):
    made = pair(mode, links=2, xmit_hash_policy="layer3+4", far={"mode": "broadcast"})
    near = made.near
    lost = explanations(made, 4)[0]["slave"]
    left = next(link for link in made.links if link != lost)
    near.stop_bondd()
    before = near.show()
    assert f"{lost}: " not in near.ctl("show", "bond0").splitlines()[2]
    made.far.ip("link", "set", lost, "down")
    assert set(links_taken(made, 4)) == {left}
    shown = near.ctl("show", "bond0")
    assert f"  {lost}: not used: no carrier\n" in shown and CONTINUES in shown
    assert ("active slave l" if mode == "active-backup" else ", 1 of 2 slaves in use") in shown
    assert links_of(near.ctl("show", "--proc", "bond0")) == {None: "up", lost: "down", left: "up"}
    told = near.show()
    assert [slave["name"] for slave in told["slaves"] if slave["active"]] == [left]
    assert (told["active_slave"], near.slave(lost)["why"]) == \
        (None if mode == "balance-xor" else left, "no carrier")
    assert near.slave(lost)["monitors"]["carrier"] == {"state": "down", "since_ms": 0}
    assert "    monitor carrier      down\n" in near.ctl("show", "-d", "bond0")
    top = near.ctl_json("top", "bond0", "--once", "--interval", "0.1")
    assert [(each["mii_status"], each["share_due"]) for each in
            sorted(top["slaves"], key=lambda each: each["name"] == left)] == \
        [("down", 0), ("up", 1)]
    assert f"{lost}: not used: no carrier" in top["problems"]
    made.far.ip("link", "set", left, "down")
    shown = near.ctl("show", "bond0")
    assert CONTINUES not in shown and "the bond has no carrier: no slave can be used" in shown
    assert "down, 0 of 2 slaves in use" in shown.splitlines()[0]
    assert CONTINUES not in near.ctl("show", "-d", "bond0")
    assert links_of(near.ctl("show", "--proc", "bond0")) == dict.fromkeys([None, *made.links],
                                                                          "down")
    for link in made.links:
        made.far.ip("link", "set", link, "up")
    near.wait_ping("10.0.0.2")
    assert near.show()["slaves"][0]["mii_status"] == before["slaves"][0]["mii_status"] == "up"


@in_place_only
def test_a_drained_slave_takes_over(pair):
    made = pair("balance-rr", links=2)
    made.near.stop_bondd()
    made.near.ctl("set-slave", "bond0", "l1", "drain", "on")
    made.far.ip("link", "set", "l0", "down")
    assert "l1: used although it is drained: no other slave can be used" in \
        made.near.ctl("show", "bond0")


@in_place_only
def test_each_bond_is_looked_at(lone):
    """`show` of all bonds: what one has lost is not said of the next."""
    host = lone(links=2)
    for number, bond in enumerate(("bond0", "bond1")):
        host.ctl("create", bond, "mode", "balance-xor")
        host.ctl("add-slave", bond, f"l{number}")
        host.wait_slaves(f"l{number}", bond=bond)
    host.stop_bondd()
    host.ip("link", "set", "l0", "down")
    assert [bond["slaves"][0]["mii_status"] for bond in host.ctl_json("show")] == ["down", "up"]


@pytest.mark.parametrize("with_bondd", [True, pytest.param(False, marks=in_place_only)])
def test_a_slave_that_was_set_down(pair, with_bondd):
    made = pair("balance-xor", links=2)
    if not with_bondd:
        made.near.stop_bondd()
    made.near.ip("link", "set", "l0", "down")
    if with_bondd:
        made.near.wait_slaves("l1")
    sentence = "it is administratively down ('ip link set l0 up' brings it up)"
    assert made.near.slave("l0")["why"] == sentence
    assert f"  l0: not used: {sentence}" in made.near.ctl("show", "bond0")
    made.near.ip("link", "set", "l0", "up")
    made.far.ip("link", "set", "l0", "down")
    assert "administratively" not in (made.near.slave("l0")["why"] or "")
