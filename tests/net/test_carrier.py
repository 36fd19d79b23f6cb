"""The programs see a loss of carrier by themselves: nothing is lost after a cut, although bondd is
dead, stands still, or has not been told.
"""
import pytest

from lab import needs_ports_that_come_back
from namespace import KERNEL
from test_netkit import netkit_only
from test_queue_id import FLOWS, links_used, queued  # noqa: F401  pylint: disable=unused-import
from test_xdp import arrivals, rotating  # noqa: F401  pylint: disable=unused-import
from traffic import Capture, Stream, Tally
from waiting import wait_for

MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad"]
PACKETS = 2000


READS_IN_PLACE = KERNEL >= (6, 2)
in_place_only = pytest.mark.skipif(not READS_IN_PLACE, reason="this kernel reads its memory only "
                                   "by copying, which is done without bondd")


def wait_unwatched(host):
    if not READS_IN_PLACE:
        wait_for(lambda: not host.pinned("table")["watched"], "the watchdog to bite")


def kill(host):
    host.kill_bondd()
    wait_unwatched(host)


def freeze(host):
    host.freeze_bondd()
    wait_unwatched(host)


without_bondd = pytest.mark.parametrize("leave_alone", [kill, freeze])


def cut(made, link):
    made.far.ip("link", "set", link, "down")


def arrive(made, count=PACKETS):
    """Packets of 64 flows, sent now, all arrive."""
    result = Stream(made.near, made.far, count=count, rate=20000, flows=64).finish()
    assert (result["lost"], result["sent"]) == (0, count), result


def some_link_changes(made):
    """The kernel now holds the next messages about carriers back, for up to a second."""
    made.near.ip("link", "add", "noise", "type", "veth", "peer", "name", "noisep")
    for dev, state in (("noise", "up"), ("noisep", "up"), ("noisep", "down")):
        made.near.ip("link", "set", dev, state)


@without_bondd
@pytest.mark.parametrize("mode", MODES)
def test_a_link_is_cut_without_bondd(pair, leave_alone, mode):
    options = {"lacp_rate": "fast"} if mode == "802.3ad" else {}
    far = {"mode": "broadcast"} if mode == "active-backup" else {}
    made = pair(mode, links=3, **options, far=far)
    leave_alone(made.near)
    for link in ("l0", "l2"):
        cut(made, link)
        arrive(made)
    made.near.wait_ping("10.0.0.2")


@in_place_only
@pytest.mark.parametrize("mode", MODES[:4])
def test_the_kernel_tells_late(pair, mode):
    """bondd lives; the packets that follow the cut need no message."""
    made = pair(mode, links=2, miimon=10000, same_index=True,
                far={"mode": "broadcast"} if mode == "active-backup" else {})
    some_link_changes(made)
    cut(made, "l0")
    arrive(made)
    made.near.wait_slaves("l1")
    arrive(made)


@in_place_only
@pytest.mark.parametrize("mode", MODES[:3])
def test_the_only_other_link_has_just_flapped(pair, mode):
    """The kernel has not yet looked at the flap, so it is not known whether that link sends. It
    does, and the one that is cut does not.
    """
    made = pair(mode, links=2, miimon=10000, same_index=True,
                far={"mode": "broadcast"} if mode == "active-backup" else {})
    made.near.freeze_bondd()
    tally = Tally(made.far, made.links)
    some_link_changes(made)
    made.far.ip_batch("link set l1 down", "link set l1 up", "link set l0 down")
    assert Stream(made.near, made.far, count=400, rate=20000, flows=64).finish()["sent"] == 400
    assert tally.finish() == 400


@pytest.mark.parametrize("path", ["counted", "direct"])
@pytest.mark.parametrize("device", ["veth", pytest.param("netkit", marks=netkit_only)])
def test_both_paths_and_devices(pair, path, device):
    made = pair("balance-xor", links=2, path=path, device=device)
    freeze(made.near)
    cut(made, "l0")
    arrive(made)


def test_the_link_returns_without_bondd(pair):
    made = pair("balance-rr", links=2)
    kill(made.near)
    cut(made, "l0")
    arrive(made)
    made.far.ip("link", "set", "l0", "up")

    def both_are_used():
        before = [made.near.sent(link)["packets"] for link in made.links]
        arrive(made)
        return all(made.near.sent(link)["packets"] > then + PACKETS / 4
                   for link, then in zip(made.links, before))
    wait_for(both_are_used, "the link to be used again")


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
def test_a_queue_id_gives_way(queued):  # noqa: F811
    made = queued("balance-xor")
    made.near.ctl("set-slave", "bond0", "l2", "queue_id", 3)
    assert links_used(made, mark=3) == {"l2": FLOWS}
    kill(made.near)
    cut(made, "l2")
    assert sum(links_used(made, mark=3).values()) == FLOWS


def test_another_slave_takes_over_without_bondd(pair):
    """The one that bondd chooses afterwards: not the first, but the one of the highest prio."""
    made = pair("active-backup", links=4, far={"mode": "broadcast"})
    for link, prio in (("l0", 9), ("l2", 5), ("l3", 2)):
        made.near.ctl("set-slave", "bond0", link, "prio", prio)
    kill(made.near)
    for victim, heir in (("l0", "l2"), ("l2", "l3"), ("l3", "l1")):
        cut(made, victim)
        before = made.near.sent(heir)["packets"]
        arrive(made)
        assert made.near.sent(heir)["packets"] >= before + PACKETS, heir
    made.far.ip("link", "set", "l2", "up")
    wait_for(lambda: "LOWER_UP" in made.near.link("l2")["flags"], "carrier")
    made.near.start_bondd()
    made.near.wait_slaves("l1", "l2")
    assert made.near.show()["active_slave"] == "l2"


def remove(made):
    made.near.ip("link", "del", "l0")


def move_away(made):
    made.near.ip("link", "set", "l0", "netns", made.lab.namespace("elsewhere").name)


@without_bondd
@pytest.mark.parametrize("take_away", [remove, move_away])
def test_a_slave_goes_without_bondd(pair, leave_alone, take_away):
    made = pair("balance-xor", links=2)
    leave_alone(made.near)
    take_away(made)
    arrive(made)
    if leave_alone is freeze:
        made.near.thaw_bondd()
    else:
        made.near.start_bondd()
    made.near.wait_slaves("l1")
    arrive(made)


def test_another_device_with_its_ifindex_gets_nothing(pair):
    made = pair("balance-rr", links=2)
    kill(made.near)
    made.near.ip("link", "del", "l0")
    made.near.ip("link", "add", "stranger", "index", 1000, "type", "veth", "peer", "name",
                 "strangerp")
    for dev in ("stranger", "strangerp"):
        made.near.ip("link", "set", dev, "up", "addrgenmode", "none")
    wire = Capture(made.near, "strangerp")
    arrive(made)
    assert not [frame for frame in wire.frames() if frame.numbers()]
    made.near.start_bondd()
    made.near.wait_slaves("l1")
    arrive(made)


def test_a_slave_that_was_away_is_adopted(pair):
    """It has its ifindex again, but the kernel has forgotten it: nothing goes there until the next
    bondd knows it.
    """
    needs_ports_that_come_back()
    made = pair("balance-rr", links=2)
    kill(made.near)
    elsewhere = made.lab.namespace("elsewhere")
    made.near.ip("link", "set", "l0", "netns", elsewhere.name)
    elsewhere.ip("link", "set", "l0", "netns", made.near.name)
    assert made.near.link("l0")["ifindex"] == 1000
    made.near.ip("link", "set", "l0", "up")
    arrive(made)
    made.near.start_bondd()
    made.near.wait_slaves("l0", "l1")
    before = made.near.sent("l0")["packets"]
    arrive(made)
    assert made.near.sent("l0")["packets"] >= before + PACKETS / 2


def test_a_bond_that_lacks_the_map_gets_it(pair):
    """As one of an earlier build; its programs are replaced with it."""
    made = pair("balance-xor", links=2)
    kill(made.near)
    (made.near.bpf_dir / "bond0/devices").unlink()
    made.near.start_bondd()
    made.near.wait_slaves("l0", "l1")
    arrive(made)
    kill(made.near)
    cut(made, "l1")
    arrive(made)


@in_place_only
@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "balance-xor"])
def test_frames_of_xdp_avoid_it_too(rotating, mode):  # noqa: F811
    """XDP goes on choosing for 3 s, until the watchdog bites; then TC does."""
    near = rotating(mode=mode)
    near.freeze_bondd()
    near.far.ip("link", "set", "l0", "down")
    found = arrivals(near, 200)
    assert found["l0"] == 0 and found["l1"] >= 200, "with what the stack sends by itself"
