# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl top beside real traffic: its rates are those of the sender, it sees slaves fail, leave
and come back, and drains one, with bondd and without. tests/cli has the screen itself.
"""
import re

import pytest

import schema
from screen import Screen
from traffic import Stream
from waiting import wait_for

SIZE, PACKETS = 1000, 2000  # a packet's payload; packets a second
FRAME_BITS = (SIZE + 14 + 20 + 8) * 8
FROM_PORT = 20000
QUICK = ("--interval", "0.3")


@pytest.fixture(name="flow")
def _flow(pair):
    """near sends to far by four links in turn, until the test ends."""
    made = pair("balance-rr")
    stream = Stream(made.near, made.far, rate=PACKETS, size=SIZE)
    stream.flow_on(500)
    yield made
    stream.finish()


def once(host, interval="0.5"):
    return schema.check("top", host.ctl_json("top", "bond0", "--once", "--interval", interval))


def of(bond, name):
    return next(slave for slave in bond["slaves"] if slave["name"] == name)


def is_sent_rate(found):
    """Of what the sender was told to send. It sends in bursts, and catches up when it was late."""
    return found == pytest.approx(PACKETS, rel=0.25)


def megabits(text, name):
    """What the screen says that this bond or slave sends."""
    found = re.search(rf"^ *{name} +[a-z ]+? +([0-9.]+)M ", text, re.M)
    return float(found[1]) if found else 0


def check_rates(flow):
    sender = wait_for(lambda: (found := once(flow.near)) and
                      is_sent_rate(found["tx_packets_per_s"]) and found, "the sender's rate", 20)
    assert sender["tx_bits_per_s"] == pytest.approx(sender["tx_packets_per_s"] * FRAME_BITS,
                                                    rel=0.02)
    for slave in sender["slaves"]:
        assert slave["share"] == pytest.approx(0.25, abs=0.02) and slave["share_due"] == 0.25
    receiver = wait_for(lambda: (found := once(flow.far)) and
                        is_sent_rate(found["rx_packets_per_s"]) and found, "the receiver's rate")
    assert receiver["rx_bits_per_s"] == pytest.approx(receiver["rx_packets_per_s"] * FRAME_BITS,
                                                      rel=0.02)
    assert receiver["tx_bits_per_s"] < receiver["rx_bits_per_s"] / 100


def check_screen(flow):
    """The rates, also when slaves fail, leave and come back."""
    near, wanted = flow.near, PACKETS * FRAME_BITS / 1e6
    with Screen(*near.ctl_command("top", *QUICK)) as screen:
        screen.wait_until(lambda text: megabits(text, "bond0") == pytest.approx(wanted, rel=0.25)
                          and megabits(text, "l1") == pytest.approx(wanted / 4, rel=0.4)
                          and ("▇" in text or "█" in text), f"{wanted} Mbit/s", 20)
        flow.far.ip("link", "set", "l2", "down")
        screen.wait("bond0: l2: not used: no carrier")
        flow.far.ip("link", "set", "l2", "up")
        screen.wait_until(lambda text: megabits(text, "l2") > 1, "l2 to carry traffic")
        near.ctl("del-slave", "bond0", "l3")
        screen.wait_until(lambda text: " l3 " not in text, "l3 to leave")
        near.ctl("add-slave", "bond0", "l3")
        shown = screen.wait_until(lambda text: megabits(text, "l3") > 1, "l3 to carry traffic")
        assert not re.search(r"\d[TPE] ", shown)
        assert screen.end("q") == 0 and screen.modes_are_restored()


def check_drain(near):
    with Screen(*near.ctl_command("top", *QUICK)) as screen:
        screen.wait_until(lambda text: megabits(text, "l0") > 1, "traffic on l0")
        screen.press("jd")
        screen.wait("Drain l0 of bond0?")
        assert near.slave("l0")["options"]["drain"] is False
        screen.press("y")
        screen.wait("l0 is drained")
        assert near.slave("l0")["options"]["drain"] is True
        screen.wait_until(lambda text: re.search(r"l0 +drained +0 ", text), "l0 to carry nothing")
        screen.press("dy")
        screen.wait_until(lambda text: megabits(text, "l0") > 1, "traffic on l0 again")
        assert screen.end("q") == 0


def test_top_beside_traffic(flow):
    check_rates(flow)
    check_screen(flow)
    check_drain(flow.near)
    assert once(flow.near)["problems"] == []
    flow.near.kill_bondd()
    wait_for(lambda: "bondd is not running" in str(once(flow.near)["problems"]),
             "bondd to be missed")
    check_drain(flow.near)


@pytest.mark.parametrize("mode", ["active-backup", "balance-alb"])
def test_a_slave_that_is_not_to_receive_drops_and_nothing_is_wrong(pair, mode):
    """The far end sends by all links, so each packet comes to slaves that are not to take it."""
    made = pair(mode, links=2, far={"mode": "broadcast"})
    stream = Stream(made.far, made.near, to="10.0.0.1", rate=200)
    stream.flow_on(100)
    found = wait_for(lambda: (said := once(made.near))["rx_dropped_per_s"] > 50 and said, "drops")
    assert found["problems"] == []
    stream.finish()


def bucket_of(host, port):
    """Of a stream to this port."""
    said = host.ctl_json("explain", "bond0", "src", "10.0.0.1", "dst", "10.0.0.2", "proto", "udp",
                         "sport", FROM_PORT, "dport", port)
    return said["bucket"], said["slave"]


def test_the_hottest_buckets(pair):
    """Two streams, the busier one first, while flows move by load; the screen says it, too."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", hash_seed=1)
    near = made.near
    streams = [Stream(near, made.far, port=port, rate=rate, size=SIZE, from_port=FROM_PORT)
               for port, rate in ((9001, PACKETS // 4), (9002, PACKETS))]
    busy, idle = bucket_of(near, 9002), bucket_of(near, 9001)
    assert once(near)["hottest"] == []
    near.ctl("set", "bond0", "rebalance_interval", 3600)
    hottest = wait_for(lambda: (found := once(near)["hottest"]) and
                       found[0]["tx_bits_per_s"] == pytest.approx(PACKETS * FRAME_BITS, rel=0.25)
                       and found, "the busier stream's rate", 20)
    assert [(each["bucket"], each["slave"]) for each in hottest[:2]] == [busy, idle]
    with Screen(*near.ctl_command("top", *QUICK)) as screen:
        screen.wait(f"hottest buckets: {busy[0]} ({busy[1]}) ")
        assert screen.end("q") == 0
    for stream in streams:
        stream.finish()
