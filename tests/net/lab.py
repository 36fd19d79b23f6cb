"""Hosts and links for the network tests.

A Host is a network namespace with its own bondd and bondctl directories; a Lab holds
hosts, the veth links between them, and cleans everything up. Nothing outside the
namespaces is touched.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import tempfile

import pytest

from namespace import Namespace, end, open_files, run  # first: it sets the path for what follows

import schema  # pylint: disable=wrong-import-order
from built import BUILD, IS_INSTRUMENTED, ROOT  # noqa: F401  pylint: disable=wrong-import-order
from waiting import PATIENCE, wait_for  # pylint: disable=wrong-import-order

BONDD = BUILD / "bondd"
BONDCTL = BUILD / "bondctl"
BPFFS = "/sys/fs/bpf"
WITH_SCHEMA = ("show", "list", "stats", "explain", "flows")
WITH_BUCKETS = ("balance-rr", "balance-xor", "802.3ad", "balance-tlb", "balance-alb")
SYS_PIDFD_GETFD, SO_RCVBUFFORCE = 438, 33
DIED = 99  # status of a bondd that ended at a step
# veth, netkit or team: what all bonds are made of, unless a test says so itself
DEVICE = os.environ.get("XBOND_TEST_DEVICE")
# What a team refuses, or does whatever the option says: option, values, why.
TEAM_HAS_NOT = (
    ("rx_hook", ("xdp", "auto"), "has no XDP"),
    ("xdp_tx", ("on",), "has no XDP"),
    ("mode", ("balance-tlb", "balance-alb", "5", "6"), "has no modes with addresses of their own"),
)
# What a team refuses that can send: one that was made with path counted, or without these.
COUNTING_TEAM_HAS_NOT = (
    ("fail_over_mac", ("active", "follow", "1", "2"), "that counts gives slaves its address"),
    ("mac_policy", ("filter",), "that counts gives slaves its address"),
)


def is_team():
    """Whether bonds are made of a team by XBOND_TEST_DEVICE, not by a test's own choice."""
    return DEVICE == "team"


def needs_ports_that_come_back():
    """For tests of slaves that leave the namespace and return."""
    if is_team():
        pytest.skip("a port that leaves the namespace is no port of a team any more")


def team_lacks(words, has_not=TEAM_HAS_NOT):
    """Of what is asked of a bond: what a team has not, as words; None if it has all of it."""
    given = dict(zip(words[2::2], words[3::2]))
    return next((reason for option, values, reason in has_not
                 if str(given.get(option)) in values), None)


def stable(show):
    """show without what moves: counters, times, and what bondd's loop did."""
    moving = re.compile(r"^(tx|rx)_(packets|bytes|dropped)$|_ms$|^loop$").search
    if isinstance(show, dict):
        return {key: stable(value) for key, value in show.items() if not moving(key)}
    return [stable(each) for each in show] if isinstance(show, list) else show


class Refused(Exception):
    """bondctl failed: status and the text on stderr."""

    def __init__(self, status, text):
        super().__init__(f"exit {status}: {text}")
        self.status, self.text = status, text


class Host(Namespace):
    """A namespace with a bondd of its own."""

    def __init__(self, name, hook=None):
        super().__init__(name)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir="/tmp"))
        self.dir.chmod(0o755)
        self.run_dir, self.config_dir = self.dir / "run", self.dir / "etc"
        self.bpf_dir = pathlib.Path(BPFFS) / name
        self.config_dir.mkdir()
        self.log_path = self.dir / "bondd.log"
        self.hook = hook
        self.use_build(BONDD)
        self.bondd = None
        self.environment = {}
        self.wrapper = []

    # bondd

    def use_build(self, program):
        """This bondd from its next start on, and at once the bondctl beside it."""
        self.program, self.bondctl = program, program.with_name("bondctl")

    def replace_bondd(self, program):
        """An orderly stop, and this bondd starts."""
        self.stop_bondd()
        self.use_build(program)
        self.start_bondd()

    def bondd_command(self, *extra):
        hook = ["--hook", self.hook] if self.hook else []
        return [*self.wrapper, self.program, "--run-dir", self.run_dir, "--bpf-dir", self.bpf_dir,
                "--config-dir", self.config_dir, *hook, *extra]

    def start_bondd(self, wait=True):
        with open(self.log_path, "a") as log:
            self.bondd = self.spawn(*self.bondd_command(), stderr=log, stdout=log,
                                    env={**os.environ, **self.environment})
        if wait:
            self.wait_ready()

    def wait_ready(self):
        def ready():
            assert self.bondd.poll() is None, \
                f"bondd ended with {self.bondd.returncode}:\n{self.log()}"
            return self.ping_bondd()
        wait_for(ready, "bondd to answer", 15)

    def request(self, line, timeout=5.0):
        """Sends one line to the control socket, returns the answer."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(timeout)
            client.connect(str(self.run_dir / "bondd.sock"))
            client.sendall(line)
            answer = b""
            while not answer.endswith(b"\n"):
                part = client.recv(65536)
                if not part:
                    break
                answer += part
        return json.loads(answer) if answer else None

    def ping_bondd(self):
        try:
            answer = self.request(b'{"method": "ping"}\n', timeout=5 * PATIENCE)
        except OSError:
            return False
        return bool(answer) and answer["ok"]

    def stop_bondd(self):
        """An orderly stop."""
        assert end(self.bondd, signal.SIGTERM) == 0, self.log()

    def restart_bondd(self, kill=False, **environment):
        """The next one has this environment from then on, if any is given."""
        if kill:
            self.kill_bondd()
        else:
            self.stop_bondd()
        self.environment = environment or self.environment
        self.start_bondd()

    @contextlib.contextmanager
    def dying_at(self, step, wait=True):
        """A new bondd, in place of one that runs. It ends at this step of what the block has it do
        (crashpoint.h), and has ended, untidily, when the block is left.
        """
        if self.bondd and self.bondd.poll() is None:
            self.stop_bondd()
        self.environment = {"XBOND_TEST_DIE_AT": step}
        self.start_bondd(wait=wait)
        yield
        status = self.bondd.wait(timeout=15 * PATIENCE)
        assert status == DIED, f"bondd ended with {status}, not at {step}"
        self.environment = {}

    @contextlib.contextmanager
    def failing(self, *faults):
        """Calls of the running bondd fail in the block, each fault as strace's --inject has it:
        "sendmsg:error=ENOBUFS:when=3". Counted for each thread, from here on. Gives the file
        with the calls.
        """
        needs_strace()
        options = [word for fault in faults for word in ("-e", f"inject={fault}")]
        calls = ",".join(fault.split(":")[0] for fault in faults)
        trace = self.dir / "strace"
        tracer = self.spawn("strace", "-qq", "-f", "-s", 200, "-o", trace, "-e",
                            f"trace={calls}", *options, "-p", self.bondd.pid)
        wait_for(lambda: tracer.poll() is not None or is_traced(self.bondd.pid),
                 "strace to have bondd")
        assert tracer.poll() is None, options
        yield trace
        assert end(tracer, signal.SIGINT) is not None and self.bondd.poll() is None, self.log()

    def start_failing(self, *faults):
        """Starts a bondd of which calls fail, from its first one on."""
        needs_strace()
        self.wrapper = ["strace", "-qq", "-D", "-f", "-o", self.dir / "strace",
                        *(word for fault in faults for word in ("-e", f"inject={fault}"))]
        self.start_bondd()
        self.wrapper = []

    def refusable(self):
        """The environment of a program to which refusing() can refuse things."""
        if IS_INSTRUMENTED:
            pytest.skip("before a sanitizer nothing may be loaded")
        return {"LD_PRELOAD": str(BUILD / "tools/refuse.so"),
                "XBOND_TEST_REFUSE": str(self.dir / "refuse")}

    def start_refusable(self):
        """Starts such a bondd."""
        self.environment = self.refusable()
        self.start_bondd()

    @contextlib.contextmanager
    def refusing(self, *what):
        """In the block the kernel has no memory for this, or another date; refuse.so.c says what it
        can be.
        """
        (self.dir / "refuse").write_text("".join(f"{each}\n" for each in what))
        yield
        (self.dir / "refuse").unlink()

    def kill_bondd(self):
        end(self.bondd, signal.SIGKILL)

    def freeze_bondd(self):
        self.bondd.send_signal(signal.SIGSTOP)
        self.wait_frozen()

    def wait_frozen(self):
        wait_for(lambda: proc_state(self.bondd.pid) == "T", "bondd to stop")

    def thaw_bondd(self):
        self.bondd.send_signal(signal.SIGCONT)

    @contextlib.contextmanager
    def overrun(self):
        """bondd stands still in the block, and the kernel has no room for messages to it, so they
        are lost.
        """
        with listening_sockets(self.bondd.pid) as listeners:
            self.freeze_bondd()
            for listener in listeners:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            self.ip_batch(*["link set lo mtu 60000", "link set lo mtu 65536"] * 4)
            yield
            for listener in listeners:
                listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 20)
        self.thaw_bondd()

    def wait_looked(self, seconds=2.6):
        """Until bondd's heartbeat has gone on for so long: it has looked at all that it looks at
        that often; over its bonds it goes every two seconds.
        """
        before = self.pinned("table")["heartbeat_ns"]
        wait_for(lambda: self.pinned("table")["heartbeat_ns"] > before + seconds * 1e9,
                 f"{seconds} s of bondd's heartbeat", seconds + 5)

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def events(self):
        """What this bondd has told, also what the log leaves out."""
        return self.ctl("monitor", "--since", "-1h", "--no-follow")

    # bondctl

    def ctl_command(self, *words):
        if DEVICE and words[:1] == ("create",) and len(words) > 1 and "device" not in words:
            words = (*words, "device", DEVICE)
        if is_team() and words[:1] in (("create",), ("set",)):
            self.skip_what_a_team_lacks(words)
        return [str(word) for word in (self.bondctl, "--run-dir", self.run_dir, "--bpf-dir",
                                       self.bpf_dir, "--config-dir", self.config_dir, *words)]

    def skip_what_a_team_lacks(self, words):
        if words[0] == "create":
            lacks = team_lacks(words)
            if not lacks and "counted" in words:
                lacks = team_lacks(words, COUNTING_TEAM_HAS_NOT)
            is_one = DEVICE in words
        else:
            is_one = self.is_team(words[1])
            lacks = team_lacks(words)
            if is_one and not lacks and self.pinned("bond", words[1])["team_sends"]:
                lacks = team_lacks(words, COUNTING_TEAM_HAS_NOT)
        if is_one and lacks:
            pytest.skip(f"a team {lacks}")

    def ctl_try(self, *words, **kwargs):
        """The finished process, whatever its status."""
        return self.run(*self.ctl_command(*words), check=False, **kwargs)

    def ctl(self, *words):
        """stdout of a bondctl that must succeed."""
        done = self.ctl_try(*words)
        if done.returncode:
            raise Refused(done.returncode, done.stderr)
        return done.stdout

    def ctl_json(self, *words):
        """Whatever a test asks for is held against its schema on the way, but not in the emulated
        machine, which is slow.
        """
        value = json.loads(self.ctl("-j", *words))
        if words[0] in WITH_SCHEMA and not os.environ.get("XBOND_VM"):
            schema.check(words[0], value)
        return value

    def doctor(self, *words, seconds=0):
        """What it found; its exit status must say the same. Traffic is watched for so long."""
        watch = ["--seconds", seconds] if seconds else ["--no-traffic"]
        done = self.ctl_try("-j", "doctor", *watch, *words)
        assert done.stderr == "", done.stderr
        found = json.loads(done.stdout)
        if not os.environ.get("XBOND_VM"):
            schema.check("doctor", found)
        worst = {each["severity"] for each in found}
        assert done.returncode == (5 if "bad" in worst else 4 if "warning" in worst else 0)
        return found

    def show(self, bond="bond0"):
        return self.ctl_json("show", bond)

    def slave(self, dev, bond="bond0"):
        """The slave's part of show, or None."""
        return next((slave for slave in self.show(bond)["slaves"] if slave["name"] == dev), None)

    def slave_names(self, bond="bond0"):
        return [slave["name"] for slave in self.show(bond)["slaves"]]

    def pinned(self, name, bond="bond0"):
        """A pinned map's only element, as bpftool prints it with named fields."""
        dump = json.loads(run("bpftool", "-j", "map", "dump", "pinned",
                              self.bpf_dir / bond / name).stdout)
        value = dump[0].get("formatted", dump[0])["value"]
        # .data.table: [{"table": {...}}]
        while isinstance(value, (dict, list)) and len(value) == 1:
            value = value[0] if isinstance(value, list) else next(iter(value.values()))
        return value

    def pins(self):
        """Every file below the bpf directory, which bondd may be removing."""
        return sorted(os.path.relpath(os.path.join(directory, name), self.bpf_dir)
                      for directory, _, names in os.walk(self.bpf_dir) for name in names)

    # state as others see it

    def is_team(self, dev):
        return (self.link(dev) or {}).get("linkinfo", {}).get("info_kind") == "team"

    def ip(self, *words, check=True):
        if is_team() and words[:2] == ("link", "set") and words[3:4] == ("netns",) and \
                self.is_team(words[2]):
            pytest.skip("a team stays in its network namespace")
        return super().ip(*words, check=check)

    def carrier_slaves(self, bond="bond0"):
        return [slave["name"] for slave in self.show(bond)["slaves"] if slave["mii_status"] == "up"]

    def owners(self, bond="bond0"):
        """The slot of each bucket that is in force."""
        table, buckets = self.pinned("table", bond), self.pinned("buckets", bond)["bucket"]
        copy = table["active"] & 1
        return buckets[copy][:table["bucket_count"][copy]]

    def make_bond(self, slaves, *options):
        """bond0, up, whose slaves work."""
        self.ctl("create", "bond0", *options)
        self.ctl("add-slave", "bond0", *slaves)
        self.ip("link", "set", "bond0", "up")
        self.wait_slaves(*slaves)

    def wait_port_side(self):
        """Until the kernel has opened bond0's, if it has one: before, it drops what goes there."""
        wait_for(lambda: "LOWER_UP" in (self.link("xb-bond0") or {"flags": ["LOWER_UP"]})["flags"],
                 "the port side to open")

    def wait_slaves(self, *names, bond="bond0", deadline=10):
        """Until exactly these slaves of the bond are up, and bondd has published it. It may share
        out the buckets later than all else.
        """
        wait_for(lambda: sorted(self.carrier_slaves(bond)) == sorted(names),
                 f"{names} to be the slaves that are up", deadline)
        if not self.bondd or self.bondd.poll() is not None or proc_state(self.bondd.pid) == "T":
            return
        assert self.ping_bondd()
        wait_for(lambda: self.has_shared_out(bond), "the slaves in use to have all buckets")

    def has_shared_out(self, bond):
        """Whether just the slaves in use have buckets."""
        shown = self.show(bond)
        in_use = sum(slave["active"] for slave in shown["slaves"])
        if shown["mode"] not in WITH_BUCKETS or not in_use:
            return True
        owners, mask = set(self.owners(bond)), self.pinned("table", bond)["tx_mask"]
        return len(owners) == in_use and all(mask >> slot & 1 for slot in owners)

    def report(self):
        parts = [f"===== {self.name}: bondd's log", self.log()[-6000:]]
        if self.bondctl.exists():
            done = self.run("timeout", "5", *self.ctl_command("-j", "show"), check=False)
            parts += ["===== bondctl -j show", done.stdout, done.stderr]
        parts += ["===== ip -d link", self.ip("-d", "link", check=False)]
        return "\n".join(parts)

    def remove(self):
        if IS_INSTRUMENTED and self.bondd:
            end(self.bondd)
        super().remove()
        shutil.rmtree(self.bpf_dir, ignore_errors=True)
        shutil.rmtree(self.dir, ignore_errors=True)


def needs_strace():
    if not shutil.which("strace"):
        pytest.skip("there is no strace, by which calls fail")
    if IS_INSTRUMENTED:
        pytest.skip("the leak checker and strace exclude each other")


def is_traced(pid):
    """All of its threads."""
    return all("TracerPid:\t0\n" not in (task / "status").read_text()
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


def fd_of(pidfd, number):
    """A descriptor of ours for that of another process, or None."""
    fd = ctypes.CDLL(None).syscall(SYS_PIDFD_GETFD, pidfd, number, 0)
    return fd if fd >= 0 else None


@contextlib.contextmanager
def listening_sockets(pid):
    """The sockets by which the kernel tells a process of its devices."""
    with contextlib.ExitStack() as stack:
        pidfd = os.pidfd_open(pid)
        stack.callback(os.close, pidfd)
        sockets = []
        for number, path in open_files(pid).items():
            fd = fd_of(pidfd, number) if path.startswith("socket:") else None
            each = stack.enter_context(socket.socket(fileno=fd)) if fd is not None else None
            if each and each.family == socket.AF_NETLINK and each.getsockname()[1]:
                sockets.append(each)
        yield sockets


def hooks(host):
    """By which hook each slave receives."""
    return [slave["rx_hook"] for slave in host.show()["slaves"]]


def proc_state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def veth_words(far, name, number, same_index):
    near_index = 1000 + number
    far_index = near_index if same_index else 2000 + number
    return f"link add {name} index {near_index} numtxqueues 2 numrxqueues 2 type veth " \
           f"peer name {name} index {far_index} numtxqueues 2 numrxqueues 2 netns {far.name}"


class Lab:
    """All hosts of one test."""
    count = 0

    def __init__(self, hook=None):
        self.hook = hook
        self.hosts = []
        self.namespaces = []
        self.partners = []  # others that report() and close(), as Open vSwitch
        Lab.count += 1
        self.prefix = f"xbt{os.getpid()}n{Lab.count}"

    def host(self, letter, bondd=True):
        host = Host(f"{self.prefix}{letter}", hook=self.hook)
        self.hosts.append(host)
        if bondd:
            host.start_bondd()
        return host

    def namespace(self, letter):
        namespace = Namespace(f"{self.prefix}{letter}")
        self.namespaces.append(namespace)
        return namespace

    def link(self, near, far, name, number, same_index=False):
        """A veth pair, called name on both sides, with chosen ifindexes: equal ones delay the
        kernel's messages.
        """
        near.ip_batch(veth_words(far, name, number, same_index))

    def links(self, near, far, count, same_index=False):
        names = [f"l{number}" for number in range(count)]
        near.ip_batch(*[veth_words(far, name, number, same_index)
                        for number, name in enumerate(names)])
        return names

    def lone(self, links=2, bondd=True):
        """A host with bondd and a far namespace; links end in both, no bond yet."""
        near, far = self.host("a", bondd=bondd), self.namespace("b")
        near.links = self.links(near, far, links)
        far.ip_batch(*[f"link set {name} up" for name in near.links])
        near.far = far
        return near

    def report(self):
        return "\n".join(each.report() for each in [*self.hosts, *self.partners])

    def close(self):
        for partner in self.partners:
            partner.close()
        for namespace in [*self.namespaces, *self.hosts]:
            namespace.remove()
