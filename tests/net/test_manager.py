"""What bondd and a service manager do for each other: the watchdog, a socket that waits for bondd,
and the capabilities that bondd keeps.
"""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess

import pytest

from lab import BUILD
from lacp import wait_distributing, wait_told
from namespace import end, open_files
from traffic import Stream
from waiting import wait_for
from webclient import Server

LIMIT_S = 5  # no less: on a busy machine it takes seconds to load the programs
# <linux/capability.h>: NET_ADMIN, NET_RAW, SYS_PTRACE, SYS_ADMIN, SYS_NICE, PERFMON, BPF
KEPT = sum(1 << number for number in (0, 12, 13, 19, 21, 23, 38, 39))


class Manager:
    """Hears what bondd tells, and wants to hear something every LIMIT_S seconds."""

    def __init__(self, host):
        path = host.dir / "notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(0.05)
        self.said = []
        host.environment = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": str(LIMIT_S * 1000000)}

    def hear(self):
        with contextlib.suppress(TimeoutError):
            while True:
                self.said.append(self.socket.recv(4096).decode())
        return self.said

    def wait(self, text, count=1):
        wait_for(lambda: self.hear().count(text) >= count, f"{text} {count} times", 30)


@contextlib.contextmanager
def hanging(pid, thread):
    """The thread has hung, while the others go on."""
    holder = subprocess.Popen([BUILD / "tools/hang", str(pid), thread], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"hung\n"
    yield
    end(holder, signal.SIGKILL)


def test_a_thread_that_hangs_is_told_of(pair):
    """Then systemd aborts bondd and starts it again; the partner and the traffic notice nothing.
    (tests/vm/guest/service has this with systemd, and another thread.)
    """
    made = pair("802.3ad", links=2, lacp_rate="fast", xmit_hash_policy="layer3+4")
    made.near.stop_bondd()
    manager = Manager(made.near)
    made.near.start_bondd()
    wait_distributing(made.near, made.far, links=made.links)
    wait_told(made.far, made.links)
    told = len(made.far.log())
    stream = Stream(made.near, made.far, rate=2000, flows=16)
    stream.flow_on(500)
    manager.wait("WATCHDOG=1", 3)
    with hanging(made.near.bondd.pid, "lacp"):
        manager.wait("WATCHDOG=trigger")
        assert made.near.log().count("the thread 'lacp' has hung") == 1
        assert manager.hear()[-1] == "WATCHDOG=trigger"
        end(made.near.bondd, signal.SIGABRT)
    made.near.environment = {}
    made.near.start_bondd()
    wait_distributing(made.near, made.far, links=made.links)
    stream.flow_on(500)
    assert made.far.log()[told:] == "", "the partner has noticed something"
    assert stream.finish()["lost"] == 0


def threads(pid, *keys):
    """{thread: what its status says of each key}"""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        found[(task / "comm").read_text().strip()] = tuple(
            int(re.search(rf"^{key}:\t(\w+)", status, re.M)[1], 16) for key in keys)
    return found


@pytest.mark.skipif(os.environ.get("SAN") == "thread", reason="it has a thread of its own")
def test_no_thread_keeps_what_it_does_not_need(lone):
    host = lone(links=2, bondd=False)
    host.environment = {"XBOND_METRICS": f"unix:{host.dir}/metrics"}
    host.start_bondd()
    host.ctl("create", "bond0", "mode", "802.3ad")
    host.ctl("add-slave", "bond0", "l0")

    def held():
        return threads(host.bondd.pid, "CapPrm", "CapEff")
    wait_for(lambda: held().pop("metrics") == (0, 0), "the thread that speaks HTTP to have none")
    assert {"lacp", "poll", "announce", "settle", "metrics-reader"} <= set(held())
    wait_for(lambda: {each for thread, each in held().items() if thread != "metrics"} ==
             {(KEPT, KEPT)}, "all threads to have dropped the others")
    host.ctl("add-slave", "bond0", "l1")
    host.ctl("delete", "bond0")


def descriptors(pid, thread):
    """What they lead to, of one thread, without numbers and directories."""
    task = next(task for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                if (task / "comm").read_text().strip() == thread)
    return sorted(re.sub(r"\d+", "N", os.path.basename(path))
                  for path in open_files(f"{pid}/task/{task.name}").values())


def test_the_thread_that_speaks_http_has_no_way_to_programs_and_links(lone):
    """No call but those of a server (tests/unit/test_confine.c tries others), and no descriptor but
    its own: a log, an event of bondd's end and of its reader's, a socket, and epoll.
    """
    host = lone(links=1, bondd=False)
    host.environment = {"XBOND_METRICS": "127.0.0.1:9977"}
    host.start_bondd()
    server = Server(host)
    wait_for(server.answers, "an answer")
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0")
    wait_for(lambda: 'bond="bond0",slave="l0"' in server.ask("/metrics").text, "the slave")
    modes = threads(host.bondd.pid, "Seccomp", "NoNewPrivs")
    assert modes["metrics"] == (2, 1) and modes["metrics-reader"][0] == 0
    assert descriptors(host.bondd.pid, "bondd") != descriptors(host.bondd.pid, "metrics")
    wait_for(lambda: descriptors(host.bondd.pid, "metrics") ==
             ["anon_inode:[eventfd]", "anon_inode:[eventfd]", "anon_inode:[eventpoll]",
              "bondd.log", "socket:[N]"], "only its own descriptors")


def activated(host, path, *words):
    """bondd as it is started by the first who connects to that path."""
    with open(host.log_path, "a") as log:
        host.bondd = host.spawn("systemd-socket-activate", "-l", path, *words,
                                *host.bondd_command(), stderr=log, stdout=log)
    wait_for(lambda: f"Listening on {path}" in host.log(), "the socket")


def test_the_first_request_starts_bondd(lone):
    host = lone(links=1, bondd=False)
    host.run_dir.mkdir()
    path = host.run_dir / "bondd.sock"
    activated(host, path)
    assert "ready" not in host.log()
    host.ctl("create", "bond0")
    assert "ready" in host.log() and host.ctl_json("list") == ["bond0"]
    assert path.stat().st_mode & 0o777 == 0o660
    before = path.stat().st_ino
    assert end(host.bondd) == 0
    assert path.stat().st_ino == before, "the socket is not bondd's to remove"
    host.start_bondd()
    assert host.ctl_json("list") == ["bond0"]
    assert end(host.bondd) == 0 and not path.exists()


def test_a_socket_of_another_place_is_not_used(lone):
    host = lone(links=0, bondd=False)
    other = host.dir / "other.sock"
    activated(host, other)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(other))
        host.wait_ready()
    assert f"not {host.run_dir}/bondd.sock; bondd does not use it" in host.log()


def test_a_socket_whose_path_is_gone_is_not_used(lone):
    """As after a bondd that was started by hand, which made its own."""
    host = lone(links=0, bondd=False)
    host.run_dir.mkdir()
    path = host.run_dir / "bondd.sock"
    activated(host, path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        path.unlink()
        host.wait_ready()
    assert "was removed" in host.log() and host.ctl_json("list") == []
    assert end(host.bondd) == 0 and not path.exists()
