"""What a slave's program does with what arrives: to the bond, stay, or drop."""
import pytest

import packets
from datapath import SLAVE_INDEX, TC_REDIRECT, TC_SHOT, TC_UNSPEC, X

PLAIN = packets.packet("udp4")
UNICAST = "02:00:00:00:00:01"
SLOW, EAPOL = 0x8809, 0x888e
STAY = [packets.frame("01:80:c2:00:00:02", SLOW), packets.frame("01:80:c2:00:00:01", 0x8808),
        packets.frame("01:80:c2:00:00:01", 0x1234), packets.frame("01:80:c2:00:00:01", SLOW)]
LINK_LOCAL = [packets.frame(f"01:80:c2:00:00:{last:02x}", 0x88cc if last == 0xe else 0x0069)
              for last in range(16) if last != 1]
LINK_LOCAL += [packets.frame(f"01:80:c2:00:00:{last:02x}", kind) for last, kind in (
    (0, SLOW), (3, SLOW), (0xe, SLOW), (0, EAPOL), (2, EAPOL), (3, EAPOL), (0xe, EAPOL))]
# A switch forwards these: whoever sends them is somewhere in the network, not at the other end of
# the cable.
FROM_ANYWHERE = [packets.frame(to, kind, payload=payload) for kind, payload in
                 ((SLOW, b"\x01\x01" + bytes(108)), (SLOW, b"\x02\x01" + bytes(108)),
                  (SLOW, b"\x03" + bytes(45)), (EAPOL, bytes(46)))
                 for to in (UNICAST, "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "01:80:c2:00:00:12",
                            "01:80:c2:00:01:02", "01:80:c3:00:00:02", "33:33:00:00:00:01")]
ORDINARY = [PLAIN, packets.packet("udp6"), packets.packet("arp"),
            packets.frame("ff:ff:ff:ff:ff:ff", 0x0806), packets.frame("01:00:5e:00:00:01", 0x0800),
            packets.frame("01:80:c2:00:00:10", 0x0069), packets.frame("01:80:c2:00:01:00", 0x0069),
            packets.frame("01:80:c3:00:00:00", 0x0069), *FROM_ANYWHERE]
SELECTIONS = [X.SELECT_TURNS, X.SELECT_ACTIVE, X.SELECT_HASH, X.SELECT_ALL]


@pytest.fixture(params=["counted", "direct"])
def path(request, datapath):
    datapath.settings.path = X.PATH_DIRECT if request.param == "direct" else X.PATH_COUNTED
    datapath.table.watched = 1
    return request.param


@pytest.mark.parametrize("frame", ORDINARY)
def test_ordinary_frames_go_to_the_bond(datapath, path, frame):
    assert datapath.receive(frame, slot=2) == (TC_REDIRECT, {2: 1}, {})


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("frame", FROM_ANYWHERE)
def test_only_its_group_makes_a_slow_protocol(datapath, selection, frame):
    """Also on a port: neither a budget nor the silence of the partner is touched."""
    datapath.table.selection = selection
    port = datapath.hold[2]
    port.enabled = port.words[port.in_force].current = 1
    before = bytes(port)
    try:
        assert datapath.receive(frame, slot=2) == (TC_REDIRECT, {2: 1}, {})
        assert bytes(port) == before
    finally:
        port.enabled = 0


def own(datapath, slot, kind=EAPOL):
    return packets.frame(datapath.mac(slot), kind)


@pytest.mark.parametrize("collecting", [True, False])
def test_eapol_for_the_slaves_address_stays(datapath, path, collecting):
    """So an authenticator answers, on the slave or on the bond. That of another slave is an
    ordinary frame, and so is a slow protocol.
    """
    datapath.table.rx_mask = 0xf if collecting else 0
    with datapath.listen(path) as bond:
        frame = own(datapath, 1)
        assert datapath.receive(frame, slot=1) == (TC_UNSPEC, {1: 1} if collecting else {}, {})
        assert not collecting or bond.recv(2048) == frame
    verdict = (TC_REDIRECT, {0: 1}, {}) if collecting else (TC_SHOT, {}, {0: 1})
    assert datapath.receive(own(datapath, 1), slot=0) == verdict
    assert datapath.receive(own(datapath, 0, SLOW), slot=0) == verdict


def test_bytes_are_counted(datapath, path):
    _, counted = datapath.changed("rx_bytes", lambda: datapath.receive(PLAIN, slot=1))
    assert counted == {1: len(PLAIN)}


@pytest.mark.parametrize("frame", STAY)
@pytest.mark.parametrize("collecting", [True, False])
@pytest.mark.parametrize("carrier", [True, False])
def test_the_slaves_own_frames_stay(datapath, path, frame, collecting, carrier):
    datapath.table.rx_mask = 0xf if collecting else 0
    datapath.table.flags = X.F_CARRIER if carrier else 0
    assert datapath.receive(frame) == (TC_UNSPEC, {}, {})


LAST = packets.frame("01:80:c2:00:00:0e", 0x88b6)


@pytest.mark.parametrize("frame", LINK_LOCAL)
def test_other_link_local_frames_are_the_slaves_and_the_bonds(datapath, path, frame):
    """A copy goes to the bond, unless that receives nothing now, and the frame goes on."""
    with datapath.listen(path) as bond:
        assert datapath.receive(frame) == (TC_UNSPEC, {0: 1}, {})
        assert bond.recv(2048) == frame
        datapath.table.flags = 0
        assert datapath.receive(frame) == (TC_UNSPEC, {}, {})
        datapath.table.flags, datapath.table.rx_mask = X.F_CARRIER, 0b1110
        assert datapath.receive(frame) == (TC_UNSPEC, {}, {})
        datapath.table.rx_mask = 0b0001
        assert datapath.receive(LAST) == (TC_UNSPEC, {0: 1}, {})
        assert bond.recv(2048) == LAST


@pytest.mark.parametrize("kind", [0x0800, 0x0806, 0x86dd])
def test_ip_is_never_the_slaves(datapath, path, kind):
    """Else the host would answer on the slave as well."""
    frame = packets.frame("01:80:c2:00:00:0e", kind)
    assert datapath.receive(frame) == (TC_REDIRECT, {0: 1}, {})
    datapath.table.rx_mask = 0b1110
    assert datapath.receive(frame) == (TC_SHOT, {}, {0: 1})


@pytest.mark.parametrize("watched", [0, 1])
def test_a_copy_for_a_bond_that_opens(datapath, watched):
    """Around the pair, whose port side is not up yet; only while bondd watches."""
    datapath.table.flags, datapath.table.watched = X.F_CARRIER | X.F_OPENING, watched
    with datapath.listen("direct" if watched else "counted") as bond:
        assert datapath.receive(LAST) == (TC_UNSPEC, {0: 1}, {})
        assert bond.recv(2048) == LAST


@pytest.mark.parametrize("frame", ORDINARY)
def test_a_slave_that_may_not_collect_drops(datapath, path, frame):
    datapath.table.rx_mask = 0b1011
    assert datapath.receive(frame, slot=2) == (TC_SHOT, {}, {2: 1})


def test_a_bond_without_carrier_drops(datapath, path):
    datapath.table.flags = 0
    assert datapath.receive(PLAIN, slot=3) == (TC_SHOT, {}, {3: 1})


def test_a_stranger_passes(datapath):
    """A device that is no slave (any more) keeps its frames."""
    datapath.table.ifindex[3] = 0
    assert datapath.receive(PLAIN, ifindex=SLAVE_INDEX + 3) == (TC_UNSPEC, {}, {})


def test_slots_are_found_where_the_hint_is_wrong(datapath):
    """Two ifindexes may share an entry of slot_of."""
    for slot in range(4):
        datapath.buckets.slot_of[(SLAVE_INDEX + slot) % X.SLOT_CACHE] = 63 - slot
    for slot in range(4):
        assert datapath.receive(PLAIN, slot=slot) == (TC_REDIRECT, {slot: 1}, {})


@pytest.mark.parametrize("size", [15, 17, 33])
def test_short_frames(datapath, path, size):
    assert datapath.receive(packets.frame(UNICAST, 0x0806)[:size]) == (TC_REDIRECT, {0: 1}, {})
    assert datapath.receive(STAY[0][:size]) == (TC_UNSPEC, {}, {})
