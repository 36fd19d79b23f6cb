"""802.3ad: what leaves by one port, by every port, or by each in turn: lacp_tx and
broadcast_neighbor.
"""
import struct

import pytest

import frames
from frames import ARP, ICMP6, IPV6, UDP, ethernet, ip6
from lacp import wait_distributing
from traffic import Capture, send_frames, send_packets

LINKS = 3
SOURCE = bytes.fromhex("020000000011")
BROADCAST = b"\xff" * 6
SOLICITED = bytes.fromhex("3333ff000002")
ASKED = frames.address("fd00::2")
GROUP = "ff02::1:ff00:2"  # of the solicited node


@pytest.fixture
def made(pair, path):
    made = pair("802.3ad", links=LINKS, lacp_rate="fast", xmit_hash_policy="layer3+4", path=path)
    wait_distributing(made.near, made.far, links=made.links)
    return made


def ether(destination, kind, payload):
    return ethernet(destination, SOURCE, kind, payload.ljust(46, b"\0"))


def to_group(protocol, payload):
    return ether(SOLICITED, IPV6, ip6("fd00::11", GROUP, protocol, payload, hops=255))


def icmp6(kind):
    """Nobody looks at the checksum here."""
    return to_group(ICMP6, struct.pack("!BBHI", kind, 0, 0, 0) + ASKED)


def arp(operation):
    return ether(BROADCAST, ARP, frames.arp(operation, SOURCE, "10.0.0.11", bytes(6), "10.0.0.2"))


NEIGHBOUR_MESSAGES = {"ARP request": arp(1), "ARP reply": arp(2), "solicitation": icmp6(135),
                      "advertisement": icmp6(136)}
OTHERS = {"echo request": icmp6(128), "router solicitation": icmp6(133),
          "solicitation's number in UDP": to_group(UDP, struct.pack("!BBH", 135, 0, 9) + bytes(20)),
          "no IP": ether(BROADCAST, 0x88b5, b"")}


def links_taken(made, frames):
    """{name: links on which the frame of this name arrives}; each leaves bond0 once."""
    wires = [Capture(made.far, link) for link in made.links]
    send_frames(made.near, "bond0", frames.values())
    seen = [(wire.dev, frame.data) for wire in wires for frame in wire.frames(0.2)]
    for wire in wires:
        wire.close()
    return {name: [link for link, data in seen if data == frame] for name, frame in frames.items()}


def test_neighbour_messages_leave_by_every_port(made):
    def one_port_each(taken):
        return all(len(links) == 1 for links in taken.values())
    assert one_port_each(links_taken(made, NEIGHBOUR_MESSAGES)) and \
        one_port_each(links_taken(made, OTHERS))
    made.near.ctl("set", "bond0", "broadcast_neighbor", "on")
    assert links_taken(made, NEIGHBOUR_MESSAGES) == dict.fromkeys(NEIGHBOUR_MESSAGES, made.links)
    assert one_port_each(links_taken(made, OTHERS))
    made.near.ctl("set", "bond0", "broadcast_neighbor", "off")
    assert one_port_each(links_taken(made, NEIGHBOUR_MESSAGES))


def shares(made, **packets):
    """(packets sent, {link: numbered packets that came by it})."""
    wires = [Capture(made.far, link) for link in made.links]
    sent = send_packets(made.near, **packets)["sent"]
    found = {wire.dev: sum(bool(frame.numbers()) for frame in wire.frames(0.1)) for wire in wires}
    for wire in wires:
        wire.close()
    return sent, found


def test_lacp_tx(made):
    """One flow: by its hash on one port, in turn on all."""
    def by_hash():
        sent, found = shares(made, count=600, flows=1)
        return sorted(found.values()) == [0, 0, sent]

    def in_turn():
        sent, found = shares(made, count=600, flows=1)
        # A stray packet of the stack takes a turn too.
        return all(abs(count - sent / LINKS) <= 8 for count in found.values())
    assert by_hash() and not in_turn()
    made.near.ctl("set", "bond0", "lacp_tx", "balance-rr")
    assert in_turn()
    made.near.ctl("set", "bond0", "packets_per_slave", 0)
    assert min(shares(made, count=600, flows=1)[1].values()) > 100
    made.near.ctl("set", "bond0", "lacp_tx", "hash")
    assert by_hash()
