# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames made by hand, of bytes and of addresses as text or bytes, and capture files with them.
Every suite may use it. Knows no bonds.
"""
import socket
import struct

ARP, IPV4, IPV6, VLAN = 0x0806, 0x0800, 0x86dd, 0x8100
UDP, ICMP6 = socket.IPPROTO_UDP, socket.IPPROTO_ICMPV6
ETHERNET, COOKED, COOKED2 = 1, 113, 276
MICRO, NANO = 0xa1b2c3d4, 0xa1b23c4d


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def station(mac):
    return mac_bytes(mac) if isinstance(mac, str) else mac


def address(of):
    """Of IPv4 or IPv6."""
    if isinstance(of, str):
        return socket.inet_pton(socket.AF_INET6 if ":" in of else socket.AF_INET, of)
    return of


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def tag(vlan, protocol=VLAN):
    return struct.pack("!HH", protocol, vlan)


def ethernet(dst, src, kind, payload=b"", tags=b""):
    return station(dst) + station(src) + tags + struct.pack("!H", kind) + payload


def arp(operation, sender_mac, sender, target_mac, target):
    return struct.pack("!HHBBH", 1, IPV4, 6, 4, operation) + station(sender_mac) + \
        address(sender) + station(target_mac) + address(target)


def ip4(src, dst, protocol, payload, ttl=64, tos=0, number=0, fragment=0, summed=False):
    """summed: with the header's checksum."""
    header = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(payload), number, fragment, ttl,
                         protocol, 0, address(src), address(dst))
    if summed:
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return header + payload


def ip6(src, dst, protocol, payload, hops=64, tos=0, label=0):
    return struct.pack("!IHBB", 6 << 28 | tos << 20 | label, len(payload), protocol, hops) + \
        address(src) + address(dst) + payload


def udp(source, destination, payload, total=0):
    return struct.pack("!HHHH", source, destination, 8 + len(payload), total) + payload


def icmp6(src, dst, kind, rest, hops=255):
    """With the checksum; rest is all behind it."""
    src, dst = address(src), address(dst)
    total = checksum(src + dst + struct.pack("!IIBBH", 4 + len(rest), ICMP6, kind, 0, 0) + rest)
    return ip6(src, dst, ICMP6, struct.pack("!BBH", kind, 0, total) + rest, hops)


def pcap(frames, link=ETHERNET, order="<", magic=MICRO, snaplen=65535):
    """A classic capture file. Packet n is of second n and fraction n; longer ones are cut."""
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)]
    for number, frame in enumerate(frames):
        kept = frame[:snaplen]
        parts.append(struct.pack(order + "IIII", number, number, len(kept), len(frame)) + kept)
    return b"".join(parts)


def pcapng(frames, order="<"):
    """The same as pcapng, by one interface."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack(order + "II", kind, len(body) + 12) + body + \
            struct.pack(order + "I", len(body) + 12)
    parts = [block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1)),
             block(1, struct.pack(order + "HHI", ETHERNET, 0, 0))]
    for frame in frames:
        parts.append(block(6, struct.pack(order + "IIIII", 0, 0, 0, len(frame), len(frame)) +
                           frame))
    return b"".join(parts)


def cooked(frame, outgoing=True):
    """An Ethernet frame as LINUX_SLL has it."""
    return struct.pack("!HHH", 4 if outgoing else 0, 1, 6) + frame[6:12] + b"\0\0" + frame[12:]


def cooked2(frame, outgoing=True):
    """As LINUX_SLL2 has it."""
    return frame[12:14] + struct.pack("!HIHBB", 0, 7, 1, 4 if outgoing else 0, 6) + frame[6:12] + \
        b"\0\0" + frame[14:]
