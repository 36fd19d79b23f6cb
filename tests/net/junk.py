"""Frames of LACP's ethertype that are not the partner's: LACPDUs of a stranger to any destination,
other slow protocols, and floods of either. Knows hosts; the tests with partners that are not ours
use it, too.
"""
import struct
import subprocess

from frames import mac_bytes
from lab import BUILD
from lacp import (ACTIVITY, AGGREGATION, SLOW_MAC, SLOW_TYPE, TIMEOUT, counters, distributing,
                  lacpdu, pdu_info, ports, wait_told)

RAWFLOOD = BUILD / "tools/rawflood"
STRANGER = "02:00:00:00:00:99"
OAM, ESMC = 3, 10
BROADCAST, MULTICAST = "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"


def to(address, frame):
    return mac_bytes(address) + frame[6:]


def claim(host, dev):
    """A stranger's LACPDU that knows our port well: believed, it would make another LAG of it."""
    near = host.show()["lacp"]
    us = pdu_info(near["actor_system"], ports(host)[dev]["port_number"], key=near["actor_key"])
    return lacpdu(pdu_info(STRANGER, 7, key=9, state=ACTIVITY | TIMEOUT | AGGREGATION), us)


def forged(host, dev, address="unicast"):
    """The same from anywhere in the network; unicast is to the bond's own address."""
    return to(host.show()["mac"] if address == "unicast" else address, claim(host, dev))


def other(subtype, number):
    """A frame of another slow protocol that can be told from all others."""
    head = SLOW_MAC + mac_bytes(STRANGER)
    return head + struct.pack("!HBI", SLOW_TYPE, subtype, number) + bytes(41)


class Floods:
    """One frame again and again out of each device: frames is {device: frame}, rate a second and
    device.
    """

    def __init__(self, namespace, frames, seconds, rate=1000):
        self.children = []
        for dev, frame in frames.items():
            child = namespace.spawn(RAWFLOOD, dev, seconds, rate, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE)
            child.stdin.write(frame)
            child.stdin.close()
            self.children.append(child)

    def running(self):
        return any(child.poll() is None for child in self.children)

    def sent(self):
        return sum(int(child.stdout.read()) for child in self.children)


class Calm:
    """What a host shows while nothing happens to its ports; check() is for as often as possible."""

    def __init__(self, host, links):
        self.host, self.links = host, links
        wait_told(host, links)
        self.told, self.changes = len(host.log()), host.carrier_changes("bond0")
        self.illegal = [counters(host, dev)["illegal_rx"] for dev in links]

    def check(self):
        assert distributing(self.host) == self.links
        assert self.host.carrier_changes("bond0") == self.changes

    def finish(self):
        self.check()
        assert "LACP" not in self.host.log()[self.told:]
        assert [counters(self.host, dev)["illegal_rx"] for dev in self.links] == self.illegal
