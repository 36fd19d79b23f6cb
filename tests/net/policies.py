"""Policies of the user for tests: compiled, loaded, and their maps written."""
import os
import pathlib
import struct

from lab import BUILD, ROOT
from namespace import PATIENCE, run

EXAMPLES = ROOT / "packaging/examples"
WANTED, FIRST_FIVE = BUILD / "tools/wanted.bpf.o", BUILD / "tools/first_five.bpf.o"


def compile_policy(source, made):
    """As docs/developers/policy.md says; source is a path or C."""
    if not isinstance(source, pathlib.Path):
        text, source = source, made.with_suffix(".c")
        source.write_text(text)
    run("clang", "-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3",
        f"-I/usr/include/{os.uname().machine}-linux-gnu", f"-I{ROOT}/include", f"-I{ROOT}/lib",
        f"-I{ROOT}", "-c", source, "-o", made, timeout=200 * PATIENCE)
    return made


def slot(number):
    return number << 2 | 2


def hash_(number):
    return number & ~3 | 1


def write_map(host, name, key, value):
    """key and value: bytes"""
    run("bpftool", "map", "update", "pinned", host.bpf_dir / f"bond0/policy_map_{name}",
        "key", *[str(byte) for byte in key], "value", *[str(byte) for byte in value])


def want(host, answer):
    write_map(host, "wanted", bytes(4), answer.to_bytes(8, "little"))


def gtp(teid, port):
    """A frame of GTP-U over IPv4."""
    udp = struct.pack("!HHHHBBHI", port, 2152, 16, 0, 0x30, 0xff, 0, teid)
    ip = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, 0x0a000001, 0x0a000002)
    return bytes.fromhex("020000000009020000000001") + b"\x08\0" + ip + udp


def tagged(frame, vlan):
    return frame[:12] + struct.pack("!HH", 0x8100, vlan) + frame[12:]
