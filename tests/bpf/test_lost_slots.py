"""Slots whose device has no carrier, or has gone: every way to choose avoids them at once."""
import random
import struct

import pytest

import datapath as module
import packets
from datapath import TC_REDIRECT, X, ip
from waiting import wait_for

FLOWS = 800  # so many that the bound is six deviations off where one of three is drawn
SELECTIONS = {"rr": X.SELECT_TURNS, "active": X.SELECT_ACTIVE, "hash": X.SELECT_HASH}


def flows():
    chance = random.Random(7)
    template = bytearray(packets.packet("udp4"))
    for _ in range(FLOWS):
        template[26:30] = struct.pack("!I", chance.getrandbits(32))
        yield bytes(template)


def share(datapath, **settings):
    for name, value in settings.items():
        setattr(datapath.settings, name, value)
    return datapath.share(list(flows()))


@pytest.fixture
def cut(datapath):
    """cut(slot...): the far ends of these slots' devices go down, until the end of the test."""
    gone = []

    def far_ends_down(*slots):
        for slot in slots:
            ip("link", "set", f"s{slot}p", "down")
            gone.append(slot)
    yield far_ends_down
    for slot in gone:
        ip("link", "set", f"s{slot}p", "up")
    for slot in gone:
        wait_for(lambda slot=slot: set(carrier_only(datapath, slot)) == {slot},
                 f"the kernel to let s{slot} send again")


def carrier_only(datapath, slot):
    """Who sends if it is this slot's turn, and another could take over."""
    datapath.reset(selection=X.SELECT_ACTIVE)
    datapath.fill_buckets([slot] * X.BUCKETS)
    return datapath.share([packets.packet("udp4")])


@pytest.mark.parametrize("words", [{"selection": "hash"}, {"selection": "active"},
                                   {"selection": "rr"}, {"selection": "rr", "packets_per_slave": 0},
                                   {"selection": "rr", "packets_per_slave": 3},
                                   {"selection": "rr", "bytes_per_slave": 1},
                                   {"selection": "rr", "bytes_per_slave": 1000}], ids=str)
@pytest.mark.parametrize("down", [(0,), (3,), (0, 2), (0, 1, 2)], ids=str)
def test_slots_without_carrier_are_avoided(datapath, cut, words, down):
    words = dict(words)
    datapath.reset(selection=SELECTIONS[words.pop("selection")])
    if datapath.table.selection == X.SELECT_ACTIVE:
        datapath.fill_buckets([0] * X.BUCKETS)
    cut(*down)
    sent = share(datapath, **words)
    left = {0, 1, 2, 3} - set(down)
    if datapath.table.selection == X.SELECT_ACTIVE:
        left = {min(left)}
    assert set(sent) == left
    assert min(sent.values()) > 0.7 * FLOWS / len(left), "the others share what the lost slots had"


def test_active_backup_follows_the_order_of_bondd(datapath, cut):
    datapath.reset(selection=X.SELECT_ACTIVE)
    datapath.fill_buckets([1, 3, 1, 0, X.NO_SLOT, 2])
    assert set(share(datapath)) == {1}
    datapath.table.tx_mask = 0b1101
    assert set(share(datapath)) == {3}
    cut(3)
    assert set(share(datapath)) == {0}
    cut(0)
    assert set(share(datapath)) == {2}, "after one that is no slot"
    datapath.fill_buckets([1] * X.BUCKETS)
    assert set(share(datapath)) == {2}, "of a bond without an order: the first"


def test_no_slot_is_not_the_last_slot(datapath, cut):
    datapath.reset(slots=X.MAX_SLAVES, selection=X.SELECT_ACTIVE)
    datapath.fill_buckets([1, X.NO_SLOT, 2] + [1] * 62 + [X.NO_SLOT])
    cut(1)
    assert set(share(datapath)) == {2}
    datapath.fill_buckets([X.NO_SLOT, 3])
    assert set(share(datapath)) == {3}, "nobody is active"
    datapath.fill_buckets([0])
    assert set(share(datapath, active_slot=X.NO_SLOT, active_request=1)) == {0}, "nobody asked for"


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_without_any_carrier_packets_go_as_before(datapath, cut, selection):
    datapath.reset(selection=selection)
    before = share(datapath)
    cut(0, 1, 2, 3)
    datapath.cursor.turn = 0
    assert share(datapath) == before


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_a_slot_that_may_not_transmit_is_no_way_out(datapath, cut, selection):
    datapath.reset(selection=selection, tx_mask=0b0011)
    cut(0)
    assert set(share(datapath)) == {1}
    cut(1)
    assert set(share(datapath)) <= {0, 1}, "without carrier, but allowed"


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_drained_slots_carry_what_no_other_can(datapath, cut, selection):
    datapath.reset(selection=selection, tx_mask=0b0111)
    cut(0, 1)
    assert set(share(datapath, drain_mask=0b1100)) == {2}, "slot 3 may not transmit"


def test_a_device_that_has_gone_is_avoided(datapath):
    try:
        datapath.point(1, None)
        assert set(share(datapath)) == {0, 2, 3}
    finally:
        datapath.point(1, module.SLAVE_INDEX + 1)


def test_a_device_that_is_set_down_is_avoided(datapath):
    try:
        ip("link", "set", "s1", "down")
        assert set(share(datapath)) == {0, 2, 3}
    finally:
        ip("link", "set", "s1", "up")
    wait_for(lambda: set(share(datapath)) == {0, 1, 2, 3}, "s1 to send again")


def test_broadcast_leaves_out_what_has_no_carrier(datapath, cut):
    datapath.reset(selection=X.SELECT_ALL)
    cut(0, 2)
    verdict, sent = datapath.changed("tx_packets", lambda: datapath.run("xbond_port",
                                                                        packets.packet("udp4")))
    assert verdict == TC_REDIRECT and sent == {1: 1, 3: 1}


def test_neighbour_messages_leave_out_what_has_no_carrier(datapath, cut):
    datapath.reset()
    datapath.table.flags |= X.F_BROADCAST_NEIGHBOR
    cut(1)
    arp = bytes(12) + b"\x08\x06" + bytes(46)
    verdict, sent = datapath.changed("tx_packets", lambda: datapath.run("xbond_port", arp))
    assert verdict == TC_REDIRECT and sent == {0: 1, 2: 1, 3: 1}


def test_active_backup_receives_where_it_sends(datapath, cut):
    """Before bondd has changed rx_mask."""
    datapath.reset(selection=X.SELECT_ACTIVE, rx_mask=0b0001)
    datapath.fill_buckets([0] * X.BUCKETS)
    frame = packets.packet("udp4")
    assert datapath.receive(frame, slot=1)[1:] == ({}, {1: 1})
    cut(0)
    assert datapath.slot(frame) == 1
    assert datapath.receive(frame, slot=1)[1:] == ({1: 1}, {})
    assert datapath.receive(frame, slot=2)[1:] == ({}, {2: 1})
