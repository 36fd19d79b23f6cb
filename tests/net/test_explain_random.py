"""explain --pcap says for packets of every kind where they go, whatever modes and options meet.
XBOND_TEST_SEED repeats other histories than the usual one.
"""
import json
import os
import random
import struct

import frames
from frames import ARP, ICMP6, IPV4, IPV6, UDP, ethernet, pcap
from traffic import Capture, send_frames

TURNS, FRAMES = 10, 50
MARK = b"numbered"
OPTIONS = {
    "xmit_hash_policy": ["layer2", "layer2+3", "layer3+4", "encap3+4", "vlan+srcmac", "flow"],
    "symmetric": ["on", "off"], "ip6_flow_label": ["on", "off"], "path": ["counted", "direct"],
    "flowlet_gap": [0, 0, 1000000], "rebalance_interval": [0, 3600],
}
MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "balance-tlb", "balance-alb"]


def ip4(chance, protocol, body, fragment=0):
    return IPV4, frames.ip4("10.0.0.1", f"10.1.0.{chance.randrange(256)}", protocol, body,
                            number=1, fragment=fragment)


def ip6(chance, protocol, body):
    label = chance.randrange(1 << 20)
    return IPV6, frames.ip6("fd00::1", f"fd01::{chance.randrange(256):x}", protocol, body,
                            label=label)


def packet(chance, mark):
    """(type, what follows it)"""
    datagram = frames.udp(chance.randrange(1024, 65536), 9000, mark)
    return chance.choice([
        ip4(chance, UDP, datagram), ip4(chance, UDP, datagram, 0x2000), ip4(chance, 89, mark),
        ip6(chance, UDP, datagram),
        ip6(chance, ICMP6, bytes([chance.choice([128, 135, 136])]) + bytes(23) + mark),
        (ARP, bytes.fromhex("0001080006040001") + bytes(20) + mark), (0x88b5, mark)])


def frame(chance, number, source):
    """To one host, to a group or to all, perhaps tagged."""
    kind, body = packet(chance, MARK + struct.pack("!I", number) + bytes(40))
    one = "02aabbccdd%02x" % chance.randrange(256)
    dest = chance.choice([one, one, one, "ffffffffffff", "01005e010203", "333300000001"])
    tag = chance.choice([b"", b"", b"\x81\0\0\5", b"\x88\xa8\0\5\x81\0\0\6"])
    return ethernet(dest, source, kind, body, tag)


def change(chance, near):
    """One thing more or less that the slave of a packet depends on. Some modes refuse it."""
    link = chance.choice(near.links)
    what = chance.choice(["mode", "mode", "option", "option", "slave", "active", "link"])
    if what == "mode":
        near.ctl("set", "bond0", "mode", chance.choice(MODES))
    elif what == "option":
        option = chance.choice(sorted(OPTIONS))
        near.ctl("set", "bond0", option, chance.choice(OPTIONS[option]))
    elif what == "slave":
        near.ctl("set-slave", "bond0", link, *chance.choice([
            ("weight", 1), ("weight", 10), ("drain", "on"), ("drain", "off")]))
    elif what == "active":
        near.ctl_try("set", "bond0", "active_slave", link)
    else:
        near.far.ip("link", "set", link, chance.choice(["up", "up", "down"]))


def links_taken(near, frames):
    """{number: links} of what bond0 is given to send"""
    wires = [Capture(near.far, link) for link in near.links]
    send_frames(near, "bond0", frames)
    taken = {}
    for wire in wires:
        for each in wire.frames(0.05):
            at = each.data.find(MARK)
            if at >= 0:
                number = struct.unpack_from("!I", each.data, at + len(MARK))[0]
                taken.setdefault(number, []).append(wire.dev)
        wire.close()
    return taken


def is_so(near, said, links):
    """Did the packet go where explain has said, or to how many links?"""
    if said["slave"]:
        return links == [said["slave"]]
    if said["why"].startswith("every slave"):
        return sorted(links) == sorted(set(links) & set(near.carrier_slaves())) != []
    return len(links) == (0 if said["why"].startswith("no slave") else 1)


def test_it_agrees_with_the_wire(lone, tmp_path):
    seed = int(os.environ.get("XBOND_TEST_SEED", "1"))
    chance, file = random.Random(seed), tmp_path / "frames.pcap"
    near = lone(4)
    near.make_bond(near.links, "mode", "balance-tlb", "xmit_hash_policy", "layer3+4")
    for turn in range(TURNS):
        for _ in range(chance.randrange(1, 4) if turn else 0):
            change(chance, near)
        near.wait_slaves(*(link for link in near.links if "UP" in near.far.link(link)["flags"]))
        source = bytes.fromhex(near.link("bond0")["address"].replace(":", ""))
        frames = [frame(chance, number, source) for number in range(FRAMES)]
        file.write_bytes(pcap(frames))
        said = json.loads(near.ctl("-j", "explain", "bond0", "--pcap", file))["packets"]
        taken = links_taken(near, frames)
        wrong = [(frames[number].hex(), each["slave"] or each["why"], taken.get(number))
                 for number, each in enumerate(said)
                 if not is_so(near, each, taken.get(number, []))]
        assert not wrong, (seed, turn, near.show()["options"], wrong)
