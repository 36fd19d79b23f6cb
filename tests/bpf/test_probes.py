"""What a slave's program writes down for the ARP monitor: when it heard the targets, and who else
is not taken for one.
"""
import ctypes
import socket

import pytest
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, IPv6,
                                IPv6ExtHdrHopByHop)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether

import packets
from frames import mac_bytes
from datapath import TC_REDIRECT, TC_SHOT, TC_UNSPEC, X

SLOT = 2
US, THEM, OTHER = "02:00:5e:10:00:01", "02:00:5e:10:00:02", "02:00:5e:10:00:03"
ALL = "ff:ff:ff:ff:ff:ff"
OUR4, TARGET4, STRANGER4 = "10.0.0.1", "10.0.0.2", "10.0.0.99"
OUR6, TARGET6, STRANGER6 = "fd00::1", "fd00::2:3:4", "fd00::99"
GROUP6, GROUP6_MAC = "ff02::1:ff03:4", "33:33:ff:03:00:04"
ALL6, ALL6_MAC = "ff02::1", "33:33:00:00:00:01"
TARGETS = 2 * X.MAX_TARGETS
AT4, AT6 = 2, TARGETS - 1


@pytest.fixture(name="times")
def _times(datapath):
    """A monitor with one target of each family, in the third and the last place."""
    probes = datapath.probes
    ctypes.memset(ctypes.byref(probes), 0, ctypes.sizeof(probes))
    set_target(probes.target[2], TARGET4, OUR4)
    set_target(probes.target[TARGETS - 1], TARGET6, OUR6)
    datapath.table.flags |= X.F_PROBES
    return probes.times[SLOT]


def set_target(target, address, source):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for field, value in ((target.address, socket.inet_pton(family, address)),
                         (target.source, socket.inet_pton(family, source)),
                         (target.mac, mac_bytes(US))):
        for at in range(16 if field is not target.mac else 6):
            if at < len(field):
                field[at] = value[at] if at < len(value) else 0


def arp(sender=TARGET4, target=OUR4, dst=US, op=2, tags=(), **changes):
    return bytes(with_tags(dst, tags) / ARP(op=op, psrc=sender, pdst=target, hwsrc=THEM,
                                            hwdst=US if op == 2 else "00:00:00:00:00:00",
                                            **changes))


def with_tags(dst, tags):
    frame = Ether(src=THEM, dst=dst)
    for kind, vlan in tags:
        frame /= kind(vlan=vlan)
    return frame


def nd(message, src=TARGET6, dst=OUR6, mac=US, hlim=255, tags=()):
    return bytes(with_tags(mac, tags) / IPv6(src=src, dst=dst, hlim=hlim) / message)


NA = ICMPv6ND_NA(tgt=TARGET6)
NS = ICMPv6ND_NS(tgt=TARGET6)


def heard(times):
    """Which times are set: neighbour, from, to, uncounted."""
    found = set()
    if times.neighbour_ns:
        found.add("neighbour")
    if times.uncounted_ns:
        found.add("uncounted")
    found |= {("from", at) for at in range(TARGETS) if times.from_ns[at]}
    found |= {("to", at) for at in range(TARGETS) if times.to_ns[at]}
    return found


ANSWERS = {
    "reply": (arp(), ("from", AT4)),
    "the target asks for us": (arp(op=1, dst=ALL), ("from", AT4)),
    "reply to all": (arp(dst=ALL), ("from", AT4)),
    "reply with a tag": (arp(tags=[(Dot1Q, 7)]), ("from", AT4)),
    "reply with two tags": (arp(tags=[(Dot1AD, 7), (Dot1Q, 8)]), ("from", AT4)),
    "advertisement": (nd(NA), ("from", AT6)),
    "advertisement to all": (nd(NA, dst=ALL6, mac=ALL6_MAC), ("from", AT6)),
    "advertisement with two tags": (nd(NA, tags=[(Dot1AD, 7), (Dot1Q, 8)]), ("from", AT6)),
    "the target solicits us": (nd(ICMPv6ND_NS(tgt=OUR6)), ("from", AT6)),
    "our request, through the switch": (arp(OUR4, TARGET4, ALL, 1), ("to", AT4)),
    "our solicitation": (nd(NS, OUR6, GROUP6, GROUP6_MAC), ("to", AT6)),
    "our solicitation to the target": (nd(NS, OUR6, TARGET6, THEM), ("to", AT6)),
}
OTHERS = {
    "reply of another host": arp(STRANGER4),
    "reply to another host": arp(target=STRANGER4),
    "reply to another address of Ethernet": arp(dst=OTHER),
    "gratuitous reply of the target": arp(target=TARGET4, dst=ALL),
    "request of another host for the target": arp(STRANGER4, TARGET4, ALL, 1),
    "our request for another host": arp(OUR4, STRANGER4, ALL, 1),
    "without a sender": arp("0.0.0.0", TARGET4, ALL, 1),
    "zeroes": arp("0.0.0.0", "0.0.0.0", ALL, 1),
    "advertisement of another host": nd(NA, STRANGER6),
    "advertisement to another host": nd(NA, dst=STRANGER6),
    "advertisement to another address of Ethernet": nd(NA, mac=OTHER),
    "duplicate address detection": nd(NS, "::", GROUP6, GROUP6_MAC),
    "our solicitation of another host": nd(ICMPv6ND_NS(tgt=STRANGER6), OUR6, "ff02::1:ff00:99",
                                           "33:33:ff:00:00:99"),
    "our solicitation to nearly the group": nd(NS, OUR6, "ff02::2:ff03:4", GROUP6_MAC),
}
# Not even ARP or neighbour messages as they should be.
NEITHER = {
    "hardware type": arp(hwtype=6),
    "protocol type": arp(ptype=0x86dd),
    "hardware length": arp(hwlen=8),
    "protocol length": arp(plen=16),
    "truncated": arp()[:41],
    "truncated at once": arp()[:15],
    "truncated behind a tag": arp(tags=[(Dot1Q, 7)])[:45],
    "three tags": arp(tags=[(Dot1AD, 7), (Dot1Q, 8), (Dot1Q, 9)]),
    "four tags": arp(tags=[(Dot1AD, 7), (Dot1Q, 8), (Dot1Q, 9), (Dot1Q, 10)]),
    "through a router": nd(NA, hlim=254),
    "truncated advertisement": nd(NA)[:54],
    "router advertisement": nd(ICMPv6ND_RA()),
    "echo": nd(ICMPv6EchoRequest()),
    "hidden behind an option": nd(IPv6ExtHdrHopByHop() / NA),
    "an IPv4 packet": packets.packet("udp4"),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("collecting", [True, False])
def test_what_the_targets_and_we_say(datapath, times, name, collecting):
    """It goes where it would without a monitor."""
    frame, expected = ANSWERS[name]
    datapath.table.rx_mask = 0xf if collecting else 0
    verdict = (TC_REDIRECT, {SLOT: 1}, {}) if collecting else (TC_SHOT, {}, {SLOT: 1})
    assert datapath.receive(frame, SLOT) == verdict
    assert heard(times) == {"neighbour", expected}
    assert not heard(datapath.probes.times[SLOT + 1])


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_neighbours_and_no_more(datapath, times, name):
    datapath.receive(OTHERS[name], SLOT)
    assert heard(times) == {"neighbour"}


@pytest.mark.parametrize("name", NEITHER)
def test_what_is_neither(datapath, times, name):
    datapath.receive(NEITHER[name], SLOT)
    assert heard(times) == set()


def test_frames_for_the_address_of_the_slave_itself(datapath, times):
    """With mac_policy filter or fail_over_mac that is not the address of bond0."""
    datapath.receive(arp(dst=datapath.mac(SLOT)), SLOT)
    assert heard(times) == {"neighbour", ("from", AT4)}


def test_a_sender_without_address(datapath, times):
    """The probes have 0.0.0.0 or :: as their sender, and so have the answers as their target."""
    set_target(datapath.probes.target[2], TARGET4, "0.0.0.0")
    set_target(datapath.probes.target[AT6], TARGET6, "::")
    datapath.receive(arp(), SLOT)
    assert heard(times) == {"neighbour"}
    datapath.receive(arp(target="0.0.0.0"), SLOT)
    datapath.receive(nd(NA, dst=ALL6, mac=ALL6_MAC), SLOT)
    assert heard(times) == {"neighbour", ("from", AT4), ("from", AT6)}


@pytest.mark.parametrize("frame", [packets.frame("01:80:c2:00:00:02", 0x8809),
                                   packets.frame("01:80:c2:00:00:01", 0x8808)])
def test_frames_that_are_in_no_counter(datapath, times, frame):
    assert datapath.receive(frame, SLOT) == (TC_UNSPEC, {}, {})
    assert heard(times) == {"uncounted"}


def test_lldp_of_a_slave_that_does_not_collect(datapath, times):
    datapath.table.rx_mask = 0
    lldp = packets.frame("01:80:c2:00:00:0e", 0x88cc)
    assert datapath.receive(lldp, SLOT) == (TC_UNSPEC, {}, {})
    assert heard(times) == {"uncounted"}


def test_nothing_without_a_monitor(datapath, times):
    datapath.table.flags &= ~X.F_PROBES
    for frame, _ in ANSWERS.values():
        datapath.receive(frame, SLOT)
    datapath.receive(packets.frame("01:80:c2:00:00:02", 0x8809), SLOT)
    assert heard(times) == set()


def test_the_time_is_the_last_one(datapath, times):
    datapath.receive(arp(), SLOT)
    first = times.from_ns[AT4]
    datapath.receive(arp(), SLOT)
    assert times.from_ns[AT4] > first


def test_a_stranger_on_no_slave(datapath, times):
    before = bytes(datapath.probes)
    datapath.receive(arp(), ifindex=1)
    assert bytes(datapath.probes) == before and not heard(times)
