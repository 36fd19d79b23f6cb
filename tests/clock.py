# SPDX-License-Identifier: GPL-2.0-or-later
"""Time for programs under test: a clock that the test moves, and waits that end sooner. Both are
libfaketime's, which the command preloads. For programs that wait by their own timers only: the
kernel's clock stays as it is, and so does that of BPF programs.
"""
import os

from built import SANITIZERS

PRELOAD = "LD_PRELOAD=/usr/$LIB/faketime/libfaketime.so.1"  # ld.so knows what $LIB is
HURRY = 20


def _command(words, *environment):
    """Sanitizers of addresses insist on being the first library."""
    if "address" in SANITIZERS:
        options = os.environ.get("ASAN_OPTIONS", "")
        environment += (f"ASAN_OPTIONS={options}:verify_asan_link_order=0",)
    return ["env", PRELOAD, *environment, *words]


def hurried(*words):
    """The command, in a world that is HURRY times as fast: it waits shorter, and sees the usual
    times pass. Its clocks are not those of others.
    """
    return _command(words, f"FAKETIME=+0 x{HURRY}")


def impatient(*words):
    """The command, whose waits are HURRY times shorter. Its clocks are those of everybody, so it
    can judge the age of what others have stamped.
    """
    return _command(words, f"FAKETIME=+0 x{HURRY}", "FAKETIME_DONT_FAKE_MONOTONIC=1")


def patient(*words):
    """The command, whose waits are ten times longer, so that a test can do something meanwhile."""
    return _command(words, "FAKETIME=+0 x0.1", "FAKETIME_DONT_FAKE_MONOTONIC=1")


class Clock:
    """Leaps ahead when the test says so. What a program began to wait for before is not ended by
    that: wake the program, or let its time pass HURRY times as fast.
    """

    def __init__(self, directory, pace=1):
        self.file = directory / "clock"
        self.pace = pace
        self.ahead = 0
        self.move(0)

    def move(self, seconds):
        """By another file in its place, because programs read it all the time."""
        self.ahead += seconds
        new = self.file.with_suffix(".new")
        new.write_text(f"+{self.ahead} x{self.pace}\n")
        new.rename(self.file)

    def command(self, *words):
        return _command(words, f"FAKETIME_TIMESTAMP_FILE={self.file}", "FAKETIME_NO_CACHE=1")
