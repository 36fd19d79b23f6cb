"""queue_id: packets with a slave's queue_mapping take this slave, in every mode and path; what is
refused.
"""
import collections
import os
import re
import socket

import pytest

from lab import BUILD, Refused
from tcx import attach_before
from traffic import Capture
from waiting import wait_for

FILTERS = BUILD / "tools/filters.bpf.o"
PORT = 9000
FLOWS = 64  # of 24, none takes one of three links once in 5,600 times
SO_MARK = 36
both_hooks = pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)


def put_before(host, hook):
    """In front of xbond's at bond0's egress, in the way that the manual has for the hook."""
    if hook == "tcx":
        attach_before(host, FILTERS, "queue_by_mark")
        return
    host.run("tc", "qdisc", "add", "dev", "bond0", "clsact", check=False)  # a netkit has none yet
    host.run("tc", "filter", "add", "dev", "bond0", "egress", "pref", 1, "bpf", "da", "obj",
             FILTERS, "program", "queue_by_mark")


@pytest.fixture
def queued(pair, hook):
    """A pair whose near end gives packets the queue_mapping of their socket's mark, before xbond's
    program.
    """
    def make(mode, **options):
        far = {} if mode in ("balance-rr", "balance-xor") else {"mode": "broadcast"}
        made = pair(mode, links=3, far=far, **options)
        put_before(made.near, hook)
        return made
    return make


def links_used(made, mark, priority=0):
    """{link: datagrams} of one datagram of each of many flows."""
    wires = {link: Capture(made.far, link) for link in made.links}
    for number in range(FLOWS):
        with made.near.inside():
            flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with flow:
            flow.setsockopt(socket.SOL_SOCKET, SO_MARK, mark)
            flow.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
            flow.sendto(f"flow {number}".encode(), ("10.0.0.2", PORT))
    found = []

    def arrived():
        found.extend((link, flow[0]) for link, wire in wires.items() for frame in wire.frames(0.1)
                     if (flow := re.search(rb"flow \d+", frame.data)))
        return len({flow for _, flow in found}) == FLOWS
    wait_for(arrived, "all flows at the far end")
    for wire in wires.values():
        wire.close()
    return collections.Counter(link for link, _ in found)


@both_hooks
@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "balance-xor", "broadcast"])
def test_the_mapping_chooses_the_slave(queued, mode, path, hook):
    made = queued(mode, path=path, xmit_hash_policy="layer3+4")
    without = links_used(made, 7)
    made.near.ctl("set-slave", "bond0", "l2", "queue_id", 7)
    made.near.ctl("set-slave", "bond0", "l1", "queue_id", 65534)
    assert links_used(made, 7) == links_used(made, 7, priority=6) == {"l2": FLOWS}
    assert set(links_used(made, 0)) == set(links_used(made, 8)) == set(without)
    assert links_used(made, 65534) == {"l1": FLOWS}
    made.near.ctl("set-slave", "bond0", "l2", "queue_id", 0)
    assert set(links_used(made, 7)) == set(without)


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
def test_slaves_with_addresses_of_their_own(queued, path):
    """The switch knows the bond's address at the active slave, so l2 sends with its own; ARP stays.
    """
    made = queued("balance-tlb", path=path)
    made.near.ctl("set", "bond0", "primary", "l0")
    for link, number in (("l0", 6), ("l2", 7)):
        made.near.ctl("set-slave", "bond0", link, "queue_id", number)
    macs = {slave["name"]: slave["mac"] for slave in made.near.show()["slaves"]}
    made.near.ip("neigh", "flush", "dev", "bond0")
    wires = {link: Capture(made.far, link) for link in made.links}
    assert links_used(made, 7) == {"l2": FLOWS}
    assert links_used(made, 6) == {"l0": FLOWS}
    for link, wire in wires.items():
        frames = wire.frames(0.1)
        assert {frame.src for frame in frames if b"flow " in frame.data} == \
            ({macs[link]} if link != "l1" else set())
        assert link == "l0" or 0x0806 not in {frame.type for frame in frames}


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
@pytest.mark.skipif(os.cpu_count() == 1,
                    reason="the bond has one queue, and skbedit takes no number that it has not")
def test_skbedit_on_the_bond(pair, path, hook):
    """As the manual has it: a filter of tc before xbond's."""
    made = pair("balance-xor", links=3, path=path, xmit_hash_policy="layer3+4")
    made.near.ctl("set-slave", "bond0", "l2", "queue_id", 1)
    done = made.near.run("tc", "filter", "add", "dev", "bond0", "egress", "pref", 1, "protocol",
                         "ip", "matchall", "action",
                         "skbedit", "queue_mapping", 1, "continue", check=False)
    if "not found" in done.stderr or "Failed to load TC" in done.stderr:
        pytest.skip("this kernel has no matchall or skbedit")
    assert done.returncode == 0, done.stderr
    assert links_used(made, 0) == {"l2": FLOWS}


@both_hooks
def test_a_slave_that_is_down_is_not_taken(queued, path, hook):
    made = queued("balance-xor", path=path, xmit_hash_policy="layer3+4")
    made.near.ctl("set-slave", "bond0", "l2", "queue_id", 7)
    made.far.ip("link", "set", "l2", "down")
    made.near.wait_slaves("l0", "l1")
    assert set(links_used(made, 7)) == {"l0", "l1"}
    made.far.ip("link", "set", "l2", "up")
    made.near.wait_slaves(*made.links)
    made.far.wait_slaves(*made.links)
    assert links_used(made, 7) == {"l2": FLOWS}


@both_hooks
def test_it_outlives_bondd_and_is_saved(queued, hook):
    made = queued("balance-xor", xmit_hash_policy="layer3+4")
    made.near.ctl("set-slave", "bond0", "l2", "queue_id", 7)
    made.near.kill_bondd()
    assert links_used(made, 7) == {"l2": FLOWS}
    made.near.start_bondd()
    assert made.near.slave("l2")["options"]["queue_id"] == 7
    assert links_used(made, 7) == {"l2": FLOWS}
    made.near.ctl("save", "bond0")
    assert "[slave l2]\nqueue_id = 7\n" in (made.near.config_dir / "bond0.conf").read_text()
    made.near.ctl("delete", "bond0")
    made.near.restart_bondd()
    wait_for(lambda: made.near.ctl_json("list") == ["bond0"], "the bond to be made from its file")
    assert made.near.slave("l2")["options"]["queue_id"] == 7


def refused(host, *words, status=1):
    with pytest.raises(Refused) as caught:
        host.ctl(*words)
    assert caught.value.status == status and caught.value.text.count("\n") == 1
    return caught.value.text


def test_one_slave_for_each_number(lone):
    host = lone(3)
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0", "queue_id", 3)
    assert "3 is the number of l0" in refused(host, "add-slave", "bond0", "l1", "queue_id", 3)
    assert host.slave_names() == ["l0"]
    assert "cannot have the same number" in refused(host, "add-slave", "bond0", "l1", "l2",
                                                    "queue_id", 4)
    host.ctl("add-slave", "bond0", "l1", "l2")
    assert "3 is the number of l0" in refused(host, "set-slave", "bond0", "l1", "queue_id", 3)
    assert "65535" in refused(host, "set-slave", "bond0", "l1", "queue_id", 65535, status=2)
    host.ctl("set-slave", "bond0", "l0", "queue_id", 3)
    host.ctl("del-slave", "bond0", "l0")
    host.ctl("set-slave", "bond0", "l1", "queue_id", 3)
    assert [slave["options"]["queue_id"] for slave in host.show()["slaves"]] == [3, 0]


def test_flows_spread_over_the_queues_of_a_slave(lone, path):
    """Also those without a connected socket, which bond0 has put into a queue of its own."""
    near = lone(0)
    near.ip("link", "add", "l0", "numtxqueues", 4, "numrxqueues", 4, "type", "veth", "peer",
            "name", "l0", "numtxqueues", 4, "numrxqueues", 4, "netns", near.far.name)
    near.far.ip("link", "set", "l0", "up")
    near.far.run("ip", "link", "set", "l0", "xdpdrv", "obj", BUILD / "tools/discard.bpf.o",
                 "sec", "xdp.frags")
    near.make_bond(["l0"], "mode", "active-backup", "path", path)
    near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    near.ip("neigh", "add", "10.0.0.2", "lladdr", "02:00:00:00:00:02", "dev", "bond0")
    for _ in range(64):
        with near.inside():
            flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with flow:
            flow.sendto(b"x", ("10.0.0.2", PORT))

    def by_queue():
        shown = near.far.run("ethtool", "-S", "l0").stdout
        return [int(count) for count in re.findall(r"rx_queue_\d_xdp_drops: (\d+)", shown)]
    wait_for(lambda: sum(by_queue()) >= 64, lambda: f"all flows at the far end: {by_queue()}")
    assert all(by_queue()), by_queue()
