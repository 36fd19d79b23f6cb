# SPDX-License-Identifier: GPL-2.0-or-later
"""AF_XDP sockets on a bond (libxbond-xsk): frames leave by the slaves that the bond chooses, and
follow it without loss when slaves are cut, added, removed and drained, with bondd and without.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest

from built import ROOT
from clock import Clock
from frames import mac_bytes
from lab import BUILD, is_team
from namespace import KERNEL, PATIENCE, end
from policies import tagged
from test_xsk_threads import udp_frame
from traffic import PORT, Capture, Stream, Tally, send_frames
from waiting import wait_for
from xsk_echo import Echo

FLOWS = 64


def library():
    return ctypes.CDLL(str(BUILD / "libxbond-xsk.so.0"))


class Sender:
    """build/tools/xskseq on near's bond0, until finish()."""

    def __init__(self, made, rate=20000, count=0, flows=FLOWS, before=()):
        self.made, self.tally = made, Tally(made.far, made.links)
        near, far = (host.link("bond0")["address"] for host in (made.near, made.far))
        self.child = made.near.spawn(
            *before, BUILD / "tools/xskseq", made.near.bpf_dir / "bond0", near, far, rate, count,
            flows, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready = self.child.stderr.readline()
        assert ready == "ready\n", ready

    def arrived(self, links=None):
        return {link: self.made.far.received(link)["packets"]
                for link in links or self.made.links}

    def flow_on(self, *links):
        """Until there are more frames on each of these links, and many on all."""
        before = self.arrived()
        wait_for(lambda: all(now - before[link] > 200 for link, now in self.arrived(links).items()),
                 f"frames on {links}")

    def finish(self):
        """What it counts, and that all of it arrived; the bond has counted it, too."""
        self.child.send_signal(signal.SIGTERM)
        counts = json.loads(self.child.communicate(timeout=60 * PATIENCE)[0])
        assert self.child.returncode == 0
        assert self.tally.finish() == counts["made"] == counts["sent"], counts
        assert not counts["lost"] and not counts["no_slave"] and not counts["full"], counts
        shown = self.made.near.show()
        assert [shown[f"afxdp_tx_{what}"] for what in ("packets", "bytes")] == \
            [counts["sent"], counts["sent_bytes"]]
        assert shown["tx_packets"] >= counts["sent"] and shown["tx_bytes"] >= counts["sent_bytes"]
        return counts


@pytest.fixture(name="made")
def _made(pair):
    return pair("balance-xor", links=3, xmit_hash_policy="layer3+4")


def idle(made, link, other):
    """Until nothing comes by this link while much comes by the other."""
    def quiet():
        before, now = (made.far.received(each)["packets"] for each in (link, other))
        wait_for(lambda: made.far.received(other)["packets"] > now + 400, "frames elsewhere")
        return made.far.received(link)["packets"] - before < 5
    wait_for(quiet, f"{link} to be idle")


@pytest.mark.parametrize("rate, cuts", [(20000, 6),
                                        pytest.param(100000, 20, marks=pytest.mark.soak)])
@pytest.mark.parametrize("state", ["alive", "dead", "stopped"])
def test_links_are_cut_under_traffic(made, state, rate, cuts):
    """Nothing is lost, and the links are used again when they are back."""
    sender = Sender(made, rate)
    sender.flow_on(*made.links)
    if state == "dead":
        made.near.kill_bondd()
    elif state == "stopped":
        made.near.freeze_bondd()
    for number in range(cuts):
        link = made.links[number % 2]
        others = [each for each in made.links if each != link]
        made.far.ip("link", "set", link, "down")
        sender.flow_on(*others)
        made.far.ip("link", "set", link, "up")
        sender.flow_on(*made.links)
    counts = sender.finish()
    assert counts["opened"] == 3
    if state != "alive":
        assert counts["sent_again"] >= cuts


def test_a_slave_that_is_set_down(made):
    """Its ring still has frames. They leave by another slave, and not later, too."""
    made.near.kill_bondd()
    sender = Sender(made)
    sender.flow_on(*made.links)
    made.near.ip("link", "set", "l0", "down")
    sender.flow_on("l1", "l2")
    made.near.ip("link", "set", "l0", "up")
    sender.flow_on(*made.links)
    assert sender.finish()["opened"] in (3, 4)  # 3: it lost its carrier first


def test_who_looks_at_carriers(made, tmp_path):
    """A program with zero copy does so each millisecond, and bondctl while bondd is away. They must
    not write bondd's words.
    """
    def words():
        return [near.pinned("wake")[name] for name in ("up", "lost")]

    near, context = made.near, bytearray(192)
    made.near.freeze_bondd()
    made.far.ip("link", "set", "l1", "down")
    before = words()
    context[48] = 1  # cb[0]
    (tmp_path / "frame").write_bytes(bytes(64))
    (tmp_path / "context").write_bytes(context)
    done = near.run("bpftool", "-j", "prog", "run", "pinned", near.bpf_dir / "bond0/prog_look",
                    "data_in", tmp_path / "frame", "ctx_in", tmp_path / "context", "ctx_out",
                    tmp_path / "answer")
    if KERNEL < (6, 2):
        assert json.loads(done.stdout)["retval"] == 0
        return
    assert json.loads(done.stdout)["retval"] == 2
    lost, up = struct.unpack_from("=2Q", (tmp_path / "answer").read_bytes(), 48)
    assert lost == (1 << 64) - 1 & ~0b101 and up == 0b101  # lost: slots without a slave, too
    wait_for(lambda: near.slave("l1")["mii_status"] == "down", "bondctl to look")
    assert words() == before and not before[1] & 1 << 1


def wait_refused(near, *links):
    refused = {link: near.sent(link)["dropped"] for link in links}
    wait_for(lambda: all(near.sent(link)["dropped"] > count for link, count in refused.items()),
             "frames that every slave refuses")


@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "broadcast", "balance-tlb"])
def test_other_modes(pair, mode):
    made = pair(mode, links=2, far={"mode": "broadcast"})
    if mode == "balance-tlb":
        made.near.ctl("set", "bond0", "xmit_hash_policy", "layer3+4", "tlb_dynamic_lb", 0)
    sender = Sender(made, rate=5000)
    sender.flow_on("l0" if mode == "active-backup" else made.links[-1])
    made.far.ip("link", "set", "l0", "down")
    sender.flow_on("l1")
    if mode != "broadcast":
        sender.finish()
        return
    made.far.ip("link", "set", "l0", "up")
    made.near.wait_slaves(*made.links)
    sender.flow_on(*made.links)
    made.near.kill_bondd()
    for link in made.links:
        made.far.ip("link", "set", link, "down")
    wait_refused(made.near, *made.links)
    made.near.ip("link", "set", "l0", "down")
    wait_refused(made.near, "l1")
    sender.child.send_signal(signal.SIGTERM)
    counts = json.loads(sender.child.communicate(timeout=60 * PATIENCE)[0])
    assert counts["made"] == counts["sent"] + counts["lost"] and counts["lost"]
    assert not counts["sent_again"] and counts["sent"] < sender.tally.finish()


def test_slaves_come_and_go(made):
    near, sender = made.near, Sender(made)
    sender.flow_on(*made.links)
    near.ctl("set-slave", "bond0", "l1", "drain", "on")
    idle(made, "l1", "l0")
    near.ctl("set-slave", "bond0", "l1", "drain", "off")
    sender.flow_on(*made.links)
    near.restart_bondd()
    near.wait_slaves(*made.links)
    near.ctl("del-slave", "bond0", "l2")
    idle(made, "l2", "l0")
    near.ctl("add-slave", "bond0", "l2")
    sender.flow_on(*made.links)
    assert sender.finish()["opened"] == 4


def test_a_bond_that_is_made_anew(made):
    """Meanwhile frames are dropped, and counted."""
    near, sender = made.near, Sender(made)
    sender.flow_on(*made.links)
    near.ctl("delete", "bond0")
    near.make_bond(["l2"], "mode", "active-backup")
    sender.flow_on("l2")
    idle(made, "l0", "l2")
    sender.child.send_signal(signal.SIGTERM)
    counts = json.loads(sender.child.communicate(timeout=60 * PATIENCE)[0])
    assert counts["made"] == counts["sent"] + counts["no_slave"] and counts["no_slave"]
    assert counts["opened"] == 4 and not counts["lost"]


def test_what_cannot_be_opened(made, tmp_path):
    near, sender = made.near, Sender(made)

    def refuses(bond, words):
        done = near.run(BUILD / "tools/xskseq", bond, "02:00:00:00:00:01", "02:00:00:00:00:02", 1,
                        1, 1, check=False)
        assert done.returncode == 1 and words in done.stderr, done.stderr
    refuses(tmp_path / "bond9", "no such bond")
    refuses(near.bpf_dir / "bond0", "cannot use l0, queue 0: somebody has the queue")
    sender.flow_on(*made.links)
    sender.finish()
    (near.bpf_dir / "bond0/afxdp").unlink()
    refuses(near.bpf_dir / "bond0", "has no map afxdp: its bondd is of an earlier version")


def with_only(capabilities):
    """The words in front of a command that is to have no other privileges."""
    these = ",".join(["-all", *(f"+{each}" for each in capabilities)])
    return ["prlimit", "--memlock=65536", "setpriv", "--reuid", "65534", "--regid", "65534",
            "--clear-groups", f"--inh-caps={these}", f"--ambient-caps={these}"]


SENDS = {"net_raw": "cannot use l0, queue 0: CAP_NET_RAW is missing",
         "dac_override": "that takes the group xbond-xsk", "ipc_lock": "RLIMIT_MEMLOCK"}
RECEIVES = dict.fromkeys(("bpf", "net_admin", "perfmon"), "cannot use l0, queue 0: ")


def test_what_a_sender_may_not_lack(made):
    """As docs/developers/xsk.md has it."""
    frames = ("02:00:00:00:00:01", "02:00:00:00:00:02", 1, 1, 1)

    def send(capabilities):
        return made.near.run(*with_only(capabilities), BUILD / "tools/xskseq",
                             made.near.bpf_dir / "bond0", *frames, check=False)
    assert not send(SENDS).returncode
    for lacking, words in SENDS.items():
        done = send(set(SENDS) - {lacking})
        assert done.returncode == 1 and words in done.stderr, (lacking, done.stderr)


def test_what_a_receiver_may_not_lack(made):
    needed = {**SENDS, **RECEIVES}
    for lacking, words in needed.items():
        done = made.near.run(*with_only(set(needed) - {lacking}), BUILD / "tools/echo",
                             made.near.bpf_dir / "bond0", Echo.PORT, check=False)
        assert done.returncode == 1 and words in done.stderr, (lacking, done.stderr)
    echo = Echo(made.near, made.far, before=with_only(needed))
    echo.wait_answers()
    echo.talk()
    echo.close()


def echo_on(made):
    echo = Echo(made.near, made.far)
    echo.wait_answers()
    return echo


def test_an_echo(made):
    """What is for the port comes back, although links are cut; all else goes to the bond."""
    echo = echo_on(made)
    echo.talk()
    made.near.wait_ping("10.0.0.2")
    made.near.kill_bondd()
    for link in ("l0", "l1"):
        made.far.ip("link", "set", link, "down")
        echo.talk()
        made.far.ip("link", "set", link, "up")
        made.far.wait_slaves(*made.links)
        echo.talk()
    made.near.wait_ping("10.0.0.2")
    made.near.start_bondd()
    made.near.wait_slaves(*made.links)
    made.near.ctl("del-slave", "bond0", "l2")
    wait_for(lambda: "xdp" not in made.near.link("l2"), "the filter to leave the slave")
    made.near.ctl("add-slave", "bond0", "l2")
    wait_for(lambda: echo.filters() == made.links, "the filter on the slave")
    made.far.wait_slaves(*made.links)
    echo.talk()
    echo.close()


@pytest.mark.parametrize("state", ["alive", "stopped"])
def test_an_echo_on_a_slave_that_was_away(made, state):
    """It has its ifindex again, but the kernel has forgotten its sockets. The echo does not notice
    by sending, because it hears nothing.
    """
    if is_team() and state == "alive":
        pytest.skip("a team has let go of it, so bondd releases it")
    def heard():
        send_frames(made.far, "l0", [udp_frame(mac, 20000)])
        return near.pinned("afxdp")["slot"][0]["rx_packets"]

    near, elsewhere, echo = made.near, made.lab.namespace("elsewhere"), echo_on(made)
    mac = near.link("bond0")["address"]
    near.freeze_bondd()
    near.ip("link", "set", "l0", "netns", elsewhere.name)
    elsewhere.ip("link", "set", "l0", "netns", near.name)
    if state == "alive":
        near.thaw_bondd()
        near.wait_slaves(*made.links)
    near.ip("link", "set", "l0", "up")
    before = heard()
    wait_for(lambda: heard() > before + 1, "the echo to hear by it")
    echo.close()


def test_an_echo_that_is_killed(made):
    """What was for it goes to the bond then, and another one can take its place. What was counted
    stays, also when the slaves leave.
    """
    def counted():
        shown = made.near.show()
        return [shown[f"afxdp_{which}"] for which in
                ("tx_packets", "tx_bytes", "rx_packets", "rx_bytes")]

    echo = echo_on(made)
    echo.talk()
    echo.child.kill()
    echo.child.wait()
    before = counted()
    assert before[0] >= 20 * len(echo.sockets) and before[:2] == before[2:]
    assert sum(slave["afxdp_rx_bytes"] for slave in made.near.show()["slaves"]) == before[3]
    with made.near.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stack:
        stack.bind(("10.0.0.1", Echo.PORT))
        stack.settimeout(10 * PATIENCE)
        for each in echo.sockets:
            each.send(b"hello")
        assert {stack.recv(100) for _ in echo.sockets} == {b"hello"}
    made.near.wait_ping("10.0.0.2")
    made.near.restart_bondd(kill=True)
    made.near.wait_slaves(*made.links)
    made.near.ctl("del-slave", "bond0", "l0")
    made.near.ctl("add-slave", "bond0", "l0")
    assert counted() == before
    assert made.near.slave("l0")["afxdp_rx_packets"] == 0
    made.far.wait_slaves(*made.links)
    echo_on(made).talk()
    assert min(now - then for now, then in zip(counted(), before)) >= 20 * len(echo.sockets)


def test_rebalancing(pair):
    """Flows of the stack leave the slave by which a program sends."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    stream = Stream(made.near, made.far, flows=10, rate=4000, size=500, port=PORT + 1)
    sender = Sender(made, rate=30000, flows=1)
    made.near.ctl("set", "bond0", "rebalance_idle", 0, "rebalance_interval", 1)

    def is_even():
        before = [made.far.received(link)["bytes"] for link in made.links]
        stream.flow_on(1000)
        sent = [made.far.received(link)["bytes"] - old for link, old in zip(made.links, before)]
        return max(sent) < 0.56 * sum(sent)
    wait_for(is_even, "both links to carry the same", 30)
    now = made.near.ctl_json("top", "--once", "bond0")
    assert now["tx_bits_per_s"] > now["afxdp_tx_bits_per_s"] > 10**6
    sender.finish()
    stream.finish()


def listener(host, address, port=Echo.PORT):
    with host.inside():
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((address, port))
    made.settimeout(10 * PATIENCE)
    return made


def test_a_machine_behind_a_bridge(made):
    """It gets what is for the echo's port, too, if it has its address."""
    near, machine = made.near, made.lab.namespace("m")
    near.ip_batch("link add br0 type bridge", "link set br0 address 02:00:00:00:00:b0 up",
                  f"link add m0 type veth peer name eth0 netns {machine.name}",
                  "link set m0 master br0 up")
    machine.ip("link", "set", "eth0", "up")
    machine.ip("addr", "add", "10.0.0.9/24", "dev", "eth0")
    echo = echo_on(made)
    made.far.ip("neigh", "replace", "10.0.0.1", "lladdr", near.link("bond0")["address"],
                "dev", "bond0")
    near.ip("link", "set", "bond0", "master", "br0")
    machine.wait_ping("10.0.0.2")
    with listener(machine, "10.0.0.9") as behind:
        for number, each in enumerate(echo.sockets):
            each.sendto(b"%d" % number, ("10.0.0.9", Echo.PORT))
        assert {int(behind.recv(100)) for _ in echo.sockets} == set(range(len(echo.sockets)))
    echo.talk()
    echo.close()


@pytest.mark.parametrize("state", ["alive", "dead", "restarted"])
def test_an_echo_on_a_bond_with_another_address(made, state):
    """The filter goes by the address that bond0 has now, at once; what has the old one passes.
    Before Linux 6.2 it learns the address from bondd.
    """
    if state == "dead" and KERNEL < (6, 2):
        pytest.skip("this kernel's programs do not see the address of bond0")
    near, echo = made.near, echo_on(made)
    old, new = near.link("bond0")["address"], "02:00:00:00:12:34"
    if state != "alive":
        near.kill_bondd()
    near.ip("link", "set", "bond0", "address", new)
    made.far.ip("neigh", "replace", "10.0.0.1", "lladdr", new, "dev", "bond0")
    if state != "restarted" or KERNEL >= (6, 2):
        echo.talk(2)
    if state == "restarted":
        near.start_bondd()
        near.wait_slaves(*made.links)
        echo.talk(2)
    if state != "dead":
        wait_for(lambda: near.pinned("alb")["bond_mac"] ==
                 int.from_bytes(mac_bytes(new), "little"), "bondd to write the address")
    near.ip("link", "add", "other", "link", "bond0", "address", old, "type", "macvlan")
    near.ip("addr", "add", "10.0.0.3/32", "dev", "other")
    near.ip("link", "set", "other", "up")
    made.far.ip("neigh", "replace", "10.0.0.3", "lladdr", old, "dev", "bond0")
    with listener(near, "10.0.0.3") as stack:
        for each in echo.sockets:
            each.sendto(b"old", ("10.0.0.3", Echo.PORT))
        assert {stack.recv(100) for _ in echo.sockets} == {b"old"}
    echo.close()


def answers_by(capture):
    """Sources of what an echo has sent to the ports of udp_frame()."""
    return [frame.src for frame in capture.frames() if frame.type == 0x0800 and
            struct.unpack_from("!H", frame.data, 36)[0] in range(20000, 20000 + FLOWS)]


def test_an_echo_of_balance_alb(pair):
    """It gets what is for a slave's own address as if it were for bond0's, so its answer has the
    address of the slave by which it leaves, and misleads no switch.
    """
    made = pair("balance-alb", links=2, far={"mode": "broadcast"})
    near, far, found = made.near, made.far, {link: [] for link in made.links}
    near.ctl("set", "bond0", "xmit_hash_policy", "layer3+4", "tlb_dynamic_lb", 0)
    macs = {link: near.link(link)["address"] for link in made.links}
    echo = echo_on(made)
    captures = {link: Capture(far, link) for link in made.links}
    for link in made.links:
        send_frames(far, link, [udp_frame(macs[link], 20000 + flow) for flow in range(FLOWS)])
    wait_for(lambda: sum(found[link].extend(answers_by(capture)) or len(found[link])
                         for link, capture in captures.items()) == 2 * FLOWS,
             lambda: f"all answers: {found}")
    assert {link: set(sources) for link, sources in found.items()} == \
        {link: {mac} for link, mac in macs.items()}
    for capture in captures.values():
        capture.close()
    echo.close()


COUNTS = ("sent", "sent_bytes", "no_slave", "full", "sent_again", "lost")


class Frame(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_uint32), ("slot", ctypes.c_uint32)]


class Handle:
    """A handle of this process on a host's bond0. Calls are made inside() the host."""

    def __init__(self, host, queues=0, port=0):
        self.library, self.handle = library(), ctypes.c_void_p()
        why = ctypes.create_string_buffer(256)
        options = struct.pack("@6IH50xP", 88, 0, 0, 0, queues, 0, port, 0)
        assert self.library.xbond_xsk_open(ctypes.byref(self.handle),
                                           bytes(host.bpf_dir / "bond0"), options, why) == 0, \
            why.value

    def send(self, *frames):
        """Returns how many went to a slave."""
        taken = (Frame * len(frames))()
        assert self.library.xbond_xsk_take(self.handle, taken, len(frames)) == len(frames)
        for each, data in zip(taken, frames):
            ctypes.memmove(each.data, data, len(data))
            each.length = len(data)
        return self.library.xbond_xsk_send(self.handle, taken, len(frames))

    def receive(self, most=1):
        """Returns what the frames have in them."""
        taken = (Frame * most)()
        count = self.library.xbond_xsk_receive(self.handle, taken, most)
        found = [ctypes.string_at(each.data, each.length) for each in taken[:count]]
        self.library.xbond_xsk_release(self.handle, taken, count)
        return found

    def counts(self, *names):
        found = (ctypes.c_uint64 * len(COUNTS))()
        self.library.xbond_xsk_counts(self.handle, found, ctypes.sizeof(found))
        return [found[COUNTS.index(name)] for name in names]

    def close(self):
        self.library.xbond_xsk_close(self.handle)


def test_frames_without_a_header(made):
    """They are dropped, and the slaves go on."""
    frame = udp_frame("02:00:00:00:00:44", 20000)
    with made.near.inside():
        handle = Handle(made.near)
        for _ in range(40):
            assert handle.send(*[frame[:length] for length in (0, 1, 13)] * 20) == 0
        assert sum(handle.send(*[frame] * 64) for _ in range(40)) == 40 * 64
        handle.close()


@pytest.mark.parametrize("mode", ["active-backup", "broadcast"])
def test_frames_that_are_too_long(pair, mode):
    """A veth refuses them. They are lost; others leave once, by the slave that is theirs."""
    made = pair(mode, links=2, far={"mode": "broadcast"})
    frames = [udp_frame("02:00:00:00:00:44", 20000 + flow) for flow in range(FLOWS)]
    wires = [Capture(made.far, link) for link in made.links]
    with made.near.inside():
        handle = Handle(made.near)
        handle.send(*frames[:20], frames[0] + bytes(1900), *frames[20:40])
        handle.send(frames[0] + bytes(1900))
        handle.send(*frames[40:])
        sent, lost = handle.counts("sent", "lost")
        handle.close()
    assert lost in (1, 2) if mode == "broadcast" else lost == 2
    assert sent == len(frames) + 2 - lost
    for wire, count in zip(wires, [1, int(mode == "broadcast")]):
        ports = [struct.unpack_from("!H", each.data, 34)[0] for each in wire.frames(1)
                 if each.dst == "02:00:00:00:00:44"]
        assert sorted(ports) == count * list(range(20000, 20000 + FLOWS)), ports
        wire.close()


def test_a_process_that_forks(made):
    """The child has the handle, too, as after daemon(3)."""
    frame = udp_frame("02:00:00:00:00:44", 20000)
    with Capture(made.far, "l0") as first, Capture(made.far, "l1") as second, \
            Capture(made.far, "l2") as third, made.near.inside():
        handle = Handle(made.near)
        child = os.fork()
        if not child:
            os._exit(handle.send(frame) != 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        wait_for(lambda: any(found.dst == "02:00:00:00:00:44"
                             for wire in (first, second, third) for found in wire.frames()),
                 "what the child has written")
        handle.close()


def test_a_child_that_lives_on(made):
    """It has the descriptors, too. When its parent closes the handle, packets are the bond's."""
    with made.near.inside():
        handle = Handle(made.near, queues=2, port=Echo.PORT)
    child = os.fork()
    if not child:
        signal.pause()
    assert all("xdp" in made.near.link(link) for link in made.links)
    handle.close()
    left = [link for link in made.links if "xdp" in made.near.link(link)]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert not left


def test_a_slave_that_has_no_room(lab):
    """What the kernel does not take at once leaves later, and by another slave after a cut."""
    near, far = lab.host("a"), lab.host("b")
    lab.links(near, far, 2)
    near.ip("link", "set", "l0", "up")
    near.ip("link", "add", "slow", "link", "l0", "address", "02:00:00:00:00:55", "type", "macvlan")
    tbf = ("dev", "l0", "root", "tbf", "burst", "5k", "limit", "10m", "rate")
    near.run("tc", "qdisc", "add", *tbf, "1mbit")
    far.ip_batch("link set l0 up", "link set l1 up")
    near.make_bond(["slow", "l1"], "mode", "active-backup")
    frame = udp_frame("02:00:00:00:00:44", 20000) + bytes(800)

    def wait_received(link, count):
        wait_for(lambda: handle.receive() or far.received(link)["packets"] >= count,
                 "the frames")
    with near.inside():
        handle = Handle(near)
        before = far.received("l0")["packets"]
        assert sum(handle.send(*[frame] * 50) for _ in range(5)) == 250
        wait_received("l0", before + 250)
        near.run("tc", "qdisc", "change", *tbf, "100kbit")
        before = far.received("l1")["packets"]
        assert sum(handle.send(*[frame] * 50) for _ in range(10)) == 500
        near.ip("link", "set", "slow", "down")
        wait_received("l1", before + 100)
        handle.close()


def test_no_queue_is_first(pair):
    """A queue with many frames does not keep the others away."""
    made, ports = pair("balance-xor", links=1), []
    mac = made.near.link("bond0")["address"]
    with made.near.inside():
        handle = Handle(made.near, queues=2, port=Echo.PORT)
        send_frames(made.far, "l0", [udp_frame(mac, 20000 + flow) for flow in range(FLOWS)])

        def all_received():
            while (found := handle.receive()):
                ports.append(struct.unpack_from("!H", found[0], 34)[0])
            return len(ports) == FLOWS
        wait_for(all_received, "the frames")
        handle.close()
    assert sum(now < before for before, now in zip(ports, ports[1:])) > 4, ports


def test_all_slaves_are_cut(pair, tmp_path):
    """Without bondd, one that is back is used although the active slave is not. A second of the
    sender's is 100 of the test's, so it never waits for as long as the library's looks are apart.
    """
    made = pair("active-backup", links=2)
    sender = Sender(made, 100000, before=Clock(tmp_path, 0.01).command())
    sender.flow_on("l0")
    made.near.kill_bondd()
    for link in made.links:
        made.far.ip("link", "set", link, "down")
    wait_refused(made.near, "l0")
    made.far.ip("link", "set", "l1", "up")
    sender.flow_on("l1")
    end(sender.child)


def test_many_sockets(pair):
    """The last of them, too, have frames to receive into."""
    made = pair("active-backup", links=8)
    made.near.ctl("set", "bond0", "active_slave", "l7")
    held, mac = Held(made, 1024), made.near.link("bond0")["address"]
    send_frames(made.far, "l7", [udp_frame(mac, 20000 + flow) for flow in range(FLOWS)])
    wait_for(lambda: held.counts()["received"] == FLOWS, "the frames")
    held.close()


class Held:
    """build/tools/xskhold on near's bond0: has sockets, and receives when it is told."""

    def __init__(self, made, ring, *wanted, port=4007):
        self.made = made
        self.child = made.near.spawn(BUILD / "tools/xskhold", made.near.bpf_dir / "bond0",
                                     port, ring, *wanted, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        assert self.child.stdout.readline() == "ready\n"
        with made.far.inside():
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("10.0.0.1", Echo.PORT))

    def counts(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def close(self):
        self.socket.close()
        self.child.stdin.close()
        assert self.child.wait(10 * PATIENCE) == 0


def test_a_received_frame_that_is_made_too_long(made):
    """It is lost, and counted; the kernel never gets it."""
    held = Held(made, 256)
    for _ in range(20):
        held.socket.send(b"x")
    wait_for(lambda: held.counts()["received"] == 20, "the frames")
    counts = held.counts()
    assert counts == {"received": 20, "missed": 0, "sent": 0, "lost": 20}
    held.close()


def test_a_flood_that_nobody_receives(pair):
    """The ring fills. What does not fit is counted; others lose nothing, and LACP goes on."""
    made = pair("802.3ad", links=2, lacp_rate="fast")
    held = Held(made, 256)
    before, sent = [made.near.show(), made.far.show()], 0
    with listener(made.near, "10.0.0.1", Echo.PORT + 1) as stack, made.far.inside():
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        other.connect(("10.0.0.1", Echo.PORT + 1))
        until = time.monotonic() + 4  # more than the timeout of the fast rate
        while time.monotonic() < until:
            for _ in range(100):
                held.socket.send(b"flood")
                sent += 1
            other.send(b"%d" % sent)
            assert stack.recv(100) == b"%d" % sent
        other.close()
    for host, old in zip((made.near, made.far), before):
        assert [(each["name"], each["link_failures"]) for each in host.show()["slaves"]] == \
            [(each["name"], each["link_failures"]) for each in old["slaves"]]
        assert sorted(host.carrier_slaves("bond0")) == sorted(made.links)
    counts = held.counts()
    assert sent * 0.9 < counts["received"] + counts["missed"] <= sent  # a veth may drop some
    assert counts["missed"] > sent / 2
    assert made.near.show()["afxdp_rx_packets"] == counts["received"]
    held.socket.send(b"x")
    wait_for(lambda: held.counts()["received"] > counts["received"], "the next one")
    held.close()


def kernel_lists_sockets():
    """By xdp_diag."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as made:
        made.send(struct.pack("=IHHII" + "BBHIIII", 36, 20, 0x301, 1, 0, 44, 0, 0, 0, 1, 0, 0))
        return struct.unpack_from("=IH", made.recv(1 << 16))[1] != 2  # an error


def flood_echo(made):
    return made.far.spawn(
        BUILD / "tools/udpseq", "send", "--to", "10.0.0.1", "--port", Echo.PORT, "--count", 0,
        "--rate", 2000, stdout=subprocess.DEVNULL)


def have_one_queue(made):
    for link in made.links:
        made.far.run("ethtool", "-L", link, "tx", 1)
        made.near.run("ethtool", "-L", link, "rx", 1, "tx", 1)


def test_who_has_sockets(made):
    """show says it, and doctor that a ring is full, or that queues were left out."""
    if not kernel_lists_sockets():
        pytest.skip("this kernel does not list AF_XDP sockets")
    near, held = made.near, Held(made, 256)
    for link in made.links:
        shown = near.slave(link)["afxdp_sockets"]
        assert {(each["program"], each["pid"], each["zero_copy"]) for each in shown} == \
            {("xskhold", held.child.pid, False)}
        assert [each["queue"] for each in shown] == list(range(len(shown)))
    assert f"AF_XDP sockets of xskhold ({held.child.pid}): l0 queue 0" in near.ctl("show", "bond0")
    assert not [each for each in near.doctor("bond0") if each["check"] == "afxdp"]
    flood = flood_echo(made)
    lost = [each for each in near.doctor("bond0", seconds=2) if each["check"] == "afxdp"]
    end(flood, signal.SIGTERM)
    assert lost and all("were lost in 2 s" in each["finding"] for each in lost), lost
    held.close()
    have_one_queue(made)
    echo = echo_on(made)
    for link in made.links:
        near.run("ethtool", "-L", link, "rx", 2)

    def left_out():
        return [each["finding"] for each in near.doctor("bond0", seconds=2)
                if each["check"] == "afxdp"]
    assert not left_out(), "who receives nothing may have few queues"
    flood = flood_echo(made)
    found = left_out()
    end(flood, signal.SIGTERM)
    assert found and all("1 of 2 queues" in each for each in found), found
    end(echo.child)


def send(host, family, address, port, count=10):
    with host.inside(), socket.socket(family, socket.SOCK_DGRAM) as made:
        for _ in range(count):
            made.sendto(b"x", (address, port))


@pytest.mark.parametrize("port", [0, Echo.PORT])
@pytest.mark.parametrize("family, own, other", [(socket.AF_INET, "10.0.0.3", "10.0.0.1"),
                                                (socket.AF_INET6, "fd00::3", "fd00::1")])
def test_an_address(made, port, family, own, other):
    """All that is for it is received, or what is for a port of it; other addresses lose nothing."""
    made.near.ip("addr", "add", f"{own}/{32 if family == socket.AF_INET else 128}", "dev", "bond0",
                 *["nodad"] * (family == socket.AF_INET6))
    held = Held(made, 256, own, port=port)
    with made.near.inside(), socket.socket(family, socket.SOCK_DGRAM) as stack:
        stack.bind(("", Echo.PORT))
        stack.settimeout(10 * PATIENCE)
        send(made.far, family, own, Echo.PORT)
        send(made.far, family, other, Echo.PORT, 1)
        assert stack.recvfrom(100)[0] == b"x"
        wait_for(lambda: held.counts()["received"] >= 10, "what is for it")
        stack.settimeout(0)
        with pytest.raises(BlockingIOError):
            stack.recv(100)
    made.far.wait_ping(other)
    if port:
        made.far.wait_ping(own)
        assert held.counts()["received"] == 10
    held.close()


def test_a_packet_type(made):
    """Frames of it that are for bond0 are received; what the bond needs cannot be asked for."""
    mac, held = made.near.link("bond0")["address"], Held(made, 256, "0x88b5", port=0)
    for dest, kind in ((mac, 0x88b5), (mac, 0x88b6), ("02:00:00:00:99:99", 0x88b5), (mac, 0x88b5)):
        send_frames(made.far, "bond0", [mac_bytes(dest) + mac_bytes("02:00:00:00:00:77") +
                                        struct.pack("!H", kind) + bytes(46)])
    wait_for(lambda: held.counts()["received"] == 2, "the frames")
    made.far.wait_ping("10.0.0.1")
    assert held.counts()["received"] == 2
    held.close()
    for kind in ("0x8809", "0x0806", "0x0800", "100"):
        done = made.near.run(BUILD / "tools/xskhold", made.near.bpf_dir / "bond0", 0, 256, kind,
                             check=False)
        assert done.returncode == 1 and "is the bond's" in done.stderr, done.stderr


def test_tagged_frames(made):
    """Those whose tag is in the frame are the bond's."""
    mac, held = made.near.link("bond0")["address"], Held(made, 256)
    with Capture(made.near, "bond0") as wire:
        send_frames(made.far, "l0", [tagged(udp_frame(mac, 20000), 7), udp_frame(mac, 20000)])
        wait_for(lambda: any(frame.vlan == 7 for frame in wire.frames()), "the tagged frame")
    wait_for(lambda: held.counts()["received"] == 1, "the other one")
    held.close()


class Pinned:
    """packaging/examples/pin.c on near's bond0, and build/tools/xskpinned with sockets for it."""

    def __init__(self, made, where):
        self.made, self.where, self.children = made, where, {}
        self.child = self.hold()

    def hold(self):
        child = self.made.near.spawn(
            BUILD / "tools/pin", self.made.near.bpf_dir / "bond0", Echo.PORT, self.where,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        return child

    def pins(self):
        return sorted(each.name for each in self.where.iterdir())

    def brings_socket(self, link):
        self.children[link] = child = self.made.near.spawn(
            BUILD / "tools/xskpinned", link, 0, self.where / link, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        return child.stdout.readline() == "ready\n"

    def bring_socket(self, link):
        """The kernel gives the queue of a process that has ended back a moment later."""
        wait_for(lambda: self.brings_socket(link), f"a socket of {link}")

    def received(self, link):
        child = self.children[link]
        child.stdin.write("\n")
        child.stdin.flush()
        return int(child.stdout.readline())


@pytest.fixture(name="pins")
def _pins(made):
    where = made.near.bpf_dir.with_name(made.near.bpf_dir.name + "-pins")
    yield where
    shutil.rmtree(where, ignore_errors=True)


def test_sockets_of_others(made, pins):
    """They are in pinned maps, as DPDK's are, and get what is for the port; without them, and after
    them, it is the bond's. Pins follow the slaves, and those of who was killed are no hindrance.
    """
    have_one_queue(made)
    near, held = made.near, Pinned(made, pins)
    assert held.pins() == made.links
    with listener(near, "10.0.0.1") as stack:
        send(made.far, socket.AF_INET, "10.0.0.1", Echo.PORT, 1)
        assert stack.recv(100) == b"x"
        for link in made.links:
            held.bring_socket(link)
        for _ in range(FLOWS):  # each has a port of its own, so each link has some
            send(made.far, socket.AF_INET, "10.0.0.1", Echo.PORT, 1)
        counts = dict.fromkeys(made.links, 0)
        wait_for(lambda: (counts.update({link: held.received(link) for link in made.links}),
                          sum(counts.values()) == FLOWS)[1], "the frames")
        assert all(counts.values()), counts
        stack.settimeout(0)
        with pytest.raises(BlockingIOError):
            stack.recv(100)
        made.near.wait_ping("10.0.0.2")
        near.ctl("del-slave", "bond0", "l2")
        wait_for(lambda: held.pins() == ["l0", "l1"] and "xdp" not in near.link("l2"),
                 "the pin to go with the slave")
        end(held.children.pop("l2"))
        near.ctl("add-slave", "bond0", "l2")
        wait_for(lambda: held.pins() == made.links, "the pin to be back")
        end(held.child, signal.SIGKILL)
        wait_for(lambda: not any("xdp" in near.link(link) for link in made.links), "no filter")
        stack.settimeout(10 * PATIENCE)
        send(made.far, socket.AF_INET, "10.0.0.1", Echo.PORT, 1)
        assert stack.recv(100) == b"x"
    assert held.pins() == made.links
    again = held.hold()
    for link in held.children:
        end(held.children[link])
        held.bring_socket(link)
    for _ in range(FLOWS):
        send(made.far, socket.AF_INET, "10.0.0.1", Echo.PORT, 1)
    wait_for(lambda: all(held.received(link) for link in held.children), "frames by new pins")
    assert end(again, signal.SIGTERM) == 0
    assert not held.pins() and not any("xdp" in near.link(link) for link in made.links)


def dpdk(*words):
    """The command of testpmd of DPDK 24.11, the first one of Debian that takes pinned maps."""
    root = subprocess.run([ROOT / "tests/vm/fetch", "trixie", "dpdk", "dpdk-dev",
                           "librte-net-af-xdp25", "librte-mempool-ring25"],
                          check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    libraries, = pathlib.Path(root).glob("usr/lib/*-linux-gnu")
    drivers, = libraries.glob("dpdk/pmds-*")
    loader, = pathlib.Path(root).glob("usr/lib*/ld-linux-*")
    return [loader, "--library-path", f"{libraries}:{drivers}", f"{root}/usr/bin/dpdk-testpmd",
            *[word for name in ("net_af_xdp", "mempool_ring")
              for word in ("-d", f"{drivers}/librte_{name}.so")], *words]


@pytest.mark.soak
def test_dpdk(made, pins, tmp_path):
    """testpmd receives all that is for the port by two slaves, and leaves the filter in place."""
    have_one_queue(made)
    near, held, log = made.near, Pinned(made, pins), tmp_path / "testpmd.log"
    devices = [word for link in ("l0", "l1") for word in
               ("--vdev", f"net_af_xdp_{link},iface={link},use_pinned_map=1,dp_path={pins / link}")]
    with open(log, "w", encoding="utf-8") as output:
        child = near.spawn(*dpdk("--no-huge", "-m", "256", "--no-pci", "--no-telemetry",
                                 "--no-shconf", *devices, "--", "--forward-mode=rxonly",
                                 "--total-num-mbufs=8192"),
                           stdin=subprocess.PIPE, stdout=output, stderr=output)
    wait_for(lambda: "Checking link statuses" in log.read_text(), "testpmd", 60)
    near.ctl("del-slave", "bond0", "l2")
    for _ in range(FLOWS):
        send(made.far, socket.AF_INET, "10.0.0.1", Echo.PORT, 20)
    near.wait_ping("10.0.0.2")
    child.communicate(b"\n", timeout=30 * PATIENCE)
    received = [int(number) for number in re.findall(r"RX-packets: (\d+)", log.read_text())]
    assert len(received) == 3 and received[2] == 20 * FLOWS and all(received), log.read_text()
    assert held.pins() == ["l0", "l1"] and "xdp" in near.link("l0")
    assert end(held.child, signal.SIGTERM) == 0


def test_a_place_that_pins_cannot_have(made, pins, tmp_path):
    """Nothing of others is removed, and the slaves keep no filter. A pin that somebody else has put
    in place of one's own stays, too.
    """
    def refused(where):
        done = made.near.run(BUILD / "tools/pin", made.near.bpf_dir / "bond0", Echo.PORT, where,
                             check=False)
        assert done.returncode == 1 and "options.pins is no directory" in done.stderr, done.stderr
        assert not any("xdp" in made.near.link(link) for link in made.links)
    (tmp_path / "l0").write_text("of others")
    refused(tmp_path)
    assert (tmp_path / "l0").read_text() == "of others"
    refused(pins / "not" / "there")
    pins.mkdir()
    made.near.run("bpftool", "map", "pin", "pinned", made.near.bpf_dir / "bond0/table", pins / "l1")
    refused(pins)
    assert [each.name for each in pins.iterdir()] == ["l1"]
    (pins / "l1").unlink()
    held = Pinned(made, pins)
    (pins / "l0").rename(pins / "mine")
    made.near.run("bpftool", "map", "create", pins / "l0", "type", "xskmap", "key", 4, "value", 4,
                  "entries", 4, "name", "of_others")
    assert end(held.child, signal.SIGTERM) == 0
    assert held.pins() == ["l0", "mine"]


@pytest.mark.parametrize("queues,port,where,why", [
    (1, 7, b"/nowhere", "options.queues"), (0, 0, b"/nowhere", "nothing that is to be received"),
    (0, 7, b"/" * 600, "too long"), (0, 7, b"/nowhere", "no such bond")])
def test_options_for_sockets_of_others(queues, port, where, why):
    text = ctypes.create_string_buffer(256)
    path = ctypes.create_string_buffer(where)
    options = struct.pack("@6IH50xP", 88, 0, 0, 0, queues, 0, port, ctypes.addressof(path))
    assert len(options) == 88
    assert library().xbond_xsk_open(ctypes.byref(ctypes.c_void_p()), b"/nowhere/bond0", options,
                                  text) < 0
    assert why in text.value.decode()


@pytest.mark.parametrize("size,more,why", [
    (88, b"", "no such bond"), (96, bytes(8), "no such bond"), (104, bytes(16), "no such bond"),
    (112, bytes(24), "no such bond"), (112, bytes(23) + b"\1", "a later version"),
    (87, b"", "options.size"), (0, b"", "options.size"), (0xffffffff, b"", "options.size")])
def test_options_of_other_versions(size, more, why):
    text = ctypes.create_string_buffer(256)
    options = struct.pack("=I84x", size) + more
    assert library().xbond_xsk_open(ctypes.byref(ctypes.c_void_p()), b"/nowhere/bond0", options,
                                  text) < 0
    assert why in text.value.decode()
