"""What a policy of the user costs inside the kernel, by BPF_PROG_RUN: the program at a bond's port,
with a policy over without one, each on a frame for which the policy has an answer of its own.
`default` is a policy that leaves everything to the bond. Every policy has a bond of its own.
"""
import contextlib
import json
import os
import pathlib
import statistics
import tempfile

from .bed import BUILD, CPU, bring_up, lab, make_bond, run  # first: it sets the path for policies

from policies import (EXAMPLES, compile_policy, gtp,  # pylint: disable=wrong-import-order
                      tagged)

from .rows import Row, alternate, median_difference

REPEAT = 500000
DEFAULT = """#include <xbond/policy.bpf.h>
XBOND_POLICY(leave_it) { return XBOND_DEFAULT; }
char _license[] SEC("license") = "GPL";
"""
UDP = gtp(1, 40000)  # the policies but one do not look so far
FRAMES = {"default": UDP, "by_vlan": tagged(UDP, 7), "by_teid": UDP, "maglev": UDP}


def source_of(policy):
    return DEFAULT if policy == "default" else EXAMPLES / f"{policy}.bpf.c"


def fill_maglev(host, bond, slaves):
    host.run(EXAMPLES / "maglev-fill", host.bpf_dir / bond, *[f"{slave}=1" for slave in slaves],
             env={**os.environ, "BONDCTL": str(BUILD / "bondctl")})


def add_bond(made, near, far, number, policy, directory):
    """With two slaves, and the policy if it has a name. Returns the bond's name."""
    bond, slaves = f"bond{number}", [f"p{number}{end}" for end in "ab"]
    for at, slave in enumerate(slaves):
        made.link(near, far, slave, 2 * number + at)
    bring_up(far, slaves)
    make_bond(near, slaves, f"10.{number}.0.1", name=bond, mode="balance-xor",
              xmit_hash_policy="layer3+4")
    near.wait_slaves(*slaves, bond=bond)
    if policy:
        near.ctl("policy", "load", bond, compile_policy(source_of(policy), directory / policy))
        shown = near.ctl_json("policy", "show", bond)
        assert shown["decides"], shown
    if policy == "maglev":
        fill_maglev(near, bond, slaves)
    return bond


def subject(host, bond, frame, directory):
    """ns per run; the bond must redirect the frame."""
    data = directory / f"{bond}-{len(frame)}"
    data.write_bytes(frame)

    def run_once():
        done = json.loads(run("taskset", "-c", CPU, "bpftool", "-j", "prog", "run", "pinned",
                              host.bpf_dir / bond / "prog_port", "data_in", data, "repeat",
                              REPEAT).stdout)
        assert done["retval"] == 7, done  # TC_ACT_REDIRECT
        return done["duration"]
    return run_once


@contextlib.contextmanager
def subjects_of():
    with tempfile.TemporaryDirectory() as name, lab() as made:
        near, far, directory = made.host("a"), made.namespace("b"), pathlib.Path(name) / "made"
        directory.mkdir()
        without = add_bond(made, near, far, 0, None, directory)
        subjects = {}
        for number, (policy, frame) in enumerate(FRAMES.items(), 1):
            bond = add_bond(made, near, far, number, policy, directory)
            subjects[policy, True] = subject(near, bond, frame, directory)
            subjects[policy, False] = subject(near, without, frame, directory)
        yield subjects


def rows(scale):
    with subjects_of() as subjects:
        ns = alternate(scale.rounds, subjects)
    for policy in FRAMES:
        over, under = ns[policy, True], ns[policy, False]
        yield Row(f"policy: {policy}, the bond without one", statistics.median(under), "ns/run")
        yield Row(f"policy: {policy} adds", median_difference(over, under), "ns/run")
