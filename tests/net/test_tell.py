"""Active-backup without bondd: both directions go over to the other slave, through switches that
had learned the first.

    bond0  l0 - s1 - w - s2 - l1  bond0
                     |   |
                     p   q
"""
import json
import struct

import pytest

from frames import mac_bytes
from traffic import Capture, Stream, send_frames, send_packets
from waiting import wait_for

RARP = 0x8035
SENT = 500


def cable(a, name, b, other):
    a.ip("link", "add", name, "type", "veth", "peer", "name", other, "netns", b.name)
    for host, dev in ((a, name), (b, other)):
        host.ip("link", "set", dev, "up", "addrgenmode", "none")


class Network:
    def __init__(self, lab, *options):
        self.near = lab.host("a")
        self.switches, self.p, self.q = (lab.namespace(letter) for letter in "spq")
        for bridge in ("s1", "w", "s2"):
            self.switches.ip("link", "add", bridge, "type", "bridge")
            self.switches.ip("link", "set", bridge, "up")
        cable(self.switches, "w1", self.switches, "s1w")
        cable(self.switches, "w2", self.switches, "s2w")
        for host, link, port in ((self.near, "l0", "a0"), (self.near, "l1", "a1"),
                                 (self.p, "eth0", "pp"), (self.q, "eth0", "qq")):
            cable(host, link, self.switches, port)
        for bridge, ports in (("s1", ("a0", "s1w")), ("w", ("w1", "w2", "pp")),
                              ("s2", ("a1", "s2w", "qq"))):
            for port in ports:
                self.switches.ip("link", "set", port, "master", bridge)
        self.bond(options or ("mode", "active-backup"))

    def bond(self, options):
        near = self.near
        near.make_bond(["l0", "l1"], *options)
        self.mac = near.link("bond0")["address"]
        near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
        for host, address in ((self.p, "10.0.0.2"), (self.q, "10.0.0.3")):
            host.ip("addr", "add", f"{address}/24", "dev", "eth0")
            host.ip("neigh", "replace", "10.0.0.1", "lladdr", self.mac, "dev", "eth0")
            near.ip("neigh", "replace", address, "lladdr", host.link("eth0")["address"],
                    "dev", "bond0")
            near.wait_ping(address)

    def learned(self, port, mac=None):
        """A switch knows the bond, or another address, by this port of its."""
        return any(entry.get("mac") == (mac or self.mac) and entry.get("ifname") == port
                   for entry in self.switches_fdb())

    def switches_fdb(self):
        return json.loads(self.switches.run("bridge", "-j", "fdb").stdout)

    def arrive(self):
        """What P sends to the bond."""
        result = Stream(self.p, self.near, to="10.0.0.1", count=SENT, rate=5000).finish()
        return result["received"]


def wait_unwatched(host):
    """The programs count bondd as away 3 s after its last beat."""
    wait_for(lambda: not host.pinned("table")["watched"], "the watchdog to bite")


def test_the_programs_see_bondd_die(lone):
    """Not only the watchdog, which takes 3 s; and another process that dies is nobody."""
    host = lone(links=0)
    host.ctl("create", "bond0")
    assert host.run("true") and host.pinned("table")["watched"]
    host.kill_bondd()
    assert not host.pinned("table")["watched"]
    host.start_bondd()
    wait_for(lambda: host.pinned("table")["watched"], "the first beat of the next bondd")
    host.kill_bondd()
    assert not host.pinned("table")["watched"]


@pytest.fixture
def network(lab):
    return Network(lab)


def rarps(wire, mac):
    return [frame for frame in wire.frames(0.3) if frame.type == RARP and frame.src == mac]


def test_switches_learn_without_bondd(network):
    """The bond's one packet goes to Q, so the switch in the middle does not see it."""
    network.near.kill_bondd()
    wait_unwatched(network.near)
    assert network.arrive() == SENT
    with Capture(network.p, "eth0") as wire:
        network.switches.ip("link", "set", "a0", "down")
        send_packets(network.near, to="10.0.0.3", count=20)
        told = rarps(wire, network.mac)
    assert len(told) == 1 and told[0].dst == "ff:ff:ff:ff:ff:ff"
    assert not any(told[0].data[42:]), "nothing of the packet is in the broadcast"
    assert network.arrive() == SENT
    with Capture(network.p, "eth0") as wire:
        network.switches.ip("link", "set", "a0", "up")

        def returned():
            send_packets(network.near, to="10.0.0.3", count=1)
            return network.learned("a0")
        wait_for(returned, "the bond to use l0 again")
        assert len(rarps(wire, network.mac)) == 1
    assert network.arrive() == SENT


def tagged(network, vlan):
    """A frame of the bond in a VLAN, to nobody in particular."""
    return mac_bytes("020000000033" + network.mac.replace(":", "")) + \
        struct.pack("!HHH", 0x8100, vlan, 0x0800) + bytes(100)


def test_each_vlan_learns(network):
    network.near.kill_bondd()
    wait_unwatched(network.near)
    with Capture(network.p, "eth0") as wire:
        network.switches.ip("link", "set", "a0", "down")
        for vlan in (5, 6, 5, 6):
            send_frames(network.near, "bond0", [tagged(network, vlan)])
        send_packets(network.near, to="10.0.0.3", count=5)
        assert sorted(frame.vlan or 0 for frame in rarps(wire, network.mac)) == [0, 5, 6]


def test_nobody_is_told_of_what_has_not_changed(network):
    """bondd dies, and the active slave is that of before; nor while bondd lives."""
    with Capture(network.p, "eth0") as wire:
        send_packets(network.near, to="10.0.0.3", count=20)
        network.near.kill_bondd()
        wait_unwatched(network.near)
        send_packets(network.near, to="10.0.0.3", count=20)
        assert not rarps(wire, network.mac)


@pytest.mark.parametrize("mode", ["active-backup", "balance-tlb", "balance-alb"])
def test_the_first_packet_goes_to_another_slave(lab, mode):
    """The user has asked for it after bondd's death, and nothing was sent in between."""
    made = Network(lab, "mode", mode)
    near = made.near
    near.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
    near.kill_bondd()
    wait_unwatched(near)
    near.ctl("set", "bond0", "active_slave", "l1")
    with Capture(made.p, "eth0") as wire:
        send_packets(near, to="10.0.0.3", count=20)
        assert len(rarps(wire, made.mac)) == 1
    assert made.arrive() == SENT
