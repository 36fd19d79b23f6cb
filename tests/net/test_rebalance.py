"""Steering by load. rebalance_interval: hot buckets move from busy slaves to idle ones, stay there,
and nothing overtakes anything. flowlet_gap: a flow changes its slave at a pause.
"""
import contextlib
import json
import time

import pytest

from events import Monitor
from lacp import leave_markers_unanswered, markers, wait_distributing
from namespace import run
from policies import FIRST_FIVE
from traffic import Capture, Stream, send_packets
from waiting import IS_SLOW, quiet_for, wait_for

FLOWS, RATE, SIZE = 10, 4000, 500
ROUNDS = 5  # so soon ten elephants are even
TLB_INTERVAL = 10  # seconds, of tlb_dynamic_lb
ANSWER_TIME = 3.0  # LACP_DRAIN_TIME
OFF = ("rebalance_interval", 0)
ON = ("rebalance_idle", 0, "rebalance_interval", 1)


def arrived(pair):
    """Bytes by link, all read at once."""
    found = {link["ifname"]: link["stats64"]["rx"]["bytes"]
             for link in pair.far.ip_json("-s", "link", "show")}
    return [found[link] for link in pair.links]


def shares(pair, amount=500000):
    """The part of the bytes that each link gets, while about so many arrive."""
    before = arrived(pair)

    def sent():
        now = [each - then for each, then in zip(arrived(pair), before)]
        return sum(now) >= amount and now
    sent = wait_for(sent, "traffic")
    return [each / sum(sent) for each in sent]


def is_even(pair):
    return max(shares(pair)) <= 0.55


def stream(pair):
    """Ten flows, which have the same hash each time."""
    made = Stream(pair.near, pair.far, flows=FLOWS, rate=RATE, size=SIZE, from_port=20000)
    made.flow_on(100)
    return made


@contextlib.contextmanager
def unharmed(pair):
    """Nothing is lost or overtaken meanwhile."""
    flows = stream(pair)
    yield
    result = flows.finish()
    assert (result["lost"], result["reordered"]) == (0, 0), result


def make_uneven(pair):
    """A hash_seed by which one of two links gets seven flows or more. Returns that link."""
    pair.near.ctl("set", "bond0", *OFF)
    flows = stream(pair)
    for seed in range(1, 200):
        pair.near.ctl("set", "bond0", "hash_seed", seed)
        parts = shares(pair, 250000)
        if max(parts) >= 0.67:
            flows.finish()
            return pair.links[parts.index(max(parts))]
    raise AssertionError("no such seed")


def they_converge(pair):
    """Not with rebalance_idle, because they never pause for so long."""
    near = pair.near
    make_uneven(pair)
    monitor = Monitor(near)
    with unharmed(pair):
        near.ctl("set", "bond0", "rebalance_idle", 1000, "rebalance_interval", 1)
        near.wait_looked(2.2)
        assert near.show()["rebalance"] == {"rounds": 0, "moved": 0, "given_up": 0, "waiting": 0,
                                            "since_round_s": None}
        near.ctl("set", "bond0", *ON)
        wait_for(lambda: is_even(pair), "both links to carry the same")
        assert near.show()["rebalance"]["rounds"] <= ROUNDS
    moved = monitor.having(kind="buckets", cause="load")
    assert sum(event["moved"] for event in moved) >= 2
    assert near.show()["rebalance"]["moved"] >= 2
    assert monitor.stop() == 0


def bondd_dies_in_the_midst(pair):
    """The programs move what has begun to move; the next bondd writes it down."""
    near = pair.near
    with near.dying_at("rebalance-begun"):
        make_uneven(pair)
        flows = stream(pair)
        near.ctl("set", "bond0", *ON)
    wait_for(lambda: is_even(pair), "both links to carry the same without bondd")
    near.start_bondd()
    wait_for(lambda: near.show()["rebalance"]["waiting"] == 0, "all moves to end")
    assert is_even(pair)
    result = flows.finish()
    assert (result["lost"], result["reordered"]) == (0, 0), result


def they_stay(pair):
    """When a slave fails and returns."""
    pair.near.ctl("set", "bond0", *OFF)
    flows = stream(pair)
    assert is_even(pair)
    pair.far.ip("link", "set", "l0", "down")
    wait_for(lambda: shares(pair, 100000)[1] > 0.99, "all on the other link")
    pair.far.ip("link", "set", "l0", "up")
    pair.near.wait_slaves(*pair.links)
    wait_for(lambda: is_even(pair), "the moved flows to be back")
    flows.finish()


def first_moved(frames, known):
    """When the first packet of a flow that was not here before came."""
    return next(frame.time for frame in frames if frame.numbers() and
                frame.numbers()[1] not in known)


def flows_in(frames):
    return {frame.numbers()[1] for frame in frames if frame.numbers()}


def waited_for_a_marker(pair, busy):
    """Seconds from the only marker on the busy link to the first packet that has moved."""
    idle = next(link for link in pair.links if link != busy)
    with Capture(pair.far, busy) as left, Capture(pair.far, idle) as taken, unharmed(pair):
        known = flows_in(taken.frames())
        left.frames()
        pair.near.ctl("set", "bond0", *ON)
        wait_for(lambda: is_even(pair), "both links to carry the same", 15)
        pair.near.ctl("set", "bond0", *OFF)
        moved = first_moved(taken.frames(), known)
        asked = [frame.time for frame in markers(left.frames()) if frame.time < moved]
    assert len(asked) == 1, asked
    return moved - asked[0]


def test_elephants(pair):
    """Ten flows that never pause for long, seven or more of them on one link."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    for check in (they_converge, bondd_dies_in_the_midst, they_stay):
        check(made)


def test_elephants_in_8023ad(pair):
    """drain_markers: nothing moves before the partner has answered, or has had its time for it. The
    interval is shorter than that.
    """
    made = pair("802.3ad", links=2, xmit_hash_policy="layer3+4", lacp_rate="fast",
                drain_markers="on")
    wait_distributing(made.near, made.far, links=made.links)
    assert waited_for_a_marker(made, make_uneven(made)) < ANSWER_TIME - 0.5
    busy = make_uneven(made)
    leave_markers_unanswered(made.far, busy)
    assert waited_for_a_marker(made, busy) > ANSWER_TIME - 0.5


def test_tlb_dynamic_lb(pair):
    """balance-tlb makes its links even every ten seconds while this is on. The far end hears all
    links.
    """
    made = pair("balance-tlb", links=2, xmit_hash_policy="layer3+4",
                far={"mode": "broadcast", "all_slaves_active": "on"})
    near = made.near
    near.ctl("set", "bond0", "tlb_dynamic_lb", "off", "rebalance_idle", 0)
    make_uneven(made)
    assert near.show()["rebalance"] is None
    with unharmed(made):
        assert not is_even(made)
        near.ctl("set", "bond0", "tlb_dynamic_lb", "on")
        wait_for(lambda: is_even(made), "both links to carry the same", TLB_INTERVAL + 10)


def test_flows_that_a_policy_has_placed(pair):
    """Five of ten are on one link, and stay there. The others leave it, and stay, too."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    near = made.near
    near.ctl("policy", "load", "bond0", FIRST_FIVE)
    assert make_uneven(made) == "l0"
    with unharmed(made):
        near.ctl("set", "bond0", *ON)

        def stays():
            moved = near.show()["rebalance"]["moved"]
            near.wait_looked(2.2)
            return is_even(made) and near.show()["rebalance"]["moved"] == moved
        wait_for(stays, "both links to carry the same, without more moves", 30)


def counted(host):
    """Packets that the buckets have counted, by all CPUs."""
    dump = json.loads(run("bpftool", "-j", "map", "dump", "pinned",
                          host.bpf_dir / "bond0/loads").stdout)
    return sum(cpu["value"]["packets"] for bucket in dump for cpu in bucket["formatted"]["values"])


DYNAMIC = {None: True, "off": False, "on": True}


@pytest.mark.parametrize("mode, option, values", [
    ("balance-xor", "rebalance_interval", {None: False, 3600: True, 0: False}),
    ("balance-tlb", "tlb_dynamic_lb", DYNAMIC), ("balance-alb", "tlb_dynamic_lb", DYNAMIC)])
def test_buckets_count_only_while_flows_move_by_load(lone, mode, option, values):
    """By default in balance-tlb and balance-alb. What is not counted does not move, either."""
    near = lone(2)
    near.make_bond(near.links, "mode", mode)
    near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    near.ip("neigh", "add", "10.0.0.2", "lladdr", "02:00:00:00:00:09", "dev", "bond0")
    for value, counts in values.items():
        if value is not None:
            near.ctl("set", "bond0", option, value)
        before = counted(near)
        send_packets(near, count=200, flows=20)
        now = counted(near) - before
        assert now >= 200 if counts else now == 0, (value, now)
        assert (near.show()["rebalance"] is not None) == counts


def test_a_weight_moves_only_what_must(pair):
    """In mid-stream: no bucket more than it takes, and flows that stay do not notice."""
    made = pair("balance-xor", links=3, xmit_hash_policy="layer3+4")
    near = made.near
    for link in made.links:
        near.ctl("set-slave", "bond0", link, "weight", 10)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Capture(made.far, link)) for link in made.links]
        flows = Stream(near, made.far, rate=2000, flows=64)
        flows.flow_on(300)
        before = near.owners()
        near.ctl("set-slave", "bond0", "l0", "weight", 20)
        after = wait_for(lambda: near.owners() != before and near.owners(), "other buckets")
        flows.flow_on(300)
        result = flows.finish()
        seen = [[frame.numbers() for frame in wire.frames(0.1) if frame.numbers()]
                for wire in wires]
    had, has = [[table.count(slot) for slot in range(3)] for table in (before, after)]
    assert has == [2048, 1024, 1024]
    assert sum(was != now for was, now in zip(before, after)) == has[0] - had[0]
    assert result["lost"] == 0
    links_of = [{link for link, numbers in enumerate(seen) if any(n[1] == flow for n in numbers)}
                for flow in range(64)]
    stayed = [flow for flow, links in enumerate(links_of) if len(links) == 1]
    assert len(stayed) > 32
    for flow in stayed:
        numbers = [n[2] for link in links_of[flow] for n in seen[link] if n[1] == flow]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), flow


def test_flowlets(pair):
    """One flow that sends every millisecond. A longer gap keeps it on its link, a shorter one
    spreads it, in order, also without bondd, by weight, and beside a link that fails.
    """
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", flowlet_gap=1000000)
    near = made.near
    flow = Stream(near, made.far, rate=1000, size=1400)
    flow.flow_on(100)
    assert max(shares(made, 300000)) > 0.99
    near.ctl("set", "bond0", "flowlet_gap", 100)
    wait_for(lambda: is_even(made), "both links to carry the same")
    near.kill_bondd()
    wait_for(lambda: is_even(made), "the same without bondd")
    near.start_bondd()
    wait_for(lambda: is_even(made), "the same with the next one")
    result = flow.finish()
    assert result["lost"] == 0 and result["reordered"] == 0
    flow = Stream(near, made.far, rate=1000, size=1400)
    made.far.ip("link", "set", "l0", "down")
    wait_for(lambda: shares(made, 200000)[1] > 0.99, "all on the other link")
    made.far.ip("link", "set", "l0", "up")
    near.wait_slaves("l0", "l1")
    wait_for(lambda: is_even(made), "both links to carry the same")
    near.ctl("set", "bond0", "flowlet_gap", 0)
    wait_for(lambda: max(shares(made, 200000)) > 0.99, "the hash to choose again")
    assert flow.finish()["lost"] < 20
    near.ctl("set", "bond0", "flowlet_gap", 50)
    near.ctl("set-slave", "bond0", "l0", "weight", 30)
    near.ctl("set-slave", "bond0", "l1", "weight", 10)
    flow = Stream(near, made.far, rate=4000, flows=20, size=1400)
    wait_for(lambda: 0.70 < shares(made, 3000000)[0] < 0.80, "three quarters on the heavier link")
    flow.finish()


@pytest.mark.skipif(IS_SLOW, reason="too slow to pause for so short")
def test_a_pause_that_is_shorter_than_a_long_gap(pair):
    """Flows stay where they are, on slaves that their buckets would not choose. A gap has ended for
    certain after five quarters of it; whoever is too slow for that, by the wire, tries again.
    """
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", flowlet_gap=1000000)
    near = made.near
    wires = [Capture(made.far, link) for link in made.links]

    def seen():
        """(links, the times) of the packets that are sent now."""
        send_packets(near, count=16, flows=16)
        frames = {wire.dev: [frame for frame in wire.frames(0.1) if frame.numbers()]
                  for wire in wires}
        times = sorted(frame.time for on_link in frames.values() for frame in on_link)
        assert len(times) == 16
        return {link for link, on_link in frames.items() if on_link}, times

    def stay_on(drained, other):
        """False if the flows have paused too long."""
        near.ctl("set-slave", "bond0", drained, "drain", "on")
        quiet_for(0.3, "a flow's time is not written more often")
        links, before = seen()
        assert links == {other}
        near.ctl("set-slave", "bond0", drained, "drain", "off")
        quiet_for(max(before[-1] + 1.02 - time.time(), 0), "the flows pause")
        links, after = seen()
        if after[-1] - before[0] >= 1.25:
            return False
        assert links == {other}
        return True
    for drained, other in (made.links, made.links[::-1]):
        wait_for(lambda: stay_on(drained, other),  # pylint: disable=W0640
                 "a pause that is no longer", 40)
