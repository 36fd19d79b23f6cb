"""What a program notes before it takes a right is visible before that is taken, on each processor.
An atomic instruction whose result nobody uses orders nothing on arm64. x86-64, and an arm64 that it
emulates, never show that, so this looks for such instructions.
"""
import re

import abi
from test_stack import disassembled

UNORDERED = re.compile(r"lock \*\(u64 \*\)\(r\d \+ (0x[0-9a-f]+|\d+)\) &= ")
TABLE = abi.Btf().struct("xbond_table")


def test_rights_are_taken_in_order():
    """bondd asks after it has published the masks what was noted (lacp_thread.c)."""
    lines = disassembled(abi.OBJECT)
    found = {int(each[1], 0) for each in map(UNORDERED.search, lines) if each}
    assert TABLE.failed.offset in found, "no such instruction is known any more"
    assert not found & {TABLE.tx_mask.offset, TABLE.rx_mask.offset}
