"""bond0's multicast groups on its slaves' own lists: whatever happens to bond0 and bondd, a slave
that is released has the groups that it had before, and only those.
"""
import fcntl
import json
import socket
import struct

import pytest

from frames import mac_bytes
from lab import is_team
from namespace import groups
from waiting import wait_for

GROUP, LATER, OTHERS = "01:00:5e:01:02:03", "33:33:00:00:77:77", "01:00:5e:0a:0a:0a"
SLOW = "01:80:c2:00:00:02"
MAX_GROUPS = 4096  # XBOND_MAX_GROUPS
SIOCADDMULTI = 0x8931


def static(host, dev):
    """Those that somebody has put there by hand, as bondd does."""
    found = set()
    for line in host.run("cat", "/proc/net/dev_mcast").stdout.splitlines():
        _, name, _, by_hand, address = line.split()
        if name == dev and by_hand != "0":
            found.add(":".join(address[at:at + 2] for at in range(0, len(address), 2)))
    return found


def listening(lone, *joined, links=2):
    """A host whose bond0 has these groups, and so have its slaves l0, l1; `before`: what they had
    without it.
    """
    host = lone(links=links)
    host.before = {name: static(host, name) for name in host.links}
    host.make_bond(host.links, "mode", "balance-xor")
    for each in joined:
        host.ip("maddr", "add", each, "dev", "bond0")
    wait_for(lambda: all(set(joined) <= static(host, name) for name in host.links),
             "the slaves to listen, too")
    return host


def add_all(host, dev, wanted):
    """As `ip maddr add`, which does one of a batch only."""
    with host.inside():
        asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with asker:
        for group in wanted:
            address = mac_bytes(group)
            fcntl.ioctl(asker, SIOCADDMULTI,
                        struct.pack("=16sH14s", dev.encode(), socket.AF_UNSPEC, address))


def as_before(host):
    return {name: static(host, name) for name in host.links} == host.before


def leaves_group(host):
    host.ip("maddr", "del", GROUP, "dev", "bond0")


def goes_away(host):
    other = host.others.namespace("c")
    host.ip("link", "set", "bond0", "netns", other.name)


def is_deleted(host):
    host.ip("link", "del", "bond0")


@pytest.mark.parametrize("happens", [leaves_group, goes_away, is_deleted])
def test_what_happened_while_bondd_was_dead(lone, lab, happens):
    host = listening(lone, GROUP, LATER)
    host.others = lab
    host.kill_bondd()
    happens(host)
    host.start_bondd()
    if happens is leaves_group:
        wait_for(lambda: not any(GROUP in static(host, name) for name in host.links),
                 "the slaves to leave it")
        assert all(LATER in static(host, name) for name in host.links)
    if happens is goes_away:
        assert all({GROUP, LATER} <= static(host, name) for name in host.links)
    if happens is not is_deleted:
        host.ctl("delete", "bond0")
    assert as_before(host)
    assert host.pins() == []


@pytest.mark.parametrize("bondd", ["lives", "dies"])
def test_what_others_have_joined_stays(lone, bondd):
    """The kernel keeps one static entry of an address, whoever asks for it, and no
    word of who did.
    """
    host = lone(links=2)
    for group in (OTHERS, SLOW):
        host.ip("maddr", "add", group, "dev", "l0")
    before = {name: static(host, name) for name in host.links}
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ip("link", "set", "bond0", "up")
    host.ip("maddr", "add", OTHERS, "dev", "bond0")
    host.ctl("add-slave", "bond0", "l0", "l1")
    assert OTHERS in static(host, "l1") & static(host, "l0")
    if bondd == "dies":
        host.restart_bondd(kill=True)
    host.ctl("del-slave", "bond0", "l0")
    assert static(host, "l0") == before["l0"] == {OTHERS, SLOW}
    host.ctl("delete", "bond0")
    assert {name: static(host, name) for name in host.links} == before


@pytest.mark.parametrize("step", ["group-recorded", "group-joined"])
def test_killed_while_slaves_join(lone, step):
    host = listening(lone, LATER)
    with host.dying_at(step, wait=False):  # it may die of a group that the kernel has just added
        host.ip("maddr", "add", GROUP, "dev", "bond0")
    host.start_bondd()
    wait_for(lambda: all({GROUP, LATER} <= static(host, name) for name in host.links),
             "the slaves to join all the same")
    host.ctl("delete", "bond0")
    assert as_before(host)


DELETE, RELEASE = ("delete", "bond0"), ("del-slave", "bond0", "l0")


@pytest.mark.parametrize("words,step", [(DELETE, "delete-started"), (DELETE, "release-detached"),
                                        (DELETE, "group-left"),
                                        (RELEASE, "release-detached"), (RELEASE, "group-left")])
def test_killed_while_slaves_leave(lone, words, step):
    host = listening(lone, GROUP, LATER)
    with host.dying_at(step):
        assert host.ctl_try(*words).returncode == 3
    host.start_bondd()
    assert static(host, "l0") == host.before["l0"]
    if words == DELETE:
        assert host.ctl_json("list") == []
    else:
        assert {GROUP, LATER} <= static(host, "l1")
        host.ctl("delete", "bond0")
    assert as_before(host)


def test_a_group_that_somebody_took_off_a_slave_comes_back(lone):
    host = listening(lone, GROUP)
    host.ip("maddr", "del", GROUP, "dev", "l1")
    wait_for(lambda: GROUP in static(host, "l1"), "it to be put back")


def test_renamed_while_bondd_was_dead(lone):
    """Two slaves that have exchanged their names, and one released."""
    host = listening(lone, GROUP)
    host.kill_bondd()
    for old, new in (("l0", "x"), ("l1", "l0"), ("x", "l1")):
        host.rename(old, new)
    host.start_bondd()
    host.ip("maddr", "add", LATER, "dev", "bond0")
    wait_for(lambda: all({GROUP, LATER} <= static(host, name) for name in host.links),
             "both groups on both")
    host.ctl("del-slave", "bond0", "l1")
    assert static(host, "l1") == host.before["l0"] and {GROUP, LATER} <= static(host, "l0")
    host.ctl("delete", "bond0")
    assert as_before(host)


@pytest.mark.parametrize("bondd", ["lives", "dies"])
def test_another_device_in_the_slot(lone, lab, bondd):
    """A slave that was moved has lost its list; what is written down of it does not hold for who
    comes next.
    """
    host = listening(lone, GROUP, LATER, links=3)
    host.ctl("del-slave", "bond0", "l2")
    host.ip("maddr", "add", GROUP, "dev", "l2")
    if bondd == "dies":
        host.kill_bondd()
    host.ip("link", "set", "l0", "netns", lab.namespace("c").name)
    if bondd == "dies":
        host.start_bondd()
    wait_for(lambda: host.slave("l0") is None, "bondd to see that it went")
    host.ctl("add-slave", "bond0", "l2")
    wait_for(lambda: {GROUP, LATER} <= static(host, "l2"), "it to join")
    host.ctl("delete", "bond0")
    assert static(host, "l2") == host.before["l2"] | {GROUP}
    assert static(host, "l1") == host.before["l1"]


def test_two_bonds_exchange_a_slave(lone):
    host = listening(lone, GROUP)
    host.ctl("create", "bond1", "mode", "balance-xor")
    host.ip("link", "set", "bond1", "up")
    for group in (GROUP, LATER):
        host.ip("maddr", "add", group, "dev", "bond1")
    host.ctl("del-slave", "bond0", "l1")
    host.ctl("add-slave", "bond1", "l1")
    assert LATER not in static(host, "l0") and {GROUP, LATER} <= static(host, "l1")
    host.ctl("delete", "bond0")
    assert GROUP in static(host, "l1")
    host.ctl("delete", "bond1")
    assert as_before(host)


def test_more_groups_than_are_recorded(lone):
    """bondd goes on meanwhile, says why not all are joined, and all that are joined are left."""
    host = listening(lone, GROUP, links=1)
    add_all(host, "bond0", [f"01:00:5e:7f:{number >> 8:02x}:{number & 255:02x}"
                            for number in range(MAX_GROUPS + 100)])
    wait_for(lambda: len(static(host, "l0")) > MAX_GROUPS / 10, "some to be joined", 30)
    host.restart_bondd(kill=True)
    wait_for(lambda: "do not join all of its multicast groups" in host.log(),
             "bondd to say that it is too much", 60)
    # that of the slow protocols
    assert len(static(host, "l0")) == MAX_GROUPS + len(host.before["l0"]) + 1
    host.ctl("delete", "bond0")
    assert as_before(host)


MACVLAN, FOREIGN = "02:00:00:12:34:56", "02:00:00:65:43:21"


def unicast(host, dev):
    """Secondary addresses on the device's list."""
    return {each["mac"] for each in json.loads(host.run("bridge", "-j", "fdb", "show", "dev",
                                                           dev).stdout)
            if "self" in each["flags"] and not int(each["mac"][:2], 16) & 1}


@pytest.mark.parametrize("bondd", ["lives", "dies"])
def test_addresses_of_macvlans(lone, bondd):
    """NICs may refuse to be promiscuous, as virtual functions do. What others have put on a list
    stays.
    """
    host = listening(lone, GROUP)
    for mac in (MACVLAN, FOREIGN):
        host.run("bridge", "fdb", "add", mac, "dev", "l0", "self")
    host.ip("link", "add", "mv0", "link", "bond0", "up", "address", MACVLAN, "type", "macvlan")
    host.ip("link", "add", "mv1", "link", "bond0", "up", "type", "macvlan")
    both = {MACVLAN, host.link("mv1")["address"]}
    wait_for(lambda: both <= unicast(host, "l1") and both <= unicast(host, "l0"), "them to be put")
    if bondd == "dies":
        host.restart_bondd(kill=True)
    if not is_team():  # of a team's slaves the kernel keeps the lists
        host.run("bridge", "fdb", "del", MACVLAN, "dev", "l1", "self")
        wait_for(lambda: both <= unicast(host, "l1"), "it to be put back")
    host.ip("link", "del", "mv1")
    wait_for(lambda: unicast(host, "l1") == {MACVLAN}, "one of them to go")
    assert unicast(host, "l0") == {MACVLAN, FOREIGN}
    host.ctl("delete", "bond0")
    assert (unicast(host, "l0"), unicast(host, "l1")) == ({MACVLAN, FOREIGN}, set())


def test_the_bond_takes_the_address_of_a_macvlan(lone):
    """With mac_policy filter slaves go on receiving for it."""
    host = lone(links=1)
    host.make_bond(["l0"], "mode", "balance-xor", "mac_policy", "filter")
    host.ip("link", "add", "mv0", "link", "bond0", "up", "address", MACVLAN, "type", "macvlan")
    wait_for(lambda: MACVLAN in unicast(host, "l0"), "it to be put")
    host.ip("link", "del", "mv0")
    host.ip("link", "set", "bond0", "address", MACVLAN)
    host.wait_looked(3)
    assert MACVLAN in unicast(host, "l0")
    host.ip("link", "set", "bond0", "address", FOREIGN)
    wait_for(lambda: unicast(host, "l0") == {FOREIGN}, "the other one")


def test_a_device_that_takes_no_groups_is_a_slave_all_the_same(lone):
    host = lone(links=1)
    host.ip("tuntap", "add", "t0", "mode", "tap")
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ip("link", "set", "bond0", "up")
    host.ip("maddr", "add", GROUP, "dev", "bond0")
    host.ctl("add-slave", "bond0", "t0", "l0")
    assert GROUP in static(host, "l0")
    host.ctl("delete", "bond0")
    assert GROUP not in groups(host, "l0") | groups(host, "t0")
