# SPDX-License-Identifier: GPL-2.0-or-later
"""The report's readers of what tools print, on output that was recorded, its plots and its page."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import xml.dom.minidom

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
# pylint: disable=wrong-import-position
from tests.waiting import wait_for  # noqa: E402
from tests.report import (file_copy, keep, machine, page, parse, plot, published,  # noqa: E402
                          streams)
from tests.report.figures import Figure, Listing, Section, at_least_published  # noqa: E402

RECORDED = pathlib.Path(__file__).with_name("recorded")


def recorded(name):
    return (RECORDED / name).read_text()


def test_iperf_tcp():
    done = parse.iperf(recorded("iperf3-tcp.json"))
    assert 50 < done.mbits < 96 and done.mbits <= done.sent_mbits
    assert done.cpu_percent > 0 and done.lost == 0 <= done.retransmitted < 100


def test_iperf_udp():
    done = parse.iperf(recorded("iperf3-udp.json"))
    assert 40 < done.mbits <= 50.5 and 0 <= done.lost < 20 and done.retransmitted == 0


@pytest.mark.parametrize("text, said", [
    (recorded("iperf3-refused.json"), "iperf3: unable to connect to server: Connection refused"),
    ("", "iperf3: no JSON, but: nothing"),
    ("\niperf3: parameter error - \nUsage", "iperf3: no JSON, but: iperf3: parameter error -"),
    ('{"start": {}, "end": {}}', "iperf3: its result lacks 'cpu_utilization_percent'"),
    ("[]", "iperf3: its result lacks"), ('"word"', "iperf3: its result lacks")])
def test_iperf_broken(text, said):
    with pytest.raises(parse.ToolError) as caught:
        parse.iperf(text)
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_netpipe():
    """NetPIPE's megabits have 2^20 bits."""
    lines = parse.netpipe(recorded("np.out"))
    assert [each.size for each in lines[:3]] == [1, 6, 24]
    assert lines[0].us == pytest.approx(8.80) and \
        lines[0].mbits == pytest.approx(0.86663 * 1.048576)
    assert all(each.mbits == pytest.approx(each.size * 8 / each.us, rel=0.01) for each in lines)


@pytest.mark.parametrize("text, said", [("", "is empty"), ("1 2", "has a line '1 2'"),
                                        ("1 x 3", "has a line '1 x 3'")])
def test_netpipe_broken(text, said):
    with pytest.raises(parse.ToolError, match=f"NPtcp: np.out {said}"):
        parse.netpipe(text)


def test_cpu():
    assert parse.cpu_times("cpu  10 1 5 100 4 0 2 1 7 7\ncpu0 1") == (19, 123)
    with pytest.raises(parse.ToolError):
        parse.cpu_times("")


def test_macs():
    shown = ("lo               UNKNOWN        00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP>\n"
             "l0@if2000        UP             02:aa:00:00:00:01 <BROADCAST>\nshort\n")
    assert parse.macs(shown) == {"lo": "00:00:00:00:00:00", "l0": "02:aa:00:00:00:01"}


def test_kernel_trouble():
    log = "[1.0] eth0: link up\n[2.0] WARNING: CPU: 1 PID: 2 at net/core/dev.c\n[3.0] BUG: bad page"
    assert [line[:5] for line in parse.kernel_trouble(log)] == ["[2.0]", "[3.0]"]


def test_layout():
    """Names in their order, each as often as it is asked for."""
    status = ("Driver: v1\n\nBonding Mode: x\nMII Status: up\nUp Delay (ms): 0\n\n"
              "Slave Interface: a\nMII Status: up\n")
    assert file_copy.missing(status, ["Bonding Mode", "MII Status", "Slave Interface",
                                      "MII Status"]) == []
    assert file_copy.missing(status, ["MII Status", "Bonding Mode"]) == ["Bonding Mode"]
    assert file_copy.missing(status, ["Speed"]) == ["Speed"]


def test_rate_of_a_file():
    """What was received before the first write is not counted."""
    bursts = [(second + part / 1000, second * 8 * 10**6 + part * 10**6)
              for second in range(5) for part in range(1, 9)]
    assert file_copy.rate_of(bursts) == pytest.approx(8)
    steady = [(tick / 100, tick * 10**5) for tick in range(1, 500)]
    assert file_copy.rate_of(steady) == pytest.approx(10)
    assert file_copy.rate_of([]) is None and file_copy.rate_of(steady[:3]) is None


def test_published_ratios():
    """What was published in other units: 268 x 2^20 bits of 300 x 10^6, and so on."""
    assert published.netpipe_ratio(3) == pytest.approx(0.9367, abs=1e-4)
    assert published.NETIO_RATIO == pytest.approx(0.8913, abs=1e-4)
    assert published.NFS_RATIO == 0.88


@pytest.mark.parametrize("value, bound, least, held",
                         [(2, 2, True, True), (1, 2, True, False), (2, 2, False, True),
                          (3, 2, False, False), (1, None, True, None)])
def test_held(value, bound, least, held):
    assert Figure("x", value, "", "c", bound=bound, least=least).held is held


def test_ratio_is_judged():
    figure = at_least_published("x", 240, "Mbit/s", "c", 300, "279 Mbit/s", 0.93)
    assert figure.ratio == 0.8 and figure.held is False
    assert figure.as_json()["held"] is False


with_gnuplot = pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")


def is_svg(text):
    return xml.dom.minidom.parseString(text).documentElement.tagName == "svg"


@with_gnuplot
def test_plots():
    """Names are as they are given, whatever gnuplot takes for its own."""
    odd = "it's \"a\" b_c^{d} \\n `x`"
    drawn = plot.bars("it's a_b", "share", ["one two", "x y"], {odd: [1, None], "b": [2, 0.5]},
                      (1.5, "bar"))
    assert is_svg(drawn) and "one two" in drawn and "b_c^{d}" in drawn
    assert is_svg(plot.lines("t", "x", "y", {odd: [(1, 2), (10, 20)]}, "xy", key="left top"))


@with_gnuplot
def test_plot_broken():
    with pytest.raises(parse.ToolError, match="^gnuplot: .") as caught:
        plot.gnuplot("nonsense\n")
    assert "\n" not in str(caught.value)


def sections():
    figures = [at_least_published("held", 290, "Mbit/s", "near# iperf3 -c <x>", 300, "280", 0.93),
               at_least_published("lost", 90, "Mbit/s", "near# iperf3 -c <x>", 300, "280", 0.93),
               Figure("only to read", 12345.678, "ns", "other")]
    return [Section(1, "One & two", ["a < b `c` d"], ["a# ip link"], figures, [("p.svg", "<svg/>")],
                    [Listing("status", "bad \x1b[31m name")]),
            Section(2, "Broken", error="NPtcp: exit 1: no route")]


def test_page():
    made = page.page(sections(), [("kernel", "Linux <6>")], ["about"])
    xml.dom.minidom.parseString(made.split("\n", 1)[1].replace('<meta charset="utf-8">', ""))
    assert "<p>a &lt; b <code>c</code> d</p>" in made
    assert "\x1b" not in made and "Linux &lt;6&gt;" in made and "<svg/>" in made
    assert re.search(r'lost: 0.300, target 0.930', made)
    assert made.count('class="missed"') == 3  # the figure, and both rows of the summary
    assert "Not measured to the end: NPtcp: exit 1: no route" in made
    assert made.count("[1.1]") == 1 and made.count('href="#c1.1"') == 2
    assert "http" not in made  # nothing from elsewhere


@pytest.mark.parametrize("value, shown", [(None, ""), (0, "0"), (3, "3"), (0.9367, "0.937"),
                                          (12.345, "12.35"), (123.45, "123.5"), (12345.6, "12346")])
def test_number(value, shown):
    assert page.number(value) == shown


def test_mac_listing():
    listing = streams.mac_listing({"before": {"l0": "a"}, "during": {"l0": "b", "bond0": "b"}})
    assert [line.split() for line in listing.text.splitlines()] == [
        ["before", "during"], ["l0", "a", "b"], ["bond0", "-", "b"]]


def test_machine():
    described = dict(machine.describe("bondctl 1"))
    assert described["xbond"] == "bondctl 1" and described["kernel"].startswith("Linux")


def test_keep():
    """Only a whole report is kept."""
    row = {"number": 1, "error": ""}
    whole = {"brief": False, "rows": [row] * keep.ROWS}
    assert keep.refuse(whole) == ""
    assert "QUICK" in keep.refuse({**whole, "brief": True})
    assert "5 of 6 rows" in keep.refuse({**whole, "rows": [row] * 5})
    assert "row 1" in keep.refuse({**whole, "rows": [{**row, "error": "x"}] * keep.ROWS})


def test_kept(tmp_path):
    """A report that is kept replaces the figures and the plot, not what was written by hand."""
    source, target = tmp_path / "report", tmp_path / "docs"
    source.mkdir()
    target.mkdir()
    (source / "report.json").write_text(page.as_json(
        sections()[:1] + [Section(number, "x") for number in range(2, keep.ROWS + 1)],
        [("kernel", "Linux 6")], False))
    (source / keep.PLOT).write_text("<svg/>")
    (target / "README.md").write_text(f"By hand.\n{keep.HEADING}\nOld figures.\n")
    keep.keep(source, target)
    made = (target / "README.md").read_text()
    assert made.startswith("By hand.\n\n## Figures\n\n1 of 2 targets were met.")
    assert "Old" not in made and "\n* kernel: Linux 6\n" in made
    assert "\n| 1 | lost | 90 Mbit/s | 0.300 | 280 (0.930) | ≥ 0.930 | **missed** |\n" in made
    assert "\n| 1 | only to read | 12346 ns |  |  |  |  |\n" in made
    assert sorted(each.name for each in target.iterdir()) == ["README.md", keep.PLOT]


def test_many_figures_of_one_bound_are_one_line():
    """With the lowest and the highest. Those without a bound, and a few, stand alone."""
    rows = [(f"{link}, {size} KB", f"CPU {load} %", "2", f"{value} KB/s", "0.9", "88 KB/s", "≥ 0.8",
             "met") for link, size, load, value in
            (("plain", 1, 10, 90), ("plain", 2, 9.5, 95), ("bond", 1, 12, 300))]
    alone = [("to read", "", "2", "5 KB/s", "", "", "", "")] * keep.MANY
    made = [keep.line(*row) for row in keep.lines(alone + rows * 2)]
    assert made[:-1] == ["| 2 | to read | 5 KB/s |  |  |  |  |\n"] * keep.MANY
    assert made[-1] == ("| 2 | 6 figures: plain, 1 KB ... bond, 1 KB (CPU 9.5 to 12 %) | "
                        "90 to 300 KB/s | 0.9 | 88 KB/s | ≥ 0.8 | 6 met |\n")
    assert len(list(keep.lines(rows))) == 3


def test_what_is_in_the_tree():
    """One table, whose count of targets is right, and the plot that README.md shows."""
    kept = ROOT / "docs/report"
    assert sorted(each.name for each in kept.iterdir()) == ["README.md", keep.PLOT]
    assert is_svg((kept / keep.PLOT).read_text())
    text = (kept / "README.md").read_text()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert f"]({keep.PLOT})" in text and text.count("|---") == len(rows[0]) == 7
    assert {len(row) for row in rows} == {7}
    verdicts = [row[-1].strip(" |").rpartition(" ") for row in rows[1:]]
    held = sum(int(count or 1) for count, _, verdict in verdicts if verdict == "met")
    missed = sum(int(count or 1) for count, _, verdict in verdicts if verdict == "**missed**")
    assert f"\n{held} of {held + missed} targets were met." in text


def started_with(mark):
    """Processes that have it in their environment, but for those that have ended."""
    found = []
    for environment in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark.encode() in environment.read_bytes():
                found.append(environment.with_name("comm").read_text().strip())
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_ends_the_report_ends_what_it_has_started(tmp_path, number):
    """Only the report gets the signal, twice; then no process and no namespace of it is left."""
    mark = str(tmp_path / "report")
    report = subprocess.Popen([sys.executable, "-m", "tests.report"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True,
                              cwd=ROOT,
                              env={**os.environ, "REPORT": mark, "ONLY": "1", "QUICK": "1"},
                              preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                               signal.default_int_handler))
    try:
        wait_for(lambda: started_with(mark).count("bondd") == 2, "both hosts", 60)
        report.send_signal(number)
        report.send_signal(number)
        assert report.wait(60) == 128 + number
    finally:
        report.kill()
        report.wait()
    assert not started_with(mark)
    assert f"xbt{report.pid}n" not in subprocess.run(["ip", "netns", "list"], capture_output=True,
                                                      text=True, check=True).stdout
