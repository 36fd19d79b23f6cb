# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl flows on maps that are made by hand: slaves and the bond leave while it measures, which
takes until the test moves the clock.
"""
import json
import pathlib
import subprocess

import pytest

import schema
from clock import HURRY, Clock
from pins import X, Pins, fill
from test_calls import BONDCTL
from waiting import quiet_for, wait_for

LEFT = "left during the measurement"
SECONDS = 3600  # longer than any test takes, by its clock
FIRST_IFINDEX = 101  # of the slaves' devices
DEVICES = ('for i in 0 1; do ip link add eth$i index $((%d + i)) type veth peer name port$i; '
           'ip link set eth$i up; done; exec "$@"' % FIRST_IFINDEX)


@pytest.fixture(name="pins")
def _pins(bpf_dir):
    """Both slaves have sent 1000 packets on each CPU."""
    pins = Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)
    for slot in range(2):
        pins.slaves[slot].ifindex = FIRST_IFINDEX + slot
        pins.count(slot, tx_packets=1000, tx_bytes=10**6)
    return pins


@pytest.fixture(name="clock")
def _clock(tmp_path):
    return Clock(tmp_path, HURRY)


def is_looking(process):
    """It waits for packets, after it has opened its sockets and read the counters."""
    directory = pathlib.Path(f"/proc/{process.pid}")
    return (len((directory / "net/packet").read_text().splitlines()) == 3 and
            "poll" in (directory / "wchan").read_text())


def begun(pins, clock, *words):
    """flows, in a network with the slaves' devices, after it has begun to measure."""
    call = clock.command(BONDCTL, "--bpf-dir", pins.directory.parent, *words, "flows", "bond0",
                         "--seconds", str(SECONDS))
    process = subprocess.Popen(["unshare", "--net", "sh", "-ec", DEVICES, "sh", *call],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: is_looking(process), "flows to look for packets", 20)
    except AssertionError:
        process.kill()
        raise
    return process


def measured(pins, clock, change, words=("-j",)):
    process = begun(pins, clock, *words)
    change(pins)
    clock.move(SECONDS)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return out


def to_other_device(pins):
    pins.slaves[1].ifindex += 7
    fill(pins.slaves[1].name, b"eth9")
    pins.count(1, tx_packets=10**6, tx_bytes=10**9)


def to_free_slot(pins):
    pins.slaves[1].state = X.SLOT_FREE
    fill(pins.slaves[1].name, bytes(4))
    pins.count(1)


def to_lower_counters(pins):
    pins.count(1, tx_packets=2000, tx_bytes=10**5)


@pytest.mark.parametrize("change", [to_other_device, to_free_slot, to_lower_counters])
def test_a_slave_that_leaves(pins, clock, change):
    """It is named as it was, without a rate; the other one is as ever."""
    said = schema.check("flows", json.loads(measured(pins, clock, change)))
    assert SECONDS <= said["seconds"] < 2 * SECONDS
    stays, leaves = said["slaves"]
    assert (stays["name"], stays["bits_per_s"], stays["unseen"]) == ("eth0", 0, None)
    assert (leaves["name"], leaves["bits_per_s"], leaves["packets_per_s"]) == ("eth1", None, None)
    assert (leaves["unseen"], leaves["flows"]) == (LEFT, [])


def test_a_slave_that_leaves_in_words(pins, clock):
    lines = measured(pins, clock, to_other_device, ()).splitlines()
    assert lines[-1] == f"eth1: {LEFT}"
    assert "eth0: 0.000 Mbit/s, 0 packets/s, 0 flows" in lines


def test_a_slave_that_leaves_and_comes_back(pins, clock):
    """In between it has counted more than before."""
    def change(pins):
        pins.slaves[1].state = X.SLOT_FREE
        quiet_for(0.1, "flows looks at the slots a few times a second, by its clock")
        pins.slaves[1].state = X.SLOT_MEMBER
        pins.count(1, tx_packets=2000, tx_bytes=2 * 10**6)
    assert json.loads(measured(pins, clock, change))["slaves"][1]["unseen"] == LEFT


def test_one_that_joins_is_not_measured(pins, clock):
    def change(pins):
        pins.make_slave(2)
        pins.count(2, tx_packets=10**6, tx_bytes=10**9)
    found = json.loads(measured(pins, clock, change))["slaves"]
    assert [slave["name"] for slave in found] == ["eth0", "eth1"]


@pytest.mark.parametrize("words", [(), ("-j",)])
def test_the_bond_is_deleted(pins, clock, words):
    process = begun(pins, clock, *words)
    pins.bond.state = X.BOND_DELETING
    assert process.communicate(timeout=60) == ("", "bondctl: bond0 was deleted during the "
                                               "measurement\n")
    assert process.returncode == 1


def test_the_schema_knows_both(pins, clock):
    said = json.loads(measured(pins, clock, to_free_slot))
    for path, value in ((("slaves", 0, "bits_per_s"), None), (("slaves", 1, "unseen"), None),
                        (("slaves", 1, "packets_per_s"), 0)):
        place = said
        for key in path[:-1]:
            place = place[key]
        before, place[path[-1]] = place[path[-1]], value
        with pytest.raises(AssertionError):
            schema.check("flows", said)
        place[path[-1]] = before
