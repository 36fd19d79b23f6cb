"""What 802.3ad does to its slaves: priority of PDUs, the multicast list, port numbers."""

import pytest

from counting import count, counted
from lacp import ports, wait_distributing
from traffic import Stream
from waiting import wait_for

SLOW_GROUP = "01:80:c2:00:00:02"
TC_PRIO_CONTROL = 7


@pytest.fixture
def made(pair):
    made = pair("802.3ad", links=2, lacp_rate="fast")
    wait_distributing(made.near, made.far, links=made.links)
    return made


# Priority


def test_pdus_leave_with_control_priority(made):
    seen = count(made.near, "l0", "priority", "protocol", "0x8809")
    wait_for(lambda: sum(counted(seen).values()) >= 2, "LACPDUs to be counted")
    assert set(counted(seen)) == {TC_PRIO_CONTROL}


# The multicast list


def listens(host, dev):
    """The device's list of groups has that of the slow protocols."""
    return any(each.get("link") == SLOW_GROUP
               for device in host.ip_json("maddr", "show", "dev", dev) for each in device["maddr"])


def test_slaves_listen_to_slow_protocols(made):
    """A slave's life long, so that a change of the mode need not change the slave."""
    host = made.near
    assert listens(host, "l0") and listens(host, "l1") and not listens(host, "bond0")
    host.ctl("del-slave", "bond0", "l0")
    assert not listens(host, "l0") and listens(host, "l1")
    host.ctl("set", "bond0", "mode", "balance-xor")
    host.ctl("set", "bond0", "mode", "802.3ad")
    assert listens(host, "l1")
    host.ctl("add-slave", "bond0", "l0")
    assert listens(host, "l0")
    host.ctl("delete", "bond0")
    assert not listens(host, "l0") and not listens(host, "l1")


def test_the_list_is_the_same_after_restarts(made):
    """Each adds a use of the group, or none: what del-slave takes back must be all."""
    host = made.near
    host.kill_bondd()
    assert listens(host, "l0")
    host.start_bondd()
    host.restart_bondd()
    wait_distributing(host, links=made.links)
    assert listens(host, "l0")
    host.ctl("del-slave", "bond0", "l0")
    assert not listens(host, "l0")


# Port numbers


BEYOND_16_BITS = (65536, 70001, 131072)  # two of them are 0 in 16 bits


@pytest.fixture
def high(lab):
    """Two hosts in 802.3ad; the ifindexes of the near slaves do not fit a port number."""
    near, far = lab.host("a"), lab.host("b")
    near.links = [f"l{number}" for number in range(len(BEYOND_16_BITS))]
    for name, index in zip(near.links, BEYOND_16_BITS):
        near.ip("link", "add", name, "index", index, "type", "veth", "peer", "name", name, "netns",
                far.name)
    for host, number in ((near, 1), (far, 2)):
        host.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "fast", "xmit_hash_policy",
                 "layer3+4")
        host.ctl("add-slave", "bond0", *near.links)
        host.ip("link", "set", "bond0", "up")
        host.ip("addr", "add", f"10.0.0.{number}/24", "dev", "bond0")
    wait_distributing(near, far, links=near.links)
    return near, far


def numbers(host, which="port_number"):
    return {dev: port[which] for dev, port in ports(host).items()}


def test_ifindexes_beyond_16_bits(high):
    near, far = high
    before = numbers(near)
    assert 0 not in before.values() and len(set(before.values())) == len(before)
    assert numbers(far, "partner_port") == before
    near.wait_ping("10.0.0.2")
    result = Stream(near, far, count=500, flows=32).finish()
    assert result["lost"] == 0, result


def test_port_numbers_outlive_bondd(high):
    """Also where they are not those that a new bond would give."""
    near, far = high
    near.ctl("del-slave", "bond0", "l0")
    before = numbers(near)
    near.restart_bondd(kill=True)
    assert numbers(near) == before
    wait_distributing(near, far, links=["l1", "l2"])
    assert {dev: numbers(far, "partner_port")[dev] for dev in before} == before
