"""Packets that are dropped are counted by reason: each reason is provoked here."""
import ctypes
import mmap
import struct
import time

import pytest

import abi
import packets
from datapath import (PORT_INDEX, SLAVE_INDEX, TC_REDIRECT, TC_SHOT, TC_UNSPEC, X, XDP_DROP,
                      XDP_REDIRECT, XdpDatapath, libbpf)
from frames import IPV4, UDP, checksum, ethernet, ip4, udp
from test_hold import STRANGER, THEIRS, USUAL, info, lacpdu, marker, working

PLAIN = packets.packet("udp4")
LAST = packets.frame("01:80:c2:00:00:0e", 0x88b6)
NOWHERE = 9999  # an ifindex that nobody has
BOND = X.MAX_SLAVES  # XBOND_DROPS_OF_BOND
OURS_BFD, THEIRS_BFD = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])


def drops(datapath, slot):
    """[packets by reason], the sum over CPUs."""
    values = (abi.btf().struct("xbond_drops") * datapath.cpus)()
    key = ctypes.c_uint32(slot)
    assert libbpf.bpf_map_lookup_elem(datapath._map_fd("drops"), ctypes.byref(key), values) == 0
    return [sum(copy.packets[reason] for copy in values) for reason in range(X.DROPS)]


def drops_of(datapath, action):
    """(what action returns, {(slot, reason): by how much it rose})."""
    before = {slot: drops(datapath, slot) for slot in (0, 1, 2, 3, BOND)}
    result = action()
    rose = {(slot, reason): now - then for slot, old in before.items()
            for reason, (then, now) in enumerate(zip(old, drops(datapath, slot))) if now != then}
    return result, rose


@pytest.fixture(name="dropped")
def _dropped(datapath):
    """drops_of() the programs that are loaded for all tests."""
    return lambda action: drops_of(datapath, action)


@pytest.fixture(name="rings")
def _rings(datapath):
    """Records that these tests leave are read by nobody: the rings are emptied."""
    yield
    for name in ("pdus", "bfd_packets"):
        fd = datapath._map_fd(name)
        with mmap.mmap(fd, mmap.PAGESIZE) as consumer, \
                mmap.mmap(fd, mmap.PAGESIZE, prot=mmap.PROT_READ, offset=mmap.PAGESIZE) as producer:
            consumer[:8] = producer[:8]


@pytest.mark.parametrize("program", ["xbond_port", "xbond_egress"])
def test_no_slave_may_transmit(datapath, dropped, program):
    datapath.settings.path = X.PATH_DIRECT
    assert dropped(lambda: datapath.run(program, PLAIN)) == (TC_REDIRECT, {})
    datapath.table.tx_mask = 0
    assert dropped(lambda: datapath.run(program, PLAIN)) == \
        (TC_SHOT, {(BOND, X.DROP_NO_SLAVE): 1})


@pytest.fixture(name="xdp")
def _xdp(datapath):
    """In the namespace of the programs that are loaded for all tests."""
    made = XdpDatapath()
    yield made
    made.unload()


def test_no_slave_may_transmit_by_xdp(xdp):
    send = lambda: xdp.run("xbond_xdp_tx", PLAIN)
    assert drops_of(xdp, send) == (XDP_REDIRECT, {})
    xdp.table.tx_mask = 0
    assert drops_of(xdp, send) == (XDP_DROP, {(BOND, X.DROP_NO_SLAVE): 1})


def test_a_copy_that_its_device_refuses(datapath, dropped):
    datapath.table.selection = X.SELECT_ALL
    assert dropped(lambda: datapath.run("xbond_port", PLAIN)) == (TC_REDIRECT, {})
    datapath.table.ifindex[2] = NOWHERE
    assert dropped(lambda: datapath.run("xbond_port", PLAIN)) == \
        (TC_REDIRECT, {(2, X.DROP_NO_COPY): 1})


def test_a_copy_that_the_bond_does_not_get(datapath, dropped):
    assert datapath.table.port_ifindex == PORT_INDEX
    assert dropped(lambda: datapath.run("xbond_rx", LAST, SLAVE_INDEX + 1)) == (TC_UNSPEC, {})
    datapath.table.port_ifindex = NOWHERE
    assert dropped(lambda: datapath.run("xbond_rx", LAST, SLAVE_INDEX + 1)) == \
        (TC_UNSPEC, {(1, X.DROP_NO_COPY): 1})


def test_received_for_nobody(datapath, dropped):
    def receive():
        return datapath.run("xbond_rx", PLAIN, SLAVE_INDEX + 1)

    assert dropped(receive) == (TC_REDIRECT, {})
    datapath.table.flags = 0
    assert dropped(receive) == (TC_SHOT, {(1, X.DROP_NO_CARRIER): 1})
    datapath.table.rx_mask = 0b1101
    assert dropped(receive) == (TC_SHOT, {(1, X.DROP_INACTIVE): 1})


# Nobody takes these without bondd.
WRONG = [lacpdu(info(STRANGER, 7, 0x3f), info(STRANGER, 1, 0x3f)), USUAL[:60],
         lacpdu(info(THEIRS, 7, 0x3f), info(THEIRS, 1, 0x3f), lengths=(20, 21, 16)), marker(kind=9)]


@pytest.mark.parametrize("frame", WRONG)
def test_lacp_that_is_wrong_while_bondd_is_away(datapath, dropped, frame):
    with working(datapath, 2):
        assert dropped(lambda: datapath.run("xbond_rx", frame, SLAVE_INDEX + 2)) == \
            (TC_SHOT, {(2, X.DROP_LACP_REFUSED): 1})
    with working(datapath, 2):
        assert dropped(lambda: datapath.run("xbond_rx", USUAL, SLAVE_INDEX + 2)) == \
            (TC_REDIRECT, {})


def test_lacpdus_that_bondd_does_not_read(datapath, dropped, rings):
    def hear():
        datapath.hold[2].budget[X.PDU_PARTNER].count = 0
        return datapath.run("xbond_rx", USUAL, SLAVE_INDEX + 2)

    datapath.table.lacp_heartbeat_ns = time.monotonic_ns() + 60 * 10**9
    with working(datapath, 2):
        fits = 64 * 1024 // (8 + X.PDU_SIZE + 28)
        verdicts, rose = dropped(lambda: {hear() for _ in range(fits + 10)})
    assert verdicts == {TC_UNSPEC}, "other readers on the slave get them"
    assert set(rose) == {(2, X.DROP_LACP_QUEUE)} and 5 <= rose[2, X.DROP_LACP_QUEUE] <= 20


def bfd_packet(yours):
    """Of micro-BFD, from the far end, for the session that knows itself as `yours`."""
    control = struct.pack("!BBBBIIIII", 0x20, 0xc0, 3, 24, 5, yours, 100000, 100000, 0)
    pseudo = THEIRS_BFD + OURS_BFD + struct.pack("!HH", UDP, 8 + len(control))
    total = checksum(pseudo + udp(49152, 6784, control))
    return ethernet("01:00:5e:90:00:01", "02:00:00:00:00:01", IPV4, ip4(
        THEIRS_BFD, OURS_BFD, UDP, udp(49152, 6784, control, total), 255, summed=True))


@pytest.fixture(name="bfd")
def _bfd(datapath):
    """The map of a bond whose third slave has a session that knows itself as 7."""
    bfd = datapath._mapped(".data.bfd", abi.btf().struct("xbond_bfd"))
    datapath.table.flags |= X.F_BFD
    bfd.ends.local[:4], bfd.ends.remote[:4] = OURS_BFD, THEIRS_BFD
    link = bfd.link[2]
    link.enabled = 1
    link.words[0].session.local_discr, link.words[0].session.remote_discr = 7, 5
    yield bfd
    ctypes.memset(ctypes.byref(bfd), 0, ctypes.sizeof(bfd))


def test_bfd_of_no_session_while_bondd_is_away(datapath, dropped, bfd):
    assert dropped(lambda: datapath.run("xbond_rx", bfd_packet(0), SLAVE_INDEX + 2)) == \
        (TC_SHOT, {(2, X.DROP_BFD_REFUSED): 1})
    assert dropped(lambda: datapath.run("xbond_rx", bfd_packet(7), SLAVE_INDEX + 2)) == \
        (TC_SHOT, {}), "one that is taken is not dropped"


def test_bfd_that_bondd_does_not_read(datapath, dropped, bfd, rings):
    bfd.heartbeat_ns = time.monotonic_ns() + 60 * 10**9
    fits = 16 * 1024 // (8 + 48)
    _, rose = dropped(lambda: [datapath.run("xbond_rx", bfd_packet(7), SLAVE_INDEX + 2)
                               for _ in range(fits + 10)])
    assert set(rose) == {(2, X.DROP_BFD_QUEUE)} and 5 <= rose[2, X.DROP_BFD_QUEUE] <= 20


# The discriminator that the packets name; which budget they use, and its limit.
FLOODS = {"of the session": (7, 0, X.BFD_PER_SECOND), "of others": (0, 1, X.BFD_OTHERS_PER_SECOND)}


@pytest.mark.parametrize("yours, which, limit", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize("here", [True, False], ids=["bondd here", "bondd away"])
def test_too_much_bfd(datapath, dropped, bfd, rings, here, yours, which, limit):
    """The budget counts what is beyond it, and one budget says nothing of the other."""
    budgets = bfd.link[2].budget

    def hear(packet, age_ns=0):
        for budget in budgets:
            budget.window_ns = time.monotonic_ns() - age_ns
        verdict, rose = dropped(lambda: datapath.run("xbond_rx", packet, SLAVE_INDEX + 2))
        assert verdict == TC_SHOT
        return rose

    bfd.heartbeat_ns = time.monotonic_ns() + 60 * 10**9 if here else 0
    budgets[which].count = limit - 1
    refused = {} if here or yours else {(2, X.DROP_BFD_REFUSED): 1}
    assert hear(bfd_packet(yours)) == refused, "the last one of this second"
    assert [hear(bfd_packet(yours)) for _ in range(3)] == [{}] * 3
    assert (budgets[which].flooded, budgets[1 - which].flooded) == (3, 0)
    assert hear(bfd_packet(7 - yours)) == ({(2, X.DROP_BFD_REFUSED): 1} if yours and not here
                                           else {})
    assert (budgets[which].flooded, budgets[1 - which].count) == (3, 1)
    assert hear(bfd_packet(yours), 10**9) == refused, "the next second"
    assert (budgets[which].flooded, budgets[which].count) == (3, 1)
