"""What others attach to a slave's ingress comes before xbond's program, whenever it came: clsact
filters, TCX programs. Only what lets frames pass for good is passed by, and that is said.
"""
import json

import pytest

from lab import BUILD, is_team
from tcx import TCX_INGRESS, Tcx, order
from nft import DROP, Chain
from test_slaves import Tap
from traffic import Capture, Stream, send_frames
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("on_pairs")
both_hooks = pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
FILTERS = BUILD / "tools/filters.bpf.o"
LAST, FIRST = 65535, 1  # preferences of xbond's filters
goes_last = pytest.mark.skipif(is_team(), reason="on slaves of a team xbond's program comes first, "
                               "and lets frames pass to whatever is behind it")
sees_nothing = pytest.mark.skipif(is_team(), reason="nft chains on slaves of a team see all frames")
COMMON, ENDING = "do not see", "before xbond's program"  # in `problem`


class Filter:
    """A filter on l0's ingress, as tc makes it."""

    def __init__(self, host, name, pref=4000, qdisc="clsact", dev="l0"):
        self.host, self.place = host, ["dev", dev, "ingress", "pref", pref]
        host.run("tc", "qdisc", "add", "dev", dev, qdisc, check=False)
        host.run("tc", "filter", "add", *self.place, "bpf", "da", "obj", FILTERS, "program", name)

    def detach(self):
        self.host.run("tc", "filter", "del", *self.place)


class Program(Tcx):
    """A TCX program on l0's ingress, behind all that are there."""

    def __init__(self, host, name):
        super().__init__(host, "l0", FILTERS, name, TCX_INGRESS)


def attach(kind, host, name):
    return {"filter": Filter, "program": Program}[kind](host, name)


KINDS = pytest.mark.parametrize("hook, kind", [("tcx", "filter"), ("tcx", "program"),
                                               ("clsact", "filter")], indirect=["hook"])


def prefs(host):
    """Preferences of xbond's filters on the ingress of l0."""
    shown = json.loads(host.run("tc", "-j", "filter", "show", "dev", "l0", "ingress").stdout or
                       "[]")
    return {each["pref"] for each in shown if each.get("options", {}).get("handle") == "0x78"}


def problem(host, dev="l0"):
    return host.slave(dev)["problem"] or ""


def meets(made):
    """What is sent to far's l0 does not arrive."""
    made.near.wait_no_ping("10.0.0.2")


def reaches_the_bond(made):
    """IP for the host may be taken on the slave as well, where a ping would be answered."""
    with Capture(made.far, "bond0") as above:
        made.near.ping("10.0.0.2", timeout=0.3)
        return [frame for frame in above.frames() if frame.type == 0x0800]


@pytest.mark.parametrize("hook, kind, path",
                         [("tcx", "filter", "counted"), ("tcx", "program", "direct"),
                          ("clsact", "filter", "direct")], indirect=["hook"])
def test_what_comes_later_is_met(pair, kind, path, hook):
    made = pair("balance-xor", links=1, path=path)
    put = attach(kind, made.far, "reject")
    meets(made)
    assert not problem(made.far)
    put.detach()
    made.near.wait_ping("10.0.0.2")
    made.far.ctl("del-slave", "bond0", "l0")
    assert not prefs(made.far) and "xbond_rx" not in (order(made.far, "l0") if hook == "tcx"
                                                      else [])


@pytest.mark.parametrize("hook, kind, qdisc",
                         [("tcx", "filter", "clsact"), ("tcx", "filter", "ingress"),
                          ("clsact", "filter", "ingress"), ("tcx", "program", None)],
                         indirect=["hook"])
def test_what_was_there_is_met(pair, hook, kind, qdisc):
    made = pair("balance-xor", links=1)
    made.far.ctl("del-slave", "bond0", "l0")
    put = Filter(made.far, "reject", qdisc=qdisc) if qdisc else Program(made.far, "reject")
    made.far.ctl("add-slave", "bond0", "l0")
    made.far.wait_slaves("l0")
    assert not any(made.near.ping("10.0.0.2", timeout=0.2) for _ in range(5))
    put.detach()
    made.near.wait_ping("10.0.0.2")
    made.far.ctl("del-slave", "bond0", "l0")
    if qdisc:
        assert qdisc in made.far.run("tc", "qdisc", "show", "dev", "l0").stdout
        assert not prefs(made.far)


@goes_last
@both_hooks
def test_what_came_while_bondd_was_dead_is_met(pair, hook):
    made = pair("balance-xor", links=1)
    made.far.kill_bondd()
    put = Filter(made.far, "reject")
    if hook == "tcx":
        Program(made.far, "next").close()
    made.far.start_bondd()
    meets(made)
    for _ in range(2):
        wait_for(lambda: prefs(made.far) == {LAST}, "ours to be the last filter")
        made.far.restart_bondd(kill=True)
        assert not any(made.near.ping("10.0.0.2", timeout=0.1) for _ in range(5))
    made.far.kill_bondd()
    put.detach()
    made.far.start_bondd()
    made.near.wait_ping("10.0.0.2")
    if hook == "tcx":
        assert order(made.far, "l0") == ["next", "xbond_rx"] and not prefs(made.far)


@goes_last
@pytest.mark.parametrize("hook", ["tcx"], indirect=True)
def test_moves_lose_nothing_and_double_nothing(pair, hook):
    made = pair("balance-xor", links=1)
    made.far.run("tc", "qdisc", "add", "dev", "l0", "clsact")
    stream = Stream(made.near, made.far, rate=5000, flows=64)
    stream.flow_on(500)
    for _ in range(2):
        program = Program(made.far, "next")
        wait_for(lambda: order(made.far, "l0") == ["next", "xbond_rx"], "ours to be last")
        put = Filter(made.far, "next")
        wait_for(lambda: order(made.far, "l0") == ["next"] and prefs(made.far) == {LAST},
                 "ours to be the last filter")
        put.detach()
        wait_for(lambda: order(made.far, "l0") == ["next", "xbond_rx"] and not prefs(made.far),
                 "ours to be back")
        program.detach()
        program.close()
    stream.flow_on(500)
    stream.finish_unharmed()


@goes_last
@KINDS
def test_what_lets_frames_pass_for_good_is_passed_by(pair, kind, hook):
    """They would never reach the bond. What comes after it does not change that; when it has gone,
    all is heeded again.
    """
    made = pair("balance-xor", links=1)
    put = attach(kind, made.far, "end")
    wait_for(lambda: reaches_the_bond(made) and ENDING in problem(made.far), "bondd to see it", 10)
    wait_for(lambda: made.far.log().count(ENDING) == 1, "bondd to say it")
    if hook == "clsact":
        assert prefs(made.far) == {FIRST}
    else:
        assert order(made.far, "l0")[0] == "xbond_rx" and not prefs(made.far)
    made.far.restart_bondd(kill=True)
    with Capture(made.far, "bond0") as above:
        assert all(made.near.ping("10.0.0.2", timeout=1) for _ in range(5))
        assert len([frame for frame in above.frames(0.1) if frame.type == 0x0800]) == 5
    if kind == "program":  # what is looked at now and then has not changed
        made.far.wait_looked()
    assert ENDING in problem(made.far) and made.far.log().count(ENDING) == 1
    put.detach()
    wait_for(lambda: not problem(made.far), "bondd to see that it has gone", 10)
    put = attach(kind, made.far, "reject")
    meets(made)


@goes_last
@pytest.mark.parametrize("hook", ["tcx"], indirect=True)
def test_what_was_there_and_lets_frames_pass_for_good(pair, hook):
    made = pair("balance-xor", links=1)
    made.far.ctl("del-slave", "bond0", "l0")
    Program(made.far, "end").close()
    Filter(made.far, "end")
    made.far.ctl("add-slave", "bond0", "l0")
    wait_for(lambda: reaches_the_bond(made) and ENDING in problem(made.far), "bondd to see it", 10)
    assert order(made.far, "l0") == ["xbond_rx", "end"]


def test_a_neighbour_cannot_have_filters_passed_by(pair):
    """By frames to groups that a slave keeps, or to nobody."""
    made = pair("balance-xor", links=1)
    Filter(made.far, "reject")
    meets(made)
    frames = [bytes.fromhex(to + "020000000099" + kind).ljust(60, b"\x45") for to in
              ("0180c200000e", "0180c2000001", "0200000000ee") for kind in ("0800", "0806", "86dd")]
    for _ in range(5):
        send_frames(made.near, "l0", frames)
        assert not made.near.ping("10.0.0.2", timeout=0.3)
    assert made.far.ping_bondd() and not problem(made.far)


def test_a_clsact_that_is_removed_with_all_its_filters(pair):
    made = pair("balance-xor", links=1)
    Filter(made.far, "reject")
    meets(made)
    made.far.tc_del("qdisc", "del", "dev", "l0", "clsact")
    made.near.wait_ping("10.0.0.2")
    assert not problem(made.far)


@goes_last
@pytest.mark.parametrize("hook", ["tcx"], indirect=True)
def test_a_block_that_devices_share(pair, hook):
    """No filter can be put there for one device."""
    made = pair("balance-xor", links=1)
    made.far.run("tc", "qdisc", "add", "dev", "l0", "ingress_block", 7, "clsact")
    made.far.run("tc", "filter", "add", "block", 7, "bpf", "da", "obj", FILTERS, "program",
                 "reject")
    wait_for(lambda: COMMON in problem(made.far), "bondd to say it")
    assert made.near.ping("10.0.0.2") and "shared block" in made.far.log()
    made.far.run("tc", "filter", "del", "block", 7)
    wait_for(lambda: not problem(made.far), "bondd to see that it has gone")


def test_xdp_says_that_it_goes_first(pair):
    made = pair("balance-xor", links=1, rx_hook="xdp")
    if made.far.slave("l0")["rx_hook"] != "xdp":
        pytest.skip("no native XDP on veth here")
    for host in (made.near, made.far):
        host.run("ethtool", "-K", "l0", "tx", "off")
    put = Filter(made.far, "reject")
    wait_for(lambda: COMMON in problem(made.far), "bondd to say it")
    made.far.ctl("set", "bond0", "rx_hook", "tc")
    meets(made)
    wait_for(lambda: not problem(made.far), "bondd to see it")
    put.detach()


def test_xdp_by_itself_yields_to_filters(lone):
    host = lone(links=0)
    tap = Tap(host, "t0", 1000)
    host.ctl("create", "bond0", "rx_hook", "auto")
    host.ctl("add-slave", "bond0", "t0")
    assert host.slave("t0")["rx_hook"] == "xdp"
    put = Filter(host, "reject", dev="t0")
    wait_for(lambda: host.slave("t0")["rx_hook"] == "tc", "TC")
    put.detach()
    wait_for(lambda: host.slave("t0")["rx_hook"] == "xdp", "XDP again")
    assert not problem(host, "t0")
    tap.close()


@goes_last
@pytest.mark.parametrize("hook", ["tcx"], indirect=True)
@pytest.mark.parametrize("step",
                         ["tcx-pinned", "tcx-renamed", "hooks-filter", "hooks-moved", "hooks-back"])
def test_bondd_dies_half_way(pair, step, hook):
    """Traffic goes on, and the next one finishes."""
    made = pair("balance-xor", links=1)
    far = made.far
    far.run("tc", "qdisc", "add", "dev", "l0", "clsact")
    if step == "hooks-back":
        put = Filter(far, "next")
        wait_for(lambda: prefs(far) == {LAST}, "the filter")
    far.stop_bondd()
    far.environment = {"XBOND_TEST_DIE_AT": step}
    if step == "hooks-back":
        put.detach()
    else:
        attach("filter" if step.startswith("hooks") else "program", far, "next")
    stream = Stream(made.near, far, rate=2000, flows=64)
    stream.flow_on(200)
    far.start_bondd(wait=False)
    far.bondd.wait(timeout=10)
    stream.flow_on(200)
    far.environment = {}
    far.start_bondd()
    if step in ("hooks-filter", "hooks-moved"):
        wait_for(lambda: prefs(far) == {LAST} and order(far, "l0") == [], "the filter alone")
    else:
        wait_for(lambda: not prefs(far) and order(far, "l0")[-1:] == ["xbond_rx"],
                 "the link alone, and last")
    stream.finish_unharmed()
    assert far.pins().count("bond0/link_rx_0_new") == 0
    far.ctl("delete", "bond0")
    assert not prefs(far) and "xbond_rx" not in order(far, "l0")


def for_all(host, *action):
    """A filter for everything that l0 receives, with an action of the kernel's."""
    host.run("tc", "qdisc", "add", "dev", "l0", "clsact", check=False)
    done = host.run("tc", "filter", "add", "dev", "l0", "ingress", "pref", 10, "protocol", "all",
                    "u32", "match", "u32", 0, 0, "action", *action, check=False)
    if done.returncode:
        pytest.skip(f"this kernel has no {action[0]}: {done.stderr}")


@goes_last
@pytest.mark.parametrize("hook, control", [("tcx", "continue"), ("clsact", "continue"),
                                           ("clsact", "pipe")], indirect=["hook"])
def test_a_mirror(pair, control, hook):
    """tc's default control, pipe, ends the classification after the last action."""
    made = pair("balance-xor", links=1)
    made.far.ip("link", "add", "m0", "type", "veth", "peer", "name", "m1")
    for dev in ("m0", "m1"):
        made.far.ip("link", "set", dev, "up")
    wait_for(lambda: made.far.link("m0")["operstate"] == "UP", "the device to send")
    for_all(made.far, "mirred", "egress", "mirror", "dev", "m0", control)
    if control == "pipe":
        wait_for(lambda: reaches_the_bond(made) and ENDING in problem(made.far), "bondd to see it",
                 10)
        return
    wait_for(lambda: hook == "clsact" or order(made.far, "l0") == [], "ours to be the last filter")
    with Capture(made.far, "m1") as mirror:
        assert all(made.near.ping("10.0.0.2", timeout=1) for _ in range(5))
        assert len([frame for frame in mirror.frames(0.1) if frame.type == 0x0800]) >= 5
    assert not problem(made.far)


@goes_last
@pytest.mark.parametrize("hook", ["tcx"], indirect=True)
def test_shaping_by_an_ifb(pair, hook):
    """What comes back from an IFB skips TC on the slave."""
    made = pair("balance-xor", links=1)
    made.far.ip("link", "add", "ifb7", "type", "ifb")
    made.far.ip("link", "set", "ifb7", "up")
    for_all(made.far, "mirred", "egress", "redirect", "dev", "ifb7")
    wait_for(lambda: reaches_the_bond(made) and ENDING in problem(made.far), "bondd to see it", 10)


@goes_last
@both_hooks
def test_a_policer(pair, hook):
    made = pair("balance-xor", links=1)
    for_all(made.far, "police", "rate", "80kbit", "burst", "10k", "conform-exceed", "drop/continue")
    wait_for(lambda: hook == "clsact" or order(made.far, "l0") == [], "ours to be the last filter")
    result = Stream(made.near, made.far, count=500, rate=5000).finish()
    assert 20 < result["received"] < 400 and not problem(made.far), result


@sees_nothing
@pytest.mark.parametrize("family", ["netdev", "inet", "egress"])
def test_nft_chains_are_warned_of(lone, family):
    near = lone(links=2)
    chain = Chain(near, "l0", family)
    near.ctl("create", "bond0")
    told = near.ctl_try("add-slave", "bond0", *near.links)
    place = "egress" if family == "egress" else "ingress"
    assert f"nft chains at the {place} of l0" in told.stdout + told.stderr and \
        " l1 " not in told.stdout + told.stderr
    assert "nft chains" in problem(near) and not problem(near, "l1")
    near.restart_bondd(kill=True)
    assert "nft chains" in problem(near) and near.log().count("has an nft chain") == 1
    chain.remove()
    wait_for(lambda: not problem(near), "bondd to see that it has gone")


@sees_nothing
@pytest.mark.parametrize("family", ["netdev", "inet", "egress"])
def test_nft_chains_that_come_later_are_warned_of(lone, family):
    """Nothing else happens on the slave."""
    near = lone(links=2)
    near.ctl("create", "bond0")
    near.ctl("add-slave", "bond0", *near.links)
    for count in (1, 2):
        chain = Chain(near, "l0", family)
        wait_for(lambda: "nft chains" in problem(near), "bondd to see the chain")
        assert near.log().count("gress, which does not see") == count and not problem(near, "l1")
        chain.remove()
        wait_for(lambda: not problem(near), "bondd to see that it has gone")


@pytest.mark.skipif(not is_team(), reason="what a pair sends meets no chain in either case")
def test_nft_chains_see_what_a_team_sends_unless_the_path_is_direct(pair):
    made = pair("balance-xor", links=1)
    made.far.ctl("set", "bond0", "path", "direct")
    chain = Chain(made.far, "l0", "egress", DROP)
    wait_for(lambda: "nft chains on its egress" in problem(made.far), "bondd to see the chain")
    assert made.near.ping("10.0.0.2")
    made.far.ctl("set", "bond0", "path", "counted")
    wait_for(lambda: not problem(made.far), "bondd to see the path")
    assert not made.near.ping("10.0.0.2", timeout=0.3)
    chain.remove()
