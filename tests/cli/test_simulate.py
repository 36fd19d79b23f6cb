# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl simulate: shares by weight, what a failure moves, and a bond's own rule. The model of
docs/users/hash.md says which slave each packet of a capture takes.
"""
import json
import os
import subprocess

import pytest

import schema
from built import BUILD
from frames import pcap
from pins import Pins, X, four_slaves

import abi  # of tests/bpf
import generate
import model
from packets import frame, packet

BONDCTL = os.environ.get("BONDCTL", str(BUILD / "bondctl"))
SEED = 77


def call(*words, bpf_dir="/nowhere", **more):
    return subprocess.run([BONDCTL, "--run-dir", "/nowhere", "--bpf-dir", str(bpf_dir), *words],
                          capture_output=True, text=True, timeout=60, **more)


def simulate(*words, bpf_dir="/nowhere"):
    done = call("-j", "simulate", *words, bpf_dir=bpf_dir)
    assert (done.returncode, done.stderr) == (0, "")
    return schema.check("simulate", json.loads(done.stdout))


def by_name(slaves):
    return {slave["name"]: slave for slave in slaves}


@pytest.fixture
def bond(bpf_dir):
    return four_slaves(bpf_dir, SEED)


@pytest.mark.parametrize("policy", ["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"])
def test_flows_fall_as_the_weights_say(policy):
    found = simulate("--weights", "1,2,5", "--policy", policy, "--flows", "20000")
    assert found["flows"] == 20000 and found["bond"] is None and found["others"] == []
    for slave, weight in zip(found["slaves"], (1, 2, 5)):
        assert slave["weight"] == weight and slave["share_due"] == weight / 8
        # a binomial deviation of 0.35 % at most; of layer2, which has 4000 pairs, 0.8 %
        assert slave["gets"]["share_of_flows"] == pytest.approx(weight / 8, abs=0.035)
    for total in ("flows", "packets", "bytes"):
        assert sum(slave["gets"][total] for slave in found["slaves"]) == found[total]


def test_one_address_takes_one_slave():
    """vlan+srcmac: all flows have the bond's address."""
    found = simulate("--slaves", "5", "--policy", "vlan+srcmac")
    assert sorted(slave["gets"]["share_of_flows"] for slave in found["slaves"]) == [0, 0, 0, 0, 1]


def test_a_failure_moves_the_flows_of_that_slave_only():
    found = simulate("--weights", "1,1,2", "--policy", "layer3+4")
    for failed in found["slaves"]:
        after, others = failed["if_failed"], by_name(failed["if_failed"]["slaves"])
        assert after["moved"] == failed["gets"]
        assert after["moved_again"]["flows"] <= after["moved"]["flows"]
        assert set(others) == {slave["name"] for slave in found["slaves"]} - {failed["name"]}
        assert sum(other["gets"]["flows"] for other in others.values()) == found["flows"]
        rest = sum(slave["weight"] for slave in found["slaves"]) - failed["weight"]
        for slave in found["slaves"]:
            if slave is not failed:
                assert others[slave["name"]]["gets"]["share_of_flows"] == \
                    pytest.approx(slave["weight"] / rest, abs=0.035)


def test_the_same_each_time_and_another_with_another_seed():
    assert simulate("--slaves", "4", "--policy", "layer3+4") == \
        simulate("--policy", "layer3+4", "--slaves", "4", "--seed", "1")
    assert simulate("--slaves", "4", "--seed", "2")["slaves"] != simulate("--slaves", "4")["slaves"]


def test_one_slave_has_nobody_to_fail_to():
    only, = simulate("--slaves", "1")["slaves"]
    assert only["if_failed"] is None and only["gets"]["share_of_bytes"] == 1
    assert "if failed" not in call("simulate", "--slaves", "1").stdout


def test_a_bond_and_a_capture(bond, bpf_dir, tmp_path):
    generator = generate.Generator(9)
    frames = [generator.packet() for _ in range(800)]
    frames = [frame for frame in frames if frame[12:14] not in (b"\x81\0", b"\x88\xa8")]
    file = tmp_path / "capture"
    file.write_bytes(pcap(frames))
    found = simulate("bond0", "--pcap", str(file), bpf_dir=bpf_dir)
    assert (found["bond"], found["hash_seed"], found["xmit_hash_policy"]) == \
        ("bond0", SEED, "layer3+4")
    assert found["packets"] == len(frames) and found["bytes"] == sum(map(len, frames))
    expected = [model.bucket(frame, model.Rule(policy="layer3+4", seed=SEED)) % 4
                for frame in frames]
    for number, slave in enumerate(found["slaves"]):
        assert slave["name"] == f"eth{number}"
        assert slave["gets"]["packets"] == expected.count(number)
    assert 0 < found["flows"] <= found["packets"] and found["all_flows_counted"]
    received = [bytes(bond.bond.mac) + frame[6:] for frame in frames[:5]]
    file.write_bytes(pcap(frames + received))
    both = simulate("bond0", "--pcap", str(file), bpf_dir=bpf_dir)
    assert both["others"] == [{"why": "received, not sent", "packets": 5}]
    assert both["slaves"] == found["slaves"]
    bond.table.tx_mask = 0b0101
    found = simulate("bond0", "--pcap", str(file), "--seed", "5", "--policy", "layer2",
                     bpf_dir=bpf_dir)
    assert [slave["name"] for slave in found["slaves"]] == ["eth0", "eth2"]
    assert (found["hash_seed"], found["xmit_hash_policy"]) == (5, "layer2")


def test_a_bond_that_lacks_a_slave(bond, bpf_dir, tmp_path):
    """The buckets of eth3 are guests of the others, where its failure and no simulation put them.
    """
    table, rule = bond.buckets.bucket[0], model.Rule(policy="layer3+4", seed=SEED)
    for bucket in range(3, X.BUCKETS, 4):
        table[bucket] = bucket // 4 * 7 % 1024 % 3
    bond.table.tx_mask = 0b0111
    frames = [packet("udp4", src_port=port) for port in range(1, 1001)]
    file = tmp_path / "capture"
    file.write_bytes(pcap(frames))
    found = simulate("bond0", "--pcap", str(file), bpf_dir=bpf_dir)
    takes = [table[model.bucket(frame, rule)] for frame in frames]
    assert [slave["gets"]["packets"] for slave in found["slaves"]] == \
        [takes.count(slot) for slot in range(3)]
    moved = found["slaves"][0]["if_failed"]["moved"]
    assert moved["packets"] == takes.count(0)


def test_buckets_that_have_moved(bond, bpf_dir):
    """By load, and bondd has not written down their new owners yet. Others only wait for a gap."""
    moves = bond.mapped("moves", abi.btf().struct("xbond_moves"))
    bond.table.flags |= X.F_LOADS
    before = simulate("bond0", bpf_dir=bpf_dir)
    for bucket in range(0, 4000, 4):
        moves.partner[bucket] = X.BUCKETS if bucket % 8 else bucket + 1
        moves.to[bucket], moves.moved[bucket] = 2, bucket % 8 != 0
    said = simulate("bond0", bpf_dir=bpf_dir)
    for bucket in range(0, 4000, 4):
        moves.to[bucket] = 0
        if moves.moved[bucket]:
            bond.buckets.bucket[0][bucket] = bond.buckets.home[bucket] = 1
    assert said == simulate("bond0", bpf_dir=bpf_dir)
    first, second = said["slaves"][:2]
    assert first["gets"]["flows"] < before["slaves"][0]["gets"]["flows"] * 0.6
    assert second["gets"]["flows"] > before["slaves"][1]["gets"]["flows"] * 1.4


def test_a_drained_slave_takes_over_if_no_other_is_left(bond, bpf_dir):
    bond.table.tx_mask, bond.settings.drain_mask = 0b0011, 0b0010
    only, = simulate("bond0", bpf_dir=bpf_dir)["slaves"]
    assert only["name"] == "eth0" and only["gets"]["share_of_bytes"] == 1
    other, = only["if_failed"]["slaves"]
    assert other == {"name": "eth1", "gets": only["gets"]}
    assert only["if_failed"]["moved"] == only["gets"] and only["if_failed"]["unsure"] == []


@pytest.mark.parametrize("mode", [X.MODE_BALANCE_TLB, X.MODE_BALANCE_ALB])
def test_what_is_not_balanced(bond, bpf_dir, tmp_path, mode):
    """ARP, and what goes to many; a hash spreads the rest."""
    bond.bond.mode = mode
    flows = [packet("udp4", src_port=port) for port in range(1, 101)]
    alone = [frame("02:00:00:00:00:09", 0x0806), frame("ff:ff:ff:ff:ff:ff", 0x0806),
             packet("udp4", dst_mac="01:00:5e:00:00:09"), frame("02:00:00:00:00:09", 0x88b5)]
    file = tmp_path / "capture"
    file.write_bytes(pcap(flows + alone))
    found = simulate("bond0", "--pcap", str(file), bpf_dir=bpf_dir)
    assert found["others"] == [{"why": "not balanced in this mode", "packets": len(alone)}]
    assert found["packets"] == len(flows) == sum(slave["gets"]["packets"]
                                                 for slave in found["slaves"])


def test_other_weights_for_a_bond(bond, bpf_dir):
    found = simulate("bond0", "--weights", "1,1,1,5", bpf_dir=bpf_dir)
    assert by_name(found["slaves"])["eth3"]["gets"]["share_of_flows"] == pytest.approx(0.625,
                                                                                       abs=0.03)
    assert bond.settings.weight[3] == 0, "a simulation has changed the bond"


def test_a_capture_of_nothing(tmp_path):
    """No slave takes its own place."""
    file = tmp_path / "capture"
    file.write_bytes(pcap([]))
    lines = call("simulate", "--pcap", str(file)).stdout.splitlines()[2:]
    assert [line.split()[-2] for line in lines] == ["slave1", "slave0"]


def test_a_damaged_capture_says_what_it_had(tmp_path):
    file = tmp_path / "capture"
    file.write_bytes(pcap([bytes(60), bytes(60)])[:-10])
    done = call("simulate", "--pcap", str(file))
    assert done.returncode == 1 and "1 packets" in done.stdout and done.stderr.count("\n") == 1


@pytest.mark.parametrize("words, status, says", [
    (["--slaves", "0"], 2, "allowed: 1..64"),
    (["--slaves", "65"], 2, "allowed: 1..64"),
    (["--slaves", "3", "--weights", "1,2"], 2, "there are 3 slaves"),
    (["--weights", "1,0"], 2, "1..65535"),
    (["--weights", "1,,2"], 2, "1..65535"),
    (["--weights", ""], 2, "--weights needs"),
    (["--weights", "1,2,"], 2, "1..65535"),
    (["--weights", ",".join(["1"] * 65)], 2, "there are 64 slaves"),
    (["--weights", "1,99999999999999999999"], 2, "1..65535"),
    (["--policy", "layer4"], 2, "xmit_hash_policy"),
    (["--policy", "flow"], 2, "policy flow"),
    (["--seed", "-1"], 2, "hash_seed"),
    (["--flows", "0"], 2, "allowed: 1.."),
    (["--flows", "5", "--pcap", "x"], 2, "--flows makes flows"),
    (["--pcap", "/nonexistent"], 1, "/nonexistent"),
    (["bond9"], 1, "cannot see bond9"),
    (["bond0", "--slaves", "2"], 2, "without a bond"),
    (["bond0", "more"], 2, "more"),
])
def test_refused(words, status, says):
    done = call("simulate", *words)
    assert (done.returncode, done.stdout) == (status, ""), done
    assert says in done.stderr and done.stderr.count("\n") <= 2


def test_modes_that_do_not_hash(bpf_dir):
    Pins(bpf_dir, slaves=2, mode=X.MODE_ACTIVE_BACKUP)
    done = call("simulate", "bond0", bpf_dir=bpf_dir)
    assert done.returncode == 1 and "is in mode active-backup, where no hash chooses" in done.stderr


def test_completion():
    for words, offers in ((["simulate", "--policy", "layer3"], {"layer3+4"}),
                          (["simulate", "--s"], {"--slaves", "--symmetric", "--seed"})):
        done = call("complete", "--", *words)
        assert {line.split("\t")[0] for line in done.stdout.splitlines()} == offers
