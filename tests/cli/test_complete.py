# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl complete: what the last word of a call may be, by bonds that are made by hand."""
import json
import os
import re
import subprocess

import pytest

import pins
from built import BUILD
from schema import check
from test_schema import MODES

BONDCTL = os.environ.get("BONDCTL", str(BUILD / "bondctl"))


def complete(directory, line, *flags):
    """What is offered for the last word of the line, without bondctl's name: {word: help}"""
    words = line.split(" ")
    done = subprocess.run(
        [BONDCTL, "--bpf-dir", directory, "--run-dir", directory, *flags, "complete", "--", *words],
        capture_output=True, text=True, timeout=30, check=True)
    assert not done.stderr
    if "-j" in flags:
        return check("complete", json.loads(done.stdout))
    return dict(offer.partition("\t")[::2] for offer in done.stdout.splitlines())


@pytest.fixture(name="bond")
def _bond(bpf_dir):
    """The directory; bond0 is in active-backup, with eth0, eth1 and eth2."""
    pins.Pins(bpf_dir, slaves=3, mode=pins.X.MODE_ACTIVE_BACKUP)
    return bpf_dir


def run_help(*words):
    return subprocess.run([BONDCTL, *words, "--help"], capture_output=True, text=True, timeout=30,
                          check=True).stdout


def verbs():
    return {line.split()[0] for line in run_help().split("Flags,")[0].splitlines()
            if line.startswith("  ") and line[2] != " "}


def test_verbs_and_flags(tmp_path):
    assert set(complete(tmp_path, "")) == verbs()
    assert set(complete(tmp_path, "s")) == {verb for verb in verbs() if verb[0] == "s"}
    assert complete(tmp_path, "show") == {"show": "shows a bond or all of them"}
    assert {"--json", "--run-dir", "--help", "--version"} <= set(complete(tmp_path, "-"))
    assert set(complete(tmp_path, "show --")) - set(complete(tmp_path, "--")) == {
        "--details", "--proc"}
    assert "--proc" not in complete(tmp_path, "show --proc --")
    assert "--json" not in complete(tmp_path, "-j show --")
    assert not complete(tmp_path, "nonsense ")


def test_flags_of_every_verb(tmp_path):
    """Those of its help, and the global ones."""
    everywhere = set(complete(tmp_path, "--"))
    for verb in verbs():
        listed = run_help(verb).partition("Flags of this verb:\n")[2].split("\n\n")[0]
        of_verb = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", listed, re.M))
        offered = {word for word in complete(tmp_path, f"{verb} --") if word[0] == "-"}
        assert offered - everywhere == of_verb, verb


def test_every_option_in_some_mode(bpf_dir):
    """An alias is not offered, nor is an option whose mode another one names."""
    for mode in range(len(MODES)):
        pins.Pins(bpf_dir, mode=mode, name=f"bond{mode}")
    lines = {"create": "create b mode {}", "set": "set bond{}", "add-slave": "add-slave bond{} e",
             "set-slave": "set-slave bond{} eth0"}
    for verb, line in lines.items():
        offered = set().union(*(complete(bpf_dir, f"{line.format(mode)} ")
                                for mode in range(len(MODES))))
        options = set(re.findall(r"^  (\w+) \S+ \(default ", run_help(verb), re.M))
        assert not options - {"num_unsol_na", "mode"} - offered, verb


def test_bonds_and_slaves(bond):
    assert complete(bond, "show ") == {"bond0": "active-backup"}
    assert complete(bond, "show b") == {"bond0": "active-backup"}
    assert not complete(bond, "show x")
    assert not complete(bond, "show bond0 ")
    assert not complete(bond, "create ")
    assert set(complete(bond, "del-slave bond0 ")) == {"eth0", "eth1", "eth2"}
    assert set(complete(bond, "del-slave bond0 eth1 ")) == {"eth0", "eth2"}
    assert set(complete(bond, "set-slave bond0 eth")) == {"eth0", "eth1", "eth2"}
    assert not complete(bond, "set-slave bond1 ")
    assert set(complete(bond, "capture bond0 --slave ")) == {"eth0", "eth1", "eth2"}
    assert set(complete(bond, "capture bond0 --slave=eth1")) == {"--slave=eth1"}


def test_policy(bond):
    """Words, then bonds, then a file."""
    assert set(complete(bond, "policy ")) == {"load", "unload", "show"}
    for word in ("load", "unload", "show"):
        assert set(complete(bond, f"policy {word} ")) == {"bond0"}
    assert set(complete(bond, "policy load bond0 ")) == {":files"}


def test_bonds_of_files(bond, tmp_path):
    """load and apply make what a file says."""
    for name in ("bond7.conf", "bond8.conf.old", "bond9.conf.d", ".hidden.conf", "x"):
        (tmp_path / name).touch()
    for verb in ("load", "apply"):
        assert set(complete(bond, f"--config-dir {tmp_path} {verb} ")) == {"bond7"}
    assert set(complete(bond, f"--config-dir {tmp_path} show ")) == {"bond0"}


def test_bonds_of_others(bond):
    """import kernel reads those of the kernel, of which there are none here."""
    assert set(complete(bond, "import ker")) == {"kernel"}
    assert set(complete(bond, "import kernel ")) == {":files"}


def test_the_directories_of_the_line_count(bond, tmp_path):
    (tmp_path / "none").mkdir()
    assert not complete(tmp_path / "none", "show ")
    assert set(complete(tmp_path / "none", f"--bpf-dir {bond} show ")) == {"bond0"}
    assert set(complete(tmp_path / "none", f"show --bpf-dir={bond} ")) == {"bond0"}


def test_options_of_the_mode(bond):
    offered = complete(bond, "set bond0 ")
    assert {"mode", "primary", "active_slave", "miimon"} <= set(offered)
    assert offered["primary"] == "the preferred slave"
    assert not {"lacp_rate", "xmit_hash_policy", "num_unsol_na", "weight"} & set(offered)
    assert "lacp_rate" in complete(bond, "set bond0 mode 802.3ad ")
    assert "miimon" not in complete(bond, "set bond0 miimon 100 ")
    assert set(complete(bond, "set-slave bond0 eth0 ")) == {"drain", "prio", "queue_id"}
    slave_options = set(complete(bond, "add-slave bond0 eth9 ")) & {"drain", "force", "dev"}
    assert slave_options == {"drain", "force"}
    assert "force" not in complete(bond, "add-slave bond0 eth9 force yes ")


def test_values(bond):
    assert set(complete(bond, "set bond0 mode ")) == set(MODES)
    assert complete(bond, "create b mode bal")["balance-rr"] == "the default"
    assert set(complete(bond, "set bond0 active_slave ")) == {"eth0", "eth1", "eth2", "none"}
    assert complete(bond, "set bond0 xdp_tx ") == {"off": "the default", "on": ""}
    assert set(complete(bond, "set-slave bond0 eth0 weight ")) == {"auto"}
    assert set(complete(bond, "set bond0 miimon ")) == {"100"}
    assert set(complete(bond, "set bond0 arp_ip_target ")) == {"none"}
    assert not complete(bond, "set bond0 no_such_option ")


def test_pairs_in_any_order(bond):
    assert set(complete(bond, "explain bond0 src 10.0.0.1 d")) == {"dst", "dport", "dmac"}
    assert set(complete(bond, "explain bond0 proto ")) == {"tcp", "udp", "icmp"}
    assert not complete(bond, "explain bond0 src ")
    assert set(complete(bond, "exp bond0 src 10.0.0.1 d")) == {"dst", "dport", "dmac"}
    assert "src" not in complete(bond, "explain bond0 src 10.0.0.1 ")


def test_files(tmp_path):
    assert set(complete(tmp_path, "sysfs-tree ")) == {":directories"}
    assert set(complete(tmp_path, "--run-dir ")) == {":directories"}
    assert set(complete(tmp_path, "--run-dir=/x")) == {":directories"}
    assert set(complete(tmp_path, "explain b --pcap ")) == {":files"}


def test_after_two_dashes_nothing_is_a_flag(bond):
    assert not complete(bond, "del-slave bond0 -- -")
    assert set(complete(bond, "del-slave bond0 -- e")) == {"eth0", "eth1", "eth2"}


def test_json(bond):
    assert complete(bond, "show ", "-j") == {
        "files": "none", "words": [{"word": "bond0", "help": "active-backup"}]}
    assert complete(bond, "sysfs-tree ", "-j") == {"files": "directories", "words": []}


@pytest.mark.parametrize("name", [b"\x1b[31m", b"a\nb", b"\xff\xfe", b"\x7f"])
def test_names_that_steer_a_terminal_are_left_out(bpf_dir, name):
    made = pins.Pins(bpf_dir, slaves=2, mode=pins.X.MODE_ACTIVE_BACKUP)
    pins.fill(made.slaves[1].name, name.ljust(16, b"\0"))
    assert set(complete(bpf_dir, "del-slave bond0 ")) == {"eth0"}


def test_damaged_pins_and_long_lines(bpf_dir):
    (bpf_dir / "broken").mkdir()
    assert complete(bpf_dir, "show ") == {"broken": ""}
    assert complete(bpf_dir, "set broken mode ")
    assert not complete(bpf_dir, "set " + "x" * 5000 + " " + "y" * 5000)
    assert not complete(bpf_dir, "show " + " " * 5000)
