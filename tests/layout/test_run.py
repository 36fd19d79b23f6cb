# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run: what failed is counted, however it failed, and only chance is forgiven."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

import pytest

from built import ROOT

LOADER = importlib.machinery.SourceFileLoader("runner", str(ROOT / "tests/run"))
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", LOADER))
LOADER.exec_module(runner)
FAILED = "FAILED tests/net/test_a.py::test_b[c d]"


@pytest.mark.parametrize("text,status,expected", [
    ("...\n2 passed, 1 skipped in 1.00s\n", 0, (2, 0, 1)), ("no tests ran in 0.1s\n", 5, (0, 1, 0)),
    ("1 failed, 2 passed, 1 error in 1.00s\n", 1, (2, 2, 0)), ("", -11, (0, 1, 0)),
    ("[  PASSED  ] 7 test(s).\n5 passed, 3 failed, 0 skipped\n", 1, (5, 3, 0))])
def test_totals(text, status, expected):
    assert runner.of_totals(text, status) == expected


@pytest.mark.parametrize("text,status,expected", [
    ("[  PASSED  ] 3 test(s).\n", 0, (3, 0, 0)), ("[  PASSED  ] 3 test(s).\n", -6, (3, 1, 0)),
    ("[  PASSED  ] 1 test(s).\n[  FAILED  ] one\n[  FAILED  ] two\n", 2, (1, 2, 0))])
def test_cmocka(text, status, expected):
    assert runner.of_cmocka(text, status) == expected


@pytest.fixture(autouse=True)
def seed(monkeypatch):
    monkeypatch.setenv("XBOND_TEST_SEED", "7")


def test_a_program_that_is_not_there_fails_and_the_next_one_runs(capsys):
    run = runner.Run()
    run.lane([("gone", ["/nonexistent"], runner.of_status), ("there", ["true"], runner.of_status)])
    assert (run.passed, run.failed, run.failures) == (1, 1, ["gone: FAILED gone"])
    assert run.end() == 1 and "1 passed, 1 failed, 0 skipped" in capsys.readouterr().out


@pytest.fixture(name="run")
def _run(monkeypatch):
    """make(of the network, status, of all else, alone): a Run after all but the second try; what
    the network's tests and that try print is given.
    """
    def make(text, status, others, alone):
        said = [(status, text), alone]
        run = runner.Run()
        run.lane([("with sanitizers", ["echo", others], runner.of_totals)])
        monkeypatch.setattr(run, "run", lambda _: (said[0][0], 0, said.pop(0)[1]))
        run.again(*run.network())
        return run
    return make


def test_chance_is_forgiven_and_named(run, capsys):
    made = run(f"{FAILED}@test_a.py - why\n1 failed, 9 passed\n", 1, "1 passed", (0, "1 passed\n"))
    assert (made.failed, made.failures) == (0, []) and made.end() == 0
    assert f"beside others: {FAILED} - why" in capsys.readouterr().out


@pytest.mark.parametrize("text,status,others,alone", [
    (f"{FAILED} - why\n1 failed, 9 passed\n", 1, "1 passed", (1, f"{FAILED} - why\n1 failed\n")),
    (f"{FAILED} - why\n1 failed, 9 passed\n", 1, f"{FAILED} - why\n1 failed", (0, "1 passed\n")),
    (f"{FAILED} - why\n1 failed, 2 passed\n", 2, "1 passed", (0, "1 passed\n")),
    (f"{FAILED} - why\nERROR x\n1 failed, 1 error\n", 1, "1 passed", (0, "1 passed\n"))],
    ids=["again", "of another build", "broken off", "an error beside"])
def test_nothing_else_is_forgiven(run, text, status, others, alone):
    made = run(text, status, others, alone)
    assert made.failed > 0 and made.failures and made.end() == 1


@pytest.mark.parametrize("bench", [["tests.bench"], ["tests.vm.guest.bench", "6.12", "/dev/null"]])
def test_a_benchmark_that_there_is_not(bench):
    """Nothing is measured, and the names are said. Commas separate them in both."""
    done = subprocess.run([sys.executable, "-m", *bench], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "ONLY": "receive,nosuch"}, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no 'nosuch' to choose; there are " in done.stderr and ", receive, " in done.stderr
