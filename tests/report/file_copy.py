# SPDX-License-Identifier: GPL-2.0-or-later
"""Row 5: one file copied over two links, by SMB and by scp; through a switch, over an LACP
aggregate that is sent into by round-robin; and what /proc/net/bonding would show of it.
"""
from ..bench.lacp import switch_on
from .hosts import (ALONE, FAR_ADDRESS, FAR_ALONE, NEAR_ADDRESS,  # first: it sets the path
                    bed, traffic)

from subprocess import DEVNULL
import re
import statistics
import time

from lacp import wait_distributing  # pylint: disable=wrong-import-order
from namespace import end  # pylint: disable=wrong-import-order
from waiting import moments  # pylint: disable=wrong-import-order

from . import parse, plot, published
from .figures import Figure, Listing
from .servers import CIPHER, directory, smbd, sshd

TITLE = "One file over two links"
ABOUT = (
    "A file is copied over two links of 100 Mbit/s by balance-rr with bytes_per_slave 1, beside "
    "NFS over two cards of 1 Gbit/s (2010: 155 MB/s, 2011: 220 MB/s). At 1 Gbit/s two CPUs that do "
    "the work of both hosts, of the shapers and of the cipher are the limit, not the links. The "
    "rate is that of the growing file, from its first byte to its last; it lies in memory at both "
    "ends. The target is 0.99 of what two links carry, each as iperf3 finds it on one of them "
    "alone.",
    "The same by 802.3ad with lacp_tx balance-rr into Open vSwitch.")
BAR = 0.99
RATE = 100
BURST = 0.1  # seconds
GROWTH_S = 120  # at most
# The names in the status of the two ends of that copy, in their order.
BOND = ("MII Status", "MII Polling Interval (ms)", "Up Delay (ms)", "Down Delay (ms)")
SLAVE = ("Slave Interface", "MII Status", "Speed", "Duplex", "Link Failure Count",
         "Permanent HW addr")
STATUS = {"balance-rr": ("Ethernet Channel Bonding Driver", "Bonding Mode", *BOND,
                         *(*SLAVE, "Slave queue ID") * 2),
          "802.3ad": ("Ethernet Channel Bonding Driver", "Bonding Mode", "Transmit Hash Policy",
                      *BOND, "LACP rate", "Aggregator selection policy (ad_select)",
                      *(*SLAVE, "Slave queue ID", "Aggregator ID") * 2)}


def make_file(path, megabytes):
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(bytes(1000000))


def rate_of(sizes):
    """MB/s of a file from its sizes, as (seconds, bytes), each time that it has grown; None: it has
    not. A program may write megabytes at once, which it has received before; so the clock starts
    when it has written the first of them.
    """
    start = [each for each in sizes if each[0] < sizes[0][0] + BURST][-1] if sizes else None
    if not start or start == sizes[-1]:
        return None
    return (sizes[-1][1] - start[1]) / (sizes[-1][0] - start[0]) / 1e6


def growth(child, path, what):
    """MB/s of a file that a program writes."""
    sizes = []
    for _ in moments(GROWTH_S, 0.005):
        is_over = child.poll() is not None
        size = path.stat().st_size if path.exists() else 0
        if size and (not sizes or size != sizes[-1][1]):
            sizes.append((time.monotonic(), size))
        if is_over:
            break
    else:
        end(child)
        raise parse.ToolError(f"{what}: no end after {GROWTH_S} s")
    rate = rate_of(sizes)
    if child.returncode or not rate:
        raise parse.ToolError(f"{what}: exit {child.returncode}, "
                              f"{sizes[-1][1] if sizes else 0} bytes copied")
    return rate


def scp(near, far, megabytes, rounds, address=FAR_ADDRESS):
    """(MB/s, command)."""
    with sshd(far) as (made, words), directory() as here:
        make_file(here / "file", megabytes)
        found = []
        for number in range(rounds):
            to = made / f"files/copy{number}"
            found.append(growth(near.spawn(*words, here / "file", f"root@{address}:{to}"), to,
                                "scp"))
            to.unlink()
    return statistics.median(found), f"near# scp -c {CIPHER} file {address}:/dev/shm/"


def smb(near, far, megabytes, rounds, address=FAR_ADDRESS):
    """(MB/s, command)."""
    with smbd(far) as made, directory() as here:
        make_file(made / "files/file", megabytes)
        command = ("smbclient", f"//{address}/files", "-N", "-s", made / "smb.conf", "-c")
        found = []
        for number in range(rounds):
            to = here / f"copy{number}"
            found.append(growth(near.spawn(*command, f"get file {to}", stdout=DEVNULL,
                                           stderr=DEVNULL), to,
                                "smbclient"))
            to.unlink()
    return statistics.median(found), \
        f"near# smbclient //{address}/files -N -c 'get file /dev/shm/copy'"


def copy_figures(what, mbytes, command, alone, rate, bound):
    """The copy as a share of the links' rate, beside the published one, and of their goodput."""
    yield Figure(what, mbytes, "MB/s", command, ratio=mbytes * 8 / (2 * rate),
                 published=f"{published.NFS_MBYTES} MB/s ({published.NFS})",
                 published_ratio=published.NFS_RATIO, bound=published.NFS_RATIO)
    yield Figure(f"{what}: of the goodput of two links", mbytes * 8 / (2 * alone), "times", command,
                 bound=bound)


def goodput(what, place, scale, section, address, rate):
    """Mbit/s of iperf3, which says what the links carry whatever program copies."""
    with traffic(place) as stream:
        done, command = stream.run(address, "-t", scale.seconds, "-O", 1)
    section.figures.append(Figure(what, done.mbits, "Mbit/s", command, ratio=done.mbits / rate))
    return done.mbits


def goodput_alone(place, scale, section):
    return goodput("iperf3, one link alone", place, scale, section, FAR_ALONE, place.rate)


COPIES = {"SMB": smb, "scp": scp}


def copies_without_limit(section, place, scale):
    """What the machine's CPUs let these programs do at most."""
    for host in (place.near, place.far):
        place.do(host, f"tc qdisc del dev {ALONE} root")
        place.do(host, f"ethtool -K {ALONE} tso on gso on")
    for name, copy in COPIES.items():
        mbytes, command = copy(place.near, place.far, scale.megabytes, 1, FAR_ALONE)
        section.figures.append(Figure(
            f"{name}, one link without a bond and without a limit", mbytes, "MB/s",
            f"both# tc qdisc del dev {ALONE} root; {command}", note="what the CPUs allow"))


def megabytes_of(scale):
    return scale.megabytes * RATE // 1000


def direct(section, scale, say):
    with bed(2, RATE, "mode balance-rr bytes_per_slave 1") as place:
        section.setup = list(place.script.lines)
        alone = goodput_alone(place, scale, section)
        goodput("iperf3, two links", place, scale, section, FAR_ADDRESS, place.capacity)
        for name, copy in COPIES.items():
            mbytes, command = copy(place.near, place.far, megabytes_of(scale), scale.rounds)
            section.figures += copy_figures(f"{name}, two links of {RATE} Mbit/s", mbytes, command,
                                            alone, RATE, BAR)
            say(f"one file by {name}")
        layout(section, place, "balance-rr")
        copies_without_limit(section, place, scale)
        say("one file over a link without limit")


def switched(section, scale, say):
    """The client's two links end in Open vSwitch, and so does its connection."""
    options = "mode 802.3ad lacp_rate fast lacp_tx balance-rr bytes_per_slave 1"
    with bed(2, RATE, None) as place:
        near, far = place.near, place.far
        alone = goodput_alone(place, scale, section)
        switch_on(place.made, far, place.links)
        place.do(near, f"bondctl create bond0 {options}")
        place.do(near, f"bondctl add-slave bond0 {' '.join(place.links)}")
        # Open vSwitch takes frames as they come: whole, and with their checksums.
        place.do(near, "ethtool -K bond0 tx off tso off gso off")
        place.do(near, "ip link set bond0 up")
        place.address(near, NEAR_ADDRESS, "bond0")
        place.do(far, "ip link set br0 up")
        place.address(far, FAR_ADDRESS, "br0")
        wait_distributing(near, links=place.links, deadline=15)
        near.wait_ping(FAR_ADDRESS)
        mbytes, command = scp(near, far, megabytes_of(scale), scale.rounds)
        layout(section, place, "802.3ad")
        section.figures += copy_figures("scp, LACP with lacp_tx balance-rr into Open vSwitch",
                                        mbytes, f"bondctl create bond0 {options}; {command}",
                                        alone, RATE, BAR)
        say("one file through Open vSwitch")


def keys(text):
    """The names in a status of the kind of /proc/net/bonding, in their order."""
    return [match[1] for match in re.finditer(r"^([^:\n]+):", text, re.M)]


def missing(text, names):
    """Those that do not follow in this order."""
    rest = iter(keys(text))
    return [name for name in names if name not in rest]


def layout(section, place, mode):
    """How far `show --proc` has the names of that status; what it prints is kept to be read."""
    command = ("show", "--proc", "bond0")
    done = place.near.ctl_try(*command)
    lacking = missing(done.stdout, STATUS[mode])
    section.figures.append(Figure(
        f"{mode}: names of the published status that `show --proc` lacks, or has elsewhere",
        len(lacking), "", f"bondctl {' '.join(command)}", bound=0, least=False,
        note=", ".join(lacking) if not done.returncode else parse.first_line(done.stderr),
        published="/proc/net/bonding/bond0 (2011)"))
    section.listings.append(Listing(f"bondctl show --proc bond0, {mode}", done.stdout))


def fill(section, scale, say):
    switched(section, scale, say)
    direct(section, scale, say)
    ratios = [(figure.what, figure.ratio) for figure in section.figures
              if figure.published_ratio and figure.unit == "MB/s"]
    section.plots.append(("files.svg", plot.bars(
        "One file over two links", "of the links' rate",
        ["published"] + [what.split(",")[0] + (", switch" if "Open" in what else "")
                         for what, _ in ratios],
        {"share": [published.NFS_RATIO] + [ratio for _, ratio in ratios]})))
