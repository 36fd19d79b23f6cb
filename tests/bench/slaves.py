"""What a small UDP packet costs to send over bonds of 2 and of 64 slaves, on the direct path,
layer3+4.
"""
from .bed import bring_up, drop_at_ingress, lab, make_bond, no_arp
from .rows import Row, alternate, median_ratio
from .transmit import blast

COUNTS = (2, 64)
BOUND = 1.03


def rows(scale):
    with lab() as made:
        near, far = made.host("a"), made.namespace("b")
        addresses = {}
        for count in COUNTS:
            links = [f"s{count}n{number}" for number in range(count)]
            for number, link in enumerate(links):
                made.link(near, far, link, 100 * count + number)
            bring_up(far, links)
            bond, addresses[count] = f"bond{count}", f"10.{count}.0.2"
            make_bond(near, links, f"10.{count}.0.1", name=bond, mode="balance-xor",
                      xmit_hash_policy="layer3+4", path="direct")
            for link in links:
                drop_at_ingress(far, link)
            no_arp(near, bond, addresses[count])
            near.wait_slaves(*links, bond=bond)
        ns = alternate(scale.rounds,
                       {count: lambda count=count: blast(near, addresses[count], scale.seconds)
                        for count in COUNTS})
    yield Row("send direct: 64 slaves / 2 slaves", median_ratio(ns[64], ns[2]), "ratio", BOUND)
