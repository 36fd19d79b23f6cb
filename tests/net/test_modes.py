"""Which links carry what, by mode and policy, seen on the wire at the far end; and that
all counters agree.
"""
import os

import pytest

from lab import is_team
from traffic import Capture, Iperf, Stream, flows_by_link, send_packets
from waiting import wait_for

IPV4 = 0x0800


def captures(host, links):
    return [Capture(host, link) for link in links]


def frames_per_link(pair, far_captures, **packets):
    """{link: IPv4 frames} while near sends numbered packets."""
    for capture in far_captures:
        capture.frames()
    sent = send_packets(pair.near, **packets)["sent"]
    found = {capture.dev: sum(frame.type == IPV4 for frame in capture.frames(0.1))
             for capture in far_captures}
    return sent, found


def measure(pair, **packets):
    wires = captures(pair.far, pair.links)
    return frames_per_link(pair, wires, **packets)


@pytest.mark.skipif("XBOND_VM" in os.environ, reason="an emulated machine does not fill the links")
@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_xor_layer34_fills_every_link(pair, hook):
    """64 TCP connections over four links of 50 Mbit/s: each carries at least 0.75
    of its quarter.
    """
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    for link in made.links:
        made.near.run("tc", "qdisc", "add", "dev", link, "root", "tbf", "rate", "50mbit", "burst",
                      "64kb", "latency", "50ms")
    server = Iperf(made.far)
    before = [made.far.received(link)["bytes"] for link in made.links]
    server.run(made.near, "10.0.0.2", "-P", 64, "-t", 3)
    carried = [made.far.received(link)["bytes"] - then for link, then in zip(made.links, before)]
    assert min(carried) > 0.75 * sum(carried) / 4, carried


def wait_sending(made):
    """Until no packet makes a detour because the kernel's queue of a slave may drop it."""
    wait_for(lambda: all(made.near.link(link)["operstate"] == "UP" for link in made.links),
             "the kernel to send by all slaves")


def test_xor_layer34_keeps_a_flow_on_its_link(pair, path):
    made = pair("balance-xor", xmit_hash_policy="layer3+4", path=path)
    wait_sending(made)
    wires = captures(made.far, made.links)
    assert send_packets(made.near, count=6000, flows=2000)["sent"] == 6000
    links_of_flow, frames = flows_by_link(wires)
    assert len(links_of_flow) == 2000 and all(len(links) == 1 for links in links_of_flow.values())
    assert min(frames.values()) > 0.75 * 6000 / 4  # six deviations off


@pytest.mark.parametrize("policy", ["layer2", "layer2+3", "vlan+srcmac"])
def test_xor_of_one_pair_of_hosts_uses_one_link(pair, policy, path):
    made = pair("balance-xor", xmit_hash_policy=policy, path=path)
    wait_sending(made)
    sent, frames = measure(made, count=2000, flows=100)
    assert sorted(frames.values()) == [0, 0, 0, sent]


def test_active_backup_uses_the_active_slave(pair, path):
    made = pair("active-backup", path=path)
    sent, frames = measure(made, count=2000, flows=100)
    assert frames == {link: sent if link == made.near.show()["active_slave"] else 0
                      for link in made.links}


def test_broadcast_uses_all(pair, path):
    made = pair("broadcast", links=3, path=path)
    sent, frames = measure(made, count=2000, flows=10)
    assert frames == {link: sent for link in made.links}


@pytest.mark.parametrize("packets_per_slave", [1, 3])
def test_round_robin_order(pair, path, packets_per_slave):
    """A sender that stays on one CPU meets one cursor."""
    made = pair("balance-rr", path=path, packets_per_slave=packets_per_slave)
    wires = captures(made.far, made.links)
    send_packets(made.near, count=2400, cpu=0)
    link_of = {frame.numbers()[0]: wire.dev for wire in wires for frame in wire.frames(0.1)
               if frame.numbers()}
    assert len(link_of) == 2400
    taken = [link_of[sequence] for sequence in range(2400)]
    heads = run_heads(taken)
    # A stray packet of the stack (ND) takes a turn too.
    steps = [(made.links.index(now) - made.links.index(then)) % 4
             for then, now in zip(heads, heads[1:])]
    assert steps.count(most_common(steps)) >= len(steps) - 8, steps
    assert abs(len(heads) - 2400 // packets_per_slave) <= 8


def most_common(values):
    return max(set(values), key=values.count)


def run_heads(taken):
    return [now for then, now in zip([None, *taken], taken) if then != now]


def test_round_robin_by_bytes(pair):
    made = pair("balance-rr", bytes_per_slave=20000)
    _, frames = measure(made, count=4000, size=958, cpu=0)
    assert all(960 <= count <= 1040 for count in frames.values()), frames


@pytest.mark.parametrize("mode", ["balance-xor", "balance-rr"])
def test_weights_are_shares(pair, mode):
    made = pair(mode, xmit_hash_policy="layer3+4")
    for weight, link in enumerate(made.links, 1):
        made.near.ctl("set-slave", "bond0", link, "weight", weight)
    sent, frames = measure(made, count=16000, flows=16000, rate=30000, cpu=0)
    shares = [frames[link] / sent for link in made.links]
    assert all(0.85 * weight / 10 < share < 1.15 * weight / 10
               for weight, share in enumerate(shares, 1)), shares


def test_weight_by_speed_is_equal_on_equal_links(pair):
    made = pair("balance-xor", xmit_hash_policy="layer3+4", links=3)
    sent, frames = measure(made, count=6000, flows=6000, rate=30000)
    assert all(0.3 < count / sent < 0.37 for count in frames.values()), frames


def test_drain_without_bondd(pair):
    """bondctl writes it, the next packet obeys; a bond of drained slaves carries all the same."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    made.near.stop_bondd()
    made.near.ctl("set-slave", "bond0", "l0", "drain", "on")
    sent, frames = measure(made, count=500, flows=100)
    assert frames == {"l0": 0, "l1": sent}
    made.near.ctl("set-slave", "bond0", "l1", "drain", "on")
    sent, frames = measure(made, count=500, flows=100)
    assert sum(frames.values()) == sent
    made.near.ctl("set-slave", "bond0", "l0", "drain", "off")
    sent, frames = measure(made, count=500, flows=100)
    assert frames == {"l0": sent, "l1": 0}


@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "balance-xor"])
def test_counters_agree(pair, mode):
    """Counted: bond0 in `ip -s link`, the sum over its slaves there, and bondctl say the same."""
    made = pair(mode, xmit_hash_policy="layer3+4")
    watched = lambda: {direction: [getattr(made.near, direction)(dev)
                                   for dev in ["bond0", *made.links]]
                       for direction in ("sent", "received")}
    counters = lambda: {key: value for key, value in made.near.show().items()
                        if key.startswith(("tx_", "rx_"))}
    everything = lambda: (watched(), counters())
    before, shown_before = steady(everything)
    out, back = (Stream(*ends, to=to, count=3000, flows=32, port=port)
                 for ends, to, port in (((made.near, made.far), "10.0.0.2", 9000),
                                        ((made.far, made.near), "10.0.0.1", 9001)))
    assert out.finish()["lost"] == 0 and back.finish()["lost"] == 0
    after, shown_after = steady(everything)
    for direction, short in (("sent", "tx"), ("received", "rx")):
        for what in ("packets", "bytes"):
            bond, *slaves = [now[what] - then[what]
                             for then, now in zip(before[direction], after[direction])]
            if what == "packets":
                packets = bond
            elif direction == "received" and made.near.is_team("bond0"):
                bond += 14 * packets  # the kernel's team leaves the Ethernet header out
            assert bond >= 3000 and bond == sum(slaves), (direction, what)
            assert bond == shown_after[f"{short}_{what}"] - shown_before[f"{short}_{what}"]


def steady(look):
    """What look() says when it says the same twice, a moment apart: no packet was counted in
    between.
    """
    seen = [look()]

    def same():
        seen.append(look())
        return seen[-1] == seen[-2]
    wait_for(same, "silence on the bond", interval=0.1)
    return seen[-1]


def test_stats_count_in_direct(pair):
    """bond0's own transmit counters stand still in direct; bondctl has them."""
    made = pair("balance-xor", path="direct", xmit_hash_policy="layer3+4", links=2)
    before, bond_before = made.near.ctl_json("stats", "bond0"), made.near.sent("bond0")["packets"]
    send_packets(made.near, count=1000, flows=50)
    after = made.near.ctl_json("stats", "bond0")
    assert made.near.sent("bond0")["packets"] - bond_before < 100
    risen = flat(after)["tx_packets"] - flat(before)["tx_packets"]
    assert 1000 <= risen < 1050
    assert risen == sum(flat(now)["tx_packets"] - flat(then)["tx_packets"]
                        for then, now in zip(before["slaves"], after["slaves"]))


def flat(stats):
    """{name, counters}: counters may stand beside name or below it."""
    return {**stats, **stats.get("counters", {})}


def test_gso_packets_count_once(pair):
    """A large TCP packet crosses whole, in both paths: far fewer packets than segments."""
    made = pair("active-backup", links=1)
    for path in ("direct", "counted"):
        made.near.ctl("set", "bond0", "path", path)
        server = Iperf(made.far, port=5300 + len(path))
        before = made.near.show()
        server.run(made.near, "10.0.0.2", "-n", "50M")
        after = made.near.show()
        packets = after["tx_packets"] - before["tx_packets"]
        assert (after["tx_bytes"] - before["tx_bytes"]) / packets > 8000


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "balance-xor", "broadcast"])
def test_every_mode_carries_both_ways_in_both_paths(pair, mode, hook):
    made = pair(mode, links=2)
    for path in ("direct", "counted"):
        for host in (made.near, made.far):
            host.ctl("set", "bond0", "path", path)
        for near, far, to in ((made.near, made.far, "10.0.0.2"), (made.far, made.near, "fd00::1")):
            result = Stream(near, far, to=to, count=1000, flows=20).finish()
            assert result["lost"] == 0, (path, to, result)
            assert mode == "broadcast" or result["duplicates"] == 0


def test_the_mode_changes_live(pair):
    """Under traffic: the next packets go by the new mode, none is lost but what an inactive far
    slave drops.
    """
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", far={"mode": "broadcast"})
    for mode, links in (("active-backup", 1), ("balance-rr", 2), ("broadcast", 2),
                        ("balance-xor", 2)):
        stream = Stream(made.near, made.far, flows=32)
        stream.flow_on(300)
        made.near.ctl("set", "bond0", "mode", mode)
        stream.flow_on(300)
        assert stream.finish()["lost"] == 0
        assert made.near.show()["mode"] == mode
        sent, frames = measure(made, count=500, flows=100)
        assert sum(count > 0 for count in frames.values()) == links
        assert sum(frames.values()) == sent * (2 if mode == "broadcast" else 1)
