"""802.3ad with Open vSwitch as partner: negotiation and what each side says of the other,
traffic, a partner that is cut off, falls silent or starts again, and LACP hold.
"""
import time

import pytest

from lab import wait_for
from lacp import distributing, ports, tx_slots, wait_distributing
from ovs import Ovs
from traffic import Iperf, Stream, Tally

FLAGS = {"synchronized": "synchronization"}


@pytest.fixture
def switch(lab):
    """make(links=4, mode, lacp, OPTION=VALUE...): a host with bond0 and Open vSwitch, negotiated, with addresses."""

    def make(links=4, mode="balance-tcp", lacp="active", rate="fast", **options):
        near, far = lab.host("a"), lab.namespace("b")
        near.links = lab.links(near, far, links)
        near.ovs = Ovs(far)
        lab.partners.append(near.ovs)
        for name in near.links:
            far.ip("link", "set", name, "up")
        near.ovs.add_bond(near.links, mode=mode, lacp=lacp, rate=rate)
        settings = {"lacp_rate": rate, "xmit_hash_policy": "layer3+4", **options}
        near.ctl("create", "bond0", "mode", "802.3ad", *[word for pair in settings.items() for word in pair])
        near.ctl("add-slave", "bond0", *near.links)
        # Open vSwitch takes frames as they come: whole, and with their checksums.
        near.run("ethtool", "-K", "bond0", "tx", "off", "tso", "off", "gso", "off")
        near.ip("link", "set", "bond0", "up")
        near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
        far.ip("link", "set", "br0", "up")
        far.ip("addr", "add", "10.0.0.2/24", "dev", "br0")
        wait_distributing(near, links=near.links, deadline=10 if rate == "fast" else 70)
        near.wait_ping("10.0.0.2")
        near.far = far
        return near
    return make


def ovs_end(member, side):
    """One side of a member of lacp/show."""
    return {"system": member[f"{side} sys_id"], "system_priority": int(member[f"{side} sys_priority"]),
            "port": int(member[f"{side} port_id"]), "port_priority": int(member[f"{side} port_priority"]),
            "key": int(member[f"{side} key"]),
            "state": sorted(FLAGS.get(flag, flag) for flag in member[f"{side} state"].split())}


def our_view(host):
    """{link: (partner, actor)} in the words of ovs_end(), from bondctl -j show."""
    show, view = host.show(), {}
    for slave in show["slaves"]:
        lacp = slave["lacp"]
        partner = {"system": lacp["partner_system"], "system_priority": show["lacp"]["partner_sys_prio"],
                   "port": lacp["partner_port"], "key": lacp["partner_key"], "state": sorted(lacp["partner_state"])}
        actor = {"system": show["lacp"]["actor_system"], "system_priority": show["lacp"]["actor_sys_prio"],
                 "port": lacp["port_number"], "port_priority": lacp["port_prio"], "key": show["lacp"]["actor_key"],
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


def wait_agreed(host, links, deadline=8):
    """Until all of them distribute at both ends, and both ends say the same of each other."""
    wait_distributing(host, links=links, deadline=deadline)
    wait_for(lambda: all(host.ovs.lacp()["members"][name]["status"] == ["current", "attached"] for name in links),
             "Open vSwitch to have its members attached", deadline)
    wait_for(lambda: our_view(host) == their_view(host.ovs), "both views to be the same", deadline)


@pytest.mark.parametrize("mode, lacp, active", [("balance-tcp", "active", "on"), ("balance-tcp", "passive", "on"),
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
    result = Stream(near, near.far, count=1000, rate=2000, flows=16).finish()
    assert (result["lost"], result["duplicates"]) == (0, 0), result


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
    # What was under way on one link of four, and what the switch had queued. Open vSwitch drops what comes on the
    # link until it has heard us again, though it says that it is in sync: a second of that would be 250.
    assert result["lost"] <= 30, result


def test_silent_partner(switch):
    near = switch(links=2, lacp_fallback="none")
    near.ovs.freeze()
    began = time.monotonic()
    wait_for(lambda: not distributing(near), "the ports to expire", 6)
    took = time.monotonic() - began
    assert took > 1.5, "long before three times its rate"
    assert took < 4.5, f"{took} s is more than three times its rate"
    assert {port["rx_state"] for port in ports(near).values()} == {"expired"}
    assert all(port["why"].startswith("no LACPDU for ") for port in ports(near).values())
    wait_for(lambda: {port["rx_state"] for port in ports(near).values()} == {"defaulted"}, "defaulted", 5)
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


def hold_while_stopped(near, seconds):
    """Stops bondd so long under 1,000 packets/s; returns what the stream counted. All of it must have reached the
    switch's ends of the links: what the switch itself loses is not ours."""
    before = their_view(near.ovs)
    tally = Tally(near.far, near.links)
    stream = Stream(near, near.far, rate=1000, flows=16)
    stream.flow_on(1000)
    near.freeze_bondd()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert their_view(near.ovs) == before
        assert near.ovs.enabled() == near.links
        time.sleep(0.1)
    near.thaw_bondd()
    until = time.monotonic() + 2  # the first PDUs after it
    while time.monotonic() < until:
        assert their_view(near.ovs) == before
        assert distributing(near) == near.links
        time.sleep(0.1)
    result = stream.finish()
    assert tally.finish() == result["sent"]
    return result


def test_hold_bondd_stopped(switch):
    near = switch()
    wait_agreed(near, near.links)
    quiet = Stream(near, near.far, count=4000, rate=1000, flows=16).finish()
    told = len(near.log())
    result = hold_while_stopped(near, 12)
    assert result["sent"] > 12000
    assert result["lost"] <= quiet["lost"] and result["duplicates"] == 0, (quiet, result)
    assert "LACP" not in near.log()[told:]


def test_hold_bondd_killed_and_restarted(switch):
    near = switch()
    wait_agreed(near, near.links)
    before = their_view(near.ovs)
    stream = Stream(near, near.far, rate=1000, flows=16)
    stream.flow_on(500)
    near.kill_bondd()
    until = time.monotonic() + 5
    while time.monotonic() < until:
        assert their_view(near.ovs) == before
        time.sleep(0.1)
    near.start_bondd()
    until = time.monotonic() + 3
    while time.monotonic() < until:
        assert their_view(near.ovs) == before
        time.sleep(0.1)
    assert distributing(near) == near.links
    result = stream.finish()
    assert (result["lost"], result["duplicates"]) == (0, 0), result


def test_partner_disappears_while_bondd_is_stopped(switch):
    near = switch()
    wait_agreed(near, near.links)
    slot = ports(near)["l1"]["port_number"] - 1
    near.freeze_bondd()
    time.sleep(1.5)  # so that it is hold that keeps the ports, not the last PDU that bondd heard
    assert len(tx_slots(near)) == 4
    near.ovs.vsctl("del-bond-iface", "bond0", "l1")  # the link stays up
    wait_for(lambda: slot not in tx_slots(near), "the silent link to be left", 4.0)
    assert len(tx_slots(near)) == 3
    assert Stream(near, near.far, count=500, rate=1000, flows=16).finish()["lost"] == 0
    near.ovs.freeze()
    wait_for(lambda: not tx_slots(near), "all links to be left", 4.0)
    near.ovs.thaw()
    near.ovs.vsctl("add-bond-iface", "bond0", "l1")
    near.thaw_bondd()
    wait_agreed(near, near.links, deadline=12)
    near.wait_ping("10.0.0.2")


@pytest.mark.soak
def test_soak_hold_ten_times_60_s(switch):
    near = switch()
    wait_agreed(near, near.links)
    for _ in range(10):
        assert hold_while_stopped(near, 60)["duplicates"] == 0


@pytest.mark.soak
@pytest.mark.parametrize("mode, lacp", [("balance-tcp", "active"), ("balance-slb", "passive")])
def test_soak_slow_rate(switch, mode, lacp):
    near = switch(mode=mode, lacp=lacp, rate="slow", lacp_fallback="none")
    wait_agreed(near, near.links, deadline=70)
    assert near.show()["lacp"]["rate_effective"] == "slow"
    before = their_view(near.ovs)
    near.freeze_bondd()
    until = time.monotonic() + 200
    while time.monotonic() < until:
        assert their_view(near.ovs) == before
        time.sleep(1)
    near.thaw_bondd()
    time.sleep(5)
    assert their_view(near.ovs) == before and distributing(near) == near.links
    near.ovs.freeze()
    began = time.monotonic()
    wait_for(lambda: not distributing(near), "the ports to expire", 100, interval=0.5)
    assert time.monotonic() - began > 55
    near.ovs.thaw()
    wait_agreed(near, near.links, deadline=70)
