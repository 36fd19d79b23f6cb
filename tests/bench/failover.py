"""Packets lost when a far end is set down under 50,000 numbered UDP packets per second and more: in
every mode, with different and with equal ifindexes at the ends of a link (the kernel may hold
messages of a veth whose ends have equal ones for up to a second), after a change of another link
(then it holds all messages), and with a bondd that works, that was killed, and that is stopped.

The far ends receive by NAPI until they are closed, as a NIC does. By default a veth receives
through the backlog, which drops packets from the beginning of the close on, some 100 us before the
near end loses its carrier: up to 10 packets in active-backup, of which no sender could know.
"""
import itertools
import os
import statistics
import sys
import time

# First: it sets the path for what follows.
from .bed import bring_up, lab, make_bond, quiet_for, wait_for

# pylint: disable=wrong-import-order
from lacp import wait_distributing
from traffic import Stream
# pylint: enable=wrong-import-order

from .rows import Row

RATE = 60000
LEAST_RATE = 50000
WORST = 5  # packets that a cut may cost
APART = 2.1  # seconds between two cuts
BEFORE = 0.2  # seconds that another link changes, or bondd ends, before a cut
AFTER = 0.5  # seconds of the stream after a cut
NOISE = "noise"
MODES = {
    "balance-rr": (4, {"mode": "balance-rr"}, None),
    "active-backup": (2, {"mode": "active-backup"}, {"mode": "broadcast"}),
    "balance-xor": (4, {"mode": "balance-xor", "xmit_hash_policy": "layer3+4"}, None),
    "broadcast": (2, {"mode": "broadcast"}, None),
    "802.3ad": (4, {"mode": "802.3ad", "xmit_hash_policy": "layer3+4", "lacp_rate": "fast"}, None),
    # What a switch would do: the far end takes frames from every link.
    "balance-tlb": (2, {"mode": "balance-tlb", "tlb_dynamic_lb": "off",
                        "xmit_hash_policy": "layer3+4"}, {"mode": "broadcast"}),
    "balance-alb": (2, {"mode": "balance-alb", "tlb_dynamic_lb": "off",
                        "xmit_hash_policy": "layer3+4"}, {"mode": "broadcast"}),
}
STATES = ("works", "killed", "stopped")


def receive_by_napi(near, far, link):
    """GRO gives a veth NAPI; packets take it if their sender does not segment TCP."""
    far.run("ethtool", "-K", link, "gro", "on")
    near.run("ethtool", "-K", link, "tso", "off")


class Bed:
    """Two hosts with a bond each, and a link beside the bond."""

    def __init__(self, made, mode, same_index):
        count, options, far_options = MODES[mode]
        self.mode = mode
        self.near, self.far = made.host("a"), made.host("b")
        self.links = made.links(self.near, self.far, count, same_index=same_index)
        made.link(self.near, self.far, NOISE, 99)
        for host, address, chosen in ((self.near, "10.0.0.1", options),
                                      (self.far, "10.0.0.2", far_options or options)):
            make_bond(host, self.links, address, **chosen)
            bring_up(host, [*self.links, NOISE])
        for link in self.links:
            receive_by_napi(self.near, self.far, link)

    def wait(self):
        """Until all links carry."""
        for host in (self.near, self.far):
            host.wait_slaves(*self.links)
            wait_for(lambda host=host: all(host.link(link)["operstate"] == "UP"
                                           for link in self.links),
                     "the kernel to act on the carriers: until then devices drop everything", 30)
        if self.mode == "802.3ad":
            wait_distributing(self.near, self.far, links=self.links, deadline=15)
        self.near.wait_ping("10.0.0.2")

    def victim(self, number):
        return self.near.show()["active_slave"] or self.links[number % len(self.links)]

    def disturb(self, state, noise):
        """What goes before a cut."""
        if state == "killed":
            self.near.kill_bondd()
        elif state == "stopped":
            self.near.freeze_bondd()
        if noise:
            self.far.ip("link", "set", NOISE, "down")
        quiet_for(BEFORE, "the kernel holds messages that come so long after another")

    def passed(self):
        """What each end of each link has sent, received and dropped, by the kernel's counters."""
        return {f"{side} {link}": {f"{way} {what}": host.link(link)["stats64"][way][what]
                                   for way in ("tx", "rx") for what in ("packets", "dropped")}
                for side, host in (("near", self.near), ("far", self.far)) for link in self.links}

    def say_where(self, link, before):
        """Which counters moved: packets may be lost at a dead link, in a full queue, or by the
        receiver.
        """
        print(f"# {link} was cut, and since then counted:", file=sys.stderr)
        for end, counts in self.passed().items():
            print(f"#   {end}:", {what: count - before[end][what]
                                  for what, count in counts.items()}, file=sys.stderr)

    def settle(self, state, noise):
        if state == "killed":
            self.near.start_bondd()
        elif state == "stopped":
            self.near.thaw_bondd()
        if noise:
            self.far.ip("link", "set", NOISE, "up")

    def cut(self, number, state, noise):
        """The packets lost, and the rate."""
        link = self.victim(number)
        stream = Stream(self.near, self.far, rate=RATE, flows=64, every=5, early=0)
        for process in (stream.sender, stream.receiver):  # whatever else runs here
            os.sched_setscheduler(process.pid, os.SCHED_FIFO, os.sched_param(1))
        stream.flow_on(RATE // 20)
        before = self.passed()
        self.disturb(state, noise)
        self.far.ip("link", "set", link, "down")
        quiet_for(AFTER, "so long a loss counts")
        result = stream.finish()
        if result["lost"] > WORST:
            self.say_where(link, before)
        self.far.ip("link", "set", link, "up")
        self.settle(state, noise)
        return result["lost"], result["sent"] / result["seconds"]


def cuts(bed, count, state, noise):
    """What Bed.cut() found, of each. Before the first one, too, the link that was cut last may have
    its carrier but drop everything.
    """
    found = []
    for number in range(count):
        began = time.monotonic()
        bed.wait()
        quiet_for(max(0, began + APART - time.monotonic()), "the kernel holds messages back")
        found.append(bed.cut(number, state, noise))
    return found


def chosen(scale):
    """(equal ifindexes, noise) to measure."""
    return itertools.product((True, False), repeat=2) if scale.every_failover else [(True, True)]


def rows(scale):
    for (same_index, noise), mode in itertools.product(chosen(scale), MODES):
        with lab() as made:
            bed = Bed(made, mode, same_index)
            for state in STATES:
                found = cuts(bed, scale.failovers, state, noise)
                losses, rates = zip(*found)
                what = (f"{mode}, {'equal' if same_index else 'different'} ifindexes, "
                        f"{'another link' if noise else 'nothing'} before, bondd {state}")
                yield Row(f"{what}: lost at a cut, median", statistics.median(losses), "packets", 0)
                yield Row(f"{what}: worst of {scale.failovers}", max(losses), "packets", WORST)
                yield Row(f"{what}: rate", statistics.median(rates), "packets/s", LEAST_RATE,
                          least=True)
