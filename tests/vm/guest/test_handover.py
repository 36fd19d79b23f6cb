"""takeover and handback under traffic: everything on the bond stays, and everything is as it was
when a step fails or bondd dies in it.
"""
import contextlib
import json
import os
import re
import subprocess

import pytest

from lab import Refused
from namespace import KERNEL
from partners import KernelBond
from traffic import Stream
from waiting import wait_for

# Names and addresses of devices that are up change over since Linux 6.2.
EARLY = ("set-aside", "put-forward", "both-configured") if KERNEL >= (6, 2) else ()
STEPS = ("recorded", "created", "copied", "released", "moved", *EARLY, "away", "renamed",
         "configured", "all-moved")
UNDO_STEPS = ("undo-removed", "undo-unaddressed", "undo-renamed", "undo-added", "undo-up",
              "undo-done")
STATES = {"REACHABLE", "STALE", "DELAY", "PROBE", "INCOMPLETE", "FAILED"}
STATIC = {"noprefixroute", "temporary", "mngtmpaddr", "nodad"}


def addresses(host):
    """{device: what each address is}; lifetimes only whether there are some."""
    found = {}
    for link in host.ip_json("addr", "show"):
        found[link["ifname"]] = sorted(
            (info["local"], info["prefixlen"], info.get("label"), info.get("broadcast"),
             info["scope"], info["valid_life_time"] > 1 << 31, info.get("metric"),
             *sorted(STATIC & set(info)))
            for info in link.get("addr_info", []))
    return found


def routes(host):
    lines = [line for family in ("-4", "-6")
             for line in host.ip(family, "route", "show", "table", "all").splitlines()]
    return sorted({" ".join(line.split(" expires ")[0].replace("linkdown", "").split())
                   for line in lines if "fe80" not in line and "ff00" not in line})


def neighbours(host):
    return sorted((each["dst"], each.get("dev"), each.get("lladdr"))
                  for each in host.ip_json("neigh", "show") if not STATES & set(each["state"]))


def devices(host, names):
    found = {}
    for name in names:
        link = host.link(name)
        info = link.get("linkinfo", {})
        data = info.get("info_data") if info.get("info_kind") in ("vlan", "macvlan") else None
        slave = {key: value for key, value in info.get("info_slave_data", {}).items()
                 if key in ("priority", "cost", "hairpin", "isolated", "learning")}
        found[name] = (link["address"], link["mtu"], "UP" in link["flags"], link.get("master"),
                       data, slave)
    return found


def features(host, name):
    """What was requested: a kernel bond holds back what its mode cannot do."""
    lines = re.findall(r"(tx-tcp6?-segmentation): (\w+)(?: \[requested (\w+)\])?",
                       host.run("ethtool", "-k", name).stdout)
    return [(feature, requested or state) for feature, state, requested in lines]


def picture(host, names):
    return {"features": {name: features(host, name) for name in names if name[:4] == "bond"},
            "addresses": {name: each for name, each in addresses(host).items() if name in names},
            "routes": routes(host), "neighbours": neighbours(host),
            "devices": devices(host, names),
            "vlans": [each for each in json.loads(host.run("bridge", "-j", "vlan").stdout)
                      if each["ifname"] in names]}


def kernel_bond(near, mode, *options, slaves=None):
    near.ip("link", "add", "bond0", "type", "bond", "mode", mode, "miimon", "50", *options)
    for name in slaves or near.links:
        near.ip("link", "set", name, "down")
        near.ip("link", "set", name, "master", "bond0")
    near.ip("link", "set", "bond0", "up")


NAMES = ("bond0", "bond0.10", "bond0.20", "mv0", "mv1")


def dress(near):
    """What may be on a bond."""
    near.ip("link", "set", "bond0", "mtu", "1450")
    near.ip("addr", "add", "10.0.0.1/24", "broadcast", "10.0.0.255", "dev", "bond0")
    near.ip("addr", "add", "10.0.0.11/24", "label", "bond0:1", "dev", "bond0")
    near.ip("addr", "add", "192.0.2.7/32", "dev", "bond0", "scope", "link", "valid_lft", "3000",
            "preferred_lft", "2000")
    near.ip("addr", "add", "fd00::1/64", "dev", "bond0", "nodad")
    near.ip("addr", "add", "fd00::11/64", "dev", "bond0")
    near.ip("addr", "add", "2001:db8::1/128", "dev", "bond0", "nodad", "noprefixroute",
            "valid_lft", "3000", "preferred_lft", "2000")
    near.ip("route", "add", "default", "via", "10.0.0.2", "metric", "100", "src", "10.0.0.11")
    near.ip("route", "add", "198.51.100.0/24", "via", "10.0.0.2", "table", "100", "mtu", "1400")
    near.ip("route", "add", "203.0.113.0/24", "nexthop", "via", "10.0.0.2", "weight", "2",
            "nexthop", "via", "10.0.0.3")
    near.ip("-6", "route", "add", "default", "via", "fd00::2", "metric", "50")
    near.ip("-6", "route", "add", "2001:db8:1::/48", "via", "fd00::2", "table", "100")
    near.ip("neigh", "add", "10.0.0.77", "lladdr", "02:00:00:00:00:77", "dev", "bond0")
    near.ip("neigh", "add", "proxy", "10.0.0.78", "dev", "bond0")
    near.ip("link", "add", "link", "bond0", "name", "bond0.10", "type", "vlan", "id", "10",
            "egress-qos-map", "1:3")
    near.ip("link", "set", "bond0.10", "up")
    near.ip("addr", "add", "10.1.0.1/24", "dev", "bond0.10")
    near.ip("route", "add", "198.18.0.0/15", "via", "10.1.0.2")
    near.ip("link", "add", "link", "bond0", "name", "bond0.20", "type", "vlan", "id", "20")
    near.ip("link", "add", "br0", "type", "bridge", "vlan_filtering", "1",
            "vlan_default_pvid", "7")
    near.ip("link", "set", "bond0.20", "up", "master", "br0")
    near.ip("link", "set", "bond0.20", "type", "bridge_slave", "cost", "77", "hairpin", "on")
    near.run("bridge", "vlan", "del", "vid", "7", "dev", "bond0.20")
    near.run("bridge", "vlan", "add", "vid", "5", "dev", "bond0.20", "pvid", "untagged")
    near.ip("link", "add", "link", "bond0", "name", "mv0", "type", "macvlan", "mode", "bridge")
    near.ip("link", "set", "mv0", "up")
    near.ip("link", "add", "link", "bond0", "name", "mv1", "type", "macvlan", "mode", "source",
            "macaddr", "set", "02:00:00:00:00:77", "02:00:00:00:00:78")
    near.run("sysctl", "-qw", "net.ipv4.conf.bond0.arp_announce=2",
             "net.ipv6.conf.bond0.hop_limit=63")
    near.run("ethtool", "-K", "bond0", "tx-tcp6-segmentation", "off")
    near.run("ethtool", "-K", "bond0.20", "tx-tcp-segmentation", "off")


@contextlib.contextmanager
def traffic(made):
    """Both ways. The list has, afterwards, the longest silences of both, and what was lost at the
    most in a row, both in ms. A machine that is busy is silent without losing anything.
    """
    found = []
    out = Stream(made.near, made.far, rate=500, port=9000)
    back = Stream(made.far, made.near, to="10.0.0.1", rate=500, port=9001)
    out.flow_on(100)
    yield found
    out.flow_on(100)
    ends = [each.finish() for each in (out, back)]
    found += [each["longest_silence_ms"] for each in ends]
    found += [max((lost for _, lost in each["gaps"]), default=0) * 2 for each in ends]


def note(what, silences):
    """For whoever wants to see figures (VM_KEEP)."""
    if os.path.isdir("/out"):
        with open(f"/out/silences-{os.environ['XBOND_VM']}.txt", "a", encoding="utf-8") as file:
            print(what, silences, file=file)


def is_kernels(near):
    return near.link("bond0")["linkinfo"]["info_kind"] == "bond"


@pytest.fixture
def plain(setting):
    """A bond of the kernel in active-backup, and a switch."""
    made = setting(2).switch()
    kernel_bond(made.near, "active-backup", "primary", "eth0", "min_links", "3")
    dress(made.near)
    made.near.wait_ping("10.0.0.2")
    return made


def test_all_that_is_on_a_bond(plain):
    near = plain.near
    before = picture(near, NAMES)
    with traffic(plain) as silences:
        near.ctl("takeover", "bond0")
    note("takeover", silences)
    assert picture(near, NAMES) == before
    assert near.show()["mode"] == "active-backup" and near.show()["options"]["primary"] == "eth0"
    assert near.show()["options"]["min_links"] == 0  # the driver did not look at it in this mode
    assert near.run("sysctl", "-n", "net.ipv4.conf.bond0.arp_announce").stdout == "2\n"
    assert near.run("sysctl", "-n", "net.ipv6.conf.bond0.hop_limit").stdout == "63\n"
    near.wait_slaves("eth0", "eth2")
    near.wait_ping("10.0.0.2")
    near.wait_ping("fd00::2")
    assert not [name for name in near.devices() if name[0] in "no"]
    with traffic(plain) as silences:
        near.ctl("handback", "bond0")
    note("handback", silences)
    assert is_kernels(near) and not near.pins()
    assert picture(near, NAMES) == before
    data = near.link("bond0")["linkinfo"]["info_data"]
    assert (data["mode"], data["primary"]) == ("active-backup", "eth0")
    assert {near.link(dev)["master"] for dev in near.links} == {"bond0"}


def undo_each(made, verb, steps, names, wait=lambda: None):
    """A handover of a bond of the kernel, or back, fails at each of these steps."""
    near = made.near
    before = picture(near, names)
    if verb == "handback":
        near.ctl("takeover", "bond0")
    for step in steps:
        near.stop_bondd()
        near.environment = {"XBOND_TEST_FAIL_AT": f"handover-{step}"}
        near.start_bondd()
        with pytest.raises(Refused, match="as it was"):
            near.ctl(verb, "bond0")
        near.environment = {}
        assert is_kernels(near) == (verb == "takeover"), step
        assert picture(near, names) == before, step
        wait()
        near.wait_ping("10.0.0.2")
    near.restart_bondd()


def before_deaths(made, verb):
    """The picture of a bond that this verb may hand over, without bondd."""
    before = picture(made.near, NAMES)
    if verb == "handback":
        made.near.ctl("takeover", "bond0")
    made.near.stop_bondd()
    return before


def check_undone(near, verb, before, step):
    near.start_bondd()
    assert is_kernels(near) == (verb == "takeover"), step
    assert picture(near, NAMES) == before, step
    near.wait_ping("10.0.0.2")


@pytest.mark.full
@pytest.mark.parametrize("verb", ("takeover", "handback"))
def test_what_fails_is_undone(plain, verb):
    undo_each(plain, verb, STEPS, NAMES)


@pytest.mark.full
@pytest.mark.parametrize("verb", ("takeover", "handback"))
def test_who_dies_is_undone(plain, verb):
    near, before = plain.near, before_deaths(plain, verb)
    for step in STEPS:
        with near.dying_at(f"handover-{step}"):
            near.ctl_try(verb, "bond0")
        check_undone(near, verb, before, step)
        near.stop_bondd()
    with near.dying_at("handover-ending"):
        near.ctl_try(verb, "bond0")
    near.start_bondd()
    assert is_kernels(near) == (verb == "handback")
    assert picture(near, NAMES) == before
    assert not [name for name in near.devices() if name[0] in "no"]
    near.wait_ping("10.0.0.2")


@pytest.mark.full
@pytest.mark.parametrize("verb", ("takeover", "handback"))
def test_who_dies_in_the_undo(plain, verb):
    """The next bondd does the rest of it."""
    near, before = plain.near, before_deaths(plain, verb)
    for step in UNDO_STEPS:
        with near.dying_at("handover-all-moved"):
            near.ctl_try(verb, "bond0")
        with near.dying_at(step, wait=False):
            pass
        check_undone(near, verb, before, step)
        near.stop_bondd()


def stopped_after(near, verb, step):
    """bondd stands still in the midst of a handover."""
    near.stop_bondd()
    near.environment = {"XBOND_TEST_STOP_AT": f"handover-{step}"}
    near.start_bondd()
    child = near.spawn(*near.ctl_command(verb, "bond0"), stderr=subprocess.PIPE)
    near.wait_frozen()
    return child


def gone_on(near, child):
    """Its exit status, and its lines."""
    near.thaw_bondd()
    text = child.communicate(timeout=150)[1].decode()
    near.environment = {}
    return child.returncode, text


@pytest.mark.full
def test_a_slave_comes_in_its_midst(setting):
    made = setting(3).switch()
    near, late = made.near, made.near.links[2]
    kernel_bond(near, "active-backup", slaves=near.links[:2])
    made.address(near, "bond0", 1)
    near.wait_ping("10.0.0.2")
    child = stopped_after(near, "takeover", "moved")
    near.ip("link", "set", late, "down")
    near.ip("link", "set", late, "master", "bond0")
    status, text = gone_on(near, child)
    assert status == 1 and "as it was" in text
    assert f"{late} has come to bond0 since the takeover began" in text
    assert is_kernels(near) and {near.link(dev)["master"] for dev in near.links} == {"bond0"}
    near.wait_ping("10.0.0.2")


@pytest.mark.full
@pytest.mark.parametrize("is_undone", (False, True))
def test_a_slave_leaves_in_its_midst(plain, is_undone):
    """It stays where somebody has put it."""
    near = plain.near
    child = stopped_after(near, "takeover", "moved")
    left, = [dev for dev in near.links if near.link(dev).get("master") == "bond0"]
    first, = set(near.links) - {left}
    near.ip("link", "set", left, "master", "br0")
    if is_undone:
        near.ip("link", "add", "o0-bond0", "type", "bridge")
    status, text = gone_on(near, child)
    assert status == is_undone
    if is_undone:
        assert "as it was" in text
        assert near.link(first)["master"] == "bond0"
        near.ip("link", "del", "o0-bond0")
    else:
        assert f"{left} has left bond0 meanwhile\n" in text
        near.wait_slaves(first)
    assert is_kernels(near) == is_undone and near.link(left)["master"] == "br0"
    near.wait_ping("10.0.0.2")


@pytest.mark.full
def test_a_stranger_takes_the_name_of_the_new_bond(plain):
    near = plain.near
    before = picture(near, NAMES)
    near.ctl("takeover", "bond0")
    child = stopped_after(near, "handback", "recorded")
    near.ip("link", "add", "n0-bond0", "type", "bond")
    status, text = gone_on(near, child)
    assert status == 1 and "as it was" in text and not is_kernels(near)
    assert picture(near, NAMES) == before
    near.ip("link", "del", "n0-bond0")


@pytest.mark.once
def test_a_bond_of_the_kernel_has_the_name(setting):
    near = setting(2).near
    kernel_bond(near, "active-backup")
    done = near.ctl_try("create", "bond0")
    assert done.returncode == 1 and "a bond of the kernel" in done.stderr
    near.run("sh", "-c", done.stderr.split("'")[3])
    near.ctl("create", "bond0")


@pytest.mark.once
def test_lacp_partner_keeps_the_aggregate(setting):
    made = setting(2)
    partner = KernelBond(made).start()
    made.lab.partners.append(partner)
    partner.close = partner.stop
    near = made.near
    kernel_bond(near, "802.3ad", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4",
                "ad_user_port_key", "5")
    made.address(near, "bond0", 1)
    wait_for(lambda: len(partner.distributing()) == 2, "the partner to distribute", 15)
    near.wait_ping("10.0.0.2")

    def ids():
        return {link: (end["aggregator"], end["partner"]["system"], end["partner"]["key"],
                       end["partner"]["port"]) for link, end in partner.view().items()}
    before = ids()
    for verb in ("takeover", "handback"):
        with traffic(made) as silences:
            near.ctl(verb, "bond0")
        note(f"{verb} 802.3ad", silences)
        assert max(silences) < 5000  # a new bond of the kernel takes eight until it has a port
        assert ids() == before
        wait_for(lambda: len(partner.distributing()) == 2, "the partner to distribute", 15)
        if verb == "takeover":
            show = {**near.show()["options"], "mode": near.show()["mode"]}
            assert (show["mode"], show["lacp_rate"], show["xmit_hash_policy"],
                    show["ad_user_port_key"]) == ("802.3ad", "fast", "layer3+4", 5)


@pytest.mark.once
def test_what_cannot_be_handed_over(setting):
    made = setting(2)
    near = made.near

    def refused(*words):
        with pytest.raises(Refused) as refusal:
            near.ctl(*words)
        text = str(refusal.value)
        assert text.count("\n") == 1, text
        return text
    assert "no such device" in refused("takeover", "bond7")
    assert "neither a kernel bond nor a team" in refused("takeover", "eth0")
    assert "not an xbond bond" in refused("handback", "eth0")
    kernel_bond(near, "balance-alb")
    wait_for(lambda: near.link("bond0")["operstate"] == "UP", "its carrier")
    before = near.ip("-d", "link")
    near.ip("link", "add", "link", "bond0", "name", "iv0", "type", "ipvlan")
    assert "iv0 (ipvlan) is on bond0" in refused("takeover", "bond0", "mode", "active-backup")
    near.ip("link", "del", "iv0")
    near.ip("link", "add", "vx0", "type", "vxlan", "id", "7", "dev", "bond0", "dstport", "4789",
            "remote", "10.0.0.2")
    assert "vx0 (vxlan) is on bond0" in refused("takeover", "bond0", "mode", "active-backup")
    near.ip("link", "del", "vx0")
    near.ip("link", "add", "link", "bond0", "name", "mv9", "netns", made.far.name, "type",
            "macvlan")
    assert "mv9 (macvlan) in another" in refused("takeover", "bond0", "mode", "active-backup")
    made.far.ip("link", "del", "mv9")
    near.ip("nexthop", "add", "id", "1", "dev", "bond0")
    near.ip("route", "add", "192.0.2.0/24", "nhid", "1")
    assert "nexthop objects" in refused("takeover", "bond0", "mode", "active-backup")
    near.ip("nexthop", "flush")
    (near.run_dir / "handover").rmdir() if (near.run_dir / "handover").exists() else None
    (near.run_dir / "handover").write_text("")
    assert "journal" in refused("takeover", "bond0", "mode", "active-backup")
    (near.run_dir / "handover").unlink()
    assert len(near.ip("-d", "link")) == len(before) and is_kernels(near)
    near.ctl("takeover", "bond0", "mode", "active-backup", "device", "team")
    assert (near.show()["mode"], near.show()["device"]) == ("active-backup", "team")
    assert "xbond's already" in refused("takeover", "bond0")
    near.wait_slaves("eth0", "eth2")
    near.ctl("set", "bond0", "device", "veth")
    near.ctl("set", "bond0", "device", "team")
    near.ctl("handback", "bond0")
    assert is_kernels(near) and not near.pins()


@pytest.mark.full
@pytest.mark.parametrize("mode", ("active-backup", "balance-xor", "802.3ad"))
def test_ten_interruptions(setting, mode):
    """docs/operators/takeover.md has the figures."""
    made = setting(2)
    near = made.near
    if mode == "802.3ad":
        partner = KernelBond(made).start()
        made.lab.partners.append(partner)
        partner.close = partner.stop
        kernel_bond(near, mode, "lacp_rate", "fast")
        wait_for(lambda: len(partner.distributing()) == 2, "the partner to distribute", 15)
    else:
        made.switch()
        kernel_bond(near, mode)
    made.address(near, "bond0", 1)
    near.wait_ping("10.0.0.2")
    for _ in range(10):
        for verb in ("takeover", "handback"):
            with traffic(made) as silences:
                near.ctl(verb, "bond0")
            note(f"{mode} {verb}", silences)
            near.wait_ping("10.0.0.2")
            if mode == "802.3ad":
                wait_for(lambda: len(partner.distributing()) == 2, "both ports", 15)
