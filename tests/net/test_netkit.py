"""device netkit: what bond0 is made of, that its own transmit function selects, and that everything
stays true that holds for a veth. The other tests run on it with XBOND_TEST_DEVICE=netkit.
"""
import contextlib
import json
import os

import pytest

from lab import Refused, is_team
from namespace import kernel_makes, run
from traffic import Capture, Stream, flows_by_link, send_packets
from waiting import wait_for

BPF_LINK_TYPE_NETKIT = 13  # what an older bpftool says of it
pytestmark = pytest.mark.usefixtures("tests_choose")


HAS_NETKIT = os.geteuid() == 0 and kernel_makes("netkit")
netkit_only = pytest.mark.skipif(not HAS_NETKIT, reason="this kernel has no netkit")


@pytest.fixture
def netkit_pair(pair_with):
    return pair_with(device="netkit")


def kind(host, dev="bond0"):
    return host.link(dev)["linkinfo"]["info_kind"]


def linked(host, pin):
    """A pinned link as bpftool shows it, or None."""
    done = run("bpftool", "-j", "link", "show", "pinned", host.bpf_dir / "bond0" / pin, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def refused(host, *words, status=1):
    """The one line of a call that must be refused and change nothing."""
    before = host.devices(), host.pins()
    with pytest.raises(Refused) as refusal:
        host.ctl(*words)
    assert refusal.value.status == status and refusal.value.text.count("\n") == 1
    assert (host.devices(), host.pins()) == before
    return refusal.value.text


# which device

@pytest.mark.skipif(is_team(), reason="auto takes a team where the kernel has it")
def test_auto_takes_netkit_where_the_kernel_has_it(lone):
    host = lone(links=1)
    host.ctl("create", "bond0")
    expected = "netkit" if HAS_NETKIT else "veth"
    assert kind(host) == kind(host, "xb-bond0") == expected
    assert host.show()["device"] == expected and host.show()["options"]["device"] == "auto"


@pytest.mark.parametrize("words", [("rx_hook", "xdp"), ("rx_hook", "auto"), ("xdp_tx", "on"),
                                   ("device", "veth")])
def test_veth_where_xdp_or_veth_is_asked_for(lone, words):
    host = lone(links=1)
    host.ctl("create", "bond0", *words)
    assert kind(host) == host.show()["device"] == "veth"


@pytest.mark.skipif(HAS_NETKIT, reason="this kernel has netkit")
def test_refused_where_the_kernel_has_none(lone):
    host = lone(links=1)
    assert "this kernel has no netkit" in refused(host, "create", "bond0", "device", "netkit")
    host.ctl("create", "bond0", "device", "auto")


def test_words(lone):
    host = lone(links=1)
    assert refused(host, "create", "bond1", "device", "tap", status=2).endswith(
        "allowed: auto|veth|netkit|team|pair\n")


@netkit_only
def test_no_xdp(lone):
    host = lone(links=1)
    line = "netkit has no XDP; add 'device veth'"
    for words in (("rx_hook", "xdp"), ("rx_hook", "auto"), ("xdp_tx", "on")):
        assert line in refused(host, "create", "bond0", "device", "netkit", *words)
    host.ctl("create", "bond0", "device", "netkit")
    for words in (("rx_hook", "xdp"), ("rx_hook", "auto"), ("xdp_tx", "on")):
        assert line in refused(host, "set", "bond0", *words)
    assert host.show()["options"]["rx_hook"] == "tc" and host.show()["options"]["xdp_tx"] is False
    host.ctl("set", "bond0", "rx_hook", "tc", "xdp_tx", "off")


@pytest.mark.parametrize("device", ["veth", pytest.param("netkit", marks=netkit_only)])
def test_save_keeps_it(lone, device):
    host = lone(links=1)
    host.ctl("create", "bond0", "device", device)
    host.ctl("create", "bond1")
    for bond in ("bond0", "bond1"):
        host.ctl("save", bond)
        host.ctl("delete", bond)
    assert f"device = {device}\n" in (host.config_dir / "bond0.conf").read_text()
    assert "device" not in (host.config_dir / "bond1.conf").read_text()
    host.restart_bondd()
    assert host.show()["device"] == host.show()["options"]["device"] == device
    assert host.show("bond1")["options"]["device"] == "auto"


@netkit_only
def test_what_is_made(lone):
    host = lone(links=1)
    host.ctl("create", "bond0", "device", "netkit")
    bond, port = host.link("bond0"), host.link("xb-bond0")
    assert bond["link_type"] == port["link_type"] == "ether"
    assert bond["mtu"] == 1500 and bond["address"] == host.show()["mac"]
    assert bond["num_tx_queues"] == os.cpu_count(), "tc's skbedit takes no queue that bond0 has not"
    assert "NOARP" not in bond["flags"] and "NOARP" in port["flags"], \
        "L2 mode has ARP; the port side has none"
    assert linked(host, "link_port")["type"] in ("netkit", BPF_LINK_TYPE_NETKIT)
    assert linked(host, "link_egress") is None
    assert "netkit" in host.ctl("show", "-d", "bond0")


@pytest.mark.parametrize("device", ["veth", pytest.param("netkit", marks=netkit_only)])
def test_port_side_does_not_look_as_if_it_ran(lone, device):
    """dhcpcd, networkd and others that wait for IFF_RUNNING or operstate leave it alone."""
    host = lone(links=1)
    host.make_bond(["l0"], "device", device)
    wait_for(lambda: host.link("bond0")["operstate"] == "UP", "carrier")
    host.wait_port_side()
    assert host.link("xb-bond0")["operstate"] == "DORMANT"
    host.ip("link", "set", "l0", "down")
    wait_for(lambda: host.link("bond0")["operstate"] == "LOWERLAYERDOWN", "carrier off")
    host.ip("link", "set", "l0", "up")
    wait_for(lambda: host.link("bond0")["operstate"] == "UP", "carrier on")
    host.wait_port_side()
    assert host.link("xb-bond0")["operstate"] == "DORMANT"


@netkit_only
def test_policy_drops_without_the_program(netkit_pair):
    """Nothing passes to the port side when somebody has taken the program off."""
    made = netkit_pair(links=1)
    made.near.kill_bondd()  # it would put the program back
    run("bpftool", "link", "detach", "pinned", made.near.bpf_dir / "bond0" / "link_port")
    before = made.near.received("xb-bond0")["packets"]
    dropped = made.near.sent("bond0")["dropped"]
    send_packets(made.near, count=50)
    assert made.near.received("xb-bond0")["packets"] == before
    assert made.near.sent("bond0")["dropped"] >= dropped + 50


@netkit_only
def test_a_program_that_somebody_takes_off_is_put_back(netkit_pair):
    made = netkit_pair(links=1)
    run("bpftool", "link", "detach", "pinned", made.near.bpf_dir / "bond0" / "link_port")
    wait_for(lambda: made.near.show()["times_detached"] == 1, "bondd to see it")
    made.near.wait_ping("10.0.0.2")


# transmit and receive

@netkit_only
@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_counted_and_captured(netkit_pair, hook):
    made = netkit_pair(links=2)
    near, far = made.near, made.far
    before, shown = near.sent("bond0")["packets"], near.show()["tx_packets"]
    with Capture(near, "bond0", outgoing=True) as capture:
        assert Stream(near, far, count=1000, flows=20).finish()["lost"] == 0
        assert len(capture.frames(0.1)) >= 1000
    sent = near.sent("bond0")["packets"] - before
    assert 1000 <= sent <= 1050
    assert abs(near.show()["tx_packets"] - shown - sent) <= 20
    assert near.received("xb-bond0")["packets"] == 0, "nothing crosses"


@netkit_only
def test_direct_is_chosen_before_the_device(netkit_pair):
    """As with a veth; from counted to direct and back under traffic."""
    made = netkit_pair(links=2)
    near = made.near
    stream = Stream(near, made.far, flows=16)
    for path in ("direct", "counted") * 2:
        near.ctl("set", "bond0", "path", path)
        assert (linked(near, "link_egress") is not None) == (path == "direct")
        before = near.sent("bond0")["packets"]
        stream.flow_on(1000)
        counted = near.sent("bond0")["packets"] - before
        assert counted < 100 if path == "direct" else counted >= 1000, path
    stream.finish_unharmed(in_order=True)


@netkit_only
def test_all_links_are_used(netkit_pair, path):
    made = netkit_pair(links=4, path=path)
    wires = [Capture(made.far, link) for link in made.links]
    send_packets(made.near, count=1000, flows=200)
    assert all(flows_by_link(wires)[1].values())
    for wire in wires:
        wire.close()


@netkit_only
def test_carrier_follows(netkit_pair):
    made = netkit_pair(mode="active-backup", links=2, far={"mode": "broadcast"})
    made.near.ip("addr", "add", "10.9.0.1/24", "dev", "bond0")
    for link in made.links:
        made.far.ip("link", "set", link, "down")
    wait_for(lambda: made.near.link("bond0")["operstate"] == "LOWERLAYERDOWN", "carrier off")
    assert "10.9.0.1" in made.near.ip("addr", "show", "bond0"), "addresses stay"
    for link in made.links:
        made.far.ip("link", "set", link, "up")
    wait_for(lambda: made.near.link("bond0")["operstate"] == "UP", "carrier on")
    made.near.wait_ping("10.0.0.2")


@netkit_only
@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_queue_ids_bring_the_egress_program(netkit_pair, hook):
    made = netkit_pair(links=2)
    near = made.near

    def has_egress():
        if hook == "tcx":
            return linked(near, "link_egress") is not None
        return bool(near.run("tc", "filter", "show", "dev", "bond0", "egress", check=False).stdout)

    assert not has_egress()
    near.ctl("set-slave", "bond0", "l1", "queue_id", 5)
    wait_for(has_egress, "the program on bond0")
    near.wait_ping("10.0.0.2")
    near.restart_bondd(kill=True)
    assert has_egress()
    assert "cannot attach" not in near.log()
    near.ctl("set-slave", "bond0", "l1", "queue_id", 0)
    wait_for(lambda: not has_egress(), "the program to be gone")
    near.wait_ping("10.0.0.2")


# another namespace

@contextlib.contextmanager
def in_a_container(made):
    other = made.lab.namespace("c")
    made.near.ip("link", "set", "bond0", "netns", other.name)
    other.ip("link", "set", "bond0", "up")
    other.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    other.wait_ping("10.0.0.2")
    yield other


@netkit_only
def test_from_a_container(netkit_pair, path):
    made = netkit_pair(links=2, path=path)
    with in_a_container(made) as other:
        before, across = other.sent("bond0")["packets"], made.near.received("xb-bond0")["packets"]
        wires = [Capture(made.far, link) for link in made.links]
        for near, far, to in ((other, made.far, "10.0.0.2"), (made.far, other, "10.0.0.1")):
            assert Stream(near, far, to=to, count=1000, flows=50).finish()["lost"] == 0
        assert all(flows_by_link(wires)[1].values())
        assert 1000 <= other.sent("bond0")["packets"] - before <= 1050, "counted"
        assert made.near.received("xb-bond0")["packets"] == across, "chosen before anything crossed"
        for wire in wires:
            wire.close()


@netkit_only
def test_bondd_is_killed_while_bond0_is_in_a_container(netkit_pair):
    made = netkit_pair(links=2)
    with in_a_container(made) as other:
        stream = Stream(other, made.far, flows=16)
        stream.flow_on(500)
        made.near.kill_bondd()
        stream.flow_on(500)
        made.near.start_bondd()
        stream.flow_on(500)
        assert stream.finish()["lost"] == 0


@netkit_only
def test_the_container_ends(netkit_pair):
    made = netkit_pair(links=2)
    with in_a_container(made) as other:
        run("ip", "netns", "del", other.name)
        wait_for(lambda: made.near.ctl_json("list") == [], "the bond to be gone", 10)
        assert made.near.devices() == {"lo", *made.links} and made.near.pins() == []


# restart, delete

@netkit_only
def test_kill_and_restart_lose_nothing(netkit_pair, path):
    made = netkit_pair(links=2, path=path)
    program = linked(made.near, "link_port")["id"]
    stream = Stream(made.near, made.far, flows=32)
    for stop in (made.near.kill_bondd, made.near.stop_bondd):
        stream.flow_on(700)
        stop()
        stream.flow_on(700)
        made.near.start_bondd()
        stream.flow_on(700)
    stream.finish_unharmed(in_order=True)
    assert linked(made.near, "link_port")["id"] == program, "nothing was attached anew"


@netkit_only
@pytest.mark.parametrize("step", ["create-pinned", "create-device"])
def test_killed_in_create(lone, step):
    host = lone(links=1, bondd=False)
    with host.dying_at(step):
        devices = host.devices()
        assert host.ctl_try("create", "bond0", "device", "netkit").returncode == 3
    host.start_bondd()
    assert host.devices() == devices and host.pins() == [] and host.ctl_json("list") == []
    host.ctl("create", "bond0", "device", "netkit")


@netkit_only
@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_delete_restores_all(netkit_pair, hook):
    made = netkit_pair(links=2)
    own = {slave["name"]: slave["perm_mac"] for slave in made.near.show()["slaves"]}
    stream = Stream(made.near, made.far, flows=8)
    stream.flow_on(500)
    number = linked(made.near, "link_port")["prog_id"]
    made.near.ctl("delete", "bond0")
    assert made.near.devices() == {"lo", *made.links} and made.near.pins() == []
    assert {link: made.near.link(link)["address"] for link in made.links} == own
    wait_for(lambda: run("bpftool", "prog", "show", "id", number, check=False).returncode,
             "the program to be freed")
    stream.sender.kill()


@netkit_only
def test_deleted_by_hand(netkit_pair):
    made = netkit_pair(links=2)
    made.near.ip("link", "del", "bond0")
    wait_for(lambda: made.near.ctl_json("list") == [], "the bond to be gone")
    assert made.near.devices() == {"lo", *made.links} and made.near.pins() == []


@netkit_only
def test_a_bond_is_no_slave(lone):
    host = lone(links=1)
    host.ctl("create", "bond0", "device", "netkit")
    host.ctl("create", "bond1", "device", "netkit")
    assert "bonds do not nest" in refused(host, "add-slave", "bond0", "bond1")
    assert "port side" in refused(host, "add-slave", "bond0", "xb-bond1")
