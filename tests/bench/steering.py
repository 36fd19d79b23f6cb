"""TCP (cubic) over two links, equal and unequal, for 1, 4 and 64 connections: hash, hash with
rebalancing of live flows, flowlets of some gaps, and round-robin by bytes. Rate, what was
retransmitted, and what the receiver had to put in order: of each the median of three repetitions,
which alternate, and the spread from the least to the most. At the end come the tables of
docs/users/steering.md. It takes six minutes. With QUICK=1 it leaves cells out, and takes two.
"""
import statistics

from .bed import lab  # first: it sets the path for traffic

from traffic import Iperf  # pylint: disable=wrong-import-order

from .rows import Row, alternate
from .tcp import FAR, transfer
from .unequal import weighted_pair

RATES = {"equal": (200, 200), "unequal": (100, 300)}
CONNECTIONS = (1, 4, 64)
REPETITIONS = 3
SECONDS = 2  # of each transfer, beside the one that is ignored
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


def cells(scale):
    """(ways, numbers of connections)"""
    if scale.every_steering:
        return list(WAYS), CONNECTIONS
    return ["hash", "rebalance_interval 1", "flowlet_gap 1000", "balance-rr"], CONNECTIONS[:2]


def measured(kind, scale):
    """{(way, connections): [(transfer, percent out of order) of each repetition]}"""
    ways, counts = cells(scale)
    seconds = SECONDS if scale.every_steering else 1
    with lab() as made:
        near, far = weighted_pair(made, RATES[kind], **OFF)
        return alternate(REPETITIONS, {
            (way, count): subject(near, far, WAYS[way], count, seconds)
            for count in counts for way in ways})


def columns(results):
    """What a cell of the table is made of: the values of each repetition."""
    return {"rate": [each.gbits * 1000 for each, _ in results],
            "retransmitted": [each.retransmitted for each, _ in results],
            "out of order": [order for _, order in results]}


def cell(results):
    """Mbit/s with the spread; in brackets percent retransmitted and out of order."""
    rate, again, order = columns(results).values()
    return (f"{statistics.median(rate):.0f} [{min(rate):.0f}-{max(rate):.0f}] "
            f"({statistics.median(again):.1f}, {statistics.median(order):.1f})")


def table(kind, done, scale):
    ways, counts = cells(scale)
    head = [f"{' + '.join(map(str, RATES[kind]))} Mbit/s", "1 connection",
            *[str(count) for count in counts[1:]]]
    body = [[way, *[cell(done[way, count]) for count in counts]] for way in ways]
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}",
                      *[f"| {' | '.join(line)} |" for line in body]])


def rows_of(kind, done):
    for (way, count), results in done.items():
        for what, values in columns(results).items():
            title = f"{kind}, {count} TCP, {way}" + (f": {what}" if what != "rate" else "")
            unit = "Mbit/s" if what == "rate" else "percent"
            yield Row(title, statistics.median(values), unit)
            yield Row(f"{title}: spread", max(values) - min(values), unit)


def rows(scale):
    done = {kind: measured(kind, scale) for kind in RATES}
    for kind in RATES:
        yield from rows_of(kind, done[kind])
    for kind in RATES:
        print(f"\n{table(kind, done[kind], scale)}")
