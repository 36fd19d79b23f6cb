# SPDX-License-Identifier: GPL-2.0-or-later
"""How tests wait: for a condition with a deadline; for nothing to change for a while; or, where the
pass of time itself is what is tested, so long and no longer. No test calls time.sleep() itself.
"""
import os
import time

# An emulated machine is slower, and so are programs with sanitizers. Where the machine's clock
# follows instructions, that leaps forward by seconds whenever all the guest does is wait for a file
# of this machine: there only the host can say what takes too long.
IS_SLOW = bool(os.environ.get("XBOND_VM") or os.environ.get("SAN"))
PATIENCE = 10000 if os.environ.get("XBOND_VM_STEADY") else 3 if IS_SLOW else 1


def wait_for(condition, what, deadline=10.0, interval=None):
    """Returns the first true value of condition(); fails after deadline seconds and says what it
    waited for, a text or a function that returns one. Without an interval it looks less often when
    it has waited for long: most conditions run a program, which takes other tests the CPU.
    """
    deadline *= PATIENCE
    began = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - began
        if waited > deadline:
            text = what() if callable(what) else what
            raise AssertionError(f"waited {deadline} s in vain for {text}; last: {value!r}")
        time.sleep(min(max(waited / 4, 0.03), 0.2) if interval is None else interval)


def moments(seconds, interval=0.1):
    """Yields 0, 1, ... every interval for so many seconds. For what must hold all the while, and
    for what a test does at a steady rate.
    """
    began, number = time.monotonic(), 0
    while time.monotonic() < began + seconds:
        yield number
        number += 1
        time.sleep(max(0, min(number * interval, seconds) + began - time.monotonic()))


def quiet_for(seconds, why):
    """Lets so much time pass. For what only time can bring about, such as the age of something that
    nobody shows; why says what that is.
    """
    assert why
    time.sleep(seconds)
