"""balance-tlb and balance-alb at a switch: which slave sends what with which address, what is
received where, and what is left when slaves and bondd fail.
"""
import pytest

from frames import mac_bytes
from lab import Refused
from namespace import KERNEL
from test_announce import above, mac_of
from test_fail_over_mac import STEPS, fail_over, macs, owns, swap_and_die
from test_tell import Network
from traffic import UDPSEQ, Capture, send_frames, send_packets
from waiting import IS_SLOW, wait_for

MODES = ["balance-tlb", "balance-alb"]
RARP, LOOPBACK = 0x8035, 0x9000
EVERYBODY = "ff:ff:ff:ff:ff:ff"


class Switched:
    """bond0 with 10.0.0.1 and fd00::1 at a bridge, which has .2 and ::2 itself."""

    def __init__(self, near, mode, **options):
        self.near, self.far, self.links = near, near.far, near.links
        self.far.ip("link", "add", "br0", "type", "bridge", "mcast_snooping", 0)
        for link in self.links:
            self.far.ip("link", "set", link, "master", "br0")
        self.far.ip("link", "set", "br0", "up")
        near.ctl("create", "bond0", "mode", mode, *(word for option in options.items()
                                                    for word in option))
        near.ctl("add-slave", "bond0", *self.links)
        near.ip("link", "set", "bond0", "up")
        for host, dev, number in ((near, "bond0", 1), (self.far, "br0", 2)):
            host.ip("addr", "add", f"10.0.0.{number}/24", "dev", dev)
            host.ip("addr", "add", f"fd00::{number}/64", "dev", dev, "nodad")
        near.wait_slaves(*self.links)
        near.wait_ping("10.0.0.2")

    def macs(self):
        shown = self.near.show()
        return shown["mac"], {slave["name"]: slave["mac"] for slave in shown["slaves"]}

    def wires(self):
        return [Capture(self.far, link) for link in self.links]

    def active(self):
        return self.near.show()["active_slave"]


@pytest.fixture
def switched(lone):
    def make(mode, links=3, **options):
        return Switched(lone(links), mode, **options)
    return make


def sources(wires):
    """{device: source addresses of the numbered packets that came by it}"""
    return {wire.dev: {frame.src for frame in wire.frames(0.1) if frame.numbers()}
            for wire in wires}


@pytest.mark.parametrize("mode", MODES)
def test_each_slave_sends_with_its_own_address(switched, mode):
    made = switched(mode, xmit_hash_policy="layer3+4")
    mac, macs = made.macs()
    assert macs[made.active()] == mac and len(set(macs.values())) == 3
    wires = made.wires()
    send_packets(made.near, count=600, flows=100)
    assert sources(wires) == {link: {macs[link]} for link in made.links}
    made.near.ping("10.0.0.2")
    made.near.ping("fd00::2")


def test_the_active_slave_fails(switched):
    """By itself, then while there is no bondd; what comes in goes to the one that takes over."""
    made = switched("balance-tlb", xmit_hash_policy="layer3+4", primary="l0")
    mac, macs = made.macs()
    made.far.ip("link", "set", "l0", "down")
    wait_for(lambda: made.active() != "l0", "another active slave")
    made.near.wait_ping("10.0.0.2")
    wait_for(lambda: made.macs()[1][made.active()] == mac, "it to have the bond's address")
    assert set(made.macs()[1].values()) == set(macs.values())
    made.near.kill_bondd()
    cut = made.active()
    made.far.ip("link", "set", cut, "down")
    made.near.wait_ping("10.0.0.2")
    made.near.wait_ping("fd00::2")
    left = next(link for link in made.links if link not in ("l0", cut))
    wires = made.wires()
    send_packets(made.near, count=300, flows=50)
    assert sources(wires)[left] == {mac}
    made.near.start_bondd()
    wait_for(lambda: made.macs()[1][left] == mac, f"{left} to have the bond's address")
    for link in made.links:
        made.far.ip("link", "set", link, "up")
    wait_for(lambda: made.active() == "l0", "the primary to be active")
    wait_for(lambda: made.macs()[1]["l0"] == mac, "the primary to have the bond's address")
    assert set(made.macs()[1].values()) == set(macs.values())
    made.near.wait_ping("10.0.0.2")
    made.near.ctl("del-slave", "bond0", "l0")
    made.near.wait_ping("10.0.0.2")


def port_of(made, link):
    """A source port whose packets leave by this link."""
    for port in range(20000, 20100):
        wire = Capture(made.far, link)
        send_packets(made.near, count=1, from_port=port)
        if any(frame.numbers() for frame in wire.frames(0.05)):
            return port
    raise AssertionError(f"no flow takes {link}")


@pytest.mark.parametrize("mode", MODES)
def test_switches_are_told_whichever_slave_sends(switched, mode):
    """Without bondd, the active slave fails, and all that is sent leaves by a third one."""
    made = switched(mode, xmit_hash_policy="layer3+4", primary="l0", lp_interval=3600)
    near, (mac, macs) = made.near, made.macs()
    near.ctl("set-slave", "bond0", "l1", "prio", 10)  # the next one
    near.ip("neigh", "replace", "10.0.0.2", "lladdr", made.far.link("br0")["address"], "dev",
            "bond0")
    port = port_of(made, "l2")
    for host in (near, made.far):  # it would send by itself
        host.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
    near.kill_bondd()
    wires = dict(zip(made.links, made.wires()))
    made.far.ip("link", "set", "l0", "down")
    wait_for(lambda: near.link("l0")["operstate"] != "UP", "the loss")
    send_packets(near, count=20, from_port=port)
    found = {link: wire.frames(0.3) for link, wire in wires.items()}
    assert [(link, frame.src) for link, frames in found.items() for frame in frames
            if frame.type == RARP] == [("l1", mac)]
    assert [frame.src for frame in found["l2"] if frame.numbers()] == [macs["l2"]] * 20


def unicast(dest, source):
    return bytes.fromhex((dest + source).replace(":", "")) + bytes.fromhex("0800") + bytes(46)


@pytest.mark.parametrize("mode, receives", [("balance-tlb", ["l0"]),
                                            ("balance-alb", ["l0", "l1", "l2"])])
def test_who_receives_what(switched, mode, receives):
    """Each slave a frame for its own address, one for the bond's, a broadcast."""
    made = switched(mode)
    mac, macs = made.macs()
    far = made.far.link("br0")["address"]
    with Capture(made.near, "bond0") as above:
        above.frames(0.1)
        for number, link in enumerate(made.links):
            source = f"02:00:00:00:00:0{number}"
            for dest in (macs[link], mac, "ff:ff:ff:ff:ff:ff"):
                send_frames(made.far, link, [unicast(dest, source)])
        heard = [frame for frame in above.frames(0.3) if frame.src.startswith("02:00:00:00:00:0")]
        nobody, source = "00:00:00:00:00:00", "02:00:00:00:00:09"
        send_frames(made.far, "l0", [unicast(nobody, source)])
        got = []
        wait_for(lambda: got.extend(frame.dst for frame in above.frames() if frame.src == source)
                 or got, "the frame for nobody, which is for no slave")
    assert far not in {frame.src for frame in heard}
    own = {"l0": {mac, "ff:ff:ff:ff:ff:ff"}}
    found = {link: {frame.dst for frame in heard if frame.src.endswith(f"0{number}")}
             for number, link in enumerate(made.links)}
    assert found == {link: own.get(link, {mac} if link in receives else set())
                     for link in made.links}
    assert got == [nobody]
    assert sum(frame.src.endswith("01") for frame in heard) == (1 if "l1" in receives else 0)


@pytest.mark.parametrize("mode", MODES)
def test_learning_packets(switched, mode):
    """Of each slave from its address to itself, again and again, also in a VLAN that is used. When
    the active slave changes, at once and to everybody. A new lp_interval counts from now on.
    """
    made = switched(mode, links=2, lp_interval=3600)
    near, (mac, macs), wires = made.near, made.macs(), made.wires()
    tagged = bytes.fromhex("ff" * 6) + bytes.fromhex(mac.replace(":", "")) + \
        bytes.fromhex("81000005" "88b5") + bytes(46)
    send_frames(near, "bond0", [tagged])
    near.ctl("set", "bond0", "lp_interval", 1)
    heard = {link: [] for link in made.links}

    def listen():
        for wire in wires:
            heard[wire.dev] += [(frame.src, frame.dst, frame.vlan) for frame in wire.frames()
                                if is_learning(frame)]
        return heard

    wait_for(lambda: all(each.count((macs[link], macs[link], vlan)) >= 2
                         for link, each in listen().items() for vlan in (None, 5)),
             "two learning packets of each slave in each VLAN")
    assert {link: {src for src, _, _ in each} for link, each in heard.items()} == \
        {link: {macs[link]} for link in made.links}
    near.ctl("set", "bond0", "lp_interval", 3600)
    other = next(link for link in made.links if link != made.active())
    listen()
    heard[other].clear()
    near.ctl("set", "bond0", "active_slave", other)
    for vlan in (None, 5):
        wait_for(lambda vlan=vlan: (mac, EVERYBODY, vlan) in listen()[other],
                 f"{other} to tell of the bond's address")


def is_learning(frame):
    """For the next switch, or, as a RARP, for all of them. Its type is behind its tag."""
    if frame.src == frame.dst:
        return frame.type == LOOPBACK
    return frame.type == RARP and frame.dst == EVERYBODY and \
        frame.data[22:28] == frame.data[32:38] == mac_bytes(frame.src)


def learnt(wire):
    """The addresses of the learning packets that have come by this wire."""
    return {frame.src for frame in wire.frames() if is_learning(frame)}


@pytest.mark.parametrize("mode", MODES)
def test_devices_above_are_learnt(switched, lab, mode):
    """At the active slave and at no other, also of a macvlan that is in another namespace; after a
    failover at once. A virtual router's address is left to the router that has it now.
    """
    made = switched(mode, links=2, lp_interval=1, primary="l0")
    near, there = made.near, lab.namespace("c")
    router = "00:00:5e:00:01:07"
    above(near, "u0", "type", "macvlan", "mode", "bridge")
    above(near, "u1", "address", router, "type", "macvlan", "mode", "bridge")
    above(near, "u2", "type", "macvlan", "mode", "bridge")
    near.ip("link", "set", "u2", "netns", there.name)
    there.ip("link", "set", "u2", "up")
    devices, heard = {mac_of(near, "u0"), mac_of(there, "u2")}, {link: set() for link in made.links}
    wires = made.wires()

    def listen():
        for wire in wires:
            heard[wire.dev] |= learnt(wire)
        return heard

    wait_for(lambda: devices <= listen()["l0"], "the macvlans to be learnt at l0", deadline=20)
    assert not devices & heard["l1"] and router not in heard["l0"] | heard["l1"]
    near.ctl("set", "bond0", "lp_interval", 3600)
    listen()
    heard["l0"].clear()
    near.ctl("set", "bond0", "active_slave", "l1")
    wait_for(lambda: devices <= listen()["l1"], "the macvlans to be learnt at l1")
    assert not devices & heard["l0"]


@pytest.mark.parametrize("mode", MODES)
def test_switches_behind_others_are_told(lab, mode):
    """The slaves end at two switches. A third one has to know where addresses have moved to, though
    nobody on bond0 says anything by itself.
    """
    made = Network(lab, "mode", mode, "primary", "l0", "lp_interval", 3600, "resend_igmp", 0)
    near, other = made.near, macs(made.near)["l1"]
    near.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
    for dev, source in (("l0", made.mac), ("l1", other)):
        send_frames(near, dev, [mac_bytes(EVERYBODY) + mac_bytes(source) + b"\x88\xb5" + bytes(46)])

    def wait_learned(**ports):
        wait_for(lambda: all(made.learned(port, mac) for port, mac in ports.items()),
                 f"{ports} to be learned")

    wait_learned(w1=made.mac, w2=other)
    near.ctl("set", "bond0", "active_slave", "l1")
    wait_learned(w2=made.mac, w1=other)
    made.switches.ip("link", "set", "a1", "down")
    near.wait_slaves("l0")
    wait_learned(w1=made.mac)
    made.p.wait_ping("10.0.0.1")
    if mode == "balance-alb":
        wait_learned(w1=other)  # the clients of l1 send to it
        made.switches.ip("link", "set", "a1", "up")
        near.wait_slaves("l0", "l1")
        wait_learned(w2=other)


def bridged(near, lab, port):
    """A bridge on bond0, or on a VLAN of it, or one that filters VLANs, with a host behind it."""
    options = ["vlan_filtering", 1] if port == "filtering" else []
    if near.run("ip", "link", "add", "br9", "type", "bridge", "mcast_snooping", 0, *options,
                check=False).returncode:
        pytest.skip("bridges of this kernel do not filter VLANs")
    dev, there = "bond0" if port == "filtering" else port, lab.namespace("c")
    if port == "bond0.5":
        above(near, port, "type", "vlan", "id", "5")
    near.ip("link", "set", dev, "master", "br9")
    near.ip("link", "set", "br9", "up")
    near.ip("link", "add", "tap", "type", "veth", "peer", "name", "eth0", "netns", there.name)
    near.ip("link", "set", "tap", "master", "br9", "up")
    there.ip("link", "set", "eth0", "up")
    for each in ("tap", dev) if port == "filtering" else ():
        near.run("bridge", "vlan", "add", "dev", each, "vid", 5)
    return dev, there


@pytest.mark.parametrize("port, vlans", [("bond0", {None}), ("bond0.5", {5}),
                                         ("filtering", {None, 5})])
@pytest.mark.parametrize("mode", MODES)
def test_hosts_behind_a_bridge_are_learnt_elsewhere(lone, lab, mode, port, vlans):
    """Once, at the slave that has become active; not what is on the other side of bond0, and
    nothing until the spanning tree lets it forward. And not by broadcasts: one that came back by
    the slave that was active would tell the bridge that the host is outside.
    """
    near = lone(2)
    near.ctl("create", "bond0", "mode", mode, "primary", "l0", "lp_interval", 3600)
    near.ctl("add-slave", "bond0", *near.links)
    near.wait_slaves(*near.links)
    with Capture(near.far, "l0") as wire:
        near.ip("link", "set", "bond0", "up")
        wait_for(lambda: near.show()["mac"] in learnt(wire), "the first round, before the host")
    dev, there = bridged(near, lab, port)
    host, beyond = mac_of(there, "eth0"), "02:00:00:00:00:0b"

    def say(where, link, source, tag=b""):
        send_frames(where, link, [bytes.fromhex("ff" * 6) + mac_bytes(source) + tag +
                                  b"\x88\xb5" + bytes(46)])

    def knows_both():
        tag = bytes.fromhex("81000005")
        say(there, "eth0", host)
        if port == "filtering":
            say(there, "eth0", host, tag)
        say(near.far, "l0", beyond, tag if port == "bond0.5" else b"")
        found = near.run("bridge", "fdb", "show", "br", "br9").stdout
        return host in found and beyond in found

    wait_for(knows_both, "the bridge to know both")
    wires = [Capture(near.far, link) for link in near.links]
    heard = {}

    def listen():
        for wire in wires:
            frames = [frame for frame in wire.frames() if is_learning(frame)]
            assert not any(frame.src == host and frame.dst != host for frame in frames)
            heard.setdefault(wire.dev, []).extend((frame.src, frame.vlan) for frame in frames)
        return heard

    def heard_of(link, mac):
        return {vlan for source, vlan in listen()[link] if source == mac}

    listen()
    heard.clear()
    near.ctl("set", "bond0", "active_slave", "l1")
    wait_for(lambda: heard_of("l1", host) >= vlans, lambda: f"l1 to tell of the host: {heard}")
    assert not heard_of("l0", host)
    assert not heard_of("l0", beyond) | heard_of("l1", beyond)
    near.ip("link", "set", "br9", "type", "bridge", "stp_state", 1, "forward_delay", 3000)
    near.ip("link", "set", dev, "nomaster")
    near.ip("link", "set", dev, "master", "br9")
    assert "state listening" in near.ip("-d", "link", "show", dev)
    heard.clear()
    near.ctl("set", "bond0", "active_slave", "l0")
    wait_for(lambda: None in heard_of("l0", near.show()["mac"]), "l0 to tell of the bond")
    near.wait_looked(2)
    assert not heard_of("l0", host)


@pytest.mark.parametrize("mode", ["active-backup", *MODES])
def test_what_is_sent_does_not_come_back(lone, lab, mode):
    """The primary has its link again, and must not hear what the other slave still sends: a bridge
    on bond0 would take its own hosts for being outside. A few packets may, between two stores.
    """
    near = lone(2)
    far = near.far
    far.ip("link", "add", "br0", "type", "bridge", "mcast_snooping", 0)
    far.ip("link", "set", "br0", "up")
    for link in near.links:
        far.ip("link", "set", link, "master", "br0")
    near.ctl("create", "bond0", "mode", mode, "primary", "l0")
    near.ctl("add-slave", "bond0", *near.links)
    near.ip("link", "set", "bond0", "up")
    _, there = bridged(near, lab, "bond0")
    there.ip("addr", "add", "10.0.0.3/24", "dev", "eth0")
    there.ip("route", "add", "239.0.0.0/8", "dev", "eth0")
    there.spawn(UDPSEQ, "send", "--to", "239.1.2.3", "--port", 9000, "--count", 0,
                "--rate", 400 if IS_SLOW else 4000)  # what a capture can read
    host, came_back = mac_of(there, "eth0"), []
    with Capture(near, "bond0") as above, Capture(far, "l0") as wire:
        for _ in range(8):
            far.ip("link", "set", "l0", "down")
            near.wait_slaves("l1")
            above.frames()
            far.ip("link", "set", "l0", "up")
            near.wait_slaves(*near.links)
            wire.frames()
            wait_for(lambda: any(frame.src == host for frame in wire.frames()), "l0 to send")
            came_back.append(sum(frame.src == host for frame in above.frames(0.1)))
    assert sum(count > 3 for count in came_back) <= 2, came_back


@pytest.mark.parametrize("mode", MODES)
def test_hosts_behind_a_bridge_are_learnt_after_an_outage(lone, lab, mode):
    """The only slave may have got its link at another switch."""
    near = lone(1)
    near.make_bond(["l0"], "mode", mode, "lp_interval", 3600)
    _, there = bridged(near, lab, "bond0")
    host = mac_of(there, "eth0")
    send_frames(there, "eth0", [mac_bytes(EVERYBODY) + mac_bytes(host) + b"\x88\xb5" + bytes(46)])
    wait_for(lambda: host in near.run("bridge", "fdb", "show", "br", "br9").stdout, "the host")
    near.far.ip("link", "set", "l0", "down")
    near.wait_slaves()
    with Capture(near.far, "l0") as wire:
        near.far.ip("link", "set", "l0", "up")
        heard = set()
        wait_for(lambda: heard.update(learnt(wire)) or host in heard, "l0 to tell of the host")


def check_addresses(made, mac):
    """Until the active slave has the bond's address and each other slave one of its own, and the
    devices have those that the programs take them to have.
    """
    def is_right():
        programs = [mac_bytes(each).hex() for _, each in sorted(made.macs()[1].items())]
        alb = made.near.pinned("alb")["mac"][:len(made.links)]
        return macs(made.near)[made.active()] == mac == mac_of(made.near, "bond0") and \
            len(set(programs)) == len(made.links) and \
            programs == [word.to_bytes(8, "little")[:6].hex() for word in alb]

    wait_for(is_right, lambda: f"the addresses to be right: {macs(made.near)}")
    made.near.wait_ping("10.0.0.2")
    made.near.wait_ping("fd00::2")
    made.far.wait_ping("10.0.0.1")


def wait_ping_after_a_broadcast(near):
    """While there is no bondd to teach the switch where the bond's address is now, the next
    broadcast does.
    """
    near.ip("neigh", "flush", "dev", "bond0")
    near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("mode", MODES)
def test_a_bondd_that_dies_while_addresses_are_exchanged(switched, mode):
    """The bond goes on, and the next bondd finishes it, also if another slave is active by then."""
    made = switched(mode, links=3, xmit_hash_policy="layer3+4", lp_interval=1)
    near, own = made.near, owns(made.near)
    mac = near.show()["mac"]
    for turn, step in enumerate(STEPS):
        last, link, other = (f"l{(turn + further) % 3}" for further in range(3))
        fail_over(made, last)
        check_addresses(made, mac)
        swap_and_die(near, step, link)
        wait_ping_after_a_broadcast(near)
        near.start_bondd()
        assert made.active() == link
        check_addresses(made, mac)
        fail_over(made, last)
        check_addresses(made, mac)
        swap_and_die(near, step, link)
        for each in (last, link):
            made.far.ip("link", "set", each, "down")
        wait_ping_after_a_broadcast(near)
        near.start_bondd()
        near.wait_slaves(other)
        check_addresses(made, mac)
        for each in (last, link):
            made.far.ip("link", "set", each, "up")
        near.wait_slaves(*made.links)
    # one leaves whose own address another one has
    for link in ("l0", "l1", "l2"):
        fail_over(made, link)
        check_addresses(made, mac)
    has = macs(near)
    leaving = next(link for link in made.links[:2] if own[link] not in (mac, has[link]))
    with near.dying_at("mac-swap-leaving"):
        near.run(*near.ctl_command("del-slave", "bond0", leaving), check=False)
    near.start_bondd()
    assert mac_of(near, leaving) == own[leaving]
    near.ctl("delete", "bond0")
    assert {link: mac_of(near, link) for link in made.links} == own


def rotated(switched, mode, **options):
    """l1 is active, and has been after l2: l0 has the own address of l2, l1 has that of l0."""
    made = switched(mode, lp_interval=3600, **options)
    for link in ("l2", "l1"):
        fail_over(made, link)
        check_addresses(made, made.near.show()["mac"])
    assert macs(made.near)["l0"] == owns(made.near)["l2"]
    return made


@pytest.mark.parametrize("step", [None, "mac-swap-leaving", "mac-swap-left"])
@pytest.mark.parametrize("mode", MODES)
def test_a_slave_leaves_whose_address_another_one_has(switched, mode, step):
    """The programs and the switches know at once what that has instead."""
    made = rotated(switched, mode)
    near, own, mac = made.near, owns(made.near), made.near.show()["mac"]
    made.links = ["l0", "l1"]
    with Capture(made.far, "l0") as wire:
        if step:
            with near.dying_at(step):
                near.run(*near.ctl_command("del-slave", "bond0", "l2"), check=False)
            near.start_bondd()
        else:
            near.ctl("del-slave", "bond0", "l2")
        check_addresses(made, mac)
        assert mac_of(near, "l2") == own["l2"] != macs(near)["l0"]
        heard = set()
        wait_for(lambda: heard.update(learnt(wire)) or macs(near)["l0"] in heard,
                 "l0 to tell of its address")
    near.ctl("delete", "bond0")
    assert {link: mac_of(near, link) for link in own} == own


@pytest.mark.parametrize("mode", MODES)
def test_a_refused_slave_takes_no_address_away(switched, mode):
    made = switched(mode, links=2)
    near, before = made.near, macs(made.near)
    for dev in ("x0", "x1"):
        near.ip("link", "add", dev, "type", "veth", "peer", "name", f"{dev}p")
    near.ip("link", "add", "m0", "link", "x1", "type", "macvlan", "mode", "bridge")
    near.ip("link", "set", "x0", "address", before["l1"])
    with pytest.raises(Refused, match="m0 cannot receive"):
        near.ctl("add-slave", "bond0", "x0", "m0")
    assert macs(near) == before and mac_of(near, "x0") == before["l1"]
    check_addresses(made, near.show()["mac"])


@pytest.mark.parametrize("link", ["l1", "l2"])
@pytest.mark.parametrize("mode", MODES)
def test_a_slave_is_moved_whose_address_another_one_has(switched, lab, mode, link):
    """l1 is the active slave. One that goes without bondd gets its own address from the next bondd;
    where there is no TCX to know it by, the log tells of it.
    """
    made = rotated(switched, mode)
    near, own, mac, there = made.near, owns(made.near), made.near.show()["mac"], lab.namespace("c")
    near.ip("link", "set", link, "netns", there.name)
    made.links = [each for each in made.links if each != link]
    wait_for(lambda: set(own) - {each["name"] for each in near.show()["slaves"]} == {link},
             f"{link} to have gone")
    wait_for(lambda: mac_of(there, link) == own[link], f"{link} to have its own address")
    wait_for(lambda: macs(near)[made.active()] == mac, "the active slave to have the bond's")
    assert len({*macs(near).values(), own[link]} | {mac}) == 3
    made.near.wait_ping("10.0.0.2")
    near.kill_bondd()
    left, has = made.links[0], macs(near)[made.links[0]]
    near.ip("link", "set", left, "netns", there.name)
    near.start_bondd()
    is_found = f"{left} is in another namespace, and as before there" in near.log()
    assert is_found == (KERNEL >= (6, 6))
    assert (mac_of(there, left) == own[left]) == (is_found or has == own[left])
    assert (f"it has MAC address {has} there; its own was {own[left]}" in near.log()) == \
        (has != own[left] and not is_found)


@pytest.mark.parametrize("mode", MODES)
def test_bond0_gets_another_address(switched, mode):
    """The switches know it at once. A slave that has it gets what the bond had."""
    made = switched(mode, lp_interval=3600)
    near, own, mac = made.near, owns(made.near), made.near.show()["mac"]
    wires = made.wires()
    for new in ("02:aa:bb:cc:dd:01", own["l1"], own["l2"], mac):
        expected = {link: {new: near.show()["mac"], near.show()["mac"]: new}.get(has, has)
                    for link, has in macs(near).items()}
        heard = {link: set() for link in made.links}
        for wire in wires:
            wire.frames()
        near.ip("link", "set", "bond0", "address", new)
        wait_for(lambda new=new: near.show()["mac"] == new, "bondd to see it")
        wait_for(lambda heard=heard, expected=expected: [
            heard[wire.dev].update(learnt(wire)) for wire in wires] and all(
            expected[link] in heard[link] for link in made.links), "the learning packets")
        assert macs(near) == expected
        check_addresses(made, new)
    near.ctl("delete", "bond0")
    assert {link: mac_of(near, link) for link in own} == own


@pytest.mark.parametrize("mode", MODES)
def test_a_bondd_that_dies_while_the_mode_changes(switched, mode):
    made = switched("balance-xor", links=3)
    near, mac = made.near, made.near.show()["mac"]
    with near.dying_at("mac-swap-tried"):
        near.run(*near.ctl_command("set", "bond0", "mode", mode), check=False)
    near.start_bondd()
    near.wait_slaves(*made.links)
    near.ctl("set", "bond0", "mode", mode)
    check_addresses(made, mac)


@pytest.mark.parametrize("mode", MODES)
def test_a_slave_that_takes_no_second_address(lone, mode):
    """A macvlan has no list of them, and could not receive when it takes over."""
    host = lone(links=1)
    host.ip("link", "add", "m0", "link", "l0", "type", "macvlan", "mode", "bridge")
    own = mac_of(host, "m0")
    host.ctl("create", "bond0", "mode", mode)
    host.ip("link", "add", "l9", "type", "veth", "peer", "name", "l9p")
    host.ctl("add-slave", "bond0", "l9")
    with pytest.raises(Refused, match="m0 cannot receive for the bond's MAC address besides its "
                                      "own"):
        host.ctl("add-slave", "bond0", "m0")
    assert mac_of(host, "m0") == own and len(host.show()["slaves"]) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_slave_that_cannot_change_its_address(lone, mode):
    """An IFB, while it is up. Neither is it added, nor can the mode change to one of these."""
    host = lone(links=2)
    if host.run("ip", "link", "add", "i0", "type", "ifb", check=False).returncode:
        pytest.skip("this kernel has no IFB")
    own = {link: mac_of(host, link) for link in ("i0", "l0", "l1")}
    why = f"i0 cannot change its MAC address while it is up .*, which mode {mode} needs"
    host.ctl("create", "bond0", "mode", mode)
    host.ctl("add-slave", "bond0", "l0")
    with pytest.raises(Refused, match=why):
        host.ctl("add-slave", "bond0", "i0")
    host.ctl("delete", "bond0")
    assert {link: mac_of(host, link) for link in own} == own
    host.ctl("create", "bond0", "mode", "active-backup", "fail_over_mac", "active")
    host.ctl("add-slave", "bond0", "l0", "i0", "l1")
    with pytest.raises(Refused, match=why):
        host.ctl("set", "bond0", "mode", mode)
    assert host.show()["mode"] == "active-backup"
    assert {link: mac_of(host, link) for link in own} == own == macs(host)
    host.ctl("delete", "bond0")
    assert {link: mac_of(host, link) for link in own} == own


def test_options_of_the_modes(switched):
    made = switched("balance-tlb", links=2, tlb_dynamic_lb="off", lp_interval=5)
    options = made.near.show()["options"]
    assert (options["tlb_dynamic_lb"], options["lp_interval"]) == (False, 5)
    with pytest.raises(Refused, match="arp_interval: mode balance-tlb has no probes"):
        made.near.ctl("set", "bond0", "arp_interval", "100", "arp_ip_target", "10.0.0.2")
    with pytest.raises(Refused, match="mode: balance-tlb changes the MAC addresses of slaves"):
        made.near.ctl("set", "bond0", "mac_policy", "filter")
    for mode in ("balance-xor", "balance-alb", "active-backup", "balance-tlb"):
        made.near.ctl("set", "bond0", "mode", mode)
        made.near.wait_ping("10.0.0.2")
        wait_for(lambda mode=mode: len(set(made.macs()[1].values())) ==
                 (2 if mode.endswith("lb") else 1), f"{mode} to have its addresses")
    mac, _ = made.macs()
    made.near.ctl("set", "bond0", "active_slave", "l1")
    wait_for(lambda: made.macs()[1]["l1"] == mac, "l1 to have the bond's address")
    made.near.wait_ping("10.0.0.2")
    assert "transmit load balancing" in made.near.ctl("show", "--proc", "bond0")
    for value, is_there in (("off", True), ("on", False)):
        made.near.ctl("set", "bond0", "tlb_dynamic_lb", value)
        assert ("Transmit Hash Policy" in made.near.ctl("show", "--proc", "bond0")) == is_there
