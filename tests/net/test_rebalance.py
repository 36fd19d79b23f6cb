"""Steering by load. rebalance_interval: hot buckets move from busy slaves to idle ones, stay there,
and nothing overtakes anything. flowlet_gap: a flow changes its slave at a pause.
"""
import time

import pytest

from events import Monitor
from traffic import Stream
from waiting import wait_for

FLOWS, RATE, SIZE = 10, 4000, 500


def shares(pair, seconds=0.7):
    """The part of the bytes that each link gets, for a while."""
    before = [pair.far.received(link)["bytes"] for link in pair.links]
    time.sleep(seconds)
    sent = [pair.far.received(link)["bytes"] - then for link, then in zip(pair.links, before)]
    return [each / max(sum(sent), 1) for each in sent]


def is_even(pair):
    return max(shares(pair)) <= 0.55


def seed_where(pair, uneven):
    """A hash_seed by which one of two links gets at least so much of the traffic."""
    for seed in range(1, 200):
        pair.near.ctl("set", "bond0", "hash_seed", seed)
        if max(shares(pair, 0.3)) >= uneven:
            return seed
    raise AssertionError("no such seed")


def stream(pair):
    """Ten flows, which have the same hash each time."""
    made = Stream(pair.near, pair.far, flows=FLOWS, rate=RATE, size=SIZE, from_port=20000)
    made.flow_on(100)
    return made


@pytest.fixture(params=["balance-xor", "802.3ad"])
def uneven(pair, request):
    made = pair(request.param, links=2, xmit_hash_policy="layer3+4",
                **({"lacp_rate": "fast"} if request.param == "802.3ad" else {}))
    first = stream(made)
    seed_where(made, 0.69)
    first.finish()
    return made


def test_elephants_converge_and_stay(uneven):
    """Ten flows that never pause for long, seven or more of them on one link: even within five
    intervals. What has moved stays when a slave fails and returns, and when bondd is killed.
    """
    near = uneven.near
    monitor = Monitor(near)
    flows = stream(uneven)
    near.ctl("set", "bond0", "rebalance_idle", 0, "rebalance_interval", 1)
    wait_for(lambda: is_even(uneven), "both links to carry the same", deadline=8)
    assert sum(event["moved"] for event in monitor.having(kind="buckets", cause="load")) >= 2
    assert near.show()["rebalance"]["moved"] >= 2
    result = flows.finish()
    assert result["lost"] == 0 and result["reordered"] == 0
    assert monitor.stop() == 0
    near.ctl("set", "bond0", "rebalance_interval", 0)
    flows = stream(uneven)
    assert is_even(uneven)
    near.kill_bondd()
    near.start_bondd()
    assert is_even(uneven)
    uneven.far.ip("link", "set", "l0", "down")
    wait_for(lambda: shares(uneven)[1] > 0.99, "all on the other link")
    uneven.far.ip("link", "set", "l0", "up")
    near.wait_slaves("l0", "l1")
    wait_for(lambda: is_even(uneven), "the moved flows to be back")
    flows.finish()


def test_silent_flows_only(uneven):
    """With rebalance_idle, flows that never pause for so long stay where they are."""
    near = uneven.near
    flows = stream(uneven)
    near.ctl("set", "bond0", "rebalance_idle", 1000, "rebalance_interval", 1)
    time.sleep(2.5)
    assert near.show()["rebalance"] == {"rounds": 0, "moved": 0, "given_up": 0, "waiting": 0,
                                        "last_s": None}
    result = flows.finish()
    assert result["lost"] == 0 and result["reordered"] == 0


def test_flowlets(pair):
    """One flow that sends every millisecond. A longer gap keeps it on its link, a shorter one
    spreads it, in order, also without bondd, and beside a link that fails.
    """
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", flowlet_gap=1000000)
    near = made.near
    flow = Stream(near, made.far, rate=1000, size=1400)
    flow.flow_on(100)
    assert max(shares(made)) > 0.99
    near.ctl("set", "bond0", "flowlet_gap", 100)
    wait_for(lambda: is_even(made), "both links to carry the same")
    near.kill_bondd()
    assert is_even(made)
    near.start_bondd()
    assert is_even(made)
    result = flow.finish()
    assert result["lost"] == 0 and result["reordered"] == 0
    flow = Stream(near, made.far, rate=1000, size=1400)
    made.far.ip("link", "set", "l0", "down")
    wait_for(lambda: shares(made, 0.2)[1] > 0.99, "all on the other link")
    made.far.ip("link", "set", "l0", "up")
    near.wait_slaves("l0", "l1")
    wait_for(lambda: is_even(made), "both links to carry the same")
    near.ctl("set", "bond0", "flowlet_gap", 0)
    wait_for(lambda: max(shares(made, 0.3)) > 0.99, "the hash to choose again")
    assert flow.finish()["lost"] < 20


def test_flowlets_go_by_weight(pair):
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", flowlet_gap=50)
    made.near.ctl("set-slave", "bond0", "l0", "weight", 30)
    made.near.ctl("set-slave", "bond0", "l1", "weight", 10)
    flow = Stream(made.near, made.far, rate=4000, flows=20, size=1400)
    wait_for(lambda: 0.70 < shares(made)[0] < 0.80, "three quarters on the heavier link")
    flow.finish()
