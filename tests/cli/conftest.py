# SPDX-License-Identifier: GPL-2.0-or-later
"""A BPF file system that nobody else sees and that goes with the process."""

import ctypes
import os
import subprocess

import pytest

CLONE_NEWNS = 0x20000
libc = ctypes.CDLL(None, use_errno=True)


@pytest.fixture(scope="session")
def own_mounts():
    if os.geteuid():
        pytest.exit("tests/cli needs root", returncode=1)
    if libc.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


@pytest.fixture
def bpf_dir(own_mounts, tmp_path):
    directory = tmp_path / "bpf"
    directory.mkdir()
    subprocess.run(["mount", "-t", "bpf", "bpf", str(directory)], check=True)
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)
