"""One TCP connection over balance-rr with four links of 1 Gbit/s, against one such link, with
the machine's own congestion control and with cubic, Debian's default; with packets and with
bytes in turn.
"""
import pathlib
import statistics

from .bed import PLAIN_FAR
from .rows import Row, alternate, median_ratio
from .tcp import FAR, gigabits, shaped_hosts

BOUND = 3.6
OWN = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
TURNS = {"": 0, ", bytes_per_slave 1": 1}


def subject(near, server, address, control, bytes_per_slave, seconds):
    def run_once():
        near.ctl("set", "bond0", "bytes_per_slave", bytes_per_slave)
        return gigabits(near, server, address, seconds, "-C", control)
    return run_once


def measure(mtu, scale):
    """{(control, turn): Gbit/s of each round}; turn None is the link alone."""
    with shaped_hosts(mtu, mode="balance-rr") as (near, server):
        subjects = {}
        for control in dict.fromkeys((OWN, "cubic")):
            subjects[control, None] = subject(near, server, PLAIN_FAR, control, 0, scale.tcp_seconds)
            for turn, value in TURNS.items():
                subjects[control, turn] = subject(near, server, FAR, control, value, scale.tcp_seconds)
        return alternate(scale.tcp_rounds, subjects)


def rows(scale):
    for mtu in (1500, 9000):
        gbits = measure(mtu, scale)
        for (control, turn), values in gbits.items():
            if turn is None:
                yield Row(f"one TCP connection, MTU {mtu}, {control}: one link", statistics.median(values), "Gbit/s")
                continue
            what = f"one TCP connection, MTU {mtu}, {control}: rr over 4 links{turn}"
            yield Row(what, statistics.median(values), "Gbit/s")
            bound = BOUND if control == OWN and not turn else None
            yield Row(f"{what} / one link", median_ratio(values, gbits[control, None]), "ratio", bound, least=True)
