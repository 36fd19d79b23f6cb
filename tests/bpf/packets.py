"""Packets for the datapath tests, built from named header fields (scapy)."""
import functools
import socket
import struct

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                IPv6ExtHdrRouting, ICMPv6EchoRequest)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from frames import ethernet

FIELDS = dict(src_mac="02:00:00:00:00:01", dst_mac="02:00:00:00:00:02", type=0x88b5, vlan=None,
              vlan_priority=0, outer_vlan=None, src_ip="10.1.2.3", dst_ip="10.4.5.6",
              src_ip6="fd00::1", dst_ip6="fd00::2",
              tos=0, ttl=64, id=1, flow_label=0, src_port=1111, dst_port=2222, payload=b"x" * 32)


def ether(fields):
    packet = Ether(src=fields["src_mac"], dst=fields["dst_mac"])
    if fields["outer_vlan"] is not None:
        packet /= Dot1AD(vlan=fields["outer_vlan"])
    if fields["vlan"] is not None:
        packet /= Dot1Q(vlan=fields["vlan"], prio=fields["vlan_priority"])
    return packet


def ports(fields, kind):
    return kind(sport=fields["src_port"], dport=fields["dst_port"])


def ip4(fields, **more):
    return IP(src=fields["src_ip"], dst=fields["dst_ip"], tos=fields["tos"], ttl=fields["ttl"],
              id=fields["id"], **more)


def ip6(fields):
    return IPv6(src=fields["src_ip6"], dst=fields["dst_ip6"], tc=fields["tos"], hlim=fields["ttl"],
                fl=fields["flow_label"])


def layers(kind, fields):
    """Everything above Ethernet, by kind."""
    payload = Raw(fields["payload"])
    if kind == "udp4":
        return ip4(fields) / ports(fields, UDP) / payload
    if kind == "tcp4":
        return ip4(fields) / ports(fields, TCP) / payload
    if kind == "icmp4":
        return ip4(fields) / ICMP(id=1, seq=fields["id"]) / payload
    if kind == "udp6":
        return ip6(fields) / ports(fields, UDP) / payload
    if kind == "tcp6":
        return ip6(fields) / ports(fields, TCP) / payload
    if kind == "icmp6":
        return ip6(fields) / ICMPv6EchoRequest(seq=fields["id"]) / payload
    if kind == "arp":
        return ARP(psrc=fields["src_ip"], pdst=fields["dst_ip"])
    raise KeyError(kind)


@functools.cache  # scapy takes a millisecond, and many tests want the same packets
def packet(kind, **changes):
    """Bytes of a packet; kind is one of layers(), or "other" for a frame of another type."""
    fields = {**FIELDS, **changes}
    if kind == "other":
        tags = bytes(ether(fields))[12:-2] if fields["vlan"] is not None else b""
        macs = bytes(ether(fields))[:12]
        return macs + tags + struct.pack("!H", fields["type"]) + fields["payload"]
    return bytes(ether(fields) / layers(kind, fields))


def frame(dst, type_, src="02:00:00:00:00:99", payload=b"\0" * 46):
    return ethernet(dst, src, type_, payload)


def fragments4(fields):
    """A UDP datagram in IPv4 fragments: only the first has the ports."""
    fields = {**FIELDS, **fields}
    datagram = bytes(UDP(sport=fields["src_port"], dport=fields["dst_port"]) /
                     Raw(bytes(range(64)) * 3))
    step = 64
    return [bytes(ether(fields) / ip4(fields, proto=socket.IPPROTO_UDP, frag=at // 8,
                                      flags="MF" if at + step < len(datagram) else 0) /
                  Raw(datagram[at:at + step]))
            for at in range(0, len(datagram), step)]


def fragments6(fields):
    fields = {**FIELDS, **fields}
    datagram = bytes(UDP(sport=fields["src_port"], dport=fields["dst_port"]) /
                     Raw(bytes(range(64)) * 3))
    step = 64
    return [bytes(ether(fields) / ip6(fields) /
                  IPv6ExtHdrFragment(nh=socket.IPPROTO_UDP, offset=at // 8,
                                     m=int(at + step < len(datagram)), id=7) /
                  Raw(datagram[at:at + step]))
            for at in range(0, len(datagram), step)]


def extended6(fields, headers):
    """IPv6 UDP behind extension headers named h (hop-by-hop), d (destination options), r (routing),
    D (long d).
    """
    fields = {**FIELDS, **fields}
    made = {"h": IPv6ExtHdrHopByHop, "d": IPv6ExtHdrDestOpt,
            "r": lambda: IPv6ExtHdrRouting(addresses=["fd00::9"], segleft=0),
            "D": lambda: IPv6ExtHdrDestOpt(options=[padding(20)])}
    result = ether(fields) / ip6(fields)
    for letter in headers:
        result /= made[letter]()
    return bytes(result / ports(fields, UDP) / Raw(fields["payload"]))


def padding(size):
    from scapy.layers.inet6 import PadN
    return PadN(optdata=b"\0" * size)
