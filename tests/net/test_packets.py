"""What bondctl says of packets is what happens to them: explain --pcap, flows and capture on a bond
under traffic.
"""
import collections
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys

import schema
from frames import pcap
from clock import Clock
from namespace import run
from traffic import PORT, Capture, Stream, send_frames
from waiting import quiet_for, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bpf"))
import generate  # noqa: E402  pylint: disable=wrong-import-position

POLICIES = ("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac")
FRAMES = 400
PACKET_BLOCK, STATISTICS_BLOCK = 6, 5  # of pcapng
SLOW = b"\x01\x80\xc2\0\0\x02"


def predicted(host, frames):
    """The slave of each, by explain --pcap on standard input."""
    done = subprocess.run(host.command(*host.ctl_command("-j", "explain", "bond0", "--pcap", "-")),
                          input=pcap(frames), capture_output=True, check=True, timeout=30)
    return [packet["slave"] for packet in json.loads(done.stdout)["packets"]]


def whole(frame):
    """With the tag that the kernel has taken off, whatever its type."""
    if frame.vlan is not None:
        return frame.data[:12] + frame.vlan.to_bytes(2, "big") + frame.data[12:]
    return frame.data


def forms(frame):
    """A frame as whole() has it on a slave: behind a pair its tag is the kernel's."""
    tagged = frame[12:14] in (b"\x81\0", b"\x88\xa8")
    return {frame, frame[:12] + frame[14:]} if tagged else {frame}


def links_taken(made, frames):
    """{frame: its link}"""
    wires = {link: Capture(made.near, link, outgoing=True) for link in made.links}
    send_frames(made.near, "bond0", frames)
    asked = {form: frame for frame in frames for form in forms(frame)}
    taken = {}

    def most_came():
        for link, wire in wires.items():
            taken.update((asked[whole(each)], link) for each in wire.frames(0.05)
                         if whole(each) in asked)
        return len(taken) > len(frames) * 0.9  # the kernel takes no damaged tags
    wait_for(most_came, "the frames on the links")
    for wire in wires.values():
        wire.close()
    return taken


def test_every_packet_of_a_capture_goes_where_explain_says(pair):
    """Packets of all kinds: tags, fragments, encapsulations, damaged ones; under all policies."""
    made = pair("balance-xor", links=3)
    generator = generate.Generator(3)
    for policy in POLICIES:
        made.near.ctl("set", "bond0", "xmit_hash_policy", policy)
        frames = [generator.packet() for _ in range(FRAMES)]
        taken = links_taken(made, frames)
        said = dict(zip(frames, predicted(made.near, frames)))
        wrong = [(frame.hex(), said[frame], link) for frame, link in taken.items()
                 if said[frame] != link]
        assert not wrong, f"{policy}: {len(wrong)} of {len(taken)}; the first: {wrong[:2]}"


class Recorder:
    """bondctl capture, from when it has begun until stop()."""

    def __init__(self, host, file, *words):
        self.file = file
        self.process = host.spawn(*host.ctl_command("capture", "bond0", "-w", file, *words),
                                  stderr=subprocess.PIPE, text=True)
        wait_for(lambda: file.exists() and b" out" in file.read_bytes(), "the capture to begin")

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=20)
        assert self.process.returncode == (0 if number == signal.SIGINT else -number), said
        return said

    def blocks(self, wanted):
        """The whole blocks of this type that the file has by now."""
        content, at, found = self.file.read_bytes(), 0, []
        while at + 8 <= len(content):
            kind, size = struct.unpack_from("=II", content, at)
            if kind == wanted and at + size <= len(content):
                found.append(content[at:at + size])
            at += size
        return found

    def speak_lacp(self):
        """The interfaces with LACPDUs."""
        return {block[8] for block in self.blocks(PACKET_BLOCK) if SLOW in block}

    def packets(self, shown="frame"):
        """(interface, direction, protocols, tag, length) of each, as tshark reads them."""
        fields = ("frame.interface_name", "frame.packet_flags_direction", "frame.protocols",
                  "vlan.id", "frame.len")
        done = run("tshark", "-n", "-r", self.file, "-Y", shown, "-T", "fields",
                   *[word for field in fields for word in ("-e", field)])
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def tagged(number, vlan=5):
    """A frame of its own, with a tag."""
    return b"\x02\0\0\0\0\x09" + b"\x02\0\0\0\0" + bytes([number]) + b"\x81\0" + \
        vlan.to_bytes(2, "big") + b"\x88\xb5" + bytes([number]) * 60


def test_a_capture_has_all_packets_of_the_slaves(pair, tmp_path):
    """LACPDUs, tags that the kernel has taken off, and a slave that leaves and comes back."""
    made = pair("802.3ad", links=3, lacp_rate="fast")
    record = Recorder(made.near, tmp_path / "file")
    only = Recorder(made.near, tmp_path / "filtered", "--slave", "l1", "vlan", 5)
    wires = {f"{link} {way}": Capture(made.far if way == "out" else made.near, link)
             for link in made.links for way in ("out", "in")}
    frames = [tagged(number) for number in range(60)]
    send_frames(made.near, "bond0", frames)
    send_frames(made.far, "bond0", frames)
    went = collections.Counter()

    def all_went():
        for key, wire in wires.items():
            went[key] += sum(b"\x88\xb5" in frame.data[:20] for frame in wire.frames())
        return went.total() == 2 * len(frames)
    wait_for(all_went, "the frames on the wire")
    wait_for(lambda: len(record.speak_lacp()) == 6, "LACPDUs in both directions on all links")
    made.near.ctl("del-slave", "bond0", "l2")
    wait_for(lambda: len(record.blocks(STATISTICS_BLOCK)) == 2, "its interfaces to end")
    made.near.ctl("add-slave", "bond0", "l2")
    made.near.wait_slaves(*made.links)
    wait_for(lambda: (tmp_path / "file").read_bytes().count(b"l2 out") == 2, "the slave's return")
    assert "0 dropped" in record.stop() and "0 dropped" in only.stop()
    counted = collections.Counter(packet[0] for packet in record.packets("vlan.id == 5"))
    assert counted == +went
    lacp = collections.Counter((name, way) for name, way, *_ in record.packets("lacp"))
    for link in made.links:
        assert lacp[f"{link} in", "0x00000001"] and lacp[f"{link} out", "0x00000002"]
    assert collections.Counter(packet[0] for packet in only.packets()) == \
        {name: count for name, count in counted.items() if name.startswith("l1 ")}
    told = run("capinfos", record.file).stdout
    assert "Strict time order:   True" in told and "nanoseconds" in told
    assert "Number of interfaces in file: 8" in told
    assert told.count("Number of stat entries = 1") == 8


def received(block):
    """What the kernel counted, of a block of statistics."""
    options = block[20:]
    while options[0] != 4:  # isb_ifrecv
        options = options[4 + int.from_bytes(options[2:4], "little"):]
    return int.from_bytes(options[4:12], "little")


def test_a_capture_has_the_last_packets_of_a_slave(pair, tmp_path):
    """They are in its ring for a while, also when it has left."""
    made = pair("balance-xor", links=2)
    record = Recorder(made.near, tmp_path / "file", "vlan", 5)
    ends = []

    def has_ended():
        send_frames(made.far, "l1", [tagged(1)] * 10)
        came, ends[:] = len(ends), record.blocks(STATISTICS_BLOCK)
        return len(ends) > came
    for _ in range(4):
        made.near.ctl("del-slave", "bond0", "l1")
        made.near.ip("link", "set", "l1", "up")  # and so it stays from now on
        wait_for(has_ended, "its interfaces to end", interval=0.001)
        made.near.ctl("add-slave", "bond0", "l1")
        wait_for(lambda: record.file.read_bytes().count(b"l1 out") > len(ends) / 2, "its return")
    assert sum(map(received, ends)) == len(record.blocks(PACKET_BLOCK))
    for pause in (0, 40, 80, 120, 160):  # some of these end before the next look but one
        made.near.ctl("del-slave", "bond0", "l1")
        quiet_for(pause / 1000, "l1 is no slave")
        made.near.ctl("add-slave", "bond0", "l1")
        mark = f"after {pause} ms".encode()
        wait_for(lambda mark=mark: send_frames(made.far, "l1", [tagged(1) + mark]) or
                 mark in record.file.read_bytes(), "its packets")


def test_a_short_capture_has_packets_of_all_slaves(pair):
    """Its sockets are opened one by one, but heard from the same moment on."""
    made = pair("balance-rr", links=24)
    stream = Stream(made.near, made.far, rate=5000)
    stream.flow_on()
    text = made.near.ctl("capture", "bond0", "-c", 240, "udp", "dst", "port", str(PORT))
    links = collections.Counter(line.split()[1] for line in text.splitlines())
    assert links.total() == 240 and set(links) == set(made.links) and max(links.values()) < 20
    stream.finish()


def test_a_capture_goes_on_when_the_date_is_set_back(pair):
    made = pair("balance-rr", links=2)
    stream = Stream(made.near, made.far, rate=5000)
    stream.flow_on()
    with made.near.refusing("later"):
        done = made.near.ctl_try("capture", "bond0", "-c", 50, "udp", "dst", "port", str(PORT),
                                 env={**os.environ, **made.near.refusable()}, timeout=20)
    assert done.returncode == 0 and done.stdout.count("\n") == 50, done
    one = made.near.ctl_try("capture", "bond0", "-c", 1, "udp", timeout=20)
    assert one.stderr == "1 packet captured, 0 dropped by the kernel\n"
    stream.finish()


def test_how_a_capture_ends(pair, tmp_path):
    """Killed, out of space, out of readers, out of packets, without its bond: the file can be
    read, and bondctl says what was wrong.
    """
    made = pair("active-backup", links=2)
    near = made.near
    record = Recorder(near, tmp_path / "killed")
    near.wait_ping("10.0.0.2")
    wait_for(lambda: b"\x0a\0\0\x01\x0a\0\0\x02" in record.file.read_bytes(), "a packet")
    record.stop(signal.SIGKILL)
    assert record.packets("icmp")
    full = near.ctl_try("capture", "bond0", "-w", "/dev/full")
    assert full.returncode == 1 and full.stderr.startswith("bondctl: cannot write '/dev/full': No")
    capture = " ".join(near.ctl_command("capture", "bond0", "-w", "-"))
    shell = near.spawn("bash", "-c", f"{capture} | head -c 300 >{tmp_path}/head; "
                       "echo ${PIPESTATUS[0]}", stdout=subprocess.PIPE, text=True)
    lines = near.spawn(*near.ctl_command("capture", "bond0", "-c", 2, "icmp[0] == 8"),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: near.ping("10.0.0.2") and (shell.poll(), lines.poll()) == (0, 0),
             "both to end")
    assert shell.stdout.read() == "0\n"
    assert [line.split()[1:] for line in lines.stdout.read().splitlines()] == \
        [["l0", "out", "10.0.0.1", ">", "10.0.0.2", "icmp", "length", "98"]] * 2
    assert lines.stderr.read() == "2 packets captured, 0 dropped by the kernel\n"
    record = Recorder(near, tmp_path / "deleted")
    near.ctl("delete", "bond0")
    assert "bond0 has been deleted" in record.process.communicate(timeout=20)[1]
    assert record.process.returncode == 0


def test_bad_calls_of_capture(pair, tmp_path):
    """One line each, and the file that is there stays."""
    near = pair("active-backup", links=1).near
    file = tmp_path / "file"
    file.write_text("precious")
    for status, words, part in (
            (1, ["bond0", "-w", file, "porto", "5"], "filter 'porto 5': can't parse"),
            (1, ["bond0", "-w", file, "--slave", "l9"], "l9 is not a slave of bond0"),
            (2, ["bond0", "-w", file, "-c", "0"], "--count: '0' is not allowed"),
            (2, ["bond0", "-w", file, "-s", "262145"], "allowed: 1..262144"),
            (1, ["bond0", "-w", "/no/such"], "cannot write '/no/such': No such file"),
            (2, ["-j", "bond0"], "no JSON here"), (1, ["bond9", "-w", file], "bond9")):
        done = near.ctl_try("capture", *words)
        assert (done.returncode, done.stdout) == (status, "") and part in done.stderr
        assert done.stderr.count("\n") == 1
    elsewhere = run(*near.ctl_command("capture", "bond0", "-w", file), check=False)
    assert elsewhere.returncode == 1 and "not in this network namespace" in elsewhere.stderr
    assert file.read_text() == "precious"


def packet_sockets(host):
    return len(host.run("cat", "/proc/net/packet").stdout.splitlines())


def samples_or_need_not(said):
    """A slow machine may not send enough for that."""
    return said["one_of"] > 1 or sum(slave["packets_per_s"] for slave in said["slaves"]) < 20000


def test_flows(pair):
    """On the slaves that explain names, as many packets as were counted, and nothing stays."""
    # With a seed by chance, all eight flows go to one slave once in 128 times.
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4", hash_seed=1)
    near, before = made.near, packet_sockets(made.near)
    stream = Stream(near, made.far, flows=8, rate=40000, every=20)
    stream.flow_on()
    wait_for(lambda: samples_or_need_not(near.ctl_json("flows", "bond0", "--seconds", 1)),
             "packets to be sampled", 30)
    received = made.far.ctl_json("flows", "bond0", "--seconds", 1, "--rx")
    few = near.ctl_json("flows", "bond0", "--seconds", 1, "--top", 1)
    sent = near.ctl_json("flows", "bond0", "--seconds", 1)
    killed = near.spawn(*near.ctl_command("flows", "bond0", "--seconds", 60))
    wait_for(lambda: packet_sockets(near) == before + 2, "its sockets")
    killed.kill()
    killed.wait()
    assert packet_sockets(near) == before
    stream.finish()
    for said, way in ((sent, "out"), (received, "in")):
        flows = {(slave["name"], flow["flow"]["sport"]) for slave in said["slaves"]
                 for flow in slave["flows"] if flow["flow"]["dport"] == PORT}
        assert said["direction"] == way and len(flows) == 8
    dmac = made.far.link("bond0")["address"]
    for slave in sent["slaves"]:
        estimate = sum(flow["packets_per_s"] for flow in slave["flows"])
        assert slave["unseen"] is None and abs(estimate / slave["packets_per_s"] - 1) < 0.25
        shares = [flow["share"] for flow in slave["flows"]]
        assert shares == sorted(shares, reverse=True) and abs(sum(shares) - 1) < 1e-6
        for flow in slave["flows"]:
            words = [word for key in ("src", "dst", "proto", "sport", "dport")
                     for word in (key, flow["flow"][key])]
            if flow["flow"]["dport"] == PORT:
                assert near.ctl_json("explain", "bond0", *words, "dmac", dmac)["slave"] == \
                    slave["name"]
    assert [len(slave["flows"]) for slave in few["slaves"]] == [1, 1]


def test_no_flow_is_larger_than_its_slave(pair):
    """While the sockets of many slaves are opened, too; and frames that the bond does not count."""
    made = pair("802.3ad", links=24, lacp_rate="fast", lacp_tx="balance-rr")
    stream = Stream(made.near, made.far, rate=5000)
    stream.flow_on()
    for way in ([], ["--rx"]):  # the partner's LACPDUs, one each second
        said = made.near.ctl("-j", "flows", "bond0", "--seconds", "2", *way)
        digits = [number.replace(".", "").lstrip("0") for number in re.findall(r"\d+\.\d+", said)]
        assert max(map(len, digits)) <= 10, "more digits than are known"
        slaves = json.loads(said)["slaves"]
        assert len(slaves) == 24 and any(slave["flows"] for slave in slaves)
        for slave in slaves:
            for key in ("packets_per_s", "bits_per_s"):
                assert sum(flow[key] for flow in slave["flows"]) <= slave[key] * (1 + 1e-9)
    stream.finish()


def test_slaves_and_the_bond_leave_while_flows_looks(pair, tmp_path):
    """What a slave has sent is not shown under the name of the next one in its slot."""
    made = pair("balance-rr", links=2)
    near, before = made.near, packet_sockets(made.near)
    clock, seconds = Clock(tmp_path), 600
    stream = Stream(near, made.far, rate=2000)
    stream.flow_on()

    def flows(*words):
        call = near.ctl_command(*words, "flows", "bond0", "--seconds", seconds)
        child = near.spawn(*clock.command(*call), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
        wait_for(lambda: packet_sockets(near) == before + 2, "its sockets")
        return child
    child = flows("-j")
    near.ip("link", "add", "other", "type", "veth", "peer", "name", "others")
    near.ctl("del-slave", "bond0", "l1")
    near.ctl("add-slave", "bond0", "other")
    clock.move(seconds)
    stays, left = schema.check("flows", json.loads(child.communicate(timeout=60)[0]))["slaves"]
    assert stays["name"] == "l0" and stays["packets_per_s"] > 0
    assert (left["name"], left["packets_per_s"], left["flows"]) == ("l1", None, [])
    assert left["unseen"] == "left during the measurement"
    stream.finish()
    for words in ((), ("-j",)):
        child = flows(*words)
        near.ctl("delete", "bond0")
        assert child.communicate(timeout=60) == ("", "bondctl: bond0 was deleted during the "
                                                 "measurement\n")
        assert child.returncode == 1
        if not words:
            near.ctl("create", "bond0", "mode", "balance-rr")
            near.ctl("add-slave", "bond0", "l0", "l1")


def test_flows_in_words(pair):
    """What XDP takes past the samples is said; bad calls get one line."""
    made = pair("active-backup", links=1, rx_hook="xdp")
    text = made.near.ctl("flows", "bond0", "--seconds", 1, "--rx")
    assert ("receives through XDP" in text) == (made.near.slave("l0")["rx_hook"] == "xdp")
    assert text.startswith("bond0, active-backup: received in 1.")
    for status, words, part in ((2, ["--top", "0"], "--top: '0' is not allowed"),
                                (2, ["--seconds", "1h"], "allowed: 1..3600"),
                                (2, ["l0"], "unexpected 'l0'")):
        done = made.near.ctl_try("flows", "bond0", *words)
        assert done.returncode == status and part in done.stderr and done.stderr.count("\n") == 1
    elsewhere = run(*made.near.ctl_command("flows", "bond0"), check=False)
    assert elsewhere.returncode == 1 and "not in this network namespace" in elsewhere.stderr
