"""The programs see a loss of carrier by themselves: nothing is lost after a cut, although bondd is
dead or stands still.
"""
import pytest

from traffic import Stream

MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad"]
PACKETS = 2000


@pytest.fixture(params=["killed", "frozen"])
def without_bondd(request):
    """without_bondd(host): from now on its bondd does nothing."""
    def leave_alone(host):
        if request.param == "killed":
            host.kill_bondd()
        else:
            host.freeze_bondd()
    return leave_alone


def arrive(made, count=PACKETS):
    """Packets of 64 flows, sent now, all arrive; each once."""
    stream = Stream(made.near, made.far, count=count, rate=20000, flows=64)
    result = stream.finish()
    assert (result["lost"], result["sent"]) == (0, count), result


@pytest.mark.parametrize("mode", MODES)
def test_a_link_is_cut_without_bondd(pair, without_bondd, mode):
    options = {"lacp_rate": "fast"} if mode == "802.3ad" else {}
    made = pair(mode, links=3, **options, far={"all_slaves_active": "on"}
                if mode == "active-backup" else {"mode": mode})
    without_bondd(made.near)
    for link in ("l0", "l2"):
        made.far.ip("link", "set", link, "down")
        arrive(made)
    assert made.near.sent("l1")["packets"] >= PACKETS
