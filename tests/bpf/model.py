"""What slave a packet takes: docs/users/hash.md in Python, written from that page and not from the
programs. tests/bpf holds the programs against it.
"""
import dataclasses
import struct
import sys

MASK = (1 << 64) - 1
VLAN_TYPES = (0x8100, 0x88a8)
IP4, IP6, FRAME, MPLS_UNICAST, MPLS_MULTICAST = 0x0800, 0x86dd, 0x6558, 0x8847, 0x8848
PORTS = (6, 17, 33, 132, 136)  # TCP, UDP, DCCP, SCTP, UDP-Lite
FRAGMENT, AH = 44, 51
EXTENSIONS = (0, 43, FRAGMENT, 60, AH)
REACH, ENCAPS = 256, 3


@dataclasses.dataclass(frozen=True)
class Rule:
    policy: str = "layer3+4"
    seed: int = 0
    symmetric: bool = False
    flow_label: bool = False

    @property
    def with_ports(self):
        return self.policy in ("layer3+4", "encap3+4", "flow")


class Cut(Exception):
    """The packet ends before a field does."""


def take(packet, start, size):
    if start + size > len(packet):
        raise Cut
    return packet[start:start + size]


def number(packet, start, size):
    """A field as the network counts it."""
    return int.from_bytes(take(packet, start, size), "big")


def le(data):
    return int.from_bytes(data, sys.byteorder)


# the hash

def mixed(seed, words):
    value = seed << 32 | seed
    for word in words:
        value = (value ^ word) * 0x9e3779b97f4a7c15 & MASK
        value ^= value >> 32
    return value * 0xd6e8feb86659fd93 & MASK


def bucket_of(value):
    return value >> 52


def detour(value, slot_of_bucket, may):
    """The slot of a hash whose own may not transmit."""
    for turn in (1, 2, 3, 4):
        value = (value ^ value >> 32 ^ turn) * 0xd6e8feb86659fd93 & MASK
        if slot_of_bucket[bucket_of(value)] in may:
            return slot_of_bucket[bucket_of(value)]
    return min(may)


# layer 2

def untagged(packet):
    """(packet type, where what it names begins, outermost VLAN id)."""
    at, kind, vlan = 14, number(packet, 12, 2), 0
    for tag in range(3):
        if kind not in VLAN_TYPES or at + 4 > len(packet):
            break
        if tag == 0:
            vlan = number(packet, at, 2) & 0xfff
        at, kind = at + 4, number(packet, at + 2, 2)
    return kind, at, vlan


def mac(data):
    return le(data[0:2]) << 32 | le(data[2:6])


def mac_words(packet, kind, symmetric):
    source, destination = mac(packet[6:12]), mac(packet[0:6])
    if symmetric:
        source, destination = sorted((source, destination))
    return [source | le(struct.pack("!H", kind)) << 48, destination]


# IP

def payload4(packet, at):
    """(protocol, where it begins) or None for a fragment."""
    take(packet, at, 20)
    if number(packet, at + 6, 2) & 0x3fff:
        return None
    return packet[at + 9], at + 4 * (packet[at] & 15)


def payload6(packet, at):
    take(packet, at, 40)
    protocol, start, walked = packet[at + 6], at + 40, 0
    for _ in range(6):
        if protocol not in EXTENSIONS:
            break
        header = take(packet, start + walked, 8)
        if protocol == FRAGMENT and number(header, 2, 2) & 0xfff9:
            return None
        walked += 8 if protocol == FRAGMENT else (header[1] + 2) * 4 if protocol == AH \
            else (header[1] + 1) * 8
        if walked > 128:
            return None
        protocol = header[0]
    return protocol, start + walked


def payload(packet, at, version):
    return payload4(packet, at) if version == 4 else payload6(packet, at)


def addresses(packet, at, version, symmetric):
    if version == 4:
        take(packet, at, 20)
        pair = [[le(packet[at + 12:at + 16])], [le(packet[at + 16:at + 20])]]
    else:
        take(packet, at, 40)
        pair = [[le(packet[start:start + 8]), le(packet[start + 8:start + 16])]
                for start in (at + 8, at + 24)]
    if symmetric:
        pair.sort()
    if version == 4:
        return [pair[0][0] << 32 | pair[1][0]]
    return pair[0] + pair[1]


def port_words(packet, at, version, symmetric):
    found = payload(packet, at, version)
    if not found or found[0] not in PORTS:
        return []
    raw = take(packet, found[1], 4)
    if symmetric and le(raw[0:2]) > le(raw[2:4]):
        raw = raw[2:4] + raw[0:2]
    return [le(raw)]


def ip_words(packet, at, version, rule):
    words = []
    try:
        words += addresses(packet, at, version, rule.symmetric)
        if rule.with_ports:
            if version == 6 and rule.flow_label and not rule.symmetric:
                words.append(number(packet, at, 4) & 0xfffff)
            words += port_words(packet, at, version, rule.symmetric)
    except Cut:
        pass
    return words


# encapsulations: where the next IP header begins, or None

def reach(packet, at, size):
    """A header that may be looked at."""
    if at > REACH:
        raise Cut
    return take(packet, at, size)


def by_type(packet, kind, at):
    if kind in (IP4, IP6):
        return at
    if kind in (MPLS_UNICAST, MPLS_MULTICAST):
        return below_labels(packet, at)
    return None


def below_labels(packet, at):
    for _ in range(8):
        label = reach(packet, at, 4)
        at += 4
        if label[2] & 1:
            return at
    return None


def in_frame(packet, at):
    at += 12
    for tags in range(4):
        kind = int.from_bytes(reach(packet, at, 2), "big")
        if kind not in VLAN_TYPES:
            return by_type(packet, kind, at + 2)
        at += 4
    return None


def typed(packet, kind, at):
    return in_frame(packet, at) if kind == FRAME else by_type(packet, kind, at)


def in_gre(packet, at):
    header = reach(packet, at, 4)
    flags = number(header, 0, 2)
    if flags & 0x4007:
        return None
    options = sum(4 for bit in (0x8000, 0x2000, 0x1000) if flags & bit)
    return typed(packet, number(header, 2, 2), at + 4 + options)


def in_gtpu(packet, at, header):
    if header[0] & 0xf0 != 0x30 or header[1] != 255:
        return None
    if not header[0] & 7:
        return at + 8
    if not header[0] & 4:
        return at + 12
    at += 11  # where the type of the next extension is
    for _ in range(4):
        kind, units = reach(packet, at, 2)
        if kind == 0:
            return at + 1
        if units == 0:
            return None
        at += 4 * units
    return None


def in_udp(packet, at):
    port = number(reach(packet, at, 4), 2, 2)
    if port not in (4789, 8472, 6081, 2152):
        return None
    at += 8
    header = reach(packet, at, 8)
    if port == 2152:
        return in_gtpu(packet, at, header)
    if port == 6081:
        return None if header[0] & 0xc0 else typed(packet, number(header, 2, 2),
                                                   at + 8 + 4 * (header[0] & 0x3f))
    return in_frame(packet, at + 8) if header[0] & 8 else None


def carried(packet, protocol, at):
    if protocol in (4, 41):
        return at
    reader = {47: in_gre, 17: in_udp, 137: below_labels, 143: in_frame}.get(protocol)
    return reader(packet, at) if reader and at <= REACH else None


def whole_ip(packet, at):
    """(where, version) of an IP header that is whole, or None."""
    version = reach(packet, at, 20)[0] >> 4
    if version == 6:
        reach(packet, at, 40)
    return (at, version) if version in (4, 6) else None


def innermost(packet):
    """(where, version) of the IP packet that counts for the encap policies, or None."""
    found = None
    try:
        at = in_frame(packet, 0)
        for _ in range(1 + ENCAPS):
            inner = whole_ip(packet, at) if at is not None else None
            if not inner:
                break
            found = inner
            inside = payload(packet, *found)
            at = carried(packet, *inside) if inside else None
    except Cut:
        pass
    return found


# all together

def words(packet, rule):
    kind, at, vlan = untagged(packet)
    if rule.policy == "vlan+srcmac":
        return [mac(packet[6:12]) | vlan << 48]
    where = {IP4: (at, 4), IP6: (at, 6)}.get(kind)
    if rule.policy.startswith("encap"):
        where = innermost(packet) or where
    macs = [] if rule.with_ports and where else mac_words(packet, kind, rule.symmetric)
    return macs + (ip_words(packet, *where, rule) if where and rule.policy != "layer2" else [])


def hash_of(packet, rule):
    return mixed(rule.seed, words(packet, rule))


def bucket(packet, rule):
    return bucket_of(hash_of(packet, rule))
