"""Slaves that are not like the veth of the other tests: TAP devices with speeds of their
own, devices with somebody else's filters, a bondd without privileges.
"""
import contextlib
import os
import re
import shutil

import pytest

from lab import BUILD, Refused, needs_ports_that_come_back
from tap import Tap
from test_loops import on
from traffic import send_packets
from waiting import wait_for


@pytest.fixture
def taps(lone):
    host = lone(links=0)
    made = [Tap(host, "t0", 1000), Tap(host, "t1", 3000)]
    host.make_bond(["t0", "t1"], "mode", "balance-xor", "xmit_hash_policy", "layer3+4", "miimon",
                   50)
    host.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    host.ip("neigh", "add", "10.0.0.2", "lladdr", "02:00:00:00:00:02", "dev", "bond0")
    yield host, made
    for tap in made:
        tap.close()


def share_of_first(host):
    """Part of 8,000 flows that t0 gets."""
    before = [slave["tx_packets"] for slave in host.show()["slaves"]]
    send_packets(host, count=8000, flows=8000, rate=50000)
    first, second = [slave["tx_packets"] - then
                     for slave, then in zip(host.show()["slaves"], before)]
    return first / (first + second)


def test_weight_is_the_speed(taps):
    host, _ = taps
    shown = host.show()
    assert [slave["speed_mbps"] for slave in shown["slaves"]] == [1000, 3000] and \
        shown["speed_mbps"] == 4000
    assert 0.22 < share_of_first(host) < 0.28


def test_a_change_of_speed_changes_the_shares(taps):
    host, (_, second) = taps
    second.set_speed(1000)
    wait_for(lambda: host.show()["speed_mbps"] == 2000, "bondd to see the new speed")
    assert 0.46 < share_of_first(host) < 0.54


def test_a_weight_wins_over_the_speed(taps):
    host, _ = taps
    host.ctl("set-slave", "bond0", "t0", "weight", "3000")
    assert 0.46 < share_of_first(host) < 0.54
    host.ctl("set-slave", "bond0", "t0", "weight", "auto")
    assert 0.22 < share_of_first(host) < 0.28


def test_a_tap_that_is_closed_is_a_lost_link(taps):
    host, (first, _) = taps
    first.close()
    first.file = os.open("/dev/null", os.O_RDONLY)
    wait_for(lambda: host.slave_names() == ["t1"], "t0 to be gone")
    assert share_of(host, "t1") == 1.0


def sent_by(host, name):
    """Packets of the slave and of the bond, at one time."""
    shown = host.show()
    return next(slave["tx_packets"] for slave in shown["slaves"]
                if slave["name"] == name), shown["tx_packets"]


def share_of(host, name):
    slave, bond = sent_by(host, name)
    send_packets(host, count=500, flows=100)
    slave_now, bond_now = sent_by(host, name)
    return (slave_now - slave) / (bond_now - bond)


# other people's filters

def count_filter(host, dev, direction):
    """Attaches the counting program as a user would, with tc; it lets all pass."""
    host.run("tc", "qdisc", "replace", "dev", dev, "clsact")
    host.run("tc", "filter", "add", "dev", dev, direction, "prio", 5, "bpf", "da", "obj",
             BUILD / "tools/counts.bpf.o", "program", "count_by_priority")


def filters(host, dev):
    return [host.run("tc", "filter", "show", "dev", dev, direction).stdout
            for direction in ("ingress", "egress")]


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_filters_of_the_user_stay(lone, hook):
    """A slave's own clsact filters are there before, during and after."""
    host = lone(links=1)
    for direction in ("ingress", "egress"):
        count_filter(host, "l0", direction)
    before = filters(host, "l0")
    assert all("count_by_priority" in text or "counts.bpf.o" in text for text in before)
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0")
    during = filters(host, "l0")
    assert all("count_by_priority" in text or "counts.bpf.o" in text for text in during)
    host.ctl("del-slave", "bond0", "l0")
    assert filters(host, "l0") == before
    host.ctl("add-slave", "bond0", "l0")
    host.ctl("delete", "bond0")
    assert filters(host, "l0") == before


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_a_clsact_qdisc_of_the_user_stays(lone, hook):
    host = lone(links=2)
    host.run("tc", "qdisc", "add", "dev", "l0", "clsact")
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0", "l1")
    host.ctl("delete", "bond0")
    assert "clsact" in host.run("tc", "qdisc", "show", "dev", "l0").stdout
    assert "clsact" not in host.run("tc", "qdisc", "show", "dev", "l1").stdout


def test_addresses_of_macvlans_reach_the_slaves(pair):
    """bond0 has no filter of its own for them, so the slaves must take what comes."""
    made = pair("balance-xor", links=2)
    made.near.ip("link", "add", "mv0", "link", "bond0", "type", "macvlan", "mode", "bridge")
    made.near.ip("link", "set", "mv0", "up")
    address = made.near.link("mv0")["address"]

    def accepted(link):
        extra = made.near.run("bridge", "fdb", "show", "dev", link).stdout
        return made.near.link(link)["promiscuity"] > 0 or address in extra
    wait_for(lambda: all(accepted(link) for link in made.links),
             "the slaves to take frames for mv0")
    made.near.ip("link", "del", "mv0")
    wait_for(lambda: not any(accepted(link) for link in made.links), "an end of it")


# what the kernel refuses

@pytest.mark.parametrize("missing", ["-sys_admin,-bpf,-perfmon", "-net_admin,-sys_admin"])
def test_a_bondd_without_capabilities(lone, missing):
    """Its create fails with one line that tells what was refused, and leaves nothing."""
    host = lone(links=1, bondd=False)
    command = host.bondd_command
    host.bondd_command = lambda *extra: ["setpriv", "--bounding-set", missing, "--inh-caps",
                                         missing, *command(*extra)]
    devices = host.devices()
    host.start_bondd(wait=False)
    wait_for(lambda: host.bondd.poll() is not None or host.ping_bondd(),
             "bondd to answer or to give up")
    if host.bondd.poll() is not None:
        assert host.bondd.returncode == 1 and host.log().strip()
        return
    done = host.ctl_try("create", "bond0")
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "perm" in done.stderr.lower()
    assert host.devices() == devices and host.pins() == [] and host.ctl_json("list") == []


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_a_bond_whose_pins_were_removed_by_hand(lone, hook):
    """A TCX program goes with its pins; of a filter the refusal says how it goes."""
    host = lone(links=1)
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0")
    host.kill_bondd()
    host.ip("link", "del", "bond0")
    shutil.rmtree(host.bpf_dir / "bond0")
    host.start_bondd()
    host.ctl("create", "bond0")
    if hook == "clsact":
        with pytest.raises(Refused, match="ingress pref") as refused:
            host.ctl("add-slave", "bond0", "l0")
        host.run(*str(refused.value).split("'")[1].split())
    host.ctl("add-slave", "bond0", "l0")
    host.wait_slaves("l0")


def test_as_many_slaves_as_there_can_be_at_once(lone):
    """bondd reads what the kernel tells of them long after it has enslaved the first: old news are
    no failures, and it answers all the while.
    """
    host = lone(links=64)
    host.make_bond(host.links, "mode", "balance-xor", "path", "direct")
    assert " is down" not in host.log()
    assert {slave["link_failures"] for slave in host.show()["slaves"]} == {0}
    host.ctl("del-slave", "bond0", *host.links)
    assert not host.show()["slaves"]


@contextlib.contextmanager
def late(host):
    """bondd hears in one go what happens in the block."""
    host.freeze_bondd()
    yield
    host.thaw_bondd()


def has_no_ipv6(host, dev):
    switch = host.run("cat", f"/proc/sys/net/ipv6/conf/{dev}/disable_ipv6").stdout
    return switch == "1\n" and not host.ip_json("address", "show", "dev", dev)[0]["addr_info"]


@pytest.mark.parametrize("messages", ["late", "lost"])
def test_a_slave_that_was_in_another_namespace_for_a_moment(pair, messages):
    """It is back before bondd looks: it stays a slave, and works."""
    needs_ports_that_come_back()
    made = pair("balance-rr", links=2)
    near, other = made.near, made.lab.namespace("c")
    own = near.slave("l1")["perm_mac"]
    with late(near) if messages == "late" else near.overrun():
        near.ip("link", "set", "l1", "netns", other.name, "name", "away")
        other.ip("link", "set", "away", "netns", near.name, "name", "l1")
    near.wait_slaves("l0", "l1")
    wait_for(lambda: near.link("l1")["allmulti"], "the slave to be as it must be")
    wait_for(lambda: has_no_ipv6(near, "l1"), "no IPv6 on the slave")
    assert near.log().count("was gone for a moment") == 1
    before = near.sent("l1")["packets"]
    send_packets(near, count=200)
    assert near.sent("l1")["packets"] - before >= 100
    near.ctl("del-slave", "bond0", "l1")
    assert near.link("l1")["address"] == own and not near.link("l1")["allmulti"]


def test_another_device_has_the_number_of_a_slave_after_messages_were_lost(lone):
    host = lone()
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    with host.overrun():
        host.ip("link", "del", "l1")
        host.ip("link", "add", "other", "index", "1001", "type", "veth", "peer", "name", "end")
        before = host.link("other")
    wait_for(lambda: host.slave_names() == ["l0"], "l1 to be gone")
    assert host.link("other") == before


@pytest.mark.parametrize("found", ["l0", "nothing"])
def test_a_device_on_the_bond_is_not_taken_for_a_slave_that_has_gone(lab, found):
    """An ipvlan has the bond's address as its permanent one, which is that of the first slave."""
    host, other = lab.lone(), lab.namespace("c")
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    host.ip("link", "set", on(host, "iv0", "bond0", "ipvlan"), "netns", other.name)
    other.ip("link", "set", "iv0", "mtu", "1400", "allmulticast", "on", "up")
    before = other.link("iv0")
    host.kill_bondd()
    if found == "l0":
        host.ip("link", "set", "l0", "netns", other.name)
    else:
        host.ip("link", "del", "l0")
    host.start_bondd()
    host.wait_slaves("l1")
    assert other.link("iv0") == before
    assert found == "nothing" or not other.link("l0").get("allmulti")


def is_free(host, dev):
    """Nothing of bondd is left on it: another bond takes it."""
    return not host.ctl_try("add-slave", "bond1", dev).returncode


@pytest.mark.parametrize("restart", [False, True], ids=["goes on", "dies"])
@pytest.mark.parametrize("rx_hook", ["tc", "xdp"])
def test_a_program_that_the_kernel_does_not_detach(lone, on_veths, rx_hook, restart):
    """The slave keeps its record, and is released as soon as it can be."""
    host = lone(bondd=False)
    host.start_refusable()
    host.ctl("create", "bond0", "mode", "balance-xor", "rx_hook", rx_hook)
    host.ctl("create", "bond1", "mode", "balance-xor", "rx_hook", rx_hook)
    host.ctl("add-slave", "bond0", "l0", "l1")
    host.wait_slaves("l0", "l1")
    with host.refusing("detach"):
        done = host.ctl_try("del-slave", "bond0", "l0")
        left = re.compile(r"\(l0: [^)]*(ingress|XDP)")
        assert done.returncode == 1 and left.search(done.stderr)
        assert left.search(host.show()["problem"])
        assert left.search(" ".join(host.ctl("show", "bond0").split()))
        assert "released" in [each["check"] for each in host.doctor()]
        assert host.carrier_slaves() == ["l1"]
        host.ip("link", "set", "l0", "up", "mtu", "1400")
        host.wait_looked(3)
        assert "UP" in host.link("l0")["flags"] and host.link("l0")["mtu"] == 1400
        if restart:
            host.kill_bondd()
    if restart:
        host.start_bondd()
    wait_for(lambda: is_free(host, "l0"), "l0 to be released")
    host.wait_slaves("l0", bond="bond1")
    host.ctl("del-slave", "bond1", "l0")
    assert host.link("l0")["mtu"] == 1400


@pytest.mark.parametrize("restart", [False, True], ids=["goes on", "dies"])
def test_a_bond_is_deleted_whose_programs_the_kernel_does_not_detach(lone, on_veths, restart):
    host = lone(bondd=False)
    host.start_refusable()
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    with host.refusing("detach"):
        assert host.ctl_try("delete", "bond0").returncode == 1
        again = host.ctl_try("create", "bond0", "mode", "balance-xor")
        assert again.returncode == 1 and "l0: ingress; l1: ingress" in again.stderr
        assert host.ctl_try("delete", "bond0").returncode == 1
        assert "l0: ingress" in host.show()["problem"]
        if restart:
            host.kill_bondd()
    if restart:
        host.start_bondd()
        wait_for(lambda: host.pins() == [], "the next bondd to go on with it")
    else:
        host.ctl("delete", "bond0")
    assert host.pins() == []
    host.ctl("create", "bond1", "mode", "balance-xor")
    wait_for(lambda: is_free(host, "l0") and is_free(host, "l1"), "both to be released")


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
def test_no_bond_takes_what_a_deleted_one_has_not_released(lone, on_veths, hook):
    """Only the XDP program is left on it."""
    host = lone(bondd=False)
    host.start_refusable()
    host.ctl("create", "bond0", "mode", "balance-xor", "rx_hook", "xdp")
    host.ctl("create", "bond1", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", "l0")
    host.wait_slaves("l0")
    with host.refusing("detach"):
        assert host.ctl_try("delete", "bond0").returncode == 1
        with pytest.raises(Refused, match="l0 is not released from bond0 yet"):
            host.ctl("add-slave", "bond1", "l0")
    wait_for(lambda: is_free(host, "l0"), "l0 to be released")
