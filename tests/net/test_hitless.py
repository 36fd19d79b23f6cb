"""Restarts, crashes, upgrades and a long absence of bondd under 25,000 packets a second, with Open
vSwitch as the partner (`make hitless`). test_restart.py, test_upgrade.py and test_lacp_ovs.py have
what takes seconds.
"""
import pytest

# pylint: disable-next=unused-import
from hitless import (Trial, check, test_five_minutes_without_bondd, test_kills,  # noqa: F401
                     test_restarts, test_upgrades)
# pylint: disable-next=unused-import
from test_lacp_ovs import switch, their_view, wait_agreed  # noqa: F401

pytestmark = pytest.mark.soak
QUIET_S = 20


@pytest.fixture
def trial(switch):  # noqa: F811  pylint: disable=redefined-outer-name
    near = switch()
    wait_agreed(near, near.links)

    def changes():
        """What its log says of its members; it also says how it spreads its load."""
        lines = (near.ovs.dir / "ovs-vswitchd.log").read_text().splitlines()
        return sum(("|bond" in line and "shift" not in line) or "|lacp" in line for line in lines)

    def view():
        return their_view(near.ovs), near.ovs.enabled()
    return Trial(near, near.far, near.links, view, changes)


def test_nothing_happens(trial, capsys):
    """What the others are to be compared with."""
    check("nothing", trial.run([lambda: trial.look(QUIET_S)]), capsys)
