"""Traffic for the network tests: paced numbered UDP (build/tools/udpseq), raw frames
sent and captured on one device, TCP by iperf3. Knows namespaces, not bonds.
"""
import ctypes
import errno
import json
import pathlib
import select
import signal
import socket
import struct
import subprocess
from time import time as wall_clock

from lab import BUILD
from namespace import end
from waiting import PATIENCE, wait_for

UDPSEQ = BUILD / "tools/udpseq"
PORT = 9000
EARLY_US = 700  # spares three of four times that a sender of 5,000 packets/s sleeps
ETH_P_ALL = 3
SOL_PACKET, PACKET_STATISTICS, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 6, 8, 23
SKF_AD_PKTTYPE = 0xfffff004
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35

# The kernel stamps received packets while some socket wants that, and begins by a work queue: what
# a Capture got before would bear the time at which it was read. This socket wants it all along.
STAMPS = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
STAMPS.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


class Stream:
    """Numbered packets from one namespace to another; without count until finish(). every: the
    receiver looks so often (ms) instead of being woken by each packet, for high rates. early: so
    long (us) before its time a packet may be sent; with 0 the sender sleeps before each. sender:
    the words of a program that sends them instead.
    """

    def __init__(self, near, far, to="10.0.0.2", count=0, rate=10000, flows=1, port=PORT, every=0,
                 early=EARLY_US, sender=(), **options):
        self.count = count
        words = [word for name, value in options.items()
                 for word in (f"--{name.replace('_', '-')}", value)]
        self.receiver = far.spawn(UDPSEQ, "recv", "--port", port, "--every", every,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.receiver.stderr.readline() == b"ready\n"
        sender = sender or (UDPSEQ, "send", "--to", to, "--port", port, "--count", count,
                            "--rate", rate, "--flows", flows, "--early", early, *words)
        self.sender = near.spawn(*sender, stdout=subprocess.PIPE)

    def received(self):
        """Datagrams that reached sockets of the receiver's namespace so far."""
        net = pathlib.Path(f"/proc/{self.receiver.pid}/net")
        lines = [line.split() for line in (net / "snmp").read_text().splitlines()
                 if line.startswith("Udp:")]
        counts = dict(zip(lines[0], lines[1]))
        counts6 = dict(line.split() for line in (net / "snmp6").read_text().splitlines())
        return int(counts["InDatagrams"]) + int(counts6["Udp6InDatagrams"])

    def flow_on(self, packets=1000, deadline=10.0):
        """Until so many more packets have arrived: the stream is in its midst."""
        goal = self.received() + packets
        wait_for(lambda: self.received() >= goal, f"{packets} more packets to arrive", deadline)

    def finish(self):
        """Ends both sides. The receiver's counts plus sent and lost."""
        if not self.count:
            self.sender.send_signal(signal.SIGTERM)
        sent = json.loads(self.sender.communicate(timeout=60 * PATIENCE)[0])
        self.receiver.send_signal(signal.SIGTERM)
        result = json.loads(self.receiver.communicate(timeout=60 * PATIENCE)[0])
        assert self.sender.returncode == 0 and self.receiver.returncode == 0
        return {**result, **sent, "lost": sent["sent"] - result["received"]}

    def finish_unharmed(self, in_order=False):
        """The same, where nothing was lost, nothing came twice and, if so said, all came in the
        order in which it was sent.
        """
        result = self.finish()
        harms = ("lost", "duplicates", *["reordered"] * in_order)
        assert not any(result[harm] for harm in harms), result
        return result


class Tally:
    """Counts the packets of a Stream that reach devices of a namespace, whatever becomes of them
    there. With leaving=True those that leave by them.
    """

    def __init__(self, namespace, devices, port=PORT, leaving=False):
        self.filter = self._filter(port, leaving)
        self.sockets = [self._open(namespace, dev) for dev in devices]

    @staticmethod
    def _filter(port, leaving):
        """UDP in IPv4 without options, to this port, one way; else nothing."""
        return [(0x20, 0, 0, SKF_AD_PKTTYPE), (0x15, 0, 7, 4) if leaving else (0x15, 7, 0, 4),
                (0x28, 0, 0, 12), (0x15, 0, 5, 0x0800), (0x30, 0, 0, 23),
                (0x15, 0, 3, socket.IPPROTO_UDP),
                (0x28, 0, 0, 36), (0x15, 0, 1, port), (0x06, 0, 0, 64), (0x06, 0, 0, 0)]

    def _open(self, namespace, dev):
        code = b"".join(struct.pack("HBBI", *instruction) for instruction in self.filter)
        buffer = ctypes.create_string_buffer(code)
        with namespace.inside():
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        made.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                        struct.pack("HL", len(self.filter), ctypes.addressof(buffer)))
        made.bind((dev, ETH_P_ALL))
        return made

    def finish(self):
        """How many came; those that the sockets had no room for are counted, too."""
        total = 0
        for each in self.sockets:
            total += struct.unpack("=II", each.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[0]
            each.close()
        return total


def send_packets(near, to="10.0.0.2", count=1000, rate=20000, **options):
    """Sends numbered packets that nobody needs to receive; returns what the sender counted."""
    words = [word for name, value in options.items()
             for word in (f"--{name.replace('_', '-')}", value)]
    return json.loads(near.run(UDPSEQ, "send", "--to", to, "--port", PORT, "--count", count,
                               "--rate", rate, "--early", EARLY_US, *words).stdout)


class Frame:
    """A captured Ethernet frame; a tag that the kernel took off is in vlan (else None), the
    kernel's time in seconds.
    """

    def __init__(self, data, vlan=None, time=None):
        self.data, self.vlan, self.time = data, vlan, time
        self.dst, self.src = data[0:6].hex(":"), data[6:12].hex(":")
        self.type = struct.unpack_from("!H", data, 12)[0]

    def numbers(self):
        """(sequence, flow, flow_sequence) of a udpseq packet in IPv4, else None."""
        data = self.data
        if self.type != 0x0800 or len(data) < 54 or data[23] != socket.IPPROTO_UDP:
            return None
        if struct.unpack_from("!H", data, 36)[0] != PORT:
            return None
        return struct.unpack_from("=III", data, 42)


class Capture:
    """Frames that a device receives, from now on."""

    def __init__(self, namespace, dev, outgoing=False):
        with namespace.inside():
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 128 << 20)
            if not outgoing:
                self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
            self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self.socket.bind((dev, ETH_P_ALL))
        self.dev = dev

    def _read(self):
        data, ancillary, _, _ = self.socket.recvmsg(65536, 128)
        vlan = time = None
        for level, kind, value in ancillary:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, tci = struct.unpack_from("=I", value)[0], \
                    struct.unpack_from("=H", value, 16)[0]
                vlan = tci if status & 0x10 else None  # TP_STATUS_VLAN_VALID
            elif (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, nanoseconds = struct.unpack("=qq", value)
                time = seconds + nanoseconds / 1e9
        return Frame(data, vlan, time)

    def frames(self, wait=0.0):
        """All frames that are here, not those that come while they are read; with wait, until none
        came for so many seconds.
        """
        found, began = [], wall_clock()
        while select.select([self.socket], [], [], wait)[0]:
            try:
                found.append(self._read())
                if not wait and found[-1].time > began:
                    break
            except OSError as error:  # told once when the device goes down
                if error.errno != errno.ENETDOWN:
                    raise
        dropped = struct.unpack("=II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
        assert dropped == 0, f"the capture on {self.dev} itself lost {dropped} frames"
        return found

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def flows_by_link(captures):
    """{flow: set of links it was seen on} and {link: frames} of numbered packets."""
    links_of_flow, frames_on_link = {}, {}
    for capture in captures:
        numbers = [frame.numbers() for frame in capture.frames(0.1)]
        numbers = [each for each in numbers if each]
        frames_on_link[capture.dev] = len(numbers)
        for _, flow, _ in numbers:
            links_of_flow.setdefault(flow, set()).add(capture.dev)
    return links_of_flow, frames_on_link


def send_frames(namespace, dev, frames):
    """Raw frames out of dev."""
    with namespace.inside():
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        sender.bind((dev, 0))
    with sender:
        for frame in frames:
            sender.send(frame)


class Iperf:
    """An iperf3 server in one namespace; run() is a client in another."""

    def __init__(self, far, port=5201):
        self.port = port
        self.server = far.spawn("iperf3", "-s", "-p", port, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        wait_for(lambda: f":{port} " in far.run("ss", "-Hltn").stdout, "iperf3 to listen")

    def run(self, near, to, *words, check=True):
        """With check it connects again while the server still ends the run before: it refuses,
        or closes its socket to open another.
        """
        def attempt():
            done = near.run("iperf3", "-J", "-c", to, "-p", self.port, *words, check=False,
                            timeout=60)
            result = json.loads(done.stdout)
            error = result.get("error", "")
            is_not_ready = any(words in error for words in (
                "unable to connect", "server is busy",
                "unable to receive control message: Connection reset"))
            return None if check and is_not_ready else result

        result = wait_for(attempt, "the server to be ready for a run", 10)
        if check:
            assert "error" not in result, result["error"]
        return result

    def close(self):
        end(self.server)


ECHO = """
import selectors, socket
ready = selectors.DefaultSelector()
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    made = socket.socket(socket.AF_INET, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("", 7))
    if kind == socket.SOCK_STREAM:
        made.listen(100)
    ready.register(made, selectors.EVENT_READ, kind)
print("ready", flush=True)
while True:
    for key, _ in ready.select():
        if key.data == socket.SOCK_DGRAM:
            key.fileobj.sendto(*key.fileobj.recvfrom(100))
        elif key.data == socket.SOCK_STREAM:
            ready.register(key.fileobj.accept()[0], selectors.EVENT_READ)
        else:
            try:
                key.fileobj.send(key.fileobj.recv(100))
            except OSError:
                ready.unregister(key.fileobj)
                key.fileobj.close()
"""

PING = """
import itertools, socket, struct, sys, time
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
print("ready", flush=True)
for number in itertools.count():
    made.sendto(struct.pack("!BBHHH", 8, 0, 0, 0, number & 0xffff) + bytes(int(sys.argv[2])),
                (sys.argv[1], 0))
    time.sleep(0.02)  # the pace
"""


def pings(near, to="10.0.0.2", size=0):
    """Echo requests until it is ended, each with a number of its own, and with so many bytes."""
    made = near.spawn("python3", "-c", PING, to, size, stdout=subprocess.PIPE)
    assert made.stdout.readline() == b"ready\n"
    return made


TALK = """
import socket, sys, time
to, count = sys.argv[1], int(sys.argv[2])
talks = []
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    for number in range(count):
        made = socket.socket(socket.AF_INET, kind)
        made.setblocking(False)
        made.connect_ex((to, 7))
        talks.append(made)
print("ready", flush=True)
answers = 0
while True:
    for made in talks:
        try:
            made.send(b"x")
            answers += len(made.recv(100))
        except OSError:
            pass
    if answers > count:
        print(answers, flush=True)
        answers = -10**12
    time.sleep(0.02)  # the pace
"""


class Talks:
    """Conversations that go on until close(), as many by TCP as by UDP, with an echo at the far
    end. answered: wait until there are answers.
    """

    def __init__(self, near, far, to="10.0.0.2", count=16, answered=True):
        self.echo = far.spawn("python3", "-c", ECHO, stdout=subprocess.PIPE)
        assert self.echo.stdout.readline() == b"ready\n"
        self.client = near.spawn("python3", "-c", TALK, to, count, stdout=subprocess.PIPE)
        assert self.client.stdout.readline() == b"ready\n"
        assert not answered or self.client.stdout.readline()

    def close(self):
        for child in (self.client, self.echo):
            end(child, signal.SIGKILL)
            child.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
