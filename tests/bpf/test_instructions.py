"""What stands in the compiled programs, whatever this machine and its kernel make of it.

They need no more stack than Linux 6.1 gives them: 512 bytes for a program and the functions that it
calls in a chain, each rounded up to 32, and at most 8 of them. Newer kernels round to 16, and so
take programs that 6.1 refuses.

What a program notes before it takes a right is visible before that is taken, on each processor. An
atomic instruction whose result nobody uses orders nothing on arm64. x86-64, and an arm64 that it
emulates, never show that.
"""
import re
import subprocess

import pytest

import abi

LIMIT, DEEPEST, UNIT = 512, 8, 32
BUILD = abi.OBJECT.parent.parent
OBJECTS = [*BUILD.glob("bpf/*.bpf.o"), *BUILD.glob("tools/library_*.bpf.o")]
FUNCTION = re.compile(r"([0-9a-f]+) <(?!LBB)(.+)>:$")
STACK = re.compile(r"\(r10 - (0x[0-9a-f]+|\d+)\)")
POINTER = re.compile(r"r\d \+= -(0x[0-9a-f]+|\d+)$")
CALL = re.compile(r"\scall (-?0x[0-9a-f]+|-?\d+)$")
CALLED = re.compile(r"R_BPF_64_32\s+(\S+)")
ADDRESS = re.compile(r"r\d = (0x[0-9a-f]+|\d+) ll$")
OF_A_FUNCTION = re.compile(r"R_BPF_64_64\s+\.text$")
UNORDERED = re.compile(r"lock \*\(u64 \*\)\(r\d \+ (0x[0-9a-f]+|\d+)\) &= ")
TABLE = abi.Btf().struct("xbond_table")
BPF_LOOP = 181  # the helper, which calls a function; a timer's function begins a chain of its own


def disassembled(path):
    return subprocess.run(["llvm-objdump", "-d", "-r", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout.splitlines()


def functions_of(path):
    """By name: the bytes of stack that a function uses, and the names of those that it calls."""
    bytes_of, calls, starts, section, name, before = {}, {}, {}, "", None, ""
    address = callback = None
    for line in disassembled(path):
        if line.startswith("Disassembly of section "):
            section = line.split()[-1].rstrip(":")
        elif found := FUNCTION.match(line):
            name = found[2]
            bytes_of[name], calls[name] = 1, []
            starts[section, int(found[1], 16) // 8] = name
        elif found := STACK.search(line):
            bytes_of[name] = max(bytes_of[name], int(found[1], 0))
        elif (found := POINTER.search(line)) and before.endswith("= r10"):
            bytes_of[name] = max(bytes_of[name], int(found[1], 0))
        elif found := ADDRESS.search(line):
            address = int(found[1], 0)
        elif OF_A_FUNCTION.search(line):
            callback = address
        elif found := CALL.search(line):
            offset = int(found[1], 0)
            if offset == BPF_LOOP:
                calls[name].append((".text", callback // 8))
        elif found := CALLED.search(line):
            calls[name].append((found[1], offset + 1))
        before = line
    # A local function is called by its section and its place in there.
    return bytes_of, {name: [starts.get(call, call[0]) for call in called]
                      for name, called in calls.items()}


def deepest(name, bytes_of, calls):
    """The chain of (function, bytes) from this function on that needs most."""
    chains = [deepest(called, bytes_of, calls) for called in calls[name] if called in bytes_of]
    most = max(chains, key=lambda chain: sum(size for _, size in chain), default=[])
    return [(name, -(-bytes_of[name] // UNIT) * UNIT), *most]


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name)
def test_the_stack_is_enough_for_linux_6_1(path):
    bytes_of, calls = functions_of(path)
    assert bytes_of, "no function found"
    for name in bytes_of:
        chain = deepest(name, bytes_of, calls)
        assert sum(size for _, size in chain) <= LIMIT and len(chain) <= DEEPEST, chain


def test_what_is_counted():
    """Functions that are known to call one another are seen to."""
    bytes_of, calls = functions_of(abi.OBJECT)
    assert "select_all_up" in calls["select_live"] and "select_is_up" in calls["select_all_up"]
    assert "tx_copy" in calls["tx_copy_to_others"]
    assert len(deepest("xbond_egress", bytes_of, calls)) > 3
    assert bytes_of["micro_bfd_receive"] > 200


def test_rights_are_taken_in_order():
    """bondd asks after it has published the masks what was noted (lacp_thread.c)."""
    lines = disassembled(abi.OBJECT)
    found = {int(each[1], 0) for each in map(UNORDERED.search, lines) if each}
    assert TABLE.failed.offset in found, "no such instruction is known any more"
    assert not found & {TABLE.tx_mask.offset, TABLE.rx_mask.offset}
