"""The ARP monitor, end to end: what is probed, by whom, and which slaves are taken out. The far
ends of the slaves are played by targets.py.
"""
import pytest

import frames
import targets
from lab import Refused
from namespace import groups
from targets import ALL, OTHER, REPLY, REQUEST, Targets, arp, neighbour
from traffic import Capture, send_packets
from waiting import IS_SLOW, moments, wait_for

INTERVAL = 500 if IS_SLOW else 100
MISSED = 8  # intervals: on a busy machine an answer may take long
VALIDATE = ["none", "active", "backup", "all", "filter", "filter_active", "filter_backup"]
ACTIVE, BACKUP, FILTER = 1, 2, 4
FOUR = {"target": "10.0.{}.2", "option": "arp_ip_target"}
SIX = {"target": "fd0{}::2", "option": "ns_ip6_target"}


class Network:
    """A host with bonds over links of their own, and the targets at their far ends."""

    def __init__(self, lab, bonds=1, links=2):
        self.host, self.far = lab.host("a"), lab.namespace("b")
        self.bonds = [f"bond{number}" for number in range(bonds)]
        names = lab.links(self.host, self.far, bonds * links)
        self.wires = [names[at:at + links] for at in range(0, bonds * links, links)]
        for name in names:
            self.far.run("sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")
            self.far.ip("link", "set", name, "up")
        self.targets = Targets(self.far, self.wires,
                               [f"10.0.{at}.{end}" for at in range(bonds) for end in (2, 3)] +
                               [f"fd0{at}::{end}" for at in range(bonds) for end in (2, 3)])
        lab.partners.append(self.targets)

    def bond(self, number=0, mode="active-backup", address=True, **options):
        name, wire = self.bonds[number], self.wires[number]
        words = [word for option in {"arp_missed_max": MISSED, **options}.items()
                 for word in option]
        self.host.ctl("create", name, "mode", mode, *words)
        self.host.ctl("add-slave", name, *wire)
        self.host.ip("link", "set", name, "up")
        if address:
            self.host.ip("addr", "add", f"10.0.{number}.1/24", "dev", name)
            self.host.ip("addr", "add", f"fd0{number}::1/64", "dev", name, "nodad")
        return name

    def arp_state(self, dev):
        return self.host.slave(dev)["monitors"].get("arp", {}).get("state")

    def wait_state(self, state, *devs, deadline=10):
        for dev in devs:
            wait_for(lambda dev=dev: self.arp_state(dev) == state, f"{dev} is {state} by ARP",
                     deadline)

    def failures(self, bond):
        return [slave["link_failures"] for slave in self.host.show(bond)["slaves"]]

    def stays(self, intervals=6):
        """No verdict changes within so many intervals."""
        before = [(slave["name"], slave["mii_status"], slave["link_failures"])
                  for slave in self.host.show()["slaves"]]
        for _ in moments(intervals * INTERVAL / 1000, INTERVAL / 1000):
            pass
        assert before == [(slave["name"], slave["mii_status"], slave["link_failures"])
                          for slave in self.host.show()["slaves"]]


@pytest.fixture
def network(lab):
    return lambda **words: Network(lab, **words)


# What is sent, and by whom.

def test_active_backup_probes_by_the_active_slave_alone(network):
    net = network(links=3)
    net.bond(arp_interval=INTERVAL, arp_ip_target="10.0.0.2,10.0.0.3", ns_ip6_target="fd00::2",
             arp_validate="all")
    net.wait_state("up", *net.wires[0])
    active, mac = net.host.show()["active_slave"], net.host.show()["mac"]
    for source in ("10.0.0.1", "fd00::1"):
        net.targets.wait_probes(1, lambda probe, source=source: probe.source == source)
    probes = net.targets.wait_probes(9)
    assert {each.dev for each in probes} == {active}
    assert {(each.source, each.target, each.mac, each.tags) for each in probes} == {
        ("10.0.0.1", "10.0.0.2", mac, b""), ("10.0.0.1", "10.0.0.3", mac, b""),
        ("fd00::1", "fd00::2", mac, b"")}
    net.host.ctl("set", "bond0", "active_slave", net.wires[0][2])
    wait_for(lambda: net.targets.wait_probes(1)[0].dev == net.wires[0][2], "the new one to probe")


def test_other_modes_probe_by_every_slave(network):
    """One that hears nothing is out of use, and others' answers do not help it. It comes back with
    its first answer.
    """
    net = network()
    net.targets.act(floods=False)
    net.bond(mode="balance-xor", arp_interval=INTERVAL, arp_ip_target="10.0.0.2",
             ns_ip6_target="fd00::2")
    net.wait_state("up", "l0", "l1")
    assert {each.dev for each in net.targets.wait_probes(8)} == {"l0", "l1"}
    net.targets.act(answers=lambda probe: [probe.answer()] if probe.dev == "l1" else [])
    net.wait_state("down", "l0")
    net.host.wait_slaves("l1")
    assert "l0 is down: its ARP or NS targets do not answer" in net.host.log()
    with Capture(net.far, "l0") as wire:
        net.host.ip("neigh", "replace", "10.0.0.9", "lladdr", OTHER, "dev", "bond0")
        send_packets(net.host, to="10.0.0.9", count=100)
        assert not [frame for frame in wire.frames(0.1) if frame.numbers()]
    assert {each.dev for each in net.targets.wait_probes(8)} == {"l0", "l1"}
    net.targets.act(answers=lambda probe: [probe.answer()])
    net.host.wait_slaves("l0", "l1")
    assert net.host.slave("l1")["link_failures"] == 0


def test_without_an_active_slave_they_take_turns(network):
    """And the first that is answered becomes the active one. bond0 has no carrier meanwhile."""
    net = network(links=3)
    net.bond(arp_interval=INTERVAL, arp_ip_target="10.0.0.2", arp_validate="all")
    net.host.wait_slaves(*net.wires[0])
    net.targets.act(answers=lambda probe: [])
    net.host.wait_slaves(deadline=15)
    assert not net.host.show()["carrier"]
    net.targets.wait_probes(3)  # some may be of the slave that was active
    turns = [each.dev for each in net.targets.wait_probes(6)]
    assert set(turns) == set(net.wires[0])
    assert all(one != next_one for one, next_one in zip(turns, turns[1:]))
    net.targets.act(answers=lambda probe: [probe.answer()] if probe.dev == "l1" else [])
    wait_for(lambda: net.host.show()["active_slave"] == "l1", "l1 is active")
    net.wait_state("up", *net.wires[0])


def test_a_bond_without_addresses(network):
    """The kernel probes with the sender 0.0.0.0, and so do we; answers to that count. Addresses may
    come and go.
    """
    net = network()
    net.bond(address=False, arp_interval=INTERVAL, arp_ip_target="10.0.0.2",
             ns_ip6_target="fd00::2", arp_validate="all", arp_all_targets="all")
    net.wait_state("up", "l0", "l1")
    assert {each.source for each in net.targets.wait_probes(4)} == {"0.0.0.0", "::"}
    for change, source in (("add", "10.0.0.1"), ("del", "0.0.0.0")):
        net.host.ip("addr", change, "10.0.0.1/24", "dev", "bond0")
        net.targets.wait_probes(1, lambda probe, source=source: probe.source == source)
    assert net.failures("bond0") == [0, 0]


def test_a_target_whose_route_leads_elsewhere_is_not_probed(network):
    net = network(links=3)
    net.wires[0].remove("l2")
    net.host.ip("link", "set", "l2", "up")
    net.host.ip("addr", "add", "10.0.1.1/24", "dev", "l2")
    net.bond(arp_interval=INTERVAL, arp_ip_target="10.0.0.2,10.0.1.2", arp_validate="all",
             arp_all_targets="all")
    net.targets.act(addresses=["10.0.1.2"])
    net.wait_state("up", "l0", "l1")
    assert {each.target for each in net.targets.wait_probes(4)} == {"10.0.0.2"}


def test_through_a_bridge_on_the_bond(network):
    """The sender is the bridge's address, at the bridge's MAC."""
    net = network()
    net.bond(address=False, arp_interval=INTERVAL, arp_ip_target="10.0.0.2", arp_validate="all")
    net.host.ip("link", "add", "br0", "address", "02:00:5e:10:00:77", "type", "bridge")
    net.host.ip("link", "set", "bond0", "master", "br0")
    net.host.ip("link", "set", "br0", "up")
    net.host.ip("addr", "add", "10.0.0.7/24", "dev", "br0")
    wait_for(lambda: net.targets.wait_probes(1)[0].source == "10.0.0.7", "a probe from 10.0.0.7")
    assert net.targets.wait_probes(1)[0].mac == "02:00:5e:10:00:77"
    net.wait_state("up", "l0", "l1")
    net.stays()


def add_vlan(host, lower, number, protocol="802.1Q"):
    name = f"{lower}.{number}"
    done = host.run("ip", "link", "add", name, "link", lower, "type", "vlan", "proto", protocol,
                    "id", str(number), check=False)
    if "Unknown device type" in done.stderr or "not supported" in done.stderr:
        pytest.skip("this kernel has no VLAN devices")
    assert not done.returncode, done.stderr
    host.ip("link", "set", name, "up")
    return name


@pytest.mark.parametrize("rx_hook", ["tc", "xdp"])
def test_through_vlans_on_the_bond(network, rx_hook):
    """The probes have the tags of the devices that the route leads through, the outer one first."""
    net = network()
    net.bond(address=False, rx_hook=rx_hook)
    single, double = add_vlan(net.host, "bond0", 5), add_vlan(net.host, "bond0", 100, "802.1ad")
    double = add_vlan(net.host, double, 200)
    for dev, *addresses in ((single, "10.0.5.1/24"), (double, "10.0.6.1/24", "fd06::1/64")):
        for each in addresses:
            net.host.ip("addr", "add", each, "dev", dev, *(["nodad"] if ":" in each else []))
    net.targets.act(addresses=["10.0.5.2", "10.0.6.2", "fd06::2"])
    net.host.ctl("set", "bond0", "arp_interval", INTERVAL, "arp_ip_target", "10.0.5.2,10.0.6.2",
                 "ns_ip6_target", "fd06::2", "arp_validate", "all", "arp_all_targets", "all")
    net.wait_state("up", "l0", "l1", deadline=15)
    stacked = bytes.fromhex("88a80064810000c8")
    assert {(each.source, each.target, each.tags) for each in net.targets.wait_probes(9)} == {
        ("10.0.5.1", "10.0.5.2", bytes.fromhex("81000005")), ("10.0.6.1", "10.0.6.2", stacked),
        ("fd06::1", "fd06::2", stacked)}
    net.stays()
    net.targets.act(answers=nothing)
    net.host.wait_slaves(deadline=15)


def test_bond0_in_another_namespace(network, lab):
    """Routes and addresses are those that are there."""
    net = network()
    net.bond(address=False, arp_interval=INTERVAL, arp_ip_target="10.0.0.2",
             ns_ip6_target="fd00::2", arp_validate="all", arp_all_targets="all")
    there = lab.namespace("c")
    net.host.ip("link", "set", "bond0", "netns", there.name)
    there.ip("link", "set", "bond0", "up")
    there.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    there.ip("addr", "add", "fd00::1/64", "dev", "bond0", "nodad")
    for source in ("10.0.0.1", "fd00::1"):
        net.targets.wait_probes(1, lambda probe, source=source: probe.source == source, 20)
    net.wait_state("up", "l0", "l1")
    net.stays()


# What counts.

def junk(_):
    """An IPv4 packet of somebody to somebody."""
    return frames.ethernet(ALL, OTHER, frames.IPV4, bytes(46))


def strangers(_):
    return arp(REQUEST, "10.9.9.9", "10.9.9.8", sender_mac=OTHER)


def strangers6(_):
    return neighbour(targets.SOLICITATION, "fd99::9", "ff02::1:ff00:8", "fd99::8",
                     "33:33:ff:00:00:08")


def somebody_has(end):
    """A neighbour says that it has this address of the bond's network: the target's, bond0's."""
    def claim(dev):
        ip = f"10.0.{int(dev[1:]) // 2}.{end}"
        return arp(REPLY, ip, ip, sender_mac=OTHER, target_mac=ALL)
    return claim


def counts_where_nothing_is_validated(validate, bit):
    return not validate & bit


def counts_where_nothing_is_filtered(validate, bit):
    return not validate & (bit | FILTER)


def forged(probe):
    """Nearly answers: from another host, to another host, to another station, cut off, through a
    router, and what the target says to others.
    """
    wrong = "fd00::99" if probe.is_ipv6 else "10.0.0.99"
    found = [probe.answer(sender=wrong), probe.answer(target=wrong), probe.answer(dst=OTHER),
             probe.answer()[:40]]
    if probe.is_ipv6:
        return found + [neighbour(targets.ADVERTISEMENT, probe.target, probe.source, probe.target,
                                  probe.mac, hops=64)]
    return found + [arp(REPLY, probe.target, probe.target), arp(REQUEST, probe.target, wrong),
                    arp(REQUEST, wrong, probe.target)]


def right(probe):
    return [probe.answer()]


def nothing(_):
    return []


SCENES = {
    "right": (right, True, [], lambda validate, bit: True),
    "right among lies": (right, True, [somebody_has(1), somebody_has(2)],
                         lambda validate, bit: True),
    "junk": (nothing, False, [junk], counts_where_nothing_is_filtered),
    "strangers": (nothing, False, [strangers, strangers6], counts_where_nothing_is_validated),
    "forged": (forged, False, [strangers], counts_where_nothing_is_validated),
}


def test_what_counts_by_validate(network):
    """All values at once, each on a bond of its own."""
    net = network(bonds=len(VALIDATE))
    for number, value in enumerate(VALIDATE):
        net.bond(number, arp_validate=value)
    for scene, (answers, floods, chatter, counts) in SCENES.items():
        net.targets.act(answers=answers, floods=floods, chatter=chatter)
        play(net, FOUR, scene, counts)
    for bond in net.bonds:
        net.host.ctl("set", bond, "arp_ip_target", "none")
    for scene in ("right", "forged"):
        answers, floods, chatter, counts = SCENES[scene]
        net.targets.act(answers=answers, floods=floods, chatter=chatter)
        play(net, SIX, scene, counts)


def play(net, family, scene, counts):
    """Links fail where nothing counts, and only there."""
    before = {}
    for number, bond in enumerate(net.bonds):
        net.host.ctl("set", bond, "arp_interval", 0)
        net.host.ctl("set", bond, "active_slave", net.wires[number][0])
        before[bond] = net.failures(bond)
        net.host.ctl("set", bond, "arp_interval", INTERVAL, family["option"],
                     family["target"].format(number))

    def failed():
        """Of each value: has the active slave failed, and if not, has the backup?"""
        counted = [[now > then for now, then in zip(net.failures(bond), before[bond])]
                   for bond in net.bonds]
        return [(active, not active and backup) for active, backup in counted]
    wanted = [(not counts(validate, ACTIVE),
               counts(validate, ACTIVE) and not counts(validate, BACKUP))
              for validate in range(len(VALIDATE))]
    for _ in moments((MISSED + 2.5) * INTERVAL / 1000):
        pass
    wait_for(lambda: failed() == wanted,
             lambda: f"{scene}: {[*zip(VALIDATE, wanted)]} to fail; {failed()} have")


def test_a_bond_that_hears_only_itself(network):
    """The switch works, and the target does not answer: the probes of the active slave, which come
    back to the others, prove nothing.
    """
    net = network()
    net.bond(arp_interval=INTERVAL, arp_ip_target="10.0.0.2", arp_validate="all")
    net.wait_state("up", "l0", "l1")
    net.targets.act(answers=nothing)
    net.host.wait_slaves(deadline=15)
    net.stays()


def test_any_target_or_all(network):
    net = network()
    net.bond(arp_interval=INTERVAL, arp_ip_target="10.0.0.2,10.0.0.3", ns_ip6_target="fd00::2",
             arp_validate="active")
    net.wait_state("up", "l0", "l1")
    net.targets.act(answers=lambda probe: right(probe) if probe.target != "10.0.0.3" else [])
    net.stays()
    show = net.host.show()
    (active,) = [each for each in show["slaves"] if each["name"] == show["active_slave"]]
    heard = {each["address"]: each["since_heard_ms"]
             for each in active["monitors"]["arp"]["targets"]}
    assert heard["10.0.0.2"] < heard["10.0.0.3"] > 5 * INTERVAL > heard["fd00::2"]
    net.host.ctl("set", "bond0", "arp_all_targets", "all")
    wait_for(lambda: net.failures("bond0") != [0, 0], "a slave to miss 10.0.0.3", 15)


@pytest.mark.parametrize("missed", [1, 4])
def test_so_many_probes_may_bring_nothing(network, missed):
    """Counted on the wire, from the last one that was answered."""
    net = network()
    net.bond(arp_interval=5 * INTERVAL, arp_ip_target="10.0.0.2", arp_validate="active",
             arp_missed_max=missed)
    net.wait_state("up", "l0", "l1")
    net.stays(10)
    active = net.host.show()["active_slave"]
    net.targets.act(answers=nothing, chatter=[junk])  # which keeps the other up
    net.targets.wait_probes(2, lambda probe: probe.dev != active, 15)  # after a failover
    left = [each for each in net.targets.probes if each.dev == active and not each.is_answered]
    assert len(left) == missed


def test_groups_of_solicitations(network):
    """NICs that filter groups must let in what the backups are to hear."""
    net = network(links=3)
    net.bond(arp_interval=INTERVAL, ns_ip6_target="fd00::2,fd00::12:3456", arp_validate="all")
    ours = {"33:33:ff:00:00:02", "33:33:ff:12:34:56"}

    def are_on(devs):
        return all(ours & groups(net.host, dev) == (ours if dev in devs else set())
                   for dev in net.wires[0])

    for _ in range(2):
        active = net.host.show()["active_slave"]
        backups = set(net.wires[0]) - {active}
        wait_for(lambda backups=backups: are_on(backups), "the backups to have them")
        net.host.ctl("set", "bond0", "active_slave", min(backups))

    def are_at_once():
        """Whether the lists are right after a failover before the usual check, which comes with the
        heartbeat, twice a second.
        """
        active = net.host.show()["active_slave"]
        backups = set(net.wires[0]) - {active}
        before = net.host.pinned("table")["heartbeat_ns"]
        net.host.ctl("set", "bond0", "active_slave", min(backups))
        after = set(net.wires[0]) - {min(backups)}
        wait_for(lambda: are_on(after), "the backups to have them")
        return net.host.pinned("table")["heartbeat_ns"] == before

    wait_for(lambda: are_on(set(net.wires[0]) - {net.host.show()["active_slave"]}), "a start")
    assert IS_SLOW or any(are_at_once() for _ in range(20))
    net.host.ctl("set", "bond0", "arp_validate", "none")
    wait_for(lambda: are_on(set()), "nobody to have them")


# What must not take slaves out.

def test_bond0_that_is_down_is_not_judged(network):
    net = network()
    net.targets.act(answers=nothing)
    net.bond(arp_interval=INTERVAL, arp_ip_target="10.0.0.2", arp_validate="all")
    net.host.ip("link", "set", "bond0", "down")
    net.host.wait_looked(1)
    before = net.failures("bond0"), len(net.targets.probes)
    net.host.wait_looked(1)
    assert before == (net.failures("bond0"), len(net.targets.probes))
    net.targets.act(answers=right)
    net.host.ip("link", "set", "bond0", "up")
    net.wait_state("up", "l0", "l1")
    assert before[0] == net.failures("bond0")


def test_slaves_that_come_and_go(network):
    """A slot that gets another device has heard nothing, and its slave has a grace of its own."""
    net = network(links=3)
    net.bond(mode="balance-xor", arp_interval=INTERVAL, arp_ip_target="10.0.0.2",
             arp_validate="all")
    net.targets.act(answers=lambda probe: right(probe) if probe.dev != "l2" else [])
    net.wait_state("up", "l0", "l1")
    net.wait_state("down", "l2")
    net.host.ctl("del-slave", "bond0", "l1", "l2")
    net.host.ctl("add-slave", "bond0", "l2", "l1")
    net.wait_state("down", "l2")
    assert net.host.slave("l2")["monitors"]["arp"]["targets"] == [
        {"address": "10.0.0.2", "since_heard_ms": None}]
    net.wait_state("up", "l1")
    assert net.failures("bond0") == [0, 1, 0]  # l2 was up before


def test_restarts_of_bondd(network):
    """Neither takes out a slave, nor takes one back whose verdict was no."""
    net = network()
    net.bond(mode="balance-xor", arp_interval=INTERVAL, arp_ip_target="10.0.0.2",
             arp_validate="all")
    net.targets.act(answers=lambda probe: right(probe) if probe.dev == "l0" else [])
    net.wait_state("up", "l0")
    net.wait_state("down", "l1")
    net.host.restart_bondd(kill=True)
    net.stays()
    assert net.host.carrier_slaves() == ["l0"]
    net.host.freeze_bondd()
    for _ in moments(5 * INTERVAL / 1000):
        pass
    net.host.thaw_bondd()
    net.stays(5)


def test_end_of_the_monitor(network):
    """Its verdicts end with it."""
    net = network()
    net.targets.act(answers=nothing)
    net.bond(mode="balance-rr", arp_interval=INTERVAL, arp_ip_target="10.0.0.2",
             arp_validate="all")
    net.host.wait_slaves()
    net.host.ctl("set", "bond0", "arp_interval", 0)
    net.host.wait_slaves("l0", "l1")
    assert "arp" not in net.host.slave("l0")["monitors"]
    seen = len(net.targets.probes)
    net.stays(3)
    assert len(net.targets.probes) <= seen + 2


def test_interval_without_targets(network):
    net = network()
    net.bond(arp_interval=INTERVAL)
    net.host.wait_slaves("l0", "l1")
    net.stays(5)
    assert "bond0: the ARP monitor does nothing until" in net.host.log()


def test_who_sets_an_interval_without_targets_is_told(network):
    """It may come first, as in kernel bonding; together with a target it brings no word."""
    net = network()
    targets = ("arp_ip_target", "10.0.0.2")
    for words in (("create", "bond0", "mode", "active-backup", "arp_interval", "100"),
                  ("set", "bond0", "arp_interval", "200")):
        done = net.host.ctl_try(*words)
        assert not done.returncode
        assert done.stderr == "the ARP monitor does nothing until arp_ip_target or " \
            "ns_ip6_target is set\n"
        done = net.host.ctl_try(*words, *targets) if words[0] == "set" else \
            net.host.ctl_try("set", "bond0", "arp_interval", "0")
        assert not done.returncode and not done.stderr
    assert not net.host.ctl_try("set", "bond0", "arp_interval", "300").stderr


# By every way to receive.

@pytest.mark.parametrize("options", [{"rx_hook": "xdp"}, {"path": "direct"},
                                     {"mac_policy": "filter"}, {"fail_over_mac": "follow"}],
                         ids=lambda each: "-".join(each) + "-" + "-".join(each.values()))
def test_hooks_and_addresses(network, options):
    net = network()
    net.bond(arp_interval=INTERVAL, arp_ip_target="10.0.0.2", ns_ip6_target="fd00::2",
             arp_validate="all", arp_all_targets="all", **options)
    net.wait_state("up", "l0", "l1")
    net.stays(4)
    active = net.host.show()["active_slave"]
    net.targets.act(answers=lambda probe: right(probe) if probe.dev != active else [])
    wait_for(lambda: net.host.show()["active_slave"] not in (active, None), "a failover", 15)
    net.wait_state("up", "l0", "l1")
    net.stays(4)


def test_flood_of_arp(network):
    """The programs only write down times, so there is nothing to use up."""
    net = network()
    net.bond(arp_interval=INTERVAL, arp_ip_target="10.0.0.2", arp_validate="all")
    net.wait_state("up", "l0", "l1")
    net.targets.act(chatter=[strangers] * 200)
    net.stays(10)
    net.targets.act(answers=nothing)
    net.host.wait_slaves(deadline=15)


# 802.3ad

def test_8023ad_with_arp(pair):
    """The far end answers on every link while broadcast_neighbor is on. A port without answers
    carries nothing, but goes on speaking LACP.
    """
    made = pair("802.3ad", links=2, lacp_rate="fast", far={"broadcast_neighbor": "on"})
    made.near.ctl("set", "bond0", "arp_interval", INTERVAL, "arp_ip_target", "10.0.0.2",
                  "arp_validate", "all")
    for dev in made.links:
        wait_for(lambda dev=dev: made.near.slave(dev)["monitors"].get("arp", {}).get("state") ==
                 "up", f"{dev} is up by ARP")
    made.far.ctl("set", "bond0", "broadcast_neighbor", "off")
    wait_for(lambda: len(made.near.carrier_slaves()) == 1, "one slave to hear no answer", 15)
    (silent,) = set(made.links) - set(made.near.carrier_slaves())
    assert "distributing" in made.near.slave(silent)["lacp"]["actor_state"]
    assert not made.near.slave(silent)["active"]
    assert made.near.ping("10.0.0.2")
    made.far.ctl("set", "bond0", "broadcast_neighbor", "on")
    made.near.wait_slaves(*made.links)
    assert made.near.slave(silent)["link_failures"] == 1


# Options

def test_sixteen_targets_are_kept_in_a_file(lone):
    host = lone()
    four = ",".join(f"10.0.0.{number}" for number in range(101, 117))
    six = ",".join(f"fd00:1111:2222:3333:4444:5555:6666:{number:x}" for number in
                   range(0x1001, 0x1011))
    host.ctl("create", "bond0", "arp_interval", "1000", "arp_ip_target", four, "ns_ip6_target", six,
             "arp_validate", "filter_backup", "arp_all_targets", "all", "arp_missed_max", "7")
    options = host.show()["options"]
    assert options["arp_ip_target"] == four.split(",")
    assert options["ns_ip6_target"] == six.split(",")
    with pytest.raises(Refused, match="10.0.0.99 is one too many"):
        host.ctl("set", "bond0", "arp_ip_target", f"{four},10.0.0.99")
    host.ctl("save", "bond0")
    host.ctl("delete", "bond0")
    host.restart_bondd()
    assert host.show()["options"] == options
    host.ctl("set", "bond0", "arp_ip_target", "none", "ns_ip6_target", "none")
    assert host.show()["options"]["arp_ip_target"] == []
