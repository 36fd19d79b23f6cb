"""What people do with plain `ip`: bondd follows, or says what happened."""
import json

import pytest

from lab import is_team
from namespace import KERNEL, run
from tcx import TCX_INGRESS, order
from traffic import Stream
from waiting import wait_for

BEFORE_FLAGS, HAD_VLAN_STRIP = 64, 64  # struct xbond_slave, XBOND_SLAVE_*


def delivers(made):
    made.near.wait_ping("10.0.0.2")
    return Stream(made.near, made.far, count=500, flows=20).finish()["lost"] == 0


def test_mtu_reaches_the_slaves_and_new_ones(pair):
    made = pair("balance-xor", links=2)
    made.lab.link(made.near, made.far, "l2", 2)
    made.near.ip("link", "set", "bond0", "mtu", "4000")
    wait_for(lambda: [made.near.link(link)["mtu"] for link in made.links] == [4000, 4000],
             "slaves to follow")
    made.near.ctl("add-slave", "bond0", "l2")
    assert made.near.link("l2")["mtu"] == 4000
    made.near.ctl("del-slave", "bond0", "l2", "l0")
    assert made.near.link("l2")["mtu"] == 1500 and made.near.link("l0")["mtu"] == 1500


def test_a_slaves_own_mtu_is_put_right(pair):
    if is_team():
        pytest.skip("a team lets nobody change the MTU of a port")
    made = pair("balance-xor", links=2)
    made.near.ip("link", "set", "l0", "mtu", "1400")
    wait_for(lambda: made.near.link("l0")["mtu"] == 1500, "the bond's MTU to return")


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_the_bond_is_renamed(pair, hook):
    made = pair("balance-xor", links=2)
    made.near.rename("bond0", "uplink")
    wait_for(lambda: made.near.ctl_json("list") == ["uplink"], "bondd to follow the name")
    assert made.near.show("uplink")["name"] == "uplink"
    assert made.near.slave_names("uplink") == made.links
    assert delivers(made)
    made.near.restart_bondd(kill=True)
    assert made.near.ctl_json("list") == ["uplink"]
    assert delivers(made)
    made.near.ctl("set", "uplink", "path", "direct")
    made.near.ctl("del-slave", "uplink", "l0")
    made.near.ctl("delete", "uplink")
    assert made.near.devices() == {"lo", *made.links} and made.near.pins() == []


def test_the_bond_is_renamed_while_bondd_is_away(pair):
    made = pair("balance-xor", links=2)
    made.near.kill_bondd()
    made.near.rename("bond0", "uplink")
    made.near.start_bondd()
    wait_for(lambda: made.near.ctl_json("list") == ["uplink"], "bondd to follow the name")
    assert delivers(made)


def test_a_slave_is_renamed(pair):
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    made.near.ctl("set", "bond0", "primary", "l0")
    made.near.rename("l0", "eth7")
    wait_for(lambda: made.near.slave_names() == ["eth7", "l1"], "bondd to follow the name")
    assert made.near.show()["active_slave"] == "eth7"
    assert delivers(made)
    made.near.ctl("set", "bond0", "active_slave", "l1")
    made.near.ctl("del-slave", "bond0", "eth7")
    assert made.near.slave_names() == ["l1"]


def test_a_slave_is_deleted(pair):
    made = pair("active-backup", links=3, far={"mode": "broadcast"})
    stream = Stream(made.near, made.far)
    stream.flow_on(500)
    made.near.ip("link", "del", "l0")
    wait_for(lambda: made.near.slave_names() == ["l1", "l2"], "l0 to be gone")
    stream.flow_on(500)
    stream.finish()
    assert made.near.show()["active_slave"] in ("l1", "l2")
    assert not [pin for pin in made.near.pins() if pin.endswith("link_rx_0")]
    made.lab.link(made.near, made.far, "l0", 10)
    made.near.ctl("add-slave", "bond0", "l0")
    made.far.ctl("add-slave", "bond0", "l0")
    made.near.wait_slaves("l0", "l1", "l2")


def test_all_slaves_are_deleted(pair):
    made = pair("balance-xor", links=2)
    for link in made.links:
        made.near.ip("link", "del", link)
    wait_for(lambda: made.near.slave_names() == [], "no slaves")
    assert made.near.show()["carrier"] is False
    made.near.ctl("delete", "bond0")
    assert made.near.devices() == {"lo"} and made.near.pins() == []


def test_a_slave_goes_to_another_namespace(pair):
    """It is lost for the bond like a deleted one, and comes out of it without a trace of ours."""
    made = pair("balance-xor", links=2)
    own = made.near.slave("l0")["perm_mac"]
    other = made.lab.namespace("c")
    made.near.ip("link", "set", "l0", "netns", other.name)
    wait_for(lambda: made.near.slave_names() == ["l1"], "l0 to be gone")
    wait_for(lambda: other.link("l0")["address"] == own and not other.link("l0")["allmulti"],
             "its own state")
    assert delivers(made)


@pytest.mark.skipif(KERNEL < (6, 2), reason="does not rename a device that is up")
def test_the_port_side_gets_its_name_when_it_is_free(lone):
    near = lone(links=1)
    near.ip("link", "add", "xb-bond0", "type", "veth", "peer", "name", "other")
    near.ctl("create", "bond0", "mode", "balance-xor", "device", "veth")
    before = near.link("xb-bond0~1")["ifindex"]
    near.ip("link", "del", "xb-bond0")
    wait_for(lambda: ("xb-bond0", before) in {(each["ifname"], each["ifindex"])
                                              for each in near.ip_json("link", "show")}, "its name")


def test_a_slave_goes_and_is_back_before_it_is_restored_there(pair):
    """bondd finds it in neither place at first. It is restored where it is."""
    made = pair("balance-xor", links=2)
    near, other = made.near, made.lab.namespace("c")
    near.ctl("del-slave", "bond0", "l0")
    before = near.link("l0")
    near.stop_bondd()
    near.environment = {"XBOND_TEST_STOP_AT": "slave-moved"}
    near.start_bondd()
    near.ctl("add-slave", "bond0", "l0")
    near.ip("link", "set", "l0", "netns", other.name)
    near.wait_frozen()
    other.ip("link", "set", "l0", "netns", near.name)
    near.thaw_bondd()
    wait_for(lambda: near.slave_names() == ["l1"], "l0 to have left")
    near.stop_bondd()
    keys = ("address", "mtu", "promiscuity", "allmulti")
    now = near.link("l0")
    assert [now[key] for key in keys] == [before[key] for key in keys]
    assert "cannot restore" not in near.log()


@pytest.mark.parametrize("stop, words", [("delete-started", ("delete", "bond0")),
                                         ("release-detached", ("del-slave", "bond0", "l0"))])
def test_a_slave_goes_while_it_is_released(pair, stop, words):
    """bondd has not read the message that says where, and finds it nowhere."""
    made = pair("balance-xor", links=2)
    near, other = made.near, made.lab.namespace("c")
    near.ctl("del-slave", "bond0", "l0")
    before = near.link("l0")
    near.stop_bondd()
    near.environment = {"XBOND_TEST_STOP_AT": stop}
    near.start_bondd()
    near.ctl("add-slave", "bond0", "l0")
    assert near.link("l0")["allmulti"] > before["allmulti"]
    verb = near.spawn(*near.ctl_command(*words))
    near.wait_frozen()
    near.ip("link", "set", "l0", "netns", other.name)
    near.thaw_bondd()
    assert verb.wait(timeout=60) == 0
    keys = ("address", "mtu", "promiscuity", "allmulti")
    now = other.link("l0")
    assert [now[key] for key in keys] == [before[key] for key in keys]


@pytest.mark.skipif(KERNEL < (6, 6), reason="has no TCX, by which a veth is known there")
@pytest.mark.parametrize("is_half_done", [False, True])
def test_a_slave_goes_while_bondd_is_away(pair, is_half_done):
    """The next bondd finds it in the other namespace. is_half_done: it has its own address already,
    from somebody, or from a bondd that died then.
    """
    made = pair("balance-xor", links=3)
    near, other = made.near, made.lab.namespace("c")
    own = near.slave("l1")["perm_mac"]
    assert near.link("l1")["address"] != own
    near.ip("link", "set", "bond0", "mtu", "1400")
    wait_for(lambda: near.link("l1")["mtu"] == 1400, "l1 to follow")
    near.kill_bondd()
    near.ip("link", "set", "l1", "netns", other.name)
    near.ip("link", "del", "l2")
    if is_half_done:
        other.ip("link", "set", "l1", "address", own)
    near.start_bondd()
    assert near.slave_names() == ["l0"]
    now = other.link("l1")
    assert (now["address"], now["mtu"], now["allmulti"]) == (own, 1500, 0)
    assert order(other, "l1", TCX_INGRESS) == []
    assert "l1 is in another namespace, and as before there" in near.log()
    assert "if l2 was moved to another namespace, it has MAC address" in near.log()
    assert delivers(made)


def test_offloads_go_back_in_another_namespace(pair):
    """As a NIC's whose VLAN stripping was turned off for XDP: a veth's never is, so the record is
    made by hand.
    """
    made = pair("balance-xor", links=2)
    pinned = made.near.bpf_dir / "bond0/slaves"
    key = ["pinned", pinned, "key", 0, 0, 0, 0]
    value = json.loads(run("bpftool", "-j", "map", "lookup", *key).stdout)["value"]
    value[BEFORE_FLAGS] = hex(int(value[BEFORE_FLAGS], 16) | HAD_VLAN_STRIP)
    made.near.run("ethtool", "-K", "l0", "rxvlan", "off")
    run("bpftool", "map", "update", *key, "value", *value)
    other = made.lab.namespace("c")
    made.near.ip("link", "set", "l0", "netns", other.name)
    wait_for(lambda: "rx-vlan-offload: on" in other.run("ethtool", "-k", "l0").stdout,
             "VLAN stripping to be on again")


def test_the_bond_takes_its_mac_where_it_is(lone, lab):
    """In another namespace, whatever devices of its number are there or here."""
    host = lone(links=2)
    host.ctl("create", "bond0")
    other = lab.namespace("c")
    number = host.link("bond0")["ifindex"]
    other.ip("link", "add", "x0", "index", number, "type", "veth", "peer", "name", "x1", "index",
             3000)
    host.ip("link", "set", "bond0", "netns", other.name)
    moved = other.link("bond0")["ifindex"]
    assert moved != number
    host.ip("link", "add", "y0", "index", moved, "type", "veth", "peer", "name", "y1", check=False)
    devices = host.devices()
    mac = host.link("l0")["address"]
    host.ctl("add-slave", "bond0", "l0")
    wait_for(lambda: other.link("bond0")["address"] == mac, "the bond's MAC to be the slave's")
    assert host.devices() == devices and {"x0", "x1", "bond0"} <= other.devices()


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_the_bond_is_deleted(lone, hook):
    host = lone(links=2)
    before = {link: host.link(link)["address"] for link in host.links}
    devices = host.devices()
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", *host.links)
    host.ip("link", "del", "bond0")
    wait_for(lambda: host.ctl_json("list") == [], "the bond to be gone")
    wait_for(lambda: host.devices() == devices, "the port side to go too")
    assert {link: host.link(link)["address"] for link in host.links} == before
    assert host.pins() == []
    assert "bond0" in host.log()
    host.make_bond(host.links, "mode", "balance-xor")


def test_a_namespace_dies_with_the_bond_in_it(pair):
    """bondd releases the slaves and says so."""
    made = pair("balance-xor", links=2)
    own = [slave["perm_mac"] for slave in made.near.show()["slaves"]]
    other = made.lab.namespace("c")
    made.near.ip("link", "set", "bond0", "netns", other.name)
    wait_for(lambda: other.exists("bond0"), "bond0 to arrive")
    made.lab.namespaces.remove(other)
    other.remove()
    wait_for(lambda: made.near.ctl_json("list") == [], "the bond to be gone", 15)
    wait_for(lambda: [made.near.link(link)["address"] for link in made.links] == own,
             "slaves to be restored")
    assert made.near.devices() == {"lo", *made.links} and made.near.pins() == []


def test_the_bond_goes_down_and_up(pair):
    made = pair("balance-xor", links=2)
    for _ in range(2):
        made.near.ip("link", "set", "bond0", "down")
        assert not made.near.ping("10.0.0.2", timeout=0.3)
        made.near.ip("link", "set", "bond0", "up")
        assert delivers(made)


def test_addresses_stay_over_a_loss_of_carrier(pair):
    made = pair("balance-xor", links=1)
    made.near.ip("route", "add", "10.9.0.0/16", "via", "10.0.0.2")
    made.far.ip("link", "set", "l0", "down")
    wait_for(lambda: made.near.show()["carrier"] is False, "carrier to go")
    made.far.ip("link", "set", "l0", "up")
    assert delivers(made)
    assert "10.9.0.0/16" in made.near.ip("route")


def test_someone_takes_our_filters_away(pair):
    """tc filters or qdiscs deleted by hand (clsact): bondd puts them back, or the bond keeps
    working otherwise.
    """
    made = pair("balance-xor", links=2)
    made.near.run("tc", "qdisc", "del", "dev", "l0", "clsact", check=False)
    made.near.run("tc", "qdisc", "del", "dev", "bond0", "clsact", check=False)
    assert delivers(made)


def test_allmulticast_by_hand_on_a_slave(pair):
    """Groups joined on bond0 reach the slave by that flag. A slave's own promiscuity is its own
    affair.
    """
    made = pair("balance-xor", links=2)
    made.near.ip("link", "set", "l0", "promisc", "on", "allmulticast", "off")
    wait_for(lambda: "allmulticast of l0 is put back" in made.near.log() and
             made.near.link("l0")["allmulti"], "it to be put back")
    assert made.near.link("l0")["promiscuity"] == 1
    made.near.ctl("del-slave", "bond0", "l0")
    assert not made.near.link("l0")["allmulti"] and not made.near.link("l0")["promiscuity"]


def test_promiscuity_of_the_bond_reaches_the_slaves(pair):
    """A bridge or macvlan on bond0 needs frames for other MACs through the slaves' filters."""
    made = pair("balance-xor", links=2)
    made.near.ip("link", "set", "bond0", "promisc", "on")
    wait_for(lambda: all(made.near.link(link)["promiscuity"] > 0 for link in made.links),
             "promiscuous slaves")
    made.near.ip("link", "set", "l1", "promisc", "off")
    wait_for(lambda: made.near.link("l1")["promiscuity"] > 0,
             "it to be put back where somebody took it away")
    made.near.ip("link", "set", "bond0", "promisc", "off")
    wait_for(lambda: all(made.near.link(link)["promiscuity"] == 0 for link in made.links),
             "an end of it")
    # where nobody has taken it away, nobody is said to have
    said = made.near.log().count("promisc of")
    made.near.kill_bondd()
    made.near.ip("link", "set", "bond0", "promisc", "on")
    made.near.start_bondd()
    wait_for(lambda: all(made.near.link(link)["promiscuity"] > 0 for link in made.links),
             "promiscuous slaves")
    assert made.near.log().count("promisc of") == said == 1
