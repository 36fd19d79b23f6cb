"""Truncated, lying and random packets: never an error, always some member. A sample of the random
ones is chosen by its seed.
"""
import random

import pytest

import packets
import sample
from datapath import TC_REDIRECT, TC_UNSPEC, X
from generate import shortest

POLICIES = [X.POLICY_LAYER2, X.POLICY_LAYER34, X.POLICY_LAYER23, X.POLICY_VLAN_SRCMAC, 3, 99,
            0xffffffff]
ROUNDS = sample.size(300, 1500)
WHOLE = [packets.packet("udp4"), packets.packet("tcp6", vlan=3, outer_vlan=4),
         packets.packet("arp"),
         packets.extended6({}, "hDrd"), packets.fragments4({})[1], packets.fragments6({})[0]]
TAG = bytes.fromhex("81000005")


def tagged(packet):
    return packet[:12] + TAG + packet[12:]


@pytest.fixture(params=POLICIES, ids=lambda policy: f"policy{policy}")
def any_policy(request, datapath):
    datapath.settings.xmit_hash_policy = request.param
    return datapath


@pytest.mark.parametrize("whole", WHOLE, ids=range(len(WHOLE)))
def test_truncated_anywhere(any_policy, whole):
    for packet in (whole, tagged(whole)):
        for size in range(shortest(packet), len(packet)):
            assert any_policy.slot(packet[:size]) < 4


def test_bytes_flipped_in_the_headers(any_policy):
    chance = random.Random(sample.SEED)
    for _ in range(ROUNDS):
        packet = bytearray(tagged(chance.choice(WHOLE)))
        for _ in range(chance.randrange(1, 6)):
            packet[chance.randrange(14, min(len(packet), 80))] = chance.getrandbits(8)
        assert any_policy.slot(bytes(packet)) < 4


def test_noise(any_policy):
    chance = random.Random(sample.SEED)
    types = [b"\x08\x00\x45", b"\x08\x00\x4f", b"\x86\xdd\x60", b"\x81\x00\x00", b"\x88\xa8\x00",
             b""]
    for _ in range(ROUNDS):
        noise = chance.randbytes(12) + TAG + chance.choice(types) + chance.randbytes(
            chance.randrange(200))
        assert any_policy.slot(noise) < 4


def test_nonsense_in_the_maps(datapath):
    """A damaged table must not make the programs read or send outside of it."""
    chance = random.Random(3)
    packet = packets.packet("udp4")
    for _ in range(300):
        datapath.reset(selection=chance.choice([0, 1, 2, 3, 77]),
                       packets_per_slave=chance.getrandbits(32),
                       bytes_per_slave=chance.choice([0, chance.getrandbits(32)]),
                       active_slot=chance.getrandbits(32), active_request=chance.getrandbits(1),
                       drain_mask=chance.getrandbits(64))
        datapath.fill_buckets([chance.getrandbits(8) for _ in range(64)])
        datapath.table.active = chance.getrandbits(32)
        datapath.table.bucket_count[0] = chance.choice([0, 1, 5000, 0xffffffff])
        datapath.table.tx_mask = 0b1111
        verdicts, sent = datapath.changed("tx_packets", lambda: datapath.run("xbond_port", packet))
        assert verdicts == TC_REDIRECT and set(sent) <= {0, 1, 2, 3}


def test_nonsense_received(datapath):
    chance = random.Random(4)
    for _ in range(1500):
        noise = chance.randbytes(chance.randrange(60, 120))
        assert datapath.run("xbond_rx", noise, 100) in (TC_REDIRECT, TC_UNSPEC)
