# SPDX-License-Identifier: GPL-2.0-or-later
"""Whoever reads a number in a column of show, stats or top reads its unit, too: in the column's
head, or behind the number. What is counted one by one needs no more than its name.
"""
import re
import subprocess

import pytest

from pins import Pins
from test_calls import BONDCTL

UNITS = ("bit/s", "b/s", "B", "%", "/s", "_packets", "_bytes")
COUNTS = {"DROPS", "FAILS", "BUCKETS", "rx_dropped"}
HEAD = re.compile(r"[\w%/]+(?: (?:bit/s|b/s|B)\b)?")


def numbers(head, line):
    """(head, number) of each column of the line that has one."""
    for name in HEAD.finditer(head):
        for cell in re.finditer(r"\d\S*", line):
            if (cell.start() < name.end() and name.start() < cell.end() and
                    line[cell.start() - 1].isspace()):
                yield name[0], cell[0]


@pytest.mark.parametrize("words,columns", [
    (("show", "bond0"), {"bit/s", "OUT B", "IN B", "DROPS", "FAILS"}),
    (("stats", "bond0"), {"tx_packets", "tx_bytes", "rx_packets", "rx_bytes", "rx_dropped"}),
    (("top", "--once", "bond0"), {"OUT b/s", "IN b/s", "DUE", "BUCKETS", "DROP/s"})])
def test_numbers_in_columns_have_units(bpf_dir, tmp_path, words, columns):
    Pins(bpf_dir, slaves=1)
    lines = subprocess.run([BONDCTL, "--run-dir", tmp_path, "--bpf-dir", bpf_dir, *words],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    line = next(number for number, text in enumerate(lines) if re.match(r" +eth0 [^:]*$", text))
    head = next(text for text in reversed(lines[:line]) if not re.match(" *bond0", text))
    found = dict(numbers(head, lines[line]))
    assert found.keys() == columns
    assert all(name in COUNTS or name.endswith(UNITS) or cell.endswith("%")
               for name, cell in found.items()), found
