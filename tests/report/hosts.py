# SPDX-License-Identifier: GPL-2.0-or-later
"""What the report measures on: two hosts, each a network namespace with a bondd, with rate-limited
links between them. All that makes them, and all that is run on them, is kept as text, for the
reader to repeat.
"""
from ..bench.bed import lab, wait_for  # first: it sets the path for what follows

import contextlib
import pathlib
import shlex
import subprocess

from traffic import Iperf  # pylint: disable=wrong-import-order

from . import parse

NEAR_ADDRESS, FAR_ADDRESS = "10.0.0.1", "10.0.0.2"
ALONE = "alone0"
NEAR_ALONE, FAR_ALONE = "10.9.0.1", "10.9.0.2"
# A GSO packet of 64 KB must fit in the burst (docs/users/datapath.md); cards of 100 Mbit/s send
# frames. The burst also lets a link catch up after the machine was elsewhere for some milliseconds.
# With BARE a message of a few KB does not find an idle link's burst instead of the link.
SHAPERS = {100: "tbf rate 100mbit burst 64kb latency 10ms",
           1000: "tbf rate 1gbit burst 128kb latency 5ms"}
BARE = "tbf rate 100mbit burst 4kb latency 20ms"


class Script:
    """Runs commands, and keeps them as a reader would type them."""

    def __init__(self, names):
        self.names = names  # {host: what the reader calls it}
        self.lines = []

    def text(self, host, *words):
        return f"{self.names[host]}# {shlex.join(str(word) for word in words)}"

    def do(self, host, text):
        """One line. bondctl gets the host's directories, which the reader need not see."""
        words = shlex.split(text)
        self.lines.append(self.text(host, *words))
        if words[0] == "bondctl":
            return host.ctl(*words[1:])
        return host.run(*words).stdout


class Bed:
    """count links of rate Mbit/s between near and far, and one more without a bond. bonded: the
    options of bond0, in one string for both ends or in one for each; None: no bond yet.
    """

    def __init__(self, made, count, rate, bonded, mtu=1500, shaper=None):
        self.made = made
        self.near, self.far = made.host("a"), made.host("b")
        self.rate, self.mtu, self.shaper = rate, mtu, shaper or SHAPERS[rate]
        self.script = Script({self.near: "near", self.far: "far"})
        self.links = made.links(self.near, self.far, count)
        made.link(self.near, self.far, ALONE, 90)
        for name in (*self.links, ALONE):
            self.script.lines.append(f"ip link add {name} netns near type veth "
                                     f"peer name {name} netns far")
        for host, address in ((self.near, NEAR_ALONE), (self.far, FAR_ALONE)):
            self.prepare(host, address)
        if bonded is not None:
            self.bond(*((bonded, bonded) if isinstance(bonded, str) else bonded))

    @property
    def capacity(self):
        """Mbit/s of all links of the bond."""
        return self.rate * len(self.links)

    def do(self, host, text):
        return self.script.do(host, text)

    def both(self, text):
        for host in (self.near, self.far):
            self.do(host, text)

    def prepare(self, host, address):
        """Links that are up and shaped."""
        for name in (*self.links, ALONE):
            self.do(host, f"tc qdisc replace dev {name} root {self.shaper}")
            self.do(host, f"ip link set {name} mtu {self.mtu} up")
        self.address(host, address, ALONE)
        if self.rate < 1000:
            self.do(host, f"ethtool -K {ALONE} tso off gso off")

    def address(self, host, address, dev):
        """An address whose connections take the kernel's default congestion control, whichever this
        machine prefers.
        """
        self.do(host, f"ip addr add {address}/24 dev {dev} noprefixroute")
        network = address.rsplit(".", 1)[0] + ".0/24"
        self.do(host, f"ip route add {network} dev {dev} src {address} congctl cubic")

    def bond(self, near, far):
        """bond0 at both ends."""
        for host, options, address in ((self.near, near, NEAR_ADDRESS),
                                       (self.far, far, FAR_ADDRESS)):
            self.do(host, f"bondctl create bond0 {options}")
            self.do(host, f"bondctl add-slave bond0 {' '.join(self.links)}")
            if self.rate < 1000:
                self.do(host, "ethtool -K bond0 tso off gso off")
            self.do(host, f"ip link set bond0 mtu {self.mtu} up")
            self.address(host, address, "bond0")
        self.wait()

    def wait(self):
        """Until all links carry in both directions."""
        for host in (self.near, self.far):
            wait_for(lambda host=host: self.in_use(host.show()), "all links to be in use", 15)
        self.near.wait_ping(FAR_ADDRESS)

    def in_use(self, show):
        used = [slave["name"] for slave in show["slaves"] if slave["active"]]
        return used == self.links or (show["mode"] == "active-backup" and len(used) == 1)

    def run(self, host, *words, timeout=120):
        """(stdout, the command as the reader sees it); ToolError when it fails."""
        try:
            done = host.run(*words, check=False, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise parse.ToolError(f"{words[0]}: no end after {timeout} s") from None
        if done.returncode:
            raise parse.ToolError(f"{words[0]}: exit {done.returncode}: "
                                  f"{parse.first_line(done.stderr or done.stdout)}")
        return done.stdout, self.script.text(host, *words)


@contextlib.contextmanager
def bed(count, rate, bonded, **options):
    """What Bed takes; it is gone afterwards."""
    with lab() as made:
        yield Bed(made, count, rate, bonded, **options)


class Traffic:
    """iperf3 from near to far."""

    def __init__(self, place):
        self.place = place
        try:
            self.server = Iperf(place.far)
        except OSError as error:
            raise parse.ToolError(f"iperf3: {error.strerror}") from None

    def run(self, address, *words):
        """(Transfer, the command)."""
        command = ["iperf3", "-c", address, *[str(word) for word in words]]
        done = self.place.near.run(*command, "-J", check=False, timeout=60)
        return parse.iperf(done.stdout or done.stderr), self.place.script.text(
            self.place.near, *command)

    def close(self):
        self.server.close()


@contextlib.contextmanager
def traffic(place):
    made = Traffic(place)
    try:
        yield made
    finally:
        made.close()


class Cpu:
    """How busy the machine, with both ends on it, has been since this was made."""

    def __init__(self):
        self.before = self.read()

    @staticmethod
    def read():
        return parse.cpu_times(pathlib.Path("/proc/stat").read_text())

    def percent(self):
        """Of all CPUs."""
        (busy, every), (busy_now, every_now) = self.before, self.read()
        return 100 * (busy_now - busy) / max(every_now - every, 1)
