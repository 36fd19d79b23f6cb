"""LACP without bondd: what the program on a slave answers, whom it believes, when it gives a
port up.
"""
import contextlib
import ctypes
import struct
import time

import pytest

from datapath import TC_REDIRECT, TC_SHOT, TC_UNSPEC, X
from waiting import wait_for

SLOT = 2
BIT = 1 << SLOT
OURS, THEIRS, STRANGER, NOBODY = [bytes.fromhex(text) for text in
                                  ("020000000001", "02000000aa00", "02000000bb00", "0" * 12)]
OUR_PORT, THEIR_PORT = bytes.fromhex("0200000000f1"), bytes.fromhex("0200000000f2")
WORKS = 0x3f  # activity, timeout, aggregation, synchronization, collecting, distributing
(ACTIVITY, TIMEOUT, AGGREGATION, SYNC,
 COLLECTING, DISTRIBUTING, DEFAULTED, EXPIRED) = (1 << bit for bit in range(8))
CARRIES = COLLECTING | DISTRIBUTING
SECOND = 10**9
GROUP = bytes.fromhex("0180c2000002")


def info(system, port, state, key=17, system_priority=65535, port_priority=255):
    return struct.pack("!H6sHHHB", system_priority, system, key, port_priority, port, state)


OUR_INFO, THEIR_INFO = info(OURS, 3, WORKS), info(THEIRS, 7, WORKS)


def lacpdu(actor, partner, source=THEIR_PORT, lengths=(20, 20, 16)):
    return (GROUP + source + struct.pack("!HBB", 0x8809, 1, 1) + bytes([1, lengths[0]]) + actor +
            bytes(3) + bytes([2, lengths[1]]) + partner + bytes(3) + bytes([3, lengths[2]]) +
            bytes(14) + bytes(52))


def marker(kind=1, length=16):
    return (GROUP + THEIR_PORT + struct.pack("!HBB", 0x8809, 2, 1) +
            struct.pack("!BBH6sI2x", kind, length, 7, THEIRS, 99) + bytes(92))


USUAL = lacpdu(THEIR_INFO, OUR_INFO)
assert len(USUAL) == len(marker()) == X.PDU_SIZE


class Port:
    """A slot of the map. What bondd writes goes to the copy of the words that is in force, all else
    to the slot.
    """
    PROGRAMS = ("heard_ns",)  # in both

    def __init__(self, hold):
        vars(self)["hold"] = hold

    @property
    def words(self):
        return self.hold.words[self.hold.in_force]

    def _home(self, name):
        return self.words if hasattr(self.words, name) and name not in self.PROGRAMS else self.hold

    def __getattr__(self, name):
        return getattr(self._home(name), name)

    def __setattr__(self, name, value):
        setattr(self._home(name), name, value)


@contextlib.contextmanager
def working(datapath, slot, in_force=0):
    """What bondd has left in the map of a port that works."""
    hold = datapath.hold[slot]
    ctypes.memset(ctypes.byref(hold), 0, ctypes.sizeof(hold))
    hold.enabled, hold.in_force = 1, in_force
    words = hold.words[in_force]
    words.holding = words.current = 1
    words.told = CARRIES
    words.silence_ns = 90 * SECOND
    words.partner[:15] = THEIR_INFO
    words.pdu[:] = lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT)
    words.sent_ns = words.heard_ns = time.monotonic_ns() - SECOND
    yield Port(hold)
    hold.enabled = words.current = 0


@pytest.fixture(params=[0, 1], ids=["copy 0", "copy 1"])
def port(datapath, request):
    """The other copy holds nonsense, as one does that is being written."""
    datapath.table.selection = X.SELECT_HASH
    with working(datapath, SLOT, request.param) as port:
        other = port.hold.words[1 - request.param]
        ctypes.memset(ctypes.byref(other), 0xff, ctypes.sizeof(other))
        yield port


def carries(datapath):
    return datapath.table.tx_mask & BIT, datapath.table.rx_mask & BIT


def out_of_masks(datapath, tx=True, rx=True):
    """As on_port() leaves them."""
    datapath.table.tx_mask &= ~BIT if tx else ~0
    datapath.table.rx_mask &= ~BIT if rx else ~0


def answer(datapath, frame):
    return datapath.answer("xbond_rx", frame, datapath.table.ifindex[SLOT])


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


@pytest.mark.parametrize("frame", [lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT),
                                   lacpdu(info(STRANGER, 7, WORKS), info(STRANGER, 1, WORKS)),
                                   lacpdu(info(THEIRS, 8, WORKS), info(STRANGER, 1, WORKS)),
                                   lacpdu(info(STRANGER, 0, WORKS), OUR_INFO),
                                   lacpdu(info(STRANGER, 7, WORKS), OUR_INFO, lengths=(19, 20, 16)),
                                   lacpdu(info(STRANGER, 7, WORKS), OUR_INFO, lengths=(20, 21, 16)),
                                   lacpdu(info(STRANGER, 7, WORKS), OUR_INFO, lengths=(20, 20, 0))],
                         ids=["our own", "strangers", "strange port", "port 0", "actor TLV",
                              "partner TLV", "collector TLV"])
def test_what_bondd_would_not_believe_changes_nothing(datapath, port, frame):
    assert hear(datapath, frame) == TC_SHOT
    assert (port.ended, port.heard_ns, carries(datapath)) == (X.HOLD_GOES_ON, 0, (BIT, BIT))


@pytest.mark.parametrize("partner", [OUR_INFO, info(NOBODY, 0, 0)],
                         ids=["knows us", "knows nobody"])
def test_another_partner_ends_hold_for_good(datapath, port, partner):
    assert hear(datapath, lacpdu(info(STRANGER, 7, WORKS), partner)) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_PARTNER_CHANGED, (0, 0))
    assert hear(datapath, USUAL) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_PARTNER_CHANGED, (0, 0))


def test_a_partner_out_of_step_is_answered_without_the_flags_until_it_is_back(datapath, port):
    """Also without synchronization: a coupled partner would send to a port that
    does not collect.
    """
    verdict, sent = answer(datapath, lacpdu(info(THEIRS, 7, WORKS & ~SYNC), OUR_INFO))
    assert (verdict, carries(datapath)) == (TC_REDIRECT, (0, 0))
    assert sent == lacpdu(info(OURS, 3, WORKS & ~CARRIES & ~SYNC), info(THEIRS, 7, WORKS & ~SYNC),
                          OUR_PORT)
    port.answered_ns = 0
    assert answer(datapath, USUAL) == (TC_REDIRECT, lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT))
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def their(state=WORKS, key=17, **more):
    return info(THEIRS, more.pop("port", 7), state, key, **more)


HARMLESS = {"long timeout": (their(WORKS & ~TIMEOUT), OUR_INFO),
            "passive": (their(WORKS & ~ACTIVITY), OUR_INFO),
            "port priority": (their(port_priority=1), OUR_INFO),
            "coupled control: neither collects nor distributes": (their(WORKS & ~CARRIES),
                                                                  OUR_INFO),
            "collects only": (their(WORKS & ~DISTRIBUTING), OUR_INFO),
            "our port priority": (THEIR_INFO, info(OURS, 3, WORKS, port_priority=1)),
            "defaulted": (their(WORKS | DEFAULTED), OUR_INFO),
            "our other flags": (THEIR_INFO, info(OURS, 3, AGGREGATION | ACTIVITY))}


@pytest.mark.parametrize("actor, partner", HARMLESS.values(), ids=HARMLESS)
def test_what_does_not_decide_the_lag_ends_nothing(datapath, port, actor, partner):
    verdict, sent = answer(datapath, lacpdu(actor, partner))
    assert (verdict, port.ended, carries(datapath)) == (TC_REDIRECT, X.HOLD_GOES_ON, (BIT, BIT))
    assert sent == lacpdu(OUR_INFO, actor, OUR_PORT)


ANOTHER_LAG = {"system": info(STRANGER, 7, WORKS), "system priority": their(system_priority=1),
               "key": their(key=18),
               "port": their(port=8), "individual": their(WORKS & ~AGGREGATION)}


@pytest.mark.parametrize("actor", ANOTHER_LAG.values(), ids=ANOTHER_LAG)
def test_another_lag_ends_hold_for_good(datapath, port, actor):
    assert hear(datapath, lacpdu(actor, OUR_INFO)) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_PARTNER_CHANGED, (0, 0))
    assert hear(datapath, USUAL) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_PARTNER_CHANGED, (0, 0))


NOT_IN_SYNC = {"no sync": (their(WORKS & ~SYNC), OUR_INFO),
               "expired": (their(WORKS | EXPIRED), OUR_INFO),
               "another system": (THEIR_INFO, info(STRANGER, 3, WORKS)),
               "nobody": (THEIR_INFO, info(NOBODY, 0, 0)),
               "our system priority": (THEIR_INFO, info(OURS, 3, WORKS, system_priority=1)),
               "our key": (THEIR_INFO, info(OURS, 3, WORKS, key=18)),
               "our port": (THEIR_INFO, info(OURS, 4, WORKS)),
               "we are individual": (THEIR_INFO, info(OURS, 3, WORKS & ~AGGREGATION)),
               "nobody active": (their(WORKS & ~ACTIVITY), info(OURS, 3, WORKS & ~ACTIVITY))}


@pytest.mark.parametrize("actor, partner", NOT_IN_SYNC.values(), ids=NOT_IN_SYNC)
def test_out_of_sync_until_it_is_back(datapath, port, actor, partner):
    verdict, sent = answer(datapath, lacpdu(actor, partner))
    assert (verdict, port.ended, carries(datapath)) == (TC_REDIRECT, X.HOLD_OUT_OF_STEP, (0, 0))
    assert sent == lacpdu(info(OURS, 3, WORKS & ~CARRIES & ~SYNC), actor, OUR_PORT)
    assert hear(datapath, USUAL) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def test_a_partner_that_takes_the_link_as_individual_need_not_know_us(datapath, port):
    """Where it did so before bondd died."""
    port.partner[14] &= ~AGGREGATION
    assert hear(datapath, lacpdu(their(WORKS & ~AGGREGATION), info(NOBODY, 0, 0))) == TC_REDIRECT
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def test_we_are_active_is_enough(datapath, port):
    port.pdu[:] = lacpdu(info(OURS, 3, WORKS & ~ACTIVITY), THEIR_INFO, OUR_PORT)
    assert hear(datapath, lacpdu(their(WORKS & ~ACTIVITY), OUR_INFO)) == TC_REDIRECT
    assert port.ended == X.HOLD_OUT_OF_STEP
    hear(datapath, USUAL)
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def test_with_independent_control_it_distributes_while_the_partner_collects(datapath, port):
    port.independent = 1
    verdict, sent = answer(datapath, lacpdu(their(WORKS & ~CARRIES), OUR_INFO))
    assert (verdict, port.ended, carries(datapath)) == (TC_REDIRECT, X.HOLD_GOES_ON, (0, BIT))
    assert sent == lacpdu(info(OURS, 3, WORKS & ~DISTRIBUTING), their(WORKS & ~CARRIES), OUR_PORT)
    hear(datapath, lacpdu(their(WORKS & ~DISTRIBUTING), OUR_INFO))
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def our(state):
    return info(OURS, 3, state)


def gone_out_of_step(datapath, port):
    """As after a flap: the partner has just been answered that we are not in sync."""
    hear(datapath, lacpdu(their(WORKS & ~(SYNC | CARRIES)), OUR_INFO))
    assert (port.answers, carries(datapath)) == (1, (0, 0))


@pytest.mark.parametrize("independent", [0, 1], ids=["coupled", "independent"])
def test_a_port_returns_in_step_with_its_partner(datapath, port, independent):
    """Which does not collect before it knows that we are in sync, so nothing is sent to it."""
    port.independent = independent
    gone_out_of_step(datapath, port)
    attached, unaware = their(WORKS & ~CARRIES), our(WORKS & ~(SYNC | CARRIES))
    assert hear(datapath, lacpdu(attached, unaware)) == TC_SHOT  # the next answer has to wait
    assert carries(datapath) == (0, BIT)
    port.answered_ns = 0
    assert answer(datapath, lacpdu(attached, unaware)) == \
        (TC_REDIRECT, lacpdu(our(WORKS & ~DISTRIBUTING), attached, OUR_PORT))
    assert carries(datapath) == (0, BIT)
    assert hear(datapath, lacpdu(THEIR_INFO, our(WORKS & ~DISTRIBUTING))) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


@pytest.mark.parametrize("independent", [0, 1], ids=["coupled", "independent"])
def test_a_partner_that_always_says_that_it_collects(datapath, port, independent):
    """As Open vSwitch does. It may say nothing more, so what it is told must be enough."""
    port.independent = independent
    gone_out_of_step(datapath, port)
    unaware = our(WORKS & ~(SYNC | CARRIES))
    assert hear(datapath, lacpdu(THEIR_INFO, unaware)) == TC_SHOT
    assert carries(datapath) == (0, BIT)
    port.answered_ns = 0
    assert answer(datapath, lacpdu(THEIR_INFO, unaware)) == \
        (TC_REDIRECT, lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT))
    assert carries(datapath) == (BIT, BIT)


def test_a_partner_that_never_says_that_it_collects(datapath, port):
    """With coupled control it does when it knows that we are in sync."""
    gone_out_of_step(datapath, port)
    hear(datapath, lacpdu(their(WORKS & ~CARRIES), our(WORKS & ~CARRIES)))
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


@pytest.mark.parametrize("told", [0, COLLECTING], ids=["nothing", "collecting"])
def test_no_more_than_the_core_had_told(datapath, port, told):
    """The last PDU sent says that the port carries: it had waited for the limit of three when bondd
    died.
    """
    port.told = told
    out_of_masks(datapath, rx=not told)
    expected = lacpdu(info(OURS, 3, WORKS & ~(CARRIES | SYNC) | told | (SYNC if told else 0)),
                      THEIR_INFO, OUR_PORT)
    for frame in (USUAL, lacpdu(their(WORKS & ~SYNC), OUR_INFO), USUAL):
        port.answered_ns = 0
        last = answer(datapath, frame)
        assert carries(datapath) == (0, BIT if told and port.ended == X.HOLD_GOES_ON else 0)
    assert last == (TC_REDIRECT, expected)


def test_as_much_as_the_core_had_told(datapath, port):
    """The last PDU sent does not say so yet, nor that the port had become current."""
    port.pdu[:] = lacpdu(info(OURS, 3, WORKS & ~(CARRIES | SYNC) | EXPIRED | DEFAULTED), THEIR_INFO,
                         OUR_PORT)
    assert answer(datapath, USUAL) == (TC_REDIRECT, lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT))
    assert carries(datapath) == (BIT, BIT)


@pytest.mark.parametrize("in_masks", [False, True])
def test_attached_and_idle(datapath, port, in_masks):
    """The partner comes into sync without bondd: nobody here would collect what it sent."""
    port.told = 0
    port.pdu[:] = lacpdu(info(OURS, 3, WORKS & ~CARRIES), THEIR_INFO, OUR_PORT)
    out_of_masks(datapath, not in_masks, not in_masks)
    before = carries(datapath)
    assert answer(datapath, USUAL) == (TC_REDIRECT, lacpdu(info(OURS, 3, WORKS & ~(CARRIES | SYNC)),
                                                           THEIR_INFO, OUR_PORT))
    assert carries(datapath) == before


def test_what_the_masks_do_not_have_is_not_said(datapath, port):
    """bondd died between telling the port to stop and writing that here, or before the main loop
    let it begin.
    """
    out_of_masks(datapath, rx=False)
    assert answer(datapath, USUAL)[1] == lacpdu(info(OURS, 3, WORKS & ~DISTRIBUTING), THEIR_INFO,
                                                OUR_PORT)
    out_of_masks(datapath)
    port.answered_ns = 0
    assert answer(datapath, USUAL)[1] == lacpdu(info(OURS, 3, WORKS & ~(CARRIES | SYNC)),
                                                THEIR_INFO, OUR_PORT)
    assert carries(datapath) == (0, 0)


# The form of an answer


SLOWLY = info(OURS, 3, WORKS & ~TIMEOUT)


def test_who_wants_us_fast_is_told_to_be_fast(datapath, port):
    """Only what it says can be answered. The short timeout is in force as soon as it knows."""
    port.pdu[:] = lacpdu(SLOWLY, THEIR_INFO, OUR_PORT)
    slow = their(WORKS & ~TIMEOUT)
    assert answer(datapath, lacpdu(slow, SLOWLY)) == (TC_REDIRECT, lacpdu(SLOWLY, slow, OUR_PORT))
    port.answered_ns = 0
    assert answer(datapath, lacpdu(THEIR_INFO, SLOWLY)) == (TC_REDIRECT,
                                                            lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT))
    assert port.hurried == X.HOLD_ASKS
    hear(datapath, USUAL)
    assert port.hurried == X.HOLD_ASKS | X.HOLD_KNOWS
    port.answered_ns = 0
    hear(datapath, lacpdu(slow, OUR_INFO))
    assert port.hurried == X.HOLD_KNOWS


def test_without_answers_nobody_is_asked_to_hurry(datapath, port):
    port.holding = 0
    hear(datapath, USUAL)
    assert port.hurried == X.HOLD_KNOWS


@pytest.mark.parametrize("there", [False, True], ids=["bondd is away", "bondd goes away"])
def test_a_partner_that_was_not_told_to_be_fast_may_send_slowly(datapath, port, there):
    """The PDU that said so was lost. When the partner knows, the short time is in force."""
    port.silence_ns = SECOND // 100
    if there:
        datapath.table.lacp_heartbeat_ns = time.monotonic_ns() + 1000 * SECOND
    hear(datapath, lacpdu(THEIR_INFO, SLOWLY))
    datapath.table.lacp_heartbeat_ns = 0
    with working(datapath, SLOT - 1) as other:  # whose timer fires later
        other.silence_ns = SECOND
        datapath.run("xbond_rx", USUAL, datapath.table.ifindex[SLOT - 1])
        wait_until_out(datapath, SLOT - 1)
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))
    hear(datapath, USUAL)
    wait_until_out(datapath)
    assert port.ended == X.HOLD_SILENT


RETRY_COUNT = bytes([0x80, 4, 5, 0, 0x81, 4, 5, 0])
DIGESTS = bytes([4, 6]) + b"\1\2\3\4" + bytes([5, 20]) + b"\7" * 18 + bytes([6, 6]) + b"\x55" * 4


@pytest.mark.parametrize("version, tlvs", [(0xf1, RETRY_COUNT), (2, DIGESTS), (0, b"\xff" * 52),
                                           (255, b"\x5a" * 52)])
@pytest.mark.parametrize("trailer", [0, 4, 176, 1390])
@pytest.mark.parametrize("kind", ["lacpdu", "marker"])
def test_answers_are_version_1_whatever_the_partner_speaks(datapath, port, version, tlvs, trailer,
                                                           kind):
    """124 octets, and of the partner's nothing but its 15 in the partner TLV, or the marker's
    information.
    """
    frame = USUAL if kind == "lacpdu" else marker()
    wanted = lacpdu(OUR_INFO, THEIR_INFO, OUR_PORT) if kind == "lacpdu" \
        else GROUP + OUR_PORT + marker(2)[12:]
    strange = bytearray(frame + b"\xee" * trailer)
    strange[15] = version
    for first, end in ((33, 36), (53, 56), (58, 72)) if kind == "lacpdu" else ((30, 32),):
        strange[first:end] = b"\xa5" * (end - first)
    rest = 72 if kind == "lacpdu" else 32
    strange[rest:rest + len(tlvs)] = tlvs
    assert answer(datapath, bytes(strange)) == (TC_REDIRECT, wanted)


def test_short_frames_change_nothing(datapath, port):
    before = bytes(port.hold)[:ctypes.sizeof(port.hold) - 64]
    for size in (15, 57, 58, 72, X.PDU_SIZE - 1):
        assert hear(datapath, USUAL[:size]) == TC_SHOT
    assert hear(datapath, marker()[:X.PDU_SIZE - 1]) == TC_SHOT
    assert bytes(port.hold)[:len(before)] == before and carries(datapath) == (BIT, BIT)


# lacp_partner


@pytest.mark.parametrize("current", [1, 0])
def test_who_is_not_believed_changes_nothing(datapath, port, current):
    port.believed[:] = THEIRS
    port.current = current
    before = bytes(port.hold)[:ctypes.sizeof(port.hold) - 64]
    for partner in (OUR_INFO, info(NOBODY, 0, 0)):
        assert hear(datapath, lacpdu(info(STRANGER, 7, WORKS), partner)) == TC_SHOT
    assert bytes(port.hold)[:len(before)] == before and carries(datapath) == (BIT, BIT)
    assert hear(datapath, USUAL) == (TC_REDIRECT if current else TC_UNSPEC)


def test_a_partner_that_is_not_believed_any_more(datapath, port):
    """It is in the stranger's budget, and falls silent."""
    port.silence_ns = SECOND // 2
    hear(datapath, USUAL)
    port.believed[:] = STRANGER

    def ended():
        assert hear(datapath, USUAL) == TC_SHOT
        return port.ended
    wait_for(ended, "the partner to be silent", 10, 0.05)
    assert (port.ended, carries(datapath)) == (X.HOLD_SILENT, (0, 0))
    assert port.budget[X.PDU_PARTNER].count == 1


# Budgets


def oam(kind=3):
    return GROUP + THEIR_PORT + struct.pack("!HB", 0x8809, kind) + bytes(45)


ME = lacpdu(info(STRANGER, 1, WORKS), OUR_INFO)  # a stranger who claims the port


@pytest.fixture(params=["bondd here", "bondd away"])
def budget(datapath, port, request):
    """{class: (spent in this second, dropped)}; bondd's heartbeat is as asked for."""
    here = request.param == "bondd here"
    datapath.table.lacp_heartbeat_ns = time.monotonic_ns() + 1000 * SECOND if here else 0
    port.holding = 0
    names = ("PARTNER", "STRANGER", "MARKER", "OTHER")
    spent = lambda: {name: (port.budget[X.__dict__[f"PDU_{name}"]].count,
                            port.budget[X.__dict__[f"PDU_{name}"]].flooded) for name in names}
    spent.here = here
    for each in port.budget:
        each.window_ns = time.monotonic_ns()  # all of the test is in this second
    return spent


@pytest.mark.parametrize("kind", [0, 3, 10, 11, 255])
def test_other_slow_protocols_always_pass_and_cost_lacp_nothing(datapath, port, budget, kind):
    assert {hear(datapath, oam(kind)) for _ in range(100)} == {TC_UNSPEC}
    spent = budget()
    assert spent["OTHER"] == (X.OTHERS_PER_SECOND if budget.here else 0, 0)
    assert spent["PARTNER"] == spent["STRANGER"] == spent["MARKER"] == (0, 0)
    verdict = TC_UNSPEC if budget.here else TC_SHOT
    assert {hear(datapath, USUAL) for _ in range(X.PDUS_PER_SECOND)} == {verdict}
    assert budget()["PARTNER"] == (X.PDUS_PER_SECOND, 0)


@pytest.mark.parametrize("flood, name, limit",
                         [(ME, "STRANGER", X.PDUS_PER_SECOND),
                          (lacpdu(their(port=8), OUR_INFO), "STRANGER", X.PDUS_PER_SECOND),
                          (USUAL[:X.PDU_SIZE - 1], "STRANGER", X.PDUS_PER_SECOND),
                          (marker(), "MARKER", X.MARKERS_PER_SECOND),
                          (USUAL, "PARTNER", X.PDUS_PER_SECOND)],
                         ids=["stranger", "strange port", "short", "marker", "partner"])
def test_a_flood_has_a_budget_of_its_own(datapath, port, budget, flood, name, limit):
    port.believed[:] = THEIRS
    verdicts = [hear(datapath, flood) for _ in range(100)]
    assert set(verdicts[limit:]) == {TC_SHOT}
    if budget.here:
        assert set(verdicts[:limit]) == {TC_UNSPEC}
    spent = budget()
    assert spent.pop(name) == (limit, 100 - limit)
    assert set(spent.values()) == {(0, 0)}
    if name != "PARTNER":
        verdict = TC_UNSPEC if budget.here else TC_SHOT
        assert [hear(datapath, USUAL) for _ in range(3)] == 3 * [verdict]
        assert budget()["PARTNER"] == (3, 0)


def test_a_budget_is_new_every_second(datapath, port, budget):
    for _ in range(X.PDUS_PER_SECOND + 1):
        hear(datapath, USUAL)
    port.budget[X.PDU_PARTNER].window_ns -= SECOND
    hear(datapath, USUAL)
    assert budget()["PARTNER"] == (1, 1)


def test_without_hold_it_judges_and_says_nothing(datapath, port):
    port.holding = 0
    assert hear(datapath, USUAL) == TC_SHOT and port.heard_ns
    assert hear(datapath, marker()) == TC_SHOT
    assert hear(datapath, lacpdu(info(THEIRS, 7, 7), OUR_INFO)) == TC_SHOT
    assert (port.ended, carries(datapath)) == (X.HOLD_OUT_OF_STEP, (0, 0))


def test_a_port_without_partner_is_left_alone(datapath, port):
    """As in fallback."""
    port.current = port.holding = 0
    assert hear(datapath, USUAL) == TC_UNSPEC
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))


def test_what_nobody_keeps_is_noted(datapath, port):
    """For LACPDUs that wait in the ring are older then."""
    port.current = port.holding = 0
    for frame in (marker(), lacpdu(THEIR_INFO, OUR_INFO, lengths=(19, 20, 16))):
        assert hear(datapath, frame) == TC_UNSPEC and not port.missed_ns
    before = time.monotonic_ns()
    assert hear(datapath, USUAL) == TC_UNSPEC and before < port.missed_ns < time.monotonic_ns()


def test_markers(datapath, port):
    verdict, answer = datapath.answer("xbond_rx", marker(), datapath.table.ifindex[SLOT])
    assert verdict == TC_REDIRECT and answer == GROUP + OUR_PORT + marker(2)[12:]
    assert hear(datapath, marker(2)) == TC_SHOT
    assert hear(datapath, marker(length=15)) == TC_SHOT


def wait_until_out(datapath, slot=SLOT):
    wait_for(lambda: not (datapath.table.tx_mask | datapath.table.rx_mask) >> slot & 1,
             "the silent partner to be noticed", 10)


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
    wait_until_out(datapath)


def test_the_time_runs_from_what_bondd_heard_last(datapath, port):
    """bondd has a new partner, whose PDU did not restart the timer: it is not silent because the
    former one is.
    """
    datapath.table.lacp_heartbeat_ns = time.monotonic_ns()
    port.silence_ns = SECOND
    hear(datapath, USUAL)
    port.words.heard_ns = time.monotonic_ns() + 2 * SECOND
    with working(datapath, SLOT - 1) as other:  # whose timer fires later, but does not wait
        other.silence_ns = 2 * SECOND
        datapath.run("xbond_rx", USUAL, datapath.table.ifindex[SLOT - 1])
        wait_until_out(datapath, SLOT - 1)
    assert (port.ended, carries(datapath)) == (X.HOLD_GOES_ON, (BIT, BIT))
    wait_until_out(datapath)
    assert port.ended == X.HOLD_SILENT


@pytest.mark.parametrize("frame", [ME, marker(), oam()], ids=["stranger", "marker", "OAM"])
def test_only_the_partner_breaks_the_silence(datapath, port, frame):
    """Also before bondd goes."""
    port.silence_ns = SECOND
    datapath.table.lacp_heartbeat_ns = time.monotonic_ns() + 1000 * SECOND
    hear(datapath, USUAL)
    port.silence_ns, port.words.heard_ns = 90 * SECOND, time.monotonic_ns() - 90 * SECOND
    hear(datapath, frame)
    datapath.table.lacp_heartbeat_ns = 0
    wait_until_out(datapath)
    assert port.ended == X.HOLD_SILENT


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
