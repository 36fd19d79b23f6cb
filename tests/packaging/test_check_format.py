# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/check-format: where another version of clang-format is installed that is said, and no line
is blamed; a line that is too long is named.
"""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "tests/check-format"


def test_another_version_of_clang_format(tmp_path):
    program = tmp_path / "clang-format"
    version = "Debian clang-format version 19.1.7 (3)"
    program.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{version}' && exit\nexit 1\n")
    program.chmod(0o755)
    done = subprocess.run([CHECK], env={**os.environ, "CLANG_FORMAT": str(program)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 77
    assert "clang-format 14" in done.stdout and "19.1.7" in done.stdout and "SKIPPED" in done.stdout


@pytest.mark.parametrize("name, line, named", [
    ("a.py", "x" * 100, False), ("a.py", "x" * 101, True), ("a.py", "ä" * 100, False),
    ("script", "\t" * 12 + "x" * 4, False), ("script", "\t" * 12 + "x" * 5, True),
    ("a.scd", "x" * 101, True), ("a.md", "x" * 101, True), ("a.md", "|" + "x" * 100, False),
    ("a.txt", "x" * 101, False)])
def test_long_lines(tmp_path, name, line, named):
    """A tab is as wide as in the C sources; a script is known by its first line."""
    (tmp_path / "tests").mkdir()
    shutil.copy(CHECK, tmp_path / "tests")
    (tmp_path / name).write_text(f"{'#!/bin/bash' if name == 'script' else ''}\n{line}\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    done = subprocess.run([tmp_path / "tests/check-format"], capture_output=True, text=True,
                          env={**os.environ, "CLANG_FORMAT": "/bin/false"}, check=False)
    assert (done.returncode == 1) == named
    assert (f"{name}:2: longer than 100 columns" in done.stdout) == named
