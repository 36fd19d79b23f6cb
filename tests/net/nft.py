"""A base chain at a device's ingress, as nft makes it; made by netlink, for not every machine has
nft.
"""
import os
import socket
import struct

import pytest

NETLINK_NETFILTER, NFT = 12, 10 << 8
NEWTABLE, DELTABLE, NEWCHAIN = NFT, NFT + 2, NFT + 3
BEGIN, END = 16, 17
REQUEST, ACK, CREATE = 1, 4, 0x400
# NFPROTO_*, the number of the ingress hook, or of the egress hook
FAMILIES = {"netdev": (5, 0), "inet": (1, 5), "egress": (5, 1)}
NAME, HOOK, POLICY, TYPE = 3, 4, 5, 7  # of a chain
DROP, ACCEPT = 0, 1
NESTED = 0x8000


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def text(kind, value):
    return attribute(kind, value.encode() + b"\0")


class Chain:
    """Accepts all, or drops all; until remove()."""

    def __init__(self, namespace, dev, family="netdev", policy=ACCEPT):
        self.namespace, (self.family, hook) = namespace, FAMILIES[family]
        place = attribute(1, struct.pack("!I", hook)) + attribute(2, struct.pack("!i", 0))
        place += text(3, dev)
        self._send((NEWTABLE, CREATE, text(1, "xbt")),
                   (NEWCHAIN, CREATE, text(1, "xbt") + text(NAME, "in") +
                    attribute(HOOK | NESTED, place) + text(TYPE, "filter") +
                    attribute(POLICY, struct.pack("!I", policy))))

    def remove(self):
        self._send((DELTABLE, 0, text(1, "xbt")))

    def _message(self, kind, flags, family, resource, payload=b""):
        body = struct.pack("!BBH", family, 0, resource) + payload
        return struct.pack("=IHHII", 16 + len(body), kind, REQUEST | flags, 1, 0) + body

    def _send(self, *changes):
        batch = self._message(BEGIN, 0, 0, 10)
        for kind, flags, payload in changes:
            batch += self._message(kind, flags | ACK, self.family, 0, payload)
        with self.namespace.inside():
            try:
                made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
            except OSError:
                pytest.skip("this kernel has no netfilter by netlink")
        with made:
            made.settimeout(5)
            made.send(batch + self._message(END, 0, 0, 10))
            for _ in changes:
                error = -struct.unpack_from("=i", made.recv(4096), 16)[0]
                if error in (2, 22, 93, 95) and changes[0][0] == NEWTABLE:
                    pytest.skip(f"this kernel has no such chains: {os.strerror(error)}")
                assert error == 0, os.strerror(error)
