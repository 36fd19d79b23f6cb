"""python3 -m tests.vm.guest.bench KERNEL FILE: xbond and the kernel's own bonding and team side by
side, measured in one run in rounds that alternate, over veth pairs in the emulated machine. What
counts are the ratios: time follows executed instructions here.

Sending ends in a TC drop at the far ends. A veth receives in the softirq of the CPU that sends, so
receiving is measured with its sending, less what a plain device costs. What whole ways of a packet
cost, and receiving without the sender, is in paths.py.
"""
import os
import pathlib
import statistics
import subprocess
import sys

from ...bench.bed import (BLAST, add_plain_link, blast, bring_up, drop_at_ingress, lab, make_bond,
                          no_arp, PLAIN, PLAIN_FAR)
from ...bench import bed
from ...bench import xdp
from ...bench.conversion import mode_rows as conversion_rows
from ...bench.failover import MODES
from ...bench.rows import Row, alternate, chosen, median_difference, write_json

from traffic import Stream  # pylint: disable=wrong-import-order
from waiting import wait_for  # pylint: disable=wrong-import-order
from .aggregates import HASH, LACP, LINKS, NETKIT, aggregates, bonding, team, xbond
from .container import container_rows
from .control_planes import control_plane_rows
from .machine import Nics
from .paths import path_rows
from .vlans import vlan_rows

QUICK = bool(os.environ.get("QUICK"))
ROUNDS, SECONDS, FRAMES, CUTS = (5, 0.3, 20000, 3) if QUICK else (11, 0.5, 50000, 20)
CONVERSIONS = 1 if QUICK else 5  # each way
SIZES = (3, 16) if QUICK else (3, 16, 64)  # bonds
# And names of modes, of which alone cuts are measured.
SUBJECTS = ("send", "receive", "container", "paths", "conversion", "vlans", "scale", "cut",
            "xdp")
RATE = 2000
AFTER_CUT = 0.5  # seconds of the stream, of which a dead teamd loses all
bed.CPU = 0  # the only one: nothing else moves the clock
TX_HASH = {"tx_hash": ["l3", "l4"]}
NETKIT_DIRECT = "xbond netkit direct"
TEAM = "xbond team direct"
TEAM_COUNTED = "xbond team counted"
WAYS = {
    "xbond direct": xbond("mode", "balance-xor", *HASH, "path", "direct"),
    "xbond counted": xbond("mode", "balance-xor", *HASH),
    NETKIT: xbond("mode", "balance-xor", *HASH, "device", "netkit"),
    NETKIT_DIRECT: xbond("mode", "balance-xor", *HASH, "device", "netkit", "path", "direct"),
    TEAM: xbond("mode", "balance-xor", *HASH, "device", "team", "path", "direct"),
    TEAM_COUNTED: xbond("mode", "balance-xor", *HASH, "device", "team"),
    "bonding xor": bonding("balance-xor", *HASH),
    "xbond direct rr": xbond("mode", "balance-rr", "path", "direct"),
    "bonding rr": bonding("balance-rr"),
    "team loadbalance": team(name="loadbalance", **TX_HASH),
}
# Kernel bonding looks at carrier itself when it sends in xor and rr; in active-backup miimon
# decides.
CUT = {
    "balance-rr": ((), {"name": "roundrobin"}),
    "active-backup": ((), {"name": "activebackup"}),
    "balance-xor": (HASH, {"name": "loadbalance", **TX_HASH}),
    "broadcast": ((), {"name": "broadcast"}),
    "802.3ad": (LACP, {"name": "lacp", "fast_rate": True, **TX_HASH}),
}
STATES = ("works", "killed", "stopped")
RECEIVE = ("xbond direct", "xbond counted", NETKIT, NETKIT_DIRECT, TEAM, TEAM_COUNTED,
           "bonding xor", "team loadbalance")


def compare(what, ns, reference, bounds):
    """What each adds to the plain device; ratios to the reference."""
    plain = ns["plain"]
    yield Row(f"{what}: plain device", statistics.median(plain), "ns/packet")
    for name in ns:
        if name == "plain":
            continue
        added = median_difference(ns[name], plain)
        yield Row(f"{what}: {name} adds", added, "ns/packet")
        if name in bounds:
            yield Row(f"{what}: {name} adds / {reference(name)} adds",
                      added / median_difference(ns[reference(name)], plain), "ratio", bounds[name])


def send_rows():
    with lab() as made:
        near, far = made.host("a"), made.namespace("b")
        add_plain_link(made, near, far)
        subjects = {"plain": lambda: blast(near, PLAIN_FAR, SECONDS)}
        no_arp(near, PLAIN, PLAIN_FAR)
        drop_at_ingress(far, PLAIN)
        for each in aggregates(made, near, far, WAYS):
            for link in each.links:
                drop_at_ingress(far, link)
            no_arp(near, each.dev, f"{each.subnet}.2")
            subjects[each.name] = lambda each=each: blast(near, f"{each.subnet}.2", SECONDS)
        ns = alternate(ROUNDS, subjects)
    yield from compare("send", ns, lambda name: "bonding rr" if name.endswith("rr")
                       else "bonding xor", {"xbond direct": 0.7, "xbond counted": None, NETKIT: 0.9,
                                            NETKIT_DIRECT: 0.9, TEAM: 0.7,
                                            TEAM_COUNTED: 1.2,
                                            "xbond direct rr": None})


def receive_rows():
    with lab() as made:
        receiver, sender = made.host("a"), made.namespace("b")
        add_plain_link(made, sender, receiver)
        no_arp(sender, PLAIN, PLAIN_FAR, receiver.link(PLAIN)["address"])
        subjects = {"plain": lambda: blast(sender, PLAIN_FAR, SECONDS)}
        found = aggregates(made, receiver, sender,
                           {name: WAYS[name] for name in RECEIVE})
        for each in found:
            sender.ip("addr", "add", f"{each.subnet}.2/24", "dev", each.links[0])
            no_arp(sender, each.links[0], f"{each.subnet}.1", each.mac())
            subjects[each.name] = lambda each=each: blast(sender, f"{each.subnet}.1", SECONDS)
        sink = receiver.spawn(BLAST, "sink", stdout=subprocess.PIPE)
        assert sink.stdout.readline() == b"ready\n"
        socket = alternate(ROUNDS, subjects)
        for dev in (PLAIN, *[each.dev for each in found]):
            added = receiver.run("tc", "qdisc", "add", "dev", dev, "clsact", check=False)
            if added.returncode in (0, 2):
                receiver.run("tc", "filter", "add", "dev", dev, "ingress", "bpf", "direct-action",
                             "bytecode", "1,6 0 0 2")
        drop = alternate(ROUNDS, subjects)
    yield from compare("receive to a TC drop", drop, lambda _: "bonding xor",
                       {"xbond direct": None})
    yield from compare("receive to a UDP socket", socket, lambda _: "bonding xor",
                       {"xbond direct": None})


def disturb(each, state):
    if state == "stopped":
        each.near.freeze_bondd()
    elif state == "killed":
        (each.teamd.kill if each.teamd else each.near.kill_bondd)()


def settle(each, state):
    if state == "stopped":
        each.near.thaw_bondd()
    elif state == "killed":
        (each.teamd.start if each.teamd else each.near.start_bondd)()


def lost_at_a_cut(each, state):
    """Of the link that carries most, which in active-backup is the active one."""
    before = each.sent_by_links()
    stream = Stream(each.near, each.far, to=f"{each.subnet}.2", rate=RATE, flows=32, early=0)
    stream.flow_on(RATE // 5)
    disturb(each, state)
    after = each.sent_by_links()
    link = max(each.links, key=lambda link: after[link] - before[link])
    each.far.ip("link", "set", link, "down")
    each.near.run("sleep", AFTER_CUT)
    lost = stream.finish()["lost"]
    each.far.ip("link", "set", link, "up")
    settle(each, state)
    return lost


def ways_to_cut(mode):
    """Each by its name. xbond is of the device that this kernel gives it."""
    options, runner = CUT[mode]
    runs_on = {"lacp": "loadbalance"}.get(runner["name"], runner["name"])
    return {"xbond": xbond("mode", mode, *options, "device", "auto"),
            "bonding, miimon 100": bonding(mode, *options),
            "bonding, miimon 10": bonding(mode, *options, miimon=10),
            f"team {runs_on}": team(**runner)}


def cuts(each, mode, state):
    losses = []
    for _ in range(CUTS):
        each.near.wait_ping(f"{each.subnet}.2", 20)
        losses.append(lost_at_a_cut(each, state))
        # both see the link again; bonding needs its miimon, LACP two seconds to aggregate
        each.near.run("sleep", "3" if mode == "802.3ad" else "0.5")
    return losses


def daemon_of(each):
    """Its name, and the states of it to measure in."""
    if each.name == "xbond":
        return "bondd", STATES
    return ("teamd", STATES[:2]) if each.teamd else ("", STATES[:1])


def cut_rows_of(mode, same_index):
    indexes = "equal" if same_index else "different"
    with lab() as made:
        near, far = made.host("a"), made.namespace("b")
        for each in aggregates(made, near, far, ways_to_cut(mode), far_mode=mode,
                               same_index=same_index):
            daemon, states = daemon_of(each)
            for state in states:
                losses = cuts(each, mode, state)
                name = f"{each.name}, {daemon} {state}" if daemon else each.name
                what = f"cut at {RATE} packets/s, {mode}, {indexes} ifindexes, {name}: lost"
                bounds = (0, 5) if each.name == "xbond" else (None, None)
                yield Row(f"{what}, median of {CUTS}", statistics.median(losses), "packets",
                          bounds[0])
                yield Row(f"{what}, worst", max(losses), "packets", bounds[1])


def cut_rows(modes):
    for same_index in (False,) if QUICK else (False, True):
        for mode in modes:
            yield from cut_rows_of(mode, same_index)


def xdp_rows():
    """As `make bench` has it, but to virtio NICs: their cables are out at the other end, so that
    nothing receives.
    """
    with xdp.programs() as loaded, lab() as made:
        near, nics = made.host("a"), Nics()
        *slaves, (plain, _) = nics.take(near, made.namespace("b"), 2 * LINKS + 1)
        slaves = [name for name, _ in slaves]
        for number in range(2 * LINKS + 1):
            nics.cable(2 * number + 1, False)
        for number, options in enumerate(({"xdp_tx": "on", "rx_hook": "xdp"}, {})):
            make_bond(near, slaves[LINKS * number:][:LINKS], f"10.{number}.0.1",
                      name=f"bond{number}", mode="balance-xor",
                      xmit_hash_policy="layer3+4", **options)
        bring_up(near, [plain])
        loaded.attach(near, plain, "drops")  # a virtio NIC sends frames only if it has a program
        before = sent_by(near, [plain, *slaves])
        subjects = xdp.senders(near, loaded, FRAMES, plain, slaves[:LINKS])
        figures = alternate(ROUNDS, subjects)
        lost = FRAMES * ROUNDS * (len(subjects) - 1) - (sent_by(near, [plain, *slaves]) - before)
    yield from xdp.rows_of_sending(figures, LINKS)
    yield Row("XDP frames that the NICs did not take", max(lost, 0), "frames")


def sent_by(host, devices):
    return sum(host.ip_json("-s", "link", "show", "dev", device)[0]["stats64"]["tx"]["packets"]
               for device in devices)


def read_ahead():
    """Makes bonds of all kinds, which may fail: the guest's clock jumps while it waits for files of
    the host, such as modules, and then bondctl waits in vain. So nothing is read for the first time
    later.
    """
    with lab() as made:
        near = made.host("a")
        for device in ("veth", "netkit", "team"):
            near.ctl_try("create", "bond0", "device", device)
            wait_for(lambda: near.ctl_try("delete", "bond0") and not near.ctl_json("list"),
                     "no bond to be left", 30)


def main():
    kernel, path = sys.argv[1:]
    rows = []
    names = chosen(os.environ.get("ONLY", ""), [*SUBJECTS, *CUT])
    modes = [mode for mode in CUT if mode in names]
    read_ahead()
    for name, measure in (("send", send_rows), ("receive", receive_rows),
                          ("container", lambda: container_rows(ROUNDS, SECONDS)),
                          ("paths", lambda: path_rows(ROUNDS, SECONDS)),
                          ("conversion", lambda: conversion_rows(MODES, CONVERSIONS)),
                          ("vlans", vlan_rows), ("scale", lambda: control_plane_rows(SIZES)),
                          ("cut", lambda: cut_rows(modes or CUT)),
                          ("xdp", xdp_rows)):
        if name not in names and not (name == "cut" and modes):
            continue
        for row in measure():
            row.name = f"Linux {kernel}, {row.name}"
            rows.append(row)
            print(row.as_text(), flush=True)
    write_json(pathlib.Path(path), rows)


main()
