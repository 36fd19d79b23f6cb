"""The programs against the model of docs/users/hash.md over generated packets: the same bucket out
of 4096 for each. And programs of others, which include xbond/select.bpf.h, against the bond's
own: the same slave, whatever is missing. The packets follow from the seed of the sample.
"""
import collections
import random

import pytest

import generate
import model
import picks
import sample
from abi import BUILD
from datapath import TC_REDIRECT

ALL_PACKETS = 100000
PACKETS = sample.size(10000, ALL_PACKETS)
PAIRS = sample.size(1500, 3000)  # of slots, to be seen among as many packets
LOST = (3, 17, 40, 63)
# what it returns when it has chosen
LIBRARY = {"xdp": picks.XDP_REDIRECT, "tc": TC_REDIRECT}


@pytest.fixture(scope="module")
def cases():
    """Packets, each under a policy and options of its own."""
    generator, chance = generate.Generator(sample.SEED), random.Random(sample.SEED)
    return [(model.Rule(policy=chance.choice(list(picks.POLICIES)), seed=chance.getrandbits(32),
                        symmetric=chance.random() < 0.2, flow_label=chance.random() < 0.3),
             generator.packet()) for _ in range(PACKETS)]


@pytest.fixture(scope="module", name="words")
def _words(cases):
    """What the model hashes of each."""
    return [model.words(packet, rule) for rule, packet in cases]


def part(count):
    """Of so many among all packets, those of the sample."""
    return count * PACKETS / ALL_PACKETS


def test_the_packets_reach_every_part_of_the_model(cases, words):
    """Else agreement says little: IP packets of both versions at every depth, and all numbers of
    words.
    """
    found = collections.Counter(("words", len(each)) for each in words)
    for rule, packet in cases:
        if rule.policy.startswith("encap"):
            inner = model.innermost(packet)
            found["inner", inner and inner[1]] += 1
            found["deep"] += bool(inner and inner[0] > 120)
            found["far"] += bool(inner and inner[0] > 200)
    for count in (0, 1, 2, 3, 4, 5, 6):
        assert found["words", count] > part(50), found
    for key in (("inner", 4), ("inner", 6), ("inner", None), "deep", "far"):
        assert found[key] > part(300), found


@pytest.mark.parametrize("entry", picks.ENTRIES)
def test_program_and_model_agree(cases, words, entry):
    expected = [model.bucket_of(model.mixed(rule.seed, each)) for (rule, _), each in
                zip(cases, words)]
    wrong = [(rule, packet.hex(), bucket, right) for (rule, packet), bucket, right in
             zip(cases, picks.buckets(entry, cases), expected) if bucket != right]
    assert not wrong, f"{len(wrong)} of {len(cases)}; the first: {wrong[:3]}"


@pytest.fixture(scope="module", name="masks")
def _masks():
    """The slots that may transmit, for each case: all, all but one, some, one; never only lost
    ones.
    """
    chance = random.Random(sample.SEED)
    good = [slot for slot in range(64) if slot not in LOST]
    return [chance.choice((picks.ALL, picks.ALL & ~(1 << chance.randrange(64)),
                           chance.getrandbits(64) | 1, 1 << chance.choice(good)))
            for _ in range(PACKETS)]


@pytest.fixture(scope="module", name="chosen")
def _chosen(cases, masks):
    """By the bond's own program, while some slots have no device."""
    return picks.buckets("tc", cases, masks, LOST)


def compare(kind, cases, masks, chosen, tlb=False):
    """Returns what the library has chosen, which is what the bond's own program has."""
    entry = BUILD / f"tools/library_{kind}.bpf.o", LIBRARY[kind]
    found = picks.buckets(entry, cases, masks, LOST, tlb)
    wrong = [(rule, packet.hex(), hex(mask), theirs, ours) for (rule, packet), mask, theirs, ours in
             zip(cases, masks, found, chosen) if theirs != ours]
    assert not wrong, f"{len(wrong)} of {len(cases)}; the first: {wrong[:3]}"
    assert len(found) == len(chosen) == PACKETS and len(set(found)) > PAIRS, "few pairs of slots"
    return found


@pytest.mark.parametrize("kind", LIBRARY)
def test_the_library_chooses_as_the_bond(cases, masks, chosen, kind):
    compare(kind, cases, masks, chosen)


@pytest.mark.parametrize("kind", LIBRARY)
def test_the_library_chooses_as_balance_tlb(cases, masks, kind):
    """Some packets are balanced, the others leave by the active slave."""
    chosen = picks.buckets(kind, cases, masks, LOST, tlb=True)
    assert compare(kind, cases, masks, chosen, tlb=True).count(0) > part(4000)
