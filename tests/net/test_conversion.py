"""`set BOND device`: another kind of device gets all that the bond has, under traffic; whatever
fails, and whoever dies, leaves it as it was. Where the kernel has one kind only, that one becomes
another of its kind (XBOND_TEST_CONVERT).
"""
import ast
import pathlib
import re
import subprocess

import pytest

from events import Monitor
from lab import Refused
from lacp import distributing, wait_distributing
from namespace import KERNEL, kernel_makes
from nft import Chain
from policies import FIRST_FIVE
from tcx import TCX_INGRESS, Tcx
from test_arp import INTERVAL, MISSED, Network
from test_bypass import FILTERS, Filter
from test_handover import dress, picture
from traffic import Stream
from waiting import PATIENCE, wait_for

pytestmark = pytest.mark.usefixtures("tests_choose")
KINDS = ["veth", *(kind for kind in ("netkit", "team") if kernel_makes(kind))]
WAYS = [(old, new) for old in KINDS for new in KINDS if old != new] or [("veth", "veth")]
STEPS = ("recorded", "created", "copied", "released", "moved", "away", "renamed", "configured",
         "all-moved")
UNDO_STEPS = ("delete-started", "undo-removed", "undo-unaddressed", "undo-renamed",
              "enslave-recorded", "handover-added", "undo-added", "undo-up", "undo-done")
ways = pytest.mark.parametrize("old,new", WAYS)


@pytest.fixture
def dressed(pair, monkeypatch):
    def make(mode, old, links=3, **options):
        monkeypatch.setenv("XBOND_TEST_CONVERT", "1")
        # Without a switch between them. Which slave is the active one may change.
        far = {"mode": "broadcast"} if mode == "active-backup" else {}
        made = pair(mode, links=links, far=far, device=old, hash_seed=7, **options)
        dress(made.near)
        near = made.near
        near.ip("link", "add", "link", "bond0", "name", "mv0", "type", "macvlan", "mode", "bridge")
        near.ip("link", "set", "mv0", "up")
        near.ip("addr", "add", "10.3.0.1/24", "dev", "mv0")
        wait_for(lambda: near.ip("-6", "addr").count("inet6 fe80") == 2 and
                 "tentative" not in near.ip("addr"), "link-local addresses of bond0 and mv0")
        return made
    return make


def settings(host):
    shown = host.show()
    return shown["mode"], {**shown["options"], "active_slave": None}, sorted(
        (slave["name"], sorted(slave["options"].items())) for slave in shown["slaves"])


def slaves_up(host):
    names = host.slave_names()
    return [name for name in names if "UP" in host.link(name)["flags"]]


def whole(host):
    """What is on the bond, what is set, and that nothing of the change is left."""
    return (picture(host), *settings(host), host.show()["device"], sorted(host.devices()),
            sorted(host.pins()), slaves_up(host))


def wait_whole(host, wanted):
    wait_for(lambda: whole(host) == wanted, lambda: f"{wanted}, not {whole(host)}")


@pytest.mark.variants(2)
@ways
@pytest.mark.parametrize("mode", ["active-backup", "balance-xor", "802.3ad"])
def test_everything_goes_along(dressed, mode, old, new):
    made = dressed(mode, old, miimon=50)
    near = made.near
    near.ctl("set-slave", "bond0", made.links[1], "weight", 3)
    near.ctl("set", "bond0", "min_links", 2)
    before, (_, options, slaves) = picture(near), settings(near)
    ifindex = near.link("bond0")["ifindex"]
    out = Stream(near, made.far, rate=500, port=9000)
    back = Stream(made.far, near, to="10.0.0.1", rate=500, port=9001)
    for each in (out, back):
        each.flow_on(100)
    near.ctl("set", "bond0", "device", new, "updelay", 60000)
    for each in (out, back):
        each.flow_on(100)
        assert each.finish()["received"]
    wait_for(lambda: picture(near) == before, lambda: f"{before}, not {picture(near)}")
    shown = near.show()
    assert near.link("bond0")["ifindex"] != ifindex and shown["device"] == new
    wanted = {**options, "device": new, "updelay": 60000}
    assert settings(near) == (mode, wanted, slaves)
    near.wait_slaves(*made.links)
    assert not [name for name in near.devices() if name[0] in "no" and "-bond0" in name]
    near.ctl("save", "bond0")
    assert f"device = {new}" in (near.config_dir / "bond0.conf").read_text()
    # and the next bondd finds one bond
    near.restart_bondd(kill=True)
    near.wait_ping("10.0.0.2")
    assert near.ctl("list").split() == ["bond0"]


def set_features(host, dev):
    host.run("ethtool", "-K", dev, "tso", "off", "tx-nocache-copy", "on")


def features(host, dev):
    """What is requested, of all that can be changed; not the lines that sum up those below them."""
    found = re.findall(r"^\s*(\S+): (on|off)(?: \[requested (on|off)\])?$(?!\n\t)",
                       host.run("ethtool", "-k", dev).stdout, re.MULTILINE)
    return {name: requested or now for name, now, requested in found}


@ways
def test_features_go_along(dressed, old, new):
    """Those that were changed. The others are those of a fresh device of the new kind."""
    near = dressed("active-backup", old).near
    set_features(near, "bond0")
    if old != "team":
        near.run("ethtool", "-K", "bond0", "tx-vlan-hw-insert", "off")
    monitor = Monitor(near)
    done = near.ctl_try("set", "bond0", "device", new)
    assert not done.returncode, done.stderr
    monitor.wait(kind="config", action="conversion")
    monitor.stop()
    assert ("tx-vlan-hw-insert cannot be turned off" in done.stderr) == (new == "team")
    near.ctl("create", "bond1", "device", new)
    set_features(near, "bond1")
    if "team" not in (old, new):
        near.run("ethtool", "-K", "bond1", "tx-vlan-hw-insert", "off")
    assert features(near, "bond0") == features(near, "bond1")


def test_what_does_not_go_along_is_said(dressed):
    """And the nftables chain, where the kernel does not find the name's new device itself."""
    near = dressed("active-backup", "veth", links=2).near
    near.run("tc", "qdisc", "add", "dev", "mv0", "root", "pfifo")
    Filter(near, "ingress", dev="mv0")
    Tcx(near, "bond0", FILTERS, "reject", TCX_INGRESS)
    chain = Chain(near, "bond0")
    done = near.ctl_try("set", "bond0", "device", "veth")
    lines = ["the filters and BPF programs of bond0 are not handed over",
             "the filters and BPF programs of mv0 are not handed over",
             "the qdisc pfifo of mv0 is not handed over"]
    if KERNEL < (6, 16):
        lines.append("the nftables chains of bond0 are not handed over")
    assert (done.returncode, sorted(done.stderr.splitlines())) == (0, sorted(lines))
    chain.remove()


@pytest.mark.parametrize("mode", ["active-backup", "balance-xor"])
def test_links_that_are_probed_stay_up(lab, monkeypatch, mode):
    """The new device's routes to the targets are known as soon as it has some."""
    monkeypatch.setenv("XBOND_TEST_CONVERT", "1")
    net = Network(lab)
    net.bond(mode=mode, device="veth", arp_interval=INTERVAL, arp_ip_target="10.0.0.2")
    net.wait_state("up", *net.wires[0])
    net.host.ctl("set", "bond0", "device", "veth")
    net.wait_state("up", *net.wires[0])
    net.stays(intervals=3 * MISSED)
    assert net.failures("bond0") == [0, 0]
    assert "do not answer" not in net.host.log()


@pytest.mark.parametrize("fails", [False, True])
def test_slaves_are_still_awaited(lab, monkeypatch, fails):
    monkeypatch.setenv("XBOND_TEST_CONVERT", "1")
    host = lab.host("a")
    if fails:
        host.restart_bondd(XBOND_TEST_FAIL_AT="handover-all-moved")
    (host.config_dir / "bond0.conf").write_text(
        "[bond]\nmode = active-backup\ndevice = veth\n[slave eth9]\nweight = 3\n")
    host.ctl("load")
    assert host.ctl_try("set", "bond0", "device", "veth").returncode == int(fails)
    for words in ((), ("-d",)):
        assert re.search("eth9:? +not a slave yet", host.ctl("show", *words))
    request = b'{"method": "show", "bond": "bond0"}\n'
    assert host.show()["awaited"] == host.request(request)["result"]["view"]["awaited"] == ["eth9"]
    host.ip("link", "add", "eth9", "type", "veth", "peer", "name", "peer")
    wait_for(lambda: host.slave_names() == ["eth9"], "the slave to be added")
    assert host.slave("eth9")["options"]["weight"] == 3 and host.show()["awaited"] == []
    host.stop_bondd()
    assert "awaited" not in host.show()


def with_a_slave_set_down(made):
    """By an administrator; it stays so, whatever becomes of the bond."""
    made.near.ip("link", "set", "l2", "down")
    made.near.wait_slaves("l0", "l1")
    return made


@pytest.mark.variants(2)
@ways
@pytest.mark.parametrize("step", STEPS)
def test_what_fails_is_undone(dressed, step, old, new):
    near = with_a_slave_set_down(dressed("active-backup", old)).near
    before = whole(near)
    near.stop_bondd()
    near.environment = {"XBOND_TEST_FAIL_AT": f"handover-{step}"}
    near.start_bondd()
    with pytest.raises(Refused, match="everything is as it was"):
        near.ctl("set", "bond0", "device", new)
    wait_whole(near, before)
    near.wait_ping("10.0.0.2")
    near.environment = {}
    near.restart_bondd()
    near.ctl("set", "bond0", "device", new)
    near.wait_ping("10.0.0.2")
    assert slaves_up(near) == before[-1]


@pytest.mark.variants(2)
@ways
@pytest.mark.parametrize("step", (*STEPS, "ending"))
def test_who_dies_is_undone_or_finished(dressed, step, old, new):
    near = with_a_slave_set_down(dressed("active-backup", old)).near
    before = whole(near)
    with near.dying_at(f"handover-{step}"):
        near.ctl_try("set", "bond0", "device", new)
    near.start_bondd()
    near.wait_ping("10.0.0.2")
    if step == "ending":
        wait_for(lambda: picture(near) == before[0], lambda: f"{before[0]}, not {picture(near)}")
        assert near.show()["device"] == new and near.ctl("list").split() == ["bond0"]
        assert slaves_up(near) == before[-1]
        assert set(near.devices()) - {"xb-bond0"} == set(before[5]) - {"xb-bond0"}
    else:
        wait_whole(near, before)


@pytest.mark.variants(1)
@ways
@pytest.mark.parametrize("step,name,away", [("created", "n1-mv0", None),
                                            ("set-aside", "bond0", "o0-bond0"),
                                            ("set-aside", "mv0", "o1-mv0")])
def test_a_stranger_takes_a_name(dressed, step, name, away, old, new):
    """Between two steps. Only what had that name has another one in the end."""
    if away and KERNEL < (6, 2):
        pytest.skip("before Linux 6.2 a device that is up keeps its name")
    near = dressed("active-backup", old).near
    near.ip("addr", "del", "192.0.2.7/32", "dev", "bond0")  # its label changes with each new name
    before = whole(near)
    near.stop_bondd()
    near.environment = {"XBOND_TEST_STOP_AT": f"handover-{step}"}
    near.start_bondd()
    child = near.spawn(*near.ctl_command("set", "bond0", "device", new), stderr=subprocess.PIPE)
    near.wait_frozen()
    near.ip("link", "add", name, "type", "bridge")
    near.thaw_bondd()
    text = child.communicate(timeout=60 * PATIENCE)[1].decode()
    wanted = f"{name} is called {away} now" if away else "everything is as it was"
    assert child.returncode == 1 and wanted in text and text.count("\n") == 1
    assert not list((near.run_dir / "handover").iterdir())
    near.wait_ping("10.0.0.2")
    near.ip("link", "del", name)
    if away:
        near.ip("link", "set", away, "name", name)
    wait_whole(near, before)


@pytest.mark.variants(2)
@ways
@pytest.mark.parametrize("step", UNDO_STEPS)
def test_who_dies_in_the_undo(dressed, step, old, new):
    """The next bondd does the rest of it."""
    near = with_a_slave_set_down(dressed("active-backup", old)).near
    before = whole(near)
    with near.dying_at("handover-all-moved"):
        near.ctl_try("set", "bond0", "device", new)
    with near.dying_at(step, wait=False):
        pass
    near.start_bondd()
    near.wait_ping("10.0.0.2")
    wait_whole(near, before)
    assert not list((near.run_dir / "handover").iterdir())


@ways
def test_a_slave_is_renamed_before_a_death_in_the_undo(dressed, old, new):
    """The bondd after the next one still knows that it is a slave."""
    near = dressed("active-backup", old).near
    before = whole(near)
    with near.dying_at("handover-all-moved"):
        near.ctl_try("set", "bond0", "device", new)
    near.rename("l1", "another")
    with near.dying_at("undo-removed", wait=False):
        pass
    near.start_bondd()
    near.wait_slaves("l0", "l2", "another")
    near.rename("another", "l1")
    wait_whole(near, before)


@ways
def test_who_dies_and_cannot_be_adopted_yet(dressed, old, new):
    """It is undone as soon as both bonds are adopted."""
    near = dressed("active-backup", old).near
    near.ctl("save", "bond0")
    before = whole(near)
    with near.dying_at("handover-moved"):
        near.ctl_try("set", "bond0", "device", new)
    with near.refusing("settings"):
        near.start_refusable()
        assert near.log().count("not adopted") == 2 and "bondd tries again" in near.log()
    wait_whole(near, before)
    assert not list((near.run_dir / "handover").iterdir())
    assert not near.show()["awaited"]


@ways
def test_who_dies_and_loses_the_bond(dressed, old, new):
    """The next bondd says that it cannot be undone, and not that it would be tried again."""
    near = dressed("active-backup", old, links=2).near
    with near.dying_at("handover-moved"):
        near.ctl_try("set", "bond0", "device", new)
    near.ip("link", "del", "bond0")
    near.start_bondd()
    line, = [line for line in near.log().splitlines() if "nothing to go back to" in line]
    assert "tries again" not in line, line
    assert not list((near.run_dir / "handover").iterdir())
    assert not near.ctl("list") and not near.pins()


def refused(host, *words):
    with pytest.raises(Refused) as refusal:
        host.ctl(*words)
    text = str(refusal.value)
    assert text.count("\n") == 1, text
    return text


def test_refusals_change_nothing(dressed):
    made = dressed("active-backup", "veth", links=2)
    near = made.near
    before = whole(near)
    assert "option of mode 802.3ad only" in \
        refused(near, "set", "bond0", "device", "veth", "lacp_rate", "fast")
    near.ip("link", "add", "n0-bond0", "type", "veth", "peer", "name", "xp")
    assert "n0-bond0 is needed" in refused(near, "set", "bond0", "device", "veth")
    near.ip("link", "del", "n0-bond0")
    (near.config_dir / "bond0.conf").write_text("[bond]\nmode = active-backup\nmin_links = 1\n")
    near.ctl("apply", "bond0", "--confirm", "600")
    assert "a rollback of bond0 waits" in refused(near, "set", "bond0", "device", "veth")
    near.ctl("rollback", "bond0")
    wait_whole(near, before)


def test_a_policy_stays(dressed):
    made = dressed("balance-xor", "veth", links=2)
    near = made.near
    near.ctl("policy", "load", "bond0", FIRST_FIVE)
    assert "a policy is loaded" in refused(near, "set", "bond0", "device", "veth")
    near.ctl("policy", "unload", "bond0")
    near.ctl("set", "bond0", "device", "veth")


def test_the_same_kind_is_only_recorded(pair):
    """Without XBOND_TEST_CONVERT."""
    near = pair("active-backup", links=1, device="auto").near
    ifindex, kind = near.link("bond0")["ifindex"], near.show()["device"]
    for word in (kind, "auto"):
        near.ctl("set", "bond0", "device", word)
        assert near.link("bond0")["ifindex"] == ifindex
        assert near.show()["options"]["device"] == word


class MidWay:
    """A conversion whose first slave is let in by the partner when go_on() says so, under traffic
    both ways.
    """

    def __init__(self, made, new):
        self.made, self.near, self.far = made, made.near, made.far
        self.before, self.notes = picture(self.near), ""
        self.streams = [Stream(self.near, self.far, rate=500),
                        Stream(self.far, self.near, to="10.0.0.1", rate=500, port=9001)]
        self.far.ctl("set", "bond0", "max_links", 2)
        wait_for(lambda: len(distributing(self.near)) == 2, "the partner to keep two links")
        self.child = self.order(new)
        wait_for(lambda: self.near.exists("n0-bond0") and "n0-bond0: slave l2 added" in
                 self.near.log(), "the first slave to change", 25)

    def restore(self):
        """Ends what has happened, as far as traffic needs that."""

    def order(self, new):
        return self.near.spawn(*self.near.ctl_command("set", "bond0", "device", new),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def go_on(self):
        self.far.ctl("set", "bond0", "max_links", 0)

    def said(self, child=None):
        """Its exit status, and its line."""
        child = child or self.child
        text = child.communicate(timeout=60 * PATIENCE)[1].decode()
        assert text.count("\n") <= 1, text
        return child.returncode, text

    def wait_whole(self, has=True):
        """One bond with all slaves and traffic, nothing of the other one."""
        near = self.near
        assert not list((near.run_dir / "handover").iterdir())
        assert not [name for name in near.devices() if name[0] in "no" and "-bond0" in name]
        assert near.ctl("list").split() == ["bond0"]
        near.wait_slaves(*self.made.links)
        wait_distributing(near, links=self.made.links, deadline=15)
        wait_for(lambda: picture(near) == self.before,
                 lambda: f"{self.before}, not {picture(near)}")
        for stream in self.streams:
            stream.flow_on(100)
            stream.finish()


@pytest.fixture
def mid_way(dressed):
    def make(old, new, refusable=False):
        made = dressed("802.3ad", old, lacp_rate="fast")
        made.near.ip("link", "del", "mv0")  # so that bond0 can be a port of a bridge
        if refusable:
            made.near.stop_bondd()
            made.near.start_refusable()
        return MidWay(made, new)
    return make



def stop_bondd(found):
    found.near.freeze_bondd()
    for stream in found.streams:
        stream.flow_on(500)
    found.near.thaw_bondd()


def change_partner(found):
    found.far.ctl("set", "bond0", "ad_actor_system", "02:00:00:00:07:77", "ad_user_port_key", 9)


def cut_another_link(found):
    """The partner takes l2 in its place, so that the change goes on at once."""
    found.far.ip("link", "set", "l0", "down")
    wait_for(lambda: "l0 is down: no carrier" in found.near.log(), "the cut to be seen")
    found.restore = lambda: found.far.ip("link", "set", "l0", "up")


def set_another_link_down(found):
    """An administrator of this host; so it stays in the new bond."""
    near = found.near
    near.ip("link", "set", "l0", "down")
    wait_for(lambda: "l0 is down" in near.log(), "the cut to be seen")

    def restore():
        wait_for(lambda: found.child.poll() is not None, "the change to end", 60)
        assert "UP" not in near.link("l0")["flags"]
        near.ip("link", "set", "l0", "up")
    found.restore, found.notes = restore, "l0 carries no traffic yet\n"


def lose_another_link(found):
    found.near.ip("link", "del", "l0")
    found.made.links.remove("l0")
    found.notes = "l0 has left bond0 meanwhile\n"


def add_address_and_route(found):
    """And change sysctls."""
    found.near.run("sysctl", "-qw", "net.ipv6.conf.bond0.hop_limit=33",
                   "net.ipv4.conf.bond0.arp_announce=2", "net.ipv4.neigh.bond0.gc_stale_time=77")
    found.near.ip("addr", "add", "10.9.9.9/24", "dev", "bond0")
    found.near.ip("route", "add", "10.8.0.0/16", "via", "10.9.9.1")
    found.before = picture(found.near)


def make_port_of_bridge(found):
    """Meanwhile addresses of bond0 receive nothing."""
    near = found.near
    near.ip("link", "add", "br0", "type", "bridge")
    near.ip("link", "set", "bond0", "master", "br0")

    def restore():
        wait_for(lambda: near.link("bond0").get("master") == "br0", "the new device in the bridge")
        near.ip("link", "del", "br0")
    found.restore = restore


def rename(found):
    """In the end it has the name that the command named. Before Linux 6.2 it keeps it, being up."""
    found.near.ip("link", "set", "bond0", "name", "another", check=False)
    name = "another" if found.near.exists("another") else "bond0"
    found.before = ast.literal_eval(repr(picture(found.near, name)).replace(name, "bond0"))


def ask_for_another(found):
    status, text = found.said(found.order("auto"))
    assert status == 1 and "has not ended yet" in text


@ways
@pytest.mark.variants(4)
@pytest.mark.parametrize("happens", [stop_bondd, change_partner, cut_another_link,
                                     set_another_link_down, lose_another_link, rename,
                                     add_address_and_route,
                                     make_port_of_bridge, ask_for_another])
def test_it_goes_on_whatever_happens(mid_way, happens, old, new):
    found = mid_way(old, new)
    happens(found)
    found.go_on()
    wait_for(lambda: "n0-bond0: is now called bond0" in found.near.log(), "the names to change", 25)
    found.restore()
    assert found.said() == (0, found.notes)
    found.wait_whole()
    assert found.near.show()["device"] == new


def test_asked_for_twice_before_it_begins(mid_way):
    """The second one, of somebody who has lost patience, would interrupt the traffic again."""
    found = mid_way("veth", "veth")
    near = found.near
    near.ctl("create", "bond7", "device", "veth")
    children = [near.spawn(*near.ctl_command("set", "bond7", "device", "veth"),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    wait_for(lambda: [child for child in children if child.poll() is not None],
             "the second one to be refused")
    children.sort(key=lambda child: child.poll() is None)
    status, text = found.said(children[0])
    assert status == 1 and "of bond7 has not ended yet" in text
    found.go_on()
    assert found.said()[0] == 0 and found.said(children[1]) == (0, "")
    assert near.log().count("bond7: has another kind of device now") == 1


def add_macvlan(found):
    found.near.ip("link", "add", "link", "bond0", "name", "mv1", "type", "macvlan")
    found.restore = lambda: found.near.ip("link", "del", "mv1")
    return "mv1 has come to bond0 since the conversion began"


def change_mtu(found):
    found.near.ip("link", "set", "bond0", "mtu", "1400")
    found.restore = lambda: found.near.ip("link", "set", "bond0", "mtu", "1500")
    return "the MTU of bond0 was changed meanwhile"


def cut_first_link(found):
    found.far.ip("link", "set", "l2", "down")
    found.restore = lambda: found.far.ip("link", "set", "l2", "up")
    return "l2 carries no traffic in the new bond"


def rename_and_cut(found):
    """It gets its name back, also with another address and route."""
    add_address_and_route(found)
    rename(found)
    return cut_first_link(found)


def remove_address_and_cut(found):
    """It may be used elsewhere by now, so it does not come back."""
    found.near.ip("addr", "del", "192.0.2.7/32", "dev", "bond0")
    found.near.ip("route", "del", "203.0.113.0/24")
    found.before = picture(found.near)
    return cut_first_link(found)


def rename_first_link_and_cut(found):
    found.near.rename("l2", "another")
    why, restore = cut_first_link(found), found.restore

    def rename_back():
        restore()
        found.near.rename("another", "l2")
    found.restore = rename_back
    return why


def rename_the_new_one_and_cut(found):
    """By whatever name, it is the one that goes."""
    found.near.rename("n0-bond0", "another")
    return cut_first_link(found)


def take_the_old_name(found):
    """That bond0 is to have for a moment. It is not even set down."""
    found.near.ip("link", "add", "o0-bond0", "type", "bridge")
    found.restore = lambda: found.near.ip("link", "del", "o0-bond0")
    return "the name o0-bond0 is needed during the change"


@ways
@pytest.mark.variants(2)
@pytest.mark.parametrize("happens", [
    add_macvlan, change_mtu, cut_first_link, rename_and_cut, remove_address_and_cut,
    rename_first_link_and_cut, rename_the_new_one_and_cut, take_the_old_name])
def test_it_goes_back_when(mid_way, happens, old, new):
    found = mid_way(old, new)
    why = happens(found)
    found.go_on()
    status, text = found.said()
    assert status == 1 and why in text and "everything is as it was" in text
    found.restore()
    found.wait_whole()
    assert found.near.show()["device"] == old


@ways
@pytest.mark.parametrize("fails", [False, True])
def test_an_administrator_gives_it_another_address(dressed, fails, old, new):
    """The new device has it, and so has the old one if that comes back."""
    made, mac = dressed("balance-xor", old), "02:00:00:00:77:01"
    near = made.near
    near.stop_bondd()
    near.environment = {"XBOND_TEST_STOP_AT": "handover-copied",
                        **({"XBOND_TEST_FAIL_AT": "handover-moved"} if fails else {})}
    near.start_bondd()
    child = near.spawn(*near.ctl_command("set", "bond0", "device", new), stderr=subprocess.PIPE)
    near.wait_frozen()
    near.ip("link", "set", "bond0", "address", mac)
    near.thaw_bondd()
    assert (b"everything is as it was" in child.communicate(timeout=60 * PATIENCE)[1]) == fails
    wait_for(lambda: {near.link(name)["address"] for name in ("bond0", *made.links)} == {mac},
             "bond0 and its slaves to have it")
    assert near.show()["device"] == (old if fails else new) and near.show()["mac"] == mac
    near.wait_ping("10.0.0.2")


@ways
def test_another_device_takes_the_name(mid_way, old, new):
    """bond0 was renamed, and keeps the new name and, all the while, its addresses."""
    found = mid_way(old, new)
    near = found.near
    near.ip("link", "set", "bond0", "name", "another", check=False)
    if not near.exists("another"):
        pytest.skip("before Linux 6.2 a device that is up keeps its name")
    near.ip("link", "add", "bond0", "type", "bridge")
    with (near.run_dir / "addresses").open("w+") as told:
        near.spawn("ip", "-o", "-4", "monitor", "address", "dev", "another", stdout=told)

        def tells_of(address):
            near.ip("addr", "replace", address, "dev", "another")
            return address in pathlib.Path(told.name).read_text()
        wait_for(lambda: tells_of("10.99.0.1/32"), "ip monitor to listen")
        found.go_on()
        assert found.said() == (1, "bondctl: another device has the name bond0; but not everything "
                                   "could be undone: bond0 is called another now\n")
        wait_for(lambda: tells_of("10.99.0.2/32"), "ip monitor to tell the last of it")
        assert "Deleted" not in pathlib.Path(told.name).read_text()
    assert near.ctl("list").split() == ["another"]
    assert near.show("another")["device"] == old
    assert not list((near.run_dir / "handover").iterdir())
    near.wait_slaves(*found.made.links, bond="another")
    for stream in found.streams:
        stream.flow_on(100)
        stream.finish()
    near.ctl("set", "another", "device", new)
    assert near.show("another")["device"] == new


@ways
def test_killed_in_its_midst(mid_way, old, new):
    found = mid_way(old, new)
    found.near.kill_bondd()
    for stream in found.streams:
        stream.flow_on(500)
    found.near.start_bondd()
    assert found.said()[0]
    found.go_on()
    found.wait_whole()
    assert found.near.show()["device"] == old


@ways
def test_deleted_in_its_midst(mid_way, old, new):
    """Then there is neither bond, and all slaves are free."""
    found = mid_way(old, new)
    near = found.near
    near.ip("link", "del", "bond0")
    found.go_on()
    status, text = found.said()
    assert status == 1 and "bond0 was removed meanwhile" in text
    assert not near.ctl("list") and not near.pins()
    assert not [name for name in near.devices() if "bond0" in name]
    assert not list((near.run_dir / "handover").iterdir())
    near.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "fast")
    near.ctl("add-slave", "bond0", *found.made.links)


@ways
def test_a_fault_that_stays(mid_way, old, new):
    """Also through the undo. When it has gone, bondd undoes the rest by itself."""
    found = mid_way(old, new, refusable=True)
    near = found.near
    with near.refusing("detach"):
        found.go_on()
        status, text = found.said()
        assert status == 1 and "not everything could be undone" in text
        for stream in found.streams:
            stream.flow_on(500)
    wait_for(lambda: near.ctl("list").split() == ["bond0"], "bondd to try again")
    found.wait_whole()
    assert near.show()["device"] == old
    assert not list((near.run_dir / "handover").iterdir())
    near.ctl("set", "bond0", "device", new)
    assert near.show()["device"] == new
