# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that share a bond by AF_XDP (libxbond-xsk): each has a handle with a queue of its own,
and all of them one filter on each slave.
"""
import json
import re
import signal
import socket
import subprocess

import pytest

from frames import IPV4, UDP, ethernet, ip4, udp
from lab import BUILD
from namespace import PATIENCE, end
from traffic import Capture, Tally, send_frames
from waiting import wait_for

PORT = 4007
FLOWS = 64


def udp_frame(mac, source_port, port=PORT):
    return ethernet(mac, "02:00:00:00:00:99", IPV4,
                    ip4("10.0.0.2", "10.0.0.1", UDP, udp(source_port, port, b"x"), summed=True))


class Threads:
    """build/tools/xskthreads on near's bond0."""

    def __init__(self, made):
        self.made = made
        self.child = made.near.spawn(BUILD / "tools/xskthreads", made.near.bpf_dir / "bond0", PORT,
                                     PORT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout.readline() == "ready\n"
        with made.near.inside():
            self.stack = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.stack.bind(("10.0.0.1", PORT))
        self.stack.settimeout(0)

    def counts(self, command=""):
        self.child.stdin.write(f"{command}\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def send(self, links=None):
        """One packet of each flow, out of far's slaves: what leaves by bond0 uses one queue."""
        mac, links = self.made.near.link("bond0")["address"], links or self.made.links
        for number, link in enumerate(links):
            send_frames(self.made.far, link, [udp_frame(mac, 20000 + flow) for flow in
                                              range(number, FLOWS, len(links))])

    def taken_by_stack(self):
        count = 0
        while True:
            try:
                count += len(self.stack.recv(100))
            except BlockingIOError:
                return count

    def spread(self, links=None):
        """How many of one packet of each flow come to each thread, and to the stack. Each thread
        gets what came by its queue, as the slaves count that.
        """
        before, by_queue = self.counts(), self.redirected()
        self.send(links)
        found, stack = [], 0

        def arrived():
            nonlocal found, stack
            stack += self.taken_by_stack()
            found = [now - old for now, old in zip(self.counts(), before)]
            return sum(found) + stack >= FLOWS
        wait_for(arrived, lambda: f"all packets: {found}, {stack}")
        assert sum(found) + stack == FLOWS
        assert found == [now - old for now, old in zip(self.redirected(), by_queue)]
        return *found, stack

    def receive_all(self):
        *both, stack = self.spread()
        return all(both) and not stack

    def redirected(self):
        """For each queue, over all slaves."""
        shown = "".join(self.made.near.run("ethtool", "-S", link).stdout
                        for link in self.made.links)
        return [sum(int(count) for count in
                    re.findall(fr"rx_queue_{queue}_xdp_redirect: (\d+)", shown))
                for queue in range(2)]

    def programs(self):
        """The XDP program of each slave, None without."""
        return [self.made.near.link(link).get("xdp", {}).get("prog", {}).get("id")
                for link in self.made.links]

    def close(self):
        self.stack.close()
        self.child.stdin.close()
        assert self.child.wait(10 * PATIENCE) == 0
        assert self.programs() == [None] * len(self.made.links)


@pytest.fixture(name="made")
def _made(pair):
    return pair("balance-xor", links=2, xmit_hash_policy="layer3+4")


@pytest.fixture(name="threads")
def _threads(made):
    return Threads(made)


@pytest.mark.parametrize("first", [0, 1])
def test_each_has_a_queue(made, threads, first):
    """What the first one that ends had goes to the bond; the other goes on, by the same program."""
    assert threads.receive_all()
    before = threads.programs()
    assert all(before)
    threads.counts(first)
    assert threads.programs() == before
    found = threads.spread()
    assert not found[first] and found[1 - first] and found[2]
    threads.counts(1 - first)
    assert threads.programs() == [None, None]
    assert threads.spread() == (0, 0, FLOWS)
    made.near.wait_ping("10.0.0.2")
    threads.close()


def make_anew(made):
    near = made.near
    near.ctl("delete", "bond0")
    near.ctl("create", "bond0", "mode", "balance-xor")
    near.ctl("add-slave", "bond0", "l1", "l0")
    near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    near.ip("link", "set", "bond0", "up")
    near.wait_slaves(*made.links)
    made.far.wait_ping("10.0.0.1")


def test_slaves_come_and_go(made, threads):
    """Both threads follow a slave that leaves and comes again, also under another name of the bond,
    and a bond that is made anew.
    """
    near = made.near
    near.ctl("del-slave", "bond0", "l1")
    wait_for(lambda: not threads.programs()[1], "the filter to leave the slave")
    assert threads.programs()[0] and not threads.spread(["l0"])[2]
    near.ctl("add-slave", "bond0", "l1")
    made.far.wait_slaves(*made.links)
    wait_for(threads.receive_all, "both threads to receive all")
    assert all(threads.programs())
    near.rename("bond0", "bond7")
    wait_for(lambda: (near.bpf_dir / "bond7").exists(), "bondd to follow")
    near.ctl("del-slave", "bond7", "l1")
    near.ctl("add-slave", "bond7", "l1")
    made.far.wait_slaves(*made.links)
    wait_for(lambda: all(threads.programs()), "the filter on the slave of the renamed bond")
    near.rename("bond7", "bond0")
    wait_for(threads.receive_all, "both threads to receive all")
    make_anew(made)
    wait_for(threads.receive_all, "both threads to receive all")
    threads.close()


def test_a_thread_that_hangs(made, threads):
    """The other one follows the bond without it."""
    threads.counts("h0")
    make_anew(made)

    def second_receives():
        first, second, stack = threads.spread()
        return second and stack and not first
    wait_for(second_receives, "the other one to receive")
    threads.counts("h0")
    wait_for(threads.receive_all, "both threads to receive all")
    threads.close()


def test_killed(made, threads):
    threads.spread()
    end(threads.child, signal.SIGKILL)
    wait_for(lambda: threads.programs() == [None, None], "the filters to go")
    threads.send()
    threads.stack.settimeout(10 * PATIENCE)
    for _ in range(FLOWS):
        assert threads.stack.recv(100) == b"x"
    made.near.wait_ping("10.0.0.2")


def in_dispatcher(host, dev):
    """Names of the programs that libxdp's dispatcher calls, in their order, as far as each kernel
    keeps them; without one, none.
    """
    lines = host.run("xdp-loader", "status", dev).stdout.splitlines()
    return [line.split()[2][:15] for line in lines if line.strip().startswith("=>")]


def test_beside_another_program(made):
    """The threads share the filter in libxdp's dispatcher, too."""
    near = made.near
    for link in made.links:
        near.run("xdp-filter", "load", "--mode", "native", "--features", "udp", link)
    alone = [in_dispatcher(near, link) for link in made.links]
    if not all(alone):
        pytest.skip("libxdp has no dispatcher on this kernel")
    threads = Threads(made)
    assert threads.receive_all()
    shared = [in_dispatcher(near, link) for link in made.links]
    assert shared == [["xbond_port_filt", *names] for names in alone] or \
        shared == [[*names, "xbond_port_filt"] for names in alone]
    threads.counts(1)
    assert [in_dispatcher(near, link) for link in made.links] == shared
    first, second, stack = threads.spread()
    assert first and stack and not second
    threads.counts(0)
    assert [in_dispatcher(near, link) for link in made.links] == alone
    assert threads.spread() == (0, 0, FLOWS)
    for link in made.links:
        near.run("xdp-loader", "unload", link, "--all")
    threads.close()


@pytest.mark.parametrize("ports, words", [
    ((PORT, PORT + 1), "another handle of this process receives by another filter there"),
    ((PORT, PORT, PORT), "queue 2: Invalid argument")])
def test_what_cannot_be_shared(made, ports, words):
    done = made.near.run(BUILD / "tools/xskthreads", made.near.bpf_dir / "bond0", *ports,
                         check=False)
    assert done.returncode == 1 and words in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_forwarder_survives_cuts(pair):
    """packaging/examples/forward.c: what comes for its port by each queue goes on by the bond, and
    nothing is lost when slaves are cut, without bondd, too.
    """
    made, sent = pair("balance-xor", links=3, xmit_hash_policy="layer3+4"), 0
    near, far = made.near, made.far
    mac, machines = near.link("bond0")["address"], ["02:00:00:00:00:77", "02:00:00:00:00:78"]
    frames = [udp_frame(mac, 20000 + flow) for flow in range(FLOWS)]
    child = near.spawn(BUILD / "tools/forward", near.bpf_dir / "bond0", PORT, *machines,
                       stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "2 queues\n"
    tally, wire = Tally(far, made.links, port=PORT), Capture(far, "l2")

    def arrived():
        return sum(far.received(link)["packets"] for link in made.links)
    near.kill_bondd()
    for link in ("l0", "l1", "l0", "l1"):
        far.ip("link", "set", link, "down")
        for _ in range(10):
            before = arrived()
            send_frames(far, "l2", 2 * frames)  # a queue of a veth has room for 256
            sent += 2 * FLOWS
            wait_for(lambda: arrived() - before >= 2 * FLOWS, "the frames")
        far.ip("link", "set", link, "up")
        far.wait_slaves(*made.links)
    child.send_signal(signal.SIGTERM)
    queues = [dict((name, int(count)) for count, name in re.findall(r"(\d+) (\w+)", line))
              for line in child.communicate(timeout=10 * PATIENCE)[0].splitlines()]
    assert len(queues) == 2 and all(each["received"] > sent / 8 for each in queues)
    total = {name: sum(each[name] for each in queues) for name in queues[0]}
    assert total["received"] + total["missed"] == sent and not total["missed"]
    assert total["again"] >= 4
    assert tally.finish() == total["sent"] == sent and not total["lost"]
    assert {frame.dst for frame in wire.frames(0.1)} >= set(machines)
    wire.close()
