"""What a small UDP packet costs to send when all CPUs send at once, against one CPU alone: what
they share moves between their caches. Each mode, over one bond and over one for each CPU, beside a
plain link.
"""
import json
import os

from .bed import BLAST, PLAIN_FAR, lab
from .many import add_bond
from .rows import Row, alternate, median_ratio
from .transmit import FAR, sending_bed

FLOWS = 64  # of each CPU
BOUND = 1.25  # a fifth of the packets of a CPU second
SETTINGS = {
    "balance-xor": ("mode", "balance-xor", "xmit_hash_policy", "layer3+4"),
    "balance-xor, counted": ("mode", "balance-xor", "path", "counted"),
    "balance-rr": ("mode", "balance-rr"),
    "balance-rr by bytes": ("mode", "balance-rr", "bytes_per_slave", 1),
    "balance-rr, counted": ("mode", "balance-rr", "path", "counted"),
    "active-backup": ("mode", "active-backup"),
    "broadcast": ("mode", "broadcast"),
    "balance-tlb": ("mode", "balance-tlb"),
    "balance-alb": ("mode", "balance-alb"),
}
ONE, MANY = "one bond", "a bond for each"


def blasts(near, addresses, seconds):
    """Mean ns per packet of a sender to each address, each on a CPU of its own, at once."""
    children = [near.spawn(BLAST, "send", "--to", address, "--size", 18, "--seconds", seconds,
                           "--cpu", cpu, "--flows", FLOWS, stdout=-1)
                for cpu, address in enumerate(addresses)]
    return sum(json.loads(child.communicate()[0])["ns_per_packet"]
               for child in children) / len(children)


def with_settings(near, words, bonds, addresses, seconds):
    def run_once():
        for bond in bonds:
            near.ctl("set", bond, "mode", "balance-rr", "path", "direct", "bytes_per_slave", 0)
            near.ctl("set", bond, *words)
        return blasts(near, addresses, seconds)
    return run_once


def measure(scale, cpus):
    """{(setting or "plain", where, CPUs): ns of each round}."""
    with lab() as made:
        near = sending_bed(made, path="direct")
        far = made.namespaces[0]
        for number in range(cpus):
            add_bond(made, near, far, number + 1)
        places = {ONE: (["bond0"], [FAR] * cpus),
                  MANY: ([f"bond{number + 1}" for number in range(cpus)],
                         [f"10.{number + 1}.0.2" for number in range(cpus)])}
        subjects = {("plain", ONE, count): lambda count=count: blasts(
            near, [PLAIN_FAR] * count, scale.seconds) for count in (1, cpus)}
        for name, words in SETTINGS.items():
            for place, (bonds, addresses) in places.items():
                for count in (1, cpus):
                    subjects[name, place, count] = with_settings(
                        near, words, bonds, addresses[:count], scale.seconds)
        return alternate(scale.rounds, subjects)


def rows(scale):
    cpus = len(os.sched_getaffinity(0))
    ns = measure(scale, cpus)
    plain = median_ratio(ns["plain", ONE, cpus], ns["plain", ONE, 1])
    yield Row(f"send from {cpus} CPUs / from 1: plain", plain, "ratio")
    for name in SETTINGS:
        for place in (ONE, MANY):
            yield Row(f"send from {cpus} CPUs / from 1: {name}, {place}, over plain",
                      median_ratio(ns[name, place, cpus], ns[name, place, 1]) / plain, "ratio",
                      BOUND)
