"""How long `bondd --metrics` takes to answer for 64 bonds of 8 slaves, and what that does to the
main loop.
"""
import pathlib
import statistics
import time

from .bed import lab, quiet_for, wait_for
from .rows import Row

# pylint: disable=wrong-import-order
from webclient import Server

BONDS, SLAVES = 64, 8
PAUSE_S = 0.25  # longer than an answer is kept


def threads_ns(pid):
    """CPU time of the threads that answer: one speaks HTTP, one reads the maps."""
    used = {(task / "comm").read_text().strip(): int((task / "schedstat").read_text().split()[0])
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir()}
    return used["metrics"] + used["metrics-reader"]


def make_bonds(made):
    near, far = made.host("a", bondd=False), made.namespace("b")
    near.environment["XBOND_METRICS"] = "127.0.0.1:9977"
    near.start_bondd()
    links = made.links(near, far, BONDS * SLAVES)
    far.ip_batch(*[f"link set {link} up" for link in links])
    for number in range(BONDS):
        near.ctl("create", f"bond{number}", "mode", "802.3ad")
        near.ctl("add-slave", f"bond{number}", *links[number::BONDS])
        near.ip("link", "set", f"bond{number}", "up")
    return near, far, links


def answer_ms(server, path, times):
    """[ms of each answer], CPU ms of one."""
    took, before = [], threads_ns(server.host.bondd.pid)
    for _ in range(times):
        quiet_for(PAUSE_S, "a younger answer would be given again")
        started = time.perf_counter()
        assert server.ask(path).status == 200
        took.append((time.perf_counter() - started) * 1e3)
    return took, (threads_ns(server.host.bondd.pid) - before) / times / 1e6


def flapped_loop(near, far, links, ask):
    """The longest turn, without waits for a CPU, of a bondd that has just been started, while links
    of all bonds flap and ask() is called.
    """
    near.restart_bondd()
    for state in ("down", "up") * 3:
        far.ip_batch(*[f"link set {link} {state}" for link in links[:BONDS]])
        for _ in range(4):
            ask()
            quiet_for(PAUSE_S, "the pause between two answers")
    return near.ctl_json("stats", "bond0")["loop"]["worst_own_ms"]


def rows(scale):
    with lab() as made:
        near, far, links = make_bonds(made)
        server = Server(near)
        wait_for(server.answers, "an answer")
        what = f"metrics, {BONDS} bonds of {SLAVES} slaves"
        for path in ("/metrics", "/bonds.json"):
            took, cpu = answer_ms(server, path, scale.answers)
            yield Row(f"{what}: {path} answered in (median)", statistics.median(took), "ms",
                      50 if path == "/metrics" else None)
            yield Row(f"{what}: {path}, CPU time", cpu, "ms")
        alone = flapped_loop(near, far, links, lambda: None)
        asked = flapped_loop(near, far, links, lambda: server.ask("/metrics"))
    yield Row(f"{what}: longest turn while links flap, nobody asks", alone, "ms")
    yield Row(f"{what}: the same, metrics are asked for", asked, "ms")
