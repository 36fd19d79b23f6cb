"""How what bondd does grows with what it has: bonds of four LACP ports at the fast rate, and one
bond of 64. The far end is an xbond, too, and shares the CPUs. clients.py has clients of
balance-alb.
"""
import contextlib
import statistics
import time

from .bed import lab, quiet_for, wait_for  # first: it sets the path

# pylint: disable=wrong-import-order
from namespace import memory_kb
from traffic import Capture
# pylint: enable=wrong-import-order

from .daemon_cost import idle_percent
from .detection import TxMask
from .lacp import LATE, bond_up, off_time
from .rows import Row

SIZES = (16, 4), (64, 4), (256, 4), (1, 64)  # bonds, slaves of each
HEARD = 8  # links on which LACPDUs are captured
SHOWN = 5  # times


def seconds_of(action):
    began = time.monotonic()
    action()
    return time.monotonic() - began


def carrying(host, end="actor_state"):
    """Ports that distribute, of all bonds; by "partner_state" those at the other end."""
    return sum("distributing" in slave["lacp"][end]
               for bond in host.ctl_json("show") for slave in bond["slaves"])


def names(bonds):
    return [f"bond{number}" for number in range(bonds)]


def make_bonds(host, links, bonds, **options):
    for number, bond in enumerate(names(bonds)):
        bond_up(host, links[number::bonds], bond, **options)


@contextlib.contextmanager
def heard(host, links):
    """Captures of some of the links."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Capture(host, link))
               for link in links[::max(1, len(links) // HEARD)]]


def cut_seconds(near, far, bonds, links):
    """From before the far end of a link is set down until its bond has left it, of a few bonds."""
    times = []
    for number in range(0, bonds, max(1, bonds // SHOWN)):
        mask = TxMask(near, f"bond{number}")
        assert mask.has(0)
        began = time.monotonic()
        far.ip("link", "set", links[number], "down")
        wait_for(lambda mask=mask: not mask.has(0), "the bond to leave the link", interval=0.0001)
        times.append(time.monotonic() - began)
    return times


def lacp_rows(scale, bonds, slaves):
    what = f"{bonds} bond{'s' * (bonds > 1)} of {slaves} LACP ports"
    with lab() as made:
        near, far = made.host("a"), made.host("b")
        links = made.links(near, far, bonds * slaves)
        make_bonds(far, links, bonds)
        took = seconds_of(lambda: make_bonds(near, links, bonds))
        yield Row(f"{what}: made, each", 1000 * took / bonds, "ms")
        yield Row(f"{what}: until all carry", seconds_of(lambda: wait_for(
            lambda: carrying(near) == carrying(far) == len(links), "all ports", 120)), "s")
        quiet_for(3, "the hold-back of carrier messages, and the exchange of LACPDUs, end")
        yield Row(f"{what}: CPU", idle_percent(near.bondd.pid, scale.idle_seconds), "percent")
        yield Row(f"{what}: resident", memory_kb(near.bondd.pid) / 1024, "MB")
        for which, words in (("one", ("bond0",)), ("all", ())):
            yield Row(f"{what}: show -j {which}", 1000 * statistics.median(
                seconds_of(lambda words=words: near.ctl("-j", "show", *words))
                for _ in range(SHOWN)), "ms")
        with heard(far, links) as captures:
            quiet_for(scale.lacp_seconds, "LACPDUs of so long are captured")
            off = off_time(captures)
        yield Row(f"{what}: LACPDUs within {LATE * 1000:.0f} ms",
                  100 * sum(each <= LATE for each in off) / len(off), "percent")
        yield Row(f"{what}: LACPDUs, worst", 1000 * max(off), "ms")
        near.stop_bondd()
        yield Row(f"{what}: adopted", seconds_of(near.start_bondd), "s")
        assert carrying(near) == len(links), "ports that a restart took"
        times = cut_seconds(near, far, bonds, links)
        yield Row(f"{what}: a cut noticed, worst of {len(times)}", 1000 * max(times), "ms")


def rows(scale):
    for bonds, slaves in SIZES:
        yield from lacp_rows(scale, bonds, slaves)
