"""How what a control plane does grows with its bonds, of four LACP ports each at the fast rate:
bondd, kernel bonding, and team with a teamd for each. The partner of all is an xbond of veth in
another namespace, whose bondd is no part of the figures of processes, but of those of the guest.
"""
import json
import os
import pathlib
import signal
import statistics

from ...bench.bed import lab
from ...bench.daemon_cost import cpu_ns
from ...bench.detection import TxMask
from ...bench.lacp import LATE, off_time
from ...bench.rows import Row
from ...bench.scale import carrying, heard, make_bonds, names, seconds_of

# pylint: disable=wrong-import-order
from namespace import memory_kb
from traffic import Stream
from waiting import quiet_for, wait_for
# pylint: enable=wrong-import-order
from .aggregates import HASH, LACP

SLAVES = 4
TEAM_BONDS = 3  # 16 teamds leave the guest's CPU no time
CUTS = 3  # of different bonds
RATE, FLOWS = 1000, 64  # packets/s
SECONDS = 20


def xbond(device):
    def make(near, links, bonds):
        near.start_bondd()
        make_bonds(near, links, bonds, device=device, xmit_hash_policy=HASH[1])
        return [near.bondd.pid]
    return make, lambda near, bonds: near.ctl_command("-j", "show")


def make_bonding(near, links, bonds):
    for number, bond in enumerate(names(bonds)):
        near.ip_batch(f"link add {bond} type bond mode 802.3ad miimon 100 {' '.join(LACP)}",
                      *[f"link set {link} master {bond}" for link in links[number::bonds]],
                      f"link set {bond} up")
    return []


def make_team(near, links, bonds):
    for number, bond in enumerate(names(bonds)):
        near.run("teamd", "-d", "-U", "-c", json.dumps({
            "device": bond, "link_watch": {"name": "ethtool"},
            "runner": {"name": "lacp", "fast_rate": True, "tx_hash": ["l3", "l4"]},
            "ports": {link: {} for link in links[number::bonds]}}))
    near.ip_batch(*[f"link set {bond} up" for bond in names(bonds)])
    return [int(pathlib.Path(f"/run/teamd/{bond}.pid").read_text()) for bond in names(bonds)]


# How they are made, which returns the processes, and a command that lists all of them.
WAYS = {
    "team": (make_team, lambda _, bonds: ["bash", "-c", "for bond; do teamdctl $bond state dump; "
                                          "done", "list", *names(bonds)]),
    "xbond, veth": xbond("veth"),
    "bonding": (make_bonding, lambda _, bonds:
                ["cat", *[f"/proc/net/bonding/{bond}" for bond in names(bonds)]]),
    "xbond, team": xbond("team"),
}


def guest_ns():
    """What the guest's only CPU has worked."""
    up, idle = map(float, pathlib.Path("/proc/uptime").read_text().split())
    return 1e9 * (up - idle)


def work_seconds(action):
    """Of the guest's CPU: by the clock what waits for files of the host takes any time."""
    before = guest_ns()
    action()
    return (guest_ns() - before) / 1e9


def percents(counters):
    """{what: percent of a CPU in SECONDS} of {what: function that returns ns}."""
    before = {what: count() for what, count in counters.items()}
    seconds = seconds_of(lambda: quiet_for(SECONDS, "CPU time of so long is measured"))
    return {what: (count() - before[what]) / 1e7 / seconds for what, count in counters.items()}


def available_mb():
    text = pathlib.Path("/proc/meminfo").read_text()
    return int(text.split("MemAvailable:")[1].split()[0]) / 1024


def ms_to_a_dead_link(near, far, number, bonds):
    """For how long a bond goes on sending to a link after its far end was set down."""
    bond, links = f"bond{number}", [f"l{number + bonds * index}" for index in range(SLAVES)]
    for host, end in ((near, 1), (far, 2)):
        host.ip("addr", "add", f"10.0.{number}.{end}/24", "dev", bond)
    near.wait_ping(f"10.0.{number}.2", 20)
    stream = Stream(near, far, to=f"10.0.{number}.2", rate=RATE, flows=FLOWS, early=0)
    before = near.sent(links[0])["packets"], stream.received()
    stream.flow_on(RATE)
    share = (near.sent(links[0])["packets"] - before[0]) / (stream.received() - before[1])
    assert share > 0.05, share
    far.ip("link", "set", links[0], "down")
    stream.flow_on(RATE)
    return 1000 * stream.finish()["lost"] / (RATE * share)


def all_carry(far, links, masks):
    """At both ends, as the partner sees it, who is asked for details only when its own ports do."""
    return all(mask.has(slot) for mask in masks for slot in range(SLAVES)) and \
        carrying(far) == carrying(far, "partner_state") == len(links)


def rows_of(name, bonds):
    make, listing = WAYS[name]
    with lab() as made:
        quiet_for(5, "what was there before goes")
        idle = percents({"guest": guest_ns})["guest"]
        near, far = made.host("a", bondd=False), made.host("b")
        links = made.links(near, far, bonds * SLAVES)
        make_bonds(far, links, bonds, device="veth", xmit_hash_policy=HASH[1])
        masks = [TxMask(far, bond) for bond in names(bonds)]
        quiet_for(5, "the partner's bonds are idle")
        memory, processes = available_mb(), []
        yield "CPU, to make them", \
            work_seconds(lambda: processes.extend(make(near, links, bonds))), "s"
        yield "then until all carry", seconds_of(lambda: wait_for(
            lambda: all_carry(far, links, masks), "all ports", 60)), "s"
        quiet_for(5, "the exchange of LACPDUs ends")
        yield "memory", memory - available_mb(), "MB"
        yield "resident", sum(map(memory_kb, processes)) / 1024, "MB"
        with heard(far, links) as captures:
            took = percents({"guest": guest_ns, "partner": lambda: cpu_ns(far.bondd.pid),
                             "own": lambda: sum(map(cpu_ns, processes))})
            off = off_time(captures)
        yield "CPU, guest over idle", took["guest"] - idle, "percent"
        yield "CPU, own processes", took["own"], "percent"
        yield "CPU, partner's process", took["partner"], "percent"
        yield f"LACPDUs within {LATE * 1000:.0f} ms", \
            100 * sum(each <= LATE for each in off) / len(off), "percent"
        yield "LACPDUs, worst", 1000 * max(off), "ms"
        yield "CPU, to list them", \
            1000 * work_seconds(lambda: near.run(*listing(near, bonds))), "ms"
        times = [ms_to_a_dead_link(near, far, number, bonds) for number in range(min(CUTS, bonds))]
        yield f"sent to a dead link, median of {CUTS}", statistics.median(times), "ms"
        yield f"sent to a dead link, worst of {CUTS}", max(times), "ms"
        if name == "team":
            for process in processes:
                os.kill(process, signal.SIGTERM)


def control_plane_rows(sizes):
    for bonds in sizes:
        for name in WAYS:
            if name == "team" and bonds > TEAM_BONDS:
                continue
            for what, value, unit in rows_of(name, bonds):
                yield Row(f"{bonds} bonds of {SLAVES}, {name}: {what}", value, unit)
