"""User space (xsk/choice.c) chooses as xbond_select() does in the kernel, under every mode, policy
and option, with weights, drains, lost slaves, moves of buckets and flowlets; it writes the same
source addresses, and leaves behind the same for the next packet.
"""
import struct
import subprocess

import pytest

import abi
import generate
import sample

FRAMES = 100000
MODES = ("hash", "loads", "flowlets", "packets", "bytes", "random", "active", "tlb", "all")


@pytest.fixture(scope="module", name="told")
def _told():
    """{mode: (frames, disagreements, slots that were chosen, other answers)}"""
    generator = generate.Generator(sample.SEED)
    frames = (generator.packet() for _ in range(FRAMES))
    done = subprocess.run([abi.BUILD / "tools/agree", abi.BUILD / "tools/library_select.bpf.o",
                           str(sample.SEED)], capture_output=True, check=False, timeout=300,
                          input=b"".join(struct.pack("=I", len(frame)) + frame
                                         for frame in frames))
    assert done.returncode == 0, done.stderr.decode()
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    return {mode: tuple(map(int, rest)) for mode, *rest in lines}


@pytest.mark.parametrize("mode", MODES)
def test_user_space_and_kernel_agree(told, mode):
    frames, differ, slots, others = told[mode]
    assert frames >= FRAMES // len(MODES) - 100
    assert not differ
    if mode == "all":
        assert others == frames
    else:
        assert slots > 30 and 0 < others < frames / 2, "few kinds of answers"
