# SPDX-License-Identifier: GPL-2.0-or-later
"""What was compiled for one version meets a bond of another: libxbond-xsk reads maps that have
grown at their end, and refuses what it does not understand; so does `policy load`.
"""
import ctypes
import mmap
import os
import struct
import subprocess

import pytest

from built import BUILD, ROOT
import pins
from pins import X

READS = ("settings", "table", "buckets", "alb", "cursor", "flowlets", "moves", "vlans", "afxdp")
FRAMES = [bytes(range(6)) + bytes(5) + bytes([last]) + b"\x88\xb5" + bytes(46)
          for last in range(64)]


@pytest.fixture(name="bond")
def _bond(bpf_dir):
    made = pins.four_slaves(bpf_dir, 1)
    for pin in ("cursor", "flowlets", "moves", "vlans"):
        made.mapped(pin, pins.abi.btf().struct(f"xbond_{pin}"))
    made.settings.xmit_hash_policy = X.POLICY_LAYER2
    made.table.flags |= X.F_CARRIER
    made.table.select_abi = X.SELECT_ABI
    pins.fill(made.table.ifindex, range(100, 104))
    return made


def replace(bond, pin, more):
    """By a map whose value has so many bytes more, with what the old one has."""
    path = bond.directory / pin
    size = ctypes.sizeof(pins.abi.btf().struct(f"xbond_{pin}"))
    old = mmap.mmap(pins.libbpf.bpf_obj_get(str(path).encode()), size)
    path.unlink()
    new = mmap.mmap(bond.create(pin, pins.ARRAY, size + more, 1, pins.MMAPABLE), size + more)
    new[:min(size, size + more)] = old[:min(size, size + more)]


def choose(bond):
    return subprocess.run(
        [BUILD / "tools/choose", bond.directory], capture_output=True, check=False, timeout=60,
        input=b"".join(struct.pack("=I", len(frame)) + frame for frame in FRAMES))


def chosen(bond):
    done = choose(bond)
    assert done.returncode == 0, done.stderr.decode()
    slaves = [int(line) for line in done.stdout.split()]
    assert len(slaves) == len(FRAMES) and set(slaves) == set(range(100, 104))
    return slaves


@pytest.mark.parametrize("pin", ["bond", *READS])
def test_a_bond_of_a_later_bondd(bond, pin):
    before = chosen(bond)
    bond.bond.abi_version += 1
    replace(bond, pin, 16)
    assert chosen(bond) == before


@pytest.mark.parametrize("pin", READS)
def test_a_map_that_is_too_small(bond, pin):
    replace(bond, pin, -8)
    assert f"cannot map {pin} of {bond.directory}: it is of another version of xbond" in \
        choose(bond).stderr.decode()


def test_another_version_of_the_selection(bond):
    bond.table.select_abi += 1
    assert f"{bond.directory} has version {X.SELECT_ABI + 1}: compile it with the headers, or " \
        "link it with the libxbond-xsk, of the xbond that runs" in choose(bond).stderr.decode()


def test_a_policy_of_another_version(bond, tmp_path):
    """Its version alone is raised."""
    text = "#include <bpf/abi_policy.h>\n#undef XBOND_POLICY_VERSION\n" \
        f"#define XBOND_POLICY_VERSION {X.POLICY_VERSION + 1}\n#include <xbond/policy.bpf.h>\n" \
        'XBOND_POLICY(p) { return XBOND_DEFAULT; }\nchar _license[] SEC("license") = "GPL";\n'
    subprocess.run(
        ["clang", "-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3",
         f"-I/usr/include/{os.uname().machine}-linux-gnu", f"-I{ROOT}/include", f"-I{ROOT}",
         "-x", "c", "-c", "-", "-o", tmp_path / "policy.o"], input=text, text=True, check=True,
        timeout=60)
    done = subprocess.run(
        [BUILD / "bondctl", "--bpf-dir", bond.directory.parent, "policy", "load", "bond0",
         tmp_path / "policy.o"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1 and f"it is not a policy of version {X.POLICY_VERSION}; compile " \
        "it with the xbond/policy.bpf.h of this xbond" in done.stderr, done.stderr
