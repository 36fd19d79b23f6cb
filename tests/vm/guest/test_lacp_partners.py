"""802.3ad with kernel bonding and with team as partners: what both ends say of each other, and
traffic both ways, in quiet, after cuts, silence, flapping, another partner, without bondd,
and beside what others send.
One setting serves all cases of a partner; each case leaves it as it found it.
"""
import contextlib
import time

import pytest

from junk import BROADCAST, OAM, Calm, Floods, forged, other
from lacp import distributing, is_slow, ports, tx_slots
from partners import KernelBond, Team, differences
from traffic import Capture, Stream, send_frames
from waiting import moments, wait_for

PARTNERS = {"bonding": KernelBond, "team": Team}
NEAR = ("mode", "802.3ad", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4", "lacp_fallback",
        "none")
OTHER_MAC = "02:00:00:00:00:55"
SLOW = {"bonding": {"lacp_rate": "slow"}, "team": {"fast_rate": False}}
PASSIVE = {"bonding": {"lacp_active": "off"}, "team": {"active": False}}
PRIORITY = {"bonding": "ad_actor_sys_prio", "team": "sys_prio"}


@pytest.fixture(scope="module", params=PARTNERS)
def kind(request):
    return request.param


def bonded_with(kind, setting):
    """The setting with a partner of this kind."""
    setting.partner = PARTNERS[kind](setting)
    setting.lab.partners.append(setting.partner)
    setting.partner.close = setting.partner.stop
    setting.cables = dict(zip(setting.near.links, setting.far.links))
    setting.partner.start()
    setting.near.ctl("create", "bond0", *NEAR)
    setting.near.ctl("add-slave", "bond0", *setting.near.links)
    setting.address(setting.near, "bond0", 1)
    return setting


@pytest.fixture
def made(keeper, kind):
    setting = keeper.get(kind, lambda setting: bonded_with(kind, setting))
    assert setting.partner.name == kind
    wait_agreed(setting)
    return setting


def wait_carrying(made, links, deadline=12):
    """Until these links (by our names), and no others, distribute at both ends."""
    theirs = sorted(made.cables[link] for link in links)
    wait_for(lambda: distributing(made.near) == links, f"{links} to distribute here", deadline, 0.1)
    wait_for(lambda: made.partner.distributing() == theirs,
             f"{theirs} to distribute at the partner", deadline, 0.1)


def wait_agreed(made, deadline=12):
    wait_carrying(made, made.near.links, deadline)
    last = []

    def agreed():
        last[:] = differences(made.near, made.partner, made.cables)
        return not last
    try:
        wait_for(agreed, "both ends to say the same of each other", deadline, 0.2)
    except AssertionError as error:
        raise AssertionError("; ".join(last)) from error


def check_traffic(made, count=200):
    """Both ways at once, many flows: all of it arrives, once."""
    made.near.wait_ping("10.0.0.2")
    streams = [Stream(made.near, made.far, to="10.0.0.2", count=count, rate=400, flows=16),
               Stream(made.far, made.near, to="10.0.0.1", count=count, rate=400, flows=16,
                      port=9001)]
    for stream in streams:
        wait_for(lambda stream=stream: stream.sender.poll() is not None, "the sender to end", 20)
        stream.finish_unharmed()


@pytest.mark.small("bonding")
@pytest.mark.once("team")
def test_negotiates(made, kind, shows):
    with shows(kind, "802.3ad: system, keys, ports and states agree with `bondctl show`"):
        assert differences(made.near, made.partner, made.cables) == []
        assert len({port["aggregator"] for port in made.partner.view().values()}) == 1
        assert len({port["aggregator_id"] for port in ports(made.near).values()}) == 1
        assert made.near.show()["lacp"]["num_ports"] == 2
        check_traffic(made)


@pytest.mark.once
@pytest.mark.full("team")
@pytest.mark.parametrize("end", ["near", pytest.param("far", marks=pytest.mark.full)])
def test_cut_and_back(made, kind, shows, end):
    with shows(kind, "cut of a link, and return"):
        numbers = (0, 1) if end == "near" else (1, 0)
        for number in numbers:
            made.nics.cable(number, False)
        wait_carrying(made, ["eth2"])
        check_traffic(made)
        for number in numbers:
            made.nics.cable(number, True)
        wait_agreed(made)
        check_traffic(made)


@pytest.mark.once
@pytest.mark.full("team")
def test_silent_partner(made, kind, shows):
    with shows(kind, "silent partner: ports leave, and return"):
        began = time.monotonic()
        made.partner.silence(True)
        wait_for(lambda: not distributing(made.near), "the ports to expire", 8)
        assert time.monotonic() - began > 1.5, "long before three times the rate"
        wait_for(lambda: {port["rx_state"] for port in ports(made.near).values()} == {"defaulted"},
                 "defaulted", 8)
        assert not made.near.show()["carrier"]
        made.partner.silence(False)
        wait_agreed(made)
        check_traffic(made)


@pytest.mark.full
def test_one_silent_link(made, kind, shows):
    with shows(kind, "one silent link: the other carries all"):
        made.partner.silence(True, ["eth1"])
        wait_carrying(made, ["eth2"])
        check_traffic(made)
        made.partner.silence(False, ["eth1"])
        wait_agreed(made)


@pytest.mark.full
def test_flapping(made, kind, shows):
    with shows(kind, "flapping link"):
        for _ in range(5):
            made.nics.cable(1, False)
            wait_for(lambda: "eth0" not in made.near.carrier_slaves() or
                     "eth0" not in distributing(made.near) or
                     "eth1" not in made.partner.distributing(), "the flap to be seen")
            made.nics.cable(1, True)
        wait_agreed(made, 20)
        check_traffic(made)


@pytest.mark.full
def test_replaced_partner(made, kind, shows):
    with shows(kind, "partner replaced by another system"):
        made.partner.start(mac=OTHER_MAC)
        wait_for(lambda: made.near.show()["lacp"]["partner_system"] == OTHER_MAC, "the new partner",
                 12)
        wait_agreed(made)
        made.near.ip("neigh", "flush", "all")  # another host now: team announces nothing
        check_traffic(made)
        made.partner.start()
        wait_for(lambda: made.near.show()["lacp"]["partner_system"] != OTHER_MAC, "the old partner",
                 12)
        wait_agreed(made)
        made.near.ip("neigh", "flush", "all")


def view(made):
    return {link: {key: port[key] for key in ("actor", "partner", "in_use")}
            for link, port in made.partner.view().items()}


def unchanged(made, before, seconds, disturb=lambda number: None):
    """Calls disturb(number) ten times a second; the partner's view stays as it was."""
    for number in moments(seconds):
        disturb(number)
        assert view(made) == before


def both_ways(made):
    return [Stream(made.near, made.far, rate=200, flows=16),
            Stream(made.far, made.near, to="10.0.0.1", rate=200, flows=16, port=9001)]


def all_arrived(streams):
    for stream in streams:
        print(stream.finish_unharmed())


def longest_pause(times):
    return max(later - earlier for earlier, later in zip(times, times[1:]))


@pytest.mark.full("team")
@pytest.mark.parametrize("how", [pytest.param("stopped", marks=pytest.mark.full), "killed"])
def test_hold(made, kind, shows, how):
    """bondd is stopped for more than the partner's timeout, and comes back. Both ends share one
    CPU: where the partner itself says nothing for 3 s, its link has to be out of use.
    """
    with shows(kind, f"LACP hold: bondd {how} for longer than the timeout"), \
            Capture(made.near, "eth0") as wire:
        before, streams = view(made), both_ways(made)
        if how == "stopped":
            made.near.freeze_bondd()
        else:
            made.near.kill_bondd()
        unchanged(made, before, 5)
        if how == "stopped":
            made.near.thaw_bondd()
        else:
            made.near.start_bondd()
        unchanged(made, before, 1.5)
        assert distributing(made.near) == made.near.links
        results = [stream.finish() for stream in streams]
        pause = longest_pause([frame.time for frame in wire.frames() if is_slow(frame)])
        for result in results:
            assert result["lost"] == 0 or pause > 3, (pause, result)
            assert result["duplicates"] == 0 and result["sent"] > 500, result


def rate_asked(made):
    """Whether the partner believes that we ask for the fast rate, and we that it does."""
    show = made.near.show()
    return ("timeout" in next(iter(made.partner.view().values()))["partner"]["state"],
            "timeout" in show["slaves"][0]["lacp"]["partner_state"])


@pytest.mark.full
def test_rates(made, kind, shows):
    with shows(kind, "lacp_rate fast and slow, at either end"):
        made.near.ctl("set", "bond0", "lacp_hold", "off", "lacp_rate", "slow")
        wait_for(lambda: rate_asked(made) == (False, True), "slow to be heard at the partner")
        made.partner.start(**SLOW[kind])
        wait_carrying(made, made.near.links, 20)
        wait_for(lambda: rate_asked(made) == (False, False), "slow at both ends")
        assert made.near.show()["lacp"]["rate_effective"] == "slow"
        check_traffic(made)
        made.near.ctl("set", "bond0", "lacp_rate", "fast", "lacp_hold", "on")
        wait_for(lambda: rate_asked(made) == (True, False), "fast to be heard at the partner")
        check_traffic(made)
        made.partner.start()
        wait_agreed(made)


@pytest.mark.full
def test_passive(made, kind, shows):
    with shows(kind, "lacp_active off, at either end"):
        made.near.ctl("set", "bond0", "lacp_active", "off")
        wait_for(lambda: "activity" not in ports(made.near)["eth0"]["actor_state"],
                 "eth0 to be passive")
        wait_agreed(made)
        check_traffic(made)
        made.near.ctl("set", "bond0", "lacp_active", "on")
        made.partner.start(**PASSIVE[kind])
        wait_agreed(made)
        assert "activity" not in ports(made.near)["eth0"]["partner_state"]
        check_traffic(made)
        made.partner.start()
        wait_agreed(made)


@pytest.mark.full
def test_standby(made, kind, shows):
    with shows(kind, "standby by max_links, and takeover"):
        made.near.ctl("set", "bond0", "max_links", 1, "ad_actor_sys_prio", 100)
        wait_carrying(made, ["eth0"])
        assert ports(made.near)["eth2"]["selected"] == "standby"
        check_traffic(made)
        for number in (0, 1):
            made.nics.cable(number, False)
        wait_carrying(made, ["eth2"])
        check_traffic(made)
        for number in (0, 1):
            made.nics.cable(number, True)
        wait_carrying(made, ["eth0"])
        made.near.ctl("set", "bond0", "max_links", 0, "ad_actor_sys_prio", 65535)
        wait_agreed(made)


@pytest.mark.full
def test_independent_control(made, kind, shows):
    with shows(kind, "coupled_control off here"):
        made.near.ctl("set", "bond0", "coupled_control", "off")
        for number in (0, 1):
            made.nics.cable(number, False)
        wait_carrying(made, ["eth2"])
        for number in (0, 1):
            made.nics.cable(number, True)
        wait_agreed(made)
        assert {port["mux_state"] for port in ports(made.near).values()} == {"distributing"}
        check_traffic(made)
        made.near.ctl("set", "bond0", "coupled_control", "on")


@pytest.mark.full
def test_actor_options(made, kind, shows):
    with shows(kind, "actor system, priority and key, at either end"):
        made.near.ctl("set", "bond0", "ad_user_port_key", 5, "ad_actor_sys_prio", 77,
                      "ad_actor_system", "02:00:00:00:00:33")

        def heard():
            theirs = [port["partner"] for port in made.partner.view().values()]
            return {(port["system"], port["system_priority"], port["key"] >> 6)
                    for port in theirs} == {("02:00:00:00:00:33", 77, 5)}
        wait_for(heard, "the partner to see them")
        wait_agreed(made)
        check_traffic(made)
        made.near.ctl("set", "bond0", "ad_user_port_key", 0, "ad_actor_sys_prio", 65535,
                      "ad_actor_system", "00:00:00:00:00:00")
        made.partner.start(**{PRIORITY[kind]: 1234})
        wait_for(lambda: made.near.show()["lacp"]["partner_sys_prio"] == 1234, "its priority")
        wait_agreed(made)
        check_traffic(made)
        made.partner.start()
        wait_agreed(made)


# What others send beside the partner's LACPDUs: the partner's end of a link is where it comes from.

SHORT_AND_LONG = pytest.mark.parametrize("seconds", [5, 25])


def heard(made):
    pinned = made.near.pinned("lacp")
    return [port["counters"]["lacpdu_rx"]
            for port in pinned["copy"][pinned["current"] & 1]["port"][:2]]


def calm_beside(made, seconds, disturb=lambda number: None):
    """Neither end notices, and all traffic arrives, while disturb(number) is called ten times a
    second.
    """
    calm, before, streams = Calm(made.near, made.near.links), heard(made), both_ways(made)

    def disturbed(number):
        disturb(number)
        calm.check()
    unchanged(made, view(made), seconds, disturbed)
    all_arrived(streams)
    calm.finish()
    after = [now - then for now, then in zip(heard(made), before)]
    print(f"{seconds} s: LACPDUs heard {after}")
    assert min(after) >= seconds - 2, after


@pytest.mark.full
@SHORT_AND_LONG
def test_forged_lacpdus_beside(made, kind, shows, seconds):
    """1,000 a second on every link to our address, as many to the broadcast one."""
    with shows(kind, "forged LACPDUs from anywhere in the network: no port notices"):
        for address in ("unicast", BROADCAST):
            received = made.near.received("bond0")["packets"]
            frames = {made.cables[dev]: forged(made.near, dev, address) for dev in made.near.links}
            floods = Floods(made.far, frames, seconds)
            calm_beside(made, seconds)
            wait_for(lambda floods=floods: not floods.running(), "the floods to end", 20)
            sent, took = floods.sent(), made.near.received("bond0")["packets"] - received
            print(f"{address}: {sent} sent, {took} frames on bond0")
            assert sent >= 900 * seconds * len(made.near.links) and took >= sent


@pytest.mark.full
@SHORT_AND_LONG
def test_oam_beside(made, kind, shows, seconds):
    """10 a second on every link."""
    def oam(number):
        for dev in made.far.links:
            send_frames(made.far, dev, [other(OAM, number)])

    links = [made.far.link(dev) for dev in made.far.links]
    addresses = [link.get("permaddr", link["address"]) for link in links]  # of whom they come

    def said(captures):
        return [sum(is_slow(frame) and frame.src == address for frame in capture.frames())
                for capture, address in zip(captures, addresses)]

    def heard_in_quiet(captures, total):
        """heard() of a time in which none was under way; adds what is said to total."""
        while True:
            counts, new = heard(made), said(captures)
            total[:] = [before + now for before, now in zip(total, new)]
            if not any(new):
                return counts
    with shows(kind, "OAM beside LACP: no port notices, no LACPDU is lost"), \
            contextlib.ExitStack() as stack:
        captures, total = [stack.enter_context(Capture(made.far, dev, outgoing=True))
                           for dev in made.far.links], [0, 0]
        before = heard_in_quiet(captures, total)
        total[:] = [0, 0]
        calm_beside(made, seconds, oam)
        after = heard_in_quiet(captures, total)
        assert [now - then for now, then in zip(after, before)] == total
        print(f"LACPDUs sent and heard: {total}")


@pytest.mark.full
@pytest.mark.parametrize("seconds", [5, 10])
def test_forged_lacpdus_while_bondd_is_dead(made, kind, shows, seconds):
    """One on every link."""
    with shows(kind, "LACP hold: forged LACPDUs while bondd is killed"):
        frames = [forged(made.near, dev) for dev in made.near.links]
        before, streams = view(made), both_ways(made)
        answers = [each["answers"] for each in made.near.pinned("hold")[:2]]
        made.near.kill_bondd()
        wait_for(lambda: all(each["answers"] > then for each, then in
                             zip(made.near.pinned("hold"), answers)), "the programs to answer")
        for dev, frame in zip(made.far.links, frames):
            send_frames(made.far, dev, [frame])
        unchanged(made, before, seconds, lambda _: None)
        assert tx_slots(made.near) == {0, 1}
        made.near.start_bondd()
        unchanged(made, before, 1.5)
        assert distributing(made.near) == made.near.links
        all_arrived(streams)


# What we change, and a partner that is silent


def at_rate(made, kind, rate):
    """Both ends at this rate; lacp_hold off, so that the slow one is slow."""
    made.near.ctl("set", "bond0", "lacp_rate", rate, "lacp_hold", "off" if rate == "slow" else "on")
    if rate == "slow":
        made.partner.start(**SLOW[kind])
    wait_agreed(made, 40)


@pytest.mark.full
@pytest.mark.parametrize("rate", ["fast", "slow"])
def test_bond_goes_down_and_up(made, kind, shows, rate):
    with shows(kind, "bond0 down: the partner's ports leave at once, at either rate"):
        at_rate(made, kind, rate)
        for _ in range(2):  # the second time within a second of the last PDUs
            began = time.monotonic()
            made.near.ip("link", "set", "bond0", "down")
            wait_for(lambda: not made.partner.distributing(), "the partner to leave its ports", 2)
            left = time.monotonic() - began
            made.near.ip("link", "set", "bond0", "up")
            began = time.monotonic()
            wait_carrying(made, made.near.links)
            print(f"left after {left:.3f} s, back after {time.monotonic() - began:.3f} s")
        made.near.ip("addr", "replace", "fd00::1/64", "dev", "bond0", "nodad")  # going down took it
        check_traffic(made)
        if rate == "slow":
            made.partner.start()
            at_rate(made, kind, "fast")


@pytest.mark.full
@pytest.mark.parametrize("rate", ["fast", "slow"])
def test_new_mac_of_the_bond(made, kind, shows, rate):
    with shows(kind, "bond0 gets another MAC address: another system"):
        at_rate(made, kind, rate)
        old = made.near.show()["mac"]
        for address in (OTHER_MAC, old):
            began = time.monotonic()
            made.near.ip("link", "set", "bond0", "address", address)
            set_at = time.monotonic() - began
            wait_for(lambda address=address: {port["partner"]["system"]
                                              for port in view(made).values()} == {address},
                     "the new system to be seen", 2)
            seen = time.monotonic() - began
            wait_agreed(made, 5)
            print(f"set after {set_at:.3f} s, seen after {seen:.3f} s, "
                  f"all back after {time.monotonic() - began:.3f} s")
        check_traffic(made)
        if rate == "slow":
            made.partner.start()
            at_rate(made, kind, "fast")


def in_fallback(made):
    return {port["rx_state"] for port in ports(made.near).values()} == {"defaulted"} and \
        len(tx_slots(made.near)) == 1


@pytest.mark.full
@pytest.mark.parametrize("how", ["silent", "deaf and silent", "a switch without LACP"])
def test_fallback_keeps_the_carrier(made, kind, shows, how):
    """The default of lacp_fallback. A switch gets all that bond0 sends."""
    with shows(kind, "silent partner: the bond keeps its carrier"):
        made.near.ctl("set", "bond0", "lacp_fallback", "one")
        changes = made.near.carrier_changes("bond0")
        made.partner.silence(True, deaf=how == "deaf and silent")
        if how == "a switch without LACP":
            made.partner.stop()
            made.switch()
            for dev in made.far.links:
                made.far.ip("link", "set", dev, "up")
        wait_for(lambda: in_fallback(made), "one port to carry without a partner", 12)
        print(f"carrier changes: {changes}, then {made.near.carrier_changes('bond0')}")
        assert made.near.show()["carrier"] and made.near.carrier_changes("bond0") == changes
        if how == "a switch without LACP":
            made.near.ip("neigh", "flush", "all")
            made.near.wait_ping("10.0.0.2")
            Stream(made.near, made.far, count=500, rate=200, flows=16).finish_unharmed()
            made.far.ip("link", "del", "sw0")
            made.partner.silence(False)
            made.partner.start()
        else:
            carried = [made.near.ping("10.0.0.2", timeout=1) for _ in range(5)]
            print(f"ping while the partner is {how}: {carried}, "
                  f"the partner distributes on {made.partner.distributing()}")
            made.partner.silence(False)
        wait_agreed(made)
        assert made.near.carrier_changes("bond0") == changes
        made.near.ctl("set", "bond0", "lacp_fallback", "none")
        made.near.ip("neigh", "flush", "all")
