"""How often a failover is announced: num_grat_arp and num_unsol_na, peer_notif_delay, resend_igmp.
Addresses and groups are announced in two series; each test counts one when the other, which lasts
longer, is over, or later on a machine so busy that it does not.
"""
import contextlib
import socket
import struct

import pytest

from test_announce import (above, advertised, announced, fail_over, is_advertisement,
                           is_announcement, reports)
from test_announce import ARP, RARP
from traffic import Capture
from waiting import quiet_for, wait_for

FAR = {"mode": "broadcast"}
GROUP = "239.1.2.3"


@contextlib.contextmanager
def joined(host):
    """bond0 is in a group of IPv4."""
    index = host.link("bond0")["ifindex"]
    with host.inside():
        member = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with member:
        member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                          struct.pack("=4s4si", socket.inet_aton(GROUP), b"\0" * 4, index))
        yield


def is_report(frame, mac):
    return GROUP in reports([frame], mac)


def end_series(host):
    """So that nothing of the first choice of an active slave is left; l0 is active afterwards."""
    options = host.show()["options"]
    host.ctl("set", "bond0", "num_grat_arp", 0, "resend_igmp", 0)
    fail_over(host, "l1")
    fail_over(host, "l0")
    for name in ("num_grat_arp", "resend_igmp"):
        host.ctl("set", "bond0", name, options[name])


def heard(made, complete):
    """What l1 of the far side hears of a failover to l1, until complete(frames)."""
    end_series(made.near)
    return announced(made, complete, "the last announcement", 15)


def count(frames, what):
    return sum(1 for frame in frames if what(frame))


def is_ours(frame):
    return is_advertisement(frame) and frame.data[62:78] == socket.inet_pton(socket.AF_INET6,
                                                                             "fd00::1")


@pytest.mark.parametrize("number, delay", [(0, 10), (1, 10), (5, 0), (5, 30)])
def test_addresses(pair, number, delay):
    """Exactly so often, each of them; 0 is every miimon."""
    made = pair("active-backup", links=2, far=FAR, num_grat_arp=number, peer_notif_delay=delay,
                miimon=20, resend_igmp=4)
    mac = made.near.show()["mac"]
    with joined(made.near):
        seen = heard(made, lambda seen: count(seen, lambda frame: is_report(frame, mac)) == 4 and
                     min(count(seen, is_announcement), count(seen, is_ours)) >= number)
    assert count(seen, is_announcement) == count(seen, is_ours) == number
    assert not any(frame.type == RARP for frame in seen)
    times = [frame.time for frame in seen if is_announcement(frame)]
    assert len(times) < 2 or times[-1] - times[0] > (number - 1) * (delay or 20) / 1000 * 0.5


@pytest.mark.parametrize("number", [0, 1, 3])
def test_groups(pair, number):
    made = pair("active-backup", links=2, far=FAR, num_unsol_na=6, peer_notif_delay=150,
                resend_igmp=number)
    mac = made.near.show()["mac"]
    with joined(made.near):
        seen = heard(made, lambda seen: count(seen, is_announcement) == 6 and
                     count(seen, lambda frame: is_report(frame, mac)) >= number)
    assert count(seen, lambda frame: is_report(frame, mac)) == number
    times = [frame.time for frame in seen if is_report(frame, mac)]
    assert len(times) < 2 or times[-1] - times[0] > (number - 1) * 0.2 * 0.5


def test_groups_in_balance_rr(pair):
    """When the slave that was the first fails; nothing when another does, or when it returns."""
    made = pair("balance-rr", links=3, resend_igmp=0)
    near, mac = made.near, made.near.show()["mac"]
    near.ctl("set", "bond0", "resend_igmp", 2)
    with joined(near), contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Capture(made.far, link)) for link in made.links]
        seen = []

        def reported():
            for wire in wires:
                seen.extend(wire.frames())
            return count(seen, lambda frame: is_report(frame, mac))
        made.far.ip("link", "set", "l2", "down")
        near.wait_slaves("l0", "l1")
        near.wait_ping("10.0.0.2")
        assert not reported()
        made.far.ip("link", "set", "l0", "down")
        wait_for(lambda: reported() == 2, "both reports")
        made.far.ip("link", "set", "l0", "up")
        near.wait_slaves("l0", "l1")
        near.wait_ping("10.0.0.2")
        assert reported() == 2
        assert not count(seen, is_announcement), "no address"


def test_devices_above_are_announced_as_often(pair):
    """The one with an address by ARP, the other by RARP."""
    made = pair("active-backup", links=2, far=FAR, num_grat_arp=3, peer_notif_delay=30,
                resend_igmp=4)
    above(made.near, "u0", "type", "macvlan", "mode", "bridge", address="10.0.7.1/24")
    above(made.near, "u1", "type", "macvlan", "mode", "bridge")
    first, second = (made.near.link(name)["address"] for name in ("u0", "u1"))
    mac = made.near.show()["mac"]
    by_arp = lambda frame: frame.src == first and frame.type == ARP
    by_rarp = lambda frame: frame.src == second and frame.type == RARP
    with joined(made.near):
        seen = heard(made, lambda seen: count(seen, lambda frame: is_report(frame, mac)) == 4 and
                     min(count(seen, by_arp), count(seen, by_rarp)) >= 3)
    assert count(seen, by_arp) == count(seen, by_rarp) == 3


def test_nothing_is_announced(pair):
    """The wire is silent, but for a ping afterwards."""
    made = pair("active-backup", links=2, far=FAR, num_grat_arp=0, resend_igmp=0)
    near, mac = made.near, made.near.show()["mac"]
    above(near, "u0", "type", "macvlan", "mode", "bridge")
    with joined(near):
        seen = heard(made, lambda seen: near.ping("10.0.0.2") and any(
            frame.src == mac and frame.type == 0x0800 for frame in seen))
    assert not count(seen, is_announcement) and not advertised(seen, mac)
    assert not any(frame.type == RARP for frame in seen) and not reports(seen, mac)


def test_another_failover_begins_again(pair):
    """The rest of the series before is dropped; else it would be heard on the other link, too."""
    made = pair("active-backup", links=2, far=FAR, num_grat_arp=4, peer_notif_delay=500,
                resend_igmp=6)
    near, mac = made.near, made.near.show()["mac"]
    fail_over(near, "l0")
    with joined(near), Capture(made.far, "l0") as first, Capture(made.far, "l1") as second:
        fail_over(near, "l1")
        seen, back = [], []

        def is_begun():
            seen.extend(second.frames())
            return count(seen, is_announcement) >= 1

        def is_over():
            back.extend(first.frames())
            return (count(back, lambda frame: is_report(frame, mac)) >= 6 and
                    count(back, is_announcement) >= 4)

        wait_for(is_begun, "the first announcement")
        first.frames()
        fail_over(near, "l0")
        wait_for(is_over, "both series to end", 30)
        quiet_for(1, "what is left of another series would come")
        back.extend(first.frames())
        # until bondd sees the request, the series before goes on, by the new slave
        assert count(back, is_announcement) in (4, 5)
        assert count(back, lambda frame: is_report(frame, mac)) in (6, 7)
        assert count([*seen, *second.frames()], is_announcement) < 4


def test_many_at_a_delay_as_the_selftests_count_them(pair):
    """bond_options.sh, num_grat_arp, at a tenth of its delay; the link fails here."""
    made = pair("active-backup", links=3, far=FAR, num_grat_arp=10, peer_notif_delay=100,
                resend_igmp=8)
    near, mac = made.near, made.near.show()["mac"]
    end_series(near)
    with joined(near), Capture(made.far, "l1") as wire:
        seen = []
        near.ip("link", "set", "l0", "down")

        def is_complete():
            seen.extend(wire.frames())
            return (count(seen, lambda frame: is_report(frame, mac)) == 8 and
                    count(seen, is_announcement) >= 10)
        wait_for(is_complete, "the last of both series", 15)
    assert near.show()["active_slave"] == "l1"
    assert count(seen, is_announcement) == 10


def test_a_bond_that_moves_meanwhile_is_announced_where_it_is(pair):
    """What has bond0's old number there by then is nobody's business."""
    made = pair("active-backup", links=2, far=FAR, num_grat_arp=8, peer_notif_delay=200)
    near, there = made.near, made.lab.namespace("c")
    index = near.link("bond0")["ifindex"]
    fail_over(near, "l0")
    with Capture(made.far, "l1") as wire:
        fail_over(near, "l1")
        wait_for(lambda: count(wire.frames(), is_announcement), "the first announcement")
        near.ip("link", "set", "bond0", "netns", there.name)
        near.ip("link", "add", "other", "index", index, "type", "veth", "peer", "name", "end")
        near.ip("addr", "add", "10.0.0.1/24", "dev", "other")
        near.ip("link", "set", "end", "up")
        near.ip("link", "set", "other", "up")
        there.ip("link", "set", "bond0", "up")
        there.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
        with Capture(near, "end") as end:
            wire.frames()
            wait_for(lambda: count(wire.frames(), is_announcement), "an announcement from there")
            assert not any(frame.type == ARP for frame in end.frames())


def test_the_next_bondd_announces_what_one_that_died_has_not(pair):
    made = pair("active-backup", links=2, far=FAR, num_grat_arp=2, peer_notif_delay=10,
                resend_igmp=2)
    near, mac = made.near, made.near.show()["mac"]
    fail_over(near, "l0")
    with near.dying_at("failover-published"):
        near.run(*near.ctl_command("set", "bond0", "active_slave", "l1"), check=False)
    with joined(near), Capture(made.far, "l1") as wire:
        near.start_bondd()
        seen = []
        wait_for(lambda: seen.extend(wire.frames()) or count(
            seen, lambda frame: is_report(frame, mac)) == 2, "the announcements")
        assert count(seen, is_announcement) == 2
        near.restart_bondd()
        assert near.show()["active_slave"] == "l1"
        near.wait_ping("10.0.0.2")
        assert not count(wire.frames(), is_announcement), "once is enough"
