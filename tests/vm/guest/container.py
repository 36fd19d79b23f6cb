"""What a bond costs a container: xbond's, whose device is in the container and whose slaves stay
outside, and kernel bonding's, which is in it with its slaves. Both are beside a plain NIC there, in
rounds that alternate.
"""
import statistics
import subprocess

from ...bench.bed import (BLAST, PLAIN, PLAIN_FAR, PLAIN_NEAR, add_plain_link, blast, bring_up,
                          drop_at_ingress, lab, no_arp)
from ...bench.receive import REDIRECT_PEER
from ...bench.rows import Row, alternate, median_difference, median_ratio

from waiting import wait_for  # pylint: disable=wrong-import-order
from .aggregates import HASH, Aggregate, bonding, xbond

MODES = {"active-backup": (), "balance-xor": HASH}


def move(each, container):
    """The CNI plugin does the same."""
    each.near.ip("link", "set", each.dev, "netns", container.name)
    bring_up(container, [each.dev])
    container.ip("addr", "add", f"{each.subnet}.1/24", "dev", each.dev)
    wait_for(lambda: each.near.pinned("table", each.dev)["flags"] & REDIRECT_PEER,
             "bondd to see the move")


def container_rows_of(mode, rounds, seconds):
    with lab() as made:
        host, container, far = made.host("a"), made.namespace("c"), made.namespace("b")
        add_plain_link(made, container, far)
        no_arp(container, PLAIN, PLAIN_FAR)
        no_arp(far, PLAIN, PLAIN_NEAR, container.link(PLAIN)["address"])
        drop_at_ingress(far, PLAIN)
        bonds = [Aggregate(made, host, far, 0, "xbond",
                           xbond("mode", mode, "device", "pair", *MODES[mode])),
                 Aggregate(made, container, far, 1, "bonding", bonding(mode, *MODES[mode]))]
        for each in bonds:
            wait_for(lambda each=each: "LOWER_UP" in each.near.link(each.dev)["flags"],
                     f"carrier of {each.name}", 15)
        move(bonds[0], container)
        sending = {"plain": lambda: blast(container, PLAIN_FAR, seconds)}
        receiving = {"plain": lambda: blast(far, PLAIN_NEAR, seconds)}
        for each in bonds:
            local, remote, link = f"{each.subnet}.1", f"{each.subnet}.2", each.links[0]
            far.ip("addr", "add", f"{each.subnet}.3/24", "dev", link)
            no_arp(far, link, local, container.link(each.dev)["address"])
            no_arp(container, each.dev, remote)
            for link in each.links:
                drop_at_ingress(far, link)
            sending[each.name] = lambda to=remote: blast(container, to, seconds)
            receiving[each.name] = lambda to=local: blast(far, to, seconds)
        with container.spawn(BLAST, "sink", stdout=subprocess.PIPE) as sink:
            assert sink.stdout.readline() == b"ready\n"
            figures = {"sent": alternate(rounds, sending), "received": alternate(rounds, receiving)}
            sink.kill()
    for way, ns in figures.items():
        what = f"in a container, {mode}, {way}"
        yield Row(f"{what}: plain NIC", statistics.median(ns["plain"]), "ns/packet")
        for name in ("bonding", "xbond"):
            yield Row(f"{what}: {name} / plain NIC", median_ratio(ns[name], ns["plain"]), "ratio")
        added = {name: median_difference(ns[name], ns["plain"]) for name in ("bonding", "xbond")}
        yield Row(f"{what}: xbond adds / bonding adds", added["xbond"] / added["bonding"], "ratio")


def container_rows(rounds, seconds):
    for mode in MODES:
        yield from container_rows_of(mode, rounds, seconds)
