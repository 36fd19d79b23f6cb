# SPDX-License-Identifier: GPL-2.0-or-later
"""Row 3: NetPIPE over one to four links of 100 Mbit/s, and a sender of UDP that offers more than
they carry.
"""
from .hosts import BARE, FAR_ADDRESS, FAR_ALONE, bed, traffic  # first: it sets the path

import statistics

from . import parse, plot, published
from .figures import Figure, at_least_published
from .servers import directory, serving

TITLE = "NetPIPE over one to four links of 100 Mbit/s, and overload"
ABOUT = (
    "Messages go back and forth over balance-rr with bytes_per_slave 1. The latency is that of one "
    "byte, one way, the median of seven runs; the bandwidth that of the longest message. Shorter "
    "messages can exceed the links' rate: one way rests while the other works, so a shaped link "
    "finds its bucket full again. In 2001 a fourth port made three slower, because the receiver's "
    "CPU was full.",
    "Overload: the sender offers 1.5 times what the links carry, by UDP, with a socket buffer that "
    "lets it do so. In 2001 it could push 341 Mbit/s, of which 89 arrived.")
PORT = 5002
SHORTEST = 4  # bytes
LATENCIES = 7  # runs: the scheduler has both ends on one CPU in one run, and on two in another
WAYS = {"one link without a bond": (1, FAR_ALONE),
        **{f"bond of {count}": (count, FAR_ADDRESS) for count in (1, 2, 3, 4)}}


def netpipe(place, address, most):
    """([PingPong], command)."""
    words = ("-l", 1, "-u", most, "-p", 0)
    with directory() as made:
        with serving(place.far, PORT, made / "receiver", "NPtcp", *words, cwd=made):
            place.run(place.near, "NPtcp", "-h", address, "-o", made / "np.out", *words)
        found = parse.netpipe((made / "np.out").read_text())
    shown = " ".join(str(word) for word in words)
    return found, f"far# NPtcp {shown}; near# NPtcp -h {address} {shown}"


def latency_figure(what, latencies, command, links):
    theirs = published.NETPIPE_TCP.get(links)
    return Figure(f"{what}: latency", statistics.median(latencies), "us",
                  f"{command}; median of {len(latencies)}", least=False,
                  published=f"{theirs[0]} us" if theirs else "",
                  bound=theirs[0] if theirs else None)


def bandwidth_figure(what, found, command, links):
    capacity = links * published.NETPIPE_LINK
    if links not in published.NETPIPE_TCP:
        return Figure(f"{what}: bandwidth", found[-1].mbits, "Mbit/s", command,
                      ratio=found[-1].mbits / capacity)
    return at_least_published(f"{what}: bandwidth", found[-1].mbits, "Mbit/s", command, capacity,
                              f"{published.NETPIPE_TCP[links][1]} Mbps of NetPIPE",
                              published.netpipe_ratio(links))


def overload(scale, count):
    """(Mbit/s offered and arrived, medians; command)."""
    with bed(count, 100, "mode balance-rr") as place, traffic(place) as stream:
        done = [stream.run(FAR_ADDRESS, "-u", "-l", 1472, "-b", f"{place.capacity * 3 // 2}M",
                           "-w", "4M", "-t", scale.seconds, "-O", 1)
                for _ in range(scale.rounds)]
    return (statistics.median(each.sent_mbits for each, _ in done),
            statistics.median(each.mbits for each, _ in done), done[0][1])


def overload_figures(scale, say):
    for count in (3, 4):
        offered, arrived, command = overload(scale, count)
        say(f"overload of {count} links")
        yield Figure(f"UDP, {count} links, overloaded: offered", offered, "Mbit/s", command,
                     ratio=offered / (count * 100),
                     published=f"{published.NETPIPE_UDP_PUSHED} Mbit/s" if count == 4 else "",
                     published_ratio=published.NETPIPE_UDP_PUSHED / 400 if count == 4 else None)
        yield Figure(f"UDP, {count} links, overloaded: arrived", arrived, "Mbit/s", command,
                     ratio=arrived / (count * 100), bound=0.95,
                     published=f"{published.NETPIPE_UDP_ARRIVED} Mbit/s" if count == 4 else "",
                     published_ratio=published.NETPIPE_UDP_ARRIVED / 400 if count == 4 else None)


def fill(section, scale, say):
    found = {}
    for what, (count, address) in WAYS.items():
        with bed(count, 100, "mode balance-rr bytes_per_slave 1", shaper=BARE) as place:
            section.setup = list(place.script.lines)
            found[what], command = netpipe(place, address, scale.message)
            short = [netpipe(place, address, SHORTEST) for _ in range(LATENCIES)]
        section.figures += [
            latency_figure(what, [lines[0].us for lines, _ in short], short[0][1],
                           count if address == FAR_ADDRESS else 0),
            bandwidth_figure(what, found[what], command, count)]
        say(f"NetPIPE, {what}")
    gain = found["bond of 4"][-1].mbits / found["bond of 3"][-1].mbits
    section.figures.append(Figure(
        "four links over three", gain, "times", section.figures[-1].command, bound=1,
        published=f"{published.NETPIPE_TCP[4][1]} after {published.NETPIPE_TCP[3][1]} Mbps: "
        f"{published.NETPIPE_TCP[4][1] / published.NETPIPE_TCP[3][1]:.2f} times"))
    section.figures += overload_figures(scale, say)
    section.plots.append(("netpipe.svg", plot.lines(
        "NetPIPE over links of 100 Mbit/s", "bytes in a message", "Mbit/s",
        {what: [(each.size, each.mbits) for each in lines] for what, lines in found.items()},
        "x", key="left top")))
