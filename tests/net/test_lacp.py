"""802.3ad between two xbond hosts: hold at both ends, a link that goes to another partner,
standby, fallback, options that change while running, loops, restarts.
"""

import json

import pytest

from lacp import (AT_ACTOR, busiest_second, distributing, is_slow, ports, send_slowly, tx_slots,
                  wait_distributing, wait_mutual, wait_told)
from traffic import Capture, Stream
from waiting import moments, quiet_for, wait_for

FAST = {"lacp_rate": "fast", "xmit_hash_policy": "layer3+4"}
ALL_BUT_DEFAULTED_EXPIRED = 0x3f
YEAR = 365 * 24 * 3600


@pytest.fixture
def made(pair):
    """made(links=4, far={}, OPTION=VALUE...): a pair in 802.3ad at the fast rate that has
    negotiated.
    """

    def make(links=4, wait=True, **options):
        made = pair("802.3ad", links=links, **{**FAST, **options})
        if wait:
            wait_distributing(made.near, made.far, links=made.links)
        return made
    return make


def why(host, dev):
    return ports(host)[dev]["why"]


@pytest.mark.parametrize("coupled", ["on", "off"])
def test_both_ends_agree(made, coupled):
    pair = made(coupled_control=coupled)
    wait_mutual(pair.near, pair.far, pair.links)
    near, far = pair.near.show()["lacp"], pair.far.show()["lacp"]
    assert (near["actor_system"], near["actor_key"]) == (far["partner_system"], far["partner_key"])
    assert (far["actor_system"], far["actor_key"]) == (near["partner_system"], near["partner_key"])
    state = "collecting_distributing" if coupled == "on" else "distributing"
    assert {port["mux_state"] for port in ports(pair.near).values()} == {state}
    Stream(pair.near, pair.far, count=2000, rate=4000, flows=16).finish_unharmed()


# Hold


class Wire:
    """LACPDUs of both directions on every link, counted on the wire."""

    def __init__(self, host, links):
        self.captures = [Capture(host, dev, outgoing=True) for dev in links]
        self.times = {}

    def look(self):
        for capture in self.captures:
            for frame in capture.frames():
                if is_slow(frame):
                    self.times.setdefault((capture.dev, frame.src), []).append(frame.time)

    def busiest(self):
        self.look()
        return {key: busiest_second(sorted(times)) for key, times in self.times.items()}

    def close(self):
        for capture in self.captures:
            capture.close()


@pytest.mark.parametrize("first", ["near", "far"])
def test_killed_at_both_ends(made, first):
    pair = made()
    wait_mutual(pair.near, pair.far, pair.links)
    wire = Wire(pair.far, pair.links)
    pair.near.kill_bondd()
    pair.far.kill_bondd()
    wait_for(lambda: not tx_slots(pair.near) and not tx_slots(pair.far),
             "the ports to expire at both ends")
    for _ in moments(3, 0.2):
        wire.look()
    one, other = (pair.near, pair.far) if first == "near" else (pair.far, pair.near)
    one.start_bondd()
    wait_distributing(one, links=pair.links)
    wait_for(lambda: len(tx_slots(other)) == 4, "the other end's programs to go on")
    pair.near.wait_ping("10.0.0.2")
    other.start_bondd()
    wait_distributing(pair.near, pair.far, links=pair.links)
    wait_mutual(pair.near, pair.far, pair.links)
    busiest = wire.busiest()
    wire.close()
    assert len(busiest) == 8 and max(busiest.values()) <= 3, busiest


def test_restart_is_not_seen_on_the_wire(made):
    """kill -9 at several points of the second: whatever PDU came last before it must not matter."""
    pair = made(links=2)
    wait_mutual(pair.near, pair.far, pair.links)
    stream = Stream(pair.near, pair.far, rate=1000, flows=16)
    back = Stream(pair.far, pair.near, to="10.0.0.1", rate=1000, flows=16)
    with Capture(pair.far, "l0") as capture:
        for pause in (0.0, 0.7, 4.2, 4.5, 4.8):
            pair.near.kill_bondd()
            quiet_for(pause, "bondd is dead, the programs answer")
            pair.near.start_bondd()
            for _ in moments(0.3):
                assert distributing(pair.near) == distributing(pair.far) == pair.links
        frames = capture.frames()

        def heard_again():
            now = capture.frames()
            frames.extend(now)
            return any(is_slow(frame) for frame in now)
        wait_for(heard_again, "the last bondd's LACPDU")
    states = {frame.data[AT_ACTOR + 16] for frame in frames if is_slow(frame)}
    assert states == {ALL_BUT_DEFAULTED_EXPIRED}
    stream.finish_unharmed()
    back.finish_unharmed()


def test_stop_and_go_on_is_not_seen(made):
    """SIGSTOP at several points of the second, longer than the timeout."""
    pair = made(links=2)
    wait_mutual(pair.near, pair.far, pair.links)
    wait_told(pair.near, pair.links)
    stream, told = Stream(pair.near, pair.far, rate=1000, flows=16), len(pair.near.log())
    for pause in (0.6, 3.3, 4.1, 4.4):
        pair.near.freeze_bondd()
        quiet_for(pause, "bondd stands still, the programs answer")
        pair.near.thaw_bondd()
        for _ in moments(0.3):
            assert distributing(pair.near) == pair.links
    stream.finish_unharmed()
    assert "LACP" not in pair.near.log()[told:]


def test_the_date_is_set(made):
    """By ten years, for bondd: it goes by CLOCK_MONOTONIC."""
    pair = made(links=2)
    near, far = pair.near, pair.far
    near.stop_bondd()
    near.start_refusable()
    wait_mutual(near, far, pair.links)
    wait_told(near, pair.links)
    told = len(near.log())
    streams = [Stream(near, far, rate=1000, flows=16),
               Stream(far, near, to="10.0.0.1", rate=1000, flows=16)]
    for date in ("later", "earlier"):
        with near.refusing(date):
            near.wait_looked(3.5)  # longer than the timeout of LACP, and than bondd may be silent
            assert "does not answer" not in near.ctl("show")
            assert distributing(near) == distributing(far) == pair.links
    for stream in streams:
        stream.finish_unharmed()
    assert not near.log()[told:]
    with near.refusing("earlier"):
        near.ctl("set", "bond0", "miimon", 50)
    times = [event["time_us"] for event in map(json.loads, near.ctl(
        "-j", "monitor", "--since", "2001-01-01", "--no-follow").splitlines())]
    assert times[-1] < times[0] - 9 * YEAR * 1e6, "the date has not been set"


# Partners


def test_link_moved_to_another_partner(made, lab):
    pair = made(links=3)
    third = lab.host("c")
    third.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "fast")
    third.ip("link", "set", "bond0", "up")
    stream = Stream(pair.near, pair.far, rate=1000, flows=64)
    stream.flow_on(500)
    system = pair.far.show()["lacp"]["actor_system"]
    slot = ports(pair.near)["l2"]["port_number"] - 1
    pair.far.ctl("del-slave", "bond0", "l2")
    pair.far.ip("link", "set", "l2", "netns", third.name)
    third.ctl("add-slave", "bond0", "l2")

    def mixed():
        port = ports(pair.near)["l2"]
        return port["partner_system"] == third.show()["mac"] and (
            slot in tx_slots(pair.near) or "distributing" in port["actor_state"])

    def known():
        assert not mixed()
        return "connected to another switch" in why(pair.near, "l2")
    wait_for(known, "the other partner to be named")
    for _ in moments(2, 0.05):
        assert not mixed()
        assert pair.near.show()["lacp"]["partner_system"] == system
    assert distributing(pair.near) == ["l0", "l1"]
    assert distributing(third) == []
    assert third.show()["rx_packets"] == 0
    result = stream.finish()
    assert result["lost"] <= 20 and result["duplicates"] == 0, result
    third.ctl("del-slave", "bond0", "l2")
    third.ip("link", "set", "l2", "netns", pair.far.name)
    pair.far.ctl("add-slave", "bond0", "l2")
    wait_distributing(pair.near, pair.far, links=pair.links)


def test_loop_is_found_and_named(lab):
    host = lab.host("a")
    host.ip("link", "add", "p0", "type", "veth", "peer", "name", "p1")
    host.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "fast", "lacp_fallback", "all",
             "lacp_fallback_delay", "500")
    host.ctl("add-slave", "bond0", "p0", "p1")
    host.ip("link", "set", "bond0", "up")
    wait_for(lambda: "looped: connected to p1 of this bond" in why(host, "p0") and
             "looped: connected to p0 of this bond" in why(host, "p1"), "the loop to be named")
    assert "receives the LACPDUs of our own port" in host.log()
    for _ in moments(1):  # twice what fallback waits for
        assert not host.show()["carrier"] and not tx_slots(host)


# Which ports carry


def test_standby_takes_over(made):
    pair = made(wait=False, max_links=2, ad_actor_sys_prio=100,
                far={"max_links": 0, "ad_actor_sys_prio": 200})
    wait_distributing(pair.near, pair.far, links=["l0", "l1"])
    assert ports(pair.near)["l2"]["selected"] == "standby"
    assert why(pair.near, "l2") == "standby: max_links 2, lower priority than l1"
    stream = Stream(pair.near, pair.far, rate=1000, flows=16)
    stream.flow_on(300)
    pair.far.ip("link", "set", "l0", "down")
    wait_distributing(pair.near, links=["l1", "l2"])
    stream.flow_on(300)
    pair.far.ip("link", "set", "l0", "up")
    wait_distributing(pair.near, pair.far, links=["l0", "l1"])
    result = stream.finish()
    assert result["lost"] <= 100 and result["duplicates"] == 0, result
    pair.near.ctl("set-slave", "bond0", "l3", "actor_port_prio", 1)
    wait_distributing(pair.near, pair.far, links=["l0", "l3"])
    assert ports(pair.near)["l3"]["port_prio"] == 1
    pair.near.ctl("set", "bond0", "max_links", 0)
    wait_distributing(pair.near, pair.far, links=pair.links)
    pair.near.ctl("set", "bond0", "max_links", 1)
    wait_distributing(pair.near, pair.far, links=["l3"])


def test_the_better_system_chooses_the_standby_ports(made):
    pair = made(links=3, wait=False, max_links=1, ad_actor_sys_prio=500,
                far={"ad_actor_sys_prio": 10})
    wait_distributing(pair.near, pair.far, links=["l0"])
    pair.near.ctl("set-slave", "bond0", "l1", "actor_port_prio", 1)
    pair.far.ctl("set-slave", "bond0", "l2", "actor_port_prio", 1)
    wait_distributing(pair.near, pair.far, links=["l2"])


def test_min_links(made):
    pair = made(links=3, min_links=2, far={"min_links": 0})
    pair.far.ip("link", "set", "l0", "down")
    wait_distributing(pair.near, links=["l1", "l2"])
    assert pair.near.show()["carrier"]
    pair.far.ip("link", "set", "l1", "down")
    wait_for(lambda: not pair.near.show()["carrier"], "the carrier to go")
    pair.near.ctl("set", "bond0", "min_links", 1)
    wait_for(lambda: pair.near.show()["carrier"], "the carrier to be back")


def test_fallback(lone):
    host = lone(links=3)
    host.make_bond(host.links, "mode", "802.3ad", "lacp_fallback", "none", "lacp_fallback_delay",
                   600)
    for _ in moments(1.2):  # twice what fallback would wait for
        assert not tx_slots(host) and not host.show()["carrier"]
    host.ctl("set", "bond0", "lacp_fallback", "one")
    wait_for(lambda: tx_slots(host) == {0} and host.show()["carrier"], "one port to carry")
    assert "carries traffic without a partner (lacp_fallback)" in why(host, "l0")
    host.ctl("set-slave", "bond0", "l2", "actor_port_prio", 1)
    wait_for(lambda: tx_slots(host) == {2}, "the port of the best priority to carry")
    host.ctl("set", "bond0", "lacp_fallback", "all")
    wait_for(lambda: tx_slots(host) == {0, 1, 2}, "all ports to carry")
    host.ctl("set", "bond0", "lacp_strict", "on")
    wait_for(lambda: not tx_slots(host) and not host.show()["carrier"], "lacp_strict to end it")


def test_fallback_ends_with_the_partner(made, lab):
    pair = made(links=2, lacp_fallback_delay=300)
    pair.far.ctl("del-slave", "bond0", "l0", "l1")
    for dev in pair.links:
        pair.far.ip("link", "set", dev, "up")
    wait_for(lambda: tx_slots(pair.near) == {0}, "fallback")
    pair.far.ctl("add-slave", "bond0", "l1")
    wait_for(lambda: tx_slots(pair.near) == {1}, "the port with a partner to carry alone")


# Changes while running


def test_options_that_disturb_nobody(made):
    pair = made(links=2)
    stream = Stream(pair.near, pair.far, rate=1000, flows=16)
    for option, value in (("lacp_rate", "slow"), ("lacp_rate", "fast"), ("lacp_active", "off"),
                          ("lacp_active", "on"), ("lacp_hold", "off"), ("lacp_hold", "on"),
                          ("ad_select", "bandwidth"), ("lacp_tx", "balance-rr"),
                          ("lacp_tx", "hash"), ("coupled_control", "off"),
                          ("coupled_control", "on"), ("lacp_fallback", "none"), ("max_links", 2),
                          ("broadcast_neighbor", "on")):
        pair.near.ctl("set", "bond0", option, value)
        stream.flow_on(250)
        assert distributing(pair.near) == pair.links, (option, value)
        assert distributing(pair.far) == pair.links, (option, value)
    stream.finish_unharmed()
    since_agreed = pair.near.events().split("LACP mux collecting_distributing", 2)[2]
    assert "LACP receive expired" not in since_agreed


def test_rate_comes_back_to_slow(made):
    pair = made(links=2, lacp_rate="slow")
    assert pair.near.show()["lacp"]["rate_effective"] == "slow"
    pair.near.ctl("set", "bond0", "lacp_rate", "fast")
    wait_for(lambda: pair.far.show()["lacp"]["rate_effective"] == "fast",
             "hold to ask for the partner's rate")
    assert pair.far.show()["lacp"]["rate"] == "slow"
    pair.near.ctl("set", "bond0", "lacp_rate", "slow")
    wait_for(lambda: {host.show()["lacp"]["rate_effective"] for host in (pair.near, pair.far)} ==
             {"slow"}, "both to be slow again")
    assert distributing(pair.near) == distributing(pair.far) == pair.links


@pytest.mark.parametrize("option, value, shown",
                         [("ad_actor_system", "02:00:00:00:00:33", "partner_system"),
                          ("ad_actor_sys_prio", 77, "partner_sys_prio"),
                          ("ad_user_port_key", 5, "partner_key")])
def test_options_that_make_another_lag(made, option, value, shown):
    pair = made(links=2)
    pair.near.ctl("set", "bond0", option, value)
    expected = value if option != "ad_user_port_key" else pair.near.show()["lacp"]["actor_key"]
    wait_for(lambda: pair.far.show()["lacp"][shown] == expected, "the partner to see it")
    wait_distributing(pair.near, pair.far, links=pair.links)
    pair.near.wait_ping("10.0.0.2")


def test_slaves_leave_and_return_under_traffic(made):
    """The partner is told: its own timeout is 90 seconds."""
    pair = made(links=3, lacp_rate="slow")
    stream = Stream(pair.near, pair.far, rate=1000, flows=32)
    back = Stream(pair.far, pair.near, to="10.0.0.1", rate=1000, flows=32)
    for dev in ("l0", "l1"):
        stream.flow_on(200)
        pair.near.ctl("del-slave", "bond0", dev)
        pair.near.ip("link", "set", dev, "up")
        rest = [name for name in pair.links if name != dev]
        wait_distributing(pair.far, links=rest)
        stream.flow_on(200)
        pair.near.ctl("add-slave", "bond0", dev)
        wait_distributing(pair.near, pair.far, links=pair.links)
    stream.flow_on(200)
    stream.finish_unharmed()
    here = back.finish()
    # what the far end sent before it was told
    assert here["lost"] <= 100 and here["duplicates"] == 0, here


def test_mode_change_with_slaves_in_place(made):
    pair = made(links=2)
    hosts = (pair.near, pair.far)
    for _ in range(2):
        for host in hosts:
            host.ctl("set", "bond0", "mode", "balance-xor")
        for host in hosts:
            wait_for(lambda host=host: tx_slots(host) == {0, 1}, "balance-xor to use both")
        pair.near.wait_ping("10.0.0.2")
        for host in hosts:
            host.ctl("set", "bond0", "mode", "802.3ad")
        wait_distributing(*hosts, links=pair.links)
        pair.near.wait_ping("10.0.0.2")


def test_slow_protocols_have_no_vlan_0_trouble(made):
    """A PDU in a VLAN 0 tag is a PDU."""
    pair = made(links=2)
    with Capture(pair.near, "l0") as capture:
        pdu = wait_for(lambda: [frame for frame in capture.frames(0.1) if is_slow(frame)],
                       "an LACPDU", 3)[0].data
    before = ports(pair.near)["l0"]
    send_slowly(pair.far, "l0", [pdu[:12] + b"\x81\x00\x00\x00" + pdu[12:]] * 3)
    after = ports(pair.near)["l0"]
    assert after["lacpdu_rx"] >= before["lacpdu_rx"] + 3 and \
        after["illegal_rx"] == before["illegal_rx"]


@pytest.mark.soak
def test_soak_hold_at_both_ends_in_turn(made):
    """Ten times: one end away for a minute, then the other."""
    pair = made(links=4)
    stream = Stream(pair.near, pair.far, rate=1000, flows=16)
    for _ in range(5):
        for host in (pair.near, pair.far):
            host.freeze_bondd()
            quiet_for(60, "bondd stands still, the programs answer")
            host.thaw_bondd()
            for _ in moments(2):
                assert distributing(pair.near) == distributing(pair.far) == pair.links
    stream.finish_unharmed()
