"""Packets lost when a far end is set down under 10,000 numbered UDP packets per second: two ways
of using the links, with different and with equal ifindexes at the ends of a link (the kernel
may hold messages of a veth whose ends have equal ones for up to a second).
"""
import statistics
import time

from .bed import bring_up, lab, make_bond, quiet_for  # first: it sets the path for traffic

from traffic import Stream  # pylint: disable=wrong-import-order

from .rows import Row

RATE = 10000
APART = 2.1  # seconds between two cuts


def lost_at_cut(near, far, link):
    stream = Stream(near, far, rate=RATE, flows=64)
    stream.flow_on(RATE // 5)
    far.ip("link", "set", link, "down")
    stream.flow_on(RATE // 2)
    lost = stream.finish()["lost"]
    far.ip("link", "set", link, "up")
    return lost


def cuts(scale, same_index, options):
    with lab() as made:
        near, far = made.host("a"), made.host("b")
        links = made.links(near, far, 4, same_index=same_index)
        for host, address in ((near, "10.0.0.1"), (far, "10.0.0.2")):
            make_bond(host, links, address, **options)
            bring_up(host, links)
        losses = []
        for number in range(scale.cuts):
            for host in (near, far):
                host.wait_slaves(*links)
            near.wait_ping("10.0.0.2")
            end = time.monotonic() + APART
            losses.append(lost_at_cut(near, far, links[number % len(links)]))
            quiet_for(max(0, end - time.monotonic()), "the kernel holds messages back")
    return losses


def rows(scale):
    for mode, options in (("balance-rr", {"mode": "balance-rr"}),
                          ("xor layer3+4",
                           {"mode": "balance-xor", "xmit_hash_policy": "layer3+4"})):
        for same_index, indexes in ((False, "different"), (True, "equal")):
            losses = cuts(scale, same_index, options)
            what = f"far end down at {RATE} packets/s, {mode}, {indexes} ifindexes"
            yield Row(f"{what}: lost, median", statistics.median(losses), "packets")
            yield Row(f"{what}: lost, worst", max(losses), "packets")
