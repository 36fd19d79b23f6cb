# SPDX-License-Identifier: GPL-2.0-or-later
"""What is configured on one device, configured on another: the part of a takeover that needs no
kernel bond.
"""
import json
import re

import pytest

from built import BUILD
from waiting import wait_for


@pytest.fixture(name="host")
def _host(lab):
    """Devices `old` and `new`, of which one takes the place of the other, and `other`."""
    host = lab.namespace("a")
    for name in ("old", "new", "other"):
        host.ip("link", "add", name, "type", "veth", "peer", "name", f"{name}p")
        host.ip("link", "set", name, "up")
        host.ip("link", "set", f"{name}p", "up")
    return host


def reconf(host):
    """What was refused; nothing if all went well."""
    return host.run(BUILD / "tools/reconf", "old", "new", check=False).stdout


def hops(host, *words):
    """The devices and weights of a route."""
    (route,) = host.ip_json(*words)
    return {(each["dev"], each["weight"]) for each in route["nexthops"]}


@pytest.mark.parametrize("family, net, gateways", [
    ("-4", "10.8.0.0/16", ("10.0.0.9", "10.1.0.9")), ("-6", "fd08::/64", ("fd00::9", "fd01::9"))])
@pytest.mark.parametrize("first", ["old", "other"])
def test_a_route_over_several_devices(host, family, net, gateways, first):
    for number, dev in enumerate(("old", "other")):
        host.ip("addr", "add", f"10.{number}.0.1/24", "dev", dev)
        host.ip("addr", "add", f"fd0{number}::1/64", "dev", dev, "nodad")
    words = {"old": ("nexthop", "via", gateways[0], "dev", "old", "weight", 3),
             "other": ("nexthop", "via", gateways[1], "dev", "other", "weight", 2)}
    host.ip(family, "route", "add", net, *words[first],
            *words["other" if first == "old" else "old"])
    assert reconf(host) == ""
    host.ip("link", "del", "old")
    assert hops(host, family, "route", "show", net) == {("new", 3), ("other", 2)}


@pytest.mark.parametrize("kind", ["one", "group", "unused"])
@pytest.mark.parametrize("compatible", [0, 1])
def test_nexthop_objects_are_refused(host, kind, compatible):
    """Also if routes do not say where their objects lead to."""
    host.run("sysctl", "-qw", f"net.ipv4.nexthop_compat_mode={compatible}")
    host.ip("addr", "add", "10.0.0.1/24", "dev", "old")
    host.ip("nexthop", "add", "id", 7, "via", "10.0.0.9", "dev", "old")
    host.ip("nexthop", "add", "id", 8, "group", 7)
    if kind != "unused":
        host.ip("route", "add", "10.8.0.0/16", "nhid", 7 if kind == "one" else 8)
    assert "nexthop objects" in reconf(host)


def test_nexthop_objects_elsewhere_do_no_harm(host):
    host.ip("addr", "add", "10.1.0.1/24", "dev", "other")
    host.ip("nexthop", "add", "id", 7, "via", "10.1.0.9", "dev", "other")
    host.ip("route", "add", "10.8.0.0/16", "nhid", 7)
    assert reconf(host) == ""


def test_static_entries_of_a_bridge(host):
    """What an administrator has set stays; what the bridge has learnt it learns again. The port's
    own address, which is a local one, too, goes when the port has another.
    """
    host.ip("link", "add", "br0", "type", "bridge")
    host.ip("link", "set", "br0", "up")
    host.ip("link", "set", "old", "master", "br0")
    wait_for(lambda: host.link("old")["linkinfo"]["info_slave_data"]["state"] == "forwarding",
             "the port to learn")
    for mac, kind in (("11", "static"), ("12", "dynamic"), ("13", "local"), ("14", "static")):
        host.run("bridge", "fdb", "add", f"02:00:00:00:00:{mac}", "dev", "old", "master", kind)
    host.ip("link", "set", "new", "address", host.link("old")["address"])
    assert reconf(host) == ""
    host.ip("link", "del", "old")
    host.ip("link", "set", "new", "address", "02:00:00:00:00:99")
    entries = json.loads(host.run("bridge", "-j", "fdb", "show", "br", "br0", "brport",
                                  "new").stdout)
    # without those that the bridge has learned from what came
    assert {(each["mac"][-2:], each["state"]) for each in entries
            if "master" in each and each["state"]} == {
        ("11", "static"), ("14", "static"), ("13", "permanent"), ("99", "permanent")}


def routes(host, dev):
    return {" ".join(line.split()) for family in ("-4", "-6")
            for line in host.ip(family, "route", "show", "table", "main", "dev", dev).splitlines()
            if "fe80:" not in line}


def test_routes_that_networkmanager_makes(host):
    """It says that the kernel has made the one to the network, and gives that a metric."""
    for family, net in (("-4", "10.0.0.{}"), ("-6", "fd00::{}")):
        length = 24 if family == "-4" else 64
        host.ip(family, "addr", "add", f"{net.format(5)}/{length}", "dev", "old", "noprefixroute")
        host.ip(family, "route", "add", f"{net.format('0' * (family == '-4'))}/{length}",
                "dev", "old", "proto", "kernel", "metric", 100)
        host.ip(family, "route", "add", "default", "via", net.format(1), "metric", 100)
    before = routes(host, "old")
    assert len(before) == 4
    assert reconf(host) == ""
    assert routes(host, "new") == before


def test_a_route_that_a_router_advertised(host):
    """To the addresses on the link, of which the host has none."""
    host.ip("-6", "route", "add", "fd00::/64", "dev", "old", "proto", "kernel", "expires", 500)
    assert reconf(host) == ""
    (route,) = host.ip_json("-6", "route", "show", "fd00::/64")
    assert route["dev"] == "new" and 490 < route["expires"] <= 501


def neighbours(host, dev):
    lines = [line.split() for more in ((), ("nud", "noarp"))
             for line in host.ip("neigh", "show", *more, "dev", dev).splitlines()]
    return {(*words[:-1], words[-1] if words[-1] in ("PERMANENT", "NOARP") else "")
            if words[-1].isupper() else tuple(words) for words in lines if words[0][:3] == "10."}


def test_neighbours(host):
    """Whose they are stays known, and that the kernel keeps them fresh."""
    host.ip("addr", "add", "10.0.0.1/24", "dev", "old")
    for last, words in ((2, ("lladdr", "02:00:00:00:00:02", "nud", "permanent", "protocol", 42)),
                        (3, ("lladdr", "02:00:00:00:00:03", "nud", "stale", "extern_learn")),
                        (4, ("managed", "extern_learn")),
                        (5, ("lladdr", "02:00:00:00:00:05", "nud", "stale")),
                        (6, ("lladdr", "03:00:00:00:00:06", "nud", "noarp"))):
        host.ip("neigh", "add", f"10.0.0.{last}", *words, "dev", "old")
    before = neighbours(host, "old")
    assert len(before) == 5
    host.ip("route", "add", "224.0.0.9", "dev", "old")
    host.run("bash", "-c", "echo > /dev/udp/224.0.0.9/9")
    assert "224.0.0.9" in host.ip("neigh", "show", "nud", "noarp", "dev", "old")
    assert reconf(host) == ""
    assert neighbours(host, "new") == before
    assert "224.0.0.9" not in host.ip("neigh", "show", "nud", "noarp", "dev", "new")


def test_settings_of_the_device(host):
    host.run("sysctl", "-qw", "net.ipv6.conf.old.accept_ra=2", "net.ipv6.conf.new.accept_ra=2")
    host.ip("link", "set", "old", "promisc", "on", "allmulticast", "on", "multicast", "off",
            "group", 7, "txqueuelen", 77, "alias", "to the switch")
    host.ip("token", "set", "::77", "dev", "old")

    def settings(dev):
        link = host.link(dev)
        return (set(link["flags"]) - {"UP", "LOWER_UP", "NO-CARRIER"}, link["group"],
                link["txqlen"], link["ifalias"], host.ip("token", "get", "dev", dev).split()[1])

    before = settings("old")
    assert reconf(host) == ""
    assert settings("new") == before and before[-1] == "::77" and "PROMISC" in before[0]


def test_an_address_that_another_host_has(host):
    """It was found to be a double on the old device, and is not checked again."""
    host.run("sysctl", "-qw", "net.ipv6.conf.old.accept_dad=1")
    host.ip("addr", "add", "fd00::1/64", "dev", "oldp", "nodad")
    for last in (1, 2):
        host.ip("addr", "add", f"fd00::{last}/64", "dev", "old")
    wait_for(lambda: "dadfailed" in (shown := host.ip("addr", "show", "dev", "old")) and
             shown.count("tentative") == 1, "the double to be found")
    assert reconf(host) == ""
    assert re.findall("inet6 (fd00::.)", host.ip("addr", "show", "dev", "new")) == ["fd00::2"]
