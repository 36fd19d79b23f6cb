"""lacp_fallback across what bondd does not see: a slave that goes while it is dead, and its own
absence.
"""

import pytest

from lacp import lacpdu, marker, pdu_info, ports, tx_slots
from traffic import Capture, send_frames
from waiting import quiet_for, wait_for

STRANGER = "02:00:00:00:00:99"
AWAY = 5  # a partner at the fast rate may be silent for 3 s


@pytest.fixture
def alone(lone):
    """A bond of two slaves whose far ends do not speak LACP: fallback, on l0."""
    host = lone(links=2)
    host.make_bond(host.links, "mode", "802.3ad", "lacp_rate", "fast", "lacp_fallback", "one",
                   "lacp_fallback_delay", 300)
    host.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    wait_carried(host, "l0")
    return host


def wait_carried(host, dev):
    """Until what bond0 sends leaves by dev alone."""
    number = host.links.index(dev)
    wait_for(lambda: tx_slots(host) == {number} and host.show()["carrier"], f"{dev} to carry", 12)
    with Capture(host.far, dev) as wire:
        def asked():
            host.ping("10.0.0.2", timeout=0.05)
            return any(frame.type == 0x0806 for frame in wire.frames())
        wait_for(asked, f"what bond0 sends on {dev}")


@pytest.mark.parametrize("goes, stays", [("l0", "l1"), ("l1", "l0")])
def test_a_slave_goes_while_bondd_is_dead(alone, goes, stays):
    alone.kill_bondd()
    alone.ip("link", "del", goes)
    alone.start_bondd()
    wait_carried(alone, stays)


WORDS = {"marker": marker(), "LACPDU": lacpdu(pdu_info(STRANGER, 7))}


@pytest.mark.parametrize("word", WORDS)
def test_bondd_stands_still(alone, word):
    """After a frame of slow protocols has come in on l0, from one who then is silent; nothing else
    is under way.
    """
    counter = {"marker": "marker_rx", "LACPDU": "lacpdu_rx"}[word]
    send_frames(alone.far, "l0", [WORDS[word]])
    wait_for(lambda: ports(alone)["l0"][counter] >= 1, f"the {word} to arrive")
    wait_for(lambda: {port["rx_state"] for port in ports(alone).values()} == {"defaulted"},
             "the ports to rest", 10)
    wait_carried(alone, "l0")
    alone.freeze_bondd()
    quiet_for(AWAY, "bondd stands still for longer than a partner may be silent")
    alone.thaw_bondd()
    wait_for(alone.ping_bondd, "bondd to go on")
    wait_carried(alone, "l0")
