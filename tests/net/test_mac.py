"""At the far end every frame from every slave carries bond0's MAC, whatever happens to
slaves; where that MAC comes from; and what becomes of the slaves' own.
"""
import pytest

from traffic import Capture, Stream, send_packets
from waiting import wait_for

USER_MAC = "02:11:22:33:44:55"


def mac(host, dev="bond0"):
    return host.link(dev)["address"]


def sources(wires):
    return {frame.src for wire in wires for frame in wire.frames(0.1)}


def turmoil(made, stream):
    """Cut, return, del, add: with traffic before, between and after."""
    steps = [lambda: made.far.ip("link", "set", "l1", "down"),
             lambda: made.far.ip("link", "set", "l1", "up"),
             lambda: made.near.ctl("del-slave", "bond0", "l0"),
             lambda: made.near.ctl("add-slave", "bond0", "l0"),
             lambda: made.near.ip("link", "set", "l2", "down"),
             lambda: made.near.ip("link", "set", "l2", "up")]
    for step in steps:
        stream.flow_on(300)
        step()
    made.near.wait_slaves(*made.links)
    stream.flow_on(300)


@pytest.mark.parametrize("path", ["counted", "direct"])
@pytest.mark.parametrize("policy", ["set", "filter"])
@pytest.mark.parametrize("mode", ["balance-xor", "active-backup"])
def test_every_frame_carries_the_bonds_mac(pair, mode, policy, path):
    made = pair(mode, links=3, xmit_hash_policy="layer3+4", mac_policy=policy, path=path,
                far={"mode": "broadcast"} if mode == "active-backup" else None)
    address = mac(made.near)
    wires = [Capture(made.far, link) for link in made.links]
    stream = Stream(made.near, made.far, flows=32)
    turmoil(made, stream)
    stream.finish()
    assert mac(made.near) == address
    assert sources(wires) == {address}


@pytest.mark.parametrize("policy", ["set", "filter"])
def test_a_new_address_goes_to_all_slaves(pair, policy):
    made = pair("balance-xor", links=3, xmit_hash_policy="layer3+4", mac_policy=policy)
    old = mac(made.near)
    wires = [Capture(made.far, link) for link in made.links]
    stream = Stream(made.near, made.far, flows=32)
    stream.flow_on(500)
    made.near.ip("link", "set", "bond0", "address", USER_MAC)
    stream.flow_on(500)
    stream.finish()
    assert sources(wires) == {old, USER_MAC}
    wait_for(lambda: made.near.show()["mac"] == USER_MAC, "bondd to see the new address")
    if policy == "set":
        wait_for(lambda: {mac(made.near, link) for link in made.links} == {USER_MAC},
                 "the slaves to follow")
    made.near.wait_ping("10.0.0.2")
    send_packets(made.near, count=300, flows=30)
    assert sources(wires) == {USER_MAC}


def test_filter_keeps_the_slaves_own(pair):
    made = pair("balance-xor", links=2, mac_policy="filter")
    shown = made.near.show()
    assert [slave["mac"] for slave in shown["slaves"]] == [slave["perm_mac"]
                                                           for slave in shown["slaves"]]
    assert len({mac(made.near, link) for link in made.links}) == 2
    second = next(link for link in made.links if mac(made.near, link) != shown["mac"])
    assert shown["mac"] in made.near.run("bridge", "fdb", "show", "dev", second).stdout
    made.near.ctl("del-slave", "bond0", second)
    assert shown["mac"] not in made.near.run("bridge", "fdb", "show", "dev", second).stdout


def test_the_first_slave_gives_the_bond_its_mac(lone):
    host = lone(links=2)
    own = {link: mac(host, link) for link in host.links}
    host.ctl("create", "bond0", "mode", "balance-xor")
    random = mac(host)
    assert int(random[:2], 16) & 3 == 2 and random not in own.values()
    host.ctl("add-slave", "bond0", "l1")
    assert mac(host) == own["l1"]
    host.ctl("add-slave", "bond0", "l0")
    assert mac(host) == own["l1"] == mac(host, "l0")
    host.ctl("del-slave", "bond0", "l1")
    assert mac(host) == own["l1"], "the MAC stays when that slave leaves"
    assert mac(host, "l1") == own["l1"] and mac(host, "l0") == own["l1"]
    host.ctl("del-slave", "bond0", "l0")
    assert mac(host, "l0") == own["l0"]


def test_a_mac_set_by_the_user_wins(lone):
    host = lone(links=2)
    own = {link: mac(host, link) for link in host.links}
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ip("link", "set", "bond0", "address", USER_MAC)
    host.ctl("add-slave", "bond0", *host.links)
    assert mac(host) == USER_MAC == mac(host, "l0") == mac(host, "l1")
    assert [slave["perm_mac"] for slave in host.show()["slaves"]] == list(own.values())
    host.ctl("delete", "bond0")
    assert {link: mac(host, link) for link in host.links} == own


def test_a_slave_that_changes_its_address_gets_the_bonds_back_or_is_left(pair):
    """Somebody sets a slave's MAC: frames of the bond still carry bond0's, and still arrive."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    address = mac(made.near)
    wires = [Capture(made.far, link) for link in made.links]
    made.near.ip("link", "set", "l0", "address", "02:99:99:99:99:99")
    for stream in (Stream(made.near, made.far, count=500, flows=50),
                   Stream(made.far, made.near, to="10.0.0.1", count=500, flows=50, port=9001)):
        assert stream.finish()["lost"] == 0
    assert sources(wires) == {address}
