# SPDX-License-Identifier: GPL-2.0-or-later
"""Row 1: streams over three links of 100 Mbit/s, round-robin; the slaves' MAC addresses; bonds that
are made and deleted under traffic.
"""
from .hosts import FAR_ADDRESS, FAR_ALONE, bed, traffic, wait_for  # first: it sets the path

import contextlib
import json
import socket
import statistics
import threading
import time

from namespace import run  # pylint: disable=wrong-import-order

from . import parse, plot, published
from .figures import Figure, Listing, at_least_published

TITLE = "Streams over three links of 100 Mbit/s, round-robin"
ABOUT = (
    "TCP and UDP streams of iperf3 over three links, beside netperf over three cards (2000). With "
    "\"packets in turn\" the links take turns; with bytes_per_slave 1 the next packet goes where "
    "the fewest bytes have gone. A link shaped by TBF counts Ethernet frames, and neither preamble "
    "nor gap: the most that TCP can carry is 0.957 of its rate, and 0.941 on a cable.",)

WAYS = {"packets in turn": "bytes_per_slave 0", "bytes in turn": "bytes_per_slave 1"}
UDP = ("-u", "-l", 1472)


def subjects(place):
    """{(protocol, way): (address, words of iperf3)}; way None is one link alone."""
    found = {}
    for protocol, words in (("TCP", ()), ("UDP", UDP)):
        for way in (None, *WAYS):
            offered = place.rate if way is None else place.capacity
            more = ("-b", f"{offered}M") if protocol == "UDP" else ()
            found[protocol, way] = (FAR_ALONE if way is None else FAR_ADDRESS, (*words, *more))
    return found


def measure(place, scale, say):
    """{(protocol, way): (Mbit/s, command)}, medians of the rounds."""
    values, commands = {}, {}
    with traffic(place) as stream:
        for number in range(scale.rounds):
            for (protocol, way), (address, words) in subjects(place).items():
                if way:
                    place.near.ctl("set", "bond0", *WAYS[way].split())
                done, command = stream.run(address, "-t", scale.seconds, "-O", 1, *words)
                values.setdefault((protocol, way), []).append(done.mbits)
                commands[protocol, way] = \
                    command if not way else f"near# bondctl set bond0 {WAYS[way]}; {command}"
            say(f"streams, round {number + 1} of {scale.rounds}")
    return {key: (statistics.median(each), commands[key]) for key, each in values.items()}


def stream_figures(place, found):
    for (protocol, way), (mbits, command) in found.items():
        if way is None:
            yield at_least_published(
                f"{protocol}, one link alone", mbits, "Mbit/s", command, place.rate,
                f"{published.NETPERF_ONE[protocol]} Mbit/s",
                published.NETPERF_ONE[protocol] / published.NETPERF_LINK)
            continue
        yield at_least_published(
            f"{protocol}, three links, {way}", mbits, "Mbit/s", command, place.capacity,
            f"{published.NETPERF_BONDED[protocol]} Mbit/s",
            published.NETPERF_BONDED[protocol] / published.NETPERF_LINK / published.NETPERF_LINKS)


def gain_figures(found):
    """What a shaped link has over a cable of the same rate does not count here."""
    for (protocol, way), (mbits, command) in found.items():
        theirs = published.NETPERF_BONDED[protocol] / published.NETPERF_ONE[protocol]
        if way:
            yield Figure(f"{protocol}, three links over one, {way}",
                         mbits / found[protocol, None][0], "times", command,
                         published=f"{theirs:.2f} times")


def macs(place):
    """MAC addresses of slaves and bond."""
    wanted = (*place.links, "bond0")
    found = parse.macs(place.near.run("ip", "-br", "link").stdout)
    return {name: mac for name, mac in found.items() if name in wanted}


def mac_listing(stages):
    names = list(dict.fromkeys(name for found in stages.values() for name in found))
    rows = [f"{'':8}" + "".join(f"{stage:22}" for stage in stages)]
    rows += [f"{name:8}" + "".join(f"{found.get(name, '-'):22}" for found in stages.values())
             for name in names]
    return Listing("MAC addresses (ip -br link)", "\n".join(row.rstrip() for row in rows))


class Sender:
    """Packets from near into whatever way there is, whether a bond is there or not."""

    def __init__(self, host, address):
        with host.inside():
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.address, self.ended = (address, 9), threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.ended.wait(0.0002):
            for _ in range(10):
                with contextlib.suppress(OSError):
                    self.socket.sendto(bytes(1000), self.address)

    def close(self):
        self.ended.set()
        self.thread.join()
        self.socket.close()


def state(host):
    """What a bond could leave behind: devices with all that is on them, and pins."""
    links = host.ip_json("-d", "link", "show")
    for link in links:
        link.pop("txqlen", None)
    qdiscs = host.run("tc", "qdisc", "show").stdout
    attached = json.loads(host.run("bpftool", "-j", "net", "show").stdout)[0]
    programs = [(each["devname"], each["name"]) for each in attached.get("tc", [])]
    return {"devices": links, "qdiscs": qdiscs, "programs": programs, "pins": host.pins()}


def carried(host):
    """The bond has sent and received."""
    show = host.show()
    return show["tx_packets"] > 20 and show["rx_packets"] > 20


def teardowns(place, scale, say):
    """(bonds made and deleted, what was left behind, the kernel's complaints), all under traffic in
    both directions, which goes on while there is no bond.
    """
    near, far = place.near, place.far
    near.ctl("delete", "bond0")
    before = state(near)
    log = run("dmesg").stdout.count("\n")
    mac = "02:00:00:00:00:aa"
    far.ip("neigh", "replace", "10.0.0.1", "lladdr", mac, "dev", "bond0", "nud", "permanent")
    senders = [Sender(near, FAR_ADDRESS), Sender(far, "10.0.0.1")]
    done, last = 0, time.monotonic()
    try:
        for done in range(1, scale.teardowns + 1):
            near.ctl("create", "bond0", "mode", "balance-rr")
            near.ip("link", "set", "bond0", "address", mac)
            near.ctl("add-slave", "bond0", *place.links)
            near.ip("link", "set", "bond0", "up")
            near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
            wait_for(lambda: carried(near), "traffic through the bond", 15)
            near.ctl("delete", "bond0")
            if time.monotonic() > last + 10:
                say(f"teardowns: {done} of {scale.teardowns}")
                last = time.monotonic()
    finally:
        for sender in senders:
            sender.close()
    after = state(near)
    left = [what for what in before if before[what] != after[what]]
    return done, left, parse.kernel_trouble("\n".join(run("dmesg").stdout.split("\n")[log:]))


def teardown_figures(done, left, trouble, scale):
    command = ("bondctl create bond0 mode balance-rr; bondctl add-slave bond0 l0 l1 l2; ip link "
               "set bond0 up; bondctl delete bond0 (again and again, under UDP in both directions)")
    yield Figure("bonds made and deleted under traffic", done, "", command, bound=scale.teardowns)
    yield Figure("left behind: devices, their attributes, qdiscs, programs, pins", len(left),
                 "", command, bound=0, least=False, note="; ".join(left))
    yield Figure("complaints in dmesg", len(trouble), "", "dmesg", bound=0, least=False,
                 note="; ".join(trouble[:3]),
                 published="bonds that were torn down under traffic have crashed hosts (2000)")


def fill(section, scale, say):
    with bed(3, 100, None) as place:
        stages = {"before": macs(place)}
        place.bond("mode balance-rr", "mode balance-rr")
        stages["during"] = macs(place)
        section.setup = list(place.script.lines)
        found = measure(place, scale, say)
        section.figures += stream_figures(place, found)
        section.figures += gain_figures(found)
        ended = teardowns(place, scale, say)
        section.figures += teardown_figures(*ended, scale)
        stages["after"] = macs(place)
    section.listings.append(mac_listing(stages))
    restored = [name for name, mac in stages["before"].items() if stages["after"].get(name) != mac]
    section.figures.append(Figure("slaves whose MAC address did not come back", len(restored), "",
                                  "ip -br link", bound=0, least=False))
    section.plots.append(("streams.svg", plot.bars(
        "Three links of 100 Mbit/s, round-robin: share of the links' rate", "of 300 Mbit/s",
        list(published.NETPERF_BONDED),
        {"published (2000)": [value / 300 for value in published.NETPERF_BONDED.values()],
         **{f"xbond, {way}": [found[protocol, way][0] / 300
                              for protocol in published.NETPERF_BONDED] for way in WAYS}})))
