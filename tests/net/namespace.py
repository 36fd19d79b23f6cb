"""Network namespaces for the tests, and programs run in them. Knows devices and addresses; knows no
bond, no bondd.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import PATIENCE, wait_for  # noqa: E402  pylint: disable=wrong-import-position

CLONE_NEWNET = 0x40000000
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, PMTUDISC_DO = 10, 23, 2
KERNEL = tuple(int(number) for number in os.uname().release.split("-")[0].split(".")[:2])
SETTINGS = {"ipv6/conf/default/accept_dad": "0", "ipv6/conf/all/accept_dad": "0",
            "ipv4/ping_group_range": "0 0"}
libc = ctypes.CDLL(None, use_errno=True)


def run(*command, check=True, **kwargs):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="surrogateescape", **{"timeout": 60 * PATIENCE, **kwargs})
    if check and done.returncode:
        raise AssertionError(
            f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr or done.stdout}")
    return done


def open_files(process):
    """{number: path}, of a process or thread in /proc, without what it closes meanwhile."""
    found = {}
    for name in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):
            found[int(name)] = os.readlink(f"/proc/{process}/fd/{name}")
    return found


def children_of(pid):
    return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()]


def memory_kb(pid):
    """What is resident."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class Namespace:
    """A named network namespace. Programs begin where the thread is (inside()): `ip netns exec`
    hides bpffs, and nsenter is one more program, which takes long in an emulated machine.
    """

    def __init__(self, name):
        self.name = name
        self.path = f"/run/netns/{name}"
        self.children = []
        run("ip", "netns", "add", name)
        with self.inside():
            for name, value in SETTINGS.items():
                pathlib.Path("/proc/sys/net", name).write_text(value)
        self.ip("link", "set", "lo", "up")

    def command(self, *words):
        """For who starts it himself."""
        return ["nsenter", f"--net={self.path}", "--", *[str(word) for word in words]]

    def run(self, *words, check=True, **kwargs):
        with self.inside():
            return run(*words, check=check, **kwargs)

    def tc_del(self, *words):
        """The kernel refuses while somebody, as bondd, is just reading the filters."""
        def is_deleted():
            done = self.run("tc", *words, check=False)
            busy = "ongoing filter requests" in done.stderr
            assert busy or not done.returncode, done.stderr
            return not busy
        wait_for(is_deleted, "the filters to be idle")

    def spawn(self, *words, **kwargs):
        with self.inside():
            child = subprocess.Popen([str(word) for word in words], **kwargs)
        self.children.append(child)
        return child

    def ip(self, *words, check=True):
        return self.run("ip", *words, check=check).stdout

    def ip_batch(self, *lines, **kwargs):
        """Several calls of ip by one process."""
        self.run("ip", "-batch", "-", input="\n".join(lines), **kwargs)

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

    def wait_link_local(self, dev):
        """Until the kernel has given dev its address, and groups for it."""
        wait_for(lambda: any(group.startswith("33:33:ff") for group in groups(self, dev)),
                 f"the link-local address of {dev}")

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
        """This thread is in the namespace for the time of the block: for opening sockets, and for
        starting programs.
        """
        with undisturbed():
            home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
            there = os.open(self.path, os.O_RDONLY)
            setns(there)
            os.close(there)
        try:
            yield
        finally:
            with undisturbed():
                setns(home)
                os.close(home)

    def ping(self, address, dev=None, size=56, timeout=2.0 * PATIENCE):
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

    def wait_ping(self, address, deadline=10, **kwargs):
        wait_for(lambda: self.ping(address, timeout=0.3, **kwargs),
                 f"ping {address} from {self.name}", deadline)

    def wait_no_ping(self, address):
        """One answer missing says nothing of a busy machine."""
        wait_for(lambda: not any(self.ping(address, timeout=0.1) for _ in range(10)),
                 f"no ping {address} from {self.name}")

    def remove(self):
        for child in self.children:
            end(child, signal.SIGKILL)
        run("ip", "netns", "del", self.name, check=False)


def setns(fd):
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


@contextlib.contextmanager
def undisturbed():
    """The alarm by which a test ends that takes too long waits until the block is left."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end(child, number=signal.SIGTERM):
    """Ends a child and waits for it; a stopped one is continued. What has devices and programs may
    wait long for the kernel then.
    """
    if child.poll() is None:
        child.send_signal(number)
        child.send_signal(signal.SIGCONT)
    return child.wait(timeout=60 * PATIENCE)


def groups(host, dev):
    """Link-layer multicast addresses on the device's list."""
    return {each["link"] for device in host.ip_json("maddr", "show", "dev", dev)
            for each in device["maddr"] if "link" in each}


def features(namespace, dev="bond0"):
    """{name: "on" | "off", and "[fixed]" or what was requested, behind it}."""
    lines = namespace.run("ethtool", "-k", dev).stdout.splitlines()[1:]
    return dict(line.strip().split(": ", 1) for line in lines)


def kernel_makes(kind):
    """Whether the kernel makes devices of this kind, asked without bondd."""
    name = f"xbt{os.getpid()}mk"
    run("ip", "netns", "add", name)
    if kind == "vlan":
        run("ip", "-n", name, "link", "add", "xbt1", "type", "veth")
    words = ("link", "xbt1", "type", kind, "id", "2") if kind == "vlan" else ("type", kind)
    done = run("ip", "-n", name, "link", "add", "xbt0", *words, check=False)
    run("ip", "netns", "del", name)
    return done.returncode == 0
