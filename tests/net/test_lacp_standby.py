"""max_links with traffic: a port that comes back takes its place again, and nobody is without a
port meanwhile.
"""
import pytest

from lacp import distributing, ports
from traffic import Stream
from waiting import wait_for

RATE = 1000


def cut(made, dev):
    made.far.ip("link", "set", dev, "down")
    wait_for(lambda: distributing(made.near) and dev not in distributing(made.near),
             f"{dev} to be left")


def mend(made, dev):
    made.far.ip("link", "set", dev, "up")


@pytest.mark.parametrize("far", [{}, {"max_links": 1}, {"coupled_control": "off"}],
                         ids=["limited here", "at both ends", "uncoupled"])
def test_a_port_that_comes_back_takes_over_without_a_gap(pair, far):
    """A bond that gave up one port before it had the other would be without one for 2 or 3 s."""
    made = pair("802.3ad", links=2, far={"max_links": 0, **far}, lacp_rate="fast", max_links=1)
    wait_for(lambda: distributing(made.near) == distributing(made.far) == ["l0"],
             "the better port to carry")
    cut(made, "l0")
    wait_for(lambda: distributing(made.near) == distributing(made.far) == ["l1"],
             "the other one to carry")
    there = Stream(made.near, made.far, count=6 * RATE, rate=RATE)
    back = Stream(made.far, made.near, to="10.0.0.1", count=6 * RATE, rate=RATE)
    mend(made, "l0")
    wait_for(lambda: distributing(made.near) == distributing(made.far) == ["l0"],
             "the better port to take over")
    lost = there.finish()["lost"], back.finish()["lost"]
    assert max(lost) < 1.5 * RATE, lost


def test_what_works_stays_with_revert_off(pair):
    made = pair("802.3ad", links=2, far={"max_links": 0, "lacp_revert": "on"}, lacp_rate="fast",
                max_links=1, lacp_revert="off")
    wait_for(lambda: distributing(made.near) == ["l0"], "the better port to carry")
    cut(made, "l0")
    wait_for(lambda: distributing(made.near) == distributing(made.far) == ["l1"],
             "the other one to carry")
    mend(made, "l0")
    wait_for(lambda: ports(made.near)["l0"]["why"] ==
             "standby: max_links 1, and the others work (lacp_revert off)",
             "the better port to stand by")
    assert Stream(made.near, made.far, count=RATE, rate=RATE).finish()["lost"] == 0
    assert distributing(made.near) == ["l1"]
    made.near.ctl("set", "bond0", "lacp_revert", "on")
    wait_for(lambda: distributing(made.near) == distributing(made.far) == ["l0"],
             "the better port to take over")
