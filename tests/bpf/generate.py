"""Random packets by fixed seed, without scapy, which takes a millisecond for each: tags, IPv4
options, IPv6 extension headers, fragments, all the encapsulations one in another, cut and flipped
bytes, and frames of other types.
"""
import random
import struct

SHORTEST = 15  # BPF_PROG_RUN refuses a bare Ethernet header
IP4, IP6, FRAME, MPLS = 0x0800, 0x86dd, 0x6558, 0x8847
TRANSPORTS = (6, 17, 33, 132, 136, 1, 58, 50)


def shortest(packet):
    """BPF_PROG_RUN also refuses less than an IP header behind that type; behind a tag it does not
    look.
    """
    return {b"\x08\x00": 34, b"\x86\xdd": 54}.get(packet[12:14], SHORTEST)


class Generator:
    def __init__(self, seed):
        self.chance = random.Random(seed)

    def packet(self):
        packet = self.frame(self.chance.choice((0, 1, 2, 3, 4))).ljust(SHORTEST, b"\0")
        if self.chance.random() < 0.2:
            packet = packet[:self.chance.randrange(SHORTEST, max(len(packet), SHORTEST) + 1)]
        if self.chance.random() < 0.15:
            packet = self.flipped(packet)
        return packet.ljust(shortest(packet), b"\0")[:1500]

    def flipped(self, packet):
        packet = bytearray(packet)
        for _ in range(self.chance.randrange(1, 4)):
            packet[self.chance.randrange(12, len(packet))] = self.chance.getrandbits(8)
        return bytes(packet)

    def rarely(self, part=0.1):
        return self.chance.random() < part

    def bits(self, count):
        return self.chance.getrandbits(count)

    def some(self, most):
        return self.chance.randbytes(self.chance.randrange(most))

    # layers; depth: how many more IP packets may be within

    def frame(self, depth):
        tags = b"".join(struct.pack("!HH", self.chance.choice((0x8100, 0x8100, 0x88a8)),
                                    self.bits(16))
                        for _ in range(self.chance.choice((0, 0, 0, 0, 1, 1, 2, 3, 4))))
        kind, rest = self.typed(depth)
        return self.chance.randbytes(12) + tags + struct.pack("!H", kind) + rest

    def typed(self, depth):
        """(packet type, what it names)."""
        roll = self.chance.random()
        if roll < 0.45:
            return IP4, self.ip4(depth)
        if roll < 0.85:
            return IP6, self.ip6(depth)
        if roll < 0.93:
            return MPLS + self.bits(1), self.mpls(depth)
        return self.chance.choice((0x0806, 0x88cc, FRAME, self.bits(16))), self.some(120)

    def ip4(self, depth):
        protocol, rest = self.carried(depth)
        words = self.chance.choice((5, 5, 5, 5, 6, 8, 15)) if not self.rarely(0.02) \
            else self.bits(4)
        fragment = self.chance.choice((0, 0, 0, 0, 0x4000, 0x4000, 0x2000, self.bits(13)))
        version = 4 if not self.rarely(0.02) else self.bits(4)
        header = struct.pack("!BBHHHBBH", version << 4 | words, self.bits(8), 20 + len(rest),
                             self.bits(16), fragment, self.bits(8), protocol, self.bits(16))
        return header + self.chance.randbytes(8) + bytes(max(0, words - 5) * 4) + rest

    def ip6(self, depth):
        protocol, rest = self.carried(depth)
        count = self.chance.choice((0, 0, 0, 0, 1, 1, 2, 3, 5, 6, 7))
        for kind in self.chance.choices((0, 43, 44, 60, 51), k=count):
            protocol, rest = kind, self.extension(kind, protocol, count) + rest
        version = 6 if not self.rarely(0.02) else self.bits(4)
        return struct.pack("!IHBB", version << 28 | self.bits(28), len(rest) & 0xffff, protocol,
                           self.bits(8)) + self.chance.randbytes(32) + rest

    def extension(self, kind, following, count):
        """Many of them are short and no fragments, or the walk would never come to the last."""
        if kind == 44:
            offset = self.chance.choice((0, 0, 6, 1, self.bits(16))) if count < 4 or \
                self.rarely() else 0
            return struct.pack("!BBHI", following, 0, offset, self.bits(32))
        units = self.chance.choice((0, 0, 0, 1, 2, 5, 9, self.bits(8))) if count < 4 or \
            self.rarely() else self.bits(1)
        size = 4 * (units + 2) if kind == 51 else 8 * (units + 1)
        return bytes((following, units)) + bytes(size - 2)

    def carried(self, depth):
        """(protocol, payload)."""
        if depth == 0 or self.rarely():
            return self.chance.choice((*TRANSPORTS, self.bits(8))), self.some(60)
        return self.chance.choice((self.in_ip, self.gre, self.vxlan, self.geneve, self.gtpu,
                                   self.mpls_in_ip, self.ethernet))(depth - 1)

    def in_ip(self, depth):
        return self.chance.choice(((4, self.ip4(depth)), (41, self.ip6(depth))))

    def gre(self, depth):
        flags = self.bits(3) << 12 & 0x3000 | self.bits(1) << 15
        if self.rarely():
            flags = self.bits(16)
        kind, rest = self.typed_or_frame(depth)
        size = sum(4 for bit in (0x8000, 0x2000, 0x1000) if flags & bit)
        return 47, struct.pack("!HH", flags, kind) + self.chance.randbytes(size) + rest

    def typed_or_frame(self, depth):
        return (FRAME, self.frame(depth)) if self.rarely(0.5) else self.typed(depth)

    def udp(self, port, rest):
        if self.rarely(0.05):
            port = self.bits(16)
        return 17, struct.pack("!HHHH", self.bits(16), port, 8 + len(rest), 0) + rest

    def vxlan(self, depth):
        flags = 8 if not self.rarely() else self.bits(8)
        return self.udp(self.chance.choice((4789, 8472)),
                        bytes((flags,)) + self.chance.randbytes(7) + self.frame(depth))

    def geneve(self, depth):
        words = self.chance.choice((0, 0, 0, 1, 2, 10, self.bits(6)))
        first = words | (self.bits(2) << 6 if self.rarely() else 0)
        kind, rest = self.typed_or_frame(depth)
        return self.udp(6081, struct.pack("!BBHI", first, self.bits(8), kind, self.bits(32)) +
                        bytes(4 * words) + rest)

    def gtpu(self, depth):
        flags = self.chance.choice((0x30, 0x30, 0x32, 0x34, 0x34, 0x36, 0x31))
        extra = b""
        if flags & 7:
            kinds = self.chance.choices((0x85, 0xc0, 0x20),
                                        k=self.chance.choice((0, 1, 1, 2, 3, 4))) \
                if flags & 4 else []
            extra = self.chance.randbytes(3) + bytes((*kinds[:1],) or (0,))
            for kind in [*kinds[1:], 0][:len(kinds)]:
                units = self.chance.choice((1, 1, 2)) if not self.rarely(0.05) else 0
                extra += bytes((units,)) + bytes(max(0, 4 * units - 2)) + bytes((kind,))
        header = struct.pack("!BBHI", flags if not self.rarely() else self.bits(8),
                             255 if not self.rarely() else 1, 0, 0)
        return self.udp(2152, header + extra + self.chance.choice((self.ip4, self.ip6))(depth))

    def mpls(self, depth):
        labels = b"".join(struct.pack("!I", self.bits(32) & ~0x100)
                          for _ in range(self.chance.choice((0, 0, 0, 1, 2, 7, 8))))
        below = self.chance.choice((self.ip4, self.ip6, self.frame))(depth)
        return labels + struct.pack("!I", self.bits(32) | 0x100) + below

    def mpls_in_ip(self, depth):
        return 137, self.mpls(depth)

    def ethernet(self, depth):
        return 143, self.frame(depth)
