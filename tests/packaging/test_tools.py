# SPDX-License-Identifier: GPL-2.0-or-later
"""What udev and ifupdown call: whose a device is, and which calls of bondctl interfaces(5) becomes.
tests/vm/tools-beside runs the tools themselves. And how the demonstration counts.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import types

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "packaging/tools"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


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
                                           "XBOND_RUN_DIR": str(config / "run")}, timeout=20)
    assert not done.stderr
    return done.stdout.strip().removeprefix("XBOND=")


def test_a_slave_by_mac_that_has_the_address_of_its_bond(config, tmp_path, monkeypatch):
    """udev asks again, for instance after 'udevadm trigger'."""
    script(tmp_path / "ip", 'echo "7: $5: <UP> mtu 1500 link/ether 02:00:00:00:00:09 brd '
           'ff:ff:ff:ff:ff:ff permaddr 52:54:00:ab:00:0${5#enp} promiscuity 0"')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (config / "bond1.conf").write_text("[bond]\n[slave 52:54:00:AB:00:02]\n")
    assert [said_of(config, f"enp{i}") for i in (1, 2, 3)] == ["slave", "slave", ""]


def test_a_slave_by_an_alternative_name(config, tmp_path, monkeypatch):
    """udev gives a device these names after it has asked whose the device is."""
    script(tmp_path / "ip", r'printf "%s\n" "7: $5: <UP> mtu 1500\    link/ether 02:00:00:00:00:09 '
           r'brd ff:ff:ff:ff:ff:ff\    altname alt-$5\    altname other-$5"')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (config / "bond1.conf").write_text("[bond]\n[slave alt-b]\n[slave other-c]\n[slave enp7s0]\n")
    assert [said_of(config, name) for name in "abcd"] == ["", "slave", "slave", ""]
    monkeypatch.setenv("ID_NET_NAME_PATH", "enp7s0")
    assert said_of(config, "d") == "slave"


def test_what_is_no_file_holds_nobody_up(config):
    os.mkfifo(config / "pipe.conf")
    (config / "unfinished.conf").write_text("[bond]\n[slave eth6]")
    assert [said_of(config, name) for name in ("eth1", "eth6", "eth7")] == ["slave", "slave", ""]


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
    for name, value in (("NM_UNMANAGED", "1"), ("ID_MM_PORT_IGNORE", "1"), wanted[0]):
        assert any(f'ENV{{{name}}}="{value}"' in line for line in rules), (name, rules)


def hook(tmp_path, bonds, refuses="-", status=1, **variables):
    """The calls that change something. refuses: a pattern of those that fail with this status."""
    calls, there = tmp_path / "calls", tmp_path / "bonds"
    script(tmp_path / "bondctl", f'case "$*" in list) cat {there} ;; -j*) ;;\n'
           f'*) echo "$@" >>{calls}; case "$*" in {refuses}) exit {status} ;; esac ;; esac')
    script(tmp_path / "ifquery", f'[ "$PHASE" = pre-up ] || echo ifquery >>{calls}\n'
           'case "$*" in bond0) echo "bond-driver: xbond" ;;\n'
           '--list) echo bond0 none7 ;; *hotplug) echo lo ;;\n'
           'lo|none7) echo "bond-master: bond0" ;; esac')
    script(tmp_path / "ifup", f'echo ifup "$1" >>{calls}; echo "$1" >{there}')
    calls.write_text("")
    there.write_text(bonds)
    subprocess.run([TOOLS / "ifupdown"], check=True, env={
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "BONDCTL": str(tmp_path / "bondctl"),
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


BOND0 = {"PHASE": "pre-up", "IFACE": "bond0", "IF_BOND_DRIVER": "xbond"}
ETH = {"PHASE": "pre-up", "IFACE": "lo", "IF_BOND_MASTER": "bond0"}


def test_lines_of_ifenslave(tmp_path):
    """What it takes, and what ifupdown makes of lines that are given twice."""
    assert hook(tmp_path, "bond0", **BOND0, IF_SLAVES="lo", IF_BOND_QUEUE_ID="lo:1 eth1:2") == [
        "add-slave bond0 lo", "set-slave bond0 lo queue_id 1", "set-slave bond0 eth1 queue_id 2"]
    assert hook(tmp_path, "", **BOND0, IF_BOND_SLAVES="none\nlo", IF_BOND_MIIMON="0",
                IF_BOND_ARP_IP_TARGET="192.0.2.1\n+192.0.2.2") == [
        "create bond0 arp_ip_target 192.0.2.1,192.0.2.2", "add-slave bond0 lo"]


@pytest.mark.parametrize("status", [1, 2])
def test_what_is_refused_costs_nothing_else(tmp_path, status):
    """A machine that boots has its bond, without the option or the slave that is wrong."""
    calls = hook(tmp_path, "", "create*colour*|set*colour*|add-slave*", status, **BOND0,
                 IF_BOND_MODE="1", IF_BOND_COLOUR="red", IF_BOND_UPDELAY="5",
                 IF_BOND_SLAVES="lo lo")
    assert sorted(calls[1:]) == sorted([
        "create bond0 mode 1", "set bond0 colour red", "set bond0 updelay 5", "add-slave bond0 lo",
        "add-slave bond0 lo"]) and calls[1] == "create bond0 mode 1"
    assert hook(tmp_path, "", "create*mode*", status, **BOND0, IF_BOND_MODE="lacp") == [
        "create bond0 mode lacp", "create bond0 mode lacp", "create bond0", "add-slave bond0 lo"]


def test_slave_before_its_bond(tmp_path):
    assert hook(tmp_path, "", **ETH) == ["ifup bond0", "add-slave bond0 lo"]
    assert hook(tmp_path, "", **ETH, IFUPDOWN_bond0="pre-up") == []
    assert hook(tmp_path, "", **{**ETH, "IF_BOND_MASTER": "bond1"}) == []


def test_slaves_that_name_their_bond(tmp_path):
    """As cloud-init writes it."""
    assert hook(tmp_path, "", **BOND0, IF_BOND_SLAVES="none", IF_BOND_MODE="1") == [
        "create bond0 mode 1", "add-slave bond0 lo"]
    assert hook(tmp_path, "", **{**BOND0, "IFACE": "bond1"}, IF_BOND_SLAVES="none") == [
        "create bond1"]
    eth = {**ETH, "IF_BOND_DRIVER": "xbond", "IF_BOND_MODE": "1"}
    assert hook(tmp_path, "bond0", **eth) == ["add-slave bond0 lo"]
    assert hook(tmp_path, "bond0", **{**eth, "PHASE": "post-down"}) == []


def test_as_an_executor_of_ifupdown_ng(tmp_path):
    """Which says bond-members where interfaces(5) has bond-slaves."""
    bond = {"IFACE": "bond0", "IF_BOND_DRIVER": "xbond", "IF_BOND_MEMBERS": "lo none7"}
    assert hook(tmp_path, "", PHASE="create", **bond) == ["create bond0", "add-slave bond0 lo"]
    assert hook(tmp_path, "bond0", PHASE="destroy", **bond) == ["delete bond0"]
    assert hook(tmp_path, "", PHASE="depend", **bond) == []
    bond["IF_BOND_MEMBERS"] = "none"
    assert hook(tmp_path, "", PHASE="depend", **bond) == []
    assert hook(tmp_path, "", PHASE="create", **bond) == ["create bond0"]


class Stanza:
    """What an addon of ifupdown2 sees of it."""

    def __init__(self, name, **config):
        self.name = name
        self.config = {key.replace("_", "-"): [value] for key, value in config.items()}

    def get_attr_value_first(self, name):
        return self.config.get(name, [None])[0]


@pytest.fixture
def addon(tmp_path, monkeypatch):
    """The addon, without ifupdown2; what the script is called with is in the file `called`."""
    base = types.ModuleType("base")
    base.Addon = type("Addon", (), {"cache": None})
    base.moduleBase = type("moduleBase", (), {
        "parse_port_list": lambda self, name, text, every=None: text.split(),
        "log_error": lambda self, text, stanza=None: pytest.fail(text)})
    for name in ("lib", "lib.addon", "ifupdownaddons", "ifupdownaddons.modulebase"):
        monkeypatch.setitem(sys.modules, name, base)
    spec = importlib.util.spec_from_file_location("xbond_addon", TOOLS / "ifupdown2.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    script(tmp_path / "hook", f"env | grep -E '^(IF|PHASE)' | sort >{tmp_path}/called")
    monkeypatch.setattr(module, "SCRIPT", str(tmp_path / "hook"))
    made = module.xbond()
    made.cache = types.SimpleNamespace(link_exists=lambda name: True)
    return made


def test_the_addon_of_ifupdown2(addon, tmp_path):
    ours = Stanza("bond0", bond_driver="xbond", bond_slaves="eth0 eth2", bond_mode="802.3ad")
    theirs = Stanza("bond1", bond_slaves="eth4", bond_mode="802.3ad")
    addon.translate([ours, theirs])
    assert "bond-slaves" not in ours.config and "bond-slaves" in theirs.config
    assert addon.get_dependent_ifacenames(ours) == ["eth0", "eth2"]
    assert addon.get_dependent_ifacenames(theirs) is None
    addon.run(theirs, "pre-up")
    assert not (tmp_path / "called").exists()
    addon.run(ours, "pre-up")
    assert (tmp_path / "called").read_text().splitlines() == [
        "IFACE=bond0", "IF_BOND_DRIVER=xbond", "IF_BOND_MODE=802.3ad", "IF_BOND_SLAVES=eth0 eth2",
        "PHASE=pre-up"]


def ifenslave(tmp_path, *words, bonds="bond0", slaves=("eth0",), refuses="-"):
    """(its exit status, the calls of bondctl, what it says on standard error)"""
    calls = tmp_path / "calls"
    shown = json.dumps([{"name": "bond0", "slaves": [{"name": name} for name in slaves]}], indent=1)
    script(tmp_path / "bondctl", f'case "$*" in list) echo {bonds} ;; -j*) echo \'{shown}\' ;;\n'
           f'*) echo "$@" >>{calls}; case "$*" in {refuses}) exit 1 ;; esac ;; esac')
    calls.write_text("")
    done = subprocess.run([TOOLS / "xbond-ifenslave", *words], capture_output=True, text=True,
                          env={**os.environ, "BONDCTL": str(tmp_path / "bondctl")}, timeout=20)
    return done.returncode, calls.read_text().splitlines(), done.stderr


@pytest.mark.parametrize("words, calls", [
    ("bond0 eth1 eth2", ["add-slave bond0 eth1", "add-slave bond0 eth2"]),
    ("-f bond0 eth0 eth1", ["add-slave bond0 eth1"]),
    ("-d bond0 eth0 eth1", ["del-slave bond0 eth0"]),
    ("--change-active bond0 eth0", ["set bond0 active_slave eth0"]),
    ("bond0", ["show bond0"]), ("-a", ["show"]), ("", ["show"]), ("-V", ["--version"])])
def test_ifenslave(tmp_path, words, calls):
    assert ifenslave(tmp_path, *words.split()) == (0, calls, "")


def test_what_ifenslave_refuses(tmp_path):
    status, calls, said = ifenslave(tmp_path, "bond1", "eth0")
    assert (status, calls) == (1, []) and "bond1 is no bond of xbond" in said
    assert len(said.splitlines()) == 1
    assert ifenslave(tmp_path, "-x", "bond0", "eth0")[:2] == (2, [])
    assert ifenslave(tmp_path, "-c", "bond0", "eth0", "eth1")[:2] == (2, [])
    assert ifenslave(tmp_path, "bond0", "eth1", "eth2", refuses="*eth1")[:2] == (
        1, ["add-slave bond0 eth1", "add-slave bond0 eth2"])


def test_the_demo_counts_against_the_link_beside():
    """The last link is the one beside: it is not in the sum, and what the sum is a multiple of."""
    text = (TOOLS.parents[1] / "tests/demo.sh").read_text()
    function = re.search(r"^rates\(\) \{\n.*?^\}\n", text, re.M | re.S)[0]
    samples = 'samples=("1000000 0 0 0 0 0" "2000000 125000000 125000000 0 125000000 62500000")'
    done = subprocess.run(["bash", "-ec", f"{samples}\n{function}\nrates 0 1"], check=True,
                          capture_output=True, text=True)
    assert done.stdout.split() == ["1.00", "1.00", "0.00", "1.00", "3.00", "0.50", "6.00"]
