# SPDX-License-Identifier: GPL-2.0-or-later
"""balance-tlb and balance-alb on NICs with MAC filters, with VLANs on bond0, beside active-backup.
"""
import pytest

from machine import promiscuous
from waiting import wait_for

MODES = [pytest.param("active-backup", marks=pytest.mark.full),
         pytest.param("balance-tlb", marks=pytest.mark.full),
         pytest.param("balance-alb", marks=pytest.mark.once)]


@pytest.fixture(params=MODES)
def made(keeper, request):
    """A bond at a switch, which also has VLAN 5."""
    def build(setting):
        setting.switch().bond(request.param, "xmit_hash_policy", "layer3+4", "lp_interval", 1)
        for host, dev, number in ((setting.near, "bond0", 1), (setting.far, "sw0", 2)):
            host.ip("link", "add", "link", dev, "name", "v5", "type", "vlan", "id", 5)
            setting.address(host, "v5", number, "10.0.5", "fd05")
        return setting
    made = keeper.get(request.param, build)
    made.near.wait_slaves(*made.near.links)
    return made


ADDRESSES = ("10.0.0.1", "fd00::1", "10.0.5.1", "fd05::1")


def other_side(address):
    return address[:-1] + "2"


def check_both_ways(made):
    for address in ADDRESSES:
        made.far.wait_ping(address)
        made.near.wait_ping(other_side(address))


def test_failover_with_filters(made, request):
    """Each slave in turn loses its cable, and then they come back; with bondd and without."""
    near, numbers = made.near, [int(name.removeprefix("eth")) for name in made.near.links]
    own = len({slave["mac"] for slave in near.show()["slaves"]}) == len(numbers)
    assert own == (near.show()["mode"] != "active-backup")
    assert not promiscuous(near, near.links)
    check_both_ways(made)
    for number in numbers:
        made.nics.cable(number, False)
        near.wait_slaves(*[name for name in near.links if name != f"eth{number}"])
        check_both_ways(made)
        made.nics.cable(number, True)
        near.wait_slaves(*near.links)
        check_both_ways(made)
    active = near.show()["active_slave"]
    near.kill_bondd()
    made.nics.cable(int(active.removeprefix("eth")), False)
    check_both_ways(made)
    near.start_bondd()
    near.wait_slaves(*[name for name in near.links if name != active])
    check_both_ways(made)
    made.nics.cable(int(active.removeprefix("eth")), True)
    near.wait_slaves(*near.links)
    check_both_ways(made)


def test_neighbours_learn_the_addresses_of_slaves(made):
    """In balance-alb two hosts, in each VLAN, learn two addresses; in other modes all learn one."""
    near, mac = made.near, made.near.show()["mac"]
    macs = {slave["mac"] for slave in near.show()["slaves"]}
    shares = near.show()["mode"] == "balance-alb"
    hosts = []
    for number in (11, 12):
        host = made.lab.namespace(f"h{number}")
        made.far.ip("link", "add", f"h{number}", "type", "veth", "peer", "name", "eth0", "netns",
                    host.name)
        made.far.ip("link", "set", f"h{number}", "master", "sw0", "up")
        made.address(host, "eth0", number)
        host.ip("link", "add", "link", "eth0", "name", "v5", "type", "vlan", "id", 5)
        made.address(host, "v5", number, "10.0.5", "fd05")
        hosts.append(host)
    for address in ADDRESSES:
        known = []
        for host in hosts:
            host.wait_ping(address)
            known.append(host.ip_json("neigh", "show", address)[0]["lladdr"])
        assert set(known) <= (macs if shares else {mac})
    if shares:
        wait_for(lambda: sum(slave["clients"] > 0 for slave in near.show()["slaves"]) == len(macs),
                 "each slave to have clients")
    for number, host in zip((11, 12), hosts):
        made.far.ip("link", "del", f"h{number}")
        host.remove()
        made.lab.namespaces.remove(host)
