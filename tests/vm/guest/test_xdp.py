"""rx_hook and xdp_tx on NICs with native XDP, rings and offloads of their own (virtio)."""
import pytest

from lab import BUILD, ROOT, hooks
from traffic import Stream
from test_nic import add_vlan, state
from waiting import wait_for


def check_both_ways(made):
    for stream in (Stream(made.near, made.far, count=500, rate=1000, flows=16),
                   Stream(made.far, made.near, to="10.0.0.1", count=500, rate=1000, flows=16,
                          port=9001)):
        stream.finish_unharmed()


@pytest.mark.small
def test_a_program_that_receives_by_af_xdp(lab):
    """This kernel takes the filter of libxbond-xsk."""
    host = lab.lone(links=1)
    host.make_bond(["l0"])
    host.spawn(BUILD / "tools/echo", host.bpf_dir / "bond0", 4007)
    wait_for(lambda: "xdp" in host.link("l0"), "the filter on the slave")


@pytest.mark.full
def test_auto_receives_by_xdp(setting):
    """Traffic, VLAN tags and jumbo frames; then all is as before."""
    made = setting().switch()
    before = {dev: state(made.near, dev) for dev in made.near.links}
    made.bond("active-backup", "rx_hook", "auto")
    assert hooks(made.near) == ["xdp", "xdp"], made.near.log()
    check_both_ways(made)
    add_vlan(made.far, "sw0", 100, 2)
    add_vlan(made.near, "bond0", 100, 1)
    made.near.wait_ping("10.0.100.2")
    made.near.ip("link", "set", "bond0", "mtu", 3000)
    for dev in (*made.far.links, "sw0"):
        made.far.ip("link", "set", dev, "mtu", 3000)
    wait_for(lambda: made.near.ping("10.0.0.2", size=2900), "large packets", 10)
    made.nics.cable(0, False)
    made.near.wait_ping("10.0.0.2")
    made.near.ctl("delete", "bond0")
    assert {dev: state(made.near, dev) for dev in made.near.links} == before


@pytest.mark.full
def test_lacp_by_xdp(setting):
    made = setting().kernel_bond("802.3ad", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4")
    made.bond("802.3ad", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4", "rx_hook", "xdp")
    assert hooks(made.near) == ["xdp", "xdp"], made.near.log()
    wait_for(lambda: all("distributing" in slave["lacp"]["actor_state"]
                         for slave in made.near.show()["slaves"]), "both to distribute", 15)
    check_both_ways(made)


@pytest.mark.full
def test_frames_leave_by_the_driver(setting):
    """Frames of another XDP program, through bond0, out of virtio; in turn by both NICs."""
    made = setting().switch().bond("balance-rr", "rx_hook", "xdp", "xdp_tx", "on")
    before = [made.far.received(dev)["packets"] for dev in made.far.links]

    def send_more():
        """In bursts: nothing holds back who sends by XDP, and a pair's ring has 256 places."""
        made.near.run(ROOT / "build/tools/xdplive", "lo", "bond0", 128)
        return all(made.far.received(dev)["packets"] - then >= 500
                   for dev, then in zip(made.far.links, before))

    wait_for(send_more, "the frames")
