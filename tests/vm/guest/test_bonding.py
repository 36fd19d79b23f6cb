"""xbond at the near end, the kernel's own bonding at the far end, in the modes and policies that
both have (802.3ad: test_lacp_*.py). One bond here serves all: its mode changes live, the kernel's
is made anew.
"""
import pytest

from test_slave_sockets import FOR_THE_BOND, FOR_THE_LINK, LLDP, NEAREST, Ears, frame
from traffic import Stream, send_frames
from waiting import wait_for

PEER = "bonding"
MODES = {"balance-rr": pytest.mark.full, "active-backup": pytest.mark.once,
         "balance-xor": pytest.mark.once, "broadcast": pytest.mark.full}
POLICIES = ["layer2", "layer2+3", "layer3+4", "vlan+srcmac"]
BY_FLOW = "layer3+4"
LAST = frame(NEAREST, LLDP, b"last")


@pytest.fixture
def made(keeper):
    """make(mode, policy): both ends in it, all links up."""

    def build(setting):
        setting.kernel_bond("balance-rr")
        return setting.bond("balance-rr")

    def make(mode, policy=BY_FLOW):
        made = keeper.get("bonding", build)
        made.far.ip("link", "del", "kb0")
        hashed = ["xmit_hash_policy", policy] if mode == "balance-xor" else []
        made.kernel_bond(mode, *hashed)
        made.near.ctl("set", "bond0", "mode", mode)
        made.near.ctl("set", "bond0", "xmit_hash_policy", policy)
        made.near.wait_slaves(*made.near.links)
        if mode == "active-backup":  # a new bond of the kernel begins with its first slave
            made.near.ctl("set", "bond0", "active_slave", made.near.links[0])
        wait_for(lambda: len(kernel_slaves_up(made)) == 2, "the kernel's slaves")
        made.near.wait_ping("10.0.0.2")
        return made
    return make


def kernel_slaves_up(made):
    return [dev for dev in made.far.links
            if made.far.link(dev)["linkinfo"]["info_slave_data"]["mii_status"] == "UP"]


def counts(namespace):
    return [namespace.sent(dev)["packets"] for dev in namespace.links]


def check_traffic(made, mode, both_links):
    """Both ways at once: nothing lost; every link used where the mode uses all."""
    near, far = made.near, made.far
    before = counts(near), counts(far)
    streams = [Stream(near, far, to="10.0.0.2", count=200, rate=400, flows=64),
               Stream(far, near, to="10.0.0.1", count=200, rate=400, flows=64, port=9001)]
    for stream in streams:
        wait_for(lambda stream=stream: stream.sender.poll() is not None, "the sender to end", 20)
        result = stream.finish()
        assert result["lost"] == 0, result
        if mode != "broadcast":
            assert result["duplicates"] == 0, result
    after = counts(near), counts(far)
    for side in range(2):
        used = [now - then > 20 for now, then in zip(after[side], before[side])]
        assert all(used) == (both_links and mode != "active-backup"), (after, before)


@pytest.mark.parametrize("mode", [pytest.param(mode, marks=marks) for mode, marks in MODES.items()])
def test_modes(made, shows, mode):
    with shows(PEER, f"{mode}: traffic both ways, cut of a link, and return"):
        made = made(mode)
        check_traffic(made, mode, both_links=True)
        for end in (0, 1):
            made.nics.cable(end, False)
        wait_for(lambda: made.near.carrier_slaves() == ["eth2"], "xbond to see the cut")
        wait_for(lambda: kernel_slaves_up(made) == ["eth3"], "the kernel to see the cut")
        made.near.wait_ping("10.0.0.2")
        check_traffic(made, mode, both_links=False)
        for end in (0, 1):
            made.nics.cable(end, True)
        made.near.wait_slaves(*made.near.links)
        wait_for(lambda: len(kernel_slaves_up(made)) == 2, "the kernel's slaves")
        made.near.wait_ping("10.0.0.2")


@pytest.mark.full
@pytest.mark.parametrize("policy", POLICIES)
def test_policies(made, shows, policy):
    """One pair of hosts: only layer3+4 tells its flows apart."""
    with shows(PEER, f"balance-xor, xmit_hash_policy {policy}"):
        check_traffic(made("balance-xor", policy), "balance-xor", both_links=policy == BY_FLOW)


def idle_end(made):
    """The number of a cable whose slave is inactive here, and of one at the kernel's end; None: all
    are active.
    """
    here = [slave["name"] for slave in made.near.show()["slaves"] if not slave["active"]]
    there = made.far.link("kb0")["linkinfo"]["info_data"].get("active_slave")
    return [next((made.near.links.index(dev) for dev in here), 0),
            next((number for number, dev in enumerate(made.far.links) if there and dev != there),
                 0)]


def heard_at(namespace, bond, cable, sender):
    """{"slave" or "bond": frames} that sockets bound to them and to a protocol hear of what comes
    by a cable.
    """
    dev = namespace.links[cable]
    heard = {"slave": [], "bond": []}
    with Ears(namespace, [dev, bond]) as ears:
        def is_over():
            for each, frames in ears.heard(0.3).items():
                heard["slave" if each == dev else "bond"].extend(frames)
            return LAST in heard["slave"]
        send_frames(sender, sender.links[cable], [*FOR_THE_LINK, *FOR_THE_BOND, LAST])
        wait_for(is_over, "the last frame", 20)
    return {each: sorted(frames) for each, frames in heard.items()}


@pytest.mark.once
@pytest.mark.parametrize("device", ["pair", "team"])
@pytest.mark.parametrize("mode", [pytest.param("balance-xor", marks=pytest.mark.full),
                                  "active-backup"])
def test_sockets_on_slaves(made, mode, device):
    """What is for the link they hear as with the kernel's driver; what is not, on a pair only the
    bond's, as the manual says. On a team, slaves in use hear both, and the bond hears, of a slave
    that is not in use, what is for the link.
    """
    made = made(mode)
    made.near.ctl("set", "bond0", "device", device)
    here, there = idle_end(made)
    ours = heard_at(made.near, "bond0", here, made.far)
    kernels = heard_at(made.far, "kb0", there, made.near)
    more = [each for each in ours["bond"] if each not in kernels["bond"]]
    less = [each for each in kernels["slave"] if each not in ours["slave"]]
    assert not more or (device == "team" and set(more) <= {*FOR_THE_LINK, LAST})
    assert not [each for each in kernels["bond"] if each not in ours["bond"]]
    assert less == sorted(FOR_THE_BOND) or (device == "team" and set(less) <= {*FOR_THE_BOND})
    assert [each for each in ours["slave"] if each not in kernels["slave"]] == []
