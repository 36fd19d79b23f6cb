"""Packets whose headers lie in page fragments, beyond what a program can read directly: they take
the slave that the same headers take elsewhere.
"""
import socket
import struct

import pytest

from counting import count, counted
from frames import IPV4, IPV6, UDP, ethernet, ip4, ip6, udp
from traffic import PORT, SOL_PACKET, Capture
from waiting import wait_for

PACKET_VNET_HDR = 15
ETHER, MTU = 14, 9000
SIZE = 5000  # more than a page: a socket puts less in one piece
FIRST, FLOWS = 40000, 24
ADDRESSES = {4: ("10.0.0.1", "10.0.0.2"), 6: ("fd00::1", "fd00::2")}


@pytest.fixture
def made(pair, path):
    made = pair("balance-xor", path=path)
    for host in (made.near, made.far):
        host.ip("link", "set", "bond0", "mtu", MTU)
    for host in (made.near, made.far):
        wait_for(lambda host=host: all(host.link(dev)["mtu"] == MTU for dev in made.links),
                 "the slaves' MTU")
    # a map's id: packets by their linear part when they enter bond0
    made.seen = count(made.near, "bond0", "linear")
    return made


def bare_packets(seen):
    """Those of which a program saw no more than the Ethernet header."""
    return counted(seen).get(ETHER, 0)


def datagram(made, version, source_port):
    dst, src = (host.link("bond0")["address"] for host in (made.far, made.near))
    kind, ip = (IPV4, ip4) if version == 4 else (IPV6, ip6)
    return ethernet(dst, src, kind, ip(*ADDRESSES[version], UDP,
                                       udp(source_port, PORT, bytes(SIZE - 8))))


def send_in_pieces(host, frames):
    """The link's header in the linear part, as virtio's header says; all else in fragments."""
    with host.inside():
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        sender.bind(("bond0", 0))
    with sender:
        sender.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        for frame in frames:
            sender.send(struct.pack("=BBHHHH", 0, 0, ETHER, 0, 0, 0) + frame)


def links_taken(made, version):
    """The link of each flow."""
    wires, taken = [Capture(made.far, link) for link in made.links], {}
    frames = [datagram(made, version, FIRST + number) for number in range(FLOWS)]
    send_in_pieces(made.near, frames)
    for wire in wires:
        taken.update({frames.index(frame.data): wire.dev for frame in wire.frames(0.1)
                      if frame.data in frames})
        wire.close()
    return [taken.get(number) for number in range(FLOWS)]


def explained(made, version):
    source, destination = ADDRESSES[version]
    dmac = made.far.link("bond0")["address"]
    return [made.near.ctl_json("explain", "bond0", "src", source, "dst", destination, "proto",
                               "udp", "sport", FIRST + number, "dport", PORT, "dmac", dmac)["slave"]
            for number in range(FLOWS)]


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
@pytest.mark.parametrize("version", ADDRESSES)
def test_headers_in_fragments_count(made, version):
    for policy in ("layer3+4", "encap3+4", "layer2+3"):
        made.near.ctl("set", "bond0", "xmit_hash_policy", policy)
        before = bare_packets(made.seen)
        taken = links_taken(made, version)
        assert bare_packets(made.seen) == before + FLOWS
        assert taken == explained(made, version), policy
        assert policy == "layer2+3" or len(set(taken)) > 1
