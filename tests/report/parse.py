# SPDX-License-Identifier: GPL-2.0-or-later
"""What tools print, as numbers. A tool that failed or printed something else raises ToolError with
one line that says which tool, and what it said.
"""
import dataclasses
import json
import re

NETPIPE_MEGABIT = 1 << 20  # NetPIPE's Mbps are these


class ToolError(Exception):
    """One line for the reader of the report."""


def first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "nothing")


@dataclasses.dataclass
class Transfer:
    """What iperf3 found. mbits: per second, of payload that arrived; cpu_percent: of one CPU, of
    the processes at both ends together; retransmitted and lost: percent.
    """
    mbits: float
    sent_mbits: float
    cpu_percent: float
    retransmitted: float = 0
    lost: float = 0


def iperf(text):
    """From the output of `iperf3 -J -c`."""
    try:
        result = json.loads(text)
    except json.JSONDecodeError:
        raise ToolError(f"iperf3: no JSON, but: {first_line(text)}") from None
    if "error" in result:
        raise ToolError(f"iperf3: {result['error']}")
    try:
        return _iperf_end(result["start"], result["end"])
    except (KeyError, TypeError, ZeroDivisionError) as error:
        raise ToolError(f"iperf3: its result lacks {error}") from None


def _iperf_end(start, end):
    cpu = end["cpu_utilization_percent"]
    made = Transfer(end["sum_received"]["bits_per_second"] / 1e6,
                    end["sum_sent"]["bits_per_second"] / 1e6,
                    cpu["host_total"] + cpu["remote_total"])
    if start["test_start"]["protocol"] == "UDP":
        made.lost = end["sum"]["lost_percent"]
    else:
        sent = end["sum_sent"]
        made.retransmitted = 100 * sent["retransmits"] * start["tcp_mss_default"] / sent["bytes"]
    return made


@dataclasses.dataclass
class PingPong:
    """A line of NetPIPE: message size, Mbit/s (of 10^6 bits), microseconds for one way."""
    size: int
    mbits: float
    us: float


def netpipe(text):
    """From np.out: size, NetPIPE's Mbps, seconds."""
    lines = []
    for line in text.splitlines():
        if not line.strip():
            continue
        words = line.split()
        try:
            size, mbps, seconds = int(words[0]), float(words[1]), float(words[2])
        except (ValueError, IndexError):
            raise ToolError(f"NPtcp: np.out has a line {line.strip()!r}") from None
        lines.append(PingPong(size, mbps * NETPIPE_MEGABIT / 1e6, seconds * 1e6))
    if not lines:
        raise ToolError("NPtcp: np.out is empty")
    return lines


def cpu_times(text):
    """(busy, all) ticks of all CPUs, from /proc/stat."""
    words = text.split("\n", 1)[0].split()
    if words[:1] != ["cpu"] or len(words) < 6:
        raise ToolError("/proc/stat: no line for all CPUs")
    ticks = [int(word) for word in words[1:9]]
    idle = ticks[3] + ticks[4]
    return sum(ticks) - idle, sum(ticks)


def macs(text):
    """{device: MAC address} from `ip -br link`."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 3 and re.fullmatch(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", words[2]):
            found[words[0].split("@")[0]] = words[2]
    return found


TROUBLE = re.compile(r"\b(WARNING:|BUG:|Oops|Call Trace:|general protection|Kernel panic|"
                     r"refcount_t|unregister_netdevice: waiting|stall|KASAN|hung task)")


def kernel_trouble(text):
    """Lines of dmesg that a developer of the kernel would want to see."""
    return [line for line in text.splitlines() if TROUBLE.search(line)]
