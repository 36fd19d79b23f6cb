# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl explain on pinned maps made by hand: the model of docs/users/hash.md says the same, and
bad calls get one line.
"""

import ipaddress
import json
import os
import random
import struct
import subprocess

import pytest

import schema
from built import BUILD
from frames import IPV4, IPV6, ethernet, ip4, ip6, tag
from pins import X, fill, four_slaves

import abi  # of tests/bpf
import model

BONDCTL = os.environ.get("BONDCTL", str(BUILD / "bondctl"))
BOND_MAC = "02:00:5e:10:00:00"
POLICIES = {"layer2": X.POLICY_LAYER2, "layer2+3": X.POLICY_LAYER23, "layer3+4": X.POLICY_LAYER34,
            "encap2+3": X.POLICY_ENCAP23, "encap3+4": X.POLICY_ENCAP34,
            "vlan+srcmac": X.POLICY_VLAN_SRCMAC}
DROPPED = "no slave may transmit now: dropped"


@pytest.fixture
def bond(bpf_dir):
    made = four_slaves(bpf_dir, 77)
    made.bpf_dir = bpf_dir
    return made


def call(bond, *words):
    return subprocess.run([BONDCTL, "--run-dir", "/nowhere", "--bpf-dir", str(bond.bpf_dir),
                           "explain", *map(str, words)], capture_output=True, text=True, timeout=30)


def explain(bond, *words):
    done = call(bond, "-j", "bond0", *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return schema.check("explain", json.loads(done.stdout))


def failing(at_once, settled):
    """What if_failed is when nothing depends on a partner."""
    return {"at_once": at_once, "settled": settled, "unsure": []}


def refused(bond, status, *words):
    done = call(bond, "bond0", *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith("bondctl: ") and done.stderr.count("\n") == 1
    return done.stderr


def words_of(flow):
    return [word for pair in flow.items() if pair[1] is not None for word in pair]


def packet_of(flow):
    """The packet that the words describe."""
    ports = struct.pack("!HH", flow["sport"] or 0, flow["dport"] or 0)
    protocol = {"tcp": 6, "udp": 17, None: 59}[flow["proto"]]
    kind, ip = (IPV6, ip6(flow["src"], flow["dst"], protocol, ports, label=flow["label"] or 0)) \
        if ":" in flow["src"] else (IPV4, ip4(flow["src"], flow["dst"], protocol, ports))
    return ethernet(flow["dmac"], flow["smac"] or BOND_MAC, kind, ip,
                    tag(flow["vlan"]) if flow["vlan"] else b"")


def random_flow(chance):
    six, proto = chance.random() < 0.5, chance.choice(["tcp", "udp", None])

    def address():
        return str(ipaddress.IPv6Address(chance.getrandbits(128)) if six
                   else ipaddress.IPv4Address(chance.getrandbits(32)))
    return {"src": address(), "dst": address(), "proto": proto, "sport": chance.getrandbits(16)
            if proto else None, "dport": chance.getrandbits(16) if proto else None,
            "vlan": chance.choice([None, 5, 4094]),
            "smac": chance.choice([None, chance.randbytes(6).hex(":")]),
            "dmac": chance.randbytes(6).hex(":"), "label": chance.getrandbits(20) if six else None}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_model_says_the_same(bond, policy):
    chance = random.Random(policy)
    bond.settings.xmit_hash_policy = POLICIES[policy]
    for _ in range(25):
        rule = model.Rule(policy, chance.getrandbits(32), chance.random() < 0.3,
                          chance.random() < 0.5)
        bond.table.hash_seed, bond.settings.symmetric, bond.settings.ip6_flow_label = \
            rule.seed, rule.symmetric, rule.flow_label
        flow = random_flow(chance)
        said, expected = explain(bond, *words_of(flow)), model.hash_of(packet_of(flow), rule)
        assert int(said["hash"], 16) == expected, flow
        assert (said["bucket"], said["why"]) == (expected >> 52, None), flow
        slot = said["bucket"] % 4
        assert (said["slave"], said["detour"]) == (f"eth{slot}", False)
        owners = [bucket % 4 for bucket in range(X.BUCKETS)]
        assert said["if_failed"]["at_once"] == \
            f"eth{model.detour(expected, owners, {0, 1, 2, 3} - {slot})}"
        assert said["if_failed"]["settled"] not in (None, f"eth{slot}")


@pytest.mark.parametrize("policy,fields", [
    ("layer2", {"smac", "dmac"}), ("layer2+3", {"smac", "dmac", "src", "dst"}),
    ("vlan+srcmac", {"smac", "vlan"}),
    ("layer3+4", {"src", "dst", "sport", "dport"}), ("encap3+4", {"src", "dst", "sport", "dport"})])
def test_fields_that_counted(bond, policy, fields):
    bond.settings.xmit_hash_policy = POLICIES[policy]
    said = explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2", "proto", "udp", "sport", 1, "dport",
                   2, "dmac", BOND_MAC)
    assert set(said["fields"]) == fields
    assert said["fields"].get("smac", BOND_MAC) == BOND_MAC and \
        said["fields"].get("vlan", "none") == "none"


def test_without_ports(bond):
    assert set(explain(bond, "src", "fd00::1", "dst", "fd00::2")["fields"]) == {"src", "dst"}


def test_slaves_that_may_not_transmit(bond):
    flow = ("src", "10.0.0.1", "dst", "10.0.0.2")
    first = explain(bond, *flow)
    slot = int(first["slave"][3:])
    bond.table.tx_mask &= ~(1 << slot)
    second = explain(bond, *flow)
    assert (second["slave"], second["detour"]) == (first["if_failed"]["at_once"], True)
    bond.table.tx_mask = 0b1111
    bond.settings.drain_mask = 1 << slot
    assert explain(bond, *flow)["slave"] == second["slave"]
    bond.settings.drain_mask = 0
    bond.table.tx_mask = 1 << slot
    lone = explain(bond, *flow)
    assert (lone["slave"], lone["if_failed"]) == (f"eth{slot}", failing(None, None))


@pytest.mark.parametrize("mode", [X.MODE_BALANCE_RR, X.MODE_ACTIVE_BACKUP, X.MODE_BALANCE_XOR,
                                  X.MODE_BROADCAST, X.MODE_8023AD, X.MODE_BALANCE_TLB])
def test_no_slave_may_transmit(bond, mode):
    """A flow is told what --pcap says of a packet. What the hash would be is known."""
    bond.begin(mode)
    bond.bond.mode = mode
    bond.table.selection = X.SELECT_HASH if mode >= X.MODE_8023AD else mode
    flow = ("src", "10.0.0.1", "dst", "10.0.0.2")
    before = explain(bond, *flow)
    assert before["why"] != DROPPED
    bond.table.tx_mask = 0
    said = explain(bond, *flow)
    assert (said["why"], said["slave"], said["detour"]) == (DROPPED, None, False)
    assert (said["hash"], said["bucket"]) == (before["hash"], before["bucket"])
    lines = call(bond, "bond0", *flow).stdout.splitlines()
    if said["hash"]:
        assert lines[-1] == f"slave   none: {DROPPED}"
    else:
        assert lines == [f"mode    {said['mode']}: {DROPPED}", "slave   none"]


def test_no_slave_may_transmit_what_nobody_foretells(bond):
    bond.table.tx_mask, bond.table.flags = 0, X.F_FLOWLETS
    assert explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2")["why"] == DROPPED
    bond.table.flags, bond.settings.xmit_hash_policy = 0, X.POLICY_FLOW
    assert explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2")["why"] == DROPPED


def test_the_other_copy_of_the_buckets(bond):
    for bucket in range(X.BUCKETS):
        bond.buckets.bucket[1][bucket] = 3
    bond.table.active = 1
    assert explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2")["slave"] == "eth3"


def test_a_bucket_that_has_moved(bond):
    """bondd has not yet written down its new owner."""
    moves = bond.mapped("moves", abi.btf().struct("xbond_moves"))
    bond.table.flags |= X.F_LOADS
    owners = [bucket % 4 for bucket in range(X.BUCKETS)]
    for port in range(1, 9):
        flow = ("src", "10.0.0.1", "dst", "10.0.0.2", "proto", "udp", "sport", port, "dport", 9)
        before = explain(bond, *flow)
        new = (before["bucket"] + 1) % 4
        moves.to[before["bucket"]], moves.moved[before["bucket"]] = new + 1, 1
        said, next_one = explain(bond, *flow), model.detour(int(before["hash"], 16), owners,
                                                            {0, 1, 2, 3} - {new})
        assert (said["slave"], said["detour"]) == (f"eth{new}", False)
        assert said["if_failed"]["at_once"] == f"eth{next_one}"
        bond.table.tx_mask = 0b1111 & ~(1 << new)
        said = explain(bond, *flow)
        assert (said["slave"], said["detour"]) == (f"eth{next_one}", True)
        bond.table.tx_mask = 0b1111


def test_what_becomes_of_a_bucket_that_has_moved(bond):
    """bondd writes down its new owner before it shares out what that one had."""
    moves, found = bond.mapped("moves", abi.btf().struct("xbond_moves")), set()
    bond.table.flags |= X.F_LOADS
    for port in range(1, 17):
        flow = ("src", "10.0.0.1", "dst", "10.0.0.2", "proto", "udp", "sport", port, "dport", 9)
        bucket = explain(bond, *flow)["bucket"]
        old, new = bucket % 4, (bucket + 1) % 4
        getattr(moves, "from")[bucket], moves.partner[bucket] = old, X.BUCKETS
        moves.to[bucket], moves.moved[bucket] = new + 1, 1
        said = explain(bond, *flow)
        moves.to[bucket] = 0
        bond.buckets.bucket[0][bucket] = bond.buckets.home[bucket] = new
        assert explain(bond, *flow)["if_failed"] == said["if_failed"]
        found.add(said["if_failed"]["settled"] == f"eth{old}")
        bond.buckets.bucket[0][bucket] = bond.buckets.home[bucket] = old
    assert found == {True, False}


@pytest.mark.parametrize("mode,slave,word", [(X.MODE_BALANCE_RR, None, "turn"),
                                             (X.MODE_ACTIVE_BACKUP, "eth2", "active"),
                                             (X.MODE_BROADCAST, None, "every")])
def test_modes_that_do_not_hash(bond, mode, slave, word):
    bond.bond.mode = bond.table.selection = mode
    bond.bond.active_slot = 2
    said = explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2")
    assert said["slave"] == slave and word in said["why"] and said["hash"] is None and \
        said["fields"] == {}


def test_a_selection_that_does_not_exist_is_every_slave(bond):
    """As the programs take it."""
    bond.table.selection = 99
    assert "every" in explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2")["why"]


def test_the_next_active_slave(bond):
    bond.bond.mode = bond.table.selection = X.MODE_ACTIVE_BACKUP
    bond.bond.active_slot = 2
    for bucket in range(X.BUCKETS):
        bond.buckets.bucket[0][bucket] = 2
    words = ("src", "10.0.0.1", "dst", "10.0.0.2")
    assert explain(bond, *words)["if_failed"] == failing("eth0", "eth0")
    assert "if eth2 failed: eth0\n" in call(bond, "bond0", *words).stdout
    fill(bond.bond.primary, b"eth3")
    assert explain(bond, *words)["if_failed"] == failing("eth0", "eth3")
    text = call(bond, "bond0", *words).stdout
    assert "if eth2 failed: eth0 at once, eth3 when bondd has chosen another" in text
    bond.settings.drain_mask = 0b1001
    assert explain(bond, *words)["if_failed"] == failing("eth1", "eth1")
    bond.table.tx_mask = 0b1100
    assert explain(bond, *words)["if_failed"] == failing("eth3", "eth3")
    bond.table.tx_mask = 0b0100
    assert explain(bond, *words)["if_failed"] == failing(None, None)
    bond.table.tx_mask, bond.bond.active_slot = 0, X.NO_SLOT
    assert explain(bond, *words)["slave"] is None


def test_the_next_active_slave_by_the_order_of_bondd(bond):
    bond.bond.mode = bond.table.selection = X.MODE_ACTIVE_BACKUP
    bond.bond.active_slot = 2
    fill(bond.bond.primary, b"eth3")
    for place, slot in enumerate((2, 3, 0, 1, 2)):
        bond.buckets.bucket[0][place] = slot
    words = ("src", "10.0.0.1", "dst", "10.0.0.2")
    assert explain(bond, *words)["if_failed"] == failing("eth3", "eth3")
    bond.table.tx_mask = 0b1011
    assert explain(bond, *words)["slave"] == "eth3", "before bondd has followed"


@pytest.mark.parametrize("words", [
    ("dst", "10.0.0.2", "dmac", "ff:ff:ff:ff:ff:ff"), ("dst", "224.0.0.251"),
    ("dst", "255.255.255.255")])
def test_balance_tlb_does_not_balance_what_goes_to_many(bond, words):
    bond.begin(X.MODE_BALANCE_TLB)
    bond.bond.mode, bond.bond.active_slot = X.MODE_BALANCE_TLB, 2
    fill(bond.alb.order, [2, 3, 2, 1, 0])
    said = explain(bond, "src", "10.0.0.1", *words)
    assert said["slave"] == "eth2" and "multicasts" in said["why"]
    assert said["if_failed"]["at_once"] == "eth3"
    assert explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2", "dmac", "02:00:00:00:00:09")["hash"]


def test_policy_flow_is_not_foretold(bond):
    bond.settings.xmit_hash_policy = X.POLICY_FLOW
    said = explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2")
    assert said["xmit_hash_policy"] == "flow" and said["slave"] is None and "kernel" in said["why"]


def test_text(bond):
    done = call(bond, "bond0", "src", "10.0.0.1", "dst", "10.0.0.2", "proto", "tcp", "sport", 40000,
                "dport", 80)
    said = explain(bond, "src", "10.0.0.1", "dst", "10.0.0.2", "proto", "tcp", "sport", 40000,
                   "dport", 80)
    assert done.returncode == 0 and done.stderr == ""
    for part in ("layer3+4", "seed 77", "src 10.0.0.1", "sport 40000", said["hash"],
                 str(said["bucket"]), said["slave"], said["if_failed"]["at_once"]):
        assert part in done.stdout, done.stdout


FLOW = ["src", "10.0.0.1", "dst", "10.0.0.2"]


@pytest.mark.parametrize("words,status,part", [
    (["src", "10.0.0.1", "dst"], 2, "needs"), (["src", "10.0.0.1", "sport", "1"], 2, "dst IP"),
    (FLOW + ["port", "1"], 2, "unknown word 'port'"),
    (FLOW + ["src", "10.0.0.3"], 2, "given twice"), (FLOW + ["vlan"], 2, "'vlan' needs a value"),
    (["src", "10.0.0", "dst", "10.0.0.2"], 2, "src: '10.0.0'"),
    (["src", "10.0.0.1", "dst", "fd00::1"], 2, "dst: 'fd00::1'"),
    (FLOW + ["proto", "gre"], 2, "tcp|udp|icmp"),
    (FLOW + ["proto", "icmp", "dport", "1"], 2, "icmp has no ports"),
    (FLOW + ["sport", "1", "dport", "2"], 2, "proto tcp"),
    (FLOW + ["proto", "tcp", "sport", "65536", "dport", "1"], 2,
     "sport: '65536' is not allowed; allowed: 0..65535"),
    (FLOW + ["proto", "tcp", "sport", "-1", "dport", "1"], 2, "sport: '-1'"),
    (FLOW + ["proto", "tcp", "sport", "", "dport", "1"], 2, "sport: ''"),
    (FLOW + ["vlan", "4095"], 2, "1..4094"), (FLOW + ["vlan", "0"], 2, "1..4094"),
    (FLOW + ["smac", "02:00"], 2, "smac: '02:00'"), (FLOW + ["label", "5"], 2, "only IPv6"),
    (FLOW + ["proto", "tcp", "sport", "1"], 1, "give 'dport'")])
def test_bad_calls_get_one_line(bond, words, status, part):
    assert part in refused(bond, status, *words)


def test_icmp_is_a_flow_without_ports(bond):
    bond.settings.xmit_hash_policy = X.POLICY_LAYER34
    six = ["src", "fd00::1", "dst", "fd00::2"]
    for flow, proto in ((FLOW, "icmp"), (six, "icmp6"), (six, "icmpv6")):
        assert explain(bond, *flow, "proto", proto) == explain(bond, *flow)


def test_what_counts_is_asked_for(bond):
    bond.settings.xmit_hash_policy = X.POLICY_LAYER2
    assert "give 'dmac'" in refused(bond, 1, *FLOW)
    bond.settings.xmit_hash_policy, bond.settings.ip6_flow_label = X.POLICY_LAYER34, 1
    six = ["src", "fd00::1", "dst", "fd00::2"]
    assert "give 'label'" in refused(bond, 1, *six)
    assert explain(bond, *six, "label", 0)["fields"]["label"] == "0"
    bond.settings.symmetric = 1
    assert "label" not in explain(bond, *six)["fields"]


def test_no_such_bond(bond):
    done = call(bond, "bond9", *FLOW)
    assert done.returncode == 1 and "bond9" in done.stderr and done.stderr.count("\n") == 1
