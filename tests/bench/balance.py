"""How evenly flows fall on slaves, and how many move when one is lost: a million generated flows
through the datapath's own hash and bondd's own buckets (build/tools/balance), and the kernel's
`hash % n` beside it. Nothing is timed, so the figures are the same in every run.
"""
import json

from .bed import TOOLS, run
from .rows import Row

FLOWS, MOVING_FLOWS = 1000000, 10000
DEVIATION, MOVED = 3.0, 14.0
WEIGHTS = {"equal": lambda slaves: [1] * slaves,
           "1:10:10...": lambda slaves: [1] + [10] * (slaves - 1)}


def deviation(counts, weights):
    """Of the slave that is farthest from its ideal share, in percent of that."""
    ideal = [sum(counts) * weight / sum(weights) for weight in weights]
    return max(abs(count - each) / each for count, each in zip(counts, ideal)) * 100


def chi_square(counts, weights):
    ideal = [sum(counts) * weight / sum(weights) for weight in weights]
    return sum((count - each) ** 2 / each for count, each in zip(counts, ideal))


def balance(flows, weights):
    return json.loads(run(TOOLS / "balance", flows, *weights).stdout)


def rows_of(slaves, name):
    weights = WEIGHTS[name](slaves)
    found = balance(FLOWS, weights)
    title = f"balance: {slaves} slaves, {name}"
    for who, bound in (("xbond", DEVIATION), ("kernel", None)):
        if who == "kernel" and name != "equal":
            continue  # it has no weights
        note = "" if who == "xbond" else ", the kernel"
        yield Row(f"{title}{note}: off the ideal share", deviation(found[who]["first"], weights),
                  "%", bound)
        yield Row(f"{title}{note}: chi-square, {slaves - 1} degrees",
                  chi_square(found[who]["first"], weights), "")
        # of one slave's flows a light one gets too few to tell chance from pattern
        if name == "equal":
            yield Row(f"{title}{note}: the next hop, of one slave",
                      deviation(found[who]["second"], weights), "%", bound)


def rows(scale):
    del scale
    for name in WEIGHTS:
        for slaves in (2, 3, 5, 8):
            yield from rows_of(slaves, name)
    found = balance(MOVING_FLOWS, [1] * 8)
    for change, key in (("lost", "moved_away"), ("back", "moved_back")):
        for who, bound in (("xbond", MOVED), ("kernel", None)):
            note = "" if who == "xbond" else ": the kernel"
            yield Row(f"balance: one of 8 slaves is {change}{note}: flows that move",
                      found[who][key] / MOVING_FLOWS * 100, "%", bound)
