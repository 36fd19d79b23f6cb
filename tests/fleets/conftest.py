# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab of tests/net for the tests of fleets."""
import os
import pathlib
import subprocess
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "net")]
from lab import BPFFS, Lab  # noqa: E402  pylint: disable=wrong-import-position


@pytest.fixture(scope="session", autouse=True)
def machine():
    if os.geteuid():
        pytest.exit("tests/fleets needs root", returncode=1)
    if subprocess.run(["mountpoint", "-q", BPFFS], check=False).returncode:
        subprocess.run(["mount", "-t", "bpf", "bpf", BPFFS], check=True)


@pytest.fixture
def lab():
    made = Lab()
    yield made
    made.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    result = outcome.get_result()
    if result.failed and "lab" in item.funcargs and call.when in ("setup", "call"):
        result.sections.append(("the hosts", item.funcargs["lab"].report()))
