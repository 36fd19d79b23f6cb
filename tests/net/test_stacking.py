"""What people stack on a bond: captures, bridges, macvlan, namespaces, IPv6, multicast,
large MTU, priorities, tags. In both paths where both are allowed.
"""
import contextlib
import os
import signal
import socket
import struct
import subprocess

import pytest

from counting import count, counted
from frames import IPV4, UDP, ethernet, ip4, mac_bytes, udp
from lab import BUILD
from namespace import KERNEL, end, groups, run
from traffic import Capture, Frame, Iperf, Stream, send_frames, send_packets
from waiting import wait_for


def forced_counted(host):
    return bool(host.pinned("table")["flags"] & 1)


def crossing(host):
    """Packets that bond0 itself counted while 50 were sent: about none in direct."""
    before = host.sent("bond0")["packets"]
    send_packets(host, count=50)
    return host.sent("bond0")["packets"] - before


def is_counted(host):
    return crossing(host) >= 50


def is_direct(host):
    return crossing(host) < 25


# captures

class Tcpdump:
    def __init__(self, host, dev, file):
        self.host, self.file = host, file
        self.child = host.spawn("tcpdump", "-Z", "root", "-i", dev, "-nn", "-U", "-B", "16384",
                                "-w", file, "udp", stderr=subprocess.PIPE, text=True)
        assert any("listening" in line for line in self.child.stderr)

    def count(self, expression):
        return len(self.host.run("tcpdump", "-nn", "-r", self.file, expression).stdout.splitlines())

    def finish(self):
        end(self.child, signal.SIGINT)


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_tcpdump_sees_both_directions(pair, path, hook, tmp_path):
    made = pair("balance-xor", xmit_hash_policy="layer3+4", links=2)
    for host in (made.near, made.far):
        host.ctl("set", "bond0", "path", path)
    if path == "direct":
        wait_for(lambda: is_direct(made.near), "direct to be in force")
    dump = Tcpdump(made.near, "bond0", tmp_path / "bond0.pcap")
    wait_for(lambda: is_counted(made.near), "counted to be forced by the capture")
    for near, far, to, port in ((made.near, made.far, "10.0.0.2", 9001),
                                (made.far, made.near, "10.0.0.1", 9002)):
        assert Stream(near, far, to=to, port=port, count=1000, flows=10).finish()["lost"] == 0
        wait_for(lambda: dump.count(f"dst port {port}") == 1000,
                 f"all packets to {to} in the capture")
    dump.finish()
    if path == "direct":
        wait_for(lambda: is_direct(made.near), "direct again after the capture")


@pytest.mark.skipif("XBOND_VM" in os.environ,
                    reason="tcpdump does not keep up in an emulated machine")
def test_tcpdump_loses_nothing_in_mid_stream(pair, tmp_path):
    """A capture that begins and ends under traffic on a direct bond."""
    made = pair("balance-xor", xmit_hash_policy="layer3+4", links=2, path="direct")
    stream = Stream(made.near, made.far, flows=16)
    for number in range(3):
        stream.flow_on(300)
        dump = Tcpdump(made.near, "bond0", tmp_path / f"{number}.pcap")
        wait_for(lambda: dump.count("udp") > 100, "the capture to see packets")
        dump.finish()
    result = stream.finish()
    assert (result["lost"], result["reordered"]) == (0, 0), result


def test_a_capture_without_bondd_still_sees_counted(pair, tmp_path):
    made = pair("balance-xor", links=2)
    made.near.stop_bondd()
    dump = Tcpdump(made.near, "bond0", tmp_path / "bond0.pcap")
    send_packets(made.near, count=100)
    wait_for(lambda: dump.count("src 10.0.0.1") >= 100, "the packets")
    dump.finish()


def test_a_qdisc_on_the_bond_forces_counted(pair):
    made = pair("balance-xor", links=2, path="direct")
    wait_for(lambda: is_direct(made.near), "direct")
    made.near.run("tc", "qdisc", "add", "dev", "bond0", "root", "tbf", "rate", "100mbit", "burst",
                  "64kb", "latency", "50ms")
    wait_for(lambda: is_counted(made.near), "counted because of the qdisc")
    assert forced_counted(made.near)
    made.near.run("tc", "qdisc", "del", "dev", "bond0", "root")
    wait_for(lambda: is_direct(made.near), "direct again")


# bridge and macvlan

def bridge_over_bond(host, number):
    host.ip("addr", "flush", "dev", "bond0")
    host.ip("link", "add", "br0", "type", "bridge", "stp_state", "1", "forward_delay", "200",
            "hello_time", "100")
    host.ip("link", "set", "bond0", "master", "br0")
    host.ip("link", "set", "br0", "up")
    host.ip("addr", "add", f"10.0.1.{number}/24", "dev", "br0")


def thinks_it_is_root(host):
    """By the port to the root: the root id that this iproute2 prints is the bridge's own."""
    return host.link("br0")["linkinfo"]["info_data"]["root_port"] == 0


def test_bridges_with_stp_have_one_root(pair, path):
    made = pair("balance-xor", links=2, path=path)
    hosts = (made.near, made.far)
    for number, host in enumerate(hosts, 1):
        bridge_over_bond(host, number)
    wait_for(lambda: sum(map(thinks_it_is_root, hosts)) == 1, "one root for both bridges", 15)
    made.near.wait_ping("10.0.1.2", 20)
    assert Stream(made.near, made.far, to="10.0.1.2", count=1000, flows=10).finish()["lost"] == 0


def test_bridge_forwards_between_hosts(pair, path):
    """Other MACs than bond0's pass both ways: the bridge sets bond0 promiscuous."""
    made = pair("balance-xor", links=2, path=path, xmit_hash_policy="layer2")
    guests = []
    for number, host in enumerate((made.near, made.far), 1):
        host.ip("addr", "flush", "dev", "bond0")
        host.ip("link", "add", "br0", "type", "bridge", "forward_delay", "0")
        host.ip("link", "set", "bond0", "master", "br0")
        host.ip("link", "set", "br0", "up")
        guest = made.lab.namespace(f"guest{number}")
        host.ip("link", "add", "tap0", "type", "veth", "peer", "name", "eth0", "netns", guest.name)
        host.ip("link", "set", "tap0", "up", "master", "br0")
        guest.ip("link", "set", "eth0", "up")
        guest.ip("addr", "add", f"10.0.2.{number}/24", "dev", "eth0")
        guests.append(guest)
    guests[0].wait_ping("10.0.2.2")
    for near, far, to in ((guests[0], guests[1], "10.0.2.2"), (guests[1], guests[0], "10.0.2.1")):
        assert Stream(near, far, to=to, count=1000, flows=10).finish()["lost"] == 0


def test_macvlan_on_the_bond(pair, path):
    made = pair("balance-xor", links=2, path=path)
    for number, host in enumerate((made.near, made.far), 1):
        host.ip("link", "add", "mv0", "link", "bond0", "type", "macvlan", "mode", "bridge")
        host.ip("link", "set", "mv0", "up")
        host.ip("addr", "add", f"10.0.3.{number}/24", "dev", "mv0")
    made.near.wait_ping("10.0.3.2", dev="mv0")
    for near, far, to in ((made.near, made.far, "10.0.3.2"), (made.far, made.near, "10.0.3.1")):
        assert Stream(near, far, to=to, count=1000, flows=10).finish()["lost"] == 0


def test_macvlan_in_a_namespace(pair, path):
    """A container's macvlan on bond0; the far end talks to it and to the bond itself."""
    made = pair("balance-xor", links=2, path=path)
    guest = made.lab.namespace("guest")
    made.near.ip("link", "add", "mv0", "link", "bond0", "netns", guest.name, "type", "macvlan",
                 "mode", "bridge")
    guest.ip("link", "set", "mv0", "up")
    guest.ip("addr", "add", "10.0.0.7/24", "dev", "mv0")
    guest.wait_ping("10.0.0.2")
    made.far.wait_ping("10.0.0.7")
    made.far.wait_ping("10.0.0.1")


def test_vlan_device_on_the_bond(pair, path):
    made = pair("balance-xor", links=2, path=path, xmit_hash_policy="layer3+4")
    for number, host in enumerate((made.near, made.far), 1):
        done = host.run("ip", "link", "add", "bond0.5", "link", "bond0", "type", "vlan", "id", "5",
                        check=False)
        if "Unknown device type" in done.stderr or "not supported" in done.stderr:
            pytest.skip("this kernel has no VLAN devices")
        host.ip("link", "set", "bond0.5", "up")
        host.ip("addr", "add", f"10.0.5.{number}/24", "dev", "bond0.5")
    made.near.wait_ping("10.0.5.2")
    assert Stream(made.near, made.far, to="10.0.5.2", count=1000, flows=64).finish()["lost"] == 0


# tags without VLAN devices: raw frames out of bond0

def udp_frame(source_port, tags=b""):
    """A numbered IPv4 UDP packet (see udpseq) from source_port, behind tags."""
    numbered = udp(source_port, 9000, struct.pack("=III", source_port, source_port, 0))
    return ethernet("02:00:00:00:00:02", "02:00:00:00:00:01", IPV4,
                    ip4("10.0.0.1", "10.0.0.2", UDP, numbered), tags)


def inner_flow(frame):
    """Flow of a numbered packet under any tags left in the frame."""
    data = frame.data
    while data[12:14] in (b"\x81\x00", b"\x88\xa8"):
        data = data[:12] + data[16:]
    numbers = Frame(data).numbers()
    return numbers[1] if numbers else None


TAGS = {"plain": b"", "vlan": bytes.fromhex("81000005"), "priority": bytes.fromhex("8100e005"),
        "qinq": bytes.fromhex("88a80007") + bytes.fromhex("81000005")}


def test_tagged_frames_hash_alike_in_both_paths(pair):
    """In direct a tag is in the frame, in counted beside it: the flow takes the same link, the tag
    stays on.
    """
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    ports = range(3000, 3200)
    link_of_flow = {}
    for path in ("direct", "counted"):
        made.near.ctl("set", "bond0", "path", path)
        wires = [Capture(made.far, link) for link in made.links]
        for tag, text in TAGS.items():
            send_frames(made.near, "bond0", [udp_frame(port, text) for port in ports])
            found = {}
            for wire in wires:
                for frame in wire.frames(0.1):
                    flow = inner_flow(frame)
                    if flow is not None:
                        assert flow not in found
                        found[flow] = wire.dev
                        assert (frame.vlan is not None) == bool(text), \
                            f"{tag} was lost or invented in {path}"
            assert len(found) == len(ports), (path, tag)
            link_of_flow[path, tag] = found
        for wire in wires:
            wire.close()
    assert all(found == link_of_flow["direct", "plain"] for found in link_of_flow.values())


def test_short_and_strange_frames_pass(pair, path):
    """What a packet socket can make, down to a bare Ethernet header, leaves by some link."""
    made = pair("balance-xor", xmit_hash_policy="layer3+4", links=2, path=path)
    header = bytes.fromhex("020000000002020000000001")
    frames = [header + type_ + b"\x45" * size
              for type_ in (b"\x08\x00", b"\x86\xdd", b"\x81\x00", b"\x12\x34")
              for size in (1, 2, 10, 19, 20, 30, 60)]
    wires = [Capture(made.far, link) for link in made.links]
    send_frames(made.near, "bond0", frames)
    marked = [frame for wire in wires for frame in wire.frames(0.1)
              if frame.src == "02:00:00:00:00:01"]
    # the kernel itself drops two VLAN headers that are cut in half
    assert len(marked) == len(frames) - 2
    assert made.near.ping("10.0.0.2")


SO_TIMESTAMPING, STAMP_TRANSMIT, STAMP_SOFTWARE = 37, 1 << 1, 1 << 4


def test_software_timestamps_of_what_is_sent(lone, path):
    """One of each device with a transmit function of its own: on the direct path only the slave, as
    with kernel bonding.
    """
    host = lone(links=2)
    host.make_bond(host.links, "mode", "balance-xor", "path", path, "device", "veth")
    host.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    host.ip("neigh", "add", "10.0.0.2", "lladdr", "02:00:00:00:00:99", "dev", "bond0")
    wait_for(lambda: is_direct(host) if path == "direct" else is_counted(host), "the path")
    with host.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, STAMP_TRANSMIT | STAMP_SOFTWARE)
        sender.sendto(b"when", ("10.0.0.2", 9))
        stamps = []

        def stamped():
            with contextlib.suppress(BlockingIOError):
                stamps.append(sender.recvmsg(1000, 1000, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT))
            return len(stamps) == (2 if path == "counted" else 1)
        wait_for(stamped, "the timestamps")
        send_packets(host, count=50)
        with pytest.raises(BlockingIOError):
            sender.recvmsg(1000, 1000, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)


# another namespace

@contextlib.contextmanager
def moved_away(made, other):
    made.near.ip("link", "set", "bond0", "netns", other.name)
    other.ip("link", "set", "bond0", "up")
    other.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    yield
    other.ip("link", "set", "bond0", "netns", made.near.name)
    made.near.ip("link", "set", "bond0", "up")
    made.near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_move_to_a_namespace_and_back(pair, path, hook):
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", path=path)
    other = made.lab.namespace("c")
    for _ in range(2):
        with moved_away(made, other):
            other.wait_ping("10.0.0.2")
            for near, far, to in ((other, made.far, "10.0.0.2"), (made.far, other, "10.0.0.1")):
                assert Stream(near, far, to=to, count=1000, flows=20).finish()["lost"] == 0
            wait_for(lambda: forced_counted(made.near), "counted to be forced")
            assert made.near.show()["carrier"] is True
        made.near.wait_ping("10.0.0.2")
        for near, far, to in ((made.near, made.far, "10.0.0.2"), (made.far, made.near, "10.0.0.1")):
            assert Stream(near, far, to=to, count=1000, flows=20).finish()["lost"] == 0
        if path == "direct":
            wait_for(lambda: is_direct(made.near), "direct again at home")


@pytest.mark.skipif(KERNEL < (6, 7), reason="before Linux 6.7 the kernel does not count what "
                    "bpf_redirect_peer hands over")
def test_what_bond0_receives_while_away_is_counted_and_captured(pair):
    """It is handed over without a crossing of the pair."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    other = made.lab.namespace("c")
    with moved_away(made, other):
        other.wait_ping("10.0.0.2")
        wait_for(lambda: made.near.pinned("table")["flags"] & REDIRECT_PEER, "bondd to allow it")
        crossed = made.near.sent("xb-bond0")["packets"]
        received = other.received("bond0")["packets"]
        with Capture(other, "bond0") as above:
            assert Stream(made.far, other, to="10.0.0.1", count=1000,
                          flows=20).finish()["lost"] == 0
            assert len([frame for frame in above.frames(0.1) if frame.numbers()]) == 1000
        assert other.received("bond0")["packets"] >= received + 1000
        assert made.near.sent("xb-bond0")["packets"] < crossed + 100
    made.near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
def test_an_ingress_qdisc_in_the_place_of_clsact(pair, hook):
    """It would run what is meant for egress at ingress, and send back what bond0 receives."""
    made = pair("balance-xor", links=2, path="direct")
    wait_for(lambda: is_direct(made.near), "direct")
    made.near.stop_bondd()
    made.near.run("tc", "qdisc", "del", "dev", "bond0", "clsact")
    made.near.run("tc", "qdisc", "add", "dev", "bond0", "ingress")
    made.near.start_bondd()
    wait_for(lambda: "ingress qdisc on bond0" in made.near.log(), "bondd to say so")
    made.near.wait_ping("10.0.0.2")
    assert Stream(made.far, made.near, to="10.0.0.1", count=1000, flows=20).finish()["lost"] == 0
    made.near.run("tc", "qdisc", "del", "dev", "bond0", "ingress")
    wait_for(lambda: is_direct(made.near), "direct again")


GROUP, LATER = "01:00:5e:01:02:03", "33:33:00:00:77:77"


def test_slaves_join_the_groups_of_the_bond(pair):
    """For NICs that ignore allmulti; as before when they are released."""
    made = pair("balance-xor", links=2)
    host = made.near
    host.ctl("del-slave", "bond0", "l1")
    before = groups(host, "l1")
    host.ip("maddr", "add", GROUP, "dev", "bond0")
    wait_for(lambda: GROUP in groups(host, "l0"), "l0 to join")
    host.ctl("add-slave", "bond0", "l1")
    assert groups(host, "bond0") <= groups(host, "l1") & groups(host, "l0")
    host.kill_bondd()
    host.ip("maddr", "add", LATER, "dev", "bond0")
    host.start_bondd()
    wait_for(lambda: all({GROUP, LATER} <= groups(host, link) for link in ("l0", "l1")),
             "both groups on both")
    host.ip("maddr", "del", LATER, "dev", "bond0")
    wait_for(lambda: not any(LATER in groups(host, link) for link in ("l0", "l1")),
             "them to leave one")
    assert all(GROUP in groups(host, link) for link in ("l0", "l1"))
    host.ctl("del-slave", "bond0", "l1")
    assert groups(host, "l1") == before


def test_groups_leave_the_slaves_of_a_bond_that_was_deleted_while_bondd_was_dead(lone):
    host = lone(links=2)
    host.make_bond(host.links, "mode", "balance-xor")
    host.ip("maddr", "add", GROUP, "dev", "bond0")
    wait_for(lambda: GROUP in groups(host, "l0"), "l0 to listen, too")
    host.kill_bondd()
    host.ip("link", "del", "bond0")
    host.start_bondd()
    assert GROUP not in groups(host, "l0")



HOST, BROADCAST, OTHERHOST = 0, 1, 3  # PACKET_HOST, ...
STRANGER = bytes.fromhex("020000000098")


def judged(receiver, host, to):
    """Whom bond0 takes a frame from the host to be for. Some may be lost while bondd follows bond0
    into another namespace.
    """
    def received():
        send_frames(host, "l0", [(to + STRANGER + b"\x88\xb5").ljust(100, b"\0")])
        try:
            frame, address = receiver.recvfrom(2000)
        except TimeoutError:
            return None
        return (address[2],) if frame[:6] == to else None
    return wait_for(received, f"a frame to {to.hex()}")[0]


@pytest.mark.parametrize("mac_policy", ["set", "filter"])
def test_whom_a_packet_is_for_is_judged_while_away(pair, mac_policy):
    """As bond0 sees it, however it comes there: a container that forwards must not send on what is
    for others.
    """
    made = pair("balance-xor", links=2, mac_policy=mac_policy)
    other = made.lab.namespace("c")
    with moved_away(made, other):
        mac = mac_bytes(other.link("bond0")["address"])
        other.wait_ping("10.0.0.2")
        with other.inside():
            receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5))
            receiver.bind(("bond0", 0x88B5))
        with receiver:
            receiver.settimeout(0.5)
            for to, wanted in ((mac, HOST), (b"\xff" * 6, BROADCAST),
                               (bytes.fromhex("020000000099"), OTHERHOST)):
                assert judged(receiver, made.far, to) == wanted


@pytest.mark.parametrize("place", ["home", "away"])
def test_an_xdp_filter_on_bond0_is_met(pair, path, place):
    """Ways that would go round it are not taken."""
    made = pair("balance-xor", links=2, path=path, device="veth")
    other, program = made.lab.namespace("c"), made.near.bpf_dir / "discard"
    run("bpftool", "prog", "load", BUILD / "tools/discard.bpf.o", program)
    with moved_away(made, other) if place == "away" else contextlib.nullcontext():
        owner = other if place == "away" else made.near
        owner.wait_ping("10.0.0.2")
        owner.run("bpftool", "net", "attach", "xdpdrv", "pinned", program, "dev", "bond0")
        owner.wait_no_ping("10.0.0.2")
        owner.run("bpftool", "net", "detach", "xdpdrv", "dev", "bond0")
        owner.wait_ping("10.0.0.2")
    program.unlink()


def test_failover_and_restart_while_away(pair):
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    other = made.lab.namespace("c")
    with moved_away(made, other):
        other.wait_ping("10.0.0.2")
        made.far.ip("link", "set", made.near.show()["active_slave"], "down")
        other.wait_ping("10.0.0.2")
        # Until the kernel has opened it, only a bondd can have frames go around the port side.
        made.near.wait_port_side()
        made.near.kill_bondd()
        assert other.ping("10.0.0.2")
        made.near.start_bondd()
        other.wait_ping("10.0.0.2")
        assert made.near.slave_names() == made.links
    made.near.wait_ping("10.0.0.2")


def test_direct_away_while_bondd_is_dead(pair):
    """Nobody forces counted then: the program itself must not send to a stranger's ifindex."""
    made = pair("balance-xor", links=2, path="direct")
    other = made.lab.namespace("c")
    stranger = made.near.link("l0")["ifindex"]
    other.ip("link", "add", "trap", "index", stranger, "type", "veth", "peer", "name", "trap2")
    other.ip("link", "set", "trap", "up")
    other.ip("link", "set", "trap2", "up")
    made.near.kill_bondd()
    with moved_away(made, other):
        other.wait_ping("10.0.0.2")
        before = other.received("trap2")["packets"]
        send_packets(other, count=200, flows=10)
        assert other.received("trap2")["packets"] - before < 20
        made.near.start_bondd()
        other.wait_ping("10.0.0.2")
    made.near.wait_ping("10.0.0.2")


# IPv6, multicast, MTU, offloads, priority

def test_ipv6_neighbours_are_found(pair, path):
    made = pair("balance-xor", links=2, path=path)
    for host in (made.near, made.far):
        host.ip("-6", "neigh", "flush", "dev", "bond0")
    made.near.wait_ping("fd00::2")
    made.far.wait_ping("fd00::1")
    neighbour = made.near.ip("-6", "neigh", "show", "fd00::2", "dev", "bond0")
    assert made.far.link("bond0")["address"] in neighbour


def test_slaves_have_no_ipv6_addresses(pair):
    made = pair("balance-xor", links=2)
    for link in made.links:
        assert made.near.ip("-6", "addr", "show", "dev", link) == ""


def join(host, group, dev):
    with host.inside():
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        index = socket.if_nametoindex(dev)
    receiver.bind(("", 9100))
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                        struct.pack("4s4si", socket.inet_aton(group), b"\0" * 4, index))
    receiver.settimeout(3)
    return receiver


def test_multicast(pair, path):
    made = pair("balance-xor", links=2, path=path)
    with join(made.far, "239.1.2.3", "bond0") as receiver:
        with made.near.inside():
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with sender:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                              socket.inet_aton("10.0.0.1"))
            sender.sendto(b"to all", ("239.1.2.3", 9100))
        assert receiver.recv(100) == b"to all"


def test_slaves_take_all_multicast(pair):
    """The bond's groups must pass the filters of real NICs, also after bondd's death."""
    made = pair("balance-xor", links=2)
    made.near.kill_bondd()
    for link in made.links:
        found = made.near.link(link)
        assert found.get("allmulti", 0) > 0 or "ALLMULTI" in found["flags"]


@pytest.mark.parametrize("mtu", [9000, 1280])
def test_mtu(pair, path, mtu):
    made = pair("balance-xor", links=2, path=path)
    for host in (made.near, made.far):
        host.ip("link", "set", "bond0", "mtu", mtu)
        wait_for(lambda: all(host.link(link)["mtu"] == mtu for link in made.links),
                 "slaves to follow the MTU")
        wait_for(lambda: host.show()["mtu"] == mtu, "show to follow the MTU")
    made.near.wait_ping("10.0.0.2", size=mtu - 28)
    made.near.wait_ping("fd00::2", size=mtu - 48)
    assert not made.near.ping("10.0.0.2", size=mtu - 27, timeout=0.3)


def test_the_mtu_of_the_port_side_is_put_back(pair):
    """A veth drops what is longer than its other end's."""
    made = pair("balance-xor", links=2, device="veth")
    for host in (made.near, made.far):
        host.ip("link", "set", "bond0", "mtu", 9000)
        wait_for(lambda: all(host.link(link)["mtu"] == 9000 for link in made.links),
                 "slaves to follow the MTU")
    made.near.wait_ping("10.0.0.2", size=8900)
    made.near.ip("link", "set", "xb-bond0", "mtu", 1500)
    made.near.wait_ping("10.0.0.2", size=8900)
    assert "bond0: MTU of xb-bond0 is put back to 65535" in made.near.log()


@pytest.mark.parametrize("tso", ["on", "off"])
def test_tcp_with_and_without_tso_of_slaves(pair, path, tso):
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", path=path)
    for host in (made.near, made.far):
        for link in made.links:
            host.run("ethtool", "-K", link, "tso", tso, "gso", tso, "tx", tso)
    server = Iperf(made.far)
    result = server.run(made.near, "10.0.0.2", "-t", 1, "-P", 4)
    assert result["end"]["sum_received"]["bytes"] > 5e6
    shown = made.far.run("nstat", "-asz", "TcpInCsumErrors", "UdpInCsumErrors").stdout
    counters = dict(line.split()[:2] for line in shown.splitlines()[1:])
    assert counters == {"TcpInCsumErrors": "0", "UdpInCsumErrors": "0"}


REDIRECT_PEER = 128  # XBOND_F_REDIRECT_PEER
PRIORITIES = [1, 6, 7, 300, 0xffff]


def test_socket_priority_reaches_the_slave(pair, path):
    """A program at the slave's egress counts packets by skb->priority."""
    made = pair("active-backup", links=1, path=path)
    seen = count(made.near, "l0", "priority")
    for priority in PRIORITIES:
        before = counted(seen).get(priority, 0)
        send_packets(made.near, count=100, priority=priority)
        assert counted(seen).get(priority, 0) - before >= 100, f"priority {priority} was lost"
