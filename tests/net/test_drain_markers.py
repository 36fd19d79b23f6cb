"""drain_markers: flows leave a port that works when the partner has answered a marker, or
after its time; a bond without bondd does not wait.
"""
import itertools

import pytest

from lacp import leave_markers_unanswered, markers, ports, tx_slots, wait_distributing
from traffic import Capture, Stream
from waiting import wait_for

ANSWER_TIME = 3.0  # LACP_DRAIN_TIME


@pytest.fixture
def made(pair):
    """Markers are for what the test does, not for the ports' first steps."""
    made = pair("802.3ad", links=2, lacp_rate="fast", xmit_hash_policy="layer3+4")
    wait_distributing(made.near, made.far, links=made.links)
    made.near.ctl("set", "bond0", "drain_markers", "on")
    return made


def has_moved(host):
    """Slot 0 is out of what the programs choose from."""
    return host.pinned("table")["drained"] == 1


def data_times(frames):
    return [frame.time for frame in frames if frame.numbers()]


def flow_off(stream, capture):
    """The stream goes on, and not by this link."""
    stream.flow_on(200)
    capture.frames()
    stream.flow_on(200)
    assert not data_times(capture.frames())


def test_flows_leave_on_the_response(made):
    stream = Stream(made.near, made.far, rate=1000, flows=32)
    with Capture(made.far, "l0") as wire:
        stream.flow_on(200)
        seen = wire.frames()
        assert data_times(seen) and not has_moved(made.near)
        made.near.ctl("set-slave", "bond0", "l0", "drain", "on")
        wait_for(lambda: has_moved(made.near), "the flows to leave")
        seen += wire.frames()
        asked = markers(seen)
        assert len(asked) == 1 and ports(made.near)["l0"]["marker_tx"] == 1
        assert data_times(seen)[-1] - asked[0].time < ANSWER_TIME - 0.5
        flow_off(stream, wire)
        made.near.ctl("set-slave", "bond0", "l0", "drain", "off")
        wait_for(lambda: data_times(wire.frames()), "the flows to be back")
    assert tx_slots(made.near) == {0, 1}
    result = stream.finish()
    assert (result["lost"], result["reordered"], result["duplicates"]) == (0, 0, 0), result


def test_flows_leave_a_partner_that_does_not_answer(made):
    leave_markers_unanswered(made.far, "l0")
    stream = Stream(made.near, made.far, rate=1000, flows=32)
    with Capture(made.far, "l0") as wire:
        made.near.ctl("set-slave", "bond0", "l0", "drain", "on")
        wait_for(lambda: has_moved(made.near), "the flows to leave in the end")
        seen = wire.frames()
        asked = markers(seen)
        assert len(asked) == 1
        assert data_times(seen)[-1] - asked[0].time > ANSWER_TIME - 0.5
        flow_off(stream, wire)
    result = stream.finish()
    assert (result["lost"], result["reordered"], result["duplicates"]) == (0, 0, 0), result


def test_each_drain_has_a_marker_of_its_own(made):
    """Also when the last one's is still awaited: what was sent since is not behind it."""
    leave_markers_unanswered(made.far, "l0")
    with Capture(made.far, "l0") as wire:
        for value in ("on", "off", "on"):
            made.near.ctl("set-slave", "bond0", "l0", "drain", value)
            if value == "on":
                wait_for(lambda: markers(wire.frames()), "a marker")
        assert not has_moved(made.near)


def test_a_smaller_share_waits_too(made):
    """By weight: bondd asks before it makes other buckets."""
    leave_markers_unanswered(made.far, "l0")
    active = made.near.pinned("table")["active"]
    with Capture(made.far, "l0") as wire:
        for dev, weight in (("l0", 1), ("l1", 9)):
            made.near.ctl("set-slave", "bond0", dev, "weight", weight)
        wait_for(lambda: markers(wire.frames()), "a marker")
        assert made.near.pinned("table")["active"] == active
        wait_for(lambda: made.near.pinned("table")["active"] != active, "the buckets to change")


@pytest.mark.parametrize("wish", ["drain", "weight"])
def test_changes_do_not_prolong_the_wait(made, wish):
    """Something outside sets weights again and again, and nobody answers."""
    for dev in made.links:
        leave_markers_unanswered(made.far, dev)
    active = made.near.pinned("table")["active"]
    weights = itertools.count(2)
    made.near.ctl("set-slave", "bond0", "l1", "weight", 1)
    if wish == "drain":
        made.near.ctl("set-slave", "bond0", "l0", "drain", "on")

    def is_done():
        made.near.ctl("set-slave", "bond0", "l0", "weight", next(weights))
        return has_moved(made.near) if wish == "drain" else \
            made.near.pinned("table")["active"] != active
    wait_for(is_done, f"the {wish} to take effect", 15)


def test_without_bondd_drain_does_not_wait(made):
    stream = Stream(made.near, made.far, rate=1000, flows=32)
    with Capture(made.far, "l0") as wire:
        made.near.stop_bondd()
        made.near.ctl("set-slave", "bond0", "l0", "drain", "on")

        def silent():
            stream.flow_on(100)
            return not data_times(wire.frames())
        wait_for(silent, "the flows to leave without a marker")
    stream.finish_unharmed()
