"""VLAN devices on slaves, beside the bond: they work on every slave, as with kernel bonding,
whichever slave receives for the bond.
"""
import pytest

from lab import Refused
from namespace import kernel_makes
from waiting import wait_for

pytestmark = [pytest.mark.usefixtures("tests_choose"),
              pytest.mark.skipif(not kernel_makes("vlan"),
                                 reason="this kernel has no VLAN devices")]
KINDS = ["veth", *(kind for kind in ("netkit", "team") if kernel_makes(kind))]
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
    near.kill_bondd()
    near.start_bondd()
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

    def wait_received(dev):
        before = near.received(dev)["packets"]
        wait_for(lambda: near.ping("10.0.100.2") is not None and
                 near.received(dev)["packets"] > before, f"{dev} to receive")
    wait_received("bond0.v")
    near.ip("link", "add", "l0.v", "link", "l0", "type", "vlan", "id", "100")
    near.ip("link", "set", "l0.v", "up")
    wait_received("l0.v")
    near.ip("link", "del", "l0.v")
    wait_received("bond0.v")


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
        wait_for(lambda: {number for number, slots in enumerate(near.pinned("own_vlans"))
                          if slots} == set(of), "the VLANs of slaves to be known")

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
