"""xbond at the near end, the kernel's own bonding at the far end, in the modes that both have."""
import pytest

from lab import wait_for
from traffic import Stream

HASH = ("xmit_hash_policy", "layer3+4")
MODES = {
    "balance-rr": (),
    "active-backup": (),
    "balance-xor": HASH,
    "broadcast": (),
}


def kernel_slaves_up(made):
    return [dev for dev in made.far.links
            if made.far.link(dev)["linkinfo"]["info_slave_data"]["mii_status"] == "UP"]


def counts(namespace):
    return [namespace.sent(dev)["packets"] for dev in namespace.links]


def check_traffic(made, mode, both_links):
    """Both ways at once: nothing lost; every link used where the mode uses all."""
    near, far = made.near, made.far
    before = counts(near), counts(far)
    streams = [Stream(near, far, to="10.0.0.2", count=400, rate=400, flows=16),
               Stream(far, near, to="10.0.0.1", count=400, rate=400, flows=16, port=9001)]
    for stream in streams:
        wait_for(lambda stream=stream: stream.sender.poll() is not None, "the sender to end", 20)
        result = stream.finish()
        assert result["lost"] == 0, result
        if mode != "broadcast":
            assert result["duplicates"] == 0, result
    after = counts(near), counts(far)
    for side in range(2):
        used = [now - then > 40 for now, then in zip(after[side], before[side])]
        assert all(used) == (both_links and mode != "active-backup"), (after, before)


@pytest.mark.parametrize("mode", MODES)
def test_kernel_bonding_as_the_far_end(setting, mode):
    words = MODES[mode]
    made = setting(2).kernel_bond(mode, *words).bond(mode, *words)
    wait_for(lambda: len(kernel_slaves_up(made)) == 2, "the kernel's slaves")
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
    check_traffic(made, mode, both_links=True)
