"""`make bench`: measures, prints a table, writes build/bench.json. A missed bound is reported and
does not fail the run. ONLY=name,name (or arguments) runs a part, QUICK=1 runs short.
"""
import dataclasses
import importlib
import os
import sys

from .bed import ROOT
from .rows import chosen, write_json

SUBJECTS = ("selection", "policy", "balance", "transmit", "modes", "many", "cpus", "receive",
            "xdp", "xsk", "library", "single_stream", "unequal", "steering",
            "connections", "failover", "detection", "lacp", "conversion", "daemon_cost", "scale",
            "clients", "metrics")


@dataclasses.dataclass
class Scale:
    """How long to measure."""
    rounds: int = 41  # of short measurements
    seconds: float = 0.15  # of each of those
    frames: int = 1000000  # by XDP, in a round
    tcp_rounds: int = 5
    tcp_seconds: int = 4
    every_steering: bool = True  # also what differs little from the rest
    cuts: int = 10  # for LACP
    failovers: int = 20
    every_failover: bool = True  # also without what makes the kernel hold messages back
    losses: int = 7  # of everything on a link that keeps its carrier
    idle_seconds: int = 20
    conversions: int = 10  # each way
    answers: int = 40  # of bondd --metrics
    lacp_seconds: int = 60  # of listening to LACPDUs


QUICK = Scale(rounds=11, seconds=0.1, tcp_rounds=3, tcp_seconds=2, every_steering=False, cuts=3,
              failovers=3, every_failover=False, losses=3, conversions=3, idle_seconds=10,
              lacp_seconds=15, frames=300000)


def main():
    names = chosen(" ".join(sys.argv[1:]) or os.environ.get("ONLY", ""), SUBJECTS)
    if os.geteuid():
        sys.exit("bench: needs root")
    scale = QUICK if os.environ.get("QUICK") else Scale()
    rows = []
    for name in names:
        for row in importlib.import_module(f".{name}", __package__).rows(scale):
            rows.append(row)
            print(row.as_text(), flush=True)
    path = ROOT / "build/bench.json"
    write_json(path, rows)
    missed = [row.name for row in rows if row.held is False]
    print(f"\n{len(rows)} rows in {path.relative_to(ROOT)}; {len(missed)} bounds missed")


main()
