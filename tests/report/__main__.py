# SPDX-License-Identifier: GPL-2.0-or-later
"""`make report`: the field's tools through xbond, beside what others have published. Writes
report/index.html, report/report.json and the plots. A target that was missed is shown as missed; a
row that could not be measured says why, and makes the exit status 1. ONLY=1,3 measures some rows,
QUICK=1 briefly.
"""
import dataclasses
import importlib
import os
import pathlib
import subprocess
import sys
import time

from ..bench.bed import BUILD, ROOT, run
from . import family, machine, page
from .figures import Section
from .parse import ToolError

ROWS = {1: "streams", 2: "messages", 3: "netpipe", 4: "mode_table", 5: "file_copy", 6: "ours"}
ABOUT = (
    "Published measurements of channel bonding, repeated through xbond by well-known tools. The "
    "links are pairs of virtual devices that are limited to a rate, so figures are compared as "
    "ratios to the links' rate (\"of the links\"). The target is the published ratio, or one that "
    "xbond has set itself. Below each table stand the commands that produced its figures, as typed "
    "on the host near or far.",
    "`sudo make report` makes this page.")


@dataclasses.dataclass
class Scale:
    """How long to measure."""
    rounds: int = 3
    seconds: int = 3  # of a stream, after one that does not count
    message_seconds: float = 2
    teardowns: int = 200
    message: int = 2 << 20  # the longest of NetPIPE
    port_sets: int = 12
    megabytes: int = 1500  # of a file, over 2 Gbit/s
    brief: bool = False


QUICK = Scale(rounds=1, seconds=2, message_seconds=1, teardowns=20, message=1 << 18, port_sets=4,
              megabytes=400, brief=True)


def chosen():
    words = [word for word in os.environ.get("ONLY", "").split(",") if word]
    rows = [int(word) if word.isdigit() else 0 for word in words] or list(ROWS)
    for row, word in zip(rows, words):
        if row not in ROWS:
            sys.exit(f"report: no row {word}; there are {', '.join(map(str, ROWS))}")
    return rows


class Clock:
    """Says what has been done, with the time since the beginning."""

    def __init__(self):
        self.began = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.began

    def say(self, what):
        print(f"[{self.seconds():4.0f} s] {what}", flush=True)


def measure(number, scale, clock):
    module = importlib.import_module(f".{ROWS[number]}", __package__)
    section = Section(number, module.TITLE, list(module.ABOUT))
    began = clock.seconds()
    clock.say(f"row {number}: {section.title}")
    try:
        module.fill(section, scale, lambda what: clock.say(f"  {what}"))
    except ToolError as error:
        section.error = str(error)
    except (AssertionError, LookupError, OSError, ValueError,
            subprocess.SubprocessError) as error:
        section.error = str(error).split("\n", 1)[0] or type(error).__name__
    section.seconds = clock.seconds() - began
    for figure in section.missed():
        clock.say(f"  missed: {figure.what}: {page.number(figure.judged)}, "
                  f"target {page.number(figure.bound)}")
    if section.error:
        clock.say(f"  not measured to the end: {section.error}")
    return section


def write(directory, sections, described, brief):
    directory.mkdir(exist_ok=True)
    for section in sections:
        for name, svg in section.plots:
            (directory / name).write_text(svg)
    (directory / "index.html").write_text(page.page(sections, described, ABOUT))
    (directory / "report.json").write_text(page.as_json(sections, described, brief)
                                            + "\n")


def main():
    if os.geteuid():
        sys.exit("report: needs root")
    scale = QUICK if os.environ.get("QUICK") else Scale()
    clock, rows = Clock(), chosen()
    described = machine.describe(run(BUILD / "bondctl", "--version").stdout.strip())
    with family.ends_with_us():
        sections = [measure(number, scale, clock) for number in rows]
    described.append(("took", f"{clock.seconds() / 60:.1f} minutes"))
    directory = pathlib.Path(os.environ.get("REPORT", ROOT / "report"))
    write(directory, sections, described, scale.brief)
    missed = sum(len(section.missed()) for section in sections)
    clock.say(f"{directory}/index.html: {sum(len(each.figures) for each in sections)} figures, "
              f"{missed} targets missed")
    sys.exit(any(section.error for section in sections))


main()
