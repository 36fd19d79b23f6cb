# SPDX-License-Identifier: GPL-2.0-or-later
"""An AF_XDP application for the tests, which sends all back that it receives (libxbond-xsk)."""
import signal
import socket
import subprocess

from lab import BUILD
from namespace import end
from waiting import PATIENCE, wait_for


class Echo:
    """packaging/examples/echo.c on near's bond0, and sockets of far that talk to it."""
    PORT = 4007

    def __init__(self, near, far, to="10.0.0.1", count=32, before=(), wanted=PORT):
        self.near = near
        self.child = near.spawn(*before, BUILD / "tools/echo", near.bpf_dir / "bond0", wanted,
                                stderr=subprocess.PIPE, text=True)
        with far.inside():
            self.sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
        for each in self.sockets:
            each.connect((to, self.PORT))

    def wait_answers(self):
        """To each socket."""
        for each in self.sockets:
            each.settimeout(0.2)
            wait_for(lambda: self.answers(each) or self.has_ended(), "an answer")
            each.settimeout(10 * PATIENCE)
        assert not self.has_ended(), self.child.stderr.read()

    def has_ended(self):
        return self.child.poll() is not None

    @staticmethod
    def answers(each):
        try:
            each.send(b"?")
            return each.recv(100) == b"?"
        except (TimeoutError, ConnectionError):
            return False

    def filters(self):
        """Devices of near with an XDP program."""
        return [link["ifname"] for link in self.near.ip_json("-d", "link", "show")
                if "xdp" in link]

    def talk(self, rounds=20):
        """Each datagram comes back."""
        for number in range(rounds):
            for each in self.sockets:
                each.send(b"%d" % number)
            for each in self.sockets:
                found = b"?"
                while found == b"?":  # an answer that came late
                    found = each.recv(100)
                assert found == b"%d" % number

    def close(self):
        for each in self.sockets:
            each.close()
        assert end(self.child, signal.SIGTERM) == 0
        assert not self.filters()
