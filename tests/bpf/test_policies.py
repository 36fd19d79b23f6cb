"""Which header fields choose the slave. The model is the bonding manual of the kernel
(Documentation/networking/bonding.rst, xmit_hash_policy), written down here by hand:

layer2: source MAC, destination MAC, packet type ID.
layer2+3: those, and the IP addresses; other than IP as layer2.
layer3+4: IP addresses, and the ports of protocols that have them; ports of fragments
    are omitted; other than IP as layer2.
vlan+srcmac: VLAN id, source MAC.
"""
import itertools
import struct

import pytest

import packets
from datapath import X

POLICIES = {"layer2": X.POLICY_LAYER2, "layer2+3": X.POLICY_LAYER23, "layer3+4": X.POLICY_LAYER34,
            "vlan+srcmac": X.POLICY_VLAN_SRCMAC}
MACS = {"src_mac", "dst_mac"}
ADDRESSES = {"src_ip", "dst_ip"}
PORTS = {"src_port", "dst_port"}
VALUES = 48


def counted_fields(policy, kind):
    """The manual: fields of this kind of packet that the policy hashes."""
    if policy == "vlan+srcmac":
        return {"vlan", "src_mac"}
    if kind in ("arp", "other"):
        return MACS | {"type"}
    return {"layer2": MACS, "layer2+3": MACS | ADDRESSES,
            "layer3+4": ADDRESSES | (PORTS if kind[:3] in ("udp", "tcp") else set())}[policy]


def values(field, kind):
    """Many values of one field, as arguments of packets.packet()."""
    numbers = range(1, VALUES + 1)
    if field in ("src_ip", "dst_ip"):
        six = kind.endswith("6")
        name, text = (field + "6", "fd00::1:{}") if six else (field, "10.9.0.{}")
        return [{name: text.format(number)} for number in numbers]
    if field in MACS:
        return [{field: f"02:00:00:00:00:{number:02x}"} for number in numbers]
    if field == "payload":
        return [{field: bytes([number]) * number} for number in numbers]
    if field == "vlan_priority":
        return [{"vlan": 5, field: number} for number in range(8)]
    if field == "type":
        return [{field: 0x9000 + number} for number in numbers]
    return [{field: number} for number in numbers]


def fields_of(kind):
    fields = ["src_mac", "dst_mac", "vlan", "vlan_priority", "payload"]
    if kind == "other":
        return fields + ["type"]
    if kind == "arp":
        return fields + ["src_ip", "dst_ip"]
    fields += ["src_ip", "dst_ip", "tos", "ttl"]
    fields += ["flow_label"] if kind.endswith("6") else ["id"]
    return fields + (["src_port", "dst_port"] if kind[:3] in ("udp", "tcp") else [])


KINDS = ["udp4", "tcp4", "icmp4", "udp6", "tcp6", "icmp6", "arp", "other"]
CASES = [(policy, kind, field) for policy in POLICIES for kind in KINDS
         for field in fields_of(kind)]


def use_policy(datapath, policy):
    datapath.reset(slots=X.MAX_SLAVES, xmit_hash_policy=POLICIES[policy])


@pytest.mark.variants(30, always=("layer3+4-tcp6", "vlan+srcmac-udp4", "layer2-other"))
@pytest.mark.parametrize("policy,kind,field", CASES)
def test_exactly_the_fields_of_the_manual_choose(datapath, policy, kind, field):
    use_policy(datapath, policy)
    chosen = set(datapath.slots(packets.packet(kind, **change) for change in values(field, kind)))
    if field in counted_fields(policy, kind):
        assert len(chosen) > VALUES / 4, f"{field} hardly counts: {chosen}"
    else:
        assert len(chosen) == 1, f"{field} must not count"


@pytest.mark.parametrize("octet", range(6))
@pytest.mark.parametrize("policy,field",
                         [("layer2", "src_mac"), ("layer2", "dst_mac"), ("vlan+srcmac", "src_mac")])
def test_every_octet_of_a_mac_counts(datapath, policy, field, octet):
    use_policy(datapath, policy)
    macs = [bytearray(6) for _ in range(VALUES)]
    for number, mac in enumerate(macs):
        mac[octet] = 2 * number
    chosen = datapath.slots(packets.packet("udp4", **{field: mac.hex(":")}) for mac in macs)
    assert len(set(chosen)) > VALUES / 4


@pytest.mark.parametrize("policy", ["layer2+3", "layer3+4"])
@pytest.mark.parametrize("field,octet", [(field, octet) for field in ("src_ip6", "dst_ip6")
                                         for octet in range(0, 16, 3)])
def test_all_of_an_ipv6_address_counts(datapath, policy, field, octet):
    use_policy(datapath, policy)
    chosen = set()
    for number in range(VALUES):
        raw = bytearray(bytes.fromhex("fd00000000000000000000000000aaaa"))
        raw[octet] = (raw[octet] + number) % 256
        address = ":".join(raw.hex()[at:at + 4] for at in range(0, 32, 4))
        chosen.add(datapath.slot(packets.packet("udp6", **{field: address})))
    assert len(chosen) > VALUES / 4


def test_packet_type_counts_between_ip_versions_in_layer2(datapath):
    use_policy(datapath, "layer2")
    pairs = [tuple(datapath.slot(packets.packet(kind, src_mac=f"02:00:00:00:01:{number:02x}"))
                   for kind in ("udp4", "udp6")) for number in range(VALUES)]
    assert any(four != six for four, six in pairs)


# fragments

FLOWS = [dict(src_port=port, src_ip=f"10.7.0.{port % 200 + 1}", src_ip6=f"fd00::7:{port}")
         for port in range(1, 40)]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("fragments", [packets.fragments4, packets.fragments6])
def test_fragments_of_a_datagram_stay_together(datapath, policy, fragments):
    use_policy(datapath, policy)
    for flow in FLOWS:
        chosen = datapath.slots(fragments(flow))
        assert len(chosen) > 3 and len(set(chosen)) == 1, flow


@pytest.mark.parametrize("fragments", [packets.fragments4, packets.fragments6])
def test_ports_of_fragments_do_not_count(datapath, fragments):
    use_policy(datapath, "layer3+4")
    chosen = {slot for port in range(1, VALUES)
              for slot in datapath.slots(fragments({"src_port": port}))}
    assert len(chosen) == 1


@pytest.mark.parametrize("fragments,field,text", [(packets.fragments4, "src_ip", "10.9.0.{}"),
                                                  (packets.fragments6, "src_ip6", "fd00::9:{}")])
def test_addresses_of_fragments_count(datapath, fragments, field, text):
    use_policy(datapath, "layer3+4")
    chosen = {datapath.slot(fragments({field: text.format(number)})[1])
              for number in range(1, VALUES)}
    assert len(chosen) > VALUES / 4


def test_do_not_fragment_is_no_fragment(datapath):
    use_policy(datapath, "layer3+4")
    whole = packets.packet("udp4")
    flagged = bytearray(whole)
    flagged[20] |= 0x40
    assert datapath.slot(bytes(flagged)) == datapath.slot(whole)


# tags, options, extension headers: the inner packet decides

@pytest.mark.parametrize("policy", ["layer2", "layer2+3", "layer3+4"])
@pytest.mark.parametrize("tags", [{"vlan": 7}, {"vlan": 7, "vlan_priority": 5},
                                  {"vlan": 7, "outer_vlan": 8}, {"outer_vlan": 8}, {"vlan": 0}])
@pytest.mark.parametrize("kind", ["udp4", "tcp6", "icmp4"])
def test_tagged_packets_hash_like_the_inner_packet(datapath, policy, tags, kind):
    use_policy(datapath, policy)
    for port in range(1, 30):
        changes = {"src_port": port, "src_ip": f"10.0.0.{port}",
                   "src_mac": f"02:00:00:00:00:{port:02x}"}
        untagged = datapath.slot(packets.packet(kind, **changes))
        assert datapath.slot(packets.packet(kind, **changes, **tags)) == untagged


def test_the_outer_vlan_counts_in_vlan_srcmac(datapath):
    use_policy(datapath, "vlan+srcmac")
    outer = {datapath.slot(packets.packet("udp4", vlan=3, outer_vlan=number))
             for number in range(1, VALUES)}
    inner = {datapath.slot(packets.packet("udp4", vlan=number, outer_vlan=3))
             for number in range(1, VALUES)}
    assert len(outer) > VALUES / 4 and len(inner) == 1


@pytest.mark.parametrize("headers", ["h", "d", "r", "hd", "hdr", "hdrd", "D", "hDr", "hhhhh"])
def test_ipv6_extension_headers_are_walked(datapath, headers):
    use_policy(datapath, "layer3+4")
    chosen = set()
    for port in range(1, VALUES):
        slot = datapath.slot(packets.extended6({"src_port": port}, headers))
        assert slot == datapath.slot(packets.packet("udp6", src_port=port))
        chosen.add(slot)
    assert len(chosen) > VALUES / 4


@pytest.mark.parametrize("words", [1, 5, 10])
def test_ipv4_options_are_skipped(datapath, words):
    use_policy(datapath, "layer3+4")
    for port in range(1, VALUES):
        plain = packets.packet("udp4", src_port=port)
        assert datapath.slot(with_options(plain, words)) == datapath.slot(plain)


def with_options(plain, words):
    header = bytearray(plain[14:34])
    header[0] = 0x40 | 5 + words
    return plain[:14] + bytes(header) + b"\1" * 4 * words + plain[34:]


def test_the_seed_counts(datapath):
    """Two hops with different seeds do not polarize: flows of one slave here spread
    over all there.
    """
    use_policy(datapath, "layer3+4")
    plain = packets.packet("udp4")
    flows = [plain[:34] + struct.pack("!H", port) + plain[36:] for port in range(1, 3000)]
    flows = [flow for flow, slot in zip(flows, datapath.slots(flows)) if slot < 16]
    datapath.table.hash_seed = 0x9999
    share = datapath.share(flows)
    assert len(share) > 56 and max(share.values()) < 6 * len(flows) / X.MAX_SLAVES


@pytest.mark.parametrize("policy", POLICIES)
def test_a_flow_never_changes_its_slave(datapath, policy):
    use_policy(datapath, policy)
    for kind, port in itertools.product(KINDS, (1, 2)):
        assert len(set(datapath.slots([packets.packet(kind, src_port=port)] * 5))) == 1
