# SPDX-License-Identifier: GPL-2.0-or-later
"""Row 2: one TCP connection with messages of 1 to 32 KB: rate and CPU load of each run, over each
slave and over the bond.
"""
from .hosts import FAR_ADDRESS, FAR_ALONE, Cpu, bed, traffic  # first: it sets the path

from . import plot, published
from .figures import at_least_published

TITLE = "Messages of 1 to 32 KB, and the CPU load of each run"
ABOUT = (
    "As netio's table of network cards (2002): one TCP connection writes messages of a size; the "
    "best card is the one with the highest rate and the lowest CPU load. Each slave is measured as "
    "the only one in use (active-backup), then all three by round-robin. The CPU load is that of "
    "the whole machine, which is both ends of the connection and the links between them.",)
SIZES = (1, 2, 4, 8, 16, 32)


def ways(place):
    """{what: (address, how many links, bondctl's words)}."""
    found = {"a link without a bond": (FAR_ALONE, 1, "")}
    for name in place.links:
        found[f"slave {name}"] = (FAR_ADDRESS, 1,
                                  f"bondctl set bond0 mode active-backup active_slave {name}")
    found["bond of three"] = (FAR_ADDRESS, 3,
                              "bondctl set bond0 mode balance-rr bytes_per_slave 1")
    return found


def fill(section, scale, say):
    rates, loads = {}, {}
    with bed(3, 100, "mode balance-rr") as place, traffic(place) as stream:
        section.setup = list(place.script.lines)
        for what, (address, links, words) in ways(place).items():
            for host in (place.near, place.far) if words else ():
                host.ctl("set", "bond0", *words.split()[3:])
            if words:
                place.near.wait_ping(FAR_ADDRESS)
            for size in SIZES:
                cpu = Cpu()
                done, command = stream.run(address, "-t", scale.message_seconds, "-l", f"{size}K")
                load = cpu.percent()
                rates.setdefault(what, []).append((size, done.mbits / (100 * links)))
                loads.setdefault(what, []).append((size, load))
                command = f"both# {words}; {command}" if words else command
                section.figures.append(at_least_published(
                    f"{what}, {size} KB", done.mbits * 1e6 / 8 / 1024, "KB/s", command,
                    100 * links * 1e6 / 8 / 1024,
                    f"{published.NETIO_KBYTES} KB/s of 10 Mbit/s, CPU {published.NETIO_CPU} %",
                    published.NETIO_RATIO, note=f"CPU load {load:.1f} %"))
            say(f"messages: {what}")
    section.plots.append(("messages.svg", plot.lines(
        "One TCP connection, messages of 1 to 32 KB: share of the links' rate", "KB",
        "of the links' rate", rates, "x")))
    section.plots.append(("messages-cpu.svg", plot.lines(
        "The same: CPU load of the machine, both ends", "KB", "percent", loads, "x")))
