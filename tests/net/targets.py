"""Plays the network that the ARP monitor probes: a switch at the far ends of the slaves, and hosts
behind it that answer as a test wants. Knows wires, not bonds.
"""
import contextlib
import os
import select
import signal
import socket
import struct
import time
import traceback

import frames
from frames import ARP, IPV6, address
from waiting import wait_for

REQUEST, REPLY = 1, 2
SOLICITATION, ADVERTISEMENT, ICMP6 = 135, 136, 58
THEM, OTHER = "02:00:5e:10:00:02", "02:00:5e:10:00:03"
ALL = "ff:ff:ff:ff:ff:ff"
ETH_P_ALL, SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 3, 263, 8, 23
SO_SNDBUFFORCE = 32
VLAN_VALID = 0x10  # of the auxiliary data


def arp(operation, sender, target, dst=ALL, sender_mac=THEM, target_mac="00:00:00:00:00:00",
        tags=b""):
    return frames.ethernet(dst, sender_mac, ARP,
                           frames.arp(operation, sender_mac, sender, target_mac, target), tags)


def neighbour(kind, src, dst, about, mac, hops=255, tags=b""):
    """A solicitation or advertisement without options."""
    flags = 0x60000000 if kind == ADVERTISEMENT else 0
    return frames.ethernet(mac, THEM, IPV6, frames.icmp6(
        src, dst, kind, struct.pack("!I", flags) + address(about), hops), tags)


class Probe:
    """A request or solicitation that a slave has sent."""

    def __init__(self, dev, frame, is_answered=False):
        self.dev, self.is_answered = dev, is_answered
        self.mac = frame[6:12].hex(":")
        self.tags = b""
        at = 12
        while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
        self.tags = frame[12:at]
        self.is_ipv6 = frame[at:at + 2] == b"\x86\xdd"
        if self.is_ipv6:
            family, self.source, self.target = socket.AF_INET6, frame[at + 10:at + 26], \
                frame[at + 50:at + 66]
        else:
            family, self.source, self.target = socket.AF_INET, frame[at + 16:at + 20], \
                frame[at + 26:at + 30]
        self.source = socket.inet_ntop(family, self.source)
        self.target = socket.inet_ntop(family, self.target)

    def answer(self, **changes):
        """As the target would."""
        words = {"sender": self.target, "target": self.source, "dst": self.mac, **changes}
        if not self.is_ipv6:
            return arp(REPLY, words["sender"], words["target"], words["dst"],
                       target_mac=self.mac, tags=self.tags)
        if words["target"] == "::":
            words.update(target="ff02::1", dst="33:33:00:00:00:01")
        return neighbour(ADVERTISEMENT, words["sender"], words["target"], self.target,
                         words["dst"], tags=self.tags)


def is_probe(frame, targets):
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    if frame[at:at + 2] == b"\x08\x06":
        return frame[at + 8:at + 10] == b"\0\1" and frame[at + 26:at + 30] in targets
    return frame[at:at + 2] == b"\x86\xdd" and frame[at + 8] == ICMP6 and \
        frame[at + 42] == SOLICITATION and frame[at + 50:at + 66] in targets


def receive(made):
    """A frame with the tag that the kernel has taken off it."""
    data, ancillary, _, _ = made.recvmsg(2048, 64)
    for _, _, value in ancillary:
        status, tag, protocol = struct.unpack("=I12xHH", value)
        if status & VLAN_VALID:
            return data[:12] + struct.pack("!HH", protocol, tag) + data[12:]
    return data


class Targets:
    """Answers for `addresses` on the devices of a namespace. wires: tuples of devices that a switch
    connects. Answers come from a process with real-time priority: a thread of the test's would wait
    for the interpreter, on a busy machine for longer than a bond waits for its targets.
    """

    def __init__(self, namespace, wires, addresses):
        self.wires = [tuple(wire) for wire in wires]
        self.addresses = {address(each) for each in addresses}
        self.answers = lambda probe: [probe.answer()]  # what the slave that has sent it hears
        self.floods = True  # the other slaves hear the probe
        self.chatter = []  # what all slaves hear every 30 ms: makers of frames, by device
        self.sockets = {dev: self._open(namespace, dev) for wire in self.wires for dev in wire}
        self.devices = {made.fileno(): dev for dev, made in self.sockets.items()}
        self.taken = []
        self.told, self.tells = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.tells.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 64 << 20)
        self.told.setblocking(False)
        self.pid, self.lives = self._begin()

    @staticmethod
    def _open(namespace, dev):
        with namespace.inside():
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        made.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        made.bind((dev, ETH_P_ALL))
        made.setblocking(False)
        return made

    def act(self, **how):
        """From now on with other answers, floods, chatter, or further addresses. Functions work in
        the other process: what they change there is not changed here.
        """
        self.addresses |= {address(each) for each in how.pop("addresses", ())}
        for name, value in how.items():
            assert hasattr(self, name)
            setattr(self, name, value)
        began = self._begin(self.lives)
        self._end()
        self.pid, self.lives = began

    @property
    def probes(self):
        """All that were received so far."""
        with contextlib.suppress(BlockingIOError):
            while True:
                told = self.told.recv(4096)
                dev, is_answered = struct.unpack_from("16s?", told)
                self.taken.append(Probe(dev.rstrip(b"\0").decode(), told[17:], is_answered))
        return self.taken

    def wait_probes(self, count, accept=lambda probe: True, deadline=10):
        """The next so many probes, from now on, that are accepted."""
        begun = len(self.probes)
        return wait_for(lambda: [each for each in self.probes[begun:] if accept(each)][:count]
                        if sum(map(accept, self.probes[begun:])) >= count else None,
                        f"{count} probes", deadline)

    def close(self):
        self._end()
        for made in (*self.sockets.values(), self.told, self.tells):
            made.close()

    def report(self):
        return f"===== {len(self.probes)} probes; the last: " + ", ".join(
            f"{each.dev} {each.source} > {each.target}" for each in self.probes[-8:])

    # the process

    def _begin(self, *others):
        """A process that answers, and the pipe that ends it when it is closed. Others: such pipes
        that stay ours.
        """
        ends, lives = os.pipe()
        waits, is_ready = os.pipe()
        pid = os.fork()
        if pid:
            os.close(ends)
            os.close(is_ready)
            os.read(waits, 1)
            os.close(waits)
            return pid, lives
        try:
            for each in (lives, waits, *others):
                os.close(each)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            with contextlib.suppress(PermissionError):
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
            os.close(is_ready)
            self._run(ends)
            os._exit(0)
        except BaseException:  # pylint: disable=broad-exception-caught
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(1)

    def _end(self):
        os.close(self.lives)
        _, status = os.waitpid(self.pid, 0)
        assert status == 0, "the targets have failed"

    def _run(self, ends):
        """Until the other end of that pipe is closed."""
        poll = select.poll()
        for made in (ends, *self.sockets.values()):
            poll.register(made, select.POLLIN)
        chat, is_over = time.monotonic(), False
        while not is_over:
            wait = max(chat - time.monotonic(), 0) * 1000 + 1 if self.chatter else None
            for fd, _ in poll.poll(wait):
                if fd == ends:
                    is_over = True
                else:
                    self._read(self.devices[fd])
            if self.chatter and time.monotonic() >= chat:
                self._chat()
                chat = time.monotonic() + 0.03

    def _read(self, dev):
        try:
            while True:
                self._take(dev, receive(self.sockets[dev]))
        except OSError:
            pass  # all read, or the device is down

    def _take(self, dev, frame):
        if not is_probe(frame, self.addresses):
            return
        probe = Probe(dev, frame)
        answers = self.answers(probe)
        for each in answers:
            self._send(dev, each)
        for other in next(wire for wire in self.wires if dev in wire):
            if self.floods and other != dev:
                self._send(other, frame)
        self.tells.send(struct.pack("16s?", dev.encode(), bool(answers)) + frame)

    def _chat(self):
        for dev in self.sockets:
            for make in self.chatter:
                self._send(dev, make(dev))

    def _send(self, dev, frame):
        try:
            self.sockets[dev].send(frame)
        except OSError:
            pass  # the device is down
