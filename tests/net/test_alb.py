# SPDX-License-Identifier: GPL-2.0-or-later
"""Receive balancing of balance-alb: neighbours at a switch learn the addresses of different slaves,
and learn others when slaves fail and come back.
"""
import json
import struct
import time

import pytest

import frames
from frames import ARP, IPV6, VLAN, checksum, ethernet, mac_bytes
from traffic import Capture, send_frames
from waiting import wait_for

RARP = 0x8035
PEERS = 6


def is_echo(frame):
    """A request, in IPv4 or IPv6."""
    return frame.type == 0x0800 and frame.data[23] == 1 or \
        frame.type == IPV6 and frame.data[54] == 128


class Shared:
    """bond0 (10.0.0.1, fd00::1) at a bridge with hosts 10.0.0.11 and on, each in a namespace."""

    def __init__(self, lab, near, peers):
        self.near, self.far, self.links = near, near.far, near.links
        self.far.ip("link", "add", "br0", "type", "bridge", "mcast_snooping", 0)
        self.far.ip("link", "set", "br0", "up")
        for link in self.links:
            self.far.ip("link", "set", link, "master", "br0")
        near.ctl("create", "bond0", "mode", "balance-alb", "primary", "l0", "lp_interval", 1)
        near.ctl("add-slave", "bond0", *self.links)
        near.ip("link", "set", "bond0", "up")
        near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
        near.ip("addr", "add", "fd00::1/64", "dev", "bond0", "nodad")
        near.wait_slaves(*self.links)
        wait_for(lambda: len(set(self.macs().values())) == len(self.links), "addresses to differ")
        self.peers = {11 + i: self._peer(lab, 11 + i) for i in range(peers)}

    def _peer(self, lab, number):
        peer = lab.namespace(f"p{number}")
        self.far.ip("link", "add", f"p{number}", "type", "veth", "peer", "name", "eth0", "netns",
                    peer.name)
        self.far.ip("link", "set", f"p{number}", "master", "br0", "up")
        peer.ip("link", "set", "eth0", "up")
        peer.ip("addr", "add", f"10.0.0.{number}/24", "dev", "eth0")
        peer.ip("addr", "add", f"fd00::{number}/64", "dev", "eth0", "nodad")
        return peer

    def macs(self):
        return {slave["name"]: slave["mac"] for slave in self.near.show()["slaves"]}

    def clients(self):
        return {slave["name"]: slave["clients"] for slave in self.near.show()["slaves"]}

    def knows(self, number, address="10.0.0.1"):
        """The address that this peer sends to."""
        found = self.peers[number].ip_json("neigh", "show", address)
        return found[0].get("lladdr") if found else None

    def all_know(self, address="10.0.0.1"):
        return [self.knows(number, address) for number in self.peers]

    def ask(self, address="10.0.0.1"):
        for peer in self.peers.values():
            peer.wait_ping(address)

    def spread(self, links=None):
        """Does every peer send to these links only, and does each have its share?"""
        links = links or self.links
        macs, clients = self.macs(), self.clients()
        known = self.all_know() + self.all_know("fd00::1")
        shares = [clients[link] for link in links]
        return max(shares) - min(shares) <= 1 and sum(shares) == sum(clients.values()) and \
            {macs[link] for link in links} == set(known)

    def arrivals(self, address="10.0.0.1"):
        """{link: peers of which echo requests came in by it}"""
        wires = [Capture(self.near, link) for link in self.links]
        for peer in self.peers.values():
            peer.wait_ping(address)
        found = {wire.dev: len({frame.src for frame in wire.frames(0.1) if is_echo(frame)})
                 for wire in wires}
        for wire in wires:
            wire.close()
        return found

    def does_not_probe(self):
        """bond0 asks none of its neighbours again, whereby they would become clients again."""
        self.near.run("sysctl", "-qw", "net.ipv4.neigh.bond0.delay_first_probe_time=60")


@pytest.fixture
def shared(lab, lone):
    def make(links=3, peers=PEERS):
        return Shared(lab, lone(links), peers)
    return make


def test_neighbours_share_the_slaves(shared):
    """They ask; they are asked; a slave fails, comes back; bondd is killed and comes back."""
    made = shared()
    near = made.near

    def wait_spread(what, links=None):
        wait_for(lambda: made.spread(links),
                 lambda: f"{what}: {made.clients()} {made.all_know()} {made.all_know('fd00::1')}",
                 deadline=12)

    for address in ("10.0.0.1", "fd00::1"):
        made.ask(address)
        arrived = made.arrivals(address)
        assert sorted(arrived.values()) == [2, 2, 2], arrived
    wait_spread("all to share")
    # bond0's question teaches everybody its own address: bondd makes that good
    near.ip("neigh", "flush", "dev", "bond0")
    near.wait_ping("10.0.0.11")
    wait_spread("all to be told again")
    gone = made.macs()["l2"]
    made.far.ip("link", "set", "l2", "down")
    near.wait_slaves("l0", "l1")
    wait_spread("all to be told of others", ["l0", "l1"])
    assert gone not in made.all_know() + made.all_know("fd00::1")
    made.far.ip("link", "set", "l2", "up")
    near.wait_slaves(*made.links)
    wait_spread("some to be told of the slave that is back")
    # another slave gets the address of the active one, and nobody is lost
    made.far.ip("link", "set", "l0", "down")
    near.wait_slaves("l1", "l2")
    wait_spread("the others to have all", ["l1", "l2"])
    made.far.ip("link", "set", "l0", "up")
    near.wait_slaves(*made.links)
    wait_spread("the primary to have some again")
    near.kill_bondd()
    made.far.ip("link", "set", "l1", "down")
    made.ask()
    with near.dying_at("clients-half-told", wait=False):
        pass
    near.start_bondd()
    near.wait_slaves("l0", "l2")
    wait_spread("the next bondd to tell the rest", ["l0", "l2"])
    near.ctl("set", "bond0", "mode", "active-backup")
    wait_for(lambda: waiting(made), "all to be told once, and soon again")
    near.kill_bondd()
    mac = near.show()["mac"]
    near.start_bondd()
    wait_for(lambda: set(made.all_know()) == {mac}, "all to be told of the one address")
    wait_for(lambda: not waiting(made), "the next bondd to have told them all", deadline=15)


def test_what_follows_fast_is_told_again_later(shared):
    """A neighbour heeds no second reply for a while, whatever happens to bond0 meanwhile."""
    made = shared()
    made.does_not_probe()
    for peer in made.peers.values():
        peer.run("sysctl", "-qw", "net.ipv4.neigh.eth0.locktime=190")
    made.ask()
    wait_for(lambda: len(set(made.all_know())) == len(made.links), made.all_know)
    for link in ("l2", "l1"):
        gone = made.macs()[link]
        made.far.ip("link", "set", link, "down")
        wait_for(lambda: made.near.slave(link)["clients"] == 0, "its clients to get others")

    def are_told():
        made.near.ip("link", "set", "bond0", "alias", str(time.monotonic()))
        return not waiting(made)

    wait_for(are_told, "all to be told, in more rounds than usual", deadline=12)
    wait_for(lambda: gone not in made.all_know(), made.all_know)


def test_bondd_dies_again_and_again(shared):
    """Each time it has just told them. The last one tells them often enough."""
    made = shared()
    made.does_not_probe()
    made.ask()
    gone = made.macs()["l2"]
    wait_for(lambda: gone in made.all_know(), made.all_know)
    made.near.kill_bondd()
    made.far.ip("link", "set", "l2", "down")
    for _ in range(4):
        with made.near.dying_at("clients-half-told", wait=False):
            pass
    made.near.start_bondd()
    wait_for(lambda: gone not in made.all_know(), made.all_know, deadline=12)
    wait_for(lambda: not waiting(made), "all to be told", deadline=15)


def test_the_address_of_a_slave_without_a_link(shared):
    """The active slave teaches it to the switches, and is promiscuous for a while, so what clients
    still send there arrives. The slave has it again at once when its link is back.
    """
    made = shared(links=3, peers=1)
    near, far = made.near, made.far
    address = made.macs()["l2"]

    def place():
        """The bridge's port of this address."""
        return [entry["ifname"] for entry in json.loads(far.run(
            "bridge", "-j", "fdb", "show", "br", "br0", "dynamic").stdout)
            if entry["mac"] == address]

    def promiscuous():
        return {link for link in made.links if "PROMISC" in near.link(link)["flags"]}

    wait_for(lambda: place() == ["l2"], "the bridge to know l2")
    near.ctl("set", "bond0", "lp_interval", 3600)
    with Capture(near, "bond0") as wire:

        def arrives():
            send_frames(made.peers[11], "eth0", [
                mac_bytes(address) + mac_bytes("02:00:00:00:00:77") +
                struct.pack("!H", 0x88b5) + bytes(46)])
            return any(frame.src.endswith(":77") for frame in wire.frames())

        far.ip("link", "set", "l2", "down")
        wait_for(lambda: place() == ["l0"], "the active slave to teach it")
        wait_for(lambda: promiscuous() == {"l0"}, "l0 to hear everything")
        wait_for(arrives, lambda: f"bond0 to have the frame; promiscuous: {promiscuous()}")
    # another bondd knows of nothing that has to end
    near.restart_bondd(kill=True)
    near.wait_slaves("l0", "l1")
    wait_for(lambda: not promiscuous(), "l0 to be as it was")
    far.ip("link", "set", "l2", "up")
    near.wait_slaves(*made.links)
    wait_for(lambda: place() == ["l2"], "l2 to teach it again")
    # the active slave fails: the new one teaches the address that was its own
    mac, before = near.show()["mac"], made.macs()
    far.ip("link", "set", "l0", "down")
    near.wait_slaves("l1", "l2")
    active = near.show()["active_slave"]
    wait_for(lambda: made.macs()[active] == mac, f"{active} to have the bond's address")
    address = before[active]
    assert made.macs()["l0"] == address
    wait_for(lambda: place() == [active], "the new active slave to teach what it had")
    wait_for(lambda: promiscuous() == {active}, f"{active} to hear everything")
    wait_for(lambda: not promiscuous(), "that to end", deadline=15)


def arp(source, operation, sender_mac, sender, target_mac, target, tags=b"", dest=None):
    return ethernet(dest or target_mac, source, ARP,
                    frames.arp(operation, sender_mac, sender, target_mac, target), tags)


def advertisement(source, dest, own, peer, flags=0x60000000, tags=b"", mac=None):
    return ethernet(dest, source, IPV6, frames.icmp6(
        own, peer, 136, struct.pack("!I", flags) + frames.address(own) + b"\2\1" +
        mac_bytes(mac or source)), tags)


def is_sound(frame):
    """The checksum of ICMPv6 behind the headers."""
    at = frame.data.index(b"\x86\xdd\x60") + 2
    ip, body = frame.data[at:at + 40], frame.data[at + 40:at + 72]
    return checksum(ip[8:40] + struct.pack("!II", len(body), 58) + body) == 0


def leaves(made, frames, dev="bond0"):
    """[(link, frame)] that come out of the slaves for frames sent by this device."""
    wires = [Capture(made.far, link) for link in made.links]
    send_frames(made.near, dev, frames)
    found = []
    wait_for(lambda: found.extend((wire.dev, frame) for wire in wires for frame in wire.frames()
                                  if frame.type in (ARP, IPV6, VLAN)
                                  and b"\xc0\x00\x02" in frame.data
                                  or b"\x20\x01\x0d\xb8" in frame.data)
             or len(found) >= len(frames), "the frames to leave")
    for wire in wires:
        wire.close()
    return found


def test_what_is_rewritten(shared):
    """Replies and advertisements of bond0 to one host, also tagged; nothing else."""
    made = shared(links=2, peers=0)
    mac, macs = made.near.show()["mac"], made.macs()
    other = macs["l1"]
    hosts = [f"02:aa:00:00:00:{i:02x}" for i in range(4)]
    everybody = "ff:ff:ff:ff:ff:ff"
    tag = frames.tag(7)

    def reply(i, tags=b"", sender="192.0.2.1", target=None, own=mac, dest=None):
        return arp(own, 2, own, sender, hosts[i], target or f"192.0.2.{100 + i}", tags, dest)

    # of two clients in each VLAN and family one learns the other slave's address
    sent = [reply(0), reply(1), reply(0, tag), reply(1, tag),
            *(advertisement(mac, hosts[i], "2001:db8::1", f"2001:db8::{i + 2}", tags=tags)
              for tags in (b"", tag) for i in (0, 1))]
    out = leaves(made, sent)
    assert len(out) == len(sent)
    by = {"l0": mac, "l1": other}
    for link, frame in out:
        assert frame.src == by[link]
        assert mac_bytes(by[link]) in frame.data[14:], "the address inside"
        if b"\x86\xdd\x60" in frame.data:
            assert is_sound(frame)
    assert sum(link == "l1" for link, _ in out) == len(sent) // 2
    tagged = [frame for link, frame in out if link == "l1" and
              (frame.vlan == 7 or frame.type == VLAN)]
    assert len(tagged) == 2
    # a client keeps its slave
    moved = next(i for i in (0, 1) if made.near.show() and leaves(made, [reply(i)])[0][0] == "l1")
    assert leaves(made, [reply(moved)])[0][0] == "l1"
    # nor gratuitous ARP, probes, an answer to a probe, nor those of others, nor two tags
    bridged = "02:bb:00:00:00:01"
    alone = [arp(mac, 1, mac, "192.0.2.1", everybody, "192.0.2.1"),
             arp(mac, 2, mac, "192.0.2.1", everybody, "192.0.2.1"),
             arp(mac, 1, mac, "0.0.0.0", everybody, "192.0.2.77"),
             arp(mac, 2, mac, "192.0.2.1", hosts[moved], "0.0.0.0"),
             reply(moved, own=bridged), reply(moved, tag + frames.tag(8)),
             arp(mac, 2, bridged, "192.0.2.9", hosts[moved], "192.0.2.101"),
             advertisement(mac, hosts[moved], "2001:db8::9", "2001:db8::2", mac=bridged),
             advertisement(mac, "33:33:00:00:00:01", "2001:db8::1", "ff02::1")]
    out = leaves(made, alone)
    assert {link for link, _ in out} == {"l0"}
    assert sorted(frame.data[14:56].rstrip(b"\0") for _, frame in out if not frame.vlan
                  and frame.type != VLAN) == \
        sorted(each[14:56].rstrip(b"\0") for each in alone if each[12:14] != tag[:2])


def dumped(made):
    """Of the map of clients, but those that leave while bpftool prints the others."""
    found = made.near.run("bpftool", "-j", "map", "dump", "pinned",
                          f"{made.near.bpf_dir}/bond0/clients").stdout
    return [each["formatted"] for each in json.loads(found) if "formatted" in each]


def waiting(made):
    """How many clients are still to be told."""
    return sum(each["value"]["tells"] > 0 for each in dumped(made))


def value(made, peer):
    """(told, due) of the entry of a peer of 10.0.0.1."""
    found = json.loads(made.near.run("bpftool", "-j", "map", "lookup", *entry(made, peer)).stdout)
    words = bytes(int(byte, 16) for byte in found["value"])
    return words[8:14].hex(":"), int.from_bytes(words[28:30], "little")


def test_a_client_does_not_stay_due(shared):
    """One that was due and has the bond's address since, or an answer would not be noticed."""
    made = shared(links=2, peers=4)
    mac = made.near.show()["mac"]
    made.ask()
    peer = next(f"10.0.0.{number}" for number in made.peers if made.knows(number) == mac)
    made.near.run("bpftool", "map", "update", *entry(made, peer), "value", "hex",
                  *mac_of_peer(made, peer), "00", "00", *mac.split(":"), "00", "00",
                  *struct.pack("=QIHH", time.monotonic_ns(), 1, 1, 0).hex(" ").split(), "exist")
    assert value(made, peer) == (mac, 1)
    made.far.ip("link", "set", "l1", "down")
    made.near.wait_slaves("l0")
    wait_for(lambda: value(made, peer) == (mac, 0), "bondd to see that it is right")


def mac_of_peer(made, peer):
    number = int(peer.rsplit(".", maxsplit=1)[-1])
    return made.peers[number].ip_json("link", "show", "eth0")[0]["address"].split(":")


def refused(made):
    return made.near.show()["clients_refused"]


def test_forged_questions(shared):
    """A neighbour forges thousands of askers: real clients stay, and the table has its limit."""
    made = shared(links=2, peers=2)
    made.does_not_probe()
    made.ask()
    known = made.all_know()
    assert sorted(known) == sorted(made.macs().values())
    forged = [arp(f"02:cc:00:{i >> 16:02x}:{i >> 8 & 255:02x}:{i & 255:02x}", 1,
                  f"02:cc:00:{i >> 16:02x}:{i >> 8 & 255:02x}:{i & 255:02x}",
                  f"10.{1 + (i >> 16)}.{i >> 8 & 255}.{i & 255}", "00:00:00:00:00:00", "10.0.0.1",
                  dest="ff:ff:ff:ff:ff:ff") for i in range(3000)]
    made.near.run("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0",
                  "net.ipv4.conf.bond0.rp_filter=0")
    made.near.ip("route", "add", "10.0.0.0/8", "dev", "bond0")
    before = time.monotonic()
    send_frames(made.far, "br0", forged)
    wait_for(lambda: refused(made) > 0, "some to be refused")
    took = time.monotonic() - before
    assert len(dumped(made)) <= min(4096, 256 * (took + 2) + 8)
    made.ask()
    assert made.all_know() == known
    assert made.near.ping_bondd()


def fill(made):
    """The map, with clients of the active slave that have spoken often."""
    words = bytes(8) + mac_bytes(made.near.show()["mac"]) + bytes(2) + \
        struct.pack("=QIHH", time.monotonic_ns(), 9, 0, 0)
    lines = [" ".join(["map update", *entry(made, f"10.1.{i >> 8}.{i & 255}"), "value hex",
                       words.hex(" "), "noexist"]) for i in range(4100)]
    done = made.near.run("bpftool", "batch", "file", "-", input="\n".join(lines), check=False)
    assert "Argument list too long" in done.stdout + done.stderr  # E2BIG


def look_anew(made):
    """bondd looks at all clients now."""
    made.near.ip("link", "set", "bond0", "alias", str(time.monotonic()))


def test_a_full_map(shared):
    """It is said, once by bondd. Nobody is pushed out, and who comes then sends to bond0's
    address.
    """
    made = shared(links=2, peers=4)
    made.does_not_probe()
    fill(made)
    for _ in range(2):
        look_anew(made)
        made.near.wait_looked()
    assert made.near.log().count("its map of clients is full") == 1
    before = made.clients()
    made.ask()
    assert set(made.all_know()) == {made.near.show()["mac"]}
    assert refused(made) >= len(made.peers) and made.clients() == before


def test_a_full_map_and_a_bridge(shared):
    """Marks have room in it, or no client would be told of anything any more."""
    made = shared(links=2, peers=4)
    made.ask()
    assert made.clients()["l1"]
    fill(made)
    made.near.ip("link", "add", "hbr", "type", "bridge")
    made.near.ip("link", "set", "bond0", "master", "hbr")
    wait_for(lambda: is_marked(made, "10.0.0.1"), "this host's addresses to be marked")
    made.far.ip("link", "set", "l1", "down")
    wait_for(lambda: not made.clients()["l1"], "its clients to get the other one")


def announcement(address, tag=b""):
    """Another host says that it has this address."""
    other = "02:dd:00:00:00:01"
    if ":" in address:
        return advertisement(other, "33:33:00:00:00:01", address, "ff02::1", 0x20000000)
    return arp(other, 1, other, address, "ff:ff:ff:ff:ff:ff", address, tag)


def claim(made, number=1):
    """bond0 tells this many clients, 192.0.2.101 and on, that it has 192.0.2.1, which it has not:
    as for somebody behind it.
    """
    mac = made.near.show()["mac"]
    leaves(made, [arp(mac, 2, mac, "192.0.2.1", "02:aa:00:00:00:01", f"192.0.2.{101 + i}")
                  for i in range(number)])
    assert len(owned(made, "192.0.2.1")) == number


def owned(made, address):
    """The clients of this address of bond0."""
    own = list(frames.address(address))
    return [each for each in keys(made)[0]
            if each["own"][:len(own)] == own and any(each["peer"])]


def test_who_announces_an_address_of_bond0(shared):
    """VRRP: another host has an address that was bond0's, and its clients are forgotten. What this
    host has is not moved by words.
    """
    made = shared(links=2, peers=2)
    made.does_not_probe()
    addresses = ("10.0.0.1", "fd00::1")
    for address in addresses:
        made.ask(address)
    claim(made)
    for address in (*addresses, "192.0.2.1"):
        send_frames(made.far, "br0", [announcement(address)])
    wait_for(lambda: not owned(made, "192.0.2.1"), "bondd to believe what may be so")
    for address in addresses:
        assert len(owned(made, address)) == 2, address


def entry(made, peer, own="10.0.0.1"):
    """bpftool's words for the entry of a peer of this address; 0.0.0.0: of that itself."""
    key = b"".join(frames.address(each) + bytes(12) for each in (own, peer))
    return ["pinned", f"{made.near.bpf_dir}/bond0/clients", "key", "hex",
            *(f"{byte:02x}" for byte in key + struct.pack("=HHHH", 2, 0, 0, 0))]


def heard(made, number):
    """The address of a peer of 10.0.0.1, as the entry has it."""
    found = json.loads(made.near.run("bpftool", "-j", "map", "lookup",
                                     *entry(made, f"10.0.0.{number}")).stdout)
    return bytes(int(byte, 16) for byte in found["value"][:6]).hex(":")


def test_an_answer_of_a_group(shared):
    """It would make bondd tell everybody."""
    made = shared(links=2, peers=2)
    made.ask()
    mac, new = made.near.show()["mac"], "02:ee:00:00:00:01"

    before = heard(made, 11)
    send_frames(made.far, "br0", [
        arp(new, 2, "ff:ff:ff:ff:ff:ff", "10.0.0.11", mac, "10.0.0.1"),
        arp(new, 2, new, "10.0.0.12", mac, "10.0.0.1")])
    wait_for(lambda: heard(made, 12) == new, "the second answer to be heard")
    assert heard(made, 11) == before


def test_what_has_a_priority_and_no_vlan(shared):
    """Such a tag, of VLAN 0, is no VLAN: the neighbour is the one that bond0 has asked without a
    tag, and an address that moves away does so for those without a tag.
    """
    made = shared(links=2, peers=2)
    made.does_not_probe()
    made.ask()
    claim(made)
    mac, new, tag = made.near.show()["mac"], "02:ee:00:00:00:01", frames.tag(5 << 13)
    send_frames(made.far, "br0", [arp(new, 2, new, "10.0.0.12", mac, "10.0.0.1", tag)])
    wait_for(lambda: heard(made, 12) == new, "the answer to be heard")
    send_frames(made.far, "br0", [announcement("192.0.2.1", tag)])
    wait_for(lambda: not owned(made, "192.0.2.1"), "no client to be left", deadline=10)


def test_an_address_that_moves_away_late(shared):
    """bond0 has had the address for long, and its clients are the same all the time."""
    if time.monotonic() < 600:
        pytest.skip("bondd forgets after ten minutes, and this machine has not run so long")
    made = shared(links=2, peers=0)
    claim(made, 2)
    made.near.run("bpftool", "map", "update", *entry(made, "0.0.0.0", "192.0.2.1"),
                  "value", "hex", *["00"] * 32, "exist")
    made.far.ip("link", "set", "l1", "down")
    made.near.wait_slaves("l0")
    wait_for(lambda: made.clients() == {"l0": 2, "l1": 0}, "bondd to share them out again")
    send_frames(made.far, "br0", [announcement("192.0.2.1")])
    wait_for(lambda: not owned(made, "192.0.2.1"), "no client to be left", deadline=10)


def test_an_address_that_bond0_has_no_longer(shared):
    """Another host has it, whose announcement bond0 has not heard: its clients stay with that."""
    made = shared(links=2, peers=3)
    made.ask()
    owner = made.peers[12]
    made.near.ip("addr", "del", "10.0.0.1/24", "dev", "bond0")
    owner.ip("addr", "add", "10.0.0.1/32", "dev", "eth0")
    mac = owner.ip_json("link", "show", "eth0")[0]["address"]
    others = [number for number in made.peers if made.peers[number] is not owner]
    for number in others:
        made.peers[number].ip("neigh", "flush", "dev", "eth0")
        made.peers[number].wait_ping("10.0.0.1")
    for link in made.links:
        made.far.ip("link", "set", link, "down")
        made.near.wait_slaves(*(set(made.links) - {link}))
        made.near.wait_looked(3)
        assert {made.knows(number) for number in others} == {mac}, link
        made.far.ip("link", "set", link, "up")
        made.near.wait_slaves(*made.links)
    assert sum(made.clients().values()) == 0
    made.near.ip("addr", "add", "10.0.0.9/24", "dev", "bond0")
    made.ask("10.0.0.9")
    assert sum(made.clients().values()) == len(made.peers)


def test_an_address_that_went_while_bondd_was_away(shared):
    """No message told of it."""
    made = shared(links=2, peers=2)
    made.ask()
    made.near.kill_bondd()
    made.near.ip("addr", "del", "10.0.0.1/24", "dev", "bond0")
    made.near.start_bondd()
    wait_for(lambda: sum(made.clients().values()) == 0, "its clients to be forgotten")


def test_an_address_that_another_device_has_no_longer(shared):
    """bond0 still has it, and its clients are told of a slave that fails."""
    made = shared(links=2, peers=4)
    near = made.near
    near.ip("link", "add", "d0", "type", "bridge")
    near.ip("link", "set", "d0", "up")
    for address in ("10.0.0.1/32", "fd00::1/128"):
        near.ip("addr", "add", address, "dev", "d0", *(["nodad"] if ":" in address else []))
    for address in ("10.0.0.1", "fd00::1"):
        made.ask(address)
    assert sum(made.clients().values()) >= 8  # neighbours may ask for link-local addresses, too
    for address in ("10.0.0.1/32", "fd00::1/128"):
        near.ip("addr", "del", address, "dev", "d0")
    near.wait_looked(3)
    mac = near.show()["mac"]
    made.far.ip("link", "set", "l1", "down")
    near.wait_slaves("l0")
    wait_for(lambda: made.clients()["l1"] == 0 and made.clients()["l0"] >= 8,
             lambda: f"l0 to have all: {made.clients()}")
    wait_for(lambda: set(made.all_know() + made.all_know("fd00::1")) == {mac}, "all to be told")


def keys(made):
    """Of the map, without marks; and how many marks there are."""
    found = [each["key"] for each in dumped(made)]
    return [each for each in found if not each["is_mark"]], \
        sum(each["is_mark"] for each in found)


def is_marked(made, address):
    own = list(frames.address(address))
    return any(each["key"]["is_mark"] and each["key"]["own"][:len(own)] == own
               for each in dumped(made))


def test_a_machine_behind_a_bridge_claims_nothing(shared):
    """It sends with bond0's MAC address as the sender's. That leaves as it is, and nobody repeats
    it; the addresses of the bridge itself are balanced.
    """
    made = shared(links=2, peers=2)
    near, mac = made.near, made.near.show()["mac"]
    near.ip("link", "add", "tap0", "type", "veth", "peer", "name", "tap1")
    near.ip("link", "add", "hbr", "address", mac, "type", "bridge", "mcast_snooping", 0)
    near.ip("addr", "del", "10.0.0.1/24", "dev", "bond0")
    for port in ("tap0", "bond0"):
        near.ip("link", "set", port, "master", "hbr")
    for dev in ("tap0", "tap1", "hbr"):
        near.ip("link", "set", dev, "up")
    near.ip("addr", "add", "10.0.0.1/24", "dev", "hbr")
    wait_for(lambda: keys(made)[1] > 1, "this host's addresses to be marked")

    def claim(number):
        return arp("02:cc:00:00:00:01", 2, mac, f"192.0.2.{number}", "02:aa:00:00:00:01",
                   "192.0.2.200")
    claims = [claim(number) for number in range(1, 100)]
    out = leaves(made, claims, "tap1")
    assert {link for link, _ in out} == {"l0"}
    assert sorted(frame.data[:42] for _, frame in out) == sorted(each[:42] for each in claims)
    assert refused(made) == 0
    assert not [each for each in keys(made)[0] if each["own"][:3] == [192, 0, 2]]

    def are_balanced():
        """Who asks before 10.0.0.1 itself is marked becomes no client, and asks again."""
        for peer in made.peers.values():
            peer.ip("neigh", "flush", "all")
        made.ask()
        return all(made.clients().values())
    wait_for(are_balanced,
             lambda: f"clients of 10.0.0.1, and of others of the bridge: {made.clients()}")
    # without a bridge, everything that has bond0's address is bond0's own again
    near.ip("link", "set", "bond0", "nomaster")
    wait_for(lambda: not keys(made)[1], "the marks to go")


def test_an_address_that_another_has_is_not_this_host_s(shared):
    """Behind a bridge, an address whose duplicate was found is as any other of the network."""
    near = (made := shared(links=2, peers=0)).near
    near.ip("link", "add", "tap0", "type", "veth", "peer", "name", "tap1", "netns", made.far.name)
    near.ip("link", "add", "hbr", "type", "bridge", "mcast_snooping", 0)
    near.run("sysctl", "-qw", "net.ipv6.conf.hbr.accept_dad=1")
    for port in ("tap0", "bond0"):
        near.ip("link", "set", port, "master", "hbr")
    for host, dev in ((near, "tap0"), (near, "hbr"), (made.far, "tap1")):
        host.ip("link", "set", dev, "up")
    made.far.ip("addr", "add", "fd77::1/64", "dev", "tap1", "nodad")
    for address in ("fd77::1/64", "fd77::2/64"):
        near.ip("addr", "add", address, "dev", "hbr")
    wait_for(lambda: "dadfailed" in near.ip("-6", "addr", "show", "dev", "hbr"), "the duplicate")
    wait_for(lambda: is_marked(made, "fd77::2") and not is_marked(made, "fd77::1"),
             "its own address alone to be marked")


def test_a_claim_from_before_the_bridge_was_known(shared):
    """bondd does not repeat it."""
    made = shared(links=2, peers=0)
    mac = made.near.show()["mac"]
    leaves(made, [arp(mac, 2, mac, "192.0.2.1", "02:aa:00:00:00:01", "192.0.2.200")])
    assert keys(made)[0]
    made.near.ip("link", "add", "hbr", "type", "bridge")
    made.near.ip("link", "set", "bond0", "master", "hbr")
    wait_for(lambda: keys(made)[1] and not keys(made)[0], "the claim to be forgotten")


def test_a_drained_slave(shared):
    """Nobody sends to it any longer, so its cable can be pulled."""
    made = shared()
    made.ask()
    made.ask("fd00::1")
    for link in ("l2", "l0"):
        others = [each for each in made.links if each != link]
        made.near.ctl("set-slave", "bond0", link, "drain", "on")
        wait_for(lambda: made.spread(others),
                 lambda: f"{link} to have no clients: {made.clients()}", deadline=12)
        assert made.arrivals()[link] == 0
        made.near.ctl("set-slave", "bond0", link, "drain", "off")
        wait_for(made.spread, lambda: f"{link} to have some again: {made.clients()}", deadline=12)


def test_a_bond_that_is_set_down(shared):
    """It says nothing of itself, because it would not receive the answers. Then it catches up."""
    made = shared(peers=3)
    made.near.ctl("set", "bond0", "lp_interval", 3600)
    made.ask()
    mac = made.macs()["l1"]
    assert mac in made.all_know()
    made.near.ip("link", "set", "bond0", "down")
    made.near.wait_looked(2)
    wires = [Capture(made.far, link) for link in made.links]
    for wire in wires:
        wire.frames(0.1)
    made.far.ip("link", "set", "l1", "down")
    made.near.wait_slaves("l0", "l2")
    made.near.wait_looked(3)
    said = [hex(frame.type) for wire in wires for frame in wire.frames(0.1)]
    assert not said
    assert mac in made.all_know()
    made.near.ip("link", "set", "bond0", "up")
    wait_for(lambda: set(made.all_know()) == {made.macs()[link] for link in ("l0", "l2")},
             "all to be told of others")
    made.far.ip("link", "set", "l1", "up")
    made.near.wait_slaves(*made.links)
    made.near.ip("link", "set", "bond0", "down")
    made.near.wait_looked(2)
    for wire in wires:
        wire.frames(0.1)
    made.near.ip("link", "set", "bond0", "up")
    for wire in wires:
        wait_for(lambda wire=wire: any(frame.type == RARP for frame in wire.frames()),
                 f"learning packets by {wire.dev}")
        wire.close()


def test_a_broadcast_is_made_good_once(shared):
    """Answers of other clients do not make bondd tell one again who has been silent since."""
    made = shared(links=2, peers=4)
    mac = made.near.show()["mac"]
    made.ask()
    silent, speaking = [number for number in made.peers if made.knows(number) != mac][:2]
    macs = {number: made.peers[number].ip_json("link", "show", "eth0")[0]["address"]
            for number in (silent, speaking)}
    answer = arp(macs[speaking], 2, macs[speaking], f"10.0.0.{speaking}", made.knows(speaking),
                 "10.0.0.1")
    wires, seen = [Capture(made.far, link) for link in made.links], []

    def told(number):
        """How many ARP replies have left for this peer."""
        seen.extend(frame for wire in wires for frame in wire.frames() if frame.type == ARP)
        return sum(frame.dst == macs[number] and frame.data[21] == 2 for frame in seen)

    def answer_until_told(times):
        goal = told(speaking) + times
        wait_for(lambda: send_frames(made.peers[speaking], "eth0", [answer]) or
                 told(speaking) >= goal, "the other one to be told again", deadline=15)

    made.far.ip("link", "set", f"p{silent}", "down")
    send_frames(made.near, "bond0", [arp(mac, 1, mac, "10.0.0.1", "00:00:00:00:00:00", "10.0.0.99",
                                         dest="ff:ff:ff:ff:ff:ff")])
    wait_for(lambda: told(silent), "the broadcast to be made good", deadline=10)
    answer_until_told(6)
    before = told(silent)
    answer_until_told(4)
    assert told(silent) == before
