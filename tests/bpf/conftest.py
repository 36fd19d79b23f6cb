"""Fixture of the datapath tests: one loaded object for all, reset for each test."""
import os

import pytest

import abi
from datapath import Datapath
from picks import PICKS


@pytest.fixture(scope="session", autouse=True)
def machine():
    if os.geteuid():
        pytest.exit("tests/bpf needs root", returncode=1)
    missing = [str(path.relative_to(abi.ROOT)) for path in (abi.OBJECT, PICKS) if not path.exists()]
    if missing:
        pytest.exit(f"not built: make {' '.join(missing)}", returncode=1)


@pytest.fixture(scope="session")
def loaded():
    made = Datapath()
    yield made
    made.close()


@pytest.fixture
def datapath(loaded):
    loaded.reset()
    return loaded
