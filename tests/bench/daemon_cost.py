"""What bondd with 16 bonds of 8 slaves needs: memory, and CPU while nothing happens. What a session
of micro-BFD costs it.
"""
import pathlib
import time

from .bed import bring_up, lab, make_bond, memory_kb, quiet_for, wait_for
from .rows import Row

BONDS, SLAVES = 16, 8
BFD_INTERVALS = (50, 10)  # ms


def cpu_ns(pid):
    """CPU time of all threads: finer than the clock ticks of /proc/PID/stat."""
    return sum(int(path.read_text().split()[0])
               for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"))


def make_bonds(made):
    near, far = made.host("a"), made.namespace("b")
    links = made.links(near, far, BONDS * SLAVES)
    far.ip_batch(*[f"link set {link} up" for link in links])
    started = time.monotonic()
    for number in range(BONDS):
        near.ctl("create", f"bond{number}", "mode", "balance-xor")
        near.ctl("add-slave", f"bond{number}", *links[number::BONDS])
        near.ip("link", "set", f"bond{number}", "up")
    took = time.monotonic() - started
    for number in range(BONDS):
        near.wait_slaves(*links[number::BONDS], bond=f"bond{number}")
    return near, took


def quiet(pid):
    """What follows the creation (messages, first polls) has ended: a second below a hundredth of a
    CPU.
    """
    before = cpu_ns(pid)
    quiet_for(1, "CPU time of so long is measured")
    return cpu_ns(pid) - before < 10_000_000


def idle_percent(pid, seconds):
    before, started = cpu_ns(pid), time.monotonic()
    quiet_for(seconds, "CPU time of so long is measured")
    return (cpu_ns(pid) - before) / 1e7 / (time.monotonic() - started)


def packets(host, links):
    return sum(host.link(link)["stats64"][way]["packets"] for link in links for way in ("tx", "rx"))


def has_sessions(host, links):
    return all(host.slave(link)["monitors"].get("bfd", {}).get("session") == "up" for link in links)


def bfd_rows(scale):
    """Without other traffic, so every packet that the slaves count is one of BFD."""
    ends = "10.9.0.1", "10.9.0.2"
    with lab() as made:
        hosts = made.host("a"), made.host("b")
        links = made.links(*hosts, SLAVES)
        for host, local, remote in zip(hosts, ends, reversed(ends)):
            make_bond(host, links, local, mode="balance-xor", bfd_local=local, bfd_remote=remote)
            bring_up(host, links)
        pid = hosts[0].bondd.pid
        wait_for(lambda: quiet(pid), "bondd to be idle", 20)
        idle = idle_percent(pid, scale.idle_seconds / 2)
        for interval in BFD_INTERVALS:
            for host in hosts:
                host.ctl("set", "bond0", "bfd_interval", interval)
            wait_for(lambda: all(has_sessions(host, links) for host in hosts), "sessions", 20)
            before, started = packets(hosts[0], links), time.monotonic()
            percent = idle_percent(pid, scale.idle_seconds / 2) - idle
            rate = (packets(hosts[0], links) - before) / (time.monotonic() - started)
            what = f"bondd, {SLAVES} sessions of BFD at {interval} ms"
            yield Row(f"{what}: CPU of each", percent / SLAVES, "percent")
            yield Row(f"{what}: a packet sent or received", percent * 1e4 / rate, "us")


def rows(scale):
    yield from bfd_rows(scale)
    with lab() as made:
        near, took = make_bonds(made)
        pid = near.bondd.pid
        wait_for(lambda: quiet(pid), "bondd to be idle", 20)
        percent, resident = idle_percent(pid, scale.idle_seconds), memory_kb(pid) / 1024
    what = f"bondd, {BONDS} bonds of {SLAVES} slaves"
    yield Row(f"{what}: made in", took, "s")
    yield Row(f"{what}: resident", resident, "MB", 32)
    yield Row(f"{what}: CPU while idle", percent, "percent", 0.5)
