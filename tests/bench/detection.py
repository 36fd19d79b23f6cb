"""How long it takes until a link is left that keeps its carrier and drops everything: what one end
sends, what the other sends, or both. Two hosts with two links each and 1000 packets/s both ways.
With TCP and the hash policy `flow` no monitor is at work: the connection itself moves.
"""
import ctypes
import mmap
import select
import socket
import statistics
import struct
import threading
import time

from .bed import bring_up, lab, make_bond, wait_for  # first: it sets the path for traffic

from traffic import Stream  # pylint: disable=wrong-import-order
from waiting import moments  # pylint: disable=wrong-import-order

from .rows import Row

LIMIT = 15.0  # seconds after which a loss counts as not noticed
RATE = 1000
WAYS = {"near to far": ("near",), "far to near": ("far",), "both ways": ("near", "far")}
PORT = 9100
CHUNK = 1000
XOR = {"mode": "balance-xor", "xmit_hash_policy": "layer3+4"}
MONITORS = {
    "802.3ad, LACP fast": {"mode": "802.3ad", "xmit_hash_policy": "layer3+4", "lacp_rate": "fast"},
    "balance-xor, arp_interval 100": {**XOR, "arp_interval": 100, "arp_ip_target": "PEER"},
    "balance-xor, rx_silence 300": {**XOR, "rx_silence": 300},
    **{f"balance-xor, bfd_interval {interval}": {**XOR, "bfd_interval": interval,
                                                 "bfd_local": "OWN", "bfd_remote": "PEER"}
       for interval in (10, 50, 100)},
}
# Backups hear the probes of the active slave through a switch.
SWITCHED = {
    "active-backup, a switch, arp_interval 100, arp_validate all": {
        "mode": "active-backup", "primary": "l0", "arp_interval": 100, "arp_ip_target": "10.0.0.2",
        "arp_validate": "all"},
}
libbpf = ctypes.CDLL("libbpf.so.1", use_errno=True)


class TxMask:
    """The slots that a bond transmits on, straight from the pinned table."""

    def __init__(self, host, bond="bond0"):
        fd = libbpf.bpf_obj_get(str(host.bpf_dir / bond / "table").encode())
        assert fd >= 0, "the pinned table"
        self.memory = mmap.mmap(fd, mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ)

    def has(self, slot):
        return struct.unpack_from("=Q", self.memory)[0] >> slot & 1


class Loss:
    """Drops what leaves a device at these ends, until it is mended."""

    def __init__(self, hosts, dev):
        self.hosts, self.dev = hosts, dev
        for host in hosts:
            host.run("tc", "qdisc", "add", "dev", dev, "clsact", check=False)
        self.since = time.monotonic()
        for host in hosts:
            host.run("tc", "filter", "add", "dev", dev, "egress", "bpf", "direct-action",
                     "bytecode", "1,6 0 0 2")

    def mend(self):
        for host in self.hosts:
            host.run("tc", "filter", "del", "dev", self.dev, "egress")


def noticed(masks, since):
    """{end: seconds until it stops sending by slot 0, or None}."""
    found = dict.fromkeys(masks)
    for _ in moments(since + LIMIT - time.monotonic(), 0.001):
        for end, mask in masks.items():
            if found[end] is None and not mask.has(0):
                found[end] = time.monotonic() - since
        if None not in found.values():
            break
    return found


def wait_whole(masks):
    wait_for(lambda: all(mask.has(0) and mask.has(1) for mask in masks.values()),
             "both links in use at both ends", 60)


def end_holds(hosts, options):
    """Hold-downs double, and would be waited for."""
    for host in hosts:
        if "rx_silence" in options:
            host.ctl("set", "bond0", "rx_silence", options["rx_silence"])


def pair(made, options):
    near, far = made.host("a"), made.host("b")
    links = made.links(near, far, 2)
    for host, number in ((near, 1), (far, 2)):
        ends = {"OWN": f"10.0.0.{number}", "PEER": f"10.0.0.{3 - number}"}
        own = {name: ends.get(value, value) for name, value in options.items()}
        make_bond(host, links, f"10.0.0.{number}", **own)
        host.ip("addr", "add", f"fd00::{number}/64", "dev", "bond0", "nodad")
        bring_up(host, links)
    near.wait_ping("10.0.0.2", deadline=20)
    if "bfd_interval" in options:
        wait_for(lambda: all(host.slave(link)["monitors"]["bfd"]["session"] == "up"
                             for host in (near, far) for link in links), "the sessions", 20)
    return {"near": near, "far": far}


def switched(made, options):
    """The far end is a host behind a bridge of both links."""
    near, far = made.host("a"), made.namespace("b")
    links = made.links(near, far, 2)
    far.ip("link", "add", "br0", "type", "bridge")
    for link in links:
        far.ip("link", "set", link, "master", "br0", "up")
    far.ip("link", "set", "br0", "up")
    far.ip("addr", "add", "10.0.0.2/24", "dev", "br0")
    make_bond(near, links, "10.0.0.1", **options)
    near.wait_ping("10.0.0.2", deadline=20)
    return {"near": near, "far": far}


def times(scale, join, options):
    """{way: [what noticed() found in each round]}."""
    with lab() as made:
        hosts = join(made, options)
        masks = {end: TxMask(host) for end, host in hosts.items() if hasattr(host, "bpf_dir")}
        streams = [Stream(hosts["near"], hosts["far"], rate=RATE, flows=32, early=0),
                   Stream(hosts["far"], hosts["near"], to="10.0.0.1", rate=RATE, flows=32, early=0)]
        found = {way: [] for way in WAYS}
        for _ in range(scale.losses):
            for way, ends in WAYS.items():
                wait_whole(masks)
                loss = Loss([hosts[end] for end in ends], "l0")
                found[way].append(noticed(masks, loss.since))
                loss.mend()
                end_holds(hosts.values(), options)
        for stream in streams:
            stream.finish()
    return found


def row(what, seconds):
    if None in seconds:
        return Row(f"{what}: longer than {LIMIT:g} s", seconds.count(None), f"of {len(seconds)}")
    return Row(f"{what}, median", 1000 * statistics.median(seconds), "ms")


def monitor_rows(scale, name, join, options):
    for way, rounds in times(scale, join, options).items():
        for end in rounds[0]:
            yield row(f"{name}: drops {way}: {end} leaves the link",
                      [each[end] for each in rounds])


class Connection:
    """TCP from near to far, paced; when each piece arrived."""

    def __init__(self, near, far, address):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with far.inside():
            listener = socket.create_server((address, PORT), family=family)
        with near.inside():
            self.sender = socket.socket(family)
        self.sender.connect((address, PORT))
        self.sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.receiver = listener.accept()[0]
        listener.close()
        self.arrived, self.stop = time.monotonic(), threading.Event()
        self.thread = threading.Thread(target=self._send)
        self.thread.start()

    def _send(self):
        while not self.stop.wait(1 / RATE):
            if select.select([], [self.sender], [], 0.1)[1]:
                self.sender.send(bytes(CHUNK))

    def stall(self, since):
        """Seconds until data arrives that was not on its way already; None: not within LIMIT. The
        acknowledgements may be what is lost: then the sender's window ends the flow later.
        """
        last, longest = since, 0.0
        while time.monotonic() < since + LIMIT:
            if select.select([self.receiver], [], [], 0.1)[0]:
                self.receiver.recv(1 << 20)
                now = time.monotonic()
                last, longest = now, max(longest, now - last)
            elif time.monotonic() - last > longest:
                longest = time.monotonic() - last
            if longest > 0.05 and time.monotonic() - last < 0.02 or \
                    longest < 0.05 and time.monotonic() - since > 3:
                return longest
        return None

    def close(self):
        self.stop.set()
        self.thread.join()
        self.sender.close()
        self.receiver.close()


def busiest(host, connection, seconds=0.3):
    """The link that most of the host's packets leave by now."""
    before = {dev: host.sent(dev)["packets"] for dev in ("l0", "l1")}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([connection.receiver], [], [], 0.05)[0]:
            connection.receiver.recv(1 << 20)
    return max(before, key=lambda dev: host.sent(dev)["packets"] - before[dev])


def stalls(scale, hosts, ends, address):
    found = []
    for _ in range(scale.losses):
        connection = Connection(hosts["near"], hosts["far"], address)
        dev = busiest(hosts[ends[0]], connection)
        loss = Loss([hosts[end] for end in ends], dev)
        found.append(connection.stall(loss.since))
        loss.mend()
        connection.close()
    return found


def tcp_rows(scale):
    with lab() as made:
        hosts = pair(made, {"mode": "balance-xor", "xmit_hash_policy": "flow"})
        for version, address in (("IPv4", "10.0.0.2"), ("IPv6", "fd00::2")):
            for way, ends in WAYS.items():
                seconds = stalls(scale, hosts, ends, address)
                yield row(f"xmit_hash_policy flow, TCP near to far, {version}: drops {way}: it "
                          "stands still", seconds)


def rows(scale):
    for name, options in MONITORS.items():
        yield from monitor_rows(scale, name, pair, options)
    for name, options in SWITCHED.items():
        yield from monitor_rows(scale, name, switched, options)
    yield from tcp_rows(scale)
