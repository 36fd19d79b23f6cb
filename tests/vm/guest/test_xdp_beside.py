"""rx_hook xdp on a slave that another XDP program shares, by libxdp's dispatcher; the other is
xdp-filter.
"""
import json
import pathlib
import re
import shutil

import pytest

from lab import BUILD, hooks
from namespace import KERNEL
from traffic import Stream
from test_xdp import check_both_ways
from waiting import wait_for

OURS, THEIRS = "xbond_xdp_rx", "xdpfilt_alw_udp"
FILTERED = 9009
SWITCH = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")


@pytest.fixture(autouse=True)
def runs_are_counted():
    SWITCH.write_text("1")
    yield
    SWITCH.write_text("0")


def loaded(host, dev):
    """Names of the programs that the dispatcher of dev calls, in their order."""
    lines = host.run("xdp-loader", "status", dev).stdout.splitlines()
    return [re.split(r"\s+", line.strip())[2] for line in lines if line.strip().startswith("=>")]


def dispatchers():
    return list(pathlib.Path("/sys/fs/bpf/xdp").glob("dispatch-*"))


def add_filter(host, dev):
    host.run("xdp-filter", "load", "--mode", "native", "--features", "udp", dev)
    host.run("xdp-filter", "port", "--mode", "dst", "--proto", "udp", FILTERED)


def runs_of_tc(host):
    """How often the receive program of TC ran, which sees nothing of what XDP takes."""
    shown = json.loads(host.run("bpftool", "-j", "prog", "show", "pinned",
                                host.bpf_dir / "bond0/prog_rx").stdout)
    return shown.get("run_cnt", 0)


def check(made, filtered):
    """Traffic comes by XDP, and the stream to FILTERED arrives or not."""
    before = runs_of_tc(made.near)
    check_both_ways(made)
    assert runs_of_tc(made.near) - before < 100
    lost = Stream(made.far, made.near, to="10.0.0.1", count=200, rate=1000,
                  port=FILTERED).finish()["lost"]
    assert lost == (200 if filtered else 0)


@pytest.fixture
def switched(setting):
    made = setting().switch()
    yield made
    for dev in made.near.links:
        made.near.run("xdp-loader", "unload", dev, "--all", check=False)


def by_xdp(made):
    made.bond("active-backup", "rx_hook", "xdp")
    assert hooks(made.near) == ["xdp", "xdp"], made.near.log()
    return made.near.show()["active_slave"]


@pytest.mark.parametrize("first", ["theirs",
                                   pytest.param("ours", marks=pytest.mark.full)])
def test_with_a_filter(switched, first):
    near = switched.near
    if first == "theirs":
        for dev in near.links:
            add_filter(near, dev)
        active = by_xdp(switched)
    else:
        active = by_xdp(switched)
        assert loaded(near, active) == [OURS]
        check(switched, filtered=False)
        for dev in near.links:
            add_filter(near, dev)
    assert loaded(near, active) == [THEIRS, OURS], "filters come first"
    check(switched, filtered=True)
    near.kill_bondd()
    check(switched, filtered=True)
    near.start_bondd()
    assert hooks(near) == ["xdp", "xdp"] and loaded(near, active) == [THEIRS, OURS]
    near.run("xdp-filter", "unload", active)
    assert loaded(near, active) == [OURS]
    check(switched, filtered=False)
    near.ctl("set", "bond0", "rx_hook", "tc")
    assert loaded(near, active) == [] and hooks(near) == ["tc", "tc"]
    other, = set(near.links) - {active}
    assert loaded(near, other) == [THEIRS]
    near.ctl("set", "bond0", "rx_hook", "xdp")
    near.ctl("delete", "bond0")
    assert loaded(near, active) == [] and loaded(near, other) == [THEIRS]


@pytest.mark.full
@pytest.mark.parametrize("step", ["xdp-recorded", "xdp-attached"])
def test_bondd_dies_when_it_joins(switched, step):
    near = switched.near
    for dev in near.links:
        add_filter(near, dev)
    switched.bond("active-backup", "device", "veth")
    with near.dying_at(step):
        assert near.ctl_try("set", "bond0", "rx_hook", "xdp").returncode == 3
    near.start_bondd()
    wait_for(lambda: hooks(near) in (["xdp", "xdp"], ["tc", "tc"]), "both or none")
    joined = [THEIRS, OURS] if hooks(near)[0] == "xdp" else [THEIRS]
    assert [loaded(near, dev) for dev in near.links] == [joined, joined]
    near.ctl("delete", "bond0")
    assert [loaded(near, dev) for dev in near.links] == [[THEIRS], [THEIRS]]


@pytest.mark.full
def test_the_slave_goes_to_a_container(switched):
    """The filter on it goes on there; nothing of ours does, and it may come back."""
    near, dev = switched.near, switched.near.links[1]
    add_filter(near, dev)
    by_xdp(switched)
    assert loaded(near, dev) == [THEIRS, OURS] and len(dispatchers()) == 2
    for shared in (True, False):
        container = switched.lab.namespace("c" if shared else "d")
        near.ip("link", "set", dev, "netns", container.name)
        wait_for(lambda: len(near.show()["slaves"]) == 1, "the slave to leave", 10)
        wait_for(lambda here=container, rest=shared: bool(here.link(dev).get("xdp")) == rest and
                 len(dispatchers()) == 1 + rest, "ours to go, and an empty dispatcher with it")
        if shared:
            assert [path.name for path in pathlib.Path("/sys/fs/bpf/xdp").glob("dispatch-*/*")
                    if "prog0" in path.name], "the filter's"
            container.ip("link", "set", dev, "xdp", "off")
            container.run("xdp-loader", "clean", dev)
        container.ip("link", "set", dev, "netns", near.name)
        near.ctl("add-slave", "bond0", dev)
        near.wait_slaves(*near.links)
        assert hooks(near) == ["xdp", "xdp"] and loaded(near, dev) == [OURS], near.log()
    near.wait_ping("10.0.0.2")


@pytest.mark.full
def test_no_descriptors_are_lost(switched):
    near = switched.near
    by_xdp(switched)
    held = pathlib.Path(f"/proc/{near.bondd.pid}/fd")
    before = len(list(held.iterdir()))
    for hook in ("tc", "xdp") * 3:
        near.ctl("set", "bond0", "rx_hook", hook)
    wait_for(lambda: len(list(held.iterdir())) == before,
             "bondd to have as many descriptors as before")


@pytest.mark.full
def test_jumbo_frames(switched):
    """Our program takes frames of several buffers, and so must the dispatcher around it."""
    near, far = switched.near, switched.far
    if KERNEL < (6, 3):
        pytest.skip("virtio has no XDP with large frames before Linux 6.3")
    active = by_xdp(switched)
    for dev in (*far.links, "sw0"):
        far.ip("link", "set", dev, "mtu", 9000)
    near.ip("link", "set", "bond0", "mtu", 9000)
    wait_for(lambda: near.ping("10.0.0.2", size=8900), "large packets", 10)
    assert loaded(near, active) == [OURS] and near.link(active)["mtu"] == 9000
    near.ctl("set", "bond0", "rx_hook", "tc")
    near.ctl("set", "bond0", "rx_hook", "xdp")
    assert loaded(near, active) == [OURS], near.log()
    wait_for(lambda: near.ping("10.0.0.2", size=8900), "large packets", 10)


@pytest.mark.full
def test_nothing_stays_when_the_nic_goes(switched):
    by_xdp(switched)
    assert len(dispatchers()) == 2
    switched.nics.unplug(0)
    wait_for(lambda: len(dispatchers()) == 1, "the pins of the NIC that is gone to go", 10)
    switched.near.wait_ping("10.0.0.2")
    switched.near.ctl("delete", "bond0")
    assert dispatchers() == []


@pytest.mark.full
def test_pins_removed_by_hand(switched):
    """Without its maps' writer a program that stays in the dispatcher takes every frame to nowhere:
    a new bond takes it out.
    """
    near = switched.near
    add_filter(near, near.links[1])
    active = by_xdp(switched)
    near.kill_bondd()
    near.ip("link", "del", "bond0")
    shutil.rmtree(near.bpf_dir / "bond0")
    assert OURS in loaded(near, active)
    near.start_bondd()
    for dev in near.links:  # filters (clsact) outlive pins; bondd's refusal names this command
        near.run("tc", "filter", "del", "dev", dev, "ingress", "pref", 65535, check=False)
    switched.bond("active-backup", "device", "veth")
    assert hooks(near) == ["tc", "tc"] and \
        [loaded(near, dev) for dev in near.links] == [[], [THEIRS]], near.log()
    check_both_ways(switched)


def program_ids(host, dev):
    """{name: [its numbers]} of what the dispatcher of dev calls."""
    found = {}
    for line in host.run("xdp-loader", "status", dev).stdout.splitlines():
        words = re.split(r"\s+", line.strip())
        if words[0] == "=>":
            found.setdefault(words[2], []).append(words[3])
    return found


@pytest.mark.full
def test_a_program_of_another_build_is_replaced(switched):
    """Among others, which stay. A restart of the same build changes nothing."""
    near, dev = switched.near, switched.near.links[0]
    add_filter(near, dev)
    active = by_xdp(switched)
    before = program_ids(near, dev)
    near.restart_bondd(kill=True)
    assert program_ids(near, dev) == before
    near.kill_bondd()
    near.run("xdp-loader", "unload", dev, "--id", before[OURS][0])
    near.run("xdp-loader", "load", "--mode", "native", dev, BUILD / "tools/another_build.bpf.o")
    another = program_ids(near, dev)
    near.start_bondd()
    after = program_ids(near, dev)
    assert after[THEIRS] == before[THEIRS] and len(after[OURS]) == 1 and \
        after[OURS] != another[OURS], (another, after)
    assert hooks(near) == ["xdp", "xdp"] and active == near.show()["active_slave"]
    near.restart_bondd(kill=True)
    assert program_ids(near, dev) == after
    check(switched, filtered=dev == active)


@pytest.mark.full
def test_unloaded_by_another(switched):
    near = switched.near
    active = by_xdp(switched)
    near.run("xdp-loader", "unload", active, "--all")
    other, = set(near.links) - {active}
    wait_for(lambda: near.slave(active)["rx_hook"] == "tc" and
             near.slave(other)["rx_hook"] == "xdp", "bondd to see it", 10)
    check_both_ways(switched)
    assert near.log().count(f"{active} receives through TC now") == 1
    near.ctl("set", "bond0", "rx_hook", "xdp")
    assert hooks(near) == ["xdp", "xdp"] and loaded(near, active) == [OURS]


@pytest.mark.full
def test_a_program_without_dispatcher_stays_alone(switched):
    near = switched.near
    near.run("env", "LIBXDP_SKIP_DISPATCHER=1", "xdp-filter", "load", "--mode", "native",
             near.links[0])
    switched.bond("active-backup", "rx_hook", "xdp")
    assert hooks(near) == ["tc", "xdp"]
    assert "it has an XDP program already; libxdp's dispatcher cannot extend it" in near.log()


@pytest.mark.full
def test_a_dispatcher_that_has_lost_its_pins(switched):
    near, dev = switched.near, switched.near.links[1]
    add_filter(near, dev)
    for path in pathlib.Path("/sys/fs/bpf/xdp").glob("dispatch-*/*"):
        path.unlink()
    switched.bond("active-backup", "rx_hook", "xdp")
    assert hooks(near) == ["xdp", "tc"]
    assert f"{dev} receives through TC, not XDP: it has an XDP program already" in near.log()
