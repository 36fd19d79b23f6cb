# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest. Each test's outcome goes to the file XBOND_VM_OUTCOMES as soon as it is
known, one JSON object per line, so that a guest that is ended at its time limit leaves what it
found.
"""
import json
import os


def reason_of(report):
    """Why it was skipped, in one line."""
    found = report.longrepr
    return found[2].removeprefix("Skipped: ") if isinstance(found, tuple) else ""


def pytest_runtest_logreport(report):
    if report.when != "call" and report.outcome == "passed":
        return
    outcome = {"test": report.nodeid, "outcome": report.outcome,
               "seconds": round(report.duration, 1)}
    if report.skipped:
        outcome["reason"] = reason_of(report)
    if report.failed:
        outcome["text"] = "\n".join([report.longreprtext, *(f"--- {title}\n{text}"
                                                            for title, text in report.sections)])
    with open(os.environ["XBOND_VM_OUTCOMES"], "a", encoding="utf-8") as file:
        file.write(json.dumps(outcome) + "\n")
