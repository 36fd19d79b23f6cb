"""Policies of the user for tests: compiled, loaded, and their maps written."""
import os
import pathlib
import struct

from lab import ROOT
from namespace import PATIENCE, run

EXAMPLES = ROOT / "packaging/examples"

# Answers what the map has.
WANTED = r"""
#include <xbond/policy.bpf.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} wanted SEC(".maps");

XBOND_POLICY(to_wanted)
{
	__u32 key = 0;
	const __u64 *answer = bpf_map_lookup_elem(&wanted, &key);

	return answer ? *answer : XBOND_DEFAULT;
}

char _license[] SEC("license") = "GPL";
"""

# Five flows, by their source ports from 20000 on, take one slot.
FIRST_FIVE = r"""
#include <xbond/policy.bpf.h>

XBOND_POLICY(first_five)
{
	__be16 port;

	if (packet->type != ETH_P_IP ||
	    xbond_load(packet, packet->network + 20, &port, sizeof(port)))
		return XBOND_DEFAULT;
	port = bpf_ntohs(port);
	return port >= 20000 && port < 20005 ? xbond_slot(0) : XBOND_DEFAULT;
}

char _license[] SEC("license") = "GPL";
"""


def compile_policy(source, made, *words):
    """As docs/developers/policy.md says; source is a path or C."""
    if not isinstance(source, pathlib.Path):
        text, source = source, made.with_suffix(".c")
        source.write_text(text)
    run("clang", "-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3",
        f"-I/usr/include/{os.uname().machine}-linux-gnu", f"-I{ROOT}/include", f"-I{ROOT}/lib",
        f"-I{ROOT}", *words, "-c", source, "-o", made, timeout=200 * PATIENCE)
    return made


def slot(number):
    return number << 2 | 2


def hash_(number):
    return number & ~3 | 1


def write_map(host, name, key, value, bond="bond0"):
    """key and value: bytes"""
    run("bpftool", "map", "update", "pinned", host.bpf_dir / bond / f"policy_map_{name}",
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
