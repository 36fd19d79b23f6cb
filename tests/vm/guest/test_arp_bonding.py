"""What counts for the kernel's own bonding by arp_validate, where a neighbour lies: the same as
for xbond, in the scenes of tests/net/test_arp.py.
"""
import pytest

from test_arp import ACTIVE, BACKUP, INTERVAL, MISSED, SCENES, VALIDATE, Network
from waiting import moments

pytestmark = pytest.mark.full


def bond_of_kernel(net, number, validate):
    dev, wire = f"kb{number}", net.wires[number]
    net.host.ip("link", "add", dev, "type", "bond", "mode", "active-backup", "arp_interval",
                INTERVAL, "arp_missed_max", MISSED, "arp_validate", validate, "arp_ip_target",
                f"10.0.{number}.2")
    for slave in wire:
        net.host.ip("link", "set", slave, "down")
        net.host.ip("link", "set", slave, "master", dev)
    net.host.ip("link", "set", dev, "up")
    net.host.ip("addr", "add", f"10.0.{number}.1/24", "dev", dev)


def failed(net, number):
    """As play() of test_arp: has the active slave failed, and if not, has the backup?"""
    active, backup = [
        net.host.link(dev)["linkinfo"]["info_slave_data"]["link_failure_count"] > 0
        for dev in net.wires[number]]
    return active, not active and backup


@pytest.mark.parametrize("scene", SCENES)
def test_what_counts_for_bonding(lab, scene):
    net = Network(lab, bonds=len(VALIDATE))
    answers, floods, chatter, counts = SCENES[scene]
    net.targets.act(answers=answers, floods=floods, chatter=chatter)
    for number, value in enumerate(VALIDATE):
        bond_of_kernel(net, number, value)
    for _ in moments(4 * MISSED * INTERVAL / 1000):
        pass
    of_xbond = {value: (not counts(number, ACTIVE),
                        counts(number, ACTIVE) and not counts(number, BACKUP))
                for number, value in enumerate(VALIDATE)}
    assert {value: failed(net, number) for number, value in enumerate(VALIDATE)} == of_xbond
