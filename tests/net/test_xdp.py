"""XDP on slaves (rx_hook) and on the port side (xdp_tx), on veths.

A veth's own stack leaves checksums to be done by whoever takes the frame off the machine; by
XDP they would be lost, so the far ends here have `tx off`, as the warning says.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import signal
import time

import pytest

from frames import mac_bytes
from lab import BUILD, Refused, hooks
from namespace import KERNEL, children_of, features, open_files, run
from lacp import wait_distributing
from traffic import Capture, Iperf, Stream, send_frames, send_packets
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("on_veths")
LIBXDP_DIR = "/sys/fs/bpf/xdp"
XDPLIVE = BUILD / "tools/xdplive"
PASSES = BUILD / "tools/passes.bpf.o"
LLDP = bytes.fromhex("0180c200000e02000000000188cc020704020000000001") + bytes(40)
LLDP_ELSEWHERE = bytes.fromhex("02000000009902000000000188cc") + LLDP[14:]
FLOWS = 64
by_xdp = pytest.mark.skipif(KERNEL < (6, 8), reason="before Linux 6.8 no program sees a veth's "
                            "VLAN tags: it receives by TC")


def whole_checksums(host, links):
    for link in links:
        host.run("ethtool", "-K", link, "tx", "off")


def takes_frames(host, links):
    """A veth takes frames by XDP while its other end has GRO (or XDP)."""
    for link in links:
        host.run("ethtool", "-K", link, "gro", "on")


def has_xdp(host, dev):
    return "xdp" in host.link(dev)


@pytest.fixture
def xdp_pair(pair_with):
    """make(mode, **options): both ends receive by XDP."""

    def make(*mode, **options):
        made = pair_with(rx_hook="xdp")(*mode, **options)
        for host in (made.near, made.far):
            whole_checksums(host, made.links)
            assert set(hooks(host)) == {"xdp"}, host.log()
        return made
    return make


@by_xdp
def test_receive(xdp_pair):
    made = xdp_pair()
    before = made.far.ctl_json("stats", "bond0")
    result = Stream(made.near, made.far, count=5000, rate=20000, flows=FLOWS).finish()
    assert (result["lost"], result["duplicates"], result["reordered"]) == (0, 0, 0), result
    after = made.far.ctl_json("stats", "bond0")
    counted = [b["counters"]["rx_packets"] - a["counters"]["rx_packets"]
               for a, b in zip(before["slaves"], after["slaves"])]
    # Of 64 flows a slave has 16 on average; fewer than two is one run in a million.
    assert sum(counted) >= 5000 and min(counted) > 100, counted
    done = Iperf(made.far).run(made.near, "10.0.0.2", "-t", "1", "-P", "2")
    assert done["end"]["sum_received"]["bytes"] > 1 << 20


@by_xdp
def test_what_passes_by_xdp_is_seen_on_bond0(xdp_pair):
    made = xdp_pair()
    with Capture(made.far, "bond0") as above:
        send_packets(made.near, count=300, flows=FLOWS)
        assert len([frame for frame in above.frames(0.1) if frame.numbers()]) == 300
    received = made.far.received("bond0")["packets"]
    send_packets(made.near, count=300, flows=FLOWS)
    wait_for(lambda: made.far.received("bond0")["packets"] >= received + 300, "bond0 to count them")


@by_xdp
def test_jumbo(xdp_pair):
    made = xdp_pair()
    for host in (made.near, made.far):
        host.ip("link", "set", "bond0", "mtu", 9000)
        wait_for(lambda host=host: all(host.link(link)["mtu"] == 9000 for link in made.links),
                 "MTU of the slaves")
    made.near.wait_ping("10.0.0.2", size=8900)
    before = made.far.show()["rx_bytes"]
    Stream(made.near, made.far, count=500, rate=5000, flows=FLOWS, size=8900).finish_unharmed()
    assert made.far.show()["rx_bytes"] - before >= 500 * 8900, "all buffers of a frame count"


@by_xdp
@pytest.mark.parametrize("type_", ["0800", "88b5"],
                         ids=["IPv4 that lies about its length", "not IP"])
def test_bytes_of_frames(xdp_pair, type_):
    made = xdp_pair(links=1)
    mac = made.far.link("bond0")["address"].replace(":", "")
    frame = (bytes.fromhex(mac) + bytes.fromhex("020000000099" + type_) +
             b"\x45\0\xff\xff").ljust(1000, b"\0")
    before = made.far.show()
    send_frames(made.near, "l0", [frame] * 100)
    wait_for(lambda: made.far.show()["rx_packets"] >= before["rx_packets"] + 100, "the frames")
    after = made.far.show()
    assert after["rx_bytes"] - before["rx_bytes"] >= 100 * 1000
    assert after["rx_bytes"] - before["rx_bytes"] < 100 * 1000 + 20000, "and whatever else came"


@by_xdp
def test_a_tag_in_the_frame_stays(xdp_pair):
    made = xdp_pair()
    frame = mac_bytes(made.far.link("bond0")["address"])
    frame = (frame + bytes.fromhex("02000000009981000007080045")).ljust(80, b"\0")
    with Capture(made.far, "bond0") as above:
        send_frames(made.near, "l0", [frame] * 5)
        found = wait_for(lambda: [each for each in above.frames(0.1)
                                  if each.src == "02:00:00:00:00:99"], "the frames")
    assert [each.vlan for each in found] == [7] * 5


@by_xdp
def test_a_tag_beside_the_frame_stays(xdp_pair):
    made = xdp_pair()
    made.near.run("tc", "qdisc", "add", "dev", "l0", "clsact", check=False)
    made.near.run("tc", "filter", "add", "dev", "l0", "egress", "bpf", "da", "obj",
                  BUILD / "tools/filters.bpf.o", "program", "push_tag")
    untagged = mac_bytes(made.far.link("bond0")["address"])
    untagged += bytes.fromhex("0200000000990800")
    with Capture(made.far, "bond0") as above:
        send_frames(made.near, "l0", [untagged.ljust(80, b"\0")] * 5)
        found = wait_for(lambda: [each for each in above.frames(0.1)
                                  if each.src == "02:00:00:00:00:99"], "the frames")
    assert [each.vlan for each in found] == [7] * 5


@by_xdp
def test_lldp_stays_on_the_slave(xdp_pair):
    made = xdp_pair()
    with Capture(made.far, "l0") as here:
        send_frames(made.near, "l0", [LLDP, LLDP_ELSEWHERE])
        seen = wait_for(lambda: [frame for frame in here.frames(0.2) if frame.type == 0x88cc],
                        "LLDP on the slave")
        assert len(seen) == 2


@by_xdp
def test_lacp(pair):
    made = pair("802.3ad", links=3, rx_hook="xdp", lacp_rate="fast", xmit_hash_policy="layer3+4")
    for host in (made.near, made.far):
        whole_checksums(host, made.links)
        assert set(hooks(host)) == {"xdp"}
    wait_distributing(made.near, made.far, links=made.links)
    result = Stream(made.near, made.far, count=2000, rate=10000, flows=FLOWS).finish()
    assert result["lost"] == 0, result
    made.far.ip("link", "set", "l1", "down")
    wait_distributing(made.near, links=["l0", "l2"])
    made.far.ip("link", "set", "l1", "up")
    wait_distributing(made.near, made.far, links=made.links)


@by_xdp
def test_backup_is_not_heard(xdp_pair):
    """In active-backup what comes on a backup is dropped and counted, as by TC."""
    made = xdp_pair("active-backup")
    active = made.far.show()["active_slave"]
    backup = next(link for link in made.links if link != active)
    before = made.far.slave(backup)["rx_dropped"]
    frame = mac_bytes(made.far.link("bond0")["address"])
    frame += bytes.fromhex("0200000000990800")
    with Capture(made.far, "bond0") as above:
        send_frames(made.near, backup, [frame.ljust(80, b"\0")] * 5)
        wait_for(lambda: made.far.slave(backup)["rx_dropped"] >= before + 5,
                 "the drops to be counted")
        assert not [each for each in above.frames(0.1) if each.src == "02:00:00:00:00:99"]


@by_xdp
def test_switched_while_traffic_flows(pair):
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    for host in (made.near, made.far):
        whole_checksums(host, made.links)
    before = features(made.far)
    links_before = {link: features(made.far, link) for link in made.links}
    stream = Stream(made.near, made.far, rate=5000, flows=FLOWS)
    stream.flow_on(1000)
    made.far.ctl("set", "bond0", "rx_hook", "xdp")
    assert set(hooks(made.far)) == {"xdp"}
    assert all(has_xdp(made.far, link) for link in made.links)
    assert features(made.far)["generic-receive-offload"] == "on"
    stream.flow_on(1000)
    made.far.ctl("set", "bond0", "rx_hook", "tc")
    assert set(hooks(made.far)) == {"tc"}
    assert not any(has_xdp(made.far, link) for link in made.links)
    assert features(made.far) == before
    assert {link: features(made.far, link) for link in made.links} == links_before
    stream.flow_on(1000)
    result = stream.finish()
    assert result["duplicates"] == 0 and result["lost"] <= 50, result  # a veth's queues begin anew


@by_xdp
def test_gro_is_kept_on(xdp_pair):
    """A bond without GRO takes no frames by XDP, and they are dropped without a word."""
    made = xdp_pair()
    made.far.run("ethtool", "-K", "bond0", "gro", "off")
    wait_for(lambda: features(made.far)["generic-receive-offload"] == "on", "GRO to be on again")
    made.near.wait_ping("10.0.0.2")
    wait_for(lambda: made.far.log().count("generic receive offload") == 1, "one line about it")
    made.far.kill_bondd()
    made.far.run("ethtool", "-K", "bond0", "gro", "off")
    made.far.start_bondd()
    wait_for(lambda: features(made.far)["generic-receive-offload"] == "on", "GRO to be on again")
    made.near.wait_ping("10.0.0.2")
    assert made.far.log().count("generic receive offload") == 2
    made.far.ctl("set", "bond0", "rx_hook", "tc")
    assert features(made.far)["generic-receive-offload"] == "off", "as was asked for"
    made.far.run("ethtool", "-K", "bond0", "gro", "on")
    made.far.run("ethtool", "-K", "bond0", "gro", "off")
    assert made.far.ping_bondd() and features(made.far)["generic-receive-offload"] == "off"


def test_auto_leaves_veths_to_tc(pair):
    made = pair("balance-xor", rx_hook="auto")
    assert set(hooks(made.near)) == {"tc"}
    assert "not XDP" not in made.near.log()
    assert made.near.show()["options"]["rx_hook"] == "auto"


@by_xdp
def test_auto_after_xdp_leaves_veths_to_tc(xdp_pair):
    made = xdp_pair()
    made.far.ctl("set", "bond0", "rx_hook", "auto")
    assert set(hooks(made.far)) == {"tc"}
    assert not any(has_xdp(made.far, link) for link in made.links)
    made.near.wait_ping("10.0.0.2")


@by_xdp
def test_what_another_detaches_stays_detached(xdp_pair):
    """A veth's program cannot be taken off by its device's name, but its link can be detached."""
    made = xdp_pair(links=2)
    run("bpftool", "link", "detach", "pinned", made.far.bpf_dir / "bond0/link_xdp_rx_0")
    assert not has_xdp(made.far, "l0")
    wait_for(lambda: hooks(made.far) == ["tc", "xdp"], "bondd to see it")
    assert "bond0/link_xdp_rx_0" not in made.far.pins()
    made.near.wait_ping("10.0.0.2")
    made.far.ip("link", "set", "l0", "alias", "news")
    assert made.far.ping_bondd() and hooks(made.far) == ["tc", "xdp"]
    assert made.far.log().count("l0 receives through TC now") == 1 and \
        made.far.slave("l0")["times_detached"] == 1
    made.far.ctl("set", "bond0", "rx_hook", "xdp")
    assert set(hooks(made.far)) == {"xdp"} and has_xdp(made.far, "l0")
    run("bpftool", "link", "detach", "pinned", made.far.bpf_dir / "bond0/link_xdp_rx_1")
    made.far.restart_bondd(kill=True)
    assert set(hooks(made.far)) == {"xdp"} and has_xdp(made.far, "l1")


@by_xdp
def test_one_that_has_a_program_stays_with_tc(lone):
    near = lone(links=2)
    near.ip("link", "set", "l0", "xdp", "obj", PASSES, "sec", "xdp")
    near.ctl("create", "bond0", "rx_hook", "xdp")
    near.ctl("add-slave", "bond0", *near.links)
    assert hooks(near) == ["tc", "xdp"]
    assert "l0 receives through TC, not XDP: it has an XDP program already" in near.log()
    near.ctl("del-slave", "bond0", "l0")
    assert has_xdp(near, "l0"), "somebody else's program is not ours to remove"


@by_xdp
def test_released_slaves_have_no_program(xdp_pair):
    made = xdp_pair()
    made.near.ctl("del-slave", "bond0", "l0")
    assert not has_xdp(made.near, "l0") and has_xdp(made.near, "l1")
    made.near.ctl("delete", "bond0")
    assert not any(has_xdp(made.near, link) for link in made.links)
    assert made.near.pins() == []


@by_xdp
def test_bondd_killed_and_started(xdp_pair):
    made = xdp_pair()
    stream = Stream(made.near, made.far, rate=5000, flows=FLOWS)
    stream.flow_on(500)
    for host in (made.near, made.far):
        host.kill_bondd()
    stream.flow_on(500)
    for host in (made.near, made.far):
        host.start_bondd()
    stream.flow_on(500)
    result = stream.finish()
    assert (result["lost"], result["duplicates"], result["reordered"]) == (0, 0, 0), result
    assert set(hooks(made.far)) == {"xdp"}


@by_xdp
def test_the_bond_was_down_when_slaves_changed_their_hook(pair):
    """The port side takes their frames all the same once bond0 is up."""
    made = pair("balance-xor", links=2)
    made.far.ip("link", "set", "bond0", "down")
    made.far.ctl("set", "bond0", "rx_hook", "xdp")
    assert set(hooks(made.far)) == {"xdp"}
    made.far.ip("link", "set", "bond0", "up")
    made.near.wait_ping("10.0.0.2")


@by_xdp
@pytest.mark.parametrize("step", ["xdp-recorded", "xdp-attached"])
def test_bondd_dies_half_way(lone, step):
    near = lone(links=1)
    near.ctl("create", "bond0")
    near.ctl("add-slave", "bond0", "l0")
    before = features(near)
    with near.dying_at(step):
        near.ctl_try("set", "bond0", "rx_hook", "xdp")
    near.start_bondd()
    assert hooks(near) == ["xdp"]
    wait_for(lambda: has_xdp(near, "l0"), "bondd's first look")
    near.ctl("set", "bond0", "rx_hook", "tc")
    assert not has_xdp(near, "l0") and features(near) == before


# xdp_tx

def live(host, count=20000, flows=FLOWS, to="bond0"):
    return json.loads(host.run(XDPLIVE, "lo", to, count, flows).stdout)


@pytest.fixture
def sending(pair):
    """make(**options): near has xdp_tx on; far's links take frames by XDP."""

    def make(mode="balance-xor", links=4, **options):
        policy = {"xmit_hash_policy": "layer3+4"} if mode in ("balance-xor", "802.3ad") else {}
        made = pair(mode, links=links, xdp_tx="on", far={"xdp_tx": "off"}, **policy, **options)
        takes_frames(made.far, made.links)
        return made
    return make


def test_frames_choose_as_packets_do(sending):
    made = sending()
    wires = [Capture(made.far, link) for link in made.links]
    live(made.near, 2000, flows=32)
    by_xdp = [{frame.data[34:36] for frame in wire.frames(0.2) if frame.src == "02:00:00:00:00:01"}
              for wire in wires]
    assert len(set().union(*by_xdp)) == 32 and sum(len(flows) for flows in by_xdp) == 32, \
        "a flow took two links"
    assert sum(bool(flows) for flows in by_xdp) >= 3
    with Capture(made.near, "bond0"):  # XDP lets all pass, and TC chooses
        wait_for(lambda: not made.near.pinned("table")["flags"] & 32, "bondd to see the capture")
        live(made.near, 2000, flows=32)
    by_tc = [{frame.data[34:36] for frame in wire.frames(0.2) if frame.src == "02:00:00:00:00:01"}
             for wire in wires]
    assert by_tc == by_xdp
    for wire in wires:
        wire.close()


def test_every_frame_leaves_and_is_counted(sending):
    made = sending()
    before = {link: made.far.received(link)["packets"] for link in made.links}
    sent = made.near.show()["tx_packets"]
    live(made.near)
    wait_for(lambda: sum(made.far.received(link)["packets"] - before[link]
                         for link in made.links) >= 20000, "all frames to arrive")
    assert made.near.show()["tx_packets"] - sent >= 20000


def live_in_turns(host, count, flows=FLOWS):
    """As many as a veth's queue holds at a time, for a machine that is slow to take them."""
    for _ in range(count // 200):
        live(host, 200, flows)


def test_round_robin_and_broadcast(sending):
    made = sending("balance-rr", links=2)
    before = {link: made.far.received(link)["packets"] for link in made.links}
    live_in_turns(made.near, 2000)
    used = wait_for(lambda: [n for n in (made.far.received(link)["packets"] - before[link]
                                         for link in made.links) if n >= 990],
                    "both links to carry")
    assert len(used) == 2 and max(used) < 1100, used
    made.near.ctl("set", "bond0", "mode", "broadcast")
    before = {link: made.far.received(link)["packets"] for link in made.links}
    live_in_turns(made.near, 2000)
    wait_for(lambda: all(made.far.received(link)["packets"] - before[link] >= 2000
                         for link in made.links), "each link to carry all")
    made.far.ip("link", "set", "l0", "down")
    made.near.wait_slaves("l1")
    before = made.far.received("l1")["packets"]
    live_in_turns(made.near, 2000)
    wait_for(lambda: made.far.received("l1")["packets"] - before >= 2000, "the other to carry all")


@pytest.fixture
def rotating(lone):
    """make(links): near's bond0 in balance-rr with xdp_tx on and the first two as slaves; near.far
    takes their frames.
    """

    def make(links=2, mode="balance-rr", **options):
        near = lone(links=links)
        takes_frames(near.far, near.links)
        near.make_bond(near.links[:2], "mode", mode, "xdp_tx", "on",
                       *[word for pair in options.items() for word in pair])
        wait_for(lambda: near.pinned("table")["flags"] & 32, "XDP to choose")
        return near
    return make


def arrivals(near, count=2000, flows=FLOWS, send=live):
    """{link: frames at its far end} of so many frames sent by XDP."""
    before = {link: near.far.received(link)["packets"] for link in near.links}
    send(near, count, flows)

    def found():
        return {link: near.far.received(link)["packets"] - before[link] for link in near.links}
    wait_for(lambda: sum(found().values()) >= count, "the frames")
    return found()


def redirected(host, dev):
    """How many frames its XDP program has redirected."""
    return sum(int(line.split(":")[1]) for line in
               host.run("ethtool", "-S", dev).stdout.splitlines() if "xdp_redirect:" in line)


def test_flowlets(rotating):
    """One flow stays on its slave while no pause is as long as flowlet_gap, and takes both where
    each pause is longer.
    """
    near = rotating(mode="balance-xor", xmit_hash_policy="layer3+4", flowlet_gap=1000000)
    redirects = redirected(near, "xb-bond0")
    home = {max(found, key=found.get): min(found.values())
            for found in (arrivals(near, flows=1) for _ in range(3))}
    assert len(home) == 1 and max(home.values()) < 100, home
    near.ctl("set", "bond0", "flowlet_gap", 1)
    # A busy machine sends some frames one right after another.
    wait_for(lambda: min(arrivals(near, flows=1, send=live_in_turns).values()) > 200,
             "the flow to take both", 30)
    assert redirected(near, "xb-bond0") - redirects >= 8000, "XDP has not chosen"


def test_another_slave_in_the_same_slot(rotating):
    near = rotating(links=3)
    near.ctl("set", "bond0", "xdp_tx", "off")
    near.ctl("del-slave", "bond0", "l1")
    near.ctl("add-slave", "bond0", "l2")
    near.wait_slaves("l0", "l2")
    near.ip("link", "set", "l1", "up")
    near.ctl("set", "bond0", "xdp_tx", "on")
    wait_for(lambda: near.pinned("table")["flags"] & 32, "XDP to choose")
    found = arrivals(near)
    assert found["l0"] >= 990 and found["l2"] >= 990 and found["l1"] < 100, found


def test_off_the_port_side_it_is_put_back(sending):
    made = sending(links=2)
    run("bpftool", "link", "detach", "pinned", made.near.bpf_dir / "bond0/link_xdp_tx")
    wait_for(lambda: made.near.show()["times_detached"] == 1, "bondd to see it")
    wait_for(lambda: has_xdp(made.near, "xb-bond0"), "the program to be back")
    run("bpftool", "link", "detach", "pinned", made.near.bpf_dir / "bond0/link_xdp_tx")
    made.near.restart_bondd(kill=True)
    assert has_xdp(made.near, "xb-bond0")


def test_a_drained_slave_gets_no_broadcast(rotating):
    near = rotating(mode="broadcast")
    assert min(arrivals(near).values()) >= 2000
    near.ctl("set-slave", "bond0", "l0", "drain", "on")
    assert near.ping_bondd()
    sent = near.slave("l0")["tx_packets"]
    found = arrivals(near)
    assert found["l1"] >= 2000 and found["l0"] < 100, found
    assert near.slave("l0")["tx_packets"] - sent < 100
    near.ctl("set-slave", "bond0", "l1", "drain", "on")
    assert min(arrivals(near).values()) >= 2000, "nobody else can"


def test_a_cut_link_is_left_at_once(sending):
    made = sending()
    made.far.ip("link", "set", "l2", "down")
    made.near.wait_slaves("l0", "l1", "l3")
    rest = ("l0", "l1", "l3")
    before = {link: made.far.received(link)["packets"] for link in rest}
    live(made.near)
    wait_for(lambda: sum(made.far.received(link)["packets"] - before[link] for link in rest) >=
             20000, "all frames")


def test_the_stack_goes_on_meanwhile(sending):
    """What the stack sends must not go by XDP, which would send it without its checksum."""
    made = sending()
    done = Iperf(made.far).run(made.near, "10.0.0.2", "-t", "1", "-P", "4")
    assert done["end"]["sum_received"]["bytes"] > 1 << 20
    stream = Stream(made.near, made.far, rate=5000, flows=FLOWS)
    for switch in ("off", "on", "off", "on"):
        stream.flow_on(500)
        made.near.ctl("set", "bond0", "xdp_tx", switch)
    stream.flow_on(500)
    result = stream.finish()
    # the pair's queues begin anew each time
    assert result["duplicates"] == 0 and result["lost"] <= 100, result


def test_the_stack_goes_on_without_bondd(sending):
    made = sending()
    stream = Stream(made.near, made.far, rate=5000, flows=FLOWS)
    stream.flow_on(500)
    made.near.freeze_bondd()
    wait_for(lambda: not made.near.pinned("table")["watched"], "the watchdog to bite")
    # Now packets cross, and XDP lets all pass.
    arrived = stream.received()
    stream.flow_on(2000)
    assert stream.received() >= arrived + 2000
    made.near.thaw_bondd()
    stream.flow_on(2000)
    stream.finish_unharmed()


def test_while_captured_frames_go_by_tc(sending):
    made = sending()
    with Capture(made.near, "bond0"):
        wait_for(lambda: made.near.pinned("table")["flags"] & 1, "bondd to see the capture")
        assert not made.near.pinned("table")["flags"] & 32
        before = {link: made.far.received(link)["packets"] for link in made.links}
        live(made.near, 2000)
        wait_for(lambda: sum(made.far.received(link)["packets"] - before[link]
                             for link in made.links) >= 2000, "all")
    wait_for(lambda: made.near.pinned("table")["flags"] & 32, "XDP to choose again")
    wait_for(lambda: "is no longer captured; path direct" in made.near.log(),
             "the log to say so")


def test_off_touches_nothing(pair, lab):
    """With xdp_tx off bond0 has the features and the MTU range of one that never heard of it; also
    after on and off.
    """
    made = pair("balance-xor", links=2)
    plain, info = features(made.near), made.near.link("bond0")
    assert plain["tcp-segmentation-offload"] == "on"
    made.near.ctl("set", "bond0", "xdp_tx", "on")
    assert features(made.near)["tcp-segmentation-offload"] == "off"
    made.near.ctl("set", "bond0", "xdp_tx", "off")
    assert features(made.near) == plain
    now = made.near.link("bond0")
    assert (now["min_mtu"], now["max_mtu"]) == (info["min_mtu"], info["max_mtu"])
    for host in (made.near, made.far):
        host.ip("link", "set", "bond0", "mtu", 9000)
    made.near.wait_ping("10.0.0.2", size=8900)


def test_refused_it_is_not_set(pair):
    made = pair("balance-xor", links=1)
    made.near.ip("link", "set", "xb-bond0", "xdp", "obj", PASSES, "sec", "xdp")
    with pytest.raises(Refused,
                       match="xdp_tx: cannot attach to xb-bond0: it has an XDP program already"):
        made.near.ctl("set", "bond0", "xdp_tx", "on")
    assert made.near.show()["options"]["xdp_tx"] is False
    assert not made.near.pinned("table")["flags"] & 48
    made.near.wait_ping("10.0.0.2")


def test_refused_nothing_else_is_set(pair):
    made = pair("balance-xor", links=2)
    macs = {link: made.near.link(link)["address"] for link in made.links}
    made.near.ip("link", "set", "xb-bond0", "xdp", "obj", PASSES, "sec", "xdp")
    with pytest.raises(Refused, match="xdp_tx: cannot attach"):
        made.near.ctl("set", "bond0", "mac_policy", "filter", "xdp_tx", "on")
    assert made.near.show()["options"]["mac_policy"] == "set"
    assert {link: made.near.link(link)["address"] for link in made.links} == macs
    assert {slave["name"]: slave["mac"] for slave in made.near.show()["slaves"]} == macs


def test_xdp_tx_is_not_set_if_another_option_is_refused(lone):
    """A macvlan takes no second address."""
    near = lone(links=2)
    near.ip("link", "add", "m0", "link", "l1", "type", "macvlan")
    near.ctl("create", "bond0")
    near.ctl("add-slave", "bond0", "l0", "m0")
    mac = near.link("m0")["address"]
    with pytest.raises(Refused, match="not supported"):
        near.ctl("set", "bond0", "mac_policy", "filter", "xdp_tx", "on")
    options = near.show()["options"]
    assert (options["mac_policy"], options["xdp_tx"]) == ("set", False)
    assert near.link("m0")["address"] == mac and not has_xdp(near, "xb-bond0")

# libxdp, which runs in children of bondd: taps have native XDP

@pytest.fixture
def tapped(lab):
    """A host with the taps t0 and t1, and bond0 without slaves."""
    host = lab.host("t")
    host.taps = ["t0", "t1"]
    for tap in host.taps:
        host.ip("tuntap", "add", "dev", tap, "mode", "tap")
    host.ctl("create", "bond0", "device", "veth", "rx_hook", "xdp")
    return host


def test_who_is_alone_on_the_device_is_told(tapped):
    """Where the kernel has no freplace, or a test beside this one holds libxdp's lock."""
    tapped.ctl("add-slave", "bond0", "t0")
    alone = "bond0/link_xdp_rx_0" in tapped.pins()
    tapped.ctl("set", "bond0", "rx_hook", "xdp")
    tapped.restart_bondd(kill=True)
    assert tapped.log().count("t0 is not shared with other XDP programs: ") == alone
    assert not alone or "freplace" in tapped.log() or "holds libxdp's lock" in tapped.log()


@by_xdp
def test_a_veth_is_never_shared_and_nothing_is_said(xdp_pair):
    assert "is not shared" not in xdp_pair(links=1).near.log()


@contextlib.contextmanager
def libxdp_locked():
    """By another of its users."""
    pathlib.Path(LIBXDP_DIR).mkdir(exist_ok=True)
    lock = os.open(LIBXDP_DIR, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield
    os.close(lock)


def test_bondd_waits_for_nobody(tapped):
    """Its heartbeat goes on, however long somebody keeps libxdp's lock."""
    late = []
    with libxdp_locked():
        asking = tapped.spawn(*tapped.ctl_command("add-slave", "bond0", *tapped.taps))
        while asking.poll() is None:
            age = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - tapped.pinned("table")[
                "heartbeat_ns"]
            late += [age] if age > 3e9 else []
    assert asking.returncode == 0 and not late, late
    assert set(hooks(tapped)) == {"xdp"}
    why = "another program holds libxdp's lock"
    assert f"t0 is not shared with other XDP programs: {why}" in tapped.log()


def has_sockets(pid):
    return any(path.startswith("socket:") for path in open_files(pid).values())


def test_a_killed_bondd_leaves_no_child(tapped):
    """Nor does a child keep the sockets and locks of the next."""
    def stop_one():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for child in children_of(tapped.bondd.pid):
                if not has_sockets(child):
                    os.kill(child, signal.SIGSTOP)
                    return child
        return None

    def stop_one_in_time():
        asking = tapped.spawn(*tapped.ctl_command("add-slave", "bond0", "t0"))
        while asking.poll() is None:
            child = stop_one()
            if child:
                return asking, child
        tapped.ctl("del-slave", "bond0", "t0")
        return None
    asking, child = wait_for(stop_one_in_time, "a child without bondd's sockets", 30, interval=0)
    tapped.kill_bondd()
    asking.wait(10)
    wait_for(lambda: not pathlib.Path(f"/proc/{child}").exists(), "it to end")
    tapped.start_bondd()
