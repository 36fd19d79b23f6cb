"""A TAP device with a speed of its own, for the tests."""
import fcntl
import os
import struct

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000


class Tap:
    """A TAP device with carrier; what is sent to it is dropped when its queue is full."""

    def __init__(self, host, name, speed):
        self.host, self.name = host, name
        with host.inside():
            self.file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(self.file, TUNSETIFF,
                        struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        self.set_speed(speed)

    def set_speed(self, speed, duplex="full"):
        self.host.run("ethtool", "-s", self.name, "speed", speed, "duplex", duplex, "autoneg",
                      "off")

    def close(self):
        os.close(self.file)
