# SPDX-License-Identifier: GPL-2.0-or-later
"""What udev and ifupdown call: whose a device is, and which calls of bondctl interfaces(5) becomes.
tests/vm/tools-beside runs the tools themselves.
"""
import os
import pathlib
import subprocess

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "packaging/tools"


@pytest.fixture
def config(tmp_path):
    directory = tmp_path / "etc"
    (directory / "bond0.conf.d").mkdir(parents=True)
    (directory / "bond0.conf").write_text("[bond]\nmode = 802.3ad\n[slave eth0]\n"
                                          "[slave 52:54:00:AB:00:01]\n#[slave eth8]\n")
    (directory / "bond0.conf.d/more.conf").write_text("[slave eth1]\nweight = 2\n")
    return directory


@pytest.mark.parametrize("name, mac, said", [
    ("eth0", "02:00:00:00:00:01", "slave"), ("eth1", "02:00:00:00:00:02", "slave"),
    ("enp1s0", "52:54:00:ab:00:01", "slave"), ("eth8", "02:00:00:00:00:03", ""),
    ("eth", "02:00:00:00:00:04", ""), ("bond0", "02:00:00:00:00:05", "bond"),
    ("xb-bond0", "02:00:00:00:00:06", "port")])
def test_whose_a_device_is(config, name, mac, said):
    done = subprocess.run([TOOLS / "xbond-device", name, mac], capture_output=True, text=True,
                          check=True, env={**os.environ, "XBOND_CONFIG_DIR": str(config),
                                           "XBOND_BPF_DIR": str(config / "none")})
    assert done.stdout == (f"XBOND={said}\n" if said else "")


def hook(tmp_path, bonds, **variables):
    """The calls that change something."""
    program, calls = tmp_path / "bondctl", tmp_path / "calls"
    program.write_text(f'#!/bin/sh\ncase $1 in list) printf "%s" "{bonds}" ;; -j) ;;\n'
                       f'*) echo "$@" >>{calls} ;; esac\n')
    program.chmod(0o755)
    calls.write_text("")
    subprocess.run([TOOLS / "ifupdown"], check=True, env={
        "PATH": os.environ["PATH"], "BONDCTL": str(program),
        "XBOND_CONFIG_DIR": str(tmp_path / "none"), **variables})
    return calls.read_text().splitlines()


def test_interfaces(tmp_path):
    bond = {"PHASE": "pre-up", "IFACE": "bond0", "IF_BOND_DRIVER": "xbond",
            "IF_BOND_SLAVES": "lo none7"}
    assert hook(tmp_path, "", **bond, IF_BOND_MODE="4", IF_BOND_LACP_RATE="1") in (
        ["create bond0 mode 4 lacp_rate fast", "add-slave bond0 lo"],
        ["create bond0 lacp_rate fast mode 4", "add-slave bond0 lo"])
    assert hook(tmp_path, "", **bond, IF_BOND_PRIMARY="lo eth1") == [
        "create bond0 primary lo", "add-slave bond0 lo"]
    assert hook(tmp_path, "", **bond) == ["create bond0", "add-slave bond0 lo"]
    assert hook(tmp_path, "bond0", **bond) == ["add-slave bond0 lo"]
    assert hook(tmp_path, "bond0", PHASE="pre-up", IFACE="lo", IF_BOND_MASTER="bond0") == [
        "add-slave bond0 lo"]
    assert hook(tmp_path, "bond0", PHASE="pre-up", IFACE="lo", IF_BOND_MASTER="bond1") == []
    assert hook(tmp_path, "bond0", **{**bond, "PHASE": "post-down"}) == ["delete bond0"]
    assert hook(tmp_path, "", **{**bond, "PHASE": "post-down"}) == []
    assert hook(tmp_path, "bond0", **{**bond, "IF_BOND_DRIVER": "bonding"}) == []
