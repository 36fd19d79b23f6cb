"""What is put on a bond whose slaves are NICs with filters, one thing after another on the same
bond in active-backup; and the bond in use: MTU, carrier lost from outside. Each leaves it as it
was.
"""
import socket
import struct

import pytest

from machine import promiscuous
from traffic import Stream
from waiting import wait_for


def test_ipv6_neighbour_discovery_reaches_the_bond(bonded):
    made = bonded
    for _ in range(2):
        made.far.ip("-6", "neigh", "flush", "all")
        made.far.wait_ping("fd00::1")
    assert not [line for line in made.near.ip("-6", "addr").splitlines() if "eth" in line], \
        "a slave has an IPv6 address"


@pytest.mark.once
def test_multicast_groups_joined_on_the_bond(bonded):
    made = bonded
    made.near.stop_bondd()  # a group joined without bondd must pass, too
    with made.near.inside():
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with made.far.inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with receiver, sender:
        index = made.near.link("bond0")["ifindex"]
        group = socket.inet_aton("239.1.2.3")
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                            struct.pack("=4s4si", group, b"\0" * 4, index))
        receiver.bind(("", 7000))
        receiver.setblocking(False)
        far_index = made.far.link("sw0")["ifindex"]
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                          struct.pack("=4s4si", b"\0" * 4, b"\0" * 4, far_index))

        def heard():
            sender.sendto(b"hello", ("239.1.2.3", 7000))
            try:
                return receiver.recv(100) == b"hello"
            except BlockingIOError:
                return False
        wait_for(heard, "the group's packet")
    made.near.start_bondd()


@pytest.mark.once
def test_bridge_on_top(bonded):
    made = bonded
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
    near.ip("link", "del", "tap0")
    near.wait_ping("10.0.0.2")


@pytest.mark.full
def test_macvlan_on_top(bonded):
    made = bonded
    near = made.near
    other = made.lab.namespace("m")
    near.ip("link", "add", "link", "bond0", "name", "mv0", "type", "macvlan", "mode", "bridge")
    near.ip("link", "set", "mv0", "netns", other.name)
    made.address(other, "mv0", 50)
    other.wait_ping("10.0.0.2")
    made.nics.cable(0, False)
    other.wait_ping("10.0.0.2")
    other.ip("link", "del", "mv0")
    made.nics.cable(0, True)
    wait_for(lambda: not promiscuous(near, near.links), "the slaves not to be promiscuous any more")


@pytest.mark.once
def test_second_mac_on_the_bond(bonded):
    made = bonded
    near, far = made.near, made.far
    near.run("bridge", "fdb", "add", "02:00:00:00:00:99", "dev", "bond0", "self")
    far.ip("neigh", "replace", "10.0.0.1", "lladdr", "02:00:00:00:00:99", "dev", "sw0", "nud",
           "permanent")

    def packets():
        return sum(near.received(dev)["packets"] for dev in near.links)

    def arrives():
        before = packets()
        far.ping("10.0.0.1", timeout=0.3)
        return packets() > before
    wait_for(arrives, "frames to the second MAC to pass the filter")
    near.run("bridge", "fdb", "del", "02:00:00:00:00:99", "dev", "bond0", "self")
    far.ip("neigh", "del", "10.0.0.1", "dev", "sw0")


@pytest.mark.once
def test_mtu_9000(bonded):
    made = bonded
    near, far = made.near, made.far
    for dev in [*far.links, "sw0"]:
        far.ip("link", "set", dev, "mtu", "9000")
    near.ip("link", "set", "bond0", "mtu", "9000")
    wait_for(lambda: {near.link(dev)["mtu"] for dev in near.links} == {9000}, "the slaves' MTU")
    near.wait_ping("10.0.0.2", size=8972)
    near.wait_ping("fd00::2", size=8952)
    assert not near.ping("10.0.0.2", size=8973, timeout=0.3)
    near.ip("link", "set", "bond0", "mtu", "1500")
    wait_for(lambda: {near.link(dev)["mtu"] for dev in near.links} == {1500}, "the slaves' MTU")
    for dev in [*far.links, "sw0"]:
        far.ip("link", "set", dev, "mtu", "1500")


def flags_of(namespace):
    return [{"PROMISC", "ALLMULTI"} & set(namespace.link(dev)["flags"]) |
            {("promiscuity", namespace.link(dev)["promiscuity"])} for dev in namespace.links]


@pytest.mark.once
def test_promiscuous_and_allmulti_and_off_again(bonded):
    near = bonded.near
    before = flags_of(near)
    for flag in ("promisc", "allmulticast"):
        near.ip("link", "set", "bond0", flag, "on")
        if flag == "promisc":
            wait_for(lambda: promiscuous(near, near.links) == near.links,
                     "the slaves to be promiscuous")
        near.wait_ping("10.0.0.2")
        near.ip("link", "set", "bond0", flag, "off")
        wait_for(lambda: flags_of(near) == before, f"the slaves' flags to be as before {flag}")
    near.wait_ping("10.0.0.2")


def failures_of(host):
    return {slave["name"]: slave["link_failures"] for slave in host.show()["slaves"]}


def test_carrier_loss_and_return_under_traffic(bonded):
    made = bonded
    near, far = made.near, made.far
    failures = failures_of(near)
    stream = Stream(near, far, rate=500)
    stream.flow_on(200)
    for number, other in ((0, "eth2"), (2, "eth0")):
        made.nics.cable(number, False)
        wait_for(lambda other=other: near.carrier_slaves() == [other], f"only {other} to be up")
        stream.flow_on(200)
        made.nics.cable(number, True)
        near.wait_slaves(*near.links)
    result = stream.finish()
    assert result["lost"] <= 200 and result["duplicates"] == 0, result
    assert failures_of(near) == {dev: count + 1 for dev, count in failures.items()}
