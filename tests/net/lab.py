"""Hosts and links for the network tests.

A Host is a network namespace with its own bondd and bondctl directories; a Lab holds
hosts, the veth links between them, and cleans everything up. Nothing outside the
namespaces is touched. Waiting is always for a condition with a deadline.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from built import BUILD, ROOT, SANITIZERS  # noqa: E402,F401  pylint: disable=wrong-import-position

BONDD = BUILD / "bondd"
BONDCTL = BUILD / "bondctl"
BPFFS = "/sys/fs/bpf"
# veth or netkit: what all bonds are made of, unless a test says so itself
DEVICE = os.environ.get("XBOND_TEST_DEVICE")
CLONE_NEWNET = 0x40000000
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, PMTUDISC_DO = 10, 23, 2
KERNEL = tuple(int(number) for number in os.uname().release.split("-")[0].split(".")[:2])
# An emulated machine is slower. Where its clock follows instructions, that leaps forward by seconds
# whenever all the guest does is wait for a file of this machine: there only the host can say what
# takes too long.
PATIENCE = 10000 if os.environ.get("XBOND_VM_STEADY") else 3 if os.environ.get("XBOND_VM") else 1
libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """bondctl failed: status and the text on stderr."""

    def __init__(self, status, text):
        super().__init__(f"exit {status}: {text}")
        self.status, self.text = status, text


def compile_bpf(source, made):
    run("clang", "-O2", "-g", "-target", "bpf", f"-I/usr/include/{os.uname().machine}-linux-gnu",
        "-c", source, "-o", made, timeout=200 * PATIENCE)


def wait_for(condition, what, deadline=5.0, interval=0.02):
    """Returns the first true value of condition(); fails after deadline seconds."""
    deadline *= PATIENCE
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {deadline} s in vain for {what}; last: {value!r}")
        time.sleep(interval)


def run(*command, check=True, **kwargs):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          **{"timeout": 60 * PATIENCE, **kwargs})
    if check and done.returncode:
        raise AssertionError(
            f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr or done.stdout}")
    return done


class Namespace:
    """A named network namespace; entered with nsenter, as `ip netns exec` hides bpffs."""

    def __init__(self, name):
        self.name = name
        self.path = f"/run/netns/{name}"
        self.children = []
        run("ip", "netns", "add", name)
        self.run("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0",
                 "net.ipv6.conf.all.accept_dad=0", "net.ipv4.ping_group_range=0 0")
        self.ip("link", "set", "lo", "up")

    def command(self, *words):
        return ["nsenter", f"--net={self.path}", "--", *[str(word) for word in words]]

    def run(self, *words, check=True, **kwargs):
        return run(*self.command(*words), check=check, **kwargs)

    def tc_del(self, *words):
        """The kernel refuses while somebody, as bondd, is just reading the filters."""
        def is_deleted():
            done = self.run("tc", *words, check=False)
            busy = "ongoing filter requests" in done.stderr
            assert busy or not done.returncode, done.stderr
            return not busy
        wait_for(is_deleted, "the filters to be idle")

    def spawn(self, *words, **kwargs):
        child = subprocess.Popen(self.command(*words), **kwargs)
        self.children.append(child)
        return child

    def ip(self, *words, check=True):
        return self.run("ip", *words, check=check).stdout

    def rename(self, dev, name):
        """Before Linux 6.2 a device that is up keeps its name."""
        if self.run("ip", "link", "set", dev, "name", name, check=False).returncode:
            self.ip("link", "set", dev, "down")
            self.ip("link", "set", dev, "name", name)
            self.ip("link", "set", name, "up")

    def ip_json(self, *words):
        return json.loads(self.ip("-j", *words) or "[]")

    def link(self, dev):
        """`ip -d -s link show dev` as a dict, or None."""
        done = self.run("ip", "-j", "-d", "-s", "link", "show", "dev", dev, check=False)
        return json.loads(done.stdout)[0] if done.returncode == 0 else None

    def carrier_changes(self, dev):
        """How often its carrier came and went."""
        return self.ip_json("-s", "-s", "link", "show", "dev",
                            dev)[0]["stats64"]["tx"]["carrier_changes"]

    def exists(self, dev):
        return self.link(dev) is not None

    def devices(self):
        return {link["ifname"] for link in self.ip_json("link", "show")}

    def received(self, dev):
        return self.link(dev)["stats64"]["rx"]

    def sent(self, dev):
        return self.link(dev)["stats64"]["tx"]

    @contextlib.contextmanager
    def inside(self):
        """This thread is in the namespace for the time of the block: for opening sockets."""
        home, there = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(self.path, os.O_RDONLY)
        try:
            setns(there)
            yield
        finally:
            setns(home)
            os.close(home)
            os.close(there)

    def ping(self, address, dev=None, size=56, timeout=0.3):
        """One ICMP echo, never fragmented here; True when it is answered."""
        six = ":" in address
        family, protocol = (socket.AF_INET6, socket.IPPROTO_ICMPV6) if six \
            else (socket.AF_INET, socket.IPPROTO_ICMP)
        with self.inside():
            pinger = socket.socket(family, socket.SOCK_DGRAM, protocol)
        with pinger:
            pinger.settimeout(timeout)
            if dev:
                pinger.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, dev.encode())
            option = (socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER) if six \
                else (socket.IPPROTO_IP, IP_MTU_DISCOVER)
            pinger.setsockopt(*option, PMTUDISC_DO)
            try:
                header = struct.pack("!BBHHH", 128 if six else 8, 0, 0, 0, 1)
                pinger.sendto(header.ljust(8 + size, b"x"), (address, 0))
                return len(pinger.recv(65536)) == 8 + size
            except OSError:
                return False

    def wait_ping(self, address, deadline=8, **kwargs):
        wait_for(lambda: self.ping(address, **kwargs), f"ping {address} from {self.name}", deadline)

    def remove(self):
        for child in self.children:
            end(child, signal.SIGKILL)
        run("ip", "netns", "del", self.name, check=False)


def setns(fd):
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def end(child, number=signal.SIGTERM):
    """Ends a child and waits for it; a stopped one is continued."""
    if child.poll() is None:
        child.send_signal(number)
        child.send_signal(signal.SIGCONT)
    return child.wait(timeout=15 * PATIENCE)


def groups(host, dev):
    """Link-layer multicast addresses on the device's list."""
    return {each["link"] for device in host.ip_json("maddr", "show", "dev", dev)
            for each in device["maddr"] if "link" in each}


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
        self.program = BONDD
        self.bondd = None
        self.environment = {}

    # bondd

    def bondd_command(self, *extra):
        hook = ["--hook", self.hook] if self.hook else []
        return [self.program, "--run-dir", self.run_dir, "--bpf-dir", self.bpf_dir, "--config-dir",
                self.config_dir, *hook, *extra]

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

    def kill_bondd(self):
        end(self.bondd, signal.SIGKILL)

    def freeze_bondd(self):
        self.bondd.send_signal(signal.SIGSTOP)
        wait_for(lambda: proc_state(self.bondd.pid) == "T", "bondd to stop")

    def thaw_bondd(self):
        self.bondd.send_signal(signal.SIGCONT)

    def log(self):
        return self.log_path.read_text() if self.log_path.exists() else ""

    # bondctl

    def ctl_command(self, *words):
        if DEVICE and words[:1] == ("create",) and len(words) > 1 and "device" not in words:
            words = (*words, "device", DEVICE)
        return [str(word) for word in (BONDCTL, "--run-dir", self.run_dir, "--bpf-dir",
                                       self.bpf_dir, "--config-dir", self.config_dir, *words)]

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
        return json.loads(self.ctl("-j", *words))

    def show(self, bond="bond0"):
        return self.ctl_json("show", bond)

    def slave(self, dev, bond="bond0"):
        """The slave's part of show, or None."""
        return next((slave for slave in self.show(bond)["slaves"] if slave["name"] == dev), None)

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
        """Every file below the bpf directory."""
        return sorted(str(path.relative_to(self.bpf_dir)) for path in self.bpf_dir.rglob("*")
                      if not path.is_dir()) \
            if self.bpf_dir.exists() else []

    # state as others see it

    def carrier_slaves(self, bond="bond0"):
        return [slave["name"] for slave in self.show(bond)["slaves"] if slave["mii_status"] == "up"]

    def wait_slaves(self, *names, bond="bond0", deadline=8):
        """Until exactly these slaves of the bond are up, and bondd has published it."""
        wait_for(lambda: sorted(self.carrier_slaves(bond)) == sorted(names),
                 f"{names} to be the slaves that are up", deadline)
        if self.bondd and self.bondd.poll() is None and proc_state(self.bondd.pid) != "T":
            assert self.ping_bondd()

    def report(self):
        parts = [f"===== {self.name}: bondd's log", self.log()[-6000:]]
        if BONDCTL.exists():
            done = self.run("timeout", "5", *self.ctl_command("-j", "show"), check=False)
            parts += ["===== bondctl -j show", done.stdout, done.stderr]
        parts += ["===== ip -d link", self.ip("-d", "link", check=False)]
        return "\n".join(parts)

    def remove(self):
        super().remove()
        shutil.rmtree(self.bpf_dir, ignore_errors=True)
        shutil.rmtree(self.dir, ignore_errors=True)


def proc_state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


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
        near_index = 1000 + number
        far_index = near_index if same_index else 2000 + number
        near.ip("link", "add", name, "index", near_index, "numtxqueues", 2, "numrxqueues", 2,
                "type", "veth", "peer", "name", name, "index", far_index, "numtxqueues", 2,
                "numrxqueues", 2, "netns", far.name)

    def links(self, near, far, count, **kwargs):
        names = [f"l{number}" for number in range(count)]
        for number, name in enumerate(names):
            self.link(near, far, name, number, **kwargs)
        return names

    def report(self):
        return "\n".join(each.report() for each in [*self.hosts, *self.partners])

    def close(self):
        for partner in self.partners:
            partner.close()
        for namespace in [*self.namespaces, *self.hosts]:
            namespace.remove()
