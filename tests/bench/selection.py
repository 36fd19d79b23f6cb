"""What choosing a slave costs inside the kernel, by BPF_PROG_RUN: xbond_port on a small IPv4 UDP
packet, over an empty program of the same type. The figure contains the parsing, the hash, the
bucket, the detour's test, the per-CPU counter and the call of bpf_redirect (its bookkeeping only:
BPF_PROG_RUN transmits nothing).
"""
import json

from .bed import CPU, TOOLS, run
from .rows import Row

ROUNDS = 101
BOUND = {"layer3+4": 20}


def rows(scale):
    del scale
    ns = json.loads(run(TOOLS / "progcost", ROUNDS, CPU).stdout)
    yield Row("selection: empty program", ns.pop("empty"), "ns/run")
    for name, value in ns.items():
        what = "a lone bpf_redirect" if name == "redirect" else name
        yield Row(f"selection: {what} adds", value, "ns/run", BOUND.get(name))
