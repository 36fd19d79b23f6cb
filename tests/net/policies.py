"""Policies of the user for tests: compiled, loaded, and their maps written."""
import os
import pathlib
import struct

from frames import IPV4, UDP, ethernet, ip4, tag, udp
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
    tunnel = udp(port, 2152, struct.pack("!BBHI", 0x30, 0xff, 0, teid))
    return ethernet("02:00:00:00:00:09", "02:00:00:00:00:01", IPV4,
                    ip4("10.0.0.1", "10.0.0.2", UDP, tunnel))


def tagged(frame, vlan):
    return frame[:12] + tag(vlan) + frame[12:]
