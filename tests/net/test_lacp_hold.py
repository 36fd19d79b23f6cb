"""Hold: whom the programs answer without bondd, how often, and whom never; and when a link
that was out carries again.
"""

import pytest

from lacp import (AT_ACTOR, COLLECTING, EXPIRED, answers, busiest_second, is_slow, ports, tx_slots,
                  wait_answers, wait_distributing)
from traffic import Capture, Stream, send_frames
from waiting import moments, wait_for

AT_TYPE = 12
PRIORITY_TAG, VLAN_5_TAG = bytes.fromhex("81000000"), bytes.fromhex("81000005")
BURST, PAUSE = 20, 0.04  # PDUs, well within a second
IN_ANY_SECOND = 2  # at most one in 0.9 s


class Held:
    """A pair without a near bondd, whose far end is played by the test: it has the words of
    both ends.
    """

    def __init__(self, pair):
        self.pair = pair
        self.mac = {dev: pair.near.slave(dev)["mac"] for dev in pair.links}
        self.spoken = {dev: self._listen(dev) for dev in pair.links}
        self.partner = {dev: pdus[1] for dev, pdus in self.spoken.items()}
        self.own = {dev: pdus[0] for dev, pdus in self.spoken.items()}
        pair.near.kill_bondd()  # before it can miss the partner
        pair.far.kill_bondd()

    def _listen(self, dev):
        """(near's, far's) PDU on dev, when both have come to rest."""
        found = {}
        with Capture(self.pair.near, dev, outgoing=True) as wire:
            def both():
                found.update({frame.src == self.mac[dev]: frame.data for frame in wire.frames(0.1)
                              if is_slow(frame)})
                return len(found) == 2
            wait_for(both, f"a PDU of each end on {dev}")
        return found[True], found[False]

    def tell(self, dev, frame):
        send_frames(self.pair.far, dev, [frame])

    def answers(self, wire, wait=0.1):
        """PDUs of the near end that have reached the far one."""
        return [frame for frame in wire.frames(wait)
                if is_slow(frame) and frame.src == self.mac[wire.dev]]

    def wait_answer(self, wire, frame):
        def answered():
            self.tell(wire.dev, frame)
            return self.answers(wire)
        return wait_for(answered, f"an answer on {wire.dev}")[0]


@pytest.fixture
def held(pair):
    made = pair("802.3ad", links=2, lacp_rate="fast", far={"lacp_hold": "off"})
    wait_distributing(made.near, made.far, links=made.links)

    def at_rest():
        here, there = ports(made.near), ports(made.far)
        return all(set(here[dev]["actor_state"]) == set(there[dev]["partner_state"]) and
                   set(there[dev]["actor_state"]) == set(here[dev]["partner_state"])
                   for dev in made.links)
    wait_for(at_rest, "both ends to know each other")
    return Held(made)


def tagged(frame, tag):
    return frame[:AT_TYPE] + tag + frame[AT_TYPE:]


def test_a_pdu_with_a_priority_tag_is_answered(held):
    """As one without; the port goes on carrying. A PDU of a VLAN is none."""
    with Capture(held.pair.far, "l0") as wire:
        answer = held.wait_answer(wire, tagged(held.partner["l0"], PRIORITY_TAG))
    assert answer.data[14:] == held.own["l0"][14:]
    assert not answer.vlan
    wait_for(lambda: 0 in tx_slots(held.pair.near), "the port to carry")
    held.pair.near.start_bondd()
    assert ports(held.pair.near)["l0"]["illegal_rx"] == 0


def test_a_pdu_of_a_vlan_is_not_answered(held):
    with Capture(held.pair.far, "l0") as wire:
        held.wait_answer(wire, held.partner["l0"])
        for _ in moments(1.5, 0):
            held.tell("l0", tagged(held.partner["l0"], VLAN_5_TAG))
            assert not held.answers(wire)


def test_answers_keep_their_distance(held):
    """Also where the partner talks much: by its answers nobody is flooded, on any link."""
    with Capture(held.pair.far, "l0") as wire:
        times = [held.wait_answer(wire, held.partner["l0"]).time]
        for _ in range(2 * BURST):
            held.tell("l0", held.partner["l0"])
            times += [answer.time for answer in held.answers(wire, PAUSE)]
    assert len(times) > 1 and busiest_second(times) <= IN_ANY_SECOND, times


def test_our_own_system_is_never_answered(held):
    """What a cable from one slave to another brings: the PDUs of both, to both."""
    with Capture(held.pair.far, "l0") as l0, Capture(held.pair.far, "l1") as l1:
        wires = {"l0": l0, "l1": l1}
        for dev, wire in wires.items():
            held.wait_answer(wire, held.partner[dev])
        for _ in moments(2.5, 0):
            for dev, other in (("l0", "l1"), ("l1", "l0"), ("l0", "l0")):
                held.tell(dev, held.own[other])
            assert not any(held.answers(wire) for wire in wires.values())
        for dev, wire in wires.items():
            held.wait_answer(wire, held.partner[dev])


def test_a_loop_is_silent_without_bondd(lab):
    host = lab.host("a")
    host.ip("link", "add", "p0", "type", "veth", "peer", "name", "p1")
    host.make_bond(["p0", "p1"], "mode", "802.3ad", "lacp_rate", "fast")
    wait_for(lambda: all("looped" in port["why"] for port in ports(host).values()),
             "the loop to be named")
    with Capture(host, "p0", outgoing=True) as wire:
        pdu = wait_for(lambda: [frame for frame in wire.frames(0.1) if is_slow(frame)],
                       "a PDU")[-1].data
        host.kill_bondd()
        wire.frames()
        told, seen = 0, 0
        for _ in moments(3, 0):
            send_frames(host, "p1", [pdu])
            told += 1
            seen += sum(is_slow(frame) for frame in wire.frames(0.3))
    assert seen == told


class Partner:
    """What the partner says of itself on a link, and what is sent to it there."""
    AT_STATE = AT_ACTOR + 16

    def __init__(self, pair, wire):
        self.wire, self.ours = wire, pair.near.slave(wire.dev)["mac"]
        self.said, self.sent = [], []

    def look(self):
        for frame in self.wire.frames():
            if is_slow(frame) and frame.src != self.ours:
                self.said.append((frame.time, frame.data[self.AT_STATE]))
            elif frame.numbers():
                self.sent.append(frame.time)

    def wait_said(self, flag):
        """When it first said so, since the last one that was waited for."""
        def found():
            self.look()
            return any(state & flag for _, state in self.said)
        wait_for(found, f"the partner to say {flag:#x}", 10)
        while not self.said[0][1] & flag:
            self.said.pop(0)
        return self.said[0][0]


@pytest.mark.parametrize("coupled", ["on", "off"])
def test_a_link_that_was_out_returns_in_step(pair, coupled):
    """Nothing is sent on it between the partner's word that it is out of sync and its word that it
    collects.
    """
    made = pair("802.3ad", links=2, lacp_rate="fast", xmit_hash_policy="layer3+4",
                coupled_control=coupled)
    wait_distributing(made.near, made.far, links=made.links)
    made.near.kill_bondd()
    wait_answers(made.near, made.links, answers(made.near, made.links))
    stream = Stream(made.near, made.far, rate=2000, flows=32)
    made.far.ip("link", "set", "l0", "down")
    stream.flow_on(2000)  # a second: the program may answer again
    with Capture(made.near, "l0", outgoing=True) as wire:
        partner = Partner(made, wire)
        made.far.ip("link", "set", "l0", "up")
        out, back = partner.wait_said(EXPIRED), partner.wait_said(COLLECTING)
        stream.flow_on(500)
        partner.look()
    stream.finish()
    # Other CPUs may have been sending when that word came.
    assert not [time for time in partner.sent if out + 0.05 < time < back]
    assert [time for time in partner.sent if time > back]
