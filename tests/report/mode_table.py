# SPDX-License-Identifier: GPL-2.0-or-later
"""Row 4: one and four TCP connections over four links of 1 Gbit/s with MTU 9000, by mode and
policy.
"""
from .hosts import FAR_ADDRESS, NEAR_ADDRESS, bed, traffic  # first: it sets the path

import statistics

from . import plot, published
from .figures import Figure, at_least_published

TITLE = "One and four connections over four links of 1 Gbit/s, MTU 9000, by mode"
FIRST_PORT, SET = 40000, 4
ABOUT = (
    "TCP by iperf3, beside the table that somebody published in 2017. balance-rr is "
    "measured with packets in turn, as theirs was, and with bytes_per_slave 1.",
    "With layer3+4 the ports decide which links four connections take. They were fixed before "
    f"anything was measured: hash_seed 1, and each round takes the next four client ports from "
    f"{FIRST_PORT} on. A cell is the mean of the rounds. What to expect of a fair hash: four "
    "connections over four links meet 4 (1 - (3/4)^4) = 2.73 different links on average. The "
    "links that `bondctl explain` foretells for these ports stand beside the figures.")
MODES = {("balance-rr", ""): ("balance-rr", "mode balance-rr"),
         ("balance-rr", "bytes"): ("balance-rr, bytes_per_slave 1",
                                   "mode balance-rr bytes_per_slave 1"),
         ("active-backup", ""): ("active-backup", "mode active-backup"),
         **{(mode, policy): (f"{mode} {policy}", f"mode {mode} xmit_hash_policy {policy} "
                             f"hash_seed 1{' lacp_rate fast' if mode == '802.3ad' else ''}")
            for mode in ("balance-xor", "802.3ad") for policy in ("layer2", "layer3+4")}}
COUNTS = (1, 4)


def explained(place, port):
    """The slave that bondctl foretells for a connection from this port."""
    words = ("explain", "bond0", "src", NEAR_ADDRESS, "dst", FAR_ADDRESS, "proto", "tcp", "sport",
             port, "dport", 5201)
    return place.near.ctl_json(*words)["slave"]


def links_met(place, rounds):
    """Mean number of different links of the sets of ports."""
    sets = [[explained(place, FIRST_PORT + SET * number + index) for index in range(SET)]
            for number in range(rounds)]
    return statistics.mean(len(set(each)) for each in sets)


def cell(place, stream, count, scale, by_port):
    """(mean Mbit/s, one of the commands). Where ports decide, more and shorter rounds."""
    rounds = scale.port_sets if by_port else scale.rounds
    seconds = 1 if by_port else scale.seconds
    done = []
    for number in range(rounds):
        ports = ("--cport", FIRST_PORT + SET * number) if by_port else ()
        done.append(stream.run(FAR_ADDRESS, "-P", count, "-t", seconds, "-O", 1,
                               *ports))
    return statistics.mean(each.mbits for each, _ in done), done[0][1]


def theirs_of(key):
    """The published figures of one and four connections, or None."""
    return published.IPERF_TCP.get(("balance-rr", "") if key[1] == "bytes" else key)


def figure(key, count, mbits, command, note):
    name, options = MODES[key]
    what = f"{name}: {count} connection{'s' if count > 1 else ''}"
    theirs = theirs_of(key)
    command = f"both# bondctl create bond0 {options}; {command}"
    if not theirs:
        return Figure(what, mbits, "Mbit/s", command, ratio=mbits / 4000, note=note)
    published_mbits = theirs[COUNTS.index(count)]
    return at_least_published(what, mbits, "Mbit/s", command, 4000, f"{published_mbits} Mbit/s",
                              published_mbits / 4000, note=note)


def measure(section, key, scale, say):
    """{count: share of the links' rate} of one mode."""
    name, options = MODES[key]
    with bed(4, 1000, options, mtu=9000) as place, traffic(place) as stream:
        section.setup = section.setup or list(place.script.lines)
        shares = {}
        for count in COUNTS:
            by_port = count > 1 and key[1] == "layer3+4"
            mbits, command = cell(place, stream, count, scale, by_port)
            note = f"mean of {scale.port_sets} sets of ports, which meet " \
                f"{links_met(place, scale.port_sets):.2f} links on average" if by_port else ""
            section.figures.append(figure(key, count, mbits, command, note))
            shares[count] = mbits / 4000
    say(f"modes: {name}")
    return shares


def fill(section, scale, say):
    shares = {key: measure(section, key, scale, say) for key in MODES}
    groups = [key for key in MODES if theirs_of(key)]
    series = {}
    for count in COUNTS:
        what = f"{count} connection{'s' if count > 1 else ''}"
        series[f"published (2017), {what}"] = \
            [theirs_of(key)[COUNTS.index(count)] / 4000 for key in groups]
        series[f"xbond, {what}"] = [shares[key][count] for key in groups]
    section.plots.append(("modes.svg", plot.bars(
        "TCP over four links of 1 Gbit/s, MTU 9000", "of 4 Gbit/s",
        [" ".join(key).strip().replace("balance-", "").replace("802.3ad", "LACP")
         for key in groups], series)))
