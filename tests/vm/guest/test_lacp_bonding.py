"""What only kernel bonding has among the partners: churn, aggregators to choose from, keys,
independent control.
"""
import pytest

from lacp import distributing, ports
from namespace import KERNEL
from partners import KernelBond
from traffic import Stream
from waiting import wait_for

NEAR = ("mode", "802.3ad", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4", "lacp_fallback",
        "none")
PEER = "bonding"


@pytest.fixture
def made(setting):
    """make(links of the kernel's bond, options...): three cables, no bond here yet."""

    def make(links=None, **options):
        made = setting(3)
        made.partner = KernelBond(made)
        made.lab.partners.append(made.partner)
        made.partner.close = made.partner.stop
        made.partner.start(links=links, **options)
        return made
    return make


def carries(made, bond, links):
    wait_for(lambda: distributing(made.near, bond) == links, f"{links} to distribute in {bond}", 20,
             0.1)


def check_traffic(made):
    made.near.wait_ping("10.0.0.2")
    for one, other, to in ((made.near, made.far, "10.0.0.2"), (made.far, made.near, "10.0.0.1")):
        Stream(one, other, to=to, count=200, rate=400, flows=16).finish_unharmed()


def second_bond(made, links):
    """A second kernel bond at the far end."""
    other = KernelBond(made)
    other.device, other.links = "kb1", links
    made.lab.partners.append(other)
    other.close = other.stop
    other.make(links, None, {})
    made.far.ip("link", "set", "kb1", "up")


@pytest.mark.full
def test_ad_select_here(made, shows):
    with shows(PEER, "ad_select here: stable, bandwidth, count"):
        made = made(links=["eth1"])
        second_bond(made, ["eth3", "eth5"])
        for number in (3, 5):
            made.nics.cable(number - 1, False)
        made.near.ctl("create", "bond0", *NEAR, "ad_select", "stable")
        made.near.ctl("add-slave", "bond0", *made.near.links)
        made.address(made.near, "bond0", 1)
        carries(made, "bond0", ["eth0"])
        check_traffic(made)
        for number in (3, 5):
            made.nics.cable(number - 1, True)
        wait_for(lambda: {port["partner_system"] for port in ports(made.near).values()} ==
                 {made.far.link(dev)["address"] for dev in ("kb0", "kb1")},
                 "both partners to be known", 12)
        assert distributing(made.near) == ["eth0"]
        for policy in ("count", "bandwidth"):
            made.near.ctl("set", "bond0", "ad_select", policy)
            carries(made, "bond0", ["eth2", "eth4"])
            assert made.near.show()["lacp"]["partner_system"] == made.far.link("kb1")["address"]
            made.near.ctl("set", "bond0", "ad_select", "stable")
            for number in (2, 4):
                made.nics.cable(number, False)
            carries(made, "bond0", ["eth0"])
            for number in (2, 4):
                made.nics.cable(number, True)
            made.near.wait_slaves(*made.near.links)
        check_traffic(made)


@pytest.mark.full
@pytest.mark.parametrize("policy", ["count", "bandwidth"])
def test_ad_select_there(made, shows, policy):
    """Two bonds here, one there: the one with more links is its choice."""
    with shows(PEER, "ad_select there: bandwidth, count"):
        made = made(ad_select=policy)
        for bond, links in (("bond0", ["eth0"]), ("bond1", ["eth2", "eth4"])):
            made.near.ctl("create", bond, *NEAR)
            made.near.ctl("add-slave", bond, *links)
            made.near.ip("link", "set", bond, "up")
        made.address(made.near, "bond1", 1)
        wait_for(lambda: made.partner.distributing() == ["eth3", "eth5"],
                 "the kernel to choose two links", 20, 0.1)
        carries(made, "bond1", ["eth2", "eth4"])
        assert made.partner.aggregate()["Partner Mac Address"] == made.near.show("bond1")["mac"]
        check_traffic(made)


@pytest.mark.once
def test_keys_and_aggregate(made, shows):
    with shows(PEER, "ad_user_port_key, aggregator and churn in /proc/net/bonding"):
        made = made(ad_user_port_key=9)
        made.bond("802.3ad", *NEAR[2:], "ad_user_port_key", 12)
        carries(made, "bond0", made.near.links)
        lacp = made.near.show()["lacp"]

        def same():
            said = made.partner.aggregate()
            return (said["Number of ports"], said["Actor Key"], said["Partner Key"],
                    said["Partner Mac Address"]) == (str(lacp["num_ports"]),
                                                     str(lacp["partner_key"]),
                                                     str(lacp["actor_key"]), lacp["actor_system"])
        wait_for(same, "the kernel to tell the same of the aggregator")
        assert (lacp["actor_key"] >> 6, lacp["partner_key"] >> 6) == (12, 9)
        # The kernel looks at the end of its minute (test_churn); until then it only must not say
        # "churned".
        assert all("churned" not in port["churn"] for port in made.partner.view().values())
        wait_for(lambda: {(port["actor_churn"], port["partner_churn"]) for port in
                          ports(made.near).values()} == {("none", "none")}, "no churn here", 10)
        check_traffic(made)


def test_independent_control_there(made, shows):
    with shows(PEER, "coupled_control off there"):
        if KERNEL < (6, 9):
            pytest.skip("this kernel's bonding has no coupled_control (Linux 6.9)")
        made = made(coupled_control=False)
        made.bond("802.3ad", *NEAR[2:])
        for control in ("on", "off"):
            made.near.ctl("set", "bond0", "coupled_control", control)
            for number in (0, 1):
                made.nics.cable(number, False)
            carries(made, "bond0", ["eth2", "eth4"])
            for number in (0, 1):
                made.nics.cable(number, True)
            carries(made, "bond0", made.near.links)
            wait_for(lambda: made.partner.distributing() == made.far.links,
                     "the kernel to distribute on all", 12)
            check_traffic(made)


@pytest.mark.full
def test_churn(made, shows):
    """A standby port is churn, at both ends, after a minute."""
    with shows(PEER, "churn of a standby port at both ends"):
        made = made()
        made.bond("802.3ad", *NEAR[2:], "max_links", 2, "ad_actor_sys_prio", 100)
        carries(made, "bond0", ["eth0", "eth2"])
        wait_for(lambda: ports(made.near)["eth4"]["actor_churn"] == "churned", "churn here", 90, 1)
        wait_for(lambda: made.partner.view()["eth5"]["churn"][1] == "churned", "churn there", 30, 1)
        assert ports(made.near)["eth0"]["actor_churn"] == "none"
        wait_for(lambda: made.partner.view()["eth1"]["churn"] == ("none", "none"),
                 "no churn of the others there", 30, 1)
        check_traffic(made)


@pytest.mark.full
def test_slow_rate_times_out(made, shows):
    with shows(PEER, "lacp_rate slow: silence for 90 s, and return"):
        made = made(lacp_rate="slow")
        made.bond("802.3ad", "lacp_rate", "slow", "xmit_hash_policy", "layer3+4", "lacp_fallback",
                  "none")
        carries(made, "bond0", made.near.links)
        made.partner.silence(True)
        wait_for(lambda: not distributing(made.near), "the ports to expire", 120, 1)
        made.partner.silence(False)
        carries(made, "bond0", made.near.links)
        check_traffic(made)
