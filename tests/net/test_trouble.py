"""What others do to a slave that add-slave would have refused: it is said once, shown until it has
gone, and not undone.
"""
import pytest

from lab import is_team
from traffic import Stream
from waiting import wait_for


class Master:
    said, shown = "slave l0 was made a port of bridge br0", "port of another device"

    def begin(self, host):
        host.ip("link", "add", "br0", "type", "bridge")
        host.ip("link", "set", "l0", "master", "br0")

    def end(self, host):
        host.ip("link", "set", "l0", "nomaster")

    def is_there(self, host):
        return host.link("l0").get("master") == "br0"


class Address:
    said, shown = "slave l0 now has an IP address (192.0.2.9/24)", "IP addresses"

    def begin(self, host):
        for number in (9, 10):
            host.ip("addr", "add", f"192.0.2.{number}/24", "dev", "l0")

    def end(self, host):
        host.ip("addr", "flush", "dev", "l0")

    def is_there(self, host):
        return "192.0.2.9" in host.ip("addr", "show", "l0")


class Address6(Address):
    said = "slave l0 now has an IP address (2001:db8::9/64)"

    def begin(self, host):
        host.run("sysctl", "-qw", "net.ipv6.conf.l0.disable_ipv6=0")
        host.ip("addr", "add", "2001:db8::9/64", "dev", "l0")

    def is_there(self, host):
        return "2001:db8::9" in host.ip("addr", "show", "l0")


class Upper:
    said, shown = "mv0 (macvlan) was created on slave l0", "devices were made on it"

    def begin(self, host):
        for number in (0, 1):
            host.ip("link", "add", f"mv{number}", "link", "l0", "type", "macvlan")
            wait_for(lambda: problem(host), "bondd to see it")

    def end(self, host):
        for number in (0, 1):
            assert problem(host)
            host.ip("link", "del", f"mv{number}")

    def is_there(self, host):
        return host.exists("mv0")


def problem(host, dev="l0"):
    return host.slave(dev)["problem"]


def needs(*kinds):
    if is_team() and {Master, Upper} & set(kinds):
        pytest.skip("a port of a team has one master, and the kernel makes nothing on it")


def text_has(host, words):
    return any(line.split()[:1] == ["problem"] and words in line
               for line in host.ctl("show", "-d", "bond0").splitlines())


@pytest.mark.parametrize("kind", [Master, Address, Address6, Upper])
def test_it_is_said_once_and_shown(pair, kind):
    needs(kind)
    made, trouble = pair("balance-xor", links=2), kind()
    host = made.near
    assert problem(host) is None and not text_has(host, "")
    trouble.begin(host)
    wait_for(lambda: problem(host), "bondd to see it")
    assert trouble.shown in problem(host) and text_has(host, trouble.shown) and \
        problem(host, "l1") is None
    assert Stream(made.far, host, to="10.0.0.1", count=500, flows=20).finish()["lost"] == 0
    host.kill_bondd()
    assert trouble.shown in problem(host)
    host.start_bondd()
    assert trouble.is_there(host) and host.log().count(trouble.said) == 1, host.log()
    trouble.end(host)
    wait_for(lambda: problem(host) is None, "bondd to see that it has gone")


@pytest.mark.parametrize("kind", [Master, Address])
def test_what_happens_while_bondd_is_away(pair, kind):
    needs(kind)
    made, trouble = pair("balance-xor", links=2), kind()
    host = made.near
    host.kill_bondd()
    trouble.begin(host)
    host.start_bondd()
    assert trouble.shown in problem(host) and trouble.said in host.log()
    host.kill_bondd()
    trouble.end(host)
    host.start_bondd()
    assert problem(host) is None


@pytest.mark.usefixtures("on_pairs")
def test_a_device_has_the_number_that_bond0_has_elsewhere(pair):
    needs(Upper)
    made = pair("balance-xor", links=2)
    host, there = made.near, made.lab.namespace("there")
    number = host.link("bond0")["ifindex"]
    host.ip("link", "set", "bond0", "netns", there.name)
    wait_for(lambda: "was moved to another namespace" in host.log(), "bondd to see it")
    assert there.link("bond0")["ifindex"] == number
    host.ip("link", "add", "mv0", "index", str(number), "link", "l0", "type", "macvlan")
    wait_for(lambda: problem(host), "bondd to see it")
    host.ip("link", "del", "mv0")
    wait_for(lambda: problem(host) is None, "bondd to see that it has gone")
    there.ip("link", "set", "bond0", "netns", host.name)
    wait_for(lambda: "is back in this namespace" in host.log(), "bondd to see that it is back")


def test_all_at_once(pair):
    needs(Upper)
    host = pair("balance-xor", links=2).near
    for trouble in (Address(), Upper()):
        trouble.begin(host)
    wait_for(lambda: problem(host) and problem(host).count(";") == 1, "both to be shown")
    host.ctl("del-slave", "bond0", "l0")
    for number in (0, 1):
        host.ip("link", "del", f"mv{number}")
    host.ctl("add-slave", "bond0", "l0", "force", "yes")
    host.wait_slaves("l0", "l1")
    assert problem(host) is None


def test_addresses_that_force_removes_are_no_trouble(lone):
    host = lone(links=1)
    host.ctl("create", "bond0")
    host.freeze_bondd()
    host.ip("addr", "add", "192.0.2.9/24", "dev", "l0")
    host.thaw_bondd()
    host.ctl("add-slave", "bond0", "l0", "force", "yes")
    host.wait_slaves("l0")
    assert problem(host) is None and "now has an IP address" not in host.log()


def test_vlans_of_the_bond_are_no_trouble(lone):
    """Nor is a macvlan on the bond, nor an address of it."""
    host = lone(links=1)
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0")
    host.ip("link", "add", "mv0", "link", "bond0", "type", "macvlan")
    host.ip("addr", "add", "192.0.2.9/24", "dev", "bond0")
    host.ip("link", "set", "bond0", "up")
    host.wait_slaves("l0")
    assert problem(host) is None
