"""What a small UDP packet costs to send: over a plain slave, over a bond on the direct path
and over one on the counted path, all from one CPU. The far ends drop in TC, as cheaply as
a frame can end, so that the rest is the sending of it. The bond hashes layer3+4.
"""
import statistics

from .bed import (PLAIN, PLAIN_FAR, add_plain_link, blast, bring_up, drop_at_ingress, lab,
                  make_bond, no_arp)
from .rows import Row, alternate, median_difference, median_ratio

FAR = "10.0.0.2"


def sending_bed(made, **options):
    """A host with a bond of four links and a plain link beside it; whatever arrives at the far ends
    is dropped.
    """
    near, far = made.host("a"), made.namespace("b")
    links = made.links(near, far, 4)
    add_plain_link(made, near, far)
    bring_up(far, links)
    make_bond(near, links, "10.0.0.1", **options)
    for dev in (*links, PLAIN):
        drop_at_ingress(far, dev)
    no_arp(near, "bond0", FAR)
    no_arp(near, PLAIN, PLAIN_FAR)
    near.wait_slaves(*links)
    return near


def plain_subject(near, seconds):
    return lambda: blast(near, PLAIN_FAR, seconds)


def path_subject(near, path, seconds, bonded=None):
    """bonded: who has the bond, if it is not near that sends."""
    def run_once():
        (bonded or near).ctl("set", "bond0", "path", path)
        return blast(near, FAR, seconds)
    return run_once


def rows(scale):
    with lab() as made:
        near = sending_bed(made, mode="balance-xor", xmit_hash_policy="layer3+4")
        subjects = {"plain": plain_subject(near, scale.seconds)}
        subjects.update({path: path_subject(near, path, scale.seconds)
                         for path in ("direct", "counted")})
        ns = alternate(scale.rounds, subjects)
    yield Row("send: plain slave", statistics.median(ns["plain"]), "ns/packet")
    for path, bound in (("direct", 1.12), ("counted", 1.35)):
        yield Row(f"send: {path} / plain slave", median_ratio(ns[path], ns["plain"]), "ratio",
                  bound)
        yield Row(f"send: {path} adds", median_difference(ns[path], ns["plain"]), "ns/packet")
