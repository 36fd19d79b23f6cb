# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl explain --pcap on pinned maps made by hand: the model of docs/users/hash.md says the same
for every packet of a capture, in every format, and what cannot be told is not guessed.
"""

import ctypes
import json
import os
import struct
import subprocess

import pytest

import schema
from built import BUILD
from frames import (COOKED, COOKED2, IPV4, NANO, UDP, cooked, cooked2, ethernet, ip4, pcap,
                    pcapng, udp)
from pins import HASH, NO_PREALLOC, X, fill, four_slaves, libbpf

import generate  # of tests/bpf
import model

BONDCTL = os.environ.get("BONDCTL", str(BUILD / "bondctl"))
BOND_MAC = bytes.fromhex("02005e100000")
SEED = 77
POLICIES = {"layer2": X.POLICY_LAYER2, "layer2+3": X.POLICY_LAYER23, "layer3+4": X.POLICY_LAYER34,
            "encap2+3": X.POLICY_ENCAP23, "encap3+4": X.POLICY_ENCAP34,
            "vlan+srcmac": X.POLICY_VLAN_SRCMAC}
MACS = bytes.fromhex("02000000000202005e100000")
NO_PACKETS = pcap([])


def datagram(port, size=20, vlan=b""):
    """UDP over IPv4 from that port."""
    return ethernet(MACS[:6], MACS[6:], IPV4,
                    ip4("10.0.0.1", "10.0.0.2", UDP, udp(port, 9, bytes(size))), vlan)


FLOWS = [datagram(port) for port in range(1000, 1040)]


@pytest.fixture
def bond(bpf_dir, tmp_path):
    made = four_slaves(bpf_dir, SEED)
    made.bpf_dir, made.file = bpf_dir, tmp_path / "capture"
    return made


def call(bond, content, *words, json_too=True):
    bond.file.write_bytes(content)
    flags = ["-j"] if json_too else []
    return subprocess.run([BONDCTL, *flags, "--run-dir", "/nowhere", "--bpf-dir",
                           str(bond.bpf_dir), "explain", "bond0", "--pcap", str(bond.file),
                           *words], capture_output=True, text=True, timeout=60)


def explain(bond, content, *words):
    done = call(bond, content, *words)
    assert (done.returncode, done.stderr) == (0, "")
    return schema.check("explain-pcap", json.loads(done.stdout))


def slaves_of(bond, content):
    return [packet["slave"] for packet in explain(bond, content)["packets"]]


def expected(frames, policy="layer3+4"):
    return [f"eth{model.bucket(frame, model.Rule(policy=policy, seed=SEED)) % 4}"
            for frame in frames]


@pytest.mark.parametrize("policy", POLICIES)
def test_it_says_what_the_model_says(bond, policy):
    """Any packets: tags, fragments, encapsulations, damaged ones."""
    bond.settings.xmit_hash_policy = POLICIES[policy]
    generator = generate.Generator(7)
    frames = [generator.packet() for _ in range(1500)]
    assert slaves_of(bond, pcap(frames)) == expected(frames, policy)


@pytest.mark.parametrize("content", [
    pcap(FLOWS), pcap(FLOWS, order=">"), pcap(FLOWS, magic=NANO),
    pcap(FLOWS, order=">", magic=NANO), pcapng(FLOWS), pcapng(FLOWS, order=">"),
    pcap([cooked(frame) for frame in FLOWS], COOKED),
    pcap([cooked2(frame) for frame in FLOWS], COOKED2)],
    ids=["pcap", "big-endian", "ns", "big-endian-ns", "pcapng", "big-endian-pcapng", "sll", "sll2"])
def test_formats(bond, content):
    said = explain(bond, content)
    assert [packet["slave"] for packet in said["packets"]] == expected(FLOWS)
    assert [packet["length"] for packet in said["packets"]] == [len(each) for each in FLOWS]
    assert [packet["flow"]["sport"] for packet in said["packets"]] == list(range(1000, 1040))


def test_names_cannot_steer_the_terminal(bond):
    for slave in bond.slaves[:4]:
        fill(slave.name, b"\x1b[1m\x9b\0")
    assert set(slaves_of(bond, pcap(FLOWS))) == {"?[1m?"}
    for words in ((), ("--summary",)):
        said = call(bond, pcap(FLOWS), *words, json_too=False).stdout
        assert "?[1m? " in said and "\x1b" not in said


def test_times(bond):
    times = {magic: explain(bond, pcap(FLOWS[:3], magic=magic))["packets"][2]["time"]
             for magic in (0xa1b2c3d4, NANO)}
    assert times == {0xa1b2c3d4: "2.000002000", NANO: "2.000000002"}


def test_shares(bond):
    frames = FLOWS[:10] * 3
    said = explain(bond, pcap(frames), "--summary")
    assert "packets" not in said
    went = expected(frames)
    for slave in said["slaves"]:
        count = went.count(slave["name"])
        assert (slave["packets"], slave["bytes"], slave["flows"]) == \
            (count, count * len(FLOWS[0]), count // 3)
        assert slave["share_of_packets"] == pytest.approx(count / 30, abs=1e-5)
        assert slave["share_due"] == 0.25
    assert (said["total_packets"], said["sent_packets"], said["flows"]) == (30, 30, 10)


def whys(bond, content):
    return [packet["why"] for packet in explain(bond, content)["packets"]]


def test_a_cut_packet_is_told_only_if_what_counts_is_there(bond):
    assert slaves_of(bond, pcap(FLOWS, snaplen=38)) == expected(FLOWS)
    assert all("truncated" in why for why in whys(bond, pcap(FLOWS, snaplen=37)))
    bond.settings.xmit_hash_policy = X.POLICY_LAYER23
    assert slaves_of(bond, pcap(FLOWS, snaplen=37)) == expected(FLOWS, "layer2+3")


@pytest.mark.parametrize("made, link", [(cooked, COOKED), (cooked2, COOKED2)])
def test_a_cooked_capture_lacks_an_address(bond, made, link):
    frames = [made(frame) for frame in FLOWS]
    bond.settings.xmit_hash_policy = X.POLICY_LAYER2
    assert all("destination MAC" in why for why in whys(bond, pcap(frames, link)))
    bond.settings.xmit_hash_policy = X.POLICY_VLAN_SRCMAC
    assert slaves_of(bond, pcap(frames, link)) == expected(FLOWS, "vlan+srcmac")
    assert whys(bond, pcap([made(FLOWS[0], outgoing=False)], link)) == ["received, not sent"]


def test_what_the_bond_does_not_send(bond):
    lacpdu = bytes.fromhex("0180c200000202005e1000008809") + bytes(110)
    to_us = BOND_MAC + MACS[:6] + FLOWS[0][12:]
    tagged = lacpdu[:12] + bytes.fromhex("81000005") + lacpdu[12:]
    said = explain(bond, pcap([lacpdu, to_us, FLOWS[0], tagged]))
    assert [packet["why"] for packet in said["packets"]] == \
        ["sent by a slave itself, not by the bond", "received, not sent", None, None]
    assert (said["sent_packets"], said["total_packets"]) == (2, 4)
    assert [other["packets"] for other in said["others"]] == [1, 1]


def test_slaves_that_may_not_transmit(bond):
    bond.table.tx_mask = 0b0110
    assert set(slaves_of(bond, pcap(FLOWS))) == {"eth1", "eth2"}
    bond.table.tx_mask = 0
    assert all("no slave may transmit" in why for why in whys(bond, pcap(FLOWS)))


@pytest.mark.parametrize("mode, why, share", [
    ("BALANCE_RR", "in turn", [0.25] * 4), ("BROADCAST", "every slave", [1] * 4)])
def test_modes_where_no_packet_has_one_slave(bond, mode, why, share):
    bond.bond.mode = bond.table.selection = getattr(X, "MODE_" + mode)
    said = explain(bond, pcap(FLOWS))
    assert all(packet["slave"] is None and why in packet["why"] for packet in said["packets"])
    assert [slave["share_due"] for slave in said["slaves"]] == share
    assert said["slaves"][0]["packets"] == (40 if mode == "BROADCAST" else 0)
    assert said["xmit_hash_policy"] is None


def test_active_backup(bond):
    bond.bond.mode = bond.table.selection = X.MODE_ACTIVE_BACKUP
    bond.bond.active_slot = 2
    assert set(slaves_of(bond, pcap(FLOWS))) == {"eth2"}


def test_balance_tlb(bond):
    """What goes to many, ARP and neighbour discovery are the active slave's; who else would be."""
    bond.begin(X.MODE_BALANCE_TLB)
    bond.bond.mode, bond.bond.active_slot = X.MODE_BALANCE_TLB, 2
    fill(bond.alb.order, [2, 3, 2, 1, 0])
    arp = b"\xff" * 6 + BOND_MAC + b"\x08\x06" + bytes(28)
    solicitation = MACS + b"\x86\xdd\x60\0\0\0\0\x18\x3a" + bytes(33) + b"\x87" + bytes(23)
    group = b"\x01\0\x5e\0\0\1" + FLOWS[0][6:]
    tagged = group[:12] + b"\x81\0\0\5" + group[12:]
    other = MACS + b"\x88\xb5" + bytes(46)
    of_active = [arp, solicitation, group, tagged, other]
    assert slaves_of(bond, pcap(of_active + FLOWS)) == ["eth2"] * 5 + expected(FLOWS)
    bond.table.tx_mask = 0b1011
    assert slaves_of(bond, pcap(of_active)) == ["eth3"] * 5, "before bondd has followed"
    assert "truncated" in whys(bond, pcap([solicitation], snaplen=40))[0]
    assert "lacks the destination" in whys(bond, pcap([cooked(FLOWS[0])], COOKED))[0]


def client_of(bond, fd, family, own, peer, told, vlan=0):
    key = own.ljust(16, b"\0") + peer.ljust(16, b"\0") + \
        struct.pack("=H", family) + (b"\x81\0" if vlan else bytes(2)) + struct.pack("=HH", vlan, 0)
    value = bytes(8) + told + bytes(2) + bytes(16)
    assert libbpf.bpf_map_update_elem(fd, key, value, ctypes.c_uint64(0)) == 0


def test_clients_of_balance_alb(bond):
    """A message to a neighbour leaves by the slave that this one was told."""
    bond.begin(X.MODE_BALANCE_TLB)
    bond.bond.mode, bond.bond.active_slot = X.MODE_BALANCE_ALB, 0
    bond.table.flags |= X.F_ALB
    slaves = [BOND_MAC] + [bytes([2, 0xaa, 0, 0, 0, slot]) for slot in (1, 2, 3)]
    bond.alb.bond_mac = int.from_bytes(BOND_MAC, "little")
    for slot, mac in enumerate(slaves):
        bond.alb.mac[slot] = int.from_bytes(mac, "little")
    fd = bond.create("clients", HASH, 32, X.MAX_CLIENTS, NO_PREALLOC, key_size=40)
    own, peers = bytes([10, 0, 0, 1]), [bytes([10, 0, 0, host]) for host in range(10, 14)]
    host = bytes.fromhex("020000000099")
    for peer, mac in zip(peers, (slaves[2], BOND_MAC, slaves[1])):
        client_of(bond, fd, 2, own, peer, mac)
    client_of(bond, fd, 2, own, peers[0], slaves[3], vlan=5)
    six, other = b"\xfd" + bytes(14) + b"\1", b"\xfd" + bytes(14) + b"\2"
    client_of(bond, fd, 10, six, other, slaves[3])

    def reply(peer, dest=host, mac=BOND_MAC, tag=b""):
        return dest + BOND_MAC + tag + b"\x08\x06\0\1\x08\0\6\4\0\2" + mac + own + host + peer

    advertisement = host + BOND_MAC + b"\x86\xdd\x60\0\0\0\0\x20\x3a\xff" + six + other + \
        b"\x88\0\0\0\x60\0\0\0" + six + b"\2\1" + BOND_MAC
    sent = [reply(peers[0]), reply(peers[1]), reply(peers[2]), reply(peers[0], tag=b"\x81\0\0\5"),
            advertisement, reply(peers[0], dest=b"\xff" * 6), reply(peers[0], mac=host)]
    assert slaves_of(bond, pcap(sent)) == ["eth2", "eth0", "eth1", "eth3", "eth3", "eth0", "eth0"]
    assert "next in turn" in whys(bond, pcap([reply(peers[3])]))[0]
    bond.table.tx_mask = 0b1011
    assert "next in turn" in whys(bond, pcap([reply(peers[0])]))[0]
    for number in range(X.MAX_CLIENTS - 5):
        client_of(bond, fd, 2, own, bytes([10, 1]) + number.to_bytes(2, "big"), BOND_MAC)
    assert slaves_of(bond, pcap([reply(peers[3])])) == ["eth0"]
    assert "next in turn" not in str(whys(bond, pcap([reply(peers[3])])))
    bond.table.flags &= ~X.F_ALB
    assert slaves_of(bond, pcap(sent)) == ["eth0"] * len(sent)


def test_policy_flow(bond):
    bond.settings.xmit_hash_policy = X.POLICY_FLOW
    assert all("kernel's own hash" in why for why in whys(bond, pcap(FLOWS)))


def test_neighbour_messages_that_every_slave_sends(bond):
    bond.table.flags |= X.F_BROADCAST_NEIGHBOR
    arp = b"\xff" * 6 + BOND_MAC + b"\x08\x06" + bytes(28)
    tagged = arp[:12] + b"\x81\0\0\5" + arp[12:]
    assert whys(bond, pcap([arp, tagged, FLOWS[0]])) == ["every slave sends it"] * 2 + [None]


def test_text(bond):
    done = call(bond, pcap([datagram(1000, vlan=b"\x81\0\0\5"), b"\xff" * 12 + b"\x08\x06"]),
                json_too=False)
    first, second, blank, heading, *rest = done.stdout.splitlines()
    slave = expected([datagram(1000)])[0]
    assert first.split()[1:] == [slave, "10.0.0.1.1000", ">", "10.0.0.2.9", "udp", "vlan", "5",
                                 "length", "66"]
    assert "ff:ff:ff:ff:ff:ff > ff:ff:ff:ff:ff:ff arp length 14" in second and not blank
    assert heading.split() == ["slave", "packets", "share", "bytes", "share", "flows", "by",
                               "weight"]
    assert [line.split()[0] for line in rest] == ["eth0", "eth1", "eth2", "eth3"]
    only = call(bond, pcap(FLOWS), "--summary", json_too=False).stdout.splitlines()
    assert only[0] == heading and len(only) == 5


@pytest.mark.parametrize("content, part", [
    (b"", "truncated dump file"), (b"hello, this is no capture\n", "unknown file format"),
    (pcap(FLOWS, link=101), "link type RAW"),
    (pcapng(FLOWS)[:20], "truncated")])
def test_what_is_no_capture(bond, content, part):
    done = call(bond, content, json_too=False)
    assert (done.returncode, done.stdout) == (1, "") and part in done.stderr
    assert done.stderr.startswith("bondctl: '") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("cut", [1, 16, 40])
def test_a_damaged_end(bond, cut):
    """What came before counts."""
    done = call(bond, pcap(FLOWS)[:-cut])
    assert done.returncode == 1 and "is damaged: " in done.stderr
    assert done.stderr.count("\n") == 1
    assert json.loads(done.stdout)["total_packets"] == len(FLOWS) - 1


def test_no_packets(bond):
    assert explain(bond, NO_PACKETS)["packets"] == []
    assert [slave["share_of_packets"] for slave in explain(bond, NO_PACKETS)["slaves"]] == [0] * 4


def test_standard_input(bond):
    done = subprocess.run([BONDCTL, "-j", "--bpf-dir", str(bond.bpf_dir), "explain", "bond0",
                           "--pcap", "-", "--summary"], input=pcap(FLOWS), capture_output=True,
                          timeout=30)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["total_packets"] == len(FLOWS)


@pytest.mark.parametrize("status, words, part", [
    (2, ["bond0", "--summary"], "--summary needs --pcap"),
    (2, ["bond0", "src", "10.0.0.1", "--pcap", "x"], "unexpected 'src'"),
    (2, ["bond0"], "needs src IP"), (2, ["bond0", "--pcap"], "needs FILE"),
    (1, ["bond0", "--pcap", "/no/such"], "cannot read '/no/such': No such file"),
    (1, ["bond0", "--pcap", "/"], "Is a directory"), (1, ["bond9", "--pcap", "x"], "bond9")])
def test_bad_calls(bond, status, words, part):
    done = subprocess.run([BONDCTL, "--bpf-dir", str(bond.bpf_dir), "explain", *words],
                          capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (status, "")
    assert part in done.stderr and done.stderr.count("\n") == 1
