# SPDX-License-Identifier: GPL-2.0-or-later
"""The sample that tests/sample.py chooses: by the seed, in each process alike, always with what
must be in it, and all if somebody wants all.
"""
import os
import re
import shutil
import subprocess
import sys

import pytest

from built import ROOT

TESTS = '''
import pytest

@pytest.mark.variants(3, always=("corner",))
@pytest.mark.parametrize("case", [f"case{number}" for number in range(20)] + ["a corner"])
def test_many(case):
    pass

@pytest.mark.parametrize("case", ["x", "y"])
def test_few(case):
    pass
'''
IN_TURNS = """
import pytest

pytestmark = pytest.mark.takes_turns
""" + "\n".join(f"def test_{number}(): pass" for number in range(7))
MISSPELT = TESTS.replace('always=("corner",)', 'always=("croner",)')
FEW = {"test_few[x]", "test_few[y]"}
ALL = FEW | {f"test_many[case{number}]" for number in range(20)} | {"test_many[a corner]"}


@pytest.fixture
def suite(tmp_path):
    """A folder with tests of its own under the hooks of all suites."""
    shutil.copy(ROOT / "tests/conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS)
    return tmp_path


def collect(suite, *words, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("XBOND_TEST")}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
               "--strict-markers", *words]
    return subprocess.run(command, cwd=suite, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          env={**clean, "PYTHONPATH": str(ROOT / "tests"), **environment})


def found(suite, *words, **environment):
    return set(re.findall(r"^test_it\.py::(.*)$", collect(suite, *words, **environment).stdout,
                          re.M))


def seed(number, of="1"):
    """PYTHONHASHSEED is another in each process."""
    return {"XBOND_TEST_SEED": str(number), "PYTHONHASHSEED": of}


def test_size_of_the_sample(suite):
    names = found(suite, **seed(1))
    assert FEW | {"test_many[a corner]"} < names <= ALL and len(names) == 2 + 1 + 3
    assert names == found(suite, **seed(1))


def test_the_seed_alone_chooses(suite):
    names = found(suite, **seed(7))
    assert names == found(suite, **seed(7, "2")) == found(suite, "test_it.py", **seed(7))
    samples = {frozenset(names), *(frozenset(found(suite, **seed(other))) for other in (8, 9))}
    assert len(samples) > 1


def test_all(suite):
    assert found(suite, "-k", "case or x or y or corner", **seed(1)) == ALL
    assert found(suite, XBOND_TEST_LONG="1", **seed(1)) == ALL
    assert found(suite) == ALL, "nobody has asked for a sample"


def test_a_long_run_may_have_a_sample_too(suite):
    (suite / "test_it.py").write_text(TESTS.replace("variants(3,", "variants(3, long=9,"))
    names = found(suite, XBOND_TEST_LONG="1", **seed(1))
    assert FEW | {"test_many[a corner]"} < names <= ALL and len(names) == 2 + 1 + 9
    assert found(suite) == ALL


def test_a_case_that_is_named(suite):
    for number in range(20):
        name = f"test_many[case{number}]"
        if name not in found(suite, **seed(1)):
            break
    assert found(suite, f"test_it.py::{name}", **seed(1)) == {name}


def test_tests_that_take_turns(suite):
    """Three seeds that follow one another have all."""
    (suite / "test_it.py").write_text(IN_TURNS)
    thirds = [found(suite, **seed(number)) for number in (6, 7, 8)]
    assert sorted(map(len, thirds)) == [2, 2, 3]
    assert set().union(*thirds) == found(suite)
    assert thirds[0] == found(suite, **seed(9, "2")) == found(suite, str(suite), **seed(6))


def test_corners_take_no_turns(suite):
    (suite / "test_it.py").write_text(TESTS.replace("import pytest", IN_TURNS.lstrip(), 1))
    thirds = [found(suite, **seed(number)) for number in (6, 7, 8)]
    assert all("test_many[a corner]" in third for third in thirds)
    assert sum("test_few[x]" in third for third in thirds) == 1


def test_who_names_the_file_gets_all_tests_of_it(suite):
    (suite / "test_it.py").write_text(IN_TURNS)
    assert len(found(suite, "test_it.py", **seed(6))) == 7
    assert found(suite, "test_it.py::test_3", **seed(6)) == {"test_3"}
    assert found(suite, "test_it.py::test_3", **seed(7)) == {"test_3"}


def test_what_is_left_out_is_said_with_the_seed(suite):
    text = collect(suite, **seed(7)).stdout
    assert "a sample without 17 cases, by XBOND_TEST_SEED=7" in text and "17 deselected" in text
    assert "SEED" not in collect(suite, "test_it.py::test_few", **seed(7)).stdout


def test_a_corner_that_no_case_has(suite):
    (suite / "test_it.py").write_text(MISSPELT)
    done = collect(suite, **seed(1))
    assert done.returncode != 0 and "'croner'" in done.stdout
