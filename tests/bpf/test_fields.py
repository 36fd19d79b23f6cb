"""Each header field of encapsulated packets varied alone: exactly those of the manual may change
the bucket. And what symmetric and ip6_flow_label do. Plain packets: test_policies.py.
"""
import functools
import struct

import pytest

import frames
import model
import picks
from frames import udp

VALUES = 40
FIELDS = {"src_mac": 1, "dst_mac": 2, "vlan": None, "outer_src": 1, "outer_dst": 2, "outer_ttl": 64,
          "outer_sport": 50000, "key": 7, "inner_src_mac": 3, "inner_dst_mac": 4, "src": 5,
          "dst": 6, "ttl": 63, "tos": 0, "label": 0, "sport": 1000, "dport": 2000, "payload": 0}
MACS, OUTER, INNER = {"src_mac", "dst_mac"}, {"outer_src", "outer_dst"}, {"src", "dst"}


def mac(number):
    return b"\x02" + number.to_bytes(5, "big")


def frame(source, destination, kind, rest, vlan=None):
    return frames.ethernet(mac(destination), mac(source), kind, rest,
                           b"" if vlan is None else frames.tag(vlan))


def ip4(source, destination, protocol, rest, *more):
    return frames.ip4(struct.pack("!I", 0x0a000000 + source),
                      struct.pack("!I", 0x0a010000 + destination), protocol, rest, *more)


def ip6(source, destination, protocol, rest, *more):
    return frames.ip6(*(((0xfd00 << 112) + number).to_bytes(16, "big")
                        for number in (source, destination << 16)), protocol, rest, *more)


def inner4(f):
    return ip4(f["src"], f["dst"], 17, udp(f["sport"], f["dport"], bytes((f["payload"],)) * 8),
               f["ttl"], f["tos"])


def inner6(f):
    return ip6(f["src"], f["dst"], 6, struct.pack("!HH", f["sport"], f["dport"]) +
               bytes((f["payload"],)) * 16, f["ttl"], f["tos"], f["label"])


def inner_frame(f):
    return frame(f["inner_src_mac"], f["inner_dst_mac"], 0x0800, inner4(f))


def outer(f, protocol, rest):
    return frame(f["src_mac"], f["dst_mac"], 0x0800,
                 ip4(f["outer_src"], f["outer_dst"], protocol, rest, f["outer_ttl"]), f["vlan"])


def outer6(f, protocol, rest):
    return frame(f["src_mac"], f["dst_mac"], 0x86dd,
                 ip6(f["outer_src"], f["outer_dst"], protocol, rest, f["outer_ttl"]), f["vlan"])


def vxlan(f):
    return struct.pack("!II", 8 << 24, f["key"] << 8)


def geneve(f):
    return struct.pack("!HHI", 0x0200, 0x6558, f["key"] << 8) + bytes(8)


def gre(f):
    return struct.pack("!HHIII", 0xb000, 0x86dd, 0, f["key"], f["key"])


def nvgre(f):
    return struct.pack("!HHI", 0x2000, 0x6558, f["key"])


def gtpu(f):
    return struct.pack("!BBHI", 0x30, 255, 0, f["key"])


def mpls(f):
    return struct.pack("!II", f["key"] << 12, f["key"] << 12 | 0x1ff)


KINDS = {
    "vxlan": lambda f: outer(f, 17, udp(f["outer_sport"], 4789, vxlan(f) + inner_frame(f))),
    "vxlan on ip6": lambda f: outer6(f, 17, udp(f["outer_sport"], 8472, vxlan(f) + inner_frame(f))),
    "geneve": lambda f: outer(f, 17, udp(f["outer_sport"], 6081, geneve(f) + inner_frame(f))),
    "gre": lambda f: outer(f, 47, gre(f) + inner6(f)),
    "nvgre": lambda f: outer(f, 47, nvgre(f) + inner_frame(f)),
    "ip in ip": lambda f: outer(f, 4, inner4(f)),
    "6in4": lambda f: outer(f, 41, inner6(f)),
    "ip6ip6": lambda f: outer6(f, 41, inner6(f)),
    "gtpu": lambda f: outer(f, 17, udp(f["outer_sport"], 2152, gtpu(f) + inner4(f))),
    "mpls": lambda f: frame(f["src_mac"], f["dst_mac"], 0x8847, mpls(f) + inner4(f), f["vlan"]),
}
HAS_OUTER_PORT = {"vxlan", "vxlan on ip6", "geneve", "gtpu"}


def fields_of(kind):
    fields = set(FIELDS)
    if kind not in HAS_OUTER_PORT:
        fields -= {"outer_sport"}
    if kind == "mpls":
        fields -= OUTER | {"outer_ttl"}
    if kind in ("ip in ip", "6in4", "ip6ip6"):
        fields -= {"key"}
    if kind not in ("vxlan", "vxlan on ip6", "geneve", "nvgre"):
        fields -= {"inner_src_mac", "inner_dst_mac"}
    if kind not in ("gre", "6in4", "ip6ip6"):
        fields -= {"label"}
    return sorted(fields)


def counted(policy, kind, flow_label=False):
    """By the manual."""
    if policy == "vlan+srcmac":
        return {"src_mac", "vlan"}
    if policy == "layer2" or (kind == "mpls" and policy.startswith("layer")):
        return MACS
    label = {"label"} if flow_label and policy == "encap3+4" else set()
    return {"layer2+3": MACS | OUTER,
            "layer3+4": OUTER | ({"outer_sport"} if kind in HAS_OUTER_PORT else set()),
            "encap2+3": MACS | INNER, "encap3+4": INNER | {"sport", "dport"} | label}[policy]


@functools.cache
def varied(kind, field):
    """Packets that differ in this field only."""
    return [KINDS[kind]({**FIELDS, field: number}) for number in range(1, VALUES + 1)]


def chosen(rule, packets):
    return len(set(picks.buckets("tc", [(rule, packet) for packet in packets])))


@pytest.mark.variants(4, always=("6in4-flow_label", "vxlan-symmetric", "mpls-"))
@pytest.mark.parametrize("options", [{}, {"symmetric": True}, {"flow_label": True}],
                         ids=["", "symmetric", "flow_label"])
@pytest.mark.parametrize("kind", KINDS)
def test_exactly_the_fields_of_the_manual_choose(kind, options):
    cases = [(model.Rule(policy=policy, seed=99, **options), field, packet) for policy in
             picks.POLICIES for field in fields_of(kind) for packet in varied(kind, field)]
    found = {}
    buckets = picks.buckets("tc", [(rule, packet) for rule, _, packet in cases])
    for (rule, field, _), bucket in zip(cases, buckets):
        found.setdefault((rule.policy, field), set()).add(bucket)
    for (policy, field), buckets in found.items():
        if field in counted(policy, kind, "flow_label" in options):
            assert len(buckets) > 0.8 * VALUES, f"{policy}: {field} hardly counts"
        else:
            assert len(buckets) == 1, f"{policy}: {field} must not count"


def reversed_(fields):
    pairs = [("src_mac", "dst_mac"), ("src", "dst"), ("sport", "dport")]
    return {**fields, **{a: fields[b] for a, b in pairs}, **{b: fields[a] for a, b in pairs}}


def plain(f, kind):
    """An unencapsulated packet whose addresses may stand on either side."""
    pair = [number.to_bytes(4 if kind == 0x0800 else 16, "big")
            for number in (0x0a000000 + f["src"], 0x0a000000 + f["dst"])]
    ports = struct.pack("!HH", f["sport"], f["dport"]) + bytes(16)
    rest = frames.ip4(*pair, 6, ports) if kind == 0x0800 else \
        frames.ip6(*pair, 6, ports, label=f["label"])
    return frame(f["src_mac"], f["dst_mac"], kind, rest)


def chosen_by(runs):
    """The buckets of each run, a rule and packets; all by one process, which takes long to load."""
    buckets = iter(picks.buckets("tc", [(rule, packet) for rule, packets in runs
                                        for packet in packets]))
    return [[next(buckets) for _ in packets] for _, packets in runs]


@pytest.mark.parametrize("policy", ["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"])
@pytest.mark.parametrize("kind", [0x0800, 0x86dd], ids=["ip4", "ip6"])
def test_symmetric_hashes_both_directions_alike(policy, kind):
    rule = model.Rule(policy=policy, seed=3, symmetric=True, flow_label=True)
    one_way = model.Rule(policy=policy, seed=3)
    flows = [{**FIELDS, "src": number, "dst": 500 - 7 * number, "sport": 40000 - number,
              "dport": 300 * number, "src_mac": number * 77, "dst_mac": 3000, "label": number}
             for number in range(1, 100)]
    there = [plain(flow, kind) for flow in flows]
    back = [plain({**reversed_(flow), "label": 5}, kind) for flow in flows]
    runs = [(each, packets) for each in (rule, one_way) for packets in (there, back)]
    chosen_there, chosen_back, one_way_there, one_way_back = chosen_by(runs)
    assert chosen_there == chosen_back
    assert len(set(chosen_there)) > 80
    assert one_way_there != one_way_back


@pytest.mark.parametrize("policy,flow_label,expected",
                         [("layer3+4", True, True), ("layer3+4", False, False),
                          ("encap3+4", True, True), ("layer2+3", True, False)])
def test_the_flow_label_counts_when_asked_for(policy, flow_label, expected):
    rule = model.Rule(policy=policy, flow_label=flow_label)
    packets = [plain({**FIELDS, "label": number << 8}, 0x86dd) for number in range(VALUES)]
    assert chosen(rule, packets) > 0.8 * VALUES if expected else chosen(rule, packets) == 1
