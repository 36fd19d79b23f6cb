"""From hash or cursor to slave: evenness, detour, drain, round-robin, broadcast,
active-backup, and the two hooks.
"""
import os
import random
import struct
import time

import pytest

import packets
from datapath import TC_REDIRECT, TC_SHOT, TC_UNSPEC, X
from waiting import moments, wait_for

FLOWS = 20000


def patterns(name, count=FLOWS):
    """IPv4 UDP flows that differ as name says, always the same ones."""
    chance = random.Random(20240)
    template = bytearray(packets.packet("udp4"))
    for number in range(count):
        source, ports = {
            "ports": (0x0a000001, (0x4000 + number) << 16 | 443),
            "even ports": (0x0a000001, (0x4000 + 2 * number) % 65536 << 16 | number >> 15),
            "hosts": (0x0a000001 + number, 5000 << 16 | 443),
            "networks": (0x0a000001 + (number << 8), 5000 << 16 | 443),
            "random": (chance.getrandbits(32), chance.getrandbits(32)),
        }[name]
        template[26:30] = struct.pack("!I", source & 0xffffffff)
        template[34:38] = struct.pack("!I", ports & 0xffffffff)
        yield bytes(template)


@pytest.mark.variants(3, always=("even ports-high",))
@pytest.mark.parametrize("bits", ["low", "high"])
@pytest.mark.parametrize("pattern", ["ports", "even ports", "hosts", "networks", "random"])
def test_flows_spread_evenly(datapath, pattern, bits):
    """Chi-square over 64 slaves; 63 degrees of freedom, so 63 on average and 120 is five deviations
    off.
    """
    datapath.reset(slots=X.MAX_SLAVES)
    if bits == "high":
        datapath.fill_buckets([bucket * X.MAX_SLAVES // X.BUCKETS for bucket in range(X.BUCKETS)])
    share = datapath.share(list(patterns(pattern)))
    expected = FLOWS / X.MAX_SLAVES
    square = sum((share.get(slot, 0) - expected) ** 2 / expected for slot in range(X.MAX_SLAVES))
    assert square < 120


@pytest.mark.parametrize("seed", [0, 1, 0xffffffff, 0x80000000])
def test_flows_spread_evenly_under_every_seed(datapath, seed):
    datapath.table.hash_seed = seed
    share = datapath.share(list(patterns("ports", 4000)))
    assert min(share.values()) > 0.85 * 1000


def test_layer2_and_vlan_spread_over_hosts(datapath):
    plain = packets.packet("udp4")
    frames = [plain[:10] + struct.pack("!H", number) + plain[12:] for number in range(2000)]
    for policy in (X.POLICY_LAYER2, X.POLICY_LAYER23, X.POLICY_VLAN_SRCMAC):
        datapath.settings.xmit_hash_policy = policy
        assert min(datapath.share(frames).values()) > 0.85 * 500


def test_both_copies_of_the_buckets(datapath):
    datapath.fill_buckets([0] * X.BUCKETS, copy=0)
    datapath.fill_buckets([3] * X.BUCKETS, copy=1)
    assert datapath.slot(packets.packet("udp4")) == 0
    datapath.table.active = 1
    assert datapath.slot(packets.packet("udp4")) == 3


# detour and drain

MASKS = ["tx_mask", "drain_mask"]


def take_out(datapath, mask, slots):
    bits = sum(1 << slot for slot in slots)
    if mask == "tx_mask":
        datapath.table.tx_mask &= ~bits
    else:
        datapath.settings.drain_mask |= bits


@pytest.mark.variants(2, always=("out3-tx_mask", "out2-drain_mask"))
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("out", [[0], [3], [1, 2], [0, 1, 3]])
def test_detour_moves_only_the_flows_of_the_missing_slaves(datapath, mask, out):
    flows = list(patterns("random", 2000))
    before = datapath.slots(flows)
    take_out(datapath, mask, out)
    after = datapath.slots(flows)
    assert all(new == old for old, new in zip(before, after) if old not in out)
    assert not set(after) & set(out)


@pytest.mark.parametrize("slots", [4, 64])
def test_detour_spreads_over_the_others(datapath, slots):
    datapath.reset(slots=slots)
    flows = [flow for flow in patterns("random", 4000 * (1 if slots == 4 else 4))]
    datapath.table.tx_mask &= ~1
    share = datapath.share(flows)
    assert set(share) == set(range(1, slots))
    assert max(share.values()) < 1.6 * len(flows) / (slots - 1)


def test_detour_reaches_the_only_slave_left(datapath):
    datapath.reset(slots=X.MAX_SLAVES)
    for last in (0, 17, 63):
        datapath.table.tx_mask = 1 << last
        assert set(datapath.share(list(patterns("random", 200)))) == {last}


def test_detour_holds_in_every_mode(datapath):
    for selection in (X.SELECT_TURNS, X.SELECT_ACTIVE, X.SELECT_HASH, X.SELECT_ALL):
        datapath.reset(selection=selection)
        datapath.table.tx_mask = 0b0100
        assert set(datapath.share(list(patterns("random", 50)))) == {2}


def test_drained_slaves_carry_when_there_is_no_other(datapath):
    take_out(datapath, "drain_mask", [0, 1, 2, 3])
    assert set(datapath.share(list(patterns("random", 200)))) == {0, 1, 2, 3}
    take_out(datapath, "tx_mask", [0, 1])
    assert set(datapath.share(list(patterns("random", 200)))) == {2, 3}


@pytest.mark.parametrize("selection",
                         [X.SELECT_TURNS, X.SELECT_ACTIVE, X.SELECT_HASH, X.SELECT_ALL])
def test_without_a_slave_packets_are_dropped(datapath, selection):
    datapath.reset(selection=selection, tx_mask=0)
    assert datapath.transmit(packets.packet("udp4")) == (TC_SHOT, None)


# round-robin, on one CPU because each CPU has its own cursor

@pytest.fixture
def one_cpu():
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    yield
    os.sched_setaffinity(0, cpus)


def round_robin(datapath, count, size=100, **settings):
    datapath.reset(selection=X.SELECT_TURNS, **settings)
    datapath.fill_buckets([0, 1, 2, 3])
    packet = packets.packet("udp4", payload=b"")
    return datapath.slots([packet.ljust(size, b"\0")] * count)


def runs(slots):
    """[(slot, length)...] of equal neighbours."""
    found = []
    for slot in slots:
        if found and found[-1][0] == slot:
            found[-1][1] += 1
        else:
            found.append([slot, 1])
    return found


@pytest.mark.parametrize("packets_per_slave", [1, 2, 3, 10])
def test_round_robin_in_order(datapath, one_cpu, packets_per_slave):
    found = runs(round_robin(datapath, 12 * packets_per_slave, packets_per_slave=packets_per_slave))
    inner = found[1:-1]
    assert all(length == packets_per_slave for _, length in inner)
    assert all((then + 1) % 4 == now for (then, _), (now, _) in zip(found, found[1:]))


def test_round_robin_by_random(datapath):
    datapath.reset(selection=X.SELECT_TURNS, packets_per_slave=0)
    datapath.fill_buckets([bucket % 4 for bucket in range(X.BUCKETS)])
    flow = packets.packet("udp4")
    slots = datapath.slots([flow] * 4000)
    assert all(840 < slots.count(slot) < 1160 for slot in range(4))  # six deviations off
    assert len(runs(slots)) > 2400, "the order is not random"


@pytest.mark.parametrize("bytes_per_slave,expected", [(3000, 3), (2500, 3), (1, 1)])
def test_round_robin_by_bytes(datapath, one_cpu, bytes_per_slave, expected):
    """Wins over packets_per_slave. A packet is never cut, so 2500 takes three of 1000."""
    found = runs(round_robin(datapath, 60, size=1000, packets_per_slave=7,
                             bytes_per_slave=bytes_per_slave))
    assert {length for _, length in found[1:-1]} == {expected}
    assert all((then + 1) % 4 == now for (then, _), (now, _) in zip(found, found[1:]))


def test_round_robin_by_bytes_evens_out_sizes(datapath, one_cpu):
    datapath.reset(selection=X.SELECT_TURNS, bytes_per_slave=15000)
    datapath.fill_buckets([0, 1, 2, 3])
    chance = random.Random(7)
    flow = packets.packet("udp4", payload=b"")
    _, sent = datapath.changed("tx_bytes", lambda: [datapath.run(
        "xbond_port", flow.ljust(chance.choice([60, 60, 600, 1514]), b"\0")) for _ in range(4000)])
    assert min(sent.values()) > 0.95 * max(sent.values())


def test_round_robin_by_bytes_follows_cost(datapath):
    """A slave that pays twice per byte gets half of them."""
    datapath.reset(slots=3, selection=X.SELECT_TURNS, bytes_per_slave=1)
    datapath.table.byte_cost[1] = 512
    flow = packets.packet("udp4", payload=b"x" * 900)
    _, sent = datapath.changed("tx_bytes", lambda: [datapath.run("xbond_port", flow)
                                                    for _ in range(2000)])
    assert abs(sent[0] / sent[1] - 2) < 0.02 and abs(sent[0] / sent[2] - 1) < 0.02


def test_round_robin_by_bytes_gives_a_newcomer_no_flood(datapath):
    """It was away while the others sent gigabytes: it gets a head start of 256 KB,
    then its share.
    """
    datapath.reset(selection=X.SELECT_TURNS, bytes_per_slave=1)
    for slot in (0, 1, 2):
        datapath.cursor.sent[slot] = 256 * 10 ** 10
    flow = packets.packet("udp4", payload=b"x" * 1400)
    _, sent = datapath.changed("tx_packets", lambda: [datapath.run("xbond_port", flow)
                                                      for _ in range(2000)])
    share = (2000 - 262144 / len(flow)) / 4
    assert share < min(sent.values()) + 5 and sent[3] < share + 262144 / len(flow) + 10


def test_round_robin_uses_only_the_buckets_in_use(datapath, one_cpu):
    datapath.reset(slots=3, selection=X.SELECT_TURNS)
    datapath.fill_buckets([0, 1, 2])
    assert datapath.share([packets.packet("udp4")] * 300) == {0: 100, 1: 100, 2: 100}


# broadcast and active-backup

def test_broadcast_sends_on_every_slave(datapath):
    datapath.reset(selection=X.SELECT_ALL)
    before = datapath.sent_by_device()
    verdicts, counted = datapath.changed("tx_packets", lambda: {
        datapath.run("xbond_port", packets.packet("udp4", payload=b"x" * 100)) for _ in range(10)})
    after = datapath.sent_by_device()
    assert verdicts == {TC_REDIRECT}
    assert counted == {slot: 10 for slot in range(4)}
    # BPF_PROG_RUN follows no redirect: the clones left, the packet itself went to the lowest slot.
    assert [now - then for then, now in zip(before, after)] == [0, 10, 10, 10]


def test_broadcast_counts_whole_packets(datapath):
    datapath.reset(selection=X.SELECT_ALL)
    packet = packets.packet("udp4", payload=b"x" * 100)
    _, counted = datapath.changed("tx_bytes", lambda: datapath.run("xbond_port", packet))
    assert counted == {slot: len(packet) for slot in range(4)}


def test_active_backup_uses_one_slave(datapath):
    datapath.reset(selection=X.SELECT_ACTIVE)
    datapath.fill_buckets([2] * X.BUCKETS)
    assert set(datapath.share(list(patterns("random", 100)))) == {2}


def test_an_asked_for_active_slave_acts_on_the_next_packet(datapath):
    """Before bondd has answered the request by new buckets."""
    datapath.reset(selection=X.SELECT_ACTIVE)
    datapath.fill_buckets([0] * X.BUCKETS)
    datapath.settings.active_slot = 3
    assert datapath.slot(packets.packet("udp4")) == 0
    datapath.settings.active_request = 1
    assert datapath.slot(packets.packet("udp4")) == 3
    datapath.table.active_request = 1
    assert datapath.slot(packets.packet("udp4")) == 0


# the two hooks

def test_counted_passes_at_egress(datapath):
    assert datapath.transmit(packets.packet("udp4"), "xbond_egress") == (TC_UNSPEC, None)


@pytest.mark.parametrize("path", [X.PATH_COUNTED, X.PATH_DIRECT])
@pytest.mark.parametrize("flags",
                         [0, X.F_CARRIER, X.F_FORCE_COUNTED, X.F_CARRIER | X.F_FORCE_COUNTED])
def test_the_port_side_never_passes(datapath, path, flags):
    datapath.settings.path, datapath.table.flags = path, flags
    assert datapath.transmit(packets.packet("udp4"))[0] == TC_REDIRECT
    datapath.table.tx_mask = 0
    assert datapath.transmit(packets.packet("udp4"))[0] == TC_SHOT


def test_without_bondd_egress_passes(datapath):
    """Nobody watches where bond0 is, so `direct` must not redirect."""
    datapath.settings.path = X.PATH_DIRECT
    datapath.table.watched = 0
    assert datapath.transmit(packets.packet("udp4"), "xbond_egress") == (TC_UNSPEC, None)


def test_direct_redirects_at_egress_unless_counted_is_forced(datapath):
    datapath.settings.path = X.PATH_DIRECT
    datapath.table.watched = 1
    verdict, slot = datapath.transmit(packets.packet("udp4"), "xbond_egress")
    assert (verdict, slot) == (TC_REDIRECT, datapath.slot(packets.packet("udp4")))
    datapath.table.flags |= X.F_FORCE_COUNTED
    assert datapath.transmit(packets.packet("udp4"), "xbond_egress") == (TC_UNSPEC, None)


@pytest.mark.parametrize("sends", [0, X.F_TEAM_SENDS])
@pytest.mark.parametrize("path", [X.PATH_COUNTED, X.PATH_DIRECT])
@pytest.mark.parametrize("watched", [0, 1])
@pytest.mark.parametrize("mode", [X.SELECT_HASH, X.SELECT_ACTIVE])
def test_a_team_sends_if_it_can_unless_the_path_is_direct(datapath, sends, path, watched, mode):
    """The slave is chosen and counted in any case."""
    datapath.table.selection, datapath.settings.path = mode, path
    datapath.table.flags |= X.F_TEAM | sends
    datapath.table.watched = watched
    passes = sends and not (path == X.PATH_DIRECT and watched)
    verdict, slot = datapath.transmit(packets.packet("udp4"), "xbond_egress")
    assert verdict == (TC_UNSPEC if passes else TC_REDIRECT)
    datapath.table.watched = 1
    assert slot == datapath.slot(packets.packet("udp4"))


# the watchdog

def test_a_beat_lasts_three_seconds(datapath):
    datapath.table.watched = 0
    assert datapath.call("xbond_beat") == 0
    began = time.monotonic()
    assert datapath.table.watched == 1
    wait_for(lambda: not datapath.table.watched, "the watchdog to bite")
    assert time.monotonic() >= began + 2.9


def test_who_beats_is_left_alone(datapath):
    assert datapath.call("xbond_beat") == 0
    for _ in moments(4, 0.2):
        assert datapath.table.watched == 1
        assert datapath.call("xbond_beat") == 0
