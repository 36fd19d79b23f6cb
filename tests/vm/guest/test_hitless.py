"""The trials of tests/net/hitless.py with kernel bonding as the partner (tests/vm/hitless)."""
import os
import re

import pytest

# pylint: disable-next=unused-import
from hitless import (Trial, test_five_minutes_without_bondd, test_kills,  # noqa: F401
                     test_restarts, test_upgrades)
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
