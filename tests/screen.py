# SPDX-License-Identifier: GPL-2.0-or-later
"""A program on a terminal that the test holds the other end of: what it shows, and keys for it."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

from waiting import PATIENCE, wait_for

LOOK_MS = 20  # a condition may hold without new output
WHOLE_MS = 3  # what is written at once comes within that


class Screen:
    """The program is the leader of the terminal's session, as a shell's foreground job. What it
    wrote is in `output`, and as a terminal shows it in text().
    """

    # pyte does not know how xterm repeats a character.
    def __init__(self, *command, columns=80, lines=24, term="screen", **environment):
        self.master, self.terminal = pty.openpty()
        self.output = b""
        self.emulator = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.emulator)
        self._set_size(columns, lines)
        self.modes = termios.tcgetattr(self.terminal)
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=self.terminal, stdout=self.terminal,
            stderr=self.terminal, start_new_session=True, preexec_fn=self._take_terminal,
            env={"PATH": os.environ["PATH"], "TERM": term, "LC_ALL": "C.UTF-8", **environment})

    @staticmethod
    def _take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def _set_size(self, columns, lines):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        """The kernel tells the program by SIGWINCH."""
        self.text()
        self.emulator.resize(lines, columns)
        self._set_size(columns, lines)

    def _has_output(self, wait_ms):
        poll = select.poll()
        poll.register(self.master, select.POLLIN)
        return any(events & select.POLLIN for _, events in poll.poll(wait_ms))

    def _read(self):
        """Until there is a pause; a program that never pauses is read for a second."""
        end = time.monotonic() + 1
        while time.monotonic() < end and self._has_output(WHOLE_MS):
            part = os.read(self.master, 65536)
            self.output += part
            self.stream.feed(part)

    def text(self):
        """The lines of the screen, with all that the program has written so far."""
        self._read()
        return "\n".join(line.rstrip() for line in self.emulator.display)

    def wait(self, text, deadline=10.0):
        """Until the screen shows the text; returns the whole screen."""
        return self.wait_until(lambda shown: text in shown, f"'{text}'", deadline)

    def wait_until(self, condition, what, deadline=10.0):
        """Until the condition holds for the text of the screen, which is returned."""
        last = [""]

        def holds():
            has_ended = self.process.poll() is not None
            last[0] = self.text()
            if condition(last[0]) or has_ended:
                return True
            self._has_output(LOOK_MS)
            return False
        try:
            wait_for(holds, what, deadline, interval=0)
        except AssertionError as error:
            raise AssertionError(f"no {what} on the screen:\n{last[0]}") from error
        assert condition(last[0]), f"ended with {self.process.returncode}:\n{last[0]}"
        return last[0]

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self, keys=None, number=None):
        """By keys, by a signal, or as it will. Returns the exit status."""
        if keys:
            self.press(keys)
        if number:
            self.process.send_signal(number)

        def has_ended():
            self._read()
            return self.process.poll() is not None
        wait_for(has_ended, "the program to end", interval=0.005)
        self.text()
        return self.process.returncode

    def modes_are_restored(self):
        return termios.tcgetattr(self.terminal) == self.modes

    def hang_up(self):
        """The window is closed, or the connection has broken."""
        os.close(self.terminal)
        os.close(self.master)
        self.master = self.terminal = None
        return self.process.wait(timeout=10 * PATIENCE)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        for fd in (self.master, self.terminal):
            if fd is not None:
                os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
