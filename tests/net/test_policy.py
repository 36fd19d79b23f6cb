"""Policies of the user: what they answer decides, and nothing that they are can harm the bond."""
import os
import shutil

import pytest

from lab import BUILD
from namespace import run
from policies import EXAMPLES, WANTED, compile_policy, hash_, slot, want, write_map
from schema import check
from test_xdp import by_xdp, whole_checksums
from traffic import Capture, Stream, send_packets
from waiting import wait_for

FLOWS = 32


@pytest.fixture(scope="module", name="made_dir")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("policies")


@pytest.fixture(scope="module", name="wanted")
def wanted_policy(made_dir):
    return compile_policy(WANTED, made_dir / "wanted.o")


def example(directory, name):
    return compile_policy(EXAMPLES / f"{name}.bpf.c", directory / f"{name}.bpf.o")


def load(host, file):
    host.ctl("policy", "load", "bond0", file)
    return check("policy", host.ctl_json("policy", "show", "bond0"))


def shares(made):
    """How many of a few packets of many flows each slave gets; none may be lost."""
    before = made.far.received("bond0")["packets"]
    was = [made.near.slave(link)["tx_packets"] for link in made.links]
    send_packets(made.near, count=FLOWS * 4, flows=FLOWS)
    wait_for(lambda: made.far.received("bond0")["packets"] >= before + FLOWS * 4, "all packets")
    return [made.near.slave(link)["tx_packets"] - count for link, count in zip(made.links, was)]


def refused(host, *words, status=1):
    done = host.ctl_try(*words)
    assert done.returncode == status and done.stderr.count("\n") == 1, done
    return done.stderr


def only(made, link):
    """All packets take this link, but for some of the kernel's own."""
    got = dict(zip(made.links, shares(made)))
    return got[link] >= FLOWS * 4 and sum(got.values()) - got[link] < 8


def spread(made):
    return min(shares(made)) >= 4


def xor(pair, **options):
    return pair("balance-xor", links=3, xmit_hash_policy="layer3+4", **options)


def test_what_a_policy_answers(pair, wanted):
    made = xor(pair)
    host = made.near
    assert check("policy", host.ctl_json("policy", "show", "bond0"))["policy"] is None
    assert host.show()["policy"] is None and spread(made)
    shown = load(host, wanted)
    assert (shown["policy"]["name"], shown["decides"], shown["problem"]) == ("to_wanted", True,
                                                                            None)
    assert [each["name"] for each in shown["policy"]["maps"]] == ["wanted"]
    assert check("show", host.ctl_json("show"))[0]["policy"] == "to_wanted"
    assert "policy to_wanted decides" in host.log()
    slots = {each["slave"]: each["slot"] for each in shown["slots"]}
    assert spread(made)  # its map is empty: as without it
    for link in made.links:
        want(host, slot(slots[link]))
        assert only(made, link)
    want(host, hash_(0xabcdef0123456789))
    assert sorted(shares(made))[1] < 8  # one hash, one slave
    for rubbish in (slot(63), slot(64), slot(1 << 60), 3, 0xfffffffffffffff4):
        want(host, rubbish)
        assert spread(made), hex(rubbish)
    # A slave that may not transmit: its packets take another.
    want(host, slot(slots["l1"]))
    made.far.ip("link", "set", "l1", "down")
    host.wait_slaves("l0", "l2")
    got = dict(zip(made.links, shares(made)))
    assert got["l1"] == 0 and min(got["l0"], got["l2"]) >= 4
    host.ctl("policy", "unload", "bond0")
    assert check("policy", host.ctl_json("policy", "show", "bond0"))["policy"] is None
    assert "no policy decides any more" in host.log()
    assert refused(host, "policy", "unload", "bond0") == "bondctl: bond0 has no policy\n"


def test_it_outlives_bondd(pair, wanted):
    """And slaves that come and go, and another policy in its place."""
    made = xor(pair)
    host = made.near
    slots = {each["slave"]: each["slot"] for each in load(host, wanted)["slots"]}
    want(host, slot(slots["l2"]))
    host.kill_bondd()
    assert only(made, "l2")
    host.start_bondd()
    assert only(made, "l2")
    host.ctl("del-slave", "bond0", "l0")
    host.ctl("add-slave", "bond0", "l0")
    host.wait_slaves(*made.links)
    assert only(made, "l2")
    host.stop_bondd()
    load(host, wanted)  # needs no bondd, because the programs ask already; its map is new
    assert spread(made)
    want(host, slot(slots["l1"]))
    assert only(made, "l1")
    host.ctl("policy", "unload", "bond0")
    assert spread(made)
    host.start_bondd()
    assert spread(made) and host.show()["policy"] is None
    host.stop_bondd()
    assert "bondd" in refused(host, "policy", "load", "bond0", wanted, status=3)
    assert host.show()["policy"] is None  # nothing is changed
    host.start_bondd()
    load(host, wanted)
    host.ctl("delete", "bond0")
    assert host.pins() == []


@pytest.mark.parametrize("step", ["policy-pinned", "upgrade-pinned", "upgrade-attached"])
def test_bondd_dies_while_it_changes_programs(pair, wanted, step):
    made = xor(pair)
    host = made.near
    host.stop_bondd()
    with host.dying_at(step):
        refused(host, "policy", "load", "bond0", wanted, status=3)
    assert spread(made)
    host.start_bondd()
    assert host.show()["policy"] is None and spread(made)
    load(host, wanted)
    want(host, slot(1))
    assert only(made, "l1")


@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "broadcast"])
def test_modes_without_a_hash(pair, wanted, mode):
    """A policy is kept, has no effect, and show and doctor say so."""
    made = pair(mode, links=2)
    shown = load(made.near, wanted)
    assert not shown["decides"] and "no effect in this mode" in shown["problem"]
    want(made.near, slot(1))
    assert min(shares(made)) == 0 if mode == "active-backup" else min(shares(made)) > 16


def test_8023ad(pair, wanted):
    made = pair("802.3ad", links=3, lacp_rate="fast", xmit_hash_policy="layer3+4")
    wait_for(lambda: spread(made), "all ports to distribute")
    load(made.near, wanted)
    want(made.near, slot(2))
    assert only(made, "l2")
    made.near.ip("link", "set", "l2", "down")
    wait_for(lambda: sorted(shares(made))[1] >= 4, "the detour")
