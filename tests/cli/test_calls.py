# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl's calls against a socket that plays bondd: what is sent, exit statuses, the lines on
stderr.
"""

import json
import os
import pty
import re
import socket
import subprocess
import threading
import time

import pytest

from built import BUILD
from waiting import quiet_for

BONDCTL = os.environ.get("BONDCTL", str(BUILD / "bondctl"))
OK = b'{"ok": true}\n'


class FakeBondd:
    """Answers one connection after the first piece of its request, and closes it."""

    def __init__(self, directory, answer):
        self.requests = []
        self.answer = answer
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(directory / "bondd.sock"))
        self.listener.listen(4)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        connection, _ = self.listener.accept()
        with connection:
            if self.answer is not None:
                self.requests.append(connection.recv(65536))
                connection.sendall(self.answer)

    def request(self):
        self.thread.join(10)
        return json.loads(self.requests[0])


def call(directory, *words):
    flags = ["--run-dir", str(directory), "--bpf-dir", str(directory / "none")]
    return subprocess.run([BONDCTL, *flags, *words], capture_output=True, text=True, timeout=60)


def refused(directory, status, *words):
    """Exactly one line on stderr, nothing on stdout."""
    done = call(directory, *words)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("bondctl: ") and done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize(
    "words, request_",
    [(["create", "b"], {"method": "create", "bond": "b", "options": {}}),
     (["create", "b", "mode", "1", "primary", "e0", "path", "direct"],
      {"method": "create",
       "bond": "b",
       "options": {"mode": "1", "primary": "e0", "path": "direct"}}),
     (["create", "b", "mode", "802.3ad", "lacp_rate", "1", "packets_per_slave", "3", "lacp_tx",
       "balance-rr"],
      {"method": "create",
       "bond": "b",
       "options": {"mode": "802.3ad", "lacp_rate": "1", "packets_per_slave": "3",
                   "lacp_tx": "balance-rr"}}),
     (["delete", "b"], {"method": "delete", "bond": "b"}),
     (["add-slave", "b", "e0", "actor_port_prio", "7"],
      {"method": "add-slave", "bond": "b", "slaves": ["e0"], "options": {"actor_port_prio": "7"}}),
     (["add-slave", "b", "e0", "dev", "weight", "weight", "3", "force", "yes"],
      {"method": "add-slave",
       "bond": "b",
       "slaves": ["e0", "weight"],
       "options": {"weight": "3", "force": "yes"}}),
     (["add-slave", "b", "--", "-j"],
      {"method": "add-slave", "bond": "b", "slaves": ["-j"], "options": {}}),
     (["del-slave", "b", "e0", "weight", "dev", "dev"],
      {"method": "del-slave", "bond": "b", "slaves": ["e0", "weight", "dev"]}),
     (["takeover", "b", "miimon", "50"],
      {"method": "takeover", "bond": "b", "options": {"miimon": "50"}}),
     (["handback", "b"], {"method": "handback", "bond": "b"})])
def test_requests(tmp_path, words, request_):
    bondd = FakeBondd(tmp_path, OK)
    done = call(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert bondd.request() == request_


def test_random_seed_is_sent_as_a_number(tmp_path):
    bondd = FakeBondd(tmp_path, OK)
    assert call(tmp_path, "create", "b", "hash_seed", "random").returncode == 0
    assert 0 <= int(bondd.request()["options"]["hash_seed"]) < 2**32


def test_notes_go_to_stderr(tmp_path):
    FakeBondd(tmp_path, b'{"ok": true, "notes": ["first", "second"]}\n')
    done = call(tmp_path, "add-slave", "b", "e0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "first\nsecond\n")


def test_nothing_steers_the_terminal(tmp_path):
    FakeBondd(tmp_path, b'{"ok": true, "notes": ["a \\u001b[7m"]}\n')
    assert call(tmp_path, "delete", "b").stderr == "a ?[7m\n"
    assert call(tmp_path, "x\x1b[7m").stderr.startswith("bondctl: unknown verb 'x?[7m'")


def test_refusal_is_bondds_own_line(tmp_path):
    FakeBondd(tmp_path, b'{"ok": false, "error": "no such device: e0"}\n')
    assert refused(tmp_path, 1, "add-slave", "b", "e0") == "bondctl: no such device: e0\n"


def test_away(tmp_path):
    assert "not running" in refused(tmp_path, 3, "delete", "b")


@pytest.mark.parametrize("answer", [None, b"", b'{"ok": t', b"what\n", b'{"okay": true}\n'])
def test_lost_in_mid_request(tmp_path, answer):
    FakeBondd(tmp_path, answer)
    line = refused(tmp_path, 3, "delete", "b")
    assert "lost during the request" in line and "bondctl show" in line


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly"],
        ["create"],
        ["create", "b", "mode"],
        ["delete", "b", "c"],
        ["add-slave", "b"],
        ["add-slave", "b", "weight", "3"],
        ["add-slave", "b", "e0", "dev"],
        ["set", "b"],
        ["set", "b", "mode"],
        ["set-slave", "b", "e0"],
        ["list", "b"],
        ["show", "b", "c"],
        ["--colour", "list"],
        ["list", "--run-dir"],
        ["list", "--fast"],
        ["show", "--proc", "--details"],
        ["create", "b", "mode=4"],
        ["monitor", "--kinds", "b"],
        ["monitor", "--count", "0"],
        ["flows", "b", "--seconds", "1h"],
        ["capture", "b", "--snaplen", "-1"],
    ],
)
def test_usage(tmp_path, words):
    assert "--help'" in refused(tmp_path, 2, *words)


@pytest.mark.parametrize(
    "words, part",
    [(["create", "bond4567890123456"], "bond name too long: 17 characters, at most 15"),
     (["create", "a/b"], "'/'"),
     (["create", "a:b"], "':'"),
     (["create", "a b"], "white space"),
     (["create", "."], "the name of a directory"),
     (["create", ".."], "the name of a directory"),
     (["create", ""], "is empty"),
     (["create", "all"], "net.ipv4.conf.all"),
     (["create", "default"], "net.ipv4.conf.default"),
     (["create", "b", "mod", "1"], "unknown option 'mod'"),
     (["set-slave", "b", "e0", "colour", "red"], "unknown option 'colour'"),
     (["create", "b", "lacp-rate", "1"], "unknown option 'lacp-rate'; did you mean lacp_rate?"),
     (["create", "b", "bond-lacp-rate", "1"], "did you mean lacp_rate?"),
     (["create", "b", "bond_slaves", "e0"], "by 'bondctl add-slave'"),
     (["create", "b", "use_carrier", "1"], "takes carrier from the kernel, never"),
     (["set", "b", "missed_max", "3"], "it is called arp_missed_max"),
     (["set", "b", "max_bonds", "1"], "a parameter of the kernel's module"),
     (["set", "b", "tx_queues", "1"], "a parameter of the kernel's module"),
     (["set", "b", "slaves", "+e0"], "by 'bondctl add-slave'"),
     (["create", "b", "mode", "lacp"], "802.3ad|balance-tlb|balance-alb"),
     (["create", "b", "primary", "e0"], "refused in mode balance-rr"),
     (["create", "b", "mode", "2", "packets_per_slave", "2"], "refused in mode balance-xor"),
     (["create", "b", "lacp_rate", "fast"],
      "refused in mode balance-rr; it is an option of mode 802.3ad only"),
     (["create", "b", "mode", "802.3ad", "ad_actor_system", "01:80:c2:00:00:02"],
      "is a multicast address"),
     (["set", "b", "lacp_partner", "01:00:00:00:00:01"], "is a multicast address"),
     (["set", "b", "num_grat_arp", "1", "num_unsol_na", "2"], "another name for num_grat_arp"),
     (["create", "b", "mode", "802.3ad", "primary", "e0"], "refused in mode 802.3ad"),
     (["create", "b", "miimon", "0"], "safety net"),
     (["create", "b", "updelay", "1", "updelay", "2"], "given twice"),
     (["create", "b", "weight", "1"], "option of a slave"),
     (["add-slave", "b", "e0", "e0"], "given twice"),
     (["add-slave", "b", "e0", "weight", "0"], "auto|1..65535"),
     (["add-slave", "b", "e/0"], "'/'"),
     (["create", "b", "mode=4"], "write 'mode 4'"),
     (["add-slave", "b", "e0", "prio=3"], "write 'prio 3'"),
     (["set", "b", "miimon="], "write 'miimon VALUE'"),
     (["create", "b", "type", "bond", "mode", "4"], "leave it out"),
     (["create", "b", "up", "on"], "'ip link set BOND up'"),
     (["create", "b", "mode", "1", "up"], "'ip link set BOND up'"),
     (["create", "b", "mode", "lacp"], "did you mean 802.3ad?"),
     (["create", "b", "mode", "active-bakcup"], "did you mean active-backup?"),
     (["create", "b", "mode", "1", "xmit_hash_policy", "layer4"], "did you mean layer3+4?"),
     (["set", "b", "mtu"], "'ip link set BOND mtu N'"),
     (["set", "b", "mtu", "9000"], "'ip link set BOND mtu N'"),
     (["simulate", "--policy", "layer4"], "layer3+4"),
     (["simulate", "--weights", "0"], "1..65535")])
def test_wrong_before_anything_is_asked(tmp_path, words, part):
    assert part in refused(tmp_path, 2, *words)


@pytest.mark.parametrize("words", [
    "create b miimon soon", "set b xmit_hash_policy layer9", "set b min_links 65",
    "set b min_links -1", "set b path ", "set b updelay 1.5", "set b downdelay 99999999999",
    "set-slave b e0 weight 0", "set-slave b e0 weight 65536", "set-slave b e0 drain perhaps",
    "add-slave b e0 weight heavy", "set-slave b e0 prio 2147483648", "set b flap_limit 61",
    "set b primary_reselect never", "set b error_limit 1000001", "set b lacp_partner x",
    "set b lacp_partner 02:00", "set b lacp_partner "])
def test_values_that_an_option_does_not_take(tmp_path, words):
    words = words.split(" ")
    assert "{}: '{}' is not allowed; allowed: ".format(*words[-2:]) in refused(tmp_path, 2, *words)


# A call of each verb that is right as such; NAME is the bond's.
CALLS = {
    "create": (3, "NAME"), "delete": (3, "NAME"), "add-slave": (3, "NAME", "e0"),
    "del-slave": (3, "NAME", "e0"), "set": (1, "NAME", "miimon", "1"),
    "set-slave": (1, "NAME", "e0", "weight", "1"), "show": (1, "NAME"), "list": (1,),
    "stats": (1, "NAME"), "monitor": (0, "NAME", "--since", "-1h", "--no-follow"),
    "top": (1, "NAME", "--once"),
    "explain": (1, "NAME", "src", "10.0.0.1", "dst", "10.0.0.2"), "policy": (1, "show", "NAME"),
    "simulate": (1, "NAME"), "doctor": (1, "NAME"), "flows": (1, "NAME"), "capture": (1, "NAME"),
    "takeover": (3, "NAME"), "handback": (3, "NAME"), "sysfs-tree": (1, "/proc/none"),
    "check": (1, "/none"), "load": (3, "NAME"), "apply": (3, "NAME"), "confirm": (3, "NAME"),
    "rollback": (3, "NAME"), "import": (1, "teamd", "/none"), "save": (1, "NAME"),
    "help": (0, "show"), "complete": (0, "--"),
}


def verbs(tmp_path):
    listed = call(tmp_path, "help").stdout.split("Flags")[0]
    return re.findall(r"^  ([a-z-]+) ", listed, re.M)


def test_status_of_every_verb(tmp_path):
    """1: it was asked and refused; 2: nothing was asked, because the command line is wrong; 3:
    there is no bondd to be asked.
    """
    assert set(CALLS) == set(verbs(tmp_path))
    for verb, (status, *words) in CALLS.items():
        done = call(tmp_path, verb, *words, "--config-dir", tmp_path)
        assert done.returncode == status, (verb, done.stderr)
        assert bool(done.stderr) == bool(status), verb
        refused(tmp_path, 2, verb, "--fast", *words)
        if "NAME" in words:
            longer = [word.replace("NAME", "bond4567890123456") for word in words]
            assert "bond name too long" in refused(tmp_path, 2, verb, *longer)


def test_beginnings_of_verbs(tmp_path):
    names = verbs(tmp_path)
    helps = {name: call(tmp_path, "help", name).stdout for name in names}
    words = {name[:length] for name in names for length in range(1, len(name))}
    for word in sorted(words - {*names, "del"}):
        meant = [name for name in names if name.startswith(word)]
        if len(meant) == 1:
            assert call(tmp_path, word, "--help").stdout == helps[meant[0]], word
        else:
            line = refused(tmp_path, 2, word)
            assert all(name in line for name in meant), line


@pytest.mark.parametrize("words, part", [
    ("staus", "did you mean 'stats'? See '"), ("status bond0", "did you mean 'show'?"),
    ("status -d bond0", "did you mean 'show'?"), ("dleete b", "did you mean 'delete'?"),
    ("del bond0", "'del-slave', which releases slaves"), ("bond0 show", "'bondctl show bond0'"),
    ("bond0 sh eth1", "'bondctl show bond0 ...'"), ("change-active b e0", "'set BOND active_slave"),
    ("drain b e0", "'set-slave BOND DEV drain on'"),
    ("help shw", "did you mean 'show'?"), ("show --detials", "did you mean --details?"),
    ("add bond0 mode 4", "'bondctl create BOND mode VALUE'"),
    ("r", "write 'rollback' in full"), ("app", "write 'apply' in full"),
    ("add bond0", "'bondctl create bond0' makes a bond"), ("link add", "did you mean 'show'?")])
def test_habits_of_others_are_answered(tmp_path, words, part):
    assert part in refused(tmp_path, 2, *words.split())


@pytest.mark.parametrize("words", [["show", "b"], ["set", "b", "path", "direct"]])
def test_refused_by_what_was_asked(tmp_path, words):
    assert "cannot see " in refused(tmp_path, 1, *words)


def test_no_bonds(tmp_path, bpf_dir):
    where = ("--bpf-dir", str(bpf_dir))
    assert call(tmp_path, *where, "list").stdout == ""
    assert call(tmp_path, *where, "show").stdout.startswith("there are no bonds")
    assert json.loads(call(tmp_path, *where, "-j", "list").stdout) == []
    assert json.loads(call(tmp_path, *where, "show", "--json").stdout) == []


@pytest.mark.parametrize("words", [["list"], ["-j", "list"], ["show"], ["show", "b"], ["stats"],
                                   ["top", "--once"]])
def test_whether_there_are_bonds_is_not_known(tmp_path, words):
    """No BPF file system, and no bondd that could tell."""
    done = call(tmp_path, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "ip netns exec" in done.stderr


def test_directories_from_the_environment(tmp_path):
    bondd = FakeBondd(tmp_path, OK)
    environment = dict(os.environ, XBOND_RUN_DIR=str(tmp_path))
    assert subprocess.run([BONDCTL, "delete", "b"], env=environment, timeout=60).returncode == 0
    assert bondd.request() == {"method": "delete", "bond": "b"}


@pytest.mark.parametrize("words, ends", [
    *((words, "; see bondd --help\n") for words in ("--fast", "--run-dir", "--metrics", "-x", "b")),
    ("--hook nail", ", not nail\n")])
def test_usage_of_bondd(words, ends):
    words = words.split()
    done = subprocess.run([BUILD / "bondd", *words], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bondd: ") and done.stderr.endswith(ends)
    assert done.stderr.count("\n") == 1 and words[0] in done.stderr


def help_of(verb, path, on_terminal):
    """What `help VERB` prints where only the programs in this directory are found."""
    terminal, out = pty.openpty() if on_terminal else os.pipe()
    child = subprocess.Popen([BONDCTL, "help", verb], stdin=subprocess.DEVNULL, stdout=out,
                             env={"PATH": str(path)})
    os.close(out)
    printed = b""
    try:
        while part := os.read(terminal, 65536):
            printed += part
    except OSError:  # a terminal that nobody has open any more
        pass
    os.close(terminal)
    assert child.wait(60) == 0
    return printed.decode().replace("\r", "")


@pytest.mark.parametrize("finds,on_terminal,opens", [
    ("*", True, True), ("*", False, False), ("bondctl-list", True, False), (None, True, False)])
def test_help_opens_the_manual_page(tmp_path, finds, on_terminal, opens):
    """A verb may be abbreviated. None: there is no man at all."""
    if finds:
        (tmp_path / "man").write_text(
            f'#!/bin/sh\n[ "$1" != -w ] || case $3 in {finds}) exit 0;; *) exit 16;; esac\n'
            'echo "man $*"\n')
        (tmp_path / "man").chmod(0o755)
    printed = help_of("sho", tmp_path, on_terminal)
    if opens:
        assert printed == "man 8 bondctl-show\n"
    else:
        assert printed == call(tmp_path, "show", "--help").stdout


def brings_events(listener, run, head, *texts):
    """Plays a bondd to one monitor: answers, and brings what had happened before only later."""
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        happened_us = time.time_ns() // 1000 - 1000
        answer = {"ok": True, "result": {"bondd": run, "from": 1, "next": head}}
        connection.sendall(json.dumps(answer).encode() + b"\n")
        for seq, text in enumerate(texts, 1):
            quiet_for(0.6, "the monitor looks four times a second")
            event = {"time_us": happened_us, "bondd": run, "seq": seq, "kind": "bond", "text": text}
            connection.sendall(json.dumps(event).encode() + b"\n")
        connection.recv(1)


def test_a_bondd_that_is_back_is_told_in_the_order_of_time(tmp_path):
    """Also where it is slow to tell what it has done before."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "bondd.sock"))
        listener.listen(4)
        monitor = subprocess.Popen([BONDCTL, "--run-dir", tmp_path, "--bpf-dir", tmp_path / "none",
                                    "-j", "monitor", "--count", "3"], stdout=subprocess.PIPE)
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b'{"ok": true, "result": {"bondd": "one", "from": 1, "next": 1}}\n')
        brings_events(listener, "two", 2, "adopted")
        events = [json.loads(line) for line in monitor.communicate(timeout=60)[0].splitlines()]
    assert [event.get("state", event["text"]) for event in events] == ["away", "back", "adopted"]
    times = [event["time_us"] for event in events]
    assert times == sorted(times)


def test_help_of_bondd_takes_80_columns():
    said = subprocess.run([BUILD / "bondd", "--help"], capture_output=True, text=True, timeout=60,
                          check=True).stdout
    assert [line for line in said.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("words", [["create", "--help"], ["explain", "--help"], ["help"]])
def test_help_fills_its_lines(words):
    """A list of values is broken where the next one does not fit, brackets are not."""
    said = subprocess.run([BUILD / "bondctl", *words], capture_output=True, text=True, timeout=60,
                          check=True).stdout
    lines = said.splitlines()
    for line, following in zip(lines, lines[1:]):
        if line.endswith("|"):
            assert len(line) + len(re.split(r"(?<=\|)| ", following.strip())[0]) > 80, line
    assert [line for line in lines if line.count("[") != line.count("]")] == []
    if words[0] == "create":
        assert "mode balance-rr|active-backup|" in said
        assert "only in modes balance-rr, 802.3ad" in " ".join(said.split())
