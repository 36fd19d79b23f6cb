"""Fixture of the datapath tests: one loaded object for all, reset for each test."""
import os

import pytest

import abi
from datapath import Datapath


@pytest.fixture(scope="session")
def loaded():
    if os.geteuid():
        pytest.exit("tests/bpf needs root", returncode=1)
    if not abi.OBJECT.exists():
        pytest.exit(f"{abi.OBJECT} is missing: make", returncode=1)
    made = Datapath()
    yield made
    made.close()


@pytest.fixture
def datapath(loaded):
    loaded.reset()
    return loaded
