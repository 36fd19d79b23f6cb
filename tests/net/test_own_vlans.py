"""VLAN devices on slaves, beside the bond: they work on every slave, as with kernel bonding,
whichever slave receives for the bond.
"""
import pytest

from frames import mac_bytes
from junk import STRANGER, Calm, Floods
from lab import Refused
from lacp import wait_distributing
from namespace import end, kernel_makes
from traffic import send_frames
from waiting import wait_for

pytestmark = [pytest.mark.usefixtures("tests_choose"),
              pytest.mark.skipif(not kernel_makes("vlan"),
                                 reason="this kernel has no VLAN devices")]
KINDS = ["veth", *(kind for kind in ("netkit", "team") if kernel_makes(kind))]
BROADCAST_MAC, STRANGER_MAC = b"\xff" * 6, mac_bytes(STRANGER)
kinds = pytest.mark.parametrize("kind", KINDS)


def add_vlan(host, lower, number, address, upper=None):
    """A VLAN 100 + number with 10.0.(100 + number).ADDRESS."""
    upper = upper or f"{lower}.v"
    host.ip("link", "add", upper, "link", lower, "type", "vlan", "id", str(100 + number))
    host.ip("link", "set", upper, "up")
    host.ip("addr", "add", f"10.0.{100 + number}.{address}/24", "dev", upper)


def wait_all(made, what):
    for number, _ in enumerate(made.links):
        made.near.wait_ping(f"10.0.{100 + number}.2")
        made.far.wait_ping(f"10.0.{100 + number}.1")
    made.near.wait_ping("10.0.0.2")
    assert not [slave["name"] for slave in made.near.show()["slaves"] if slave["problem"]], what


def wait_received(host, dev):
    """dev receives what is for VLAN 100."""
    before = host.received(dev)["packets"]
    wait_for(lambda: host.ping("10.0.100.2") is not None and host.received(dev)["packets"] > before,
             f"{dev} to receive")


def wait_known(host, wanted):
    wait_for(lambda: {number for number, slots in enumerate(host.pinned("own_vlans"))
                      if slots} == set(wanted), f"{wanted} to be known as VLANs of slaves")


@kinds
@pytest.mark.parametrize("mode", ["active-backup", "balance-xor", "802.3ad"])
def test_they_work_on_every_slave(pair, kind, mode):
    """Also after another bondd, on another active slave, and on the slaves that are freed."""
    far = {"mode": "broadcast"} if mode == "active-backup" else {}
    made = pair(mode, links=2, far=far, device=kind)
    near = made.near
    for number, link in enumerate(made.links):
        for host, address in ((near, 1), (made.far, 2)):
            add_vlan(host, link, number, address)
    wait_all(made, "made on slaves")
    near.restart_bondd(kill=True)
    wait_all(made, "after another bondd")
    if mode == "active-backup":
        other = next(slave["name"] for slave in near.show()["slaves"] if not slave["active"])
        near.ctl("set", "bond0", "active_slave", other)
        wait_all(made, "the other one is active")


@kinds
def test_a_slave_may_come_with_one(pair, kind):
    made = pair("active-backup", links=2, far={"mode": "broadcast"}, device=kind)
    near = made.near
    near.ctl("del-slave", "bond0", "l1")
    near.ip("link", "set", "l1", "up")
    for number, link in enumerate(made.links):
        add_vlan(made.far, link, number, 2)
    add_vlan(near, "l0", 0, 1)
    add_vlan(near, "l1", 1, 1)
    near.ctl("add-slave", "bond0", "l1")
    wait_all(made, "it came with a VLAN")
    near.ctl("del-slave", "bond0", "l0")
    near.ip("link", "set", "l0", "up")  # as a slave that is released, it is down as before
    near.wait_ping("10.0.100.2")
    near.wait_ping("10.0.0.2")


@kinds
def test_what_is_deleted_belongs_to_the_bond_again(pair, kind):
    """While both have a VLAN of one number, the slave's is first."""
    made = pair("active-backup", links=1, device=kind)
    for host, address in ((made.near, 1), (made.far, 2)):
        add_vlan(host, "bond0", 0, address, "bond0.v")
    near = made.near
    wait_received(near, "bond0.v")
    near.ip("link", "add", "l0.v", "link", "l0", "type", "vlan", "id", "100")
    near.ip("link", "set", "l0.v", "up")
    wait_received(near, "l0.v")
    near.ip("link", "del", "l0.v")
    wait_received(near, "bond0.v")


def test_others_are_refused(lone):
    near = lone(links=1)
    near.ctl("create", "bond0")
    near.ip("link", "add", "l0.s", "link", "l0", "type", "vlan", "proto", "802.1ad", "id", "5")
    with pytest.raises(Refused, match="has l0.s .vlan. on it"):
        near.ctl("add-slave", "bond0", "l0")


def test_hundreds_come_and_go(pair):
    """bondd takes each from its message, and looks itself after it was not there."""
    near = pair("active-backup", links=2).near

    def change(*lines, of):
        near.ip_batch(*lines)
        wait_known(near, of)

    numbers = range(100, 400)
    change(*[f"link add v{each} link l1 type vlan id {each}" for each in numbers], of=numbers)
    change(*[f"link del v{each}" for each in numbers[::2]], of=numbers[1::2])
    near.kill_bondd()
    near.ip_batch(*[f"link del v{each}" for each in numbers[1:200:2]],
                  "link add v50 link l0 type vlan id 50")
    near.start_bondd()
    rest = [50, *numbers[201::2]]
    change("link set v50 up", of=rest)
    change(*[f"link del v{each}" for each in rest], of=[])


def test_they_work_with_xdp(pair):
    """A program of XDP leaves tagged frames to xbond_rx."""
    made = pair("active-backup", links=2, far={"mode": "broadcast", "rx_hook": "tc"},
                device="veth", rx_hook="xdp")
    for number, link in enumerate(made.links):
        for host, address in ((made.near, 1), (made.far, 2)):
            add_vlan(host, link, number, address)
    wait_for(lambda: {slave["rx_hook"] for slave in made.near.show()["slaves"]} == {"xdp"},
             "both slaves to receive by XDP", 30)
    wait_all(made, "by XDP")


@kinds
def test_one_leaves_for_another_namespace(lab, pair, kind):
    """Under traffic. Its frames are the bond's until it is back; with a team, where the kernel
    looks for it first, they are its own there, too.
    """
    made = pair("active-backup", links=1, device=kind)
    near, other = made.near, lab.namespace("c")
    for host, address in ((near, 1), (made.far, 2)):
        add_vlan(host, "bond0", 0, address, "bond0.v")
    near.ip("link", "add", "l0.v", "link", "l0", "type", "vlan", "id", "100")
    near.ip("link", "set", "l0.v", "up")
    frames = {"bond0.v": BROADCAST_MAC + STRANGER_MAC + b"\x88\xb5" + bytes(50)}
    floods = Floods(made.far, frames, 300, rate=500)
    for _ in range(3):
        wait_received(near, "l0.v")
        near.ip("link", "set", "l0.v", "netns", other.name)
        if kind == "team":
            other.ip("link", "set", "l0.v", "up")
            wait_for(lambda: other.received("l0.v")["packets"] > 100, "it to receive there")
        else:
            wait_received(near, "bond0.v")
        other.ip("link", "set", "l0.v", "netns", near.name)
        near.ip("link", "set", "l0.v", "up")
    for child in floods.children:
        end(child)
    near.wait_ping("10.0.0.2")


@kinds
def test_a_flood_for_them(pair, kind):
    """Of a VLAN that a slave has, and of thousands that nobody has: the bond goes on."""
    made = pair("802.3ad", links=2, device=kind, lacp_rate="fast")
    near = made.near
    near.ip("link", "add", "l0.v", "link", "l0", "type", "vlan", "id", "100")
    near.ip("link", "set", "l0.v", "up")
    wait_known(near, [100])
    wait_distributing(near, made.far, links=made.links, deadline=15)
    calm, before = Calm(near, made.links), near.received("bond0")["packets"]
    floods = Floods(made.far, {link: BROADCAST_MAC + STRANGER_MAC + b"\x81\0\0\x64\x88\xb5" +
                               bytes(46) for link in made.links[:1]}, 5, rate=2000)
    while floods.running():
        calm.check()
    assert floods.sent() > 1000
    assert near.received("bond0")["packets"] - before < 500
    send_frames(made.far, "l0", (BROADCAST_MAC + STRANGER_MAC + b"\x81\0" +
                                 number.to_bytes(2, "big") + b"\x88\xb5" + bytes(46)
                                 for number in range(1 << 16)))
    calm.finish()
    wait_known(near, [100])
    near.wait_ping("10.0.0.2")


def test_news_that_get_lost(pair):
    """The kernel has no room for messages, or bondd stands still: it looks again."""
    near = pair("active-backup", links=1).near
    with near.failing("recvmsg:error=ENOBUFS:when=1..20"):
        near.ip_batch(*[f"link add v{each} link l0 type vlan id {each}"
                        for each in range(100, 120)])
    wait_known(near, range(100, 120))
    near.freeze_bondd()
    near.ip_batch(*[f"link del v{each}" for each in range(100, 120)],
                  *[f"link add v{each} link l0 type vlan id {each}" for each in range(200, 1200)])
    near.thaw_bondd()
    wait_known(near, range(200, 1200))
    near.wait_ping("10.0.0.2")
