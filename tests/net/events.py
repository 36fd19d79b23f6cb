# SPDX-License-Identifier: GPL-2.0-or-later
"""What reads events: `bondctl -j monitor` as a process whose lines a test waits for."""
import json
import signal
import subprocess
import threading

from namespace import end
from waiting import PATIENCE, wait_for


class Monitor:
    """Follows the events of a host until it is closed."""

    def __init__(self, host, *words, ready=True, **kwargs):
        self.host, self.events, self.errors = host, [], []
        self.child = host.spawn(*host.ctl_command("-j", "monitor", *words),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **kwargs)
        for stream, lines in ((self.child.stdout, self.events), (self.child.stderr, self.errors)):
            threading.Thread(target=self._read, args=(stream, lines), daemon=True).start()
        if ready:
            self.wait_follows()

    def _read(self, stream, lines):
        for line in stream:
            lines.append(json.loads(line) if lines is self.events else line)

    def wait_follows(self):
        """Until bondd has it as a follower: it gets an event that is asked for."""
        def follows():
            self.host.ctl("set", "bond0", "updelay", 0)
            return any(is_like(event, kind="config") for event in self.events)
        wait_for(follows, "bondd to have a follower", interval=0.1)

    def wait(self, deadline=8, **fields):
        """The first event that has these fields."""
        def found():
            return next((event for event in self.events if is_like(event, **fields)), None)
        return wait_for(found, f"an event with {fields}", deadline)

    def forget(self):
        self.events.clear()

    def stop(self, number=signal.SIGTERM):
        """Its exit status."""
        self.child.send_signal(number)
        return self.child.wait(timeout=10 * PATIENCE)

    def close(self):
        end(self.child)


def is_like(event, **fields):
    return all(event.get(name) == value for name, value in fields.items())
