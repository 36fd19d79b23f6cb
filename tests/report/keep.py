# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m tests.report.keep FROM TO: makes a finished report the one that is in the tree. A
report of some rows only, or with one that could not be measured, is refused; so is a brief one.
"""
import json
import pathlib
import shutil
import sys

ROWS = 6


def refuse(report):
    """Why a report (report.json) is not for keeping, or ""."""
    broken = [row["number"] for row in report["rows"] if row["error"]]
    if len(report["rows"]) != ROWS:
        return f"it has {len(report['rows'])} of {ROWS} rows"
    if broken:
        return f"row {broken[0]} was not measured to its end"
    return "it was made with QUICK=1" if report["brief"] else ""


def main():
    source, target = (pathlib.Path(word) for word in sys.argv[1:])
    why = refuse(json.loads((source / "report.json").read_text()))
    if why:
        sys.exit(f"report: {source} is not kept: {why}")
    target.mkdir(exist_ok=True)
    for old in [*target.glob("*.svg"), *target.glob("*.html"), *target.glob("*.json")]:
        old.unlink()
    # Its plots are in the page; this one is also in README.md.
    for name in ("index.html", "report.json", "modes.svg"):
        shutil.copy(source / name, target / name)
    print(f"report: kept as {target}")


if __name__ == "__main__":
    main()
