"""What a small UDP packet costs to send under each mode and policy, on the direct path, against
a plain slave; measured as in transmit.
"""
from .bed import lab
from .rows import Row, alternate, median_difference, median_ratio
from .transmit import FAR, blast, plain_subject, sending_bed

POLICIES = ("layer3+4", "layer2", "layer2+3", "vlan+srcmac", "flow", "encap2+3", "encap3+4")
SETTINGS = {
    **{f"xor {policy}": ("mode", "balance-xor", "xmit_hash_policy", policy) for policy in POLICIES},
    "active-backup": ("mode", "active-backup"),
    "balance-rr": ("mode", "balance-rr"),
    "balance-rr by bytes": ("mode", "balance-rr", "bytes_per_slave", 1),
}


def subject(near, words, seconds):
    def run_once():
        near.ctl("set", "bond0", "mode", "balance-rr", "bytes_per_slave", 0)
        near.ctl("set", "bond0", *words)
        return blast(near, FAR, seconds)
    return run_once


def rows(scale):
    with lab() as made:
        near = sending_bed(made, path="direct")
        subjects = {"plain": plain_subject(near, scale.seconds)}
        subjects.update({name: subject(near, words, scale.seconds)
                         for name, words in SETTINGS.items()})
        ns = alternate(scale.rounds, subjects)
    for name in SETTINGS:
        yield Row(f"send direct: {name} / plain slave", median_ratio(ns[name], ns["plain"]),
                  "ratio")
        yield Row(f"send direct: {name} adds", median_difference(ns[name], ns["plain"]),
                  "ns/packet")
    for policy in POLICIES[1:]:
        bound = None if policy.startswith("encap") else 1.1
        yield Row(f"send direct: {policy} / layer3+4",
                  median_ratio(ns[f"xor {policy}"], ns["xor layer3+4"]), "ratio", bound)
