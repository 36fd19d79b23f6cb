# SPDX-License-Identifier: GPL-2.0-or-later
"""A group of this machine's users, for tests of what its members may do."""
import contextlib
import fcntl
import pathlib

from namespace import run


@contextlib.contextmanager
def user_group(name):
    """Several runs on one machine share it. The last one removes it, if tests have made it."""
    made = pathlib.Path(f"/run/lock/{name}-group-of-tests")
    with open(made.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if run("getent", "group", name, check=False).returncode:
            run("groupadd", "--system", name)
            made.touch()
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if made.exists():
            made.unlink()
            run("groupdel", name)
