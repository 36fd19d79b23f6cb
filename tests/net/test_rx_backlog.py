"""rx_backlog off: packets reach bond0 by act_mirred on the slave's ingress."""
import json
import shutil

import pytest

from lacp import wait_distributing
from namespace import mac_bytes
from test_restart import plain_view
from test_stacking import moved_away
from traffic import Capture, Iperf, Stream, send_frames
from waiting import wait_for

FLOWS = 64
FORCE_COUNTED = 1  # XBOND_F_FORCE_COUNTED
MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad"]
both_hooks = pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)


@pytest.fixture
def unqueued(pair):
    """make(mode, **options): two bonds whose slaves hand over at once; packets go
    from near to far.
    """

    def make(mode="balance-xor", **options):
        made = pair(mode, **{"path": "direct", "rx_backlog": "off", **options})
        if mode == "802.3ad":
            wait_distributing(made.near, made.far, links=made.links)
        return made
    return make


def action_of(host, dev):
    """The action of xbond's filter on a slave, as tc shows it, or None."""
    shown = json.loads(host.run("tc", "-s", "-j", "filter", "show", "dev", dev, "ingress").stdout or
                       "[]")
    actions = [filter["options"]["actions"] for filter in shown
               if filter.get("options", {}).get("actions")]
    assert len(actions) <= 1
    return actions[0][0] if actions else None


def taken(host, links):
    """Packets that the actions have handed over."""
    return sum(action_of(host, link)["stats"]["packets"] for link in links)


def clean(stream):
    result = stream.finish()
    assert (result["lost"], result["duplicates"]) == (0, 0), result
    return result


@both_hooks
@pytest.mark.parametrize("mode", MODES)
def test_receive(unqueued, mode, hook):
    made = unqueued(mode)
    before = taken(made.far, made.links)
    counted = made.far.ctl_json("stats", "bond0")["counters"]["rx_packets"]
    stream = Stream(made.near, made.far, count=5000, rate=20000, flows=FLOWS)
    if mode == "broadcast":
        assert stream.finish()["lost"] == 0
    else:
        clean(stream)
    copies = len(made.links) if mode == "broadcast" else 1
    assert taken(made.far, made.links) - before >= 5000 * copies
    assert made.far.ctl_json("stats", "bond0")["counters"]["rx_packets"] - counted >= 5000 * copies


def test_counted_is_left_to_the_other_program(unqueued):
    made = unqueued(path="counted")
    before = made.far.received("bond0")["packets"]
    clean(Stream(made.near, made.far, count=2000, flows=FLOWS))
    assert taken(made.far, made.links) == 0
    assert made.far.received("bond0")["packets"] >= before + 2000


def test_a_capture_has_all(unqueued):
    made = unqueued()
    with Capture(made.far, "bond0") as above:
        clean(Stream(made.near, made.far, count=1000, flows=FLOWS))
        assert len([frame for frame in above.frames(0.1) if frame.numbers()]) == 1000


def test_an_inactive_slave_does_not_receive(unqueued):
    made = unqueued("active-backup", links=2, far={"mode": "active-backup"})
    backup = next(slave["name"] for slave in made.far.show()["slaves"] if not slave["active"])
    dropped, before = made.far.slave(backup)["rx_dropped"], taken(made.far, [backup])
    send_frames(made.near, backup, [bytes.fromhex("ffffffffffff0200000000aa88b5") + bytes(50)] * 20)
    wait_for(lambda: made.far.slave(backup)["rx_dropped"] >= dropped + 20,
             "the frames to be dropped")
    assert taken(made.far, [backup]) == before


@pytest.mark.parametrize("mtu", [1500, 9000])
def test_tcp_with_whole_checksums(unqueued, mtu):
    made = unqueued(links=2)
    for host in (made.near, made.far):
        host.ip("link", "set", "bond0", "mtu", mtu)
    server = Iperf(made.far)
    result = server.run(made.near, "10.0.0.2", "-t", "2")
    server.close()
    assert result["end"]["sum_received"]["bytes"] > 5e6
    shown = made.far.run("nstat", "-asz", "TcpInCsumErrors", "IpExtInTruncatedPkts").stdout
    assert {line.split()[1] for line in shown.splitlines()[1:]} == {"0"}


@both_hooks
def test_switched_under_traffic(unqueued, hook):
    made = unqueued()
    stream = Stream(made.near, made.far, rate=5000, flows=FLOWS)
    stream.flow_on(500)
    for switch in ("on", "off") * 3:
        made.far.ctl("set", "bond0", "rx_backlog", switch)
        stream.flow_on(300)
    assert taken(made.far, made.links) > 0
    clean(stream)
    made.far.ctl("set", "bond0", "rx_backlog", "on")
    assert all(action_of(made.far, link) is None for link in made.links)


def test_once_a_slave_has_its_qdisc_switching_loses_nothing_that_it_sends(unqueued):
    made = unqueued()
    stream = Stream(made.far, made.near, to="10.0.0.1", rate=5000, flows=FLOWS)
    stream.flow_on(500)
    for switch in ("on", "off") * 3:
        made.far.ctl("set", "bond0", "rx_backlog", switch)
        stream.flow_on(300)
    clean(stream)


@both_hooks
def test_bondd_killed_and_started(unqueued, hook):
    made = unqueued()
    stream = Stream(made.near, made.far, rate=5000, flows=FLOWS)
    stream.flow_on(500)
    made.far.kill_bondd()
    stream.flow_on(20000)  # longer than it is trusted
    made.far.start_bondd()
    before = taken(made.far, made.links)
    stream.flow_on(2000)
    wait_for(lambda: taken(made.far, made.links) > before, "the actions to be used again")
    clean(stream)


@both_hooks
@pytest.mark.parametrize("while_bondd_is", ["there", "dead"])
def test_bond0_leaves_and_comes_back(unqueued, while_bondd_is, hook):
    """An action forgets its device when that leaves."""
    made = unqueued(links=2)
    other = made.lab.namespace("c")
    if while_bondd_is == "dead":
        made.near.kill_bondd()
    with moved_away(made, other):
        other.wait_ping("10.0.0.2")
    if while_bondd_is == "dead":
        made.near.start_bondd()
    made.near.wait_ping("10.0.0.2")
    before = taken(made.near, made.links)
    clean(Stream(made.far, made.near, to="10.0.0.1", count=1000, flows=FLOWS))
    assert taken(made.near, made.links) >= before + 900


@pytest.mark.parametrize("number_is_taken", [False, True])
def test_bond0_leaves_and_is_back_before_bondd_looks(unqueued, number_is_taken):
    """Also by another ifindex, which it gets where its own is taken."""
    made = unqueued(links=2)
    other = made.lab.namespace("c")
    if number_is_taken:
        # unless a device of the namespace has it already
        other.ip("link", "add", "x", "index", made.near.link("bond0")["ifindex"], "type", "veth",
                 "peer", "name", "y", check=False)
    made.near.freeze_bondd()
    with moved_away(made, other):
        pass
    made.near.thaw_bondd()
    made.near.wait_ping("10.0.0.2")
    clean(Stream(made.far, made.near, to="10.0.0.1", count=1000, flows=FLOWS))
    assert taken(made.near, made.links) >= 900


def test_filters_lost_while_bond0_and_bondd_are_away(unqueued):
    made = unqueued(links=1)
    other = made.lab.namespace("c")
    with moved_away(made, other):
        other.wait_ping("10.0.0.2")
        made.near.kill_bondd()
        made.near.tc_del("qdisc", "del", "dev", "l0", "clsact")
        made.near.start_bondd()
        other.wait_ping("10.0.0.2")
    made.near.wait_ping("10.0.0.2")


def test_nothing_is_handed_to_a_bond_that_is_down(unqueued):
    """The action would complain of each packet."""
    made = unqueued(links=1)
    made.far.ip("link", "set", "bond0", "down")
    wait_for(lambda: made.far.pinned("table")["flags"] & FORCE_COUNTED, "bondd to see it")
    before = taken(made.far, made.links)
    send_frames(made.near, "l0", [bytes.fromhex("ffffffffffff0200000000aa88b5") + bytes(50)] * 20)
    wait_for(lambda: made.far.slave("l0")["rx_packets"] + made.far.slave("l0")["rx_dropped"] >= 20,
             "the frames")
    assert taken(made.far, made.links) == before
    made.far.ip("link", "set", "bond0", "up")
    made.near.wait_ping("10.0.0.2")
    wait_for(lambda: not made.far.pinned("table")["flags"] & FORCE_COUNTED, "bondd to see it")
    clean(Stream(made.near, made.far, count=500))
    assert taken(made.far, made.links) >= before + 500


def test_a_bridge_above(unqueued):
    """What is for others than bond0 comes by the action, too."""
    made = unqueued(links=2)
    guest = made.lab.namespace("c")
    made.far.ip("link", "add", "br0", "type", "bridge")
    made.far.ip("link", "set", "br0", "up")
    made.far.ip("link", "set", "bond0", "master", "br0")
    made.far.ip("link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", guest.name)
    made.far.ip("link", "set", "v0", "master", "br0", "up")
    guest.ip("link", "set", "v1", "up")
    guest.ip("addr", "add", "10.0.0.3/24", "dev", "v1")
    made.near.wait_ping("10.0.0.3")
    before = taken(made.far, made.links)
    clean(Stream(made.near, guest, to="10.0.0.3", count=1000, flows=FLOWS))
    assert taken(made.far, made.links) >= before + 1000


def test_a_new_address_of_bond0(unqueued):
    made = unqueued(links=2)
    made.far.ip("link", "set", "bond0", "address", "02:00:00:00:77:01")
    wait_for(lambda: all(slave["mac"] == "02:00:00:00:77:01"
                         for slave in made.far.show()["slaves"]), "the slaves to follow")
    made.near.ip("neigh", "flush", "dev", "bond0")
    made.near.wait_ping("10.0.0.2")
    before = taken(made.far, made.links)
    clean(Stream(made.near, made.far, count=1000, flows=FLOWS))
    assert taken(made.far, made.links) >= before + 1000


@pytest.mark.usefixtures("tests_choose")
@pytest.mark.parametrize("mode", [("active-backup", "fail_over_mac", "active"), ("balance-tlb",)])
def test_only_slaves_with_the_bonds_address_skip_the_backlog(lone, mode):
    """What others get for the bond, it receives all the same."""
    near = lone(2)
    near.ctl("create", "bond0", "mode", *mode, "path", "direct", "rx_backlog", "off",
             "all_slaves_active", "on")
    near.ctl("add-slave", "bond0", *near.links)
    near.ip("link", "set", "bond0", "up")
    near.wait_slaves(*near.links)
    for active, other in (near.links, near.links[::-1]):
        near.ctl("set", "bond0", "active_slave", active)
        wait_for(lambda here=active, there=other: action_of(near, here) and
                 not action_of(near, there), f"only {active} to have an action")
        assert near.link(active)["address"] == near.link("bond0")["address"]
    near.ip("address", "add", "10.0.0.1/24", "dev", "bond0")
    mac = mac_bytes(near.link("bond0")["address"])
    question = mac + mac_bytes("02:00:00:00:00:99") + bytes.fromhex(
        "08060001080006040001" "020000000099" "0a000002" "000000000000" "0a000001") + bytes(18)
    send_frames(near.far, near.links[0], [question] * 5)
    wait_for(lambda: "02:00:00:00:00:99" in near.ip("neighbour", "show"), "bond0 to learn of it")


def test_addresses_of_their_own_are_refused(lone):
    near = lone()
    near.ctl("create", "bond0", "rx_backlog", "off")
    for words in (("set", "bond0", "mac_policy", "filter"),
                  ("create", "bond1", "rx_backlog", "off", "mac_policy", "filter")):
        assert "mac_policy set" in near.ctl_try(*words).stderr
    assert near.show()["options"]["mac_policy"] == "set" and \
        near.show()["options"]["rx_backlog"] is False
    assert near.ctl_json("list") == ["bond0"]
    near.ctl("set", "bond0", "rx_backlog", "on", "mac_policy", "filter")


@both_hooks
@pytest.mark.parametrize("what", [("qdisc", "del", "dev", "l0", "clsact"),
                                  ("filter", "del", "dev", "l0", "ingress"),
                                  ("filter", "del", "dev", "l0", "ingress", "pref", 2828)])
def test_filters_that_are_removed_come_back(unqueued, what, hook):
    made = unqueued(links=1)
    made.far.tc_del(*what)
    made.near.wait_ping("10.0.0.2")
    wait_for(lambda: action_of(made.far, "l0"), "the action to be back")
    before = taken(made.far, made.links)
    clean(Stream(made.near, made.far, count=500))
    assert taken(made.far, made.links) >= before + 500


@both_hooks
def test_a_slave_that_goes_is_no_lost_filter(lone, hook):
    near = lone()
    near.ctl("create", "bond0", "path", "direct", "rx_backlog", "off")
    near.ctl("add-slave", "bond0", *near.links)
    near.ip("link", "del", "l0")
    near.wait_slaves("l1")
    near.ctl("del-slave", "bond0", "l1")
    assert "the program on" not in near.log()


@both_hooks
def test_released_slaves_are_as_before(lone, hook):
    near = lone()
    near.run("tc", "qdisc", "add", "dev", "l1", "clsact")
    before = plain_view(near)
    near.ctl("create", "bond0", "path", "direct", "rx_backlog", "off")
    near.ctl("add-slave", "bond0", *near.links)
    assert action_of(near, "l0")["control_action"]["type"] == "stolen"
    near.ctl("del-slave", "bond0", "l0")
    near.ctl("delete", "bond0")
    assert plain_view(near) == before
    qdiscs = [near.run("tc", "qdisc", "show", "dev", link).stdout for link in near.links]
    assert ["clsact" in shown for shown in qdiscs] == [False, True]


def test_pins_removed_by_hand(lone):
    """The refusal names the filters that are left, one after the other."""
    near = lone(links=1)
    near.ctl("create", "bond0", "path", "direct", "rx_backlog", "off")
    near.ctl("add-slave", "bond0", "l0")
    near.kill_bondd()
    shutil.rmtree(near.bpf_dir / "bond0")
    near.ip("link", "del", "bond0")
    near.start_bondd()
    near.ctl("create", "bond1")
    for _ in range(2):
        refused = near.ctl_try("add-slave", "bond1", "l0").stderr
        near.run(*refused.split("'")[1].split())
    near.ctl("add-slave", "bond1", "l0")


@both_hooks
@pytest.mark.parametrize("step", ["hooks-moved", "mirred-attached"])
def test_bondd_dies_half_way(lone, step, hook):
    if (step, hook) == ("hooks-moved", "clsact"):
        pytest.skip("nothing moves there")
    near = lone(links=1)
    before = plain_view(near)
    near.ctl("create", "bond0", "path", "direct")
    near.ctl("add-slave", "bond0", "l0")
    near.stop_bondd()
    with near.dying_at(step):
        assert near.ctl_try("set", "bond0", "rx_backlog", "off").returncode == 3
    near.start_bondd()
    assert action_of(near, "l0") and near.pins().count("bond0/link_rx_0") == 0
    near.ctl("delete", "bond0")
    assert plain_view(near) == before
    assert "clsact" not in near.run("tc", "qdisc", "show", "dev", "l0").stdout
