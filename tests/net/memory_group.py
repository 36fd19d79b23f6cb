# SPDX-License-Identifier: GPL-2.0-or-later
"""A memory cgroup, of version 1 or 2."""
import contextlib
import pathlib
import re
import signal

import pytest

from waiting import wait_for

# Its limit, what it has, how often something was killed; no limit; nothing is swapped out.
FILES = {"cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control", "-1",
                    ("memory.swappiness", "0")),
         "cgroup2": ("memory.max", "memory.current", "memory.events", "max",
                     ("memory.swap.max", "0"))}


def hierarchies():
    """(kind, directory) of those that are mounted and can limit memory."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, where, kind, options = line.split()[:4]
        controllers = pathlib.Path(where, "cgroup.subtree_control")
        if (kind == "cgroup" and "memory" in options.split(",")) or (
                kind == "cgroup2" and "memory" in controllers.read_text().split()):
            yield kind, pathlib.Path(where)


class MemoryGroup:
    """What runs in it is killed by the kernel when it takes more memory than it may."""

    environment = {}
    ends = (-signal.SIGKILL,)

    def __init__(self, name):
        kind, where = next(hierarchies(), ("cgroup", pathlib.Path("/none")))
        self.dir = where / name
        *files, self.unlimited, swap = FILES[kind]
        self.limit, self.usage, self.events = (self.dir / each for each in files)
        self.killed = 0
        try:
            self.dir.mkdir()
        except FileExistsError:
            raise
        except OSError as err:
            pytest.skip(f"no memory cgroup: {err}")
        (self.dir / swap[0]).write_text(swap[1])
        self.wrapper = ["sh", "-c", f'echo $$ >{self.dir}/cgroup.procs && exec "$@"', "sh"]

    def count(self):
        return int(re.search(r"oom_kill (\d+)", self.events.read_text())[1])

    @contextlib.contextmanager
    def armed(self, more):
        """In the block there are so many bytes more than are used now."""
        self.limit.write_text(str(int(self.usage.read_text()) + more))
        before = self.count()
        yield
        self.killed = self.count() - before
        self.limit.write_text(self.unlimited)

    @property
    def failed(self):
        return self.killed and "killed for memory"

    def close(self):
        wait_for(lambda: not (self.dir / "cgroup.procs").read_text(), "the cgroup to be empty")
        self.dir.rmdir()
