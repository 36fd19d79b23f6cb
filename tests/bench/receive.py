"""What a small UDP packet costs to receive by a plain slave and by a bond, on both paths.

A veth receives in the softirq of the CPU that sends, so a blast from one CPU over a plain
veth pays both for its sending, the same in every row, and for the receiving, which is what
differs. Ratios are of the whole, as the design's are; the row `adds` is the difference alone.
Then once more with the bond in a container and its slaves outside, where packets are handed over
without bond0's backlog.
Twice: dropped in TC as soon as the device that a user looks at has it (the slave itself, or
bond0), and taken up to a UDP socket, whose filter drops it.
"""
import contextlib
import statistics
import subprocess

from .bed import (BLAST, PLAIN, PLAIN_FAR, add_plain_link, blast, bring_up, drop_at_ingress, lab,
                  make_bond, no_arp, wait_for)
from .rows import Row, alternate, median_difference, median_ratio
from .transmit import path_subject

NEAR, FAR = "10.0.0.1", "10.0.0.2"
REDIRECT_PEER = 128  # XBOND_F_REDIRECT_PEER
BOUNDS = {"direct": 1.20, "counted": 1.35}


def receiving_bed(made):
    """(sender, receiver): the receiver has a bond, whose first link the sender uses as a plain
    device.
    """
    sender, receiver = made.namespace("a"), made.host("b")
    links = made.links(sender, receiver, 4)
    add_plain_link(made, sender, receiver)
    bring_up(sender, links)
    sender.ip("addr", "add", f"{NEAR}/24", "dev", links[0])
    make_bond(receiver, links, FAR, mode="balance-xor", xmit_hash_policy="layer3+4")
    no_arp(sender, links[0], FAR, receiver.link("bond0")["address"])
    no_arp(sender, PLAIN, PLAIN_FAR, receiver.link(PLAIN)["address"])
    receiver.wait_slaves(*links)
    return sender, receiver


@contextlib.contextmanager
def dropped_in_tc(receiver):
    for dev in (PLAIN, "bond0"):
        drop_at_ingress(receiver, dev)
    yield
    for dev in (PLAIN, "bond0"):
        receiver.run("tc", "qdisc", "del", "dev", dev, "clsact")


@contextlib.contextmanager
def taken_by_a_socket(receiver):
    sink = receiver.spawn(BLAST, "sink", stdout=subprocess.PIPE)
    assert sink.stdout.readline() == b"ready\n"
    yield
    sink.kill()
    sink.wait()


def move_to_container(made, receiver):
    """The bond and the plain device in a namespace of their own; the slaves stay."""
    container = made.namespace("c")
    for dev, address in (("bond0", FAR), (PLAIN, PLAIN_FAR)):
        receiver.ip("link", "set", dev, "netns", container.name)
        bring_up(container, [dev])
        container.ip("addr", "add", f"{address}/24", "dev", dev)
    wait_for(lambda: receiver.pinned("table")["flags"] & REDIRECT_PEER, "bondd to see the move")
    return container


def container_rows(sender, container, scale):
    subjects = {"plain": lambda: blast(sender, PLAIN_FAR, scale.seconds),
                "bond": lambda: blast(sender, FAR, scale.seconds)}
    for what, ends in (("receive in a container", dropped_in_tc),
                       ("receive in a container, to a UDP socket", taken_by_a_socket)):
        with ends(container):
            ns = alternate(scale.rounds, subjects)
        yield Row(f"{what}: bond / plain slave", median_ratio(ns["bond"], ns["plain"]), "ratio")
        yield Row(f"{what}: bond adds", median_difference(ns["bond"], ns["plain"]), "ns/packet")


def measure(sender, receiver, scale):
    subjects = {"plain": lambda: blast(sender, PLAIN_FAR, scale.seconds)}
    subjects.update({path: path_subject(sender, path, scale.seconds, bonded=receiver)
                     for path in BOUNDS})
    return alternate(scale.rounds, subjects)


def rows_of(ns, what, bounds):
    yield Row(f"{what}: plain slave, sending included", statistics.median(ns["plain"]), "ns/packet")
    for path in BOUNDS:
        yield Row(f"{what}: {path} / plain slave", median_ratio(ns[path], ns["plain"]), "ratio",
                  bounds.get(path))
        yield Row(f"{what}: {path} adds", median_difference(ns[path], ns["plain"]), "ns/packet")


def rows(scale):
    with lab() as made:
        sender, receiver = receiving_bed(made)
        with dropped_in_tc(receiver):
            dropped = measure(sender, receiver, scale)
        with taken_by_a_socket(receiver):
            taken = measure(sender, receiver, scale)
        yield from container_rows(sender, move_to_container(made, receiver), scale)
    yield from rows_of(dropped, "receive", BOUNDS)
    yield from rows_of(taken, "receive to a UDP socket", {})
