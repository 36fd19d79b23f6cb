"""Policies of the user: what they answer decides, and nothing that they are can harm the bond."""
import json
import os
import shutil
import struct
import subprocess
import time

import pytest

import schema
from frames import pcap
from lab import BUILD
from namespace import run
from policies import (EXAMPLES, FIRST_FIVE, WANTED, compile_policy, gtp, hash_, slot, tagged, want,
                      write_map)
from tcx import TCX_INGRESS, Tcx
from test_xdp import arrivals, rotating  # noqa: F401  pylint: disable=unused-import
from test_rebalance import is_even
from traffic import Stream, send_packets
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("on_veths")
FLOWS = 64  # of 32, none takes one of three slaves once in 140,000 times
ALL_LINKS = {"mode": "broadcast", "all_slaves_active": "on"}


@pytest.fixture(scope="module", name="made_dir")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("policies")


def check(name, value):
    """Not in the emulated machine, which has no schemas."""
    return value if "XBOND_VM" in os.environ else schema.check(name, value)


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


def test_what_a_policy_answers(pair):
    made = xor(pair)
    host = made.near
    assert check("policy", host.ctl_json("policy", "show", "bond0"))["policy"] is None
    assert host.show()["policy"] is None and spread(made)
    shown = load(host, WANTED)
    assert (shown["policy"]["name"], shown["decides"], shown["problem"]) == ("to_wanted", True,
                                                                            None)
    assert [each["name"] for each in shown["policy"]["maps"]] == ["wanted"]
    assert check("show", host.ctl_json("show"))[0]["policy"] == "to_wanted"
    assert "policy to_wanted is in use" in host.log()
    assert "policy               to_wanted\n" in host.ctl("show", "-d", "bond0")
    assert "[policy]" not in host.ctl_try("doctor", "--no-traffic", "bond0").stdout
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
    wait_for(lambda: "no policy is in use now" in host.log(), "bondd to see that")
    assert refused(host, "policy", "unload", "bond0") == "bondctl: bond0 has no policy\n"


@pytest.mark.parametrize("pin", ["prog_egress", "prog_rx", "prog_beat"])
def test_a_load_that_fails_spoils_nothing(lone, pin):
    """A pin cannot be opened again, for want of memory: that is no damage."""
    host = lone(3, bondd=False)
    host.start_refusable()
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", "l0", "l1")
    with host.refusing(pin):
        line = refused(host, "policy", "load", "bond0", WANTED)
    assert "try again" in line and "rm -r" not in line
    host.ctl("add-slave", "bond0", "l2")
    host.ctl("del-slave", "bond0", "l1")
    host.wait_slaves("l0", "l2")
    assert load(host, WANTED)["decides"]


def test_only_programs_that_ask_contain_a_tail_call(pair):
    """Not every architecture's JIT compiler takes them in functions."""
    host = xor(pair, device="veth").near

    def with_tail_calls():
        return {pin.name for pin in (host.bpf_dir / "bond0").glob("prog_*")
                if "tail_call" in run("bpftool", "prog", "dump", "xlated", "pinned", pin).stdout}
    assert with_tail_calls() == set()
    load(host, WANTED)
    assert with_tail_calls() == {"prog_port", "prog_egress", "prog_policy_try"}
    host.ctl("policy", "unload", "bond0")
    assert with_tail_calls() <= {"prog_policy_try"}


def test_it_outlives_bondd(pair):
    """And slaves that come and go, and another policy in its place."""
    made = xor(pair)
    host = made.near
    slots = {each["slave"]: each["slot"] for each in load(host, WANTED)["slots"]}
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
    load(host, WANTED)  # needs no bondd, because the programs ask already; its map is new
    assert spread(made)
    want(host, slot(slots["l1"]))
    assert only(made, "l1")
    host.ctl("policy", "unload", "bond0")
    assert spread(made)
    host.start_bondd()
    assert spread(made) and host.show()["policy"] is None
    host.stop_bondd()
    assert "bondd" in refused(host, "policy", "load", "bond0", WANTED, status=3)
    assert host.show()["policy"] is None  # nothing is changed
    host.start_bondd()
    load(host, WANTED)
    host.ctl("delete", "bond0")
    assert host.pins() == []


def test_a_bondd_that_has_just_died_or_hangs(pair):
    """What needs no bondd is done, and said to be."""
    host = xor(pair).near
    load(host, WANTED)
    host.kill_bondd()
    for words in (("load", "bond0", WANTED), ("unload", "bond0")):  # its heartbeat is still fresh
        done = host.ctl_try("policy", *words)
        assert (done.returncode, done.stderr) == (0, ""), words
    assert host.show()["policy"] is None
    host.start_bondd()
    load(host, WANTED)
    host.freeze_bondd()
    done = host.ctl_try("policy", "unload", "bond0")
    assert (done.returncode, done.stderr) == (0, "") and host.show()["policy"] is None
    host.thaw_bondd()
    wait_for(lambda: "no policy is in use now" in host.log(), "bondd to act on it")


def test_a_policy_removed_while_bondd_seems_away(pair):
    """Nobody tells bondd; it sees that by itself."""
    host = xor(pair).near
    load(host, WANTED)
    host.freeze_bondd()
    wait_for(lambda: time.monotonic_ns() - host.pinned("table")["heartbeat_ns"] > 3e9,
             "bondd to seem away")
    host.ctl("policy", "unload", "bond0")
    host.thaw_bondd()
    wait_for(lambda: "no policy is in use now" in host.log(), "bondd to see it")


def test_nobody_waits_for_another_ones_bondd(pair):
    """A load that waits for a bondd that hangs does not keep others from changing the policy."""
    made = xor(pair)
    host = made.near
    host.freeze_bondd()
    loading = host.spawn(*host.ctl_command("policy", "load", "bond0", WANTED))
    wait_for(lambda: host.show()["policy"], "the policy to be pinned")
    unloading = host.spawn(*host.ctl_command("policy", "unload", "bond0"))
    wait_for(lambda: host.show()["policy"] is None, "it to be gone again")
    assert loading.poll() is None
    host.thaw_bondd()
    assert (loading.wait(timeout=30), unloading.wait(timeout=30)) == (0, 0)
    assert host.show()["policy"] is None and spread(made)


def refused_by_bondd(made):
    """The first policy of the bond; nothing has changed. Returns what bondctl says."""
    said = refused(made.near, "policy", "load", "bond0", WANTED)
    shown = check("policy", made.near.ctl_json("policy", "show", "bond0"))
    assert (shown["policy"], shown["decides"]) == (None, False)
    assert "policy to_wanted is in use" not in made.near.log()
    return said


def accepted(made):
    """Afterwards, when nothing is in the way any more."""
    assert load(made.near, WANTED)["decides"]
    want(made.near, slot(1))
    assert only(made, "l1")


@pytest.mark.parametrize("hook", ["tcx"], indirect=True)
def test_programs_that_ask_cannot_come(pair):
    """First they cannot be pinned, then they cannot be attached."""
    made = xor(pair, device="veth")
    host, pins = made.near, made.near.bpf_dir / "bond0"
    (pins / "new_prog_port").mkdir()  # what bondd pins before it renames it
    assert "cannot pin" in refused_by_bondd(made)
    (pins / "new_prog_port").rmdir()
    assert spread(made)

    file, port = BUILD / "tools/filters.bpf.o", host.link("bond0")["link"]
    host.freeze_bondd()
    others = [Tcx(host, port, file, "silent", hook=TCX_INGRESS) for _ in range(62)]
    run("bpftool", "link", "detach", "pinned", pins / "link_port")
    # It has 63 places, so the kernel has none for bondd's now.
    others.append(Tcx(host, port, file, "silent", hook=TCX_INGRESS))
    loading = host.spawn(*host.ctl_command("policy", "load", "bond0", WANTED),
                         stderr=subprocess.PIPE, text=True)
    wait_for(lambda: host.show()["policy"], "the policy to be pinned")
    host.thaw_bondd()
    said = loading.communicate(timeout=30)[1]
    assert loading.returncode == 1 and said.count("\n") == 1
    assert f"cannot be attached to {port}" in said
    for other in others:
        other.detach()
        other.close()
    assert "policy to_wanted is not in use" in host.log()
    assert check("policy", host.ctl_json("policy", "show", "bond0"))["policy"] is None
    assert "policy to_wanted is in use" not in host.log()
    accepted(made)


def test_flowlets_keep_away_from_what_it_sends(pair):
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", flowlet_gap=500)
    load(made.near, FIRST_FIVE)
    stream = Stream(made.near, made.far, flows=10, rate=8000, size=1400, from_port=20000)
    stream.flow_on(100)
    wait_for(lambda: is_even(made), "both links to carry the same")
    stream.finish()


@pytest.mark.parametrize("step", ["policy-pinned", "upgrade-pinned", "upgrade-attached"])
def test_bondd_dies_while_it_changes_programs(pair, step):
    made = xor(pair)
    host = made.near
    with host.dying_at(step):
        refused(host, "policy", "load", "bond0", WANTED, status=3)
    assert spread(made)
    host.start_bondd()
    assert host.show()["policy"] is None and spread(made)
    load(host, WANTED)
    want(host, slot(1))
    assert only(made, "l1")


@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "broadcast", "balance-tlb",
                                  "balance-alb"])
def test_modes_without_a_policy(pair, mode):
    """One that is loaded is kept, has no effect, and show and doctor say so."""
    made = pair(mode, links=2, far=ALL_LINKS, xmit_hash_policy="layer3+4")
    shown = load(made.near, WANTED)
    assert not shown["decides"] and "no effect in this mode" in shown["problem"]
    assert "policy to_wanted is not in use: it has no effect in this mode" in \
        made.near.ctl_try("doctor", "--no-traffic", "bond0").stdout
    want(made.near, slot(1))
    assert min(shares(made)) == 0 if mode == "active-backup" else min(shares(made)) > 16


def test_replaced_under_traffic(pair, made_dir):
    """Nothing is lost or overtaken while a policy comes, gives way to another one or to none, and
    while one that the kernel refuses does not come: the old one stays in force.
    """
    made = xor(pair)
    host = made.near
    slots = {each["slave"]: each["slot"] for each in load(host, WANTED)["slots"]}
    want(host, slot(slots["l1"]))
    endless = elf_with(made_dir, "endless_again", REFUSED["endless"][0])
    to_l1 = elf_with(made_dir, "to_l1", HEADER + "XBOND_POLICY(to_l1) { return "
                     f"xbond_slot({slots['l1']}); }}" + LICENSE)
    stream = Stream(host, made.far, rate=2000, flows=FLOWS)
    stream.flow_on(200)
    before = host.slave("l1")["tx_packets"], host.show()["tx_packets"]
    for _ in range(5):
        assert load(host, to_l1)["policy"]["name"] == "to_l1"
        assert "infinite loop" in refused(host, "policy", "load", "bond0", endless)
        assert check("policy", host.ctl_json("policy", "show", "bond0"))["decides"]
    stream.flow_on(200)
    result = stream.finish()
    after = host.slave("l1")["tx_packets"], host.show()["tx_packets"]
    assert (result["lost"], result["reordered"], result["duplicates"]) == (0, 0, 0), result
    assert after[1] - before[1] - (after[0] - before[0]) < 8  # all on l1 all the while


def test_pins_of_its_maps(pair, made_dir):
    """bondd puts back what somebody removes, but not what another policy or none has replaced."""
    made = xor(pair)
    host = made.near
    none = elf_with(made_dir, "no_maps", HEADER + "XBOND_POLICY(no_maps) { return 0; }" + LICENSE)

    def maps():
        return [pin.rpartition("/")[2] for pin in host.pins() if "policy_map_" in pin]

    def stays(expected):
        assert maps() == expected
        host.wait_looked(3)
        assert maps() == expected

    for after in (("load", "bond0", none), ("unload", "bond0")):
        load(host, WANTED)
        stays(["policy_map_wanted"])
        (host.bpf_dir / "bond0/policy_map_wanted").unlink()
        wait_for(lambda: maps() == ["policy_map_wanted"], "the pin to be back")
        host.ctl("policy", *after)
        stays([])
    assert host.log().count("of its pins; they are back") == 2


def test_8023ad(pair):
    made = pair("802.3ad", links=3, lacp_rate="fast", xmit_hash_policy="layer3+4")
    wait_for(lambda: spread(made), "all ports to distribute")
    load(made.near, WANTED)
    want(made.near, slot(2))
    assert only(made, "l2")
    made.near.ip("link", "set", "l2", "down")
    wait_for(lambda: sorted(shares(made))[1] >= 4, "the detour")
    made.near.ctl("set", "bond0", "lacp_tx", "balance-rr")
    shown = made.near.ctl_json("policy", "show", "bond0")
    assert (shown["decides"], shown["problem"]) == (False,
                                                    "it has no effect with lacp_tx balance-rr")


def test_xdp_asks_it_too(rotating):  # noqa: F811
    """Frames that other XDP programs hand to bond0, with and without it, and after a restart."""
    near = rotating(links=2, mode="balance-xor", xmit_hash_policy="layer3+4")
    assert min(arrivals(near).values()) > 100
    load(near, WANTED)
    for number, link in enumerate(near.links):
        want(near, slot(number))
        assert arrivals(near)[link] >= 2000
    near.restart_bondd()
    wait_for(lambda: near.pinned("table")["flags"] & 32, "XDP to choose again")
    assert arrivals(near)["l1"] >= 2000
    near.ctl("set", "bond0", "xdp_tx", "off")
    near.ctl("set", "bond0", "xdp_tx", "on")
    wait_for(lambda: near.pinned("table")["flags"] & 32, "XDP to choose again")
    assert arrivals(near)["l1"] >= 2000
    near.ctl("policy", "unload", "bond0")
    assert min(arrivals(near).values()) > 100


def explained(host, *words):
    said = check("explain", host.ctl_json("explain", "bond0", "src", "10.0.0.1", "dst", "10.0.0.2",
                                          "dmac", "02:00:00:00:00:09", *words))
    return said["slave"], said["policy"]


def test_examples(lone, made_dir):
    """Those of packaging/examples do what they say; explain runs them."""
    host = lone(links=3)
    host.make_bond(host.links, "mode", "balance-xor", "xmit_hash_policy", "layer2")
    plain, none = explained(host, "vlan", 7)
    assert none is None

    load(host, example(made_dir, "by_vlan"))
    assert explained(host)[1] == {"name": "by_vlan", "answer": "default", "slot": None}
    assert {explained(host, "vlan", number)[0] for number in range(1, 20)} == set(host.links)
    assert explained(host, "vlan", 7)[1]["answer"] == "hash"
    for number, link in enumerate(host.links):
        write_map(host, "vlans", (7).to_bytes(2, "little"), bytes([number]))
        assert explained(host, "vlan", 7) == (link, {"name": "by_vlan", "answer": "slot",
                                                     "slot": number})
    host.ctl("set", "bond0", "flowlet_gap", 1000000)  # what it answers comes first
    assert explained(host, "vlan", 7)[0] == host.links[2]
    frames = [tagged(gtp(1, 1), tag) for tag in (7, 8)]
    assert predicted(host, made_dir, frames) == {host.links[2]}
    assert explained(host, "vlan", 8)[1]["answer"] == "hash"
    assert "answer  of policy by_vlan: hash" in host.ctl(
        "explain", "bond0", "src", "10.0.0.1", "dst", "10.0.0.2", "dmac", "02:00:00:00:00:09",
        "vlan", 8)
    host.ctl("set", "bond0", "flowlet_gap", 0)
    assert "answer  of policy by_vlan: slot 2" in host.ctl(
        "explain", "bond0", "src", "10.0.0.1", "dst", "10.0.0.2", "dmac", "02:00:00:00:00:09",
        "vlan", 7)
    host.ctl("set", "bond0", "xmit_hash_policy", "flow")  # whose hash nobody knows
    assert explained(host, "vlan", 7) == (host.links[2], {"name": "by_vlan", "answer": "slot",
                                                          "slot": 2})
    assert explained(host, "vlan", 8)[1]["answer"] == "hash"
    assert explained(host) == (None, None)
    assert predicted(host, made_dir, frames[:1]) == {host.links[2]}
    host.ctl("set", "bond0", "xmit_hash_policy", "layer2")
    write_map(host, "vlans", (7).to_bytes(2, "little"), bytes([40]))
    assert explained(host, "vlan", 7)[1]["slot"] == 40
    assert explained(host, "vlan", 7)[0] in host.links

    load(host, example(made_dir, "by_teid"))
    taken = {teid: predicted(host, made_dir, [gtp(teid, port) for port in (1, 2, 3)])
             for teid in range(1, 25)}
    assert all(len(links) == 1 for links in taken.values())
    assert set().union(*taken.values()) == set(host.links)
    for teid in range(1, 25):  # the first fragment has the number, the others have not
        assert len(predicted(host, made_dir, fragments(gtp(teid, 1)))) == 1, teid
    assert explained(host) == (explained(host)[0], {"name": "by_teid", "answer": "default",
                                                    "slot": None})

    def maglev_fill(*words, bond="bond0"):
        return host.run(EXAMPLES / "maglev-fill", host.bpf_dir / bond, *words, check=False,
                        env={**os.environ, "BONDCTL": str(BUILD / "bondctl")})
    for words, why in ((["l0=1"], "policy_map_lookup is not there"), (["l0"], "not NAME=WEIGHT"),
                       (["l0=0"], "not NAME=WEIGHT"), (["x=1"], "no slaves of the bond: x")):
        done = maglev_fill(*words)
        assert done.returncode == 1 and why in done.stderr and done.stderr.count("\n") == 1, done
    assert maglev_fill("l0=1", bond="bond9").stderr.startswith("bondctl: no such bond: bond9")
    load(host, example(made_dir, "maglev"))
    assert explained(host, "vlan", 7) == (plain, {"name": "maglev", "answer": "default",
                                                  "slot": None})
    assert maglev_fill("l0=1", "l1=2", "l2=1").returncode == 0
    table = json.loads(run("bpftool", "-j", "map", "dump", "pinned",
                           host.bpf_dir / "bond0/policy_map_lookup").stdout)
    counts = [sum(int(entry["formatted"]["value"]) == slot_ + 1 for entry in table)
              for slot_ in range(3)]
    assert sum(counts) == 65537
    assert [round(count / 65537, 2) for count in counts] == [0.25, 0.5, 0.25]
    assert explained(host)[1]["answer"] == "slot"


def fragments(frame):
    """Of IPv4: one with the headers, and one behind."""
    more, last = struct.pack("!H", 0x2000), struct.pack("!H", 2)
    return [frame[:20] + more + frame[22:], frame[:20] + last + frame[22:34] + bytes(16)]


def predicted(host, directory, frames):
    """The slaves that explain --pcap says for them."""
    file = directory / "frames.pcap"
    file.write_bytes(pcap(frames))
    said = json.loads(host.ctl("-j", "explain", "bond0", "--pcap", file, "--summary"))
    return {each["name"] for each in said["slaves"] if each["packets"]}


def elf_with(made_dir, name, text):
    return compile_policy(text, made_dir / f"{name}.o")


LICENSE = '\nchar _license[] SEC("license") = "GPL";\n'
HEADER = "#include <xbond/policy.bpf.h>\n"
REFUSED = {
    "kprobe": (HEADER + 'SEC("kprobe/do_exit") int spy(void *c) { return 0; }\n'
               "XBOND_POLICY(p) { return XBOND_DEFAULT; }" + LICENSE,
               "its program spy is neither for TC nor for XDP"),
    "two": (HEADER + "XBOND_POLICY(p) { return 0; }\nXBOND_POLICY(q) { return 0; }" + LICENSE,
            "it has more than one policy"),
    "pinned": (HEADER + "struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1);"
               " __uint(pinning, 1); __type(key, __u32); __type(value, __u32); } table"
               ' SEC(".maps");\nXBOND_POLICY(p) { __u32 key = 0;'
               " return bpf_map_lookup_elem(&table, &key) ? 0 : 4; }" + LICENSE,
               "its map table asks for a pin of its own"),
    "endless": (HEADER + "XBOND_POLICY(p) { for (;;) asm volatile(\"\"); }" + LICENSE,
                "infinite loop detected"),
    "unchecked": (HEADER + "XBOND_POLICY(p) { return *(const __u64 *)packet->data; }" + LICENSE,
                  "invalid access to packet"),
    "proprietary": (HEADER + "XBOND_POLICY(p) { bpf_printk(\"x\"); return XBOND_DEFAULT; }\n"
                    'char _license[] SEC("license") = "Proprietary";',
                    "cannot call GPL-restricted function from non-GPL compatible program"),
    "alone": ("#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n"
              'SEC("tc") int p(struct __sk_buff *skb) { return 0; }' + LICENSE,
              "it has no policy made with XBOND_POLICY()"),
    "other": ("#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n"
              'SEC("tc") int p(struct __sk_buff *skb) { return 0; }\n'
              'SEC("xdp") int q(struct xdp_md *ctx) { return 0; }' + LICENSE,
              "it is not a policy of version 1"),
}


def with_a_wild_type(elf):
    """The first variable of its BTF has a type that is not there. libbpf 1.1.2 crashes on it."""
    bytes_of = {1: 4, 3: 12, 14: 4, 17: 4}  # behind the 12 of every type, by kind
    of_each = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
    start = elf.index(b"\x9f\xeb\x01\x00")
    header, types = struct.unpack_from("<II", elf, start + 4)
    at = start + header + types
    while (kind := elf[at + 7] & 31) != 14:
        at += 12 + bytes_of.get(kind, 0) + elf[at + 4] * of_each.get(kind, 0)
    return elf[:at + 11] + b"\xff" + elf[at + 12:]


def test_what_is_refused(lone, made_dir):
    """In one line; the policy that was there decides as before."""
    host = lone(links=2)
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", *host.links)
    before = load(host, WANTED)
    for name, (text, why) in REFUSED.items():
        said = refused(host, "policy", "load", "bond0", elf_with(made_dir, name, text))
        assert why in said, said
    bare = made_dir / "bare.o"
    shutil.copy(WANTED, bare)
    run("llvm-objcopy" if shutil.which("llvm-objcopy") else "llvm-objcopy-14", "--remove-section",
        ".BTF", "--remove-section", ".BTF.ext", bare)
    (made_dir / "text").write_text("no ELF\n")
    (made_dir / "empty").write_bytes(b"")
    (made_dir / "half.o").write_bytes(WANTED.read_bytes()[:700])
    (made_dir / "wild.o").write_bytes(with_a_wild_type(WANTED.read_bytes()))
    with open(made_dir / "huge", "wb") as huge:
        huge.truncate(1 << 40)
    os.mkfifo(made_dir / "fifo")
    for file, why in ((bare, "not a BPF object file"), (made_dir / "text", "not a BPF object file"),
                      (made_dir / "empty", "not a BPF object file"),
                      (made_dir / "half.o", "not a BPF object file"),
                      (made_dir / "wild.o", "not a BPF object file"),
                      (made_dir / "huge", "it has more than 16 MiB"),
                      (made_dir / "fifo", "not a regular file"),
                      ("/dev/zero", "not a regular file"),
                      (made_dir, "not a regular file"), (made_dir / "none", "No such file")):
        assert why in refused(host, "policy", "load", "bond0", file)
    assert "no such bond: bond7" in refused(host, "policy", "load", "bond7", WANTED)
    assert host.ctl_json("policy", "show", "bond0") == before
    assert host.ping_bondd() and "rror" not in host.log()
