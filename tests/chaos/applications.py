# SPDX-License-Identifier: GPL-2.0-or-later
"""Troubles of AF_XDP applications: one comes to a host, receives and sends, is stopped and goes on,
ends or is killed. What a veth has not read yet is lost when its XDP program goes, so packets of
others may be lost by that, and by nothing else here.
"""
import signal
import subprocess

from namespace import end as end_child
from traffic import UDPSEQ
from waiting import wait_for
from xsk_echo import Echo

RATE = 200
SOCKETS, ROUNDS = 16, 3


class Place:
    """Of an application, at one end of the bond. It may be empty."""

    def __init__(self, life, end):
        self.life, self.end, self.host = life, end, life.hosts[end]
        self.echo = self.flood = None
        self.is_stopped = False
        self.counted, self.counted_by = {}, None

    @property
    def is_there(self):
        return self.echo is not None

    def devices(self, links):
        return {self.life.names[self.end][link] for link in links}

    def come(self):
        far, address = self.life.hosts[1 - self.end], f"10.0.0.{1 + self.end}"
        self.echo = Echo(self.host, far, address, SOCKETS)
        self.wait_filters()
        self.flood = far.spawn(UDPSEQ, "send", "--to", address, "--port", Echo.PORT, "--rate", RATE,
                               "--count", 0, "--flows", SOCKETS, "--from-port", 30000,
                               stdout=subprocess.DEVNULL)

    def wait_filters(self):
        """On a slave that is down the kernel takes no sockets; they are there when it is up."""
        usable = self.devices(self.life.whole(self.end))
        members = self.devices(self.life.members)
        wait_for(lambda: usable <= set(self.echo.filters()) <= members or self.echo.has_ended(),
                 lambda: f"filters on {usable} at most on {members}: {self.echo.filters()}")
        assert not self.echo.has_ended(), self.echo.child.stderr.read()

    def stop(self):
        self.echo.child.send_signal(signal.SIGSTOP)
        self.is_stopped = True

    def go_on(self):
        self.echo.child.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def leave(self, number=signal.SIGKILL):
        """Nothing of it remains, and another one can take its place."""
        if not self.is_there:
            return
        assert end_child(self.echo.child, number) in (0, -number)
        wait_for(lambda: not self.echo.filters(), lambda: f"no filters: {self.echo.filters()}")
        assert end_child(self.flood) == 0
        for each in self.echo.sockets:
            each.close()
        self.echo, self.is_stopped = None, False

    def settle(self):
        """Until it has followed the bond. What was counted before is counted still, unless a
        conversion has made another device.
        """
        if self.is_there and not self.is_stopped:
            self.wait_filters()
            self.echo.wait_answers()
            self.wait_filters()
        elif not self.is_there:
            wait_for(lambda: not self.sockets(), lambda: f"no sockets: {self.sockets()}")
        now, device = self.counts(), self.host.link("bond0")["ifindex"]
        assert device != self.counted_by or \
            all(now[name] >= count for name, count in self.counted.items()), (self.counted, now)
        self.counted, self.counted_by = now, device

    def check(self):
        """It loses nothing in a quiet moment, and the bond counts it."""
        if self.is_there and not self.is_stopped:
            self.echo.talk(ROUNDS)
            now = self.counts()
            assert all(now[name] - self.counted[name] >= ROUNDS * SOCKETS
                       for name in ("afxdp_rx_packets", "afxdp_tx_packets")), (self.counted, now)

    def counts(self):
        return {name: value for name, value in self.host.show().items()
                if name.startswith("afxdp_")}

    def sockets(self):
        return [each for slave in self.host.show()["slaves"]
                for each in slave.get("afxdp_sockets", [])]


def application(life):
    """One comes to an end without one, or does what one does. Not in balance-tlb: it answers the
    address that a frame has come from, which there may be of a slave that does not receive.
    """
    if life.mode == "balance-tlb":
        return False
    end = life.chance.randrange(2)
    place = life.applications[end]
    if not place.is_there:
        deed, words = place.come, "comes"
    elif place.is_stopped:
        deed, words = life.chance.choice([(place.go_on, "goes on"), (place.leave, "is killed")])
    else:
        deed, words = life.chance.choice([
            (place.stop, "is stopped"), (place.leave, "is killed"),
            (lambda: place.leave(signal.SIGTERM), "ends")])
    life.note("an application", words, "at", end)
    deed()
    return words not in ("comes", "is stopped")


TROUBLES = [application] * 5
