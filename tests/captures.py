# SPDX-License-Identifier: GPL-2.0-or-later
"""Capture files made by hand, for the tests of what reads them. Knows no bonds."""
import struct

ETHERNET, COOKED, COOKED2 = 1, 113, 276
MICRO, NANO = 0xa1b2c3d4, 0xa1b23c4d


def pcap(frames, link=ETHERNET, order="<", magic=MICRO, snaplen=65535):
    """A classic capture file. Packet n is of second n and fraction n; longer ones are cut."""
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)]
    for number, frame in enumerate(frames):
        kept = frame[:snaplen]
        parts.append(struct.pack(order + "IIII", number, number, len(kept), len(frame)) + kept)
    return b"".join(parts)


def pcapng(frames, order="<"):
    """The same as pcapng, by one interface."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack(order + "II", kind, len(body) + 12) + body + \
            struct.pack(order + "I", len(body) + 12)
    parts = [block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1)),
             block(1, struct.pack(order + "HHI", ETHERNET, 0, 0))]
    for frame in frames:
        parts.append(block(6, struct.pack(order + "IIIII", 0, 0, 0, len(frame), len(frame)) +
                           frame))
    return b"".join(parts)


def cooked(frame, outgoing=True):
    """An Ethernet frame as LINUX_SLL has it."""
    return struct.pack("!HHH", 4 if outgoing else 0, 1, 6) + frame[6:12] + b"\0\0" + frame[12:]


def cooked2(frame, outgoing=True):
    """As LINUX_SLL2 has it."""
    return frame[12:14] + struct.pack("!HIHBB", 0, 7, 1, 4 if outgoing else 0, 6) + frame[6:12] + \
        b"\0\0" + frame[14:]
