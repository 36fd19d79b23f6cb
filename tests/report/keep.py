# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m tests.report.keep FROM TO: writes the figures of a finished report into TO/README.md,
below its heading "Figures", as a table in Markdown, and keeps the plot that README.md shows. A
report of some rows only, or with one that could not be measured, is refused; so is a brief one.
"""
import json
import pathlib
import re
import shutil
import sys

from .page import number

ROWS = 6
PLOT = "modes.svg"
HEADING = "\n## Figures\n"
MANY = 6
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
TOP = ("| row | figure | here | of the links | published (of the links) | target | |\n"
       "|---|---|---|---|---|---|---|\n")


def refuse(report):
    """Why a report (report.json) is not for keeping, or ""."""
    broken = [row["number"] for row in report["rows"] if row["error"]]
    if len(report["rows"]) != ROWS:
        return f"it has {len(report['rows'])} of {ROWS} rows"
    if broken:
        return f"row {broken[0]} was not measured to its end"
    return "it was made with QUICK=1" if report["brief"] else ""


def theirs(figure):
    ratio = figure["published_ratio"]
    return figure["published"] + ("" if ratio is None else f" ({number(ratio)})")


def target(figure):
    """What must be reached, and whether it was."""
    if figure["held"] is None:
        return "", ""
    return (f"{'≥' if figure['least'] else '≤'} {number(figure['bound'])}",
            "met" if figure["held"] else "**missed**")


def cells(row, figure):
    """What a line of the table says; its first two cells are one there."""
    return (figure["what"], figure["note"], str(row["number"]),
            f"{number(figure['value'])} {figure['unit']}".strip(), number(figure["ratio"]),
            theirs(figure), *target(figure))


def span(texts):
    """Texts that differ in numbers only as one, with the lowest and the highest; others are named
    by the first and the last.
    """
    if len({NUMBER.sub("", text) for text in texts}) > 1:
        return f"{texts[0]} ... {texts[-1]}"
    ranges = [sorted(set(column), key=float)
              for column in zip(*(NUMBER.findall(text) for text in texts))]
    words = iter(each[0] if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in ranges)
    return NUMBER.sub(lambda _: next(words), texts[0])


def lines(rows):
    """Many figures of one row that are held to one bound become one line."""
    groups = {}
    for place, row in enumerate(rows):
        unit = NUMBER.sub("", row[3])
        groups.setdefault((row[2], unit, *row[5:]) if row[-1] else place, []).append(row)
    for group in groups.values():
        if len(group) >= MANY:
            what, note, *others = (span(column) for column in zip(*group))
            yield (f"{len(group)} figures: {what}", note, *others[:-1],
                   f"{len(group)} {others[-1]}")
        else:
            yield from group


def line(what, note, row, *others):
    texts = (row, f"{what} ({note})" if note else what, *others)
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |\n"


def markdown(report):
    """What stands below the heading: the rows, the machine, and one table of all figures."""
    figures = [(row, figure) for row in report["rows"] for figure in row["figures"]]
    held = [figure["held"] for _, figure in figures if figure["held"] is not None]
    rows = "".join(f"{row['number']}. {row['title']}\n" for row in report["rows"])
    machine = "".join(f"* {what}: {value}\n" for what, value in report["machine"].items())
    table = TOP + "".join(line(*row) for row in lines([cells(*each) for each in figures]))
    return f"\n{sum(held)} of {len(held)} targets were met. The rows:\n\n{rows}\n" \
           f"The machine:\n\n{machine}\n{table}"


def keep(source, target):
    report = json.loads((source / "report.json").read_text())
    why = refuse(report)
    if why:
        sys.exit(f"report: {source} is not kept: {why}")
    readme = target / "README.md"
    by_hand, heading, _ = readme.read_text().partition(HEADING)
    if not heading:
        sys.exit(f"report: {source} is not kept: {readme} lacks the heading {HEADING.strip()!r}")
    readme.write_text(by_hand + heading + markdown(report))
    shutil.copy(source / PLOT, target / PLOT)
    print(f"report: kept in {target}")


if __name__ == "__main__":
    keep(*(pathlib.Path(word) for word in sys.argv[1:]))
