"""doctor where there are NICs and VLANs: what is as it should be is not complained of."""
import pytest

from lacp import wait_distributing


def above_note(host):
    return [each for each in host.doctor() if each["severity"] != "note"]


@pytest.mark.once
def test_nics_with_a_vlan_on_the_bond(bonded):
    near = bonded.near
    assert above_note(near) == []
    near.ip("link", "add", "link", "bond0", "name", "bond0.7", "type", "vlan", "id", "7")
    near.ip("link", "set", "bond0.7", "up")
    assert above_note(near) == []
    near.ip("link", "add", "dummy7", "address", near.link("bond0")["address"], "type", "dummy")
    near.ip("link", "set", "dummy7", "up")
    assert [each["check"] for each in above_note(near)] == ["mac"]
    for dev in ("dummy7", "bond0.7"):
        near.ip("link", "del", dev)
    assert above_note(near) == []


@pytest.mark.once
def test_kernel_bonding_as_partner(keeper):
    options = ("802.3ad", "lacp_rate", "fast")
    made = keeper.get("kernel", lambda made: made.kernel_bond(*options).bond_alone(*options))
    wait_distributing(made.near, links=made.near.links, deadline=20)
    assert above_note(made.near) == []
