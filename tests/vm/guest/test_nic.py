"""Slaves that are NICs with filters: unicast, multicast and VLAN; carrier and plug from outside.
The far end is a switch, so that a slave hears what is not for it, too.
"""
import contextlib
import json

import pytest

from lab import BONDD
from machine import promiscuous
from namespace import KERNEL
from traffic import Capture, Stream
from waiting import moments, wait_for


def test_the_hook_is_the_best_this_kernel_has(setting):
    made = setting(1)
    made.near.ctl("create", "bond0", "device", "pair")
    assert ("bond0/link_port" in made.near.pins()) == (KERNEL >= (6, 6)), made.near.pins()
    assert BONDD.exists()


def state(namespace, dev):
    """What a slave must have back afterwards."""
    link = namespace.link(dev)
    fdb = namespace.run("bridge", "fdb", "show", "dev", dev).stdout
    features = json.loads(namespace.run("ethtool", "--json", "-k", dev).stdout)[0]
    vlan = features["rx-vlan-filter"]["active"]
    flags = sorted(set(link["flags"]) & {"UP", "PROMISC", "ALLMULTI", "NOARP"})
    ipv6 = namespace.run("sysctl", "-n", f"net.ipv6.conf.{dev}.disable_ipv6").stdout
    clsact = "clsact" in namespace.run("tc", "qdisc", "show", "dev", dev).stdout
    return {"mac": link["address"], "mtu": link["mtu"], "promiscuity": link["promiscuity"],
            "allmulti": link.get("allmulti"), "flags": flags,
            "unicast": sorted(line.split()[0] for line in fdb.splitlines()
                              if line.split()[0][1] in "02468ace"),
            "vlan_filter": vlan, "disable_ipv6": ipv6, "clsact": clsact,
            "uppers": sorted(other["ifname"] for other in namespace.ip_json("link")
                             if other.get("link") == dev)}


@pytest.mark.parametrize("mac_policy", [pytest.param("set", marks=pytest.mark.small),
                                        pytest.param("filter", marks=pytest.mark.once)])
def test_original_state_is_restored(setting, mac_policy):
    made = setting().switch()
    before = {dev: state(made.near, dev) for dev in made.near.links}
    made.bond("active-backup", "mac_policy", mac_policy)
    made.near.ip("link", "set", "bond0", "mtu", "9000", "promisc", "on")
    made.near.ip("link", "add", "link", "bond0", "name", "bond0.7", "type", "vlan", "id", "7")
    wait_for(lambda: promiscuous(made.near, made.near.links) == made.near.links,
             "the slaves to be promiscuous")
    made.near.ctl("delete", "bond0")
    assert {dev: state(made.near, dev) for dev in made.near.links} == before


@pytest.mark.once
@pytest.mark.parametrize("mac_policy", [pytest.param("set", marks=pytest.mark.full), "filter"])
def test_mac_policy(setting, mac_policy):
    made = setting().switch().bond("active-backup", "mac_policy", mac_policy)
    near = made.near
    macs = {near.link(dev)["address"] for dev in near.links}
    assert macs == ({near.link("bond0")["address"]} if mac_policy == "set"
                    else {"52:54:00:00:00:00", "52:54:00:00:00:02"})
    assert promiscuous(near, near.links) == []
    for number in (0, 2):
        made.nics.cable(number, False)
        near.wait_ping("10.0.0.2")
        made.nics.cable(number, True)
        near.wait_slaves(*near.links)
    near.ip("link", "set", "bond0", "address", "02:00:00:00:00:77")
    made.far.ip("neigh", "flush", "all")
    near.wait_ping("10.0.0.2")


def add_vlan(namespace, dev, vid, number):
    namespace.ip("link", "add", "link", dev, "name", f"{dev}.{vid}", "type", "vlan", "id", vid)
    namespace.ip("link", "set", f"{dev}.{vid}", "up")
    namespace.ip("addr", "add", f"10.0.{vid}.{number}/24", "dev", f"{dev}.{vid}")


def hears_vlan(near, far, vid):
    """Do frames of this VLAN pass the filter of one of near's slaves? Others may
    come all the time.
    """
    with contextlib.ExitStack() as stack:
        captures = [stack.enter_context(Capture(near, dev)) for dev in near.links]
        for _ in range(5):
            far.ping(f"10.0.{vid}.99", timeout=0.05)
        return any(frame.vlan is not None and frame.vlan & 0xfff == vid for capture in captures
                   for frame in capture.frames(0.05))


@pytest.mark.once
def test_what_slaves_went_through_while_bondd_was_dead(setting):
    """One was moved to another namespace, which leaves here the devices that open its VLAN filter;
    one has another name and MAC.
    """
    made = setting().switch()
    near, before = made.near, state(made.near, "eth2")
    made.bond("active-backup", "device", "pair", slaves=["eth0", "eth2"])
    near.ip("link", "add", "link", "bond0", "name", "bond0.100", "type", "vlan", "id", "100")
    openers = [f"xbv{near.link(dev)['ifindex']}.100" for dev in ("eth0", "eth2")]
    wait_for(lambda: set(openers) <= near.devices(), "the VLAN to pass the filters")
    near.kill_bondd()
    near.ip("link", "set", "eth0", "netns", made.lab.namespace("c").name)
    near.rename("eth2", "other")
    near.ip("link", "set", "other", "address", "02:00:00:00:00:77")
    assert openers[0] in near.devices()
    near.start_bondd()
    wait_for(lambda: openers[0] not in near.devices(), "the device of the one that was moved to go")
    wait_for(lambda: near.carrier_slaves() == ["other"], "the other to be a slave")
    assert openers[1] in near.devices() and \
        near.link("other")["address"] == near.link("bond0")["address"]
    near.ctl("delete", "bond0")
    near.rename("other", "eth2")
    assert state(near, "eth2") == before


@pytest.mark.parametrize("order", [pytest.param("before", marks=pytest.mark.full),
                                   "after"])
def test_vlan_devices(setting, order):
    made = setting().switch()
    near, far = made.near, made.far
    for vid in (100, 200):
        add_vlan(far, "sw0", vid, 2)
    made.bond("active-backup", slaves=None if order == "after" else [])
    for vid in (100, 200):
        add_vlan(near, "bond0", vid, 1)
    if order == "before":
        near.ctl("add-slave", "bond0", *near.links)
        near.wait_slaves(*near.links)
    for number in (0, 2):  # by either slave
        for vid in (100, 200):
            near.wait_ping(f"10.0.{vid}.2")
        made.nics.cable(number, False)
        for vid in (100, 200):
            near.wait_ping(f"10.0.{vid}.2")
        made.nics.cable(number, True)
        near.wait_slaves(*near.links)
    wait_for(lambda: hears_vlan(near, far, 200), "frames of VLAN 200")
    near.ip("link", "del", "bond0.200")
    wait_for(lambda: not hears_vlan(near, far, 200), "the slaves to filter VLAN 200 again")
    near.wait_ping("10.0.100.2")


@pytest.mark.once
def test_vlan_device_of_a_bond_in_a_container(setting):
    """Made where bond0 is now, it passes the filters of the slaves, which are not there."""
    made = setting().switch().bond("active-backup", "device", "pair")
    add_vlan(made.far, "sw0", 100, 2)
    container = made.lab.namespace("c")
    made.near.ip("link", "set", "bond0", "netns", container.name)
    container.ip("link", "set", "bond0", "up")
    add_vlan(container, "bond0", 100, 1)
    container.wait_ping("10.0.100.2")
    made.nics.cable(0, False)
    container.wait_ping("10.0.100.2")


@pytest.mark.once
def test_vlans_live_on_without_bondd_and_in_another_namespace(setting):
    made = setting().switch().bond("active-backup")
    near, far = made.near, made.far
    add_vlan(far, "sw0", 100, 2)
    near.ip("link", "add", "link", "bond0", "name", "bond0.100", "type", "vlan", "id", "100")
    inside = made.lab.namespace("c")
    near.ip("link", "set", "bond0.100", "netns", inside.name)
    inside.ip("link", "set", "bond0.100", "up")
    inside.ip("addr", "add", "10.0.100.1/24", "dev", "bond0.100")
    inside.wait_ping("10.0.100.2")
    near.kill_bondd()
    inside.wait_ping("10.0.100.2")
    near.start_bondd()
    made.nics.cable(0, False)
    inside.wait_ping("10.0.100.2")


@pytest.mark.once
def test_unplugged_and_plugged_again_under_traffic(setting):
    made = setting().switch().bond("active-backup")
    near, far = made.near, made.far
    stream = Stream(near, far, rate=500)
    stream.flow_on(200)
    made.nics.unplug(0)
    wait_for(lambda: near.slave_names() == ["eth2"],
             "the slave to leave", 10)
    stream.flow_on(200)
    name = made.nics.plug_into(0, near)
    near.ctl("add-slave", "bond0", name)
    near.wait_slaves(name, "eth2")
    made.nics.cable(2, False)
    near.wait_ping("10.0.0.2")
    assert stream.finish()["duplicates"] == 0


CONFIGURED = """[bond]
mode = active-backup
primary = eth0

[slave eth0]
weight = 9

[slave eth2]
"""


@pytest.mark.once
def test_configured_slave_comes_back_under_any_name(setting):
    """It is the NIC that is configured: known by its permanent MAC, whatever it is called now."""
    made = setting(2, {"bond0.conf": CONFIGURED}).switch()
    near = made.near
    made.address(near, "bond0", 1)
    near.wait_slaves("eth0", "eth2")
    for name in ("uplink", "eth9", "eth0"):
        made.nics.unplug(0)
        wait_for(lambda: near.slave_names() == ["eth2"],
                 "the slave to leave", 10)
        near.wait_ping("10.0.0.2")
        made.nics.plug_into(0, near, name)
        near.wait_slaves(name, "eth2")
        wait_for(lambda name=name: near.show()["active_slave"] == name,
                 "it to be the primary again")
        assert near.slave(name)["options"]["weight"] == 9
        near.wait_ping("10.0.0.2")
    near.ctl("del-slave", "bond0", "eth0")  # taken out by hand: not waited for any more
    made.nics.unplug(0)
    wait_for(lambda: not made.nics.device(0, near), "the NIC to go", 10)
    made.nics.plug_into(0, near)
    for _ in moments(3, interval=0.2):
        assert near.slave_names() == ["eth2"]
    near.wait_ping("10.0.0.2")


@pytest.mark.full
def test_slave_renamed(setting):
    made = setting().switch().bond("active-backup", "primary", "eth0")
    near = made.near
    near.ip("link", "set", "eth0", "down")
    near.ip("link", "set", "eth0", "name", "uplink")
    near.ip("link", "set", "uplink", "up")
    near.wait_slaves("uplink", "eth2")
    wait_for(lambda: near.show()["active_slave"] == "uplink",
             "the renamed slave to be the primary still")
    near.wait_ping("10.0.0.2")
    near.ctl("del-slave", "bond0", "uplink")
    assert near.link("uplink")["address"] == "52:54:00:00:00:00"
