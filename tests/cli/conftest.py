# SPDX-License-Identifier: GPL-2.0-or-later
"""A BPF file system that nobody else sees and that goes with the process."""

import ctypes
import os
import subprocess

import pytest

CLONE_NEWNS, MNT_DETACH = 0x20000, 2
libc = ctypes.CDLL(None, use_errno=True)


def must(done, what):
    if done:
        raise OSError(ctypes.get_errno(), what)


@pytest.fixture(scope="session")
def own_mounts():
    if os.geteuid():
        pytest.exit("tests/cli needs root", returncode=1)
    must(libc.unshare(CLONE_NEWNS), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


@pytest.fixture
def bpf_dir(own_mounts, tmp_path):
    """By the system calls, because nearly every test has one."""
    directory = tmp_path / "bpf"
    directory.mkdir()
    must(libc.mount(b"bpf", bytes(directory), b"bpf", ctypes.c_ulong(0), None), "mount")
    yield directory
    must(libc.umount2(bytes(directory), MNT_DETACH), "umount")
