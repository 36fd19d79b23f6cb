# SPDX-License-Identifier: GPL-2.0-or-later
"""micro-BFD with BIRD and FRR at the far end. Neither speaks it: they know UDP ports 3784 and 4784
only. So a TC program changes the port on their side. All else is as they speak it.
"""
import json
import shutil
import subprocess

import pytest

from lab import BUILD
from test_bfd import DROP, bfd
from waiting import IS_SLOW, PATIENCE, quiet_for, wait_for

US, THEM = "10.0.0.1", "10.0.0.2"
INTERVAL, MULTIPLIER = 100 * PATIENCE, 3
# As bondd has it for BFD: on a busy machine neither end may be late.
REALTIME = ("chrt", "--rr", "1")
BFDD = "/usr/lib/frr/bfdd"
BIRD_CONF = """
router id 10.0.0.2;
protocol device {{ }}
protocol bfd {{
    accept direct;
    interface "l0" {{ min rx interval {interval} ms; min tx interval {interval} ms;
                      multiplier {multiplier}; }};
    neighbor 10.0.0.1 dev "l0";
}}
"""


class Bird:
    def __init__(self, namespace, directory):
        self.namespace, self.control = namespace, directory / "bird.ctl"
        self.conf = directory / "bird.conf"
        self.set(INTERVAL)
        namespace.spawn(*REALTIME, "bird", "-f", "-c", self.conf, "-s", self.control, "-P",
                        directory / "bird.pid", stderr=subprocess.DEVNULL)

    def write(self, interval):
        self.conf.write_text(BIRD_CONF.format(interval=interval, multiplier=MULTIPLIER))

    def set(self, interval):
        self.write(interval)
        if self.control.exists():
            self.ask("configure")

    def ask(self, *words):
        return self.namespace.run("birdc", "-s", self.control, *words, check=False).stdout

    def state(self):
        lines = [line.split() for line in self.ask("show", "bfd", "sessions").splitlines()]
        return next((words[2].lower() for words in lines if words[:1] == [US]), None)


class Frr:
    def __init__(self, namespace, directory):
        self.namespace, self.directory = namespace, directory
        common = ("--vty_socket", directory, "-z", directory / "zserv", "-u", "frr", "-g", "frr")
        for name, words in (("zebra", ()), ("bfdd", ("--bfdctl", directory / "bfdd.sock"))):
            namespace.spawn(*REALTIME, BFDD.replace("bfdd", name), *common, "-i",
                            directory / f"{name}.pid", *words, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
            wait_for((directory / f"{name}.vty").exists, name)
        self.set(INTERVAL)

    def ask(self, *commands):
        words = [word for command in commands for word in ("-c", command)]
        return self.namespace.run("vtysh", "--vty_socket", self.directory, "-d", "bfdd", *words,
                                  check=False).stdout

    def set(self, interval):
        self.ask("configure terminal", "bfd", f"peer {US} interface l0",
                 f"receive-interval {interval}", f"transmit-interval {interval}",
                 f"detect-multiplier {MULTIPLIER}", "no shutdown")

    def state(self):
        answer = self.ask("show bfd peers json")
        peers = json.loads(answer) if answer.strip() else []
        return peers[0]["status"] if peers else None


OTHERS = {"bird": Bird, "frr": Frr}


@pytest.fixture(params=OTHERS)
def other(request, lone):
    """(our host, the other program); the session is up."""
    if not shutil.which("bird" if request.param == "bird" else BFDD):
        pytest.skip(f"{request.param} is not installed")
    host = lone()
    far = host.far
    for side, section in (("egress", "tc/to_micro"), ("ingress", "tc/to_usual")):
        far.run("tc", "qdisc", "add", "dev", "l0", "clsact", check=False)
        far.run("tc", "filter", "add", "dev", "l0", side, "bpf", "direct-action", "object-file",
                BUILD / "tools/micro_port.bpf.o", "section", section)
    far.ip("addr", "add", f"{THEM}/24", "dev", "l0")
    host.ctl("create", "bond0", "mode", "active-backup", "primary", "l0", "bfd_interval", INTERVAL,
             "bfd_multiplier", MULTIPLIER, "bfd_local", US, "bfd_remote", THEM)
    host.ctl("add-slave", "bond0", "l0")
    host.ip("link", "set", "bond0", "up")
    host.ip("addr", "add", f"{US}/24", "dev", "bond0")
    directory = host.dir / request.param  # its daemons run as a user of their own
    directory.mkdir()
    directory.chmod(0o777)
    made = OTHERS[request.param](far, directory)
    wait_for(lambda: bfd(host, "l0").get("session") == "up" and made.state() == "up",
             "the session to come up at both ends", 15)
    return host, made


def test_with_another_program(other):
    """Up, agreed intervals, a loss in both directions, bondd killed, turned off."""
    host, far = other
    wait_for(lambda: bfd(host, "l0")["detection_time_ms"] == INTERVAL * MULTIPLIER,
             "the interval to be agreed upon")
    far.set(2 * INTERVAL)
    wait_for(lambda: bfd(host, "l0")["detection_time_ms"] == 2 * INTERVAL * MULTIPLIER,
             "their poll")
    host.ctl("set", "bond0", "bfd_interval", 4 * INTERVAL)
    wait_for(lambda: bfd(host, "l0")["detection_time_ms"] == 4 * INTERVAL * MULTIPLIER, "our poll")
    assert IS_SLOW or bfd(host, "l0")["lost"] == 0
    for sender in (host, host.far):
        sender.run("tc", "qdisc", "add", "dev", "l0", "clsact", check=False)
        sender.run("tc", "filter", "add", "dev", "l0", "egress", "pref", "1", "protocol", "all",
                   "bpf", "direct-action", "bytecode", DROP)
        # they see two of our packets that say "down" as a new beginning
        wait_for(lambda: bfd(host, "l0")["state"] == "down" and far.state() in ("down", "init"),
                 "the loss")
        sender.tc_del("filter", "del", "dev", "l0", "egress", "pref", "1")
        wait_for(lambda: bfd(host, "l0")["state"] == "up" and far.state() == "up", "its end", 15)
    before = bfd(host, "l0")
    host.kill_bondd()
    quiet_for(2 * PATIENCE, "a session that nobody holds would have ended by now")
    assert far.state() == "up"
    host.start_bondd()
    after = bfd(host, "l0")
    assert [after[key] for key in ("local_discriminator", "remote_discriminator", "lost")] == \
        [before[key] for key in ("local_discriminator", "remote_discriminator", "lost")]
    host.ctl("set", "bond0", "bfd_interval", 0)
    wait_for(lambda: far.state() == "down", "them to be told")
