"""One TCP connection over balance-rr with four links of 1 Gbit/s, against one such link, with
the machine's own congestion control and with cubic, Debian's default; with packets and with
bytes in turn.
"""
import pathlib
import statistics

from .bed import PLAIN_FAR
from .rows import Row, alternate, median_ratio
from .tcp import FAR, shaped_hosts, transfer

BOUND = 0.97 * 4
OWN = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
TURNS = {"": 0, ", bytes_per_slave 1": 1}


def subject(near, server, address, control, bytes_per_slave, seconds):
    def run_once():
        near.ctl("set", "bond0", "bytes_per_slave", bytes_per_slave)
        return transfer(near, server, address, seconds, "-C", control)
    return run_once


def measure(mtu, scale):
    """{(control, turn): Transfer of each round}; turn None is the link alone."""
    with shaped_hosts(mtu, mode="balance-rr") as (near, server):
        subjects = {}
        for control in dict.fromkeys((OWN, "cubic")):
            subjects[control, None] = subject(near, server, PLAIN_FAR, control, 0,
                                              scale.tcp_seconds)
            for turn, value in TURNS.items():
                subjects[control, turn] = subject(near, server, FAR, control, value,
                                                  scale.tcp_seconds)
        return alternate(scale.tcp_rounds, subjects)


def rows(scale):
    for mtu in (1500, 9000):
        done = measure(mtu, scale)
        for (control, turn), transfers in done.items():
            gbits = [each.gbits for each in transfers]
            if turn is None:
                yield Row(f"one TCP connection, MTU {mtu}, {control}: one link",
                          statistics.median(gbits), "Gbit/s")
                continue
            what = f"one TCP connection, MTU {mtu}, {control}: rr over 4 links{turn}"
            alone = [each.gbits for each in done[control, None]]
            bound = BOUND if control == OWN else None
            yield Row(what, statistics.median(gbits), "Gbit/s")
            yield Row(f"{what} / one link", median_ratio(gbits, alone), "ratio", bound, least=True)
            yield Row(f"{what}: retransmitted",
                      statistics.median(each.retransmitted for each in transfers), "percent")
