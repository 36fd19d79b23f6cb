# SPDX-License-Identifier: GPL-2.0-or-later
"""What udev and ifupdown call: whose a device is, and which calls of bondctl interfaces(5) becomes.
tests/vm/tools-beside runs the tools themselves.
"""
import json
import os
import pathlib
import re
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
    assert said_of(config, name, mac) == said


def said_of(config, name, mac="02:00:00:00:00:09"):
    done = subprocess.run([TOOLS / "xbond-device", name, mac], capture_output=True, text=True,
                          check=True, env={**os.environ, "XBOND_CONFIG_DIR": str(config),
                                           "XBOND_BPF_DIR": str(config / "pins"),
                                           "XBOND_RUN_DIR": str(config / "run")})
    assert not done.stderr
    return done.stdout.strip().removeprefix("XBOND=")


def test_names_of_a_handover(config):
    """Others do not configure what has such a name; the bond is theirs all the time."""
    names = ("n0-bond7", "o0-bond7", "n1-bond7.5")
    assert [said_of(config, name) for name in names] == ["", "", ""]
    journal = {"devices": [{"new_name": "n0-bond7", "old_name": "o0-bond7", "name": "bond7"},
                           {"new_name": "n1-bond7.5", "name": "bond7.5"}]}
    (config / "run/handover").mkdir(parents=True)
    (config / "run/handover/bond7.json").write_text(json.dumps(journal, indent=1))
    (config / "pins/n0-bond7").mkdir(parents=True)
    assert [said_of(config, name) for name in names] == ["handover"] * 3
    assert said_of(config, "n0-bond") == said_of(config, "n0-bondx7") == ""
    assert said_of(config, "bond7") == "bond" and said_of(config, "bond7.5") == ""


def test_devices_of_pods(config):
    """Links that the CNI plugin has fetched from a pod, and a bond that it is to have."""
    names = ("xb0123456789", "xb0123456789-0", "xb0123456789-63")
    assert [said_of(config, name) for name in names] == ["", "", ""]
    (config / "run/cni").mkdir(parents=True)
    (config / "run/cni/xb0123456789.json").write_text("{}")
    (config / "pins/xb0123456789").mkdir(parents=True)
    assert [said_of(config, name) for name in names] == ["pod"] * 3
    assert said_of(config, "xb01234567890") == "" and said_of(config, "xb-xb0123456789") == "port"


def test_what_is_left_alone():
    """networkd wants all properties of a line to match, so there may be one only."""
    program = (TOOLS / "xbond-device").read_text()
    kinds = set(re.findall(r"XBOND=([a-z]+)$", program, re.M)) - {"bond"}
    rules = [line for line in (TOOLS / "90-xbond.rules").read_text().splitlines()
             if kinds == set((re.findall(r'ENV{XBOND}=="(.*?)"', line) or [""])[0].split("|"))]
    wanted = re.findall(r"^Property=(\S+)=(\S+)$", (TOOLS / "05-xbond.network").read_text(), re.M)
    assert kinds == {"slave", "port", "handover", "pod"} and len(wanted) == 1
    for name, value in (("NM_UNMANAGED", "1"), wanted[0]):
        assert any(f'ENV{{{name}}}="{value}"' in line for line in rules), (name, rules)


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
