"""When one of four slaves leaves, no flow of another slave moves; when it returns, only
its share does. 10,000 flows, counted on the wire at the far end.
"""
import pytest

from traffic import Capture, flows_by_link, send_packets
from waiting import wait_for

FLOWS = 10000

LEAVE = {
    "far end down": (lambda made: made.far.ip("link", "set", "l2", "down"),
                     lambda made: made.far.ip("link", "set", "l2", "up")),
    "own end down": (lambda made: made.near.ip("link", "set", "l2", "down"),
                     lambda made: made.near.ip("link", "set", "l2", "up")),
    "del-slave": (lambda made: made.near.ctl("del-slave", "bond0", "l2"),
                  lambda made: made.near.ctl("add-slave", "bond0", "l2")),
    "drain": (lambda made: made.near.ctl("set-slave", "bond0", "l2", "drain", "on"),
              lambda made: made.near.ctl("set-slave", "bond0", "l2", "drain", "off")),
}


def links_of_flows(made, *absent):
    """{flow: link} of 10,000 flows with one packet each, when all buckets have been given to the
    slaves that are there. A slave is up a moment earlier: other CPUs may still read the buckets.
    """
    slots = {slot for slot, link in enumerate(made.links) if link not in absent}
    wait_for(lambda: set(made.near.owners()) == slots, f"{slots} to have all buckets")
    wires = [Capture(made.far, link) for link in made.links]
    assert send_packets(made.near, count=FLOWS, flows=FLOWS, rate=50000)["sent"] == FLOWS
    found, _ = flows_by_link(wires)
    for wire in wires:
        wire.close()
    assert len(found) == FLOWS, "flows that were not seen"
    assert all(len(links) == 1 for links in found.values())
    return {flow: next(iter(links)) for flow, links in found.items()}


def moved(before, after):
    return {flow for flow in before if before[flow] != after[flow]}


@pytest.mark.parametrize("how", LEAVE)
def test_only_flows_of_the_leaving_slave_move(pair, how):
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    leave, come_back = LEAVE[how]
    before = links_of_flows(made)
    share = {flow for flow, link in before.items() if link == "l2"}
    assert 0.22 * FLOWS < len(share) < 0.28 * FLOWS
    leave(made)
    if how != "drain":
        made.near.wait_slaves("l0", "l1", "l3")
    without = links_of_flows(made, "l2")
    assert moved(before, without) == share
    spread = [sum(without[flow] == link for flow in share) for link in ("l0", "l1", "l3")]
    assert min(spread) > 0.8 * len(share) / 3, spread
    come_back(made)
    for host in (made.near, made.far):
        host.wait_slaves(*made.links)
    again = links_of_flows(made)
    assert all(again[flow] == "l2" for flow in moved(without, again))
    assert 0.22 * FLOWS < len(moved(without, again)) < 0.28 * FLOWS
    if how != "del-slave":
        assert again == before


def test_two_leave_and_return_in_another_order(pair):
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    before = links_of_flows(made)
    for link in ("l1", "l3"):
        made.far.ip("link", "set", link, "down")
    made.near.wait_slaves("l0", "l2")
    without = links_of_flows(made, "l1", "l3")
    assert moved(before, without) == {flow for flow, link in before.items() if link in ("l1", "l3")}
    for link in ("l1", "l3"):
        made.far.ip("link", "set", link, "up")
        wait_for(lambda: link in made.near.carrier_slaves() and link in made.far.carrier_slaves(),
                 f"{link} back")
    assert links_of_flows(made) == before


def test_a_fifth_slave_takes_only_its_share(pair):
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    made.lab.link(made.near, made.far, "l4", 4)
    before = links_of_flows(made)
    for host in (made.far, made.near):
        host.ctl("add-slave", "bond0", "l4")
    made.links = [*made.links, "l4"]
    for host in (made.near, made.far):
        host.wait_slaves(*made.links)
    after = links_of_flows(made)
    assert all(after[flow] == "l4" for flow in moved(before, after))
    assert 0.17 * FLOWS < len(moved(before, after)) < 0.23 * FLOWS


def test_restart_of_bondd_moves_no_flow(pair):
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    made.far.ip("link", "set", "l1", "down")
    made.near.wait_slaves("l0", "l2", "l3")
    before = links_of_flows(made, "l1")
    made.near.restart_bondd(kill=True)
    assert links_of_flows(made, "l1") == before
