# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources are held to one version of clang-format; where another is installed that is said, and
no line is blamed.
"""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_another_version_of_clang_format(tmp_path):
    program = tmp_path / "clang-format"
    version = "Debian clang-format version 19.1.7 (3)"
    program.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{version}' && exit\nexit 1\n")
    program.chmod(0o755)
    done = subprocess.run([ROOT / "tests/check-format"],
                          env={**os.environ, "CLANG_FORMAT": str(program)}, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 77
    assert "clang-format 14" in done.stdout and "19.1.7" in done.stdout and "SKIPPED" in done.stdout
