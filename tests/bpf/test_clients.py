"""The map of balance-alb's clients when it is full, and who may be in it."""
import ctypes
import struct

import pytest

import abi
from datapath import X, libbpf
from frames import arp, ethernet, mac_bytes

BOND, OTHER, PEER = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:99"
OWN = bytes([192, 0, 2, 1])
ANY = ctypes.c_uint64(0)


def key(peer, own=OWN, family=2, mark=0):
    return own.ljust(16, b"\0") + peer.ljust(16, b"\0") + struct.pack("=HHHH", family, 0, 0, mark)


class Clients:
    def __init__(self, datapath):
        self.fd = datapath._map_fd("clients")

    def has(self, which):
        value = ctypes.create_string_buffer(32)
        return libbpf.bpf_map_lookup_elem(self.fd, which, value) == 0

    def fill(self, count):
        """Clients of another address of bond0."""
        for number in range(count):
            assert libbpf.bpf_map_update_elem(
                self.fd, key(struct.pack("!I", number + 1), bytes([198, 51, 100, 1])), bytes(32),
                ANY) == 0

    def mark(self, **which):
        assert libbpf.bpf_map_update_elem(self.fd, key(bytes(4), mark=1, **which), bytes(32),
                                          ANY) == 0

    def clear(self):
        found = ctypes.create_string_buffer(40)
        while libbpf.bpf_map_get_next_key(self.fd, None, found) == 0:
            libbpf.bpf_map_delete_elem(self.fd, found)


@pytest.fixture
def clients(datapath):
    btf = abi.btf()
    alb = datapath._mapped(".data.alb", btf.struct("xbond_alb"))
    receivers = datapath._mapped(".data.receivers", btf.struct("xbond_receivers"))
    datapath.reset(slots=2, flags=X.F_CARRIER | X.F_TLB | X.F_ALB)
    ctypes.memset(ctypes.byref(receivers), 0, ctypes.sizeof(receivers))
    alb.bond_mac = alb.mac[0] = int.from_bytes(mac_bytes(BOND), "little")
    alb.mac[1] = int.from_bytes(mac_bytes(OTHER), "little")
    for i in range(len(alb.order)):
        alb.order[i] = i if i < 2 else 255
    made = Clients(datapath)
    made.clear()
    made.receivers = receivers
    yield made
    made.clear()
    ctypes.memset(ctypes.byref(alb), 0, ctypes.sizeof(alb))


def reply(peer):
    return ethernet(PEER, BOND, 0x0806, arp(2, BOND, OWN, PEER, peer))


@pytest.mark.parametrize("room", [0, 1, 2])
def test_no_client_without_the_address_of_the_bond(datapath, clients, room):
    """By that entry is seen that the address has moved away."""
    peer = bytes([192, 0, 2, 9])
    clients.fill(X.MAX_CLIENTS - room)
    assert datapath.slot(reply(peer)) in (0, 1)
    assert clients.has(key(peer)) == (room == 2)
    assert clients.has(key(bytes(4))) == (room > 0)
    assert clients.receivers.refused == (room < 2)


def test_only_addresses_that_are_marked(datapath, clients):
    """Others are of machines behind a bridge, and cost neither room nor the right of others."""
    peer = bytes([192, 0, 2, 9])
    clients.mark(own=bytes(4), family=0)
    clients.mark(own=bytes([192, 0, 2, 3]))
    assert datapath.slot(reply(peer)) == 0
    assert not clients.has(key(peer)) and not clients.has(key(bytes(4)))
    assert (clients.receivers.admitted, clients.receivers.refused) == (0, 0)
    clients.mark()
    datapath.slot(reply(peer))
    assert clients.has(key(peer)) and clients.has(key(bytes(4)))
