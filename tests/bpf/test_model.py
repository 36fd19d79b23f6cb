"""The programs against the model of docs/hash.md over generated packets: the same bucket out of
4096 for each.
"""
import collections
import random

import pytest

import generate
import model
import picks

PACKETS = 100000
SEED = 20250


@pytest.fixture(scope="module")
def cases():
    """Packets, each under a policy and options of its own."""
    generator, chance = generate.Generator(SEED), random.Random(SEED)
    return [(model.Rule(policy=chance.choice(list(picks.POLICIES)), seed=chance.getrandbits(32),
                        symmetric=chance.random() < 0.2, flow_label=chance.random() < 0.3),
             generator.packet()) for _ in range(PACKETS)]


def test_the_packets_reach_every_part_of_the_model(cases):
    """Else agreement says little: IP packets of both versions at every depth, and all numbers of
    words.
    """
    found = collections.Counter()
    for rule, packet in cases:
        found["words", len(model.words(packet, rule))] += 1
        if rule.policy.startswith("encap"):
            inner = model.innermost(packet)
            found["inner", inner and inner[1]] += 1
            found["deep"] += bool(inner and inner[0] > 120)
            found["far"] += bool(inner and inner[0] > 200)
    for count in (0, 1, 2, 3, 4, 5, 6):
        assert found["words", count] > 50, found
    for key in (("inner", 4), ("inner", 6), ("inner", None), "deep", "far"):
        assert found[key] > 300, found


@pytest.mark.parametrize("entry", picks.ENTRIES)
def test_program_and_model_agree(cases, entry):
    wrong = [(rule, packet.hex(), bucket, model.bucket(packet, rule)) for (rule, packet), bucket in
             zip(cases, picks.buckets(entry, cases)) if bucket != model.bucket(packet, rule)]
    assert not wrong, f"{len(wrong)} of {len(cases)}; the first: {wrong[:3]}"
