"""The trials of tests/net/hitless.py with kernel bonding as the partner (tests/vm/hitless)."""
import os
import re

import pytest

from builds import build, newer_abi, other_programs
from hitless import TIMES, Trial, check
from namespace import run
from test_lacp_partners import bonded_with, view, wait_agreed

pytestmark = [pytest.mark.full, pytest.mark.skipif(
    "XBOND_BUILDS" not in os.environ, reason="tests/vm/hitless runs these")]


@pytest.fixture
def trial(keeper):
    made = keeper.get("hitless", lambda setting: bonded_with("bonding", setting))
    wait_agreed(made)

    def changes():
        """What the kernel's log says of the partner, and what the partner counts."""
        said = sum("kb0" in line for line in run("dmesg").stdout.splitlines())
        counts = re.findall(r"^(?:Link Failure|Actor Churned|Partner Churned) Count: (\d+)",
                            made.partner.text(), re.M)
        return said + sum(map(int, counts))
    return Trial(made.near, made.far, made.far.links, lambda: view(made), changes)


def test_restarts(trial, capsys):
    check("restart", trial.run([trial.restart] * TIMES), capsys)


def test_kills(trial, capsys):
    check("kill -9, start", trial.run([trial.kill] * TIMES), capsys)


def test_five_minutes_without_bondd(trial, capsys):
    check("stop, 5 minutes, start", trial.run([trial.away]), capsys)


def test_upgrades(trial, capsys, tmp_path):
    """The last one, because the bond has another ABI then."""
    steps = trial.upgrades(build(tmp_path, other_programs), build(tmp_path, newer_abi))
    check("upgrade or downgrade", trial.run(steps), capsys)
