# SPDX-License-Identifier: GPL-2.0-or-later
"""What the report has started ends with it, also when Ctrl-C or a signal ends it. Knows neither
hosts nor rows.
"""
import contextlib
import ctypes
import os
import pathlib
import signal

from ..waiting import moments

PR_SET_CHILD_SUBREAPER = 36
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE_S = 5


def parents():
    """{process: its parent}"""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    return found


def descendants():
    """Those that have left their session or lost their parent, too: we are their parent then."""
    made_by, found = parents(), {os.getpid()}
    while more := {child for child, parent in made_by.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_all():
    for _ in moments(PATIENCE_S, 0.01):
        left = descendants()
        for child in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        reap()
        if not left:
            break


def leave(number, _):
    """What is open is closed on the way out. An impatient second Ctrl-C must not stop that."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)


@contextlib.contextmanager
def ends_with_us():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for each in ENDING:
        signal.signal(each, leave)
    try:
        yield
    finally:
        end_all()
