"""A TAP device, with a speed of its own if a test wants one."""
import fcntl
import os
import struct

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000


class Tap:
    """A TAP device with carrier; what is sent to it is dropped when its queue is full, and what is
    written to it is what it receives.
    """

    def __init__(self, host, name, speed=None):
        self.host, self.name = host, name
        with host.inside():
            self.file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(self.file, TUNSETIFF,
                        struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        if speed:
            self.set_speed(speed)

    def set_speed(self, speed, duplex="full"):
        self.host.run("ethtool", "-s", self.name, "speed", speed, "duplex", duplex, "autoneg",
                      "off")

    def write(self, frame):
        os.write(self.file, frame)

    def close(self):
        os.close(self.file)
