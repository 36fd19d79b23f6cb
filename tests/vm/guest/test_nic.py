"""Slaves that are NICs with filters: unicast, multicast and VLAN; carrier and plug from outside.
The far end is a switch, so that a slave hears what is not for it, too.
"""
import contextlib
import json
import os
import socket
import struct
import time

import pytest

from lab import BONDD, wait_for
from traffic import Capture, Stream


def test_the_hook_is_the_best_this_kernel_has(setting):
    made = setting(1)
    made.near.ctl("create", "bond0")
    with_tcx = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2]) >= (6, 6)
    assert ("bond0/link_egress" in made.near.pins()) == with_tcx, made.near.pins()
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
            "allmulti": link.get("allmulti"), "flags": flags, "unicast": sorted(line.split()[0] for line in fdb.splitlines()
            if line.split()[0][1] in "02468ace"), "vlan_filter": vlan, "disable_ipv6": ipv6, "clsact": clsact,
            "uppers": sorted(other["ifname"] for other in namespace.ip_json("link") if other.get("link") == dev)}


def promiscuous(namespace, devs):
    return [dev for dev in devs if namespace.link(dev)["promiscuity"]]


@pytest.mark.parametrize("mac_policy", ["set", "filter"])
def test_original_state_is_restored(setting, mac_policy):
    made = setting().switch()
    before = {dev: state(made.near, dev) for dev in made.near.links}
    made.bond("active-backup", "mac_policy", mac_policy)
    made.near.ip("link", "set", "bond0", "mtu", "9000", "promisc", "on")
    made.near.ip("link", "add", "link", "bond0", "name", "bond0.7", "type", "vlan", "id", "7")
    wait_for(lambda: promiscuous(made.near, made.near.links) == made.near.links, "the slaves to be promiscuous")
    made.near.ctl("delete", "bond0")
    assert {dev: state(made.near, dev) for dev in made.near.links} == before


@pytest.mark.parametrize("mac_policy", ["set", "filter"])
def test_mac_policy(setting, mac_policy):
    made = setting().switch().bond("active-backup", "mac_policy", mac_policy)
    near = made.near
    macs = {near.link(dev)["address"] for dev in near.links}
    assert macs == ({near.link("bond0")["address"]} if mac_policy == "set" else {"52:54:00:00:00:00", "52:54:00:00:00:02"})
    assert promiscuous(near, near.links) == []
    for number in (0, 2):
        made.nics.cable(number, False)
        near.wait_ping("10.0.0.2")
        made.nics.cable(number, True)
        near.wait_slaves(*near.links)
    near.ip("link", "set", "bond0", "address", "02:00:00:00:00:77")
    made.far.ip("neigh", "flush", "all")
    near.wait_ping("10.0.0.2")


def test_ipv6_neighbour_discovery_reaches_the_bond(setting):
    made = setting().switch().bond("active-backup")
    for _ in range(2):
        made.far.ip("-6", "neigh", "flush", "all")
        made.far.wait_ping("fd00::1")
    assert not [line for line in made.near.ip("-6", "addr").splitlines() if "eth" in line], "a slave has an IPv6 address"


def test_multicast_groups_joined_on_the_bond(setting):
    made = setting().switch().bond("active-backup")
    made.near.stop_bondd()  # a group joined while bondd is away must pass, too
    with made.near.inside():
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with made.far.inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with receiver, sender:
        index = made.near.link("bond0")["ifindex"]
        group = socket.inet_aton("239.1.2.3")
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack("=4s4si", group, b"\0" * 4, index))
        receiver.bind(("", 7000))
        receiver.setblocking(False)
        far_index = made.far.link("sw0")["ifindex"]
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("=4s4si", b"\0" * 4, b"\0" * 4, far_index))

        def heard():
            sender.sendto(b"hello", ("239.1.2.3", 7000))
            try:
                return receiver.recv(100) == b"hello"
            except BlockingIOError:
                return False
        wait_for(heard, "the group's packet")


def add_vlan(namespace, dev, vid, number):
    namespace.ip("link", "add", "link", dev, "name", f"{dev}.{vid}", "type", "vlan", "id", vid)
    namespace.ip("link", "set", f"{dev}.{vid}", "up")
    namespace.ip("addr", "add", f"10.0.{vid}.{number}/24", "dev", f"{dev}.{vid}")


def hears_vlan(near, far, vid):
    """Do frames of this VLAN pass the filter of one of near's slaves? Others may come all the time."""
    with contextlib.ExitStack() as stack:
        captures = [stack.enter_context(Capture(near, dev)) for dev in near.links]
        for _ in range(5):
            far.ping(f"10.0.{vid}.99", timeout=0.05)
        return any(frame.vlan is not None and frame.vlan & 0xfff == vid for capture in captures for frame in capture.frames(0.05))


@pytest.mark.parametrize("order", ["before", "after"])
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


def test_bridge_on_top(setting):
    made = setting().switch().bond("active-backup")
    near = made.near
    guest = made.lab.namespace("g")
    near.ip("link", "add", "br0", "type", "bridge", "forward_delay", "0")
    near.ip("link", "set", "bond0", "master", "br0")
    near.ip("link", "set", "br0", "up")
    near.ip("link", "add", "tap0", "type", "veth", "peer", "name", "eth9", "netns", guest.name)
    near.ip("link", "set", "tap0", "up", "master", "br0")
    made.address(guest, "eth9", 50)
    guest.wait_ping("10.0.0.2")
    near.ip("link", "del", "br0")
    wait_for(lambda: not promiscuous(near, near.links), "the slaves not to be promiscuous any more")
    near.wait_ping("10.0.0.2")


def test_macvlan_on_top(setting):
    made = setting().switch().bond("active-backup")
    near = made.near
    other = made.lab.namespace("g")
    near.ip("link", "add", "link", "bond0", "name", "mv0", "type", "macvlan", "mode", "bridge")
    near.ip("link", "set", "mv0", "netns", other.name)
    made.address(other, "mv0", 50)
    other.wait_ping("10.0.0.2")
    made.nics.cable(0, False)
    other.wait_ping("10.0.0.2")
    other.ip("link", "del", "mv0")
    wait_for(lambda: not promiscuous(near, near.links), "the slaves not to be promiscuous any more")


def test_second_mac_on_the_bond(setting):
    made = setting().switch().bond("active-backup")
    near, far = made.near, made.far
    near.run("bridge", "fdb", "add", "02:00:00:00:00:99", "dev", "bond0", "self")
    far.ip("neigh", "replace", "10.0.0.1", "lladdr", "02:00:00:00:00:99", "dev", "sw0", "nud", "permanent")

    def packets():
        return sum(near.received(dev)["packets"] for dev in near.links)

    def arrives():
        before = packets()
        far.ping("10.0.0.1")
        return packets() > before
    wait_for(arrives, "frames to the second MAC to pass the filter")


def test_mtu_9000(setting):
    made = setting().switch().bond("active-backup")
    near, far = made.near, made.far
    for dev in [*far.links, "sw0"]:
        far.ip("link", "set", dev, "mtu", "9000")
    near.ip("link", "set", "bond0", "mtu", "9000")
    wait_for(lambda: {near.link(dev)["mtu"] for dev in near.links} == {9000}, "the slaves' MTU")
    near.wait_ping("10.0.0.2", size=8972)
    near.wait_ping("fd00::2", size=8952)
    assert not near.ping("10.0.0.2", size=8973)
    near.ip("link", "set", "bond0", "mtu", "1500")
    wait_for(lambda: {near.link(dev)["mtu"] for dev in near.links} == {1500}, "the slaves' MTU")


def test_carrier_loss_and_return_under_traffic(setting):
    made = setting().switch().bond("active-backup")
    near, far = made.near, made.far
    stream = Stream(near, far, rate=500)
    stream.flow_on(200)
    for number, other in ((0, "eth2"), (2, "eth0")):
        made.nics.cable(number, False)
        wait_for(lambda other=other: near.carrier_slaves() == [other], f"only {other} to be up")
        stream.flow_on(200)
        made.nics.cable(number, True)
        near.wait_slaves(*near.links)
    result = stream.finish()
    assert result["lost"] < 500 and result["duplicates"] == 0, result
    failures = {slave["name"]: slave["link_failures"] for slave in near.show()["slaves"]}
    assert failures == {"eth0": 1, "eth2": 1}


def test_unplugged_and_plugged_again_under_traffic(setting):
    made = setting().switch().bond("active-backup")
    near, far = made.near, made.far
    stream = Stream(near, far, rate=500)
    stream.flow_on(200)
    made.nics.unplug(0)
    wait_for(lambda: [slave["name"] for slave in near.show()["slaves"]] == ["eth2"], "the slave to leave", 10)
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


def test_configured_slave_comes_back_under_any_name(setting):
    """It is the NIC that is configured: known by its permanent MAC, whatever it is called now."""
    made = setting(2, {"bond0.conf": CONFIGURED}).switch()
    near = made.near
    made.address(near, "bond0", 1)
    near.wait_slaves("eth0", "eth2")
    for name in ("uplink", "eth9", "eth0"):
        made.nics.unplug(0)
        wait_for(lambda: [slave["name"] for slave in near.show()["slaves"]] == ["eth2"], "the slave to leave", 10)
        near.wait_ping("10.0.0.2")
        made.nics.plug_into(0, near, name)
        near.wait_slaves(name, "eth2")
        wait_for(lambda name=name: near.show()["active_slave"] == name, "it to be the primary again")
        assert near.slave(name)["options"]["weight"] == 9
        near.wait_ping("10.0.0.2")
    near.ctl("del-slave", "bond0", "eth0")  # taken out by hand: not waited for any more
    made.nics.unplug(0)
    wait_for(lambda: not made.nics.device(0, near), "the NIC to go", 10)
    made.nics.plug_into(0, near)
    until = time.monotonic() + 3
    while time.monotonic() < until:
        assert [slave["name"] for slave in near.show()["slaves"]] == ["eth2"]
        time.sleep(0.2)
    near.wait_ping("10.0.0.2")


def test_slave_renamed(setting):
    made = setting().switch().bond("active-backup", "primary", "eth0")
    near = made.near
    near.ip("link", "set", "eth0", "down")
    near.ip("link", "set", "eth0", "name", "uplink")
    near.ip("link", "set", "uplink", "up")
    near.wait_slaves("uplink", "eth2")
    wait_for(lambda: near.show()["active_slave"] == "uplink", "the renamed slave to be the primary still")
    near.wait_ping("10.0.0.2")
    near.ctl("del-slave", "bond0", "uplink")
    assert near.link("uplink")["address"] == "52:54:00:00:00:00"
