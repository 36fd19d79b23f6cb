"""What a partner sends from the moment it is told that a port collects, whatever bondd's main loop
is doing.
"""
import contextlib
import ctypes
import os
import time

import pytest

import lab as lab_module
from lab import proc_state
from lacp import ACTIVITY, AGGREGATION, COLLECTING, distributing, ports, tx_slots
from puppet import ATTACHED, CARRYING, Partner
from waiting import wait_for

CARRIER, OPENING = 2, 512  # of table.flags
ETH_P_ARP = 0x0806
FRESH_NS = 3e9  # a heartbeat
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, tid):
    if libc.ptrace(request, tid, None, None):
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")


@contextlib.contextmanager
def standstill(pid):
    """The main thread of a child is stopped for the time of the block, while its other threads run:
    as bondd, when the kernel lets a request wait. It may be killed meanwhile.
    """
    ptrace(PTRACE_SEIZE, pid)
    ptrace(PTRACE_INTERRUPT, pid)
    wait_for(lambda: proc_state(pid) == "t", "the main thread to stop")
    os.waitid(os.P_PID, pid, os.WSTOPPED)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            ptrace(PTRACE_DETACH, pid)


@pytest.fixture
def partner(lone):
    made = []

    def make(**options):
        made.append(Partner(lone(links=2), **options))
        return made[0]
    yield make
    for each in made:
        each.close()


def flags(host):
    return host.pinned("table")["flags"] & (CARRIER | OPENING)


def lost_of(far, dev):
    """What bond0 did not get of what was sent on dev while the main loop stands. If that takes so
    long that bondd counts as away, the programs rightly take the way across the pair.
    """
    lost = far.send(dev)
    if lost and time.monotonic_ns() - far.host.pinned("table")["heartbeat_ns"] > FRESH_NS:
        pytest.skip("this machine is too slow: bondd counts as away")
    return lost


def bond_carrier(host):
    return "LOWER_UP" in host.link("bond0")["flags"]


@pytest.mark.parametrize("options", [{}, {"path": "direct"}, {"rx_hook": "xdp"}],
                         ids=["counted", "direct", "xdp"])
def test_the_first_port_opens_while_the_main_loop_stands(partner, options, monkeypatch):
    if "rx_hook" in options:
        monkeypatch.setattr(lab_module, "DEVICE", "veth")  # a netkit has no XDP
    far = partner(**options)
    host = far.host
    with standstill(host.bondd.pid):
        far.speak("l0", CARRYING)
        wait_for(lambda: far.says("l0", COLLECTING), "the port to say that it collects")
        assert not bond_carrier(host)
        assert lost_of(far, "l0") == 0
    wait_for(lambda: flags(host) == CARRIER and bond_carrier(host), "the main loop to follow")
    wait_for(lambda: distributing(host) == ["l0"] and tx_slots(host) == {0}, "the port to carry")
    assert far.send("l0") == 0


def test_a_better_port_takes_over_while_the_main_loop_stands(partner):
    far = partner()
    host = far.host
    far.speak("l1", CARRYING)
    wait_for(lambda: tx_slots(host) == {1} and bond_carrier(host), "the second port to carry")
    host.ctl("set", "bond0", "max_links", 1)
    assert ports(host)["l0"]["selected"] == ports(host)["l1"]["selected"] == "selected"
    with standstill(host.bondd.pid):
        far.speak("l0", CARRYING)
        wait_for(lambda: tx_slots(host) == {0}, "the better port to take over")
        host.ping("10.0.0.2", dev="bond0")
        wait_for(lambda: any(frame.type == ETH_P_ARP for frame in far.wires["l0"].frames()),
                 "what bond0 sends on l0")
    wait_for(lambda: distributing(host) == ["l0"], "the main loop to follow")
    assert not ports(host)["l1"]["actor_state"].count("synchronization") and tx_slots(host) == {0}


def test_another_port_opens_while_the_main_loop_stands(partner):
    far = partner()
    host = far.host
    far.speak("l0", CARRYING)
    wait_for(lambda: tx_slots(host) == {0} and bond_carrier(host), "the first port to carry")
    with standstill(host.bondd.pid):
        far.speak("l1", CARRYING)
        wait_for(lambda: far.says("l1", COLLECTING), "the port to say that it collects")
        assert lost_of(far, "l1") == 0
        assert flags(host) == CARRIER
    wait_for(lambda: tx_slots(host) == {0, 1}, "both ports to carry")


def test_a_port_that_only_collects_receives(partner):
    """Independent control, and the partner does not collect: the bond has no carrier, and hears all
    the same.
    """
    far = partner(coupled_control="off")
    host = far.host
    with standstill(host.bondd.pid):
        far.speak("l0", ATTACHED)
        wait_for(lambda: far.says("l0", COLLECTING), "the port to say that it collects")
        assert lost_of(far, "l0") == 0
    assert host.ping_bondd()
    assert flags(host) == CARRIER | OPENING and not bond_carrier(host)
    assert far.send("l0") == 0
    far.speak("l0", CARRYING)
    wait_for(lambda: flags(host) == CARRIER and bond_carrier(host), "the port to distribute")
    far.speak("l0", ATTACHED)
    wait_for(lambda: flags(host) == CARRIER | OPENING and not bond_carrier(host),
             "the port to collect only")
    assert far.send("l0") == 0
    far.speak("l0", ACTIVITY | AGGREGATION)
    wait_for(lambda: flags(host) == 0, "the port to carry nothing")


def test_min_links_count_for_reception(partner):
    far = partner(min_links=2)
    host = far.host
    with standstill(host.bondd.pid):
        far.speak("l0", CARRYING)
        wait_for(lambda: far.says("l0", COLLECTING), "the first port to say that it collects")
        assert flags(host) == 0
        far.speak("l1", CARRYING)
        wait_for(lambda: far.says("l1", COLLECTING), "the second port to say that it collects")
        assert lost_of(far, "l0") == 0


def test_bondd_is_killed_between_opening_and_publishing(partner):
    far = partner(lacp_hold="off")
    host = far.host
    with standstill(host.bondd.pid):
        far.speak("l0", CARRYING)
        wait_for(lambda: far.says("l0", COLLECTING), "the port to say that it collects")
        host.kill_bondd()
    assert flags(host) == CARRIER | OPENING
    host.start_bondd()
    wait_for(lambda: flags(host) == CARRIER and bond_carrier(host), "the next bondd to follow")
    wait_for(lambda: tx_slots(host) == {0}, "the port to carry")
    assert far.send("l0") == 0


def test_nothing_of_an_opening_outlives_the_mode(partner):
    far = partner(coupled_control="off")
    host = far.host
    far.speak("l0", ATTACHED)
    wait_for(lambda: flags(host) == CARRIER | OPENING, "the port to collect")
    host.ctl("set", "bond0", "mode", "balance-xor")
    assert flags(host) == CARRIER and tx_slots(host) == {0, 1}
    hold = host.pinned("hold")
    assert not any(each["enabled"] or each["ended"] or
                   any(words["holding"] for words in each["words"]) for each in hold)
    host.ctl("set", "bond0", "mode", "802.3ad")
    assert flags(host) == 0 and not tx_slots(host) and not host.pinned("table")["rx_mask"]
    wait_for(far._all_attached, "the ports to wait for their partner")
    far.speak("l0", CARRYING)
    wait_for(lambda: flags(host) == CARRIER and tx_slots(host) == {0}, "the port to carry")
    assert ports(host)["l0"]["why"] == "collecting and distributing"
