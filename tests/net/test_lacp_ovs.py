"""802.3ad with Open vSwitch as partner: negotiation and what each side says of the other,
traffic, a partner that is cut off, falls silent or starts again, LACP hold, and what others
send beside it.
"""
import time

import pytest

from junk import BROADCAST, OAM, Calm, Floods, forged, other
from lacp import (ACTIVITY, AGGREGATION, TIMEOUT, all_counters, answers, distributing, lacpdu,
                  pdu_info, ports, tx_slots, wait_answers, wait_away, wait_distributing, wait_told)
from ovs import Ovs
from traffic import Iperf, Stream, Tally, send_frames
from waiting import moments, wait_for
from xsk_echo import Echo

NEW_MAC, REFUSING = "02:00:00:00:00:77", "02:00:00:00:00:88"
FLAGS = {"synchronized": "synchronization"}
SHORT_AND_A_MINUTE = pytest.mark.parametrize("seconds",
                                             [5, pytest.param(60, marks=pytest.mark.soak)])
SHORT_AND_LONG = pytest.mark.parametrize("seconds", [5, pytest.param(25, marks=pytest.mark.soak)])


def leave_nothing_to_the_device(host):
    """Open vSwitch takes frames as they come: whole, and with their checksums."""
    host.run("ethtool", "-K", "bond0", "tx", "off", "tso", "off", "gso", "off")


@pytest.fixture
def switch(lab):
    """make(links=4, mode, lacp, OPTION=VALUE...): a host with bond0 and Open vSwitch, negotiated,
    with addresses. individual: Open vSwitch has the first link only, as a port of its own that
    speaks LACP.
    """

    def make(links=4, mode="balance-tcp", lacp="active", rate="fast", individual=False, **options):
        near, far = lab.host("a"), lab.namespace("b")
        near.links = lab.links(near, far, links)
        near.ovs = Ovs(far)
        lab.partners.append(near.ovs)
        for name in near.links:
            far.ip("link", "set", name, "up")
        if individual:
            near.ovs.add_individual(near.links[0], rate)
        else:
            near.ovs.add_bond(near.links, mode=mode, lacp=lacp, rate=rate)
        settings = {"lacp_rate": rate, "xmit_hash_policy": "layer3+4", **options}
        near.ctl("create", "bond0", "mode", "802.3ad",
                 *[word for pair in settings.items() for word in pair])
        near.ctl("add-slave", "bond0", *near.links)
        leave_nothing_to_the_device(near)
        near.ip("link", "set", "bond0", "up")
        near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
        far.ip("link", "set", "br0", "up")
        far.ip("addr", "add", "10.0.0.2/24", "dev", "br0")
        wait_distributing(near, links=near.links[:1] if individual else near.links,
                          deadline=10 if rate == "fast" else 70)
        near.wait_ping("10.0.0.2")
        near.far = far
        return near
    return make


def ovs_end(member, side):
    """One side of a member of lacp/show."""
    return {"system": member[f"{side} sys_id"],
            "system_priority": int(member[f"{side} sys_priority"]),
            "port": int(member[f"{side} port_id"]),
            "port_priority": int(member[f"{side} port_priority"]),
            "key": int(member[f"{side} key"]),
            "state": sorted(FLAGS.get(flag, flag) for flag in member[f"{side} state"].split())}


def our_view(host):
    """{link: (partner, actor)} in the words of ovs_end(), from bondctl -j show."""
    show, view = host.show(), {}
    for slave in show["slaves"]:
        lacp = slave["lacp"]
        partner = {"system": lacp["partner_system"],
                   "system_priority": show["lacp"]["partner_sys_prio"],
                   "port": lacp["partner_port"], "key": lacp["partner_key"],
                   "state": sorted(lacp["partner_state"])}
        actor = {"system": show["lacp"]["actor_system"],
                 "system_priority": show["lacp"]["actor_sys_prio"], "port": lacp["port_number"],
                 "port_priority": lacp["port_prio"], "key": show["lacp"]["actor_key"],
                 "state": sorted(lacp["actor_state"])}
        view[slave["name"]] = (partner, actor)
    return view


def their_view(ovs):
    view = {}
    for name, member in ovs.lacp()["members"].items():
        partner = ovs_end(member, "actor")
        del partner["port_priority"]  # bondctl does not tell the partner's
        view[name] = (partner, ovs_end(member, "partner"))
    return view


def wait_agreed(host, links, deadline=10):
    """Until all of them distribute at both ends, and both ends say the same of each other."""
    wait_distributing(host, links=links, deadline=deadline)
    wait_for(lambda: all(host.ovs.lacp()["members"][name]["status"] == ["current", "attached"]
                         for name in links), "Open vSwitch to have its members attached", deadline)
    wait_for(lambda: our_view(host) == their_view(host.ovs), "both views to be the same", deadline)


@pytest.mark.parametrize("mode, lacp, active",
                         [("balance-tcp", "active", "on"), ("balance-tcp", "passive", "on"),
                          ("balance-slb", "active", "off")])
def test_negotiates(switch, mode, lacp, active):
    near = switch(mode=mode, lacp=lacp, lacp_active=active)
    wait_agreed(near, near.links)
    status = near.ovs.lacp()["status"].split()
    assert status == [lacp, "negotiated"]
    shown = near.show()["lacp"]
    assert (shown["num_ports"], shown["rate"], shown["rate_effective"]) == (4, "fast", "fast")
    assert {port["why"] for port in ports(near).values()} == {"collecting and distributing"}
    wait_for(lambda: near.ovs.enabled() == near.links, "Open vSwitch to use its members")
    iperf = Iperf(near.far)
    for words in ((), ("-R",)):
        done = iperf.run(near, "10.0.0.2", "-t", "1", "-P", "4", *words)
        assert done["end"]["sum_received"]["bytes"] > 1 << 20
    iperf.close()
    Counted(near, rate=2000, count=1000).finish()


def test_cut_and_back(switch):
    near = switch()
    stream = Stream(near, near.far, rate=1000, flows=16)
    stream.flow_on(500)
    near.far.ip("link", "set", "l1", "down")
    rest = [name for name in near.links if name != "l1"]
    wait_distributing(near, links=rest)
    assert ports(near)["l1"]["why"] == "link down"
    stream.flow_on(500)
    near.far.ip("link", "set", "l1", "up")
    wait_agreed(near, near.links)
    wait_for(lambda: near.ovs.enabled() == near.links, "Open vSwitch to use l1")
    stream.flow_on(1500)
    result = stream.finish()
    assert result["duplicates"] == 0, result
    # What was under way on one link of four, and what the switch had queued. Open vSwitch drops
    # what comes on the link until it has heard us again, though it says that it is in sync: a
    # second of that would be 250.
    assert result["lost"] <= 30, result


def test_a_conversion(switch, monkeypatch):
    """bond0 becomes another device (XBOND_TEST_CONVERT: of the same kind). Open vSwitch sees the
    same system with the same ports.
    """
    monkeypatch.setenv("XBOND_TEST_CONVERT", "1")
    near = switch()
    wait_agreed(near, near.links)
    before, ifindex = their_view(near.ovs), near.link("bond0")["ifindex"]
    streams = [Stream(near, near.far, rate=1000, flows=16),
               Stream(near.far, near, to="10.0.0.1", rate=1000, flows=16, port=9001)]
    near.ctl("set", "bond0", "device", near.show()["device"])
    assert near.link("bond0")["ifindex"] != ifindex
    leave_nothing_to_the_device(near)
    wait_agreed(near, near.links)
    assert their_view(near.ovs) == before
    for stream in streams:
        stream.flow_on(500)
        stream.finish()


def test_silent_partner(switch):
    near = switch(links=2, lacp_fallback="none")
    near.ovs.freeze()
    began = time.monotonic()
    wait_for(lambda: not distributing(near), "the ports to expire")
    took = time.monotonic() - began
    assert took > 1.5, "long before three times its rate"
    assert took < 4.5, f"{took} s is more than three times its rate"
    assert {port["rx_state"] for port in ports(near).values()} == {"expired"}
    assert all(port["why"].startswith("no LACPDU for ") for port in ports(near).values())
    wait_for(lambda: {port["rx_state"] for port in ports(near).values()} == {"defaulted"},
             "defaulted")
    assert not near.show()["carrier"]
    near.ovs.thaw()
    wait_agreed(near, near.links)
    near.wait_ping("10.0.0.2")


def test_partner_restarts(switch):
    near = switch(links=2)
    near.ovs.stop()
    near.ovs.start()
    near.far.ip("link", "set", "br0", "up")
    near.far.ip("addr", "replace", "10.0.0.2/24", "dev", "br0")
    wait_agreed(near, near.links, deadline=12)
    near.wait_ping("10.0.0.2")


class Counted:
    """A Stream of which everything must reach the switch's ends of the links, once. What the switch
    itself loses is not ours: a few packets now and then on a busy machine, and what queues in it
    when it does not run for a while.
    """

    def __init__(self, near, rate=500, count=0):
        self.tally = Tally(near.far, near.links)
        self.stream = Stream(near, near.far, rate=rate, flows=16, count=count)

    def finish(self):
        result = self.stream.finish()
        print(result)
        assert (self.tally.finish(), result["duplicates"]) == (result["sent"], 0), result
        return result


def hold_while_stopped(near, seconds):
    """Stops bondd so long under 1,000 packets/s; returns what the stream counted."""
    before = their_view(near.ovs)
    counted = Counted(near, rate=1000)
    counted.stream.flow_on(1000)
    near.freeze_bondd()
    for _ in moments(seconds):
        assert their_view(near.ovs) == before
        assert near.ovs.enabled() == near.links
    near.thaw_bondd()
    for _ in moments(2):  # the first PDUs after it
        assert their_view(near.ovs) == before
        assert distributing(near) == near.links
    return counted.finish()


def test_hold_bondd_stopped(switch):
    near = switch()
    wait_agreed(near, near.links)
    wait_told(near, near.links)
    told = len(near.log())
    assert hold_while_stopped(near, 12)["sent"] > 1000
    assert "LACP" not in near.log()[told:]


def test_hold_bondd_killed_and_restarted(switch):
    near = switch()
    wait_agreed(near, near.links)
    before = their_view(near.ovs)
    counted = Counted(near, rate=1000)
    counted.stream.flow_on(500)
    near.kill_bondd()
    for _ in moments(5):
        assert their_view(near.ovs) == before
    near.start_bondd()
    for _ in moments(3):
        assert their_view(near.ovs) == before
    assert distributing(near) == near.links
    counted.finish()


def test_partner_disappears_while_bondd_is_stopped(switch):
    near = switch()
    wait_agreed(near, near.links)
    slot = ports(near)["l1"]["port_number"] - 1
    before = answers(near, near.links)
    near.freeze_bondd()
    # Then it is hold that keeps the ports, not the last LACPDU that bondd heard.
    wait_answers(near, near.links, before)
    assert len(tx_slots(near)) == 4
    near.ovs.vsctl("del-bond-iface", "bond0", "l1")  # the link stays up
    wait_for(lambda: slot not in tx_slots(near), "the silent link to be left")
    assert len(tx_slots(near)) == 3
    Counted(near, rate=1000, count=500).finish()
    near.ovs.freeze()
    wait_for(lambda: not tx_slots(near), "all links to be left")
    near.ovs.thaw()
    near.ovs.vsctl("add-bond-iface", "bond0", "l1")
    near.thaw_bondd()
    wait_agreed(near, near.links, deadline=12)
    near.wait_ping("10.0.0.2")


# What others send beside it. The switch's end of a link is where it comes from, beside the switch's
# own frames.


def said_and_heard(near):
    """{link: (LACPDUs that Open vSwitch says it sent, those that the port here counts)}, each of a
    moment without any.
    """
    found = {}
    while len(found) < len(near.links):
        said, counts, again = near.ovs.lacpdus_sent(), all_counters(near), near.ovs.lacpdus_sent()
        found |= {dev: (said[dev], counts[dev]["lacpdu_rx"]) for dev in near.links
                  if said[dev] == again[dev]}
    return found


def none_lost(near, before):
    return all(said - before[dev][0] == heard - before[dev][1]
               for dev, (said, heard) in said_and_heard(near).items())


def calm_beside(near, seconds, disturb):
    """Calls disturb(number) ten times a second; neither end notices, and all LACPDUs and all
    traffic arrive.
    """
    calm, view, before = Calm(near, near.links), their_view(near.ovs), said_and_heard(near)
    stream = Counted(near)
    number = 0
    for number in moments(seconds):
        disturb(number)
        calm.check()
        assert their_view(near.ovs) == view
        assert near.ovs.enabled() == near.links
    stream.finish()
    wait_for(lambda: none_lost(near, before), "all LACPDUs that were sent to be heard")
    heard = [now - before[dev][1] for dev, (_, now) in said_and_heard(near).items()]
    assert min(heard) >= seconds - 2, heard
    calm.finish()
    print(f"{seconds} s: {number + 1} rounds, LACPDUs heard {heard}")


@SHORT_AND_LONG
@pytest.mark.parametrize("address", ["unicast", pytest.param(BROADCAST, marks=pytest.mark.soak)])
def test_forged_lacpdus_beside(switch, address, seconds):
    """1,000 a second on every link."""
    near = switch()
    wait_agreed(near, near.links)
    received = near.received("bond0")["packets"]
    floods = Floods(near.far, {dev: forged(near, dev, address) for dev in near.links}, seconds)
    calm_beside(near, seconds, lambda _: None)
    wait_for(lambda: not floods.running(), "the floods to end")
    sent = floods.sent()
    wait_for(lambda: near.received("bond0")["packets"] - received >= sent,
             f"{sent} frames on bond0")
    print(f"forged: {sent}")
    assert sent > 100 * len(near.links) * seconds


@SHORT_AND_LONG
def test_oam_beside(switch, seconds):
    """10 a second on every link."""
    near = switch()
    wait_agreed(near, near.links)

    def oam(number):
        for dev in near.links:
            send_frames(near.far, dev, [other(OAM, number)])
    calm_beside(near, seconds, oam)


@pytest.mark.parametrize("seconds", [5, pytest.param(10, marks=pytest.mark.soak)])
def test_forged_lacpdus_while_bondd_is_dead(switch, seconds):
    """One on every link."""
    near = switch()
    wait_agreed(near, near.links)
    view, frames = their_view(near.ovs), {dev: forged(near, dev) for dev in near.links}
    stream = Counted(near)
    before = answers(near, near.links)
    near.kill_bondd()
    wait_answers(near, near.links, before)
    for dev in near.links:
        send_frames(near.far, dev, [frames[dev]])
    for _ in moments(seconds):
        assert their_view(near.ovs) == view
        assert near.ovs.enabled() == near.links and len(tx_slots(near)) == len(near.links)
    near.start_bondd()
    for _ in moments(2):
        assert their_view(near.ovs) == view and distributing(near) == near.links
    assert "adopted" in near.events() and "LACP mux" not in near.events()
    stream.finish()


# What either end changes


def wait_rate(near, rate):
    def said():
        states = [member["actor state"].split() for member in near.ovs.lacp()["members"].values()]
        return all(("timeout" in state) == (rate == "fast") for state in states)
    wait_for(said, f"Open vSwitch to be at the {rate} rate")


def rate_changed_while_dead(near, then, seconds, check):
    """Kills bondd, changes Open vSwitch's rate, calls check() for so many seconds and then until
    bondd is back for 4 s.
    """
    wait_agreed(near, near.links, deadline=70)
    near.kill_bondd()
    wait_away(near)
    near.ovs.vsctl("set", "port", "bond0", f"other_config:lacp-time={then}")
    wait_rate(near, then)
    for _ in moments(seconds):
        assert len(tx_slots(near)) == len(near.links)
        check()
    near.start_bondd()
    for _ in moments(4):
        assert distributing(near) == near.links
        check()
    assert "adopted" in near.events() and "LACP mux" not in near.events()


@pytest.mark.parametrize("ours, theirs, then, seconds", [
    ("fast", "fast", "slow", 6),
    pytest.param("fast", "slow", "fast", 6, marks=pytest.mark.soak),
    pytest.param("slow", "fast", "slow", 6, marks=pytest.mark.soak),
    pytest.param("fast", "fast", "slow", 100, marks=pytest.mark.soak),
    pytest.param("slow", "fast", "slow", 100, marks=pytest.mark.soak)])
def test_partner_changes_its_rate_while_bondd_is_dead(switch, ours, theirs, then, seconds):
    """No port ends, for longer than the short timeout or than the long one."""
    near = switch(links=2, rate=theirs, lacp_rate=ours)
    stream = Counted(near, rate=200)

    def unharmed():
        assert all(member["status"] == ["current", "attached"]
                   for member in near.ovs.lacp()["members"].values())
        assert near.ovs.enabled() == near.links
    rate_changed_while_dead(near, then, seconds, unharmed)
    stream.finish()


@pytest.mark.parametrize("bondd", ["here", pytest.param("dead", marks=pytest.mark.soak)])
def test_partner_goes_from_the_slow_rate_to_the_fast_one(switch, bondd):
    """Our rate is slow, and lacp_hold on asks for the short timeout in the partner's wake. Open
    vSwitch takes its own short timeout at once, but has its next LACPDU due at the rate that we
    asked for before. While bondd is dead, the programs have nothing to answer, and Open vSwitch
    leaves its members for 4 s: no port ends here. Nor does one when bondd is back, or was there all
    the time.
    """
    near, then = switch(links=2, rate="slow"), "fast"
    wait_agreed(near, near.links, deadline=70)
    told = len(near.events())
    if bondd == "dead":
        rate_changed_while_dead(near, then, 12, lambda: None)
        told = 0
    else:
        near.ovs.vsctl("set", "port", "bond0", f"other_config:lacp-time={then}")
        wait_rate(near, then)
        for _ in moments(6):
            assert "LACP receive expired" not in near.events()[told:]
    print(near.events()[told:])
    assert "LACP receive expired" not in near.events()[told:]


@pytest.mark.parametrize("rate", ["slow", pytest.param("fast", marks=pytest.mark.soak)])
def test_bond_goes_down_and_up(switch, rate):
    near = switch(links=2, rate=rate, lacp_fallback="none")
    wait_agreed(near, near.links, deadline=70)
    for _ in range(2):  # the second time within a second of the last PDUs
        began = time.monotonic()
        near.ip("link", "set", "bond0", "down")
        wait_for(lambda: not near.ovs.enabled(), "Open vSwitch to leave its members")
        left = time.monotonic() - began
        near.ip("link", "set", "bond0", "up")
        began = time.monotonic()
        wait_distributing(near, links=near.links)
        wait_for(lambda: near.ovs.enabled() == near.links, "Open vSwitch to use its members")
        print(f"left after {left:.3f} s, back after {time.monotonic() - began:.3f} s")
    near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("rate", ["slow", pytest.param("fast", marks=pytest.mark.soak)])
def test_new_mac_of_the_bond(switch, rate):
    near = switch(links=2, rate=rate)
    wait_agreed(near, near.links, deadline=70)
    began = time.monotonic()
    near.ip("link", "set", "bond0", "address", NEW_MAC)
    wait_for(lambda: {end["system"] for _, end in their_view(near.ovs).values()} == {NEW_MAC},
             "the new system to be seen")
    seen = time.monotonic() - began
    wait_agreed(near, near.links)
    print(f"seen after {seen:.3f} s, all back after {time.monotonic() - began:.3f} s")
    near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("how", ["ends LACP", pytest.param("stands still", marks=pytest.mark.soak)])
def test_fallback_keeps_the_carrier(switch, how):
    """The default. A switch that ends LACP, but goes on forwarding, gets all traffic."""
    near = switch(links=2, mode="balance-slb")
    wait_agreed(near, near.links)
    changes = near.carrier_changes("bond0")
    stream = Counted(near) if how == "ends LACP" else None
    if stream:
        stream.stream.flow_on(500)
        near.ovs.vsctl("set", "port", "bond0", "lacp=off")
    else:
        near.ovs.freeze()

    def in_fallback():
        return {port["rx_state"] for port in ports(near).values()} == {"defaulted"} and \
            len(tx_slots(near)) == 1
    wait_for(in_fallback, "one port to carry without a partner", 12)
    assert near.show()["carrier"] and near.carrier_changes("bond0") == changes
    if stream:
        stream.stream.flow_on(1000)
        stream.finish()
        near.ovs.vsctl("set", "port", "bond0", "lacp=active")
    else:
        near.ovs.thaw()
    wait_agreed(near, near.links)
    near.wait_ping("10.0.0.2")
    assert near.carrier_changes("bond0") == changes


def refuse(near, devs):
    """A second partner speaks once on each of these links: it would aggregate, but
    is not in sync.
    """
    shown, slaves = near.show()["lacp"], ports(near)
    for number, dev in enumerate(devs, 1):
        us = pdu_info(shown["actor_system"], slaves[dev]["port_number"], key=shown["actor_key"])
        them = pdu_info(REFUSING, number, key=3, state=ACTIVITY | TIMEOUT | AGGREGATION,
                        system_priority=1)
        send_frames(near.far, dev, [lacpdu(them, us, source=REFUSING)])


@pytest.mark.parametrize("ad_select", ["stable", pytest.param("count", marks=pytest.mark.soak),
                                       pytest.param("bandwidth", marks=pytest.mark.soak)])
def test_individual_link_beside_a_partner_that_refuses(switch, ad_select):
    """A single member of Open vSwitch says AGG=0. It works, and stays in use for longer than turns
    would take. Slow: an Open vSwitch that does not run for seconds would let it expire.
    """
    near = switch(links=3, rate="slow", individual=True, ad_select=ad_select)
    assert "aggregation" not in ports(near)["l0"]["partner_state"]
    calm = Calm(near, ["l0"])
    stream = Counted(near)
    for _ in moments(12, 0.5):
        refuse(near, ["l1", "l2"])
        calm.check()
    stream.finish()
    assert {ports(near)[dev]["partner_system"] for dev in ("l1", "l2")} == {REFUSING}


@pytest.mark.soak
def test_soak_hold_ten_times_60_s(switch):
    near = switch()
    wait_agreed(near, near.links)
    for _ in range(10):
        hold_while_stopped(near, 60)


@pytest.mark.soak
@pytest.mark.parametrize("mode, lacp", [("balance-tcp", "active"), ("balance-slb", "passive")])
def test_soak_slow_rate(switch, mode, lacp):
    near = switch(mode=mode, lacp=lacp, rate="slow", lacp_fallback="none")
    wait_agreed(near, near.links, deadline=70)
    assert near.show()["lacp"]["rate_effective"] == "slow"
    before = their_view(near.ovs)
    near.freeze_bondd()
    for _ in moments(200, 1):
        assert their_view(near.ovs) == before
    near.thaw_bondd()
    for _ in moments(5):
        assert their_view(near.ovs) == before and distributing(near) == near.links
    near.ovs.freeze()
    began = time.monotonic()
    wait_for(lambda: not distributing(near), "the ports to expire", 100, interval=0.5)
    assert time.monotonic() - began > 55
    near.ovs.thaw()
    wait_agreed(near, near.links, deadline=70)


@SHORT_AND_A_MINUTE
def test_an_echo_by_af_xdp(switch, seconds):
    """Its filters are before the bond's programs on all slaves, and neither end notices."""
    near = switch(links=2)
    wait_agreed(near, near.links)
    echo = Echo(near, near.far)
    echo.wait_answers()
    wait_agreed(near, near.links)
    log, view = near.log(), their_view(near.ovs)
    for _ in moments(seconds):
        echo.talk(5)
    assert near.log() == log
    assert their_view(near.ovs) == view and near.ovs.enabled() == near.links
    echo.close()
