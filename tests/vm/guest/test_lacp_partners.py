"""802.3ad with kernel bonding and with team as partners: what both ends say of each other, and
traffic both ways, in quiet, after cuts, silence, flapping, another partner, and while bondd is away.
One setting serves all cases of a partner; each case leaves it as it found it.
"""
import time

import pytest

from lab import wait_for
from lacp import distributing, ports
from partners import KernelBond, Team, differences
from traffic import Stream

PARTNERS = {"bonding": KernelBond, "team": Team}
NEAR = ("mode", "802.3ad", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4", "lacp_fallback", "none")
OTHER_MAC = "02:00:00:00:00:55"
SLOW = {"bonding": {"lacp_rate": "slow"}, "team": {"fast_rate": False}}
PASSIVE = {"bonding": {"lacp_active": "off"}, "team": {"active": False}}
PRIORITY = {"bonding": "ad_actor_sys_prio", "team": "sys_prio"}


@pytest.fixture(scope="module", params=PARTNERS)
def kind(request):
    return request.param


@pytest.fixture
def made(keeper, kind):
    def build(setting):
        setting.partner = PARTNERS[kind](setting)
        setting.lab.partners.append(setting.partner)
        setting.partner.close = setting.partner.stop
        setting.cables = dict(zip(setting.near.links, setting.far.links))
        setting.partner.start()
        setting.near.ctl("create", "bond0", *NEAR)
        setting.near.ctl("add-slave", "bond0", *setting.near.links)
        setting.address(setting.near, "bond0", 1)
        return setting
    setting = keeper.get(kind, build)
    assert setting.partner.name == kind
    wait_agreed(setting)
    return setting


def wait_carrying(made, links, deadline=12):
    """Until these links (by our names), and no others, distribute at both ends."""
    theirs = sorted(made.cables[link] for link in links)
    wait_for(lambda: distributing(made.near) == links, f"{links} to distribute here", deadline, 0.1)
    wait_for(lambda: made.partner.distributing() == theirs, f"{theirs} to distribute at the partner", deadline, 0.1)


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
               Stream(made.far, made.near, to="10.0.0.1", count=count, rate=400, flows=16, port=9001)]
    for stream in streams:
        wait_for(lambda stream=stream: stream.sender.poll() is not None, "the sender to end", 20)
        result = stream.finish()
        assert (result["lost"], result["duplicates"]) == (0, 0), result


@pytest.mark.small
def test_negotiates(made, kind, shows):
    with shows(kind, "802.3ad: system, keys, ports and states agree with `bondctl show`"):
        assert differences(made.near, made.partner, made.cables) == []
        assert len({port["aggregator"] for port in made.partner.view().values()}) == 1
        assert len({port["aggregator_id"] for port in ports(made.near).values()}) == 1
        assert made.near.show()["lacp"]["num_ports"] == 2
        check_traffic(made)


@pytest.mark.once
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


@pytest.mark.once("team")
def test_silent_partner(made, kind, shows):
    with shows(kind, "silent partner: ports leave, and return"):
        began = time.monotonic()
        made.partner.silence(True)
        wait_for(lambda: not distributing(made.near), "the ports to expire", 8)
        assert time.monotonic() - began > 1.5, "long before three times the rate"
        wait_for(lambda: {port["rx_state"] for port in ports(made.near).values()} == {"defaulted"}, "defaulted", 8)
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


@pytest.mark.once
@pytest.mark.full("team")
def test_flapping(made, kind, shows):
    with shows(kind, "flapping link"):
        for _ in range(5):
            made.nics.cable(1, False)
            wait_for(lambda: "eth0" not in made.near.carrier_slaves() or "eth0" not in distributing(made.near) or
                     "eth1" not in made.partner.distributing(), "the flap to be seen")
            made.nics.cable(1, True)
        wait_agreed(made, 20)
        check_traffic(made)


@pytest.mark.once
@pytest.mark.full("team")
def test_replaced_partner(made, kind, shows):
    with shows(kind, "partner replaced by another system"):
        made.partner.start(mac=OTHER_MAC)
        wait_for(lambda: made.near.show()["lacp"]["partner_system"] == OTHER_MAC, "the new partner", 12)
        wait_agreed(made)
        made.near.ip("neigh", "flush", "all")  # another host now: team announces nothing
        check_traffic(made)
        made.partner.start()
        wait_for(lambda: made.near.show()["lacp"]["partner_system"] != OTHER_MAC, "the old partner", 12)
        wait_agreed(made)
        made.near.ip("neigh", "flush", "all")


def unchanged(made, before, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        now = {link: {key: port[key] for key in ("actor", "partner", "in_use")} for link, port in made.partner.view().items()}
        assert now == before
        time.sleep(0.2)


@pytest.mark.once
@pytest.mark.full("team")
@pytest.mark.parametrize("how", [pytest.param("stopped", marks=pytest.mark.small), "killed"])
def test_hold(made, kind, shows, how):
    """bondd is away for more than the partner's timeout, and comes back."""
    with shows(kind, f"LACP hold: bondd {how} for longer than the timeout"):
        before = {link: {key: port[key] for key in ("actor", "partner", "in_use")} for link, port in made.partner.view().items()}
        streams = [Stream(made.near, made.far, rate=200, flows=16),
                   Stream(made.far, made.near, to="10.0.0.1", rate=200, flows=16, port=9001)]
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
        for stream in streams:
            result = stream.finish()
            assert (result["lost"], result["duplicates"]) == (0, 0) and result["sent"] > 500, result


def rate_asked(made):
    """Whether the partner believes that we ask for the fast rate, and we that it does."""
    show = made.near.show()
    return ("timeout" in next(iter(made.partner.view().values()))["partner"]["state"],
            "timeout" in show["slaves"][0]["lacp"]["partner_state"])


@pytest.mark.once
@pytest.mark.full("team")
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


@pytest.mark.once
@pytest.mark.full("team")
def test_passive(made, kind, shows):
    with shows(kind, "lacp_active off, at either end"):
        made.near.ctl("set", "bond0", "lacp_active", "off")
        wait_for(lambda: "activity" not in ports(made.near)["eth0"]["actor_state"], "eth0 to be passive")
        wait_agreed(made)
        check_traffic(made)
        made.near.ctl("set", "bond0", "lacp_active", "on")
        made.partner.start(**PASSIVE[kind])
        wait_agreed(made)
        assert "activity" not in ports(made.near)["eth0"]["partner_state"]
        check_traffic(made)
        made.partner.start()
        wait_agreed(made)


@pytest.mark.once
@pytest.mark.full("team")
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


@pytest.mark.once
@pytest.mark.full("team")
def test_actor_options(made, kind, shows):
    with shows(kind, "actor system, priority and key, at either end"):
        made.near.ctl("set", "bond0", "ad_user_port_key", 5, "ad_actor_sys_prio", 77, "ad_actor_system", "02:00:00:00:00:33")

        def heard():
            theirs = [port["partner"] for port in made.partner.view().values()]
            return {(port["system"], port["system_priority"], port["key"] >> 6) for port in theirs} == {
                ("02:00:00:00:00:33", 77, 5)}
        wait_for(heard, "the partner to see them")
        wait_agreed(made)
        check_traffic(made)
        mac = made.near.show()["mac"]
        made.near.ctl("set", "bond0", "ad_user_port_key", 0, "ad_actor_sys_prio", 65535, "ad_actor_system", mac)
        made.partner.start(**{PRIORITY[kind]: 1234})
        wait_for(lambda: made.near.show()["lacp"]["partner_sys_prio"] == 1234, "its priority")
        wait_agreed(made)
        check_traffic(made)
        made.partner.start()
        wait_agreed(made)
