# SPDX-License-Identifier: GPL-2.0-or-later
"""micro-BFD (RFC 7130): two bonds that speak it, loss that carrier does not show, packets that are
not what they must be, and a bondd that dies.
"""
import contextlib
import struct

import pytest

from frames import IPV4, UDP, checksum, ethernet, ip4, mac_bytes, udp
from lab import Refused
from lacp import distributing, ports, tx_slots, wait_distributing
from traffic import Capture, send_frames
from waiting import PATIENCE, moments, quiet_for, wait_for

INTERVAL, MULTIPLIER = 50 * min(PATIENCE, 4), 3
SHORT = 20 * min(PATIENCE ** 2, 10)  # an emulated machine stands still now and then
PACKET_AT, FINAL = 14 + 20 + 8, 0x10
PORT = 6784
AWAY = 0.8  # seconds; XBOND_BFD_AWAY_NS, and some
GROUP = bytes.fromhex("01005e900001")
ADMIN_DOWN, DOWN, UP = 0, 1, 3
# classic BPF programs: return TC_ACT_SHOT; the same for frames to the group of micro-BFD alone
DROP = "1,6 0 0 2,"
DROP_BFD = "6,40 0 0 0,21 0 3 256,32 0 0 2,21 0 1 1586495489,6 0 0 2,6 0 0 4294967295,"
V4, V6 = ("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")


def bfd(host, dev):
    """The monitor's part of the slave in show; {} if it has none."""
    return host.slave(dev)["monitors"].get("bfd", {})


def sessions(host, links):
    return [bfd(host, dev).get("session") for dev in links]


def wait_up(*hosts, links):
    for host in hosts:
        wait_for(lambda host=host: sessions(host, links) == ["up"] * len(links),
                 f"the sessions at {host.name}", 10)


def lost(host, links):
    return sum(bfd(host, dev)["lost"] for dev in links)


def answers(host, links):
    return [link["answers"] for link in host.pinned("bfd")["link"][:len(links)]]


def identities(host, links):
    return [(bfd(host, dev)["local_discriminator"], bfd(host, dev)["remote_discriminator"])
            for dev in links]


@contextlib.contextmanager
def silent(host, *devs, program=DROP):
    """What the host sends there is lost; carrier stays."""
    for dev in devs:
        host.run("tc", "qdisc", "add", "dev", dev, "clsact", check=False)
        host.run("tc", "filter", "add", "dev", dev, "egress", "pref", "7", "protocol", "all",
                 "bpf", "direct-action", "bytecode", program)
    yield
    for dev in devs:
        host.tc_del("filter", "del", "dev", dev, "egress", "pref", "7")


@pytest.fixture
def speakers(pair):
    """make(mode, ends=V4, OPTION=VALUE...): a pair whose sessions are all up."""
    def make(mode="active-backup", ends=V4, links=2, **options):
        made = pair(mode, links=links, bfd_interval=INTERVAL, bfd_multiplier=MULTIPLIER,
                    bfd_local=ends[0], bfd_remote=ends[1],
                    far={"bfd_local": ends[1], "bfd_remote": ends[0]}, **options)
        wait_up(made.near, made.far, links=made.links)
        return made
    return make


@pytest.mark.parametrize("mode, ends", [("active-backup", V4), ("balance-xor", V6)])
def test_loss_without_loss_of_carrier(speakers, mode, ends):
    """One way and both ways, both ends take the link out, say why, and use it again."""
    made = speakers(mode, ends)
    hosts = (made.near, made.far)
    for deaf in ((made.near,), (made.far,), hosts):
        with contextlib.ExitStack() as stack:
            for host in deaf:
                stack.enter_context(silent(host, "l0"))
            for host in hosts:
                host.wait_slaves("l1")
                assert tx_slots(host) == {1}
                assert bfd(host, "l0")["state"] == "down"
                assert host.slave("l0")["monitors"]["carrier"]["state"] == "up"
            made.near.wait_ping("10.0.0.2")
        for host in hosts:
            host.wait_slaves("l0", "l1")
    assert "l0 is down: its BFD session is down" in made.near.log()
    for host in hosts:
        diags = [line for line in host.log().splitlines() if "BFD session down" in line]
        assert any("detection time expired" in line for line in diags)
        assert any("neighbor signaled" in line for line in diags)


def test_what_show_tells(speakers):
    made = speakers()
    for host, other in ((made.near, made.far), (made.far, made.near)):
        for dev in made.links:
            wait_for(lambda host=host, dev=dev: bfd(host, dev)["remote_session"] == "up",
                     "the far end to say that it is up")
            wait_for(lambda host=host, dev=dev:
                     bfd(host, dev)["detection_time_ms"] == INTERVAL * MULTIPLIER,
                     "the interval to be agreed upon")
            here, there = bfd(host, dev), bfd(other, dev)
            assert here["local_discriminator"] == there["remote_discriminator"] != 0
            assert here["tx_interval_ms"] == INTERVAL
            assert (here["state"], here["diag"], here["lost"]) == ("up", "none", 0)
    locals_ = {bfd(made.near, dev)["local_discriminator"] for dev in made.links}
    assert len(locals_) == 2


def test_on_the_wire(speakers):
    """Port, group, TTL, source port, pace and checksum, as the standards want them."""
    made = speakers()
    mac = made.near.slave("l0")["mac"]
    seen = []

    def enough():
        seen.extend(each for each in wire.frames() if each.src == mac and is_bfd(each.data))
        return len(seen) >= 20
    with Capture(made.far, "l0") as wire:
        wait_for(enough, "packets")
    for each in seen:
        assert each.data[:6] == GROUP and each.data[22] == 255
        assert 49152 <= struct.unpack("!H", each.data[34:36])[0]
        assert checksum(each.data[26:34] + struct.pack("!HH", 17, 32) + each.data[34:66]) == 0
    assert len({each.data[34:36] for each in seen}) == 1
    # An answer to a poll, and news of the state, come at once; on a busy machine, two do after one
    # that was late.
    paced = [each for each in seen if not each.data[PACKET_AT + 1] & FINAL]
    gaps = [after.time - before.time for before, after in zip(paced, paced[1:])
            if after.data[PACKET_AT:] == before.data[PACKET_AT:]]
    assert sum(gaps) / len(gaps) > 0.6 * INTERVAL / 1000


def is_bfd(data):
    return data[12:14] == b"\x08\x00" and data[23] == 17 and \
        struct.unpack("!H", data[36:38])[0] == PORT


def packet(state, mine, yours, flags=0, length=24, interval=INTERVAL * 1000):
    return struct.pack("!BBBBIIIII", 0x20, state << 6 | flags, MULTIPLIER, length, mine, yours,
                       interval, interval, 0)


def frame(payload, src=V4[1], dst=V4[0], ttl=255, mac=GROUP, udp_sum=0):
    return ethernet(mac, "02:00:00:00:00:99", IPV4,
                    ip4(src, dst, UDP, udp(50000, PORT, payload, udp_sum), ttl, summed=True))


def test_forged_packets(speakers):
    """Nothing that a stranger sends who does not know the session ends it."""
    made = speakers()
    here = bfd(made.near, "l0")
    mine, theirs = here["local_discriminator"], here["remote_discriminator"]
    down = packet(DOWN, theirs, mine)
    unicast = mac_bytes("02:00:00:00:00:77")
    refused = [frame(down, ttl=254), frame(down, src="10.0.0.9"), frame(down, mac=unicast),
               frame(down, mac=b"\xff" * 6), frame(packet(DOWN, theirs, mine ^ 1)),
               frame(down[:20]), frame(down, udp_sum=1)]
    ignored = [frame(packet(DOWN, theirs, mine, flags=0x04, length=26) + b"\0\0"),
               frame(packet(DOWN, theirs, mine, flags=0x01)), frame(packet(DOWN, 0, mine)),
               frame(packet(UP, theirs, 0)), frame(packet(DOWN, 77, 0)),
               frame(packet(ADMIN_DOWN, 77, 0)), frame(b"\x40" + down[1:]),
               frame(down[:2] + b"\0" + down[3:])]
    for _ in range(3):
        send_frames(made.far, "l0", refused + ignored)
    wait_for(lambda: bfd(made.near, "l0")["refused"] == 3 * len(refused), "all to be counted")
    assert lost(made.near, made.links) == 0 and bfd(made.near, "l0")["session"] == "up"
    send_frames(made.far, "l0", [frame(down)])  # who knows it can
    wait_for(lambda: lost(made.near, ["l0"]) == 1, "the session to end")


def test_a_flood_takes_nobodys_place(speakers):
    """Many packets that name no session, from the right address."""
    made = speakers()
    stranger = frame(packet(UP, 7, 0))
    for _ in moments(1, 0.005):
        send_frames(made.far, "l0", [stranger] * 20)
    assert lost(made.near, made.links) + lost(made.far, made.links) == 0
    assert made.near.pinned("bfd")["link"][0]["budget"][1]["flooded"] > 0


def test_packets_for_others_reach_the_bond(speakers):
    made = speakers()
    with Capture(made.near, "bond0") as wire:
        send_frames(made.far, "l0", [frame(b"for somebody else", dst="10.0.0.77",
                                           mac=mac_bytes(made.near.show()["mac"]))])
        wait_for(lambda: any(b"for somebody else" in each.data for each in wire.frames(0.1)),
                 "the packet on bond0")


def test_bondd_is_away(speakers):
    """Killed, frozen and stopped, at either end: no session ends, none begins anew."""
    made = speakers("balance-xor", V6)
    before = identities(made.near, made.links)
    for host, other in ((made.near, made.far), (made.far, made.near)):
        for leave, come_back in ((host.kill_bondd, host.start_bondd),
                                 (host.freeze_bondd, host.thaw_bondd),
                                 (host.stop_bondd, host.start_bondd)):
            count = answers(host, made.links)
            leave()
            wait_for(lambda: all(now > then + 5 for now, then
                                 in zip(answers(host, made.links), count)), "answers")
            assert sessions(other, made.links) == ["up", "up"]
            come_back()
            wait_up(host, links=made.links)
    assert lost(made.near, made.links) + lost(made.far, made.links) == 0
    assert identities(made.near, made.links) == before
    assert all(each.log().count("is down") == 0 for each in (made.near, made.far))


def test_both_are_away(speakers):
    """They do not talk on to each other, traffic goes on, and so do the sessions afterwards."""
    made = speakers()
    before = identities(made.near, made.links)
    made.near.kill_bondd()
    quiet_for(AWAY, "the near end's programs must hold the sessions by themselves")
    made.far.kill_bondd()
    with Capture(made.far, "l0") as wire:
        wire.frames(1)
        assert not [each for each in wire.frames(0.5) if is_bfd(each.data)]
    assert made.near.ping("10.0.0.2")
    for host in (made.near, made.far):
        assert tx_slots(host) == {0, 1}
        host.start_bondd()
    wait_up(made.near, made.far, links=made.links)
    assert identities(made.near, made.links) == before
    assert lost(made.near, made.links) + lost(made.far, made.links) == 0


@pytest.mark.parametrize("deaf", ["near", "far"])
def test_a_link_breaks_while_bondd_is_away(speakers, deaf):
    """The programs take it out of the mask, but never the last one; the next bondd agrees."""
    made = speakers("balance-xor")
    made.near.kill_bondd()
    with silent(getattr(made, deaf), "l0"):
        wait_for(lambda: tx_slots(made.near) == {1}, "the slave to leave the mask")
        assert made.near.slave("l0")["why"] in (
            f"its BFD session ended while bondd was not running: the far end {what}"
            for what in ("is silent on this link", "has taken it down"))
        assert (bfd(made.near, "l0")["state"], bfd(made.near, "l0")["session"]) == ("down", "down")
        assert bfd(made.near, "l1")["session"] == "up"
        made.near.start_bondd()
        made.near.wait_slaves("l1")
    made.near.wait_slaves("l0", "l1")
    made.near.kill_bondd()
    with silent(getattr(made, deaf), "l0", "l1"):
        made.far.wait_slaves()
        for _ in moments(1):
            assert tx_slots(made.near)
    made.near.start_bondd()
    made.near.wait_slaves("l0", "l1")


@pytest.mark.parametrize("deaf", ["near", "far"])
def test_a_link_comes_back_while_bondd_is_away(speakers, deaf):
    """Its session comes up again between the far end and the programs, and serves as before. If the
    other one fails, too, it is the one that must leave.
    """
    made = speakers("balance-xor")
    before = identities(made.near, made.links)
    made.near.kill_bondd()
    with silent(getattr(made, deaf), "l0"):
        wait_for(lambda: tx_slots(made.near) == {1}, "the slave to leave the mask")
    wait_for(lambda: tx_slots(made.near) == {0, 1}, "the slave to be back")
    wait_up(made.far, links=made.links)
    made.far.ip("link", "set", "l1", "down")
    wait_for(lambda: made.near.ping("10.0.0.2"), "l0 to serve")
    made.far.ip("link", "set", "l1", "up")
    if deaf == "near":  # silence everywhere is no failure
        with silent(made.near, "l0", "l1"):
            wait_for(lambda: len(tx_slots(made.near)) == 1, "one to leave the mask")
    for dev in made.links:
        with silent(getattr(made, deaf), dev):
            wait_for(lambda: tx_slots(made.near) == {1 - made.links.index(dev)},
                     f"the programs to see that only the other one than {dev} works")
    wait_for(lambda: tx_slots(made.near) == {0, 1}, "all slaves to be back")
    made.near.start_bondd()
    wait_up(made.near, links=made.links)
    assert identities(made.near, made.links) == before
    assert lost(made.near, made.links) == 0


def test_what_has_failed_serves_if_nothing_else_has_carrier(speakers):
    """In either order, without bondd."""
    made = speakers("balance-xor")

    def sends_by_l0():
        """The far end does not use it, so there is no answer."""
        before = made.near.slave("l0")["tx_packets"]
        made.near.ping("10.0.0.2", timeout=0.3)
        return made.near.slave("l0")["tx_packets"] > before
    made.near.kill_bondd()
    with silent(made.near, "l0", program=DROP_BFD):
        wait_for(lambda: tx_slots(made.near) == {1}, "the slave to leave the mask")
        wait_for(lambda: made.near.ping("10.0.0.2"), "the far end to use the other one")
        assert not sends_by_l0()
        made.far.ip("link", "set", "l1", "down")
        wait_for(sends_by_l0, "l0 to serve")
        assert "l0: used although its BFD session" in made.near.ctl("show")
        said = made.near.ctl_json("explain", "bond0", "src", "10.0.0.1", "dst", "10.0.0.2", "dmac",
                                  made.far.show()["mac"])
        assert said["slave"] == "l0"
        made.far.ip("link", "set", "l1", "up")
    wait_for(lambda: tx_slots(made.near) == {0, 1}, "the slave to be back")
    made.far.ip("link", "set", "l1", "down")
    with silent(made.near, "l0", program=DROP_BFD):
        wait_for(lambda: bfd(made.near, "l0")["session"] == "down", "the session of l0 to end")
        wait_for(sends_by_l0, "l0 to serve")


def test_802_3ad_falls_back_on_what_has_failed(speakers):
    """Without bondd, LACP loses the only partner that is left. When that one is back, it
    serves alone again.
    """
    made = speakers("802.3ad", lacp_rate="fast")
    wait_distributing(made.near, made.far, links=made.links)
    made.near.kill_bondd()
    with silent(made.near, "l0", program=DROP_BFD):
        wait_for(lambda: tx_slots(made.near) == {1}, "the slave to leave the mask")
        made.far.ip("link", "set", "l1", "down")
        wait_for(lambda: tx_slots(made.near) == {0}, "what has failed to serve")
        made.far.ip("link", "set", "l1", "up")
        wait_for(lambda: tx_slots(made.near) == {1}, "the other one to be back")
    wait_for(lambda: tx_slots(made.near) == {0, 1}, "both to be back")
    assert made.near.pinned("table")["failed"] == 0


def test_turned_off_while_bondd_is_away(speakers):
    """That is no failure, neither for the programs nor for the next bondd."""
    made = speakers("balance-xor")
    for leave, come_back in ((made.near.kill_bondd, made.near.start_bondd),
                             (made.near.freeze_bondd, made.near.thaw_bondd)):
        leave()
        quiet_for(AWAY, "the programs must hold the sessions by themselves")
        with silent(made.near, "l0", program=DROP_BFD):
            wait_for(lambda: tx_slots(made.near) == {1}, "the slave to leave the mask")
            made.far.ctl("set", "bond0", "bfd_interval", 0)
            wait_for(lambda: tx_slots(made.near) == {0, 1}, "both to be used")
        assert [bfd(made.near, dev)["state"] for dev in made.links] == ["unknown"] * 2
        come_back()
        wait_for(lambda: [bfd(made.near, dev)["state"] for dev in made.links] == ["unknown"] * 2,
                 "the next bondd to know")
        for _ in moments(0.5):
            assert sorted(made.near.carrier_slaves()) == made.links
        made.far.ctl("set", "bond0", "bfd_interval", INTERVAL)
        wait_up(made.near, made.far, links=made.links)
    assert "BFD session is down" not in made.near.log()


def test_longer_interval_while_bondd_is_away(speakers):
    """The programs judge by the far end's new detection time, and so does the next bondd."""
    made = speakers("balance-xor", links=6)
    made.near.kill_bondd()
    quiet_for(AWAY, "the programs must hold the sessions by themselves")
    made.far.ctl("set", "bond0", "bfd_interval", 20 * INTERVAL)
    wait_for(lambda: all(link["detection_us"] == 60000 * INTERVAL
                         for link in made.near.pinned("bfd")["link"][:6]), "the new interval")
    for _ in moments(0.15 * INTERVAL):
        assert tx_slots(made.near) == set(range(6))
    made.near.start_bondd()
    for _ in moments(0.06 * INTERVAL):
        assert sessions(made.near, made.links) == ["up"] * 6
    assert lost(made.near, made.links) + lost(made.far, made.links) == 0


def test_a_slave_goes_while_bondd_is_away(speakers):
    """Its session ends, so the next slave in its place does not continue it."""
    made = speakers("balance-xor")
    made.near.kill_bondd()
    made.near.ip("link", "del", "l0")
    made.near.start_bondd()
    made.near.wait_slaves("l1")
    assert [link["enabled"] for link in made.near.pinned("bfd")["link"][:2]] == [0, 1]
    assert sessions(made.near, ["l1"]) == ["up"] and lost(made.near, ["l1"]) == 0


def test_other_intervals(speakers):
    """Longer and shorter while it is up: the far end learns it by a poll, and nothing is lost."""
    made = speakers()

    def is_agreed(interval, multiplier):
        return all(bfd(made.far, dev)["detection_time_ms"] == interval * multiplier and
                   bfd(made.near, dev)["tx_interval_ms"] == interval for dev in made.links)
    for interval, multiplier in ((400, 3), (SHORT, 5), (5 * SHORT, 3)):
        for host in (made.near, made.far):
            host.ctl("set", "bond0", "bfd_interval", interval, "bfd_multiplier", multiplier)
        wait_for(lambda: is_agreed(interval, multiplier),  # pylint: disable=W0640
                 "the new interval to be agreed upon")
    made.near.ctl("set", "bond0", "bfd_interval", 15 * SHORT)
    wait_for(lambda: bfd(made.far, "l0")["tx_interval_ms"] == 15 * SHORT,
             "the slower end to decide")
    assert lost(made.near, made.links) + lost(made.far, made.links) == 0


def test_turned_off_is_no_failure(speakers):
    """By the option, by the removal of a slave and by the end of the bond."""
    made = speakers()
    made.near.ctl("set", "bond0", "bfd_interval", 0)
    wait_for(lambda: [bfd(made.far, dev)["state"] for dev in made.links] == ["unknown"] * 2,
             "the far end to be told")
    assert bfd(made.near, "l0") == {}
    assert bfd(made.far, "l0")["diag"] == "neighbor signaled session down"
    for _ in moments(0.5):
        assert sorted(made.far.carrier_slaves()) == made.links
    made.near.ctl("set", "bond0", "bfd_interval", INTERVAL)
    wait_up(made.near, made.far, links=made.links)
    made.near.ctl("del-slave", "bond0", "l0")
    wait_for(lambda: bfd(made.far, "l0")["state"] == "unknown", "the far end to be told")
    assert bfd(made.far, "l1")["state"] == "up"
    made.near.ctl("delete", "bond0")
    wait_for(lambda: bfd(made.far, "l1")["state"] == "unknown", "the far end to be told")
    assert "BFD session is down" not in made.far.log()


def test_turned_off_there_slaves_can_be_added_again(speakers):
    """Also by another bondd. A session that comes up then counts, and so do the others."""
    made = speakers("balance-xor")
    made.far.ctl("set", "bond0", "bfd_interval", 0)
    wait_for(lambda: [bfd(made.near, dev)["state"] for dev in made.links] == ["unknown"] * 2,
             "the near end to be told")
    wait_for(lambda: "the far end does not speak it" in
             made.near.ctl_try("doctor", "--no-traffic", "bond0").stdout, "the doctor's warning")
    for dev in made.links:
        made.near.ctl("del-slave", "bond0", dev)
        made.near.ctl("add-slave", "bond0", dev)
        made.near.wait_slaves(*made.links)
        for _ in moments(0.5):
            assert made.near.carrier_slaves() == made.links
        made.near.restart_bondd(kill=True)
    assert bfd(made.near, "l0")["session"] == bfd(made.near, "l1")["session"] == "down"
    made.near.wait_ping("10.0.0.2")
    made.far.ctl("set", "bond0", "bfd_interval", INTERVAL)
    wait_up(made.near, made.far, links=made.links)
    assert "BFD session is down" not in made.near.log()


def test_a_slave_that_is_added_has_three_seconds(speakers):
    """The far end does not use it yet."""
    made = speakers("balance-xor", links=3)
    for host in (made.far, made.near):
        host.ctl("del-slave", "bond0", "l2")
    quiet_for(3.5, "what holds for the first session must be over")
    made.far.ip("link", "set", "l2", "up")
    made.near.ctl("add-slave", "bond0", "l2")
    wait_for(lambda: (slave := made.near.slave("l2"))["mii_status"] == "up" and
             slave["monitors"].get("bfd", {}).get("state") == "unknown", "l2 to be used")
    made.near.wait_slaves("l0", "l1")
    assert made.near.slave("l2")["why"] == "its BFD session is down"
    made.far.ctl("add-slave", "bond0", "l2")
    made.near.wait_slaves("l0", "l1", "l2")


def test_a_far_end_that_does_not_speak(pair):
    """Its links are used. When it speaks on one, the other one must follow within three seconds."""
    made = pair("balance-xor", links=2, bfd_interval=INTERVAL, bfd_local=V4[0], bfd_remote=V4[1],
                far={"bfd_interval": 0, "bfd_local": V4[1], "bfd_remote": V4[0]})
    for _ in moments(1):
        assert [bfd(made.near, dev)["state"] for dev in made.links] == ["unknown"] * 2
        assert made.near.carrier_slaves() == made.links
    with silent(made.far, "l0"):
        made.far.ctl("set", "bond0", "bfd_interval", INTERVAL)
        wait_for(lambda: [slave["monitors"]["bfd"]["state"]
                          for slave in made.near.show()["slaves"]] == ["unknown", "up"],
                 "the session of l1")
        made.near.wait_slaves("l1")
        assert bfd(made.near, "l0")["state"] == "down"
    made.near.wait_slaves("l0", "l1")


def test_802_3ad_needs_both(speakers):
    """LACP goes on speaking on the port. The port carries nothing, also when LACP begins anew."""
    made = speakers("802.3ad", lacp_rate="fast")
    wait_for(lambda: distributing(made.near) == made.links, "LACP")
    with silent(made.far, "l0"):
        made.near.wait_slaves("l1")
        made.far.wait_slaves("l1")
        assert tx_slots(made.near) == tx_slots(made.far) == {1}
    made.near.wait_slaves("l0", "l1")
    with silent(made.far, "l0", program=DROP_BFD):
        made.near.wait_slaves("l1")
        assert "distributing" in ports(made.near)["l0"]["actor_state"]
        made.far.ctl("set", "bond0", "ad_user_port_key", 7)
        wait_for(lambda: all(port["partner_key"] >> 6 == 7 and "distributing" in port["actor_state"]
                             for port in ports(made.near).values()), "LACP to begin anew", 10)
        for _ in moments(0.5):
            assert tx_slots(made.near) == {1}
    made.near.wait_slaves("l0", "l1")
    wait_for(lambda: tx_slots(made.near) == {0, 1}, "the port to carry")


def test_with_xdp(speakers):
    made = speakers("balance-xor", rx_hook="xdp")
    wait_for(lambda: made.near.slave("l0")["rx_hook"] == "xdp", "XDP")
    made.near.kill_bondd()
    count = answers(made.near, made.links)
    wait_for(lambda: answers(made.near, made.links)[0] > count[0] + 10, "answers")
    made.near.start_bondd()
    assert lost(made.near, made.links) + lost(made.far, made.links) == 0


def test_what_is_refused(lone):
    host = lone()
    host.ctl("create", "bond0", "bfd_local", V4[0])
    for words, part in (
            (("bfd_interval", 50), "bfd_interval: BFD needs the addresses of both ends; set "
             "bfd_remote, too"),
            (("bfd_interval", 50, "bfd_remote", V6[1]), "one end has an IPv4 address"),
            (("bfd_interval", 50, "bfd_remote", V4[0]), "both ends have the same address"),
            (("bfd_interval", 4), "bfd_interval: '4' is not allowed; allowed: 0|5..60000"),
            (("bfd_multiplier", 1), "allowed: 2..255"),
            (("bfd_remote", "224.0.0.1"), "bfd_remote: 224.0.0.1 is a multicast address"),
            (("bfd_remote", "host"), "bfd_remote: 'host' is not allowed; allowed: IPV4|IPV6|none")):
        with pytest.raises(Refused) as refused:
            host.ctl("set", "bond0", *words)
        assert part in refused.value.text and refused.value.text.count("\n") == 1
    assert host.show()["options"]["bfd_interval"] == 0
    for words in (("create", "bond1", "bfd_local", V6[0], "bfd_remote", V6[0]),
                  ("set", "bond0", "bfd_remote", V4[0]),
                  ("set", "bond0", "bfd_local", V6[0], "bfd_remote", V6[0])):
        with pytest.raises(Refused, match="both ends have the same address"):
            host.ctl(*words)
    host.ctl("set", "bond0", "bfd_interval", 50, "bfd_remote", V4[1])
    with pytest.raises(Refused, match="set bfd_remote"):
        host.ctl("set", "bond0", "bfd_remote", "none")
