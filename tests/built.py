# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the programs under test are: in build/, or in the directory of the tree that XBOND_BUILD
names. `make SAN=... test` and `make cover` set it. Every suite takes its paths from here.
"""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("XBOND_BUILD", "build")
SANITIZERS = os.environ.get("SAN", "")  # as the Makefile's SAN; empty: none
# What such a program finds, or counts, it tells at an orderly end.
IS_INSTRUMENTED = bool(SANITIZERS) or BUILD.name.endswith("-cover")
