"""802.3ad: how long a link takes from up to distributing, and how punctual LACPDUs are while
both CPUs are busy and the kernel's RTNL lock is held by somebody who flushes routes.
"""
import os
import statistics
import subprocess
import tempfile
import time

from .bed import lab, quiet_for, wait_for  # first: it sets the path for what follows

# pylint: disable=wrong-import-order
from lacp import distributing, is_slow, tx_slots, wait_distributing
from ovs import Ovs
from traffic import Capture
# pylint: enable=wrong-import-order

from .rows import Row

FAST_PERIODIC_TIME = 1.0
LATE = 0.1
PORTS = 8
ROUTES = 20000
LINKS = 4
APART = 1.2  # seconds: beyond the limit of PDUs, and the kernel's hold-back of carrier messages


def bond_up(host, links, name="bond0", **options):
    words = [word for pair in {"mode": "802.3ad", "lacp_rate": "fast", **options}.items()
             for word in pair]
    host.ctl("create", name, *words)
    host.ctl("add-slave", name, *links)
    host.ip("link", "set", name, "up")


def up_until(far, links, condition):
    """Seconds from before the far ends are set up until the condition holds."""
    began = time.monotonic()
    for link in links:
        far.ip("link", "set", link, "up")
    wait_for(condition, f"{links} to carry", 10, interval=0.005)
    return time.monotonic() - began


def returns(far, carrying, batches):
    """up_until() of each batch of links after a cut; carrying() tells how many links carry."""
    times = []
    for links in batches:
        for link in links:
            far.ip("link", "set", link, "down")
        cut = len(links)
        wait_for(lambda cut=cut: carrying() == LINKS - cut, "the cut")
        quiet_for(APART, "the kernel holds messages back, and LACPDUs have a limit")
        times.append(up_until(far, links, lambda: carrying() == LINKS))
        quiet_for(APART, "the kernel holds messages back, and LACPDUs have a limit")
    return times


def report(what, times, bound=None):
    yield Row(f"{what}, median", statistics.median(times), "s", bound)
    yield Row(f"{what}, worst", max(times), "s", bound)


def switch_on(made, namespace, links):
    """Open vSwitch in namespace with a bond of links."""
    for name in links:
        namespace.ip("link", "set", name, "up")
    namespace.ovs = Ovs(namespace)
    made.partners.append(namespace.ovs)
    namespace.ovs.add_bond(links)


def link_up_rows(scale):
    one = [[f"l{number % LINKS}"] for number in range(scale.cuts)]
    every = [[f"l{number}" for number in range(LINKS)]] * scale.cuts
    for partner in ("xbond", "Open vSwitch"):
        with lab() as made:
            near = made.host("a")
            far = made.host("b") if partner == "xbond" else made.namespace("b")
            links = made.links(near, far, LINKS)
            bond_up(near, links)
            if partner == "xbond":
                bond_up(far, links)
            else:
                switch_on(made, far, links)
            wait_distributing(near, links=links, deadline=15)
            what = f"802.3ad, fast, partner {partner}: link up to distributing"
            for batches, which in ((one, "one"), (every, "all")):
                times = returns(far, lambda near=near: len(tx_slots(near)), batches)
                yield from report(f"{what}, {which} of {LINKS}", times, 1)
    with lab() as made:
        near, far = made.namespace("a"), made.namespace("b")
        links = made.links(near, far, LINKS)
        for namespace in (near, far):
            switch_on(made, namespace, links)
        wait_for(lambda: near.ovs.enabled() == links, "Open vSwitch to use its members", 10)
        for batches, which in ((one, "one"), (every, "all")):
            times = returns(far, lambda: len(near.ovs.enabled()), batches)
            yield from report(f"Open vSwitch at both ends: the same, {which} of {LINKS}", times)


class RouteFlusher:
    """Adds ROUTES routes to a device and has the kernel flush them, in a loop: it holds the RTNL
    lock meanwhile.
    """

    def __init__(self, namespace):
        namespace.ip("link", "add", "f0", "type", "veth", "peer", "name", "f1")
        namespace.ip("link", "set", "f1", "up")
        self.batch = tempfile.NamedTemporaryFile("w", suffix=".routes")
        self.batch.writelines(
            f"route add 10.{100 + number // 65536}.{number // 256 % 256}.{number % 256}/32 dev f0\n"
            for number in range(ROUTES))
        self.batch.flush()
        loop = (f"while :; do ip link set f0 up; ip -batch {self.batch.name}; ip link set f0 down; "
                "echo flushed; done")
        self.log = tempfile.TemporaryFile()
        self.child = namespace.spawn("bash", "-c", loop, stdout=self.log, stderr=subprocess.STDOUT,
                                     start_new_session=True)

    def flushed(self):
        """How often it has."""
        lines = os.pread(self.log.fileno(), 1 << 20, 0).decode().split("\n")[:-1]
        assert set(lines) <= {"flushed"}, lines[:5]
        return len(lines)

    def end(self):
        """Returns how often it has flushed."""
        os.killpg(self.child.pid, 9)
        self.child.wait()
        return self.flushed()


def off_time(captures):
    """Seconds by which each LACPDU came off its time, one Fast_Periodic_Time after the last on its
    link.
    """
    off = []
    for capture in captures:
        times = [frame.time for frame in capture.frames() if is_slow(frame)]
        assert len(times) > 2, f"hardly any LACPDU on {capture.dev}"
        off += [abs(later - earlier - FAST_PERIODIC_TIME)
                for earlier, later in zip(times, times[1:])]
    return off


def punctuality(seconds, flush):
    with lab() as made:
        near, far, other = made.host("a"), made.host("b"), made.namespace("f")
        links = made.links(near, far, PORTS)
        for host in (near, far):
            bond_up(host, links)
        wait_distributing(near, far, links=links, deadline=15)
        busy = [other.spawn("bash", "-c", "while :; do :; done") for _ in range(os.cpu_count())]
        flusher = RouteFlusher(other) if flush else None
        if flusher:
            wait_for(flusher.flushed, "the first flush", 30)
        captures = [Capture(far, link) for link in links]
        quiet_for(seconds, "LACPDUs of so long are captured")
        off = off_time(captures)
        for capture in captures:
            capture.close()
        flushed = flusher.end() if flusher else 0
        for child in busy:
            child.kill()
        assert distributing(near) == links
    return off, flushed


def punctuality_rows(scale):
    for flush in (True, False):
        off, flushed = punctuality(scale.lacp_seconds, flush)
        beside = f"{flushed} flushes of {ROUTES} routes" if flush else "no flusher"
        what = f"LACPDUs of {PORTS} ports, CPUs busy, {beside}"
        yield Row(f"{what}: within {LATE * 1000:.0f} ms",
                  100 * sum(each <= LATE for each in off) / len(off), "percent", 99.9, least=True)
        yield Row(f"{what}: worst", 1000 * max(off), "ms")


def rows(scale):
    yield from punctuality_rows(scale)
    yield from link_up_rows(scale)
