# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl monitor: what is told, to whom, from when on, and that no reader disturbs bondd."""
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import pytest

from events import Monitor, assert_no_gap, numbers
from lab import proc_state
from lacp import wait_distributing
from namespace import end, memory_kb, run
from traffic import Stream
from waiting import PATIENCE, quiet_for, wait_for

FRESH_NS = 3e9  # a heartbeat
STORM, AGAIN = 1000, 300  # events, of 2 KB each: more than bondd and what lies between can keep
TARGETS = ",".join(f"2001:db8:1111:2222:3333:4444:5555:{number:x}" for number in range(4096, 4112))
JOURNALD = pathlib.Path("/usr/lib/systemd/systemd-journald")
TOLD_BY_BONDD = ["active", "attached", "buckets", "carrier", "config", "device", "failover",
                 "lacp", "link", "monitor", "note", "problem"]


def provoke_on_links(pair, monitor):
    pair.far.ip("link", "set", "l0", "down")
    link = monitor.wait(kind="link", bond="bond0", slave="l0", state="down")
    assert link["reason"] == "no carrier" and link["text"] == "l0 is down: no carrier"
    assert monitor.wait(kind="failover", slave="l0")["duration_us"] > 0
    moved = monitor.wait(kind="buckets", bond="bond0")
    assert moved["moves"] == [{"from": "l0", "to": "l1", "buckets": moved["moved"]}]
    monitor.wait(kind="monitor", slave="l0", monitor="carrier", state="fails")
    order = [event["kind"] for event in monitor.events
             if event["kind"] in ("link", "failover", "buckets")]
    assert order[:3] == ["link", "failover", "buckets"]
    pair.far.ip("link", "set", "l0", "up")
    monitor.wait(kind="link", slave="l0", state="up")
    for what, state in (("receive", "expired"), ("receive", "current"), ("actor_churn", "none"),
                        ("mux", "collecting_distributing")):
        monitor.wait(kind="lacp", slave="l0", what=what, state=state)
    pair.near.ctl("del-slave", "bond0", "l0")
    pair.near.ctl("add-slave", "bond0", "l0")
    monitor.wait(kind="lacp", slave="l0", what="selected", state="selected")
    monitor.wait(kind="lacp", slave="l0", what="partner")
    wait_distributing(pair.near, pair.far, links=["l0", "l1"], deadline=15)


def provoke_config(near, monitor):
    """Also of a bond that did not exist when the reader began."""
    asked = monitor.wait(kind="config", action="set")
    assert asked["options"] == {"miimon": "100"} and asked["program"] == "bondctl"
    near.ctl("set", "bond0", "xmit_hash_policy", "layer3+4")
    monitor.wait(kind="config", action="set", options={"xmit_hash_policy": "layer3+4"})
    near.ctl("set-slave", "bond0", "l1", "actor_port_prio", 7)
    monitor.wait(kind="config", slave="l1", action="set-slave",
                 options={"actor_port_prio": "7"})
    near.ip("link", "add", "v0", "type", "veth", "peer", "name", "v0p")
    near.ip("link", "set", "v0p", "up")
    near.ctl("create", "bond1", "mode", "active-backup")
    near.ctl("add-slave", "bond1", "v0")
    assert monitor.wait(kind="active", bond="bond1", slave="v0")["before"] is None
    near.ctl("del-slave", "bond1", "v0")
    near.ctl("add-slave", "bond1", "v0")
    near.ip("link", "del", "v0")  # nobody has asked bondd to release it
    monitor.wait(kind="device", bond="bond1", slave="v0", state="gone")
    near.ctl("delete", "bond1")
    monitor.wait(kind="config", bond="bond1", action="delete")
    assert [event["action"] for event in monitor.having(kind="config", bond="bond1")] == \
        ["create", "add-slave", "del-slave", "add-slave", "delete"]
    assert [event["state"] for event in monitor.having(kind="carrier", bond="bond1")] == \
        ["on", "off"] * 2


def provoke_trouble(near, monitor):
    near.ip("addr", "add", "192.0.2.1/32", "dev", "l1")
    assert "192.0.2.1" in monitor.wait(kind="problem", slave="l1")["text"]
    near.ip("addr", "del", "192.0.2.1/32", "dev", "l1")
    near.ip("link", "set", "bond0", "mtu", "1400")
    assert "1400" in monitor.wait(kind="note", slave=None)["text"]
    link = near.bpf_dir / "bond0" / "link_rx_1"
    if link.exists():
        run("bpftool", "link", "detach", "pinned", link)
    else:
        near.run("tc", "filter", "del", "dev", "l1", "ingress")
    monitor.wait(kind="attached", slave="l1")


def provoke_while_bondd_is_away(pair, monitor):
    near = pair.near
    stream = Stream(near, pair.far, rate=100, flows=8)
    near.kill_bondd()
    monitor.wait(kind="bondd", state="away")
    monitor.wait(kind="hold", bond="bond0", slave="l1", state="answers")
    pair.far.ip("link", "set", "l0", "down")
    monitor.wait(kind="detour", bond="bond0", slave="l0", state="avoided")
    stream.finish()
    near.start_bondd()
    monitor.wait(kind="bondd", state="back")
    monitor.wait(kind="config", bond="bond0", action="adopt")


def test_every_kind(pair):
    made = pair("802.3ad", links=2, lacp_rate="fast")
    # The thread of LACP opens the ports; the main loop shares out the buckets after that.
    wait_for(lambda: set(made.near.owners()) == {0, 1}, "buckets for both slaves")
    monitor = Monitor(made.near)
    provoke_on_links(made, monitor)
    provoke_config(made.near, monitor)
    provoke_trouble(made.near, monitor)
    assert sorted({event["kind"] for event in monitor.events}) == TOLD_BY_BONDD
    provoke_while_bondd_is_away(made, monitor)
    assert monitor.stop() == 0
    assert {event["kind"] for event in monitor.events} == \
        {*TOLD_BY_BONDD, "bondd", "detour", "hold"}
    assert_no_gap(monitor.events)
    second = list(numbers(monitor.events).values())
    assert len(second) == 2 and second[1][0] == 1, "what bondd told at its start is there, too"


@pytest.fixture
def followed(lone):
    """A host with a bond of two slaves."""
    host = lone(links=2)
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    return host


@pytest.mark.parametrize("mode", ["active-backup", "802.3ad"])
def test_the_end_of_a_bond_is_the_last_that_is_told_of_it(pair, mode):
    near = pair(mode, links=2).near
    monitor = Monitor(near)
    near.ctl("delete", "bond0")
    near.ctl("create", "bond1")
    monitor.wait(kind="config", bond="bond1", action="create")
    last = monitor.having(bond="bond0")[-1]
    assert (last["kind"], last.get("action")) == ("config", "delete"), last


def test_an_active_slave_that_is_set_is_told_once(followed):
    followed.ctl("set", "bond0", "mode", "active-backup")
    monitor = Monitor(followed)
    followed.ctl("set", "bond0", "active_slave", "l1")
    monitor.wait(kind="active", slave="l1")
    assert len(monitor.having(kind="config", options={"active_slave": "l1"})) == 1


def test_carriers_while_bondd_is_away(followed):
    """Each loss and each return, though no packet meets them. What is told is in the order of time,
    also that bondd is back.
    """
    monitor = Monitor(followed)
    followed.kill_bondd()
    monitor.wait(kind="bondd", state="away")
    expected = []
    for dev, way in (("l0", "down"), ("l0", "up"), ("l0", "down"), ("l1", "down"), ("l1", "up")):
        followed.far.ip("link", "set", dev, way)
        expected.append((dev, "avoided" if way == "down" else "carrier"))
        wait_for(lambda: [(event["slave"], event["state"]) for event in
                          monitor.having(kind="detour")] == expected, f"news of {expected[-1]}")
    assert monitor.having(state="carrier")[0]["text"] == "l0 has carrier again"
    followed.start_bondd()
    monitor.wait(kind="link", slave="l0", state="down", deadline=15)
    assert monitor.stop() == 0
    order = [event["kind"] for event in monitor.events]
    times = [event["time_us"] for event in monitor.events]
    assert times == sorted(times), "\n".join(map(str, monitor.events))
    back, = monitor.having(kind="bondd", state="back")
    assert monitor.events[monitor.events.index(back) + 1]["seq"] == 1
    detours = monitor.having(kind="detour")
    assert len(detours) == len(expected), detours


@pytest.mark.parametrize("looks", ["meanwhile", "late"])
def test_what_a_bondd_does_before_it_answers_is_its_own_to_tell(pair, looks):
    """It has taken the lost slave out of use, and stands still for a while before it listens. Late:
    the monitor looks when that bondd's heartbeat is old already.
    """
    near = pair("active-backup", links=2, far={"mode": "broadcast"}).near
    monitor = Monitor(near)
    near.kill_bondd()
    monitor.wait(kind="bondd", state="away")
    near.ip("link", "set", "l0", "down")
    monitor.wait(kind="detour", slave="l0", state="avoided")
    near.environment = {"XBOND_TEST_STOP_AT": "failover-published"}
    if looks == "late":
        monitor.child.send_signal(signal.SIGSTOP)
    near.start_bondd(wait=False)
    near.wait_frozen()
    if looks == "late":
        wait_for(lambda: time.monotonic_ns() - near.pinned("table")["heartbeat_ns"] > FRESH_NS,
                 "bondd's heartbeat to be old")
        monitor.child.send_signal(signal.SIGCONT)
    quiet_for(1, "the monitor looks four times a second")
    near.thaw_bondd()
    monitor.wait(kind="active", slave="l1")
    assert monitor.stop() == 0
    assert len(monitor.having(kind="detour")) == 1, monitor.having(kind="detour")


def storm(host, count):
    """So many large events, each asked for after the one before has been answered."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10 * PATIENCE)
        client.connect(str(host.run_dir / "bondd.sock"))
        answers = client.makefile("rb")
        for number in range(count):
            options = {"miimon": str(1000 + number), "ns_ip6_target": TARGETS}
            request = {"method": "set", "bond": "bond0", "options": options}
            client.sendall(json.dumps(request).encode() + b"\n")
            assert json.loads(answers.readline())["ok"]


def missing(monitor):
    return sum(event["count"] for event in monitor.having(kind="lost"))


def told(monitor):
    """How many events of the storm it has, or knows that it misses."""
    return len([event for event in monitor.having(kind="config", action="set")
                if int(event["options"]["miimon"]) >= 1000]) + missing(monitor)


def follow_by_hand(host):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(10 * PATIENCE)
    client.connect(str(host.run_dir / "bondd.sock"))
    client.sendall(b'{"method": "monitor"}\n')
    return client


def is_closed(client):
    try:
        while client.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def is_taken(client):
    with client:
        return json.loads(client.makefile("rb").readline())["ok"]


def test_slow_dead_and_hostile_readers(followed):
    """One who stands still, and as many as may follow who never read: bondd answers as before, a
    second storm takes no more memory than the first, and who was too slow is told what it misses.
    """
    swift, stopped = Monitor(followed), Monitor(followed)
    stopped.child.send_signal(signal.SIGSTOP)
    wait_for(lambda: proc_state(stopped.child.pid) == "T", "the reader to stop")
    deaf = [follow_by_hand(followed) for _ in range(100)]
    answers = [json.loads(client.makefile("rb").readline()) for client in deaf]
    taken = [client for client, answer in zip(deaf, answers) if answer["ok"]]
    assert len(taken) == 14 and "too many" in answers[-1]["error"]
    refused = followed.ctl_try("monitor")
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1
    storm(followed, STORM)
    before = memory_kb(followed.bondd.pid)
    storm(followed, AGAIN)
    assert memory_kb(followed.bondd.pid) < before + 512
    wait_for(lambda: told(swift) == STORM + AGAIN, "the swift reader to have all", 15)
    stopped.child.send_signal(signal.SIGCONT)
    wait_for(lambda: told(stopped) >= STORM + AGAIN, "the other to have what is left", 15)
    assert missing(stopped) > 0 and told(stopped) == STORM + AGAIN
    taken[0].sendall(b"\0garbage{{{\n" * 1000)
    assert is_closed(taken[0])
    for client in deaf:
        client.close()
    wait_for(lambda: is_taken(follow_by_hand(followed)), "room for another")
    assert (swift.stop(), stopped.stop(signal.SIGINT)) == (0, 0)
    assert [event for event in swift.events if event["kind"] != "lost"][-1] == \
        [event for event in stopped.events if event["kind"] != "lost"][-1]


def test_how_it_ends(followed):
    """After so many events; when nobody reads; when the disk is full. Text is one line each."""
    text = followed.spawn(*followed.ctl_command("monitor", "bond0", "--count", "2"),
                          stdout=subprocess.PIPE, text=True)
    full = followed.spawn(*followed.ctl_command("monitor"), stdout=open("/dev/full", "w"),
                          stderr=subprocess.PIPE, text=True)
    left = followed.spawn(*followed.ctl_command("monitor"), stdout=subprocess.PIPE)
    left.stdout.close()
    assert left.wait(timeout=10 * PATIENCE) == 0, "it ends without an event"
    subscriber = Monitor(followed, "bond0")
    wait_for(lambda: followed.ctl("set", "bond0", "miimon", 200) or text.poll() is not None,
             "two events", interval=0.1)
    assert text.returncode == 0
    lines = text.stdout.read().splitlines()
    assert len(lines) == 2 and all(": bond0: set miimon " in " " + line.replace(" bond0", ": bond0")
                                   for line in lines)
    assert full.wait(timeout=10 * PATIENCE) == 1
    assert full.stderr.read() == \
        "bondctl: cannot write to standard output: No space left on device\n"
    followed.ctl("create", "bond1")
    followed.ctl("delete", "bond1")
    followed.ctl("set", "bond0", "miimon", 300)
    subscriber.wait(options={"miimon": "300"})
    assert not subscriber.having(bond="bond1")


IN_JOURNAL = """#!/usr/bin/python3
import os, socket, sys
stream = socket.socket(socket.AF_UNIX)
stream.connect("/run/systemd/journal/stdout")
stream.sendall(b"bondd\\n\\n6\\n0\\n0\\n0\\n0\\n")
os.dup2(stream.fileno(), 2)
stat = os.fstat(2)
os.environ["JOURNAL_STREAM"] = f"{stat.st_dev}:{stat.st_ino}"
os.execv(sys.argv[1], sys.argv[1:])
"""
CGROUPS = "/sys/fs/cgroup"
OWN_RUN = (f"{{ mountpoint -q {CGROUPS} || mount -t cgroup2 cgroup2 {CGROUPS}; }} && "
           f"mount -t tmpfs tmpfs /run && exec {JOURNALD}")


class Journal:
    """A journald in a mount namespace of its own, with an empty /run, and with control groups."""

    def __init__(self, host):
        self.host = host
        self.daemon = host.spawn("unshare", "-m", "sh", "-c", OWN_RUN, stderr=subprocess.DEVNULL)
        self.enter = ["nsenter", f"--mount=/proc/{self.daemon.pid}/ns/mnt", "--"]
        wait_for(lambda: run(*self.enter, "test", "-S", "/run/systemd/journal/stdout",
                             check=False).returncode == 0, "journald", 15)
        wrapper, program = host.dir / "in_journal", host.dir / "bondd"
        wrapper.write_text(IN_JOURNAL)
        program.write_text(f"#!/bin/sh\nexec {' '.join(self.enter)} /usr/bin/python3 {wrapper} "
                           f"{host.program} \"$@\"\n")
        program.chmod(0o755)
        host.program = program

    def entries(self, *words):
        run(*self.enter, "journalctl", "--sync")
        text = run(*self.enter, "journalctl", "-o", "json", "--no-pager", *words).stdout
        return [json.loads(line) for line in text.splitlines()]

    def close(self):
        end(self.daemon)


@pytest.fixture
def journal(lone):
    if not JOURNALD.exists() or not shutil.which("journalctl"):
        pytest.skip("no systemd-journald")
    host = lone(links=2, bondd=False)
    made = Journal(host)
    host.start_bondd()
    yield made
    made.close()


def test_the_journal(journal):
    """Each event has fields there. --since begins with them and goes on live: no event is missing
    or comes twice, though bondd was killed in between.
    """
    host = journal.host
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    host.far.ip("link", "set", "l0", "down")
    host.wait_slaves("l1")
    entry, = journal.entries("EVENT=failover", "BOND=bond0", "SLAVE=l0")
    assert int(entry["XBOND_DURATION_US"]) == json.loads(entry["XBOND_EVENT"])["duration_us"]
    assert entry["MESSAGE"].startswith("bond0: l0 is out of use")
    entry, = journal.entries("EVENT=link", "SLAVE=l0", "XBOND_STATE=down")
    assert (entry["PRIORITY"], entry["MESSAGE"]) == ("5", "bond0: l0 is down: no carrier")
    assert entry["SYSLOG_IDENTIFIER"] == "bondd"
    assert journal.entries("SYSLOG_IDENTIFIER=bondd", "--grep", "^ready$")
    host.kill_bondd()
    past = Monitor(host, "--since", "-1h", "--no-follow", ready=False, before=journal.enter)
    assert past.wait_end() == 0
    host.start_bondd()
    monitor = Monitor(host, "--since", "-1h", before=journal.enter)
    host.far.ip("link", "set", "l0", "up")
    monitor.wait(kind="link", slave="l0", state="up", bondd=monitor.events[-1]["bondd"])
    assert monitor.stop() == 0
    assert_no_gap(monitor.events)
    first, second = numbers(monitor.events).values()
    assert first[0] == second[0] == 1
    assert [event for event in past.events if event["kind"] != "bondd"] == \
        monitor.events[:len(first)]
    assert not monitor.having(kind="bondd")
    none = Monitor(host, "--since", "now", "--no-follow", ready=False, before=journal.enter)
    assert none.wait_end() == 0 and none.events == []
    again = Monitor(host, "--since", "-1h", "--no-follow", "--run-dir", f"{host.run_dir}/",
                    ready=False, before=journal.enter)
    assert again.wait_end() == 0 and again.events[:1] == monitor.events[:1]


def test_a_journal_that_stands_still(journal):
    """bondd does not wait for it. Afterwards the journal says how many lines it lacks."""
    host = journal.host
    host.ctl("create", "bond0", "mode", "balance-xor")
    journal.daemon.send_signal(signal.SIGSTOP)
    wait_for(lambda: proc_state(journal.daemon.pid) == "T", "the journal to stop")
    storm(host, AGAIN)
    journal.daemon.send_signal(signal.SIGCONT)
    run(*journal.enter, "journalctl", "--sync")
    host.ctl("set", "bond0", "miimon", 50)
    lost, = journal.entries("SYSLOG_IDENTIFIER=bondd", "--grep", "lines are missing")
    there = [entry for entry in journal.entries("EVENT=config") if "set miimon 1" in
             entry["MESSAGE"]]
    assert len(there) + int(lost["MESSAGE"].split()[0]) == AGAIN
