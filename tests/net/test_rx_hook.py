"""What rx_hook costs a slave: nothing is changed on a device before its driver has taken the
program, and what was refused is not tried again by every bondd. Taps have native XDP, macvlans have
none. Real drivers: tests/vm.
"""
import contextlib
import socket
import struct

import pytest

from frames import mac_bytes
from lab import BUILD, hooks
from tap import Tap
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("on_veths")
RTMGRP_LINK = 1


@contextlib.contextmanager
def news_of(host, dev):
    """Types of the messages about a device within the block, also of changed features; read them
    after it.
    """
    found, index = [], host.link(dev)["ifindex"]
    with host.inside():
        news = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    with news:
        news.bind((0, RTMGRP_LINK))
        yield found
        news.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                data = news.recv(65536)
                if struct.unpack_from("i", data, 16 + 4)[0] == index:
                    found.append(struct.unpack_from("H", data, 4)[0])


@pytest.fixture
def without_xdp(lone):
    """A bond whose slave m0 is a macvlan."""
    near = lone(links=2)
    near.ip("link", "add", "m0", "link", "l1", "type", "macvlan")
    near.ctl("create", "bond0")
    near.ctl("add-slave", "bond0", "m0")
    near.ip("link", "set", "bond0", "up")
    return near


@pytest.mark.parametrize("wanted", ["auto", "xdp"])
def test_a_device_without_xdp_is_not_touched(without_xdp, wanted):
    near = without_xdp
    with news_of(near, "m0") as news:
        near.ctl("set", "bond0", "rx_hook", wanted)
        near.restart_bondd(kill=True)
        near.ctl("set", "bond0", "rx_hook", "tc")
    assert not news
    assert ("m0 receives through TC, not XDP" in near.log()) == (wanted == "xdp")


def test_a_refusal_is_remembered(without_xdp):
    """It is told once, and asked for again when rx_hook is set."""
    near = without_xdp
    told = lambda: near.log().count("m0 receives through TC, not XDP")
    near.ctl("set", "bond0", "rx_hook", "xdp")
    assert told() == 1
    near.restart_bondd(kill=True)
    assert told() == 1 and hooks(near) == ["tc"]
    near.ctl("set", "bond0", "rx_hook", "xdp")
    assert told() == 2


def host_with_taps(lab, *names):
    host = lab.host("t")
    host.taps = [Tap(host, name) for name in names]
    host.ip_batch(*[f"link set {name} up" for name in names])
    host.make_bond(names, "device", "veth")
    return host


@pytest.fixture
def tapped(lab):
    """A host with a bond of the tap t0, up."""
    host = host_with_taps(lab, "t0")
    host.tap = host.taps[0]
    yield host
    host.tap.close()


def arrive(host, count=5):
    """How many frames to bond0 are counted there, and on the slave."""
    mac = mac_bytes(host.link("bond0")["address"])
    frame = (mac + bytes.fromhex("0200000000990800")).ljust(80, b"\0")
    before, counted = host.received("bond0")["packets"], host.show()["rx_packets"]
    for _ in range(count):
        host.tap.write(frame)
    wait_for(lambda: host.received("bond0")["packets"] >= before + count, "the frames on bond0")
    return host.show()["rx_packets"] - counted


def test_each_frame_is_counted_once(tapped):
    assert arrive(tapped) == 5
    tapped.ctl("set", "bond0", "rx_hook", "xdp")
    assert hooks(tapped) == ["xdp"] and arrive(tapped) == 5


@pytest.mark.parametrize("wanted", ["auto", "xdp"])
def test_it_is_said_when_not_the_driver_refuses(tapped, wanted):
    """With auto, too: the user can do something about it."""
    tapped.ip("link", "set", "t0", "xdp", "obj", BUILD / "tools/passes.bpf.o", "sec", "xdp")
    tapped.ctl("set", "bond0", "rx_hook", wanted)
    wait_for(lambda: "t0 receives through TC, not XDP: it has an XDP program" in tapped.log(),
             "the reason")
    assert hooks(tapped) == ["tc"]


def test_bondd_dies_before_the_program_may_take_frames(tapped):
    """They pass to TC until the next bondd is there."""
    with tapped.dying_at("xdp-closed"):
        tapped.ctl_try("set", "bond0", "rx_hook", "xdp")
    assert "xdp" in tapped.link("t0") and arrive(tapped) == 5
    tapped.start_bondd()
    assert hooks(tapped) == ["xdp"] and arrive(tapped) == 5
    tapped.ctl("set", "bond0", "rx_hook", "tc")
    assert "xdp" not in tapped.link("t0") and arrive(tapped) == 5


@pytest.mark.parametrize("step", ["xdp-recorded", "xdp-closed", "xdp-attached"])
def test_bondd_dies_in_the_turn_of_the_first(lab, step):
    """The next one gives all slaves what they shall have, and traffic."""
    host = host_with_taps(lab, "t0", "t1")
    with host.dying_at(step):
        host.ctl_try("set", "bond0", "rx_hook", "xdp")
    host.start_bondd()
    wait_for(lambda: hooks(host) == ["xdp", "xdp"], "both")
    wait_for(lambda: [slave["active"] for slave in host.show()["slaves"]] == [True, True],
             "both to be used")
    shown = host.show()["slaves"]
    assert [(slave["link_failures"], slave["resets"]) for slave in shown] == [(0, 0)] * 2
    host.ctl("set", "bond0", "rx_hook", "tc")
    wait_for(lambda: hooks(host) == ["tc", "tc"] and
             not any("xdp" in host.link(tap) for tap in ("t0", "t1")), "TC again")
    for tap in host.taps:
        tap.close()


@pytest.fixture
def near(lone):
    """Slaves of its bond are l0 and m0, which is a macvlan and refuses the MAC addresses of its
    neighbours, m1 and l1.
    """
    made = lone(links=2)
    for name in ("m0", "m1"):
        made.ip("link", "add", name, "link", "l1", "type", "macvlan")
    made.ctl("create", "bond0")
    made.ctl("add-slave", "bond0", "l0", "m0")
    return made


def test_another_mac_of_the_bond_is_refused_by_a_slave(near):
    """As the kernel's bonding does: then no slave has it."""
    near.ip("link", "set", "bond0", "up")
    mac, taken = near.link("bond0")["address"], near.link("m1")["address"]
    near.ip("link", "set", "m1", "up")
    near.ip("link", "set", "bond0", "address", taken)
    wait_for(lambda: "the bond goes back to" in near.log(), "the refusal")
    wait_for(lambda: near.link("bond0")["address"] == mac, "the old address")
    assert {near.link(dev)["address"] for dev in ("l0", "m0")} == {mac}
    near.ip("link", "set", "bond0", "address", "02:00:00:00:00:77")
    wait_for(lambda: {near.link(dev)["address"] for dev in ("l0", "m0")} == {"02:00:00:00:00:77"},
             "another one")


def test_a_slave_that_has_refused_keeps_its_mac_for_itself(near):
    """The next bondd does not give it to the bond, and the slave is asked again."""
    near.ip("link", "set", "bond0", "up")
    near.ip("link", "set", "l1", "up")
    mac, free, other = near.link("bond0")["address"], near.link("l1")["address"], \
        "02:00:00:00:00:77"
    near.ip("link", "set", "l1", "address", mac)
    near.ip("link", "set", "m0", "address", other)
    wait_for(lambda: "m0 does not take the bond's MAC address" in near.log(), "the refusal")
    near.restart_bondd()
    assert near.show()["mac"] == near.link("bond0")["address"] == near.link("l0")["address"] == mac
    assert near.link("m0")["address"] == other
    near.ip("link", "set", "l1", "address", free)
    wait_for(lambda: near.link("m0")["address"] == mac, "m0 to take it")


@pytest.mark.parametrize("step", ["mac-taken", "mac-changed"])
def test_killed_before_a_slave_refuses_the_bonds_mac(near, step):
    """The next bondd gives it to all again, the slave refuses, and the bond gets its old one."""
    near.ip("link", "set", "m1", "up")
    mac, taken = near.link("bond0")["address"], near.link("m1")["address"]
    with near.dying_at(step):
        near.ip("link", "set", "bond0", "up")
        near.ip("link", "set", "bond0", "address", taken)
    near.start_bondd()
    wait_for(lambda: near.link("bond0")["address"] == mac, "the old address")
    assert {near.link(dev)["address"] for dev in ("l0", "m0")} == {mac}
    assert "the bond goes back to" in near.log()
    near.ping_bondd()
    assert near.show()["mac"] == mac
