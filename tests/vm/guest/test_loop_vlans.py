"""bondd's main loop, which must never stand still (tests/net/test_loop.py), with real VLANs: the
slaves filter VLANs, so bondd makes a VLAN device on each slave for each VLAN of the bond.
"""
import pytest

from lab import wait_for
from test_loop import loop

LIMIT_MS = 50
VLANS = 300


def batch(host, lines):
    host.run("ip", "-batch", "-", input="\n".join(lines), timeout=600)


def openers(host):
    return sum(name.startswith("xbv") for name in host.devices())


def fail_over(made):
    active = made.near.show()["active_slave"]
    number = made.numbers[made.near.links.index(active)]
    made.nics.cable(number, False)
    wait_for(lambda: made.near.show()["active_slave"] not in (None, active), "a failover", 15)
    made.nics.cable(number, True)
    made.near.wait_slaves(*made.near.links, deadline=20)


@pytest.mark.full
def test_never_above_50_ms_with_300_vlans(setting):
    """While VLANs are made, while the bond fails over, and while they are deleted."""
    made, figures = setting().switch().bond("active-backup"), {}
    made.numbers = [int(name.removeprefix("eth")) for name in made.near.links]
    near = made.near

    def note(what):
        figures[what] = (loop(near)["worst_own_ms"], loop(near)["worst_work"])
        print(what, loop(near))
        near.stop_bondd()  # each start begins anew
        near.start_bondd()
    near.stop_bondd()
    near.start_bondd()
    batch(near, [line for vid in range(1, VLANS + 1) for line in (
        f"link add link bond0 name bond0.{vid} type vlan id {vid}",
        f"addr add 10.1.{vid // 200}.{vid % 200 + 1}/32 dev bond0.{vid}",
        f"link set bond0.{vid} up")])
    wait_for(lambda: openers(near) == 2 * VLANS, "the VLAN devices on the slaves", 60)
    note("VLANs are made")
    for _ in range(4):
        fail_over(made)
    note("failovers")
    batch(near, [f"link del bond0.{vid}" for vid in range(1, VLANS + 1)])
    wait_for(lambda: openers(near) == 0, "the VLAN devices on the slaves to go", 60)
    note("VLANs are deleted")
    assert max(worst for worst, _ in figures.values()) < LIMIT_MS, figures
