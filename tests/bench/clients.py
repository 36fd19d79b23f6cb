"""How what bondd does grows with the clients of balance-alb, also with more than it has room for.
"""
import pathlib
import re
import statistics

from .bed import ROOT, lab, make_bond, quiet_for, wait_for  # first: it sets the path

# pylint: disable=wrong-import-order
from namespace import memory_kb
from targets import arp
from traffic import send_frames
# pylint: enable=wrong-import-order

from .daemon_cost import cpu_ns, idle_percent
from .rows import Row
from .scale import SHOWN, seconds_of

CLIENTS = 1000, 4000, 10000  # those that the kernel's table of neighbours has room for
ROOM = int(re.search(r"XBOND_MAX_CLIENTS (\d+)", (ROOT / "bpf/abi_packet.h").read_text())[1]) - 1
TOLD = 6  # seconds, after which clients have been told three times


def most_neighbours():
    """The kernel forgets neighbours beyond, and does not answer those that ask."""
    return int(pathlib.Path("/proc/sys/net/ipv4/neigh/default/gc_thresh3").read_text())


def ask(near, clients):
    """So many neighbours, on the other end of the active slave, ask for the bond's address."""
    pairs = [(number // 250, number % 250 + 1) for number in range(clients)]
    send_frames(near.far, near.show()["active_slave"], [
        arp(1, f"10.0.{net}.{host}", "10.0.255.1", sender_mac=f"02:cc:00:00:{net:02x}:{host:02x}")
        for net, host in pairs])


def known(near):
    return sum(slave["clients"] for slave in near.show()["slaves"])


def all_known(near, clients):
    ask(near, clients)
    return known(near) >= min(clients, ROOM)


def client_rows(scale, clients):
    what = f"{clients} clients of balance-alb"
    with lab() as made:
        near = made.lone(4)
        make_bond(near, near.links, "10.0.255.1", mode="balance-alb")
        near.ip("route", "add", "10.0.0.0/16", "dev", "bond0")
        near.wait_slaves(*near.links)
        yield Row(f"{what}: all known that find room", seconds_of(lambda: wait_for(
            lambda: all_known(near, clients), lambda: f"clients, not {known(near)}", 120)), "s")
        yield Row(f"{what}: known", known(near), "clients")
        quiet_for(3, "what follows ends")
        yield Row(f"{what}: CPU", idle_percent(near.bondd.pid, scale.idle_seconds), "percent")
        yield Row(f"{what}: resident", memory_kb(near.bondd.pid) / 1024, "MB")
        yield Row(f"{what}: show -j", 1000 * statistics.median(
            seconds_of(lambda: near.ctl("-j", "show")) for _ in range(SHOWN)), "ms")
        near.stop_bondd()
        yield Row(f"{what}: adopted", seconds_of(near.start_bondd), "s")
        near.wait_slaves(*near.links)
        before = cpu_ns(near.bondd.pid)
        near.far.ip("link", "set", near.links[1], "down")
        yield Row(f"{what}: none left to a slave that was cut", seconds_of(lambda: wait_for(
            lambda: not near.slave(near.links[1])["clients"], "that", 60)), "s")
        quiet_for(TOLD, "they are told for the third time")
        yield Row(f"{what}: CPU time of that, and of telling them",
                  (cpu_ns(near.bondd.pid) - before) / 1e6, "ms")


def rows(scale):
    for clients in CLIENTS:
        if clients < most_neighbours():
            yield from client_rows(scale, clients)
