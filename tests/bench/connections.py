"""One and four TCP connections over four links of 1 Gbit/s with MTU 9000, by mode and policy: the
table that users of channel bonding publish.
"""
import statistics

from .rows import Row, alternate
from .tcp import FAR, gigabits, shaped_hosts

SETTINGS = {
    "balance-rr": ("mode", "balance-rr"),
    "xor layer2": ("mode", "balance-xor", "xmit_hash_policy", "layer2"),
    "xor layer3+4": ("mode", "balance-xor", "xmit_hash_policy", "layer3+4"),
}


def subject(near, server, words, count, seconds):
    def run_once():
        near.ctl("set", "bond0", *words)
        return gigabits(near, server, FAR, seconds, "-P", count)
    return run_once


def rows(scale):
    with shaped_hosts(9000, mode="balance-rr") as (near, server):
        gbits = alternate(scale.tcp_rounds, {
            (name, count): subject(near, server, words, count, scale.tcp_seconds)
            for count in (1, 4) for name, words in SETTINGS.items()})
    for (name, count), values in gbits.items():
        yield Row(f"TCP, MTU 9000, {name}: {count} connection{'s' * (count > 1)}",
                  statistics.median(values), "Gbit/s")
