"""TCP (cubic) over two links, equal and unequal, for 1, 4 and 64 connections: hash, hash with
rebalancing of live flows, flowlets of some gaps, and round-robin by bytes. Rate, what was
retransmitted, and what the receiver had to put in order.
"""
import statistics

from .bed import lab, make_bond  # first: it sets the path for traffic

from traffic import Iperf  # pylint: disable=wrong-import-order

from .rows import Row, alternate
from .tcp import FAR, transfer
from .unequal import limit

RATES = {"equal": (200, 200), "unequal": (100, 300)}
CONNECTIONS = (1, 4, 64)
OFF = {"mode": "balance-xor", "xmit_hash_policy": "layer3+4", "rebalance_interval": 0,
       "flowlet_gap": 0}
WAYS = {
    "hash": OFF,
    "rebalance_interval 1": {**OFF, "rebalance_interval": 1, "rebalance_idle": 0},
    "flowlet_gap 200": {**OFF, "flowlet_gap": 200},
    "flowlet_gap 1000": {**OFF, "flowlet_gap": 1000},
    "flowlet_gap 20000": {**OFF, "flowlet_gap": 20000},
    "balance-rr": {"mode": "balance-rr", "bytes_per_slave": 1},
}


def disordered(far):
    """Segments that the receiver has put in order so far."""
    lines = far.run("nstat", "-asz", "TcpExtTCPOFOQueue").stdout.split()
    return int(lines[lines.index("TcpExtTCPOFOQueue") + 1])


def subject(near, far, options, connections, seconds):
    """With a server of its own: one that many full connections have left may hang."""
    def run_once():
        for name, value in options.items():
            near.ctl("set", "bond0", name, value)
        before = disordered(far)
        server = Iperf(far)
        moved = transfer(near, server, FAR, seconds, "-P", connections, "-C", "cubic")
        server.close()
        segments = moved.gbits * 1e9 / 8 / 1448 * seconds
        return moved, 100 * (disordered(far) - before) / segments
    return run_once


def rows_of(kind, scale):
    with lab() as made:
        near, far = made.host("a"), made.host("b")
        links = made.links(near, far, 2)
        for host, address in ((near, "10.0.0.1"), (far, FAR)):
            make_bond(host, links, address, **OFF)
            for link, rate in zip(links, RATES[kind]):
                limit(host, link, rate)
                host.ctl("set-slave", "bond0", link, "weight", rate)
        for host in (near, far):
            host.wait_slaves(*links)
        near.wait_ping(FAR)
        done = alternate(scale.tcp_rounds, {
            (way, count): subject(near, far, options, count, scale.tcp_seconds)
            for count in CONNECTIONS for way, options in WAYS.items()})
    for (way, count), results in done.items():
        title = f"{kind}, {count} TCP, {way}"
        median = statistics.median
        yield Row(title, median(each.gbits for each, _ in results) * 1000, "Mbit/s")
        yield Row(f"{title}: retransmitted", median(each.retransmitted for each, _ in results),
                  "percent")
        yield Row(f"{title}: out of order", median(order for _, order in results), "percent")


def rows(scale):
    for kind in RATES:
        yield from rows_of(kind, scale)
