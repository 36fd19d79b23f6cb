# SPDX-License-Identifier: GPL-2.0-or-later
"""What reads events: `bondctl -j monitor` as a process whose lines a test waits for. Every line is
held against the schema.
"""
import json
import signal
import subprocess
import threading

import schema
from namespace import end
from waiting import PATIENCE, wait_for


class Monitor:
    """Follows the events of a host until it is closed."""

    def __init__(self, host, *words, ready=True, before=()):
        self.host, self.events, self.errors = host, [], []
        self.child = host.spawn(*before, *host.ctl_command("-j", "monitor", *words),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if ready:
            self.wait_follows()

    def _read(self):
        for line in self.child.stdout:
            self.events.append(json.loads(line))

    def wait_follows(self):
        """Until bondd has it as a subscriber: it gets an event that is asked for."""
        def follows():
            self.host.ctl("set", "bond0", "miimon", 100)
            return self.having(kind="config")
        wait_for(follows, "bondd to have a subscriber", interval=0.1)

    def having(self, **fields):
        """The events that have these fields."""
        return [event for event in list(self.events)
                if all(event.get(name) == value for name, value in fields.items())]

    def wait(self, deadline=10, **fields):
        """The first event that has these fields."""
        return wait_for(lambda: self.having(**fields), f"an event with {fields}", deadline)[0]

    def stop(self, number=signal.SIGTERM):
        """Its exit status, when all that it has printed has been read and is as the schema says."""
        self.child.send_signal(number)
        return self.wait_end()

    def wait_end(self):
        status = self.child.wait(timeout=10 * PATIENCE)
        self.reader.join(timeout=10 * PATIENCE)
        for event in self.events:
            schema.check("monitor", event)
        return status

    def close(self):
        end(self.child)


def numbers(events):
    """{run of bondd: the numbers of its events, in the order in which they came}."""
    found = {}
    for event in events:
        if event["bondd"]:
            found.setdefault(event["bondd"], []).append(event["seq"])
    return found


def assert_no_gap(events):
    """Each run's events are there once each and in order."""
    for run, seen in numbers(events).items():
        assert seen == list(range(seen[0], seen[0] + len(seen))), run
