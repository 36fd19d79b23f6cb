"""What a small UDP packet costs to send, layer3+4 on the direct path, with some flows and with
many, with one bond on the machine and with many, and over a bond of two slaves and of 64. Many
flows cost the sender of this benchmark something too; the same over a plain link shows how much.
"""
from .bed import PLAIN_FAR, bring_up, drop_at_ingress, lab, make_bond, no_arp
from .rows import Row, alternate, median_ratio
from .transmit import FAR, blast, sending_bed

FLOWS, MANY = 64, 4096  # of so many, each of four slaves gets some
BONDS = 16
SLAVES, MOST = 2, 64
BOUND = 1.03
HASH = {"mode": "balance-xor", "xmit_hash_policy": "layer3+4", "path": "direct"}


def measure_flows(scale):
    """{(address, flows): ns of each round}."""
    with lab() as made:
        near = sending_bed(made, **HASH)
        return alternate(scale.rounds, {
            (address, flows): lambda address=address, flows=flows: blast(
                near, address, scale.seconds, flows)
            for flows in (FLOWS, MANY) for address in (FAR, PLAIN_FAR)})


def add_bond(made, near, far, number, slaves=SLAVES):
    links = [f"b{number}n{index}" for index in range(slaves)]
    for index, link in enumerate(links):
        made.link(near, far, link, 100 + slaves * number + index)
    bring_up(far, links)
    bond, subnet = f"bond{number}", f"10.{number}.0"
    make_bond(near, links, f"{subnet}.1", name=bond, **HASH)
    for link in links:
        drop_at_ingress(far, link)
    no_arp(near, bond, f"{subnet}.2")
    near.wait_slaves(*links, bond=bond)


def measure_bonds(scale):
    """ns of each round, on a host with one bond and on a host with BONDS of them."""
    with lab() as made:
        hosts = {1: made.host("a"), BONDS: made.host("c")}
        far = made.namespace("b")
        for count, near in hosts.items():
            for number in range(count):
                add_bond(made, near, far, number + count)
        return alternate(scale.rounds, {
            count: lambda near=near, count=count: blast(near, f"10.{count}.0.2", scale.seconds)
            for count, near in hosts.items()})


def measure_slaves(scale):
    """ns of each round, over bonds of so many slaves."""
    with lab() as made:
        near, far = made.host("a"), made.namespace("b")
        for slaves in (SLAVES, MOST):
            add_bond(made, near, far, slaves, slaves)
        return alternate(scale.rounds, {
            slaves: lambda slaves=slaves: blast(near, f"10.{slaves}.0.2", scale.seconds)
            for slaves in (SLAVES, MOST)})


def rows(scale):
    ns = measure_flows(scale)
    for what, address in (("direct", FAR), ("plain", PLAIN_FAR)):
        yield Row(f"send {what}: {MANY} flows / {FLOWS}",
                  median_ratio(ns[address, MANY], ns[address, FLOWS]), "ratio",
                  BOUND if address == FAR else None)
    ns = measure_bonds(scale)
    yield Row(f"send direct: {BONDS} bonds / 1 bond", median_ratio(ns[BONDS], ns[1]), "ratio",
              BOUND)
    ns = measure_slaves(scale)
    yield Row(f"send direct: {MOST} slaves / {SLAVES} slaves", median_ratio(ns[MOST], ns[SLAVES]),
              "ratio", BOUND)
