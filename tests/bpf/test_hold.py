"""LACP while bondd is away: what the program on a slave answers, whom it believes, when it gives a port up."""
import contextlib
import ctypes
import struct
import time

import pytest

from datapath import TC_REDIRECT, TC_SHOT, TC_UNSPEC, X

SLOT = 2
BIT = 1 << SLOT
OURS, THEIRS, STRANGER, NOBODY = [bytes.fromhex(text) for text in ("020000000001", "02000000aa00", "02000000bb00", "0" * 12)]
OUR_PORT, THEIR_PORT = bytes.fromhex("0200000000f1"), bytes.fromhex("0200000000f2")
WORKS = 0x3f  # activity, timeout, aggregation, synchronization, collecting, distributing
CARRIES = 0x30
SECOND = 10**9
GROUP = bytes.fromhex("0180c2000002")


def info(system, port, state, key=17):
    return struct.pack("!H6sHHHB", 65535, system, key, 255, port, state)


OUR_INFO, THEIR_INFO = info(OURS, 3, WORKS), info(THEIRS, 7, WORKS)


def lacpdu(actor, partner, source=THEIR_PORT, lengths=(20, 20, 16)):
    return (GROUP + source + struct.pack("!HBB", 0x8809, 1, 1) + bytes([1, lengths[0]]) + actor + bytes(3) +
            bytes([2, lengths[1]]) + partner + bytes(3) + bytes([3, lengths[2]]) + bytes(14) + bytes(52))


def marker(kind=1, length=16):
    return (GROUP + THEIR_PORT + struct.pack("!HBB", 0x8809, 2, 1) +
            struct.pack("!BBH6sI2x", kind, length, 7, THEIRS, 99) + bytes(92))


USUAL = lacpdu(THEIR_INFO, OUR_INFO)
assert len(USUAL) == len(marker()) == X.PDU_SIZE


@contextlib.contextmanager
def working(datapath, slot):
    """What bondd has left in the map of a port that works."""
    hold = datapath.hold[slot]
    ctypes.memset(ctypes.byref(hold), 0, ctypes.sizeof(hold))
    hold.enabled = hold.holding = hold.current = 1
    hold.silence_ns = 90 * SECOND
    hold.partner[:15] = THEIR_INFO
    hold.pdu[:] = lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT)
    hold.sent_ns = time.monotonic_ns() - SECOND
    yield hold
    hold.enabled = hold.current = 0


@pytest.fixture
def port(datapath):
    datapath.table.mode = X.MODE_8023AD
    with working(datapath, SLOT) as hold:
        yield hold


def carries(datapath):
    return datapath.table.tx_mask & BIT, datapath.table.rx_mask & BIT


def hear(datapath, frame):
    return datapath.run("xbond_rx", frame, datapath.table.ifindex[SLOT])


def test_the_partner_is_answered_with_our_last_pdu(datapath, port):
    verdict, answer = datapath.answer("xbond_rx", USUAL, datapath.table.ifindex[SLOT])
    assert (verdict, answer) == (TC_REDIRECT, lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT))
    assert port.answers == 1 and port.heard_ns and carries(datapath) == (BIT, BIT)


def test_once_in_nine_tenths_of_a_second(datapath, port):
    assert [hear(datapath, USUAL) for _ in range(5)] == [TC_REDIRECT] + 4 * [TC_SHOT]
    port.answered_ns -= X.HOLD_GAP_NS
    assert hear(datapath, USUAL) == TC_REDIRECT


def test_not_within_a_second_of_bondds_last(datapath, port):
    """Which may have been its third in that second."""
    port.sent_ns = time.monotonic_ns()
    assert hear(datapath, USUAL) == TC_SHOT and port.heard_ns
    port.sent_ns -= X.HOLD_AFTER_NS
    assert hear(datapath, USUAL) == TC_REDIRECT


@pytest.mark.parametrize("frame", [
    lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT),
    lacpdu(info(STRANGER, 7, WORKS), info(STRANGER, 1, WORKS)),
    lacpdu(info(THEIRS, 8, WORKS), info(STRANGER, 1, WORKS)),
    lacpdu(info(STRANGER, 0, WORKS), OUR_INFO),
    lacpdu(info(STRANGER, 7, WORKS), OUR_INFO, lengths=(19, 20, 16)),
    lacpdu(info(STRANGER, 7, WORKS), OUR_INFO, lengths=(20, 21, 16)),
    lacpdu(info(STRANGER, 7, WORKS), OUR_INFO, lengths=(20, 20, 0)),
], ids=["our own", "strangers", "strange port", "port 0", "actor TLV", "partner TLV", "collector TLV"])
def test_what_bondd_would_not_believe_changes_nothing(datapath, port, frame):
    assert hear(datapath, frame) == TC_SHOT
    assert (port.ended, port.heard_ns, carries(datapath)) == (X.HOLD_GOES_ON, 0, (BIT, BIT))


@pytest.mark.parametrize("partner", [OUR_INFO, info(NOBODY, 0, 0)], ids=["knows us", "knows nobody"])
def test_another_partner_ends_hold_for_good(datapath, port, partner):
    assert hear(datapath, lacpdu(info(STRANGER, 7, WORKS), partner)) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_PARTNER_CHANGED, (0, 0))
    assert hear(datapath, USUAL) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_PARTNER_CHANGED, (0, 0))


def test_a_partner_out_of_step_is_answered_without_the_flags_until_it_is_back(datapath, port):
    verdict, answer = datapath.answer("xbond_rx", lacpdu(info(THEIRS, 7, WORKS & ~8), OUR_INFO),
                                      datapath.table.ifindex[SLOT])
    assert (verdict, carries(datapath)) == (TC_REDIRECT, (0, 0))
    assert answer == lacpdu(info(OURS, 3, WORKS & ~CARRIES), info(THEIRS, 7, WORKS & ~8), OUR_PORT)
    port.answered_ns = 0
    assert hear(datapath, USUAL) == TC_REDIRECT
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


@pytest.mark.parametrize("state", [WORKS & ~CARRIES, WORKS & ~0x20])
def test_a_partner_that_carries_more_than_it_said_is_in_step(datapath, port, state):
    """bondd died in the midst of their first PDUs."""
    port.partner[14] = state
    assert hear(datapath, USUAL) == TC_REDIRECT
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def test_a_partner_that_carries_less_is_out_of_step(datapath, port):
    assert hear(datapath, lacpdu(info(THEIRS, 7, WORKS & ~0x20), OUR_INFO)) == TC_REDIRECT
    assert (port.ended, carries(datapath)) == (X.HOLD_OUT_OF_STEP, (0, 0))


def test_without_hold_it_judges_and_says_nothing(datapath, port):
    port.holding = 0
    assert hear(datapath, USUAL) == TC_SHOT and port.heard_ns
    assert hear(datapath, marker()) == TC_SHOT
    assert hear(datapath, lacpdu(info(THEIRS, 7, 7), OUR_INFO)) == TC_SHOT
    assert carries(datapath) == (0, 0)


def test_a_port_without_partner_is_left_alone(datapath, port):
    """As in fallback."""
    port.current = port.holding = 0
    assert hear(datapath, USUAL) == TC_UNSPEC
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def test_markers(datapath, port):
    verdict, answer = datapath.answer("xbond_rx", marker(), datapath.table.ifindex[SLOT])
    assert verdict == TC_REDIRECT and answer == GROUP + OUR_PORT + marker(2)[12:]
    assert hear(datapath, marker(2)) == TC_SHOT
    assert hear(datapath, marker(length=15)) == TC_SHOT


def wait_until_out(datapath, slot=SLOT):
    end = time.monotonic() + 10
    while (datapath.table.tx_mask | datapath.table.rx_mask) >> slot & 1:
        assert time.monotonic() < end, "the silent partner is not noticed"
        time.sleep(0.01)


def test_silence(datapath, port):
    port.silence_ns = SECOND // 100
    hear(datapath, USUAL)
    wait_until_out(datapath)
    assert port.ended == X.HOLD_SILENT
    port.silence_ns = 90 * SECOND
    hear(datapath, USUAL)
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def test_silence_that_ends_just_as_bondd_dies(datapath, port):
    """The time is not begun anew."""
    datapath.table.lacp_heartbeat_ns = time.monotonic_ns() + SECOND // 5
    port.silence_ns = SECOND // 100
    hear(datapath, USUAL)
    port.silence_ns = 90 * SECOND
    wait_until_out(datapath)


@pytest.mark.parametrize("state", ["no partner", "partner changed"])
def test_silence_of_no_interest(datapath, port, state):
    port.silence_ns = SECOND // 3
    hear(datapath, USUAL)
    if state == "no partner":
        port.current = 0
    else:
        port.ended = X.HOLD_PARTNER_CHANGED
    with working(datapath, SLOT - 1) as other:  # whose timer fires later
        other.silence_ns = SECOND
        datapath.run("xbond_rx", USUAL, datapath.table.ifindex[SLOT - 1])
        wait_until_out(datapath, SLOT - 1)
    assert carries(datapath) == (BIT, BIT)
    assert port.ended == (X.HOLD_GOES_ON if state == "no partner" else X.HOLD_PARTNER_CHANGED)
