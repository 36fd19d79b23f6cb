"""What the benchmarks measure on: hosts and links of the network tests' lab, with shaped
or bare links, a plain link beside those of the bond, and drops at a device's ingress.
"""
import contextlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))

# pylint: disable=wrong-import-position
from lab import BPFFS, BUILD, ROOT, Lab  # noqa: E402,F401
from namespace import memory_kb, run  # noqa: E402,F401
from waiting import quiet_for, wait_for  # noqa: E402,F401

TOOLS = BUILD / "tools"
BLAST = TOOLS / "blast"
# A GSO packet of 64 KB must fit in the burst; see docs/users/datapath.md.
SHAPER = ("tbf", "rate", "1gbit", "burst", "128kb", "latency", "5ms")
CPU = 1  # where single-CPU work runs
PLAIN, PLAIN_NEAR, PLAIN_FAR = "plain0", "10.9.0.1", "10.9.0.2"


def mount_bpffs():
    if run("mountpoint", "-q", BPFFS, check=False).returncode:
        run("mount", "-t", "bpf", "bpf", BPFFS)


@contextlib.contextmanager
def lab():
    """A Lab that is closed, also after an error."""
    mount_bpffs()
    made = Lab()
    try:
        yield made
    except AssertionError:
        print(made.report(), file=sys.stderr)
        raise
    finally:
        made.close()


def shape(host, devices):
    for dev in devices:
        host.run("tc", "qdisc", "replace", "dev", dev, "root", *SHAPER)


def bring_up(host, devices, mtu=1500):
    for dev in devices:
        host.ip("link", "set", dev, "mtu", mtu, "up")


def add_plain_link(made, near, far, mtu=1500):
    """A link like those of the bond, on its own."""
    made.link(near, far, PLAIN, 90)
    for host, address in ((near, PLAIN_NEAR), (far, PLAIN_FAR)):
        bring_up(host, [PLAIN], mtu)
        host.ip("addr", "add", f"{address}/24", "dev", PLAIN)


def make_bond(host, links, address, name="bond0", mtu=1500, **options):
    """A bond of links on host, up, with an address; made of a veth unless options say otherwise."""
    words = [word for option in {"device": "veth", **options}.items() for word in option]
    host.ctl("create", name, *words)
    host.ctl("add-slave", name, *links)
    host.ip("link", "set", name, "mtu", mtu, "up")
    host.ip("addr", "add", f"{address}/24", "dev", name)


def drop_at(host, dev, hook):
    """The cheapest end of a frame that has reached "ingress" or "egress" of dev: one classic BPF
    instruction, TC_ACT_SHOT.
    """
    host.run("tc", "qdisc", "add", "dev", dev, "clsact")
    host.run("tc", "filter", "add", "dev", dev, hook, "bpf", "direct-action", "bytecode",
             "1,6 0 0 2")


def drop_at_ingress(host, dev):
    drop_at(host, dev, "ingress")


def no_arp(host, dev, address, mac="02:00:00:00:00:99"):
    host.ip("neigh", "replace", address, "lladdr", mac, "dev", dev, "nud", "permanent")


def blast(host, address, seconds, flows=0):
    """ns per packet of 18 bytes UDP payload, sent from one CPU; flows: of so many, each by a
    destination port, through a socket that is not connected.
    """
    done = host.run(BLAST, "send", "--to", address, "--size", 18, "--seconds", seconds, "--cpu",
                    CPU, "--flows", flows)
    return json.loads(done.stdout)["ns_per_packet"]
