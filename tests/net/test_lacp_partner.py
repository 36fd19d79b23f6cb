"""lacp_partner: the only partner system that is believed."""
import pytest

from lacp import counters, ports, tx_slots
from puppet import ATTACHED, CARRYING, SYSTEM, Partner
from waiting import wait_for

STRANGER, ANOTHER = "02:00:00:00:00:66", "02:00:00:00:00:67"


@pytest.fixture
def partner(lone):
    made = Partner(lone(links=2), lacp_partner=SYSTEM)
    yield made
    made.close()


def test_who_is_believed_is_the_partner(partner):
    partner.speak("l0", CARRYING)
    wait_for(lambda: tx_slots(partner.host) == {0}, "the port to carry")


def test_a_partner_may_have_zeroes(partner):
    """teamd's key is 0. Nothing is unknown of it."""
    partner.speak("l0", CARRYING, key=0, system_priority=0)
    wait_for(lambda: ports(partner.host)["l0"]["partner_system"] == SYSTEM, "the partner")
    assert (ports(partner.host)["l0"]["partner_key"],
            ports(partner.host)["l0"]["partner_sys_prio"]) == (0, 0)


def test_strangers_are_counted_named_and_logged_once(partner):
    host = partner.host
    partner.speak("l0", CARRYING)
    wait_for(lambda: tx_slots(host) == {0}, "the port to carry")
    for system in (STRANGER, ANOTHER, STRANGER):
        partner.speak("l1", CARRYING, system)
        partner.speak("l0", ATTACHED & ~8, system)
    wait_for(lambda: counters(host, "l1")["stranger_rx"] == counters(host, "l0")["stranger_rx"] ==
             3, "strangers to be counted")
    assert tx_slots(host) == {0} and ports(host)["l0"]["why"] == "collecting and distributing"
    assert ports(host)["l0"]["stranger_rx"] == 3 and \
        "strangers            3 LACPDUs" in host.ctl("show", "-d", "bond0")
    wait_for(lambda: host.log().count("which is not lacp_partner") == 2, "a line of each port")


def test_a_port_with_a_stranger_says_so_and_is_not_for_fallback(partner):
    host = partner.host
    host.ctl("set", "bond0", "lacp_partner", "none")
    host.ctl("set", "bond0", "lacp_fallback", "one", "lacp_fallback_delay", 100, "lacp_partner",
             "02:00:00:00:00:11")
    partner.speak("l0", CARRYING, STRANGER)
    wait_for(lambda: ports(host)["l0"]["why"] ==
             f"hears {STRANGER}, which is not lacp_partner 02:00:00:00:00:11",
             "the port to name the stranger")
    wait_for(lambda: tx_slots(host) == {1}, "the other port to fall back")


def test_another_partner_to_believe(partner):
    """Who is not believed any more is none at once, and the other way round."""
    host = partner.host
    partner.speak("l0", CARRYING)
    wait_for(lambda: tx_slots(host) == {0}, "the port to carry")
    host.ctl("set", "bond0", "lacp_partner", STRANGER)
    assert tx_slots(host) == set()
    partner.speak("l0", CARRYING)
    wait_for(lambda: ports(host)["l0"]["stranger_rx"] == 1, "the old partner to be a stranger")
    partner.speak("l0", ATTACHED, STRANGER)
    wait_for(lambda: partner.says("l0", 8), "the port to be attached")
    # What it says before it has heard that the port left does not count.
    wait_for(lambda: partner.speak("l0", CARRYING, STRANGER) or tx_slots(host) == {0},
             "the port to carry with the new one")
    host.ctl("set", "bond0", "lacp_partner", "none")
    assert tx_slots(host) == {0}


def test_each_lacp_partner_has_its_own_strangers(partner):
    host = partner.host
    for count, believed in enumerate(("02:aa:bb:cc:dd:01", "02:aa:bb:cc:dd:02"), 1):
        host.ctl("set", "bond0", "lacp_partner", believed)
        partner.speak("l0", CARRYING)
        wait_for(lambda want=believed: ports(host)["l0"]["why"] ==
                 f"hears {SYSTEM}, which is not lacp_partner {want}", "the stranger to be named")
        wait_for(lambda n=count: host.log().count("which is not lacp_partner") == n,
                 f"warning {count}")
        host.ctl("set", "bond0", "lacp_partner", "none")
        assert "lacp_partner" not in ports(host)["l0"]["why"]
