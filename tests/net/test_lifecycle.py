"""Bonds come and go and leave nothing: devices, pins, filters, programs, memory."""
import json
import subprocess

import pytest

from bpf_objects import holders, pinned_objects, there
from namespace import groups, memory_kb, open_files
from traffic import Stream
from waiting import wait_for


def record(host, dev):
    """All of `ip -d link` but counters and what the kernel counts up for itself; groups and
    offloads.
    """
    link = host.link(dev)
    for key in ("stats64", "stats"):
        link.pop(key, None)
    if link["qdisc"] == "noop":  # until it is up for the first time; nothing brings that back
        link["qdisc"] = "noqueue"
    return link, groups(host, dev), host.run("ethtool", "-k", dev).stdout


def filters(host, dev):
    """Programs and qdiscs on a device, TCX or clsact."""
    attached = json.loads(host.run("bpftool", "-j", "net", "show", "dev", dev).stdout)[0]
    return attached.get("tc", []), host.run("tc", "qdisc", "show", "dev", dev).stdout


def cycle(host):
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", *host.links)
    host.ctl("del-slave", "bond0", host.links[0])
    host.ctl("delete", "bond0")


def memory_grown_kb(host, cycles):
    before = memory_kb(host.bondd.pid)
    for _ in range(cycles):
        cycle(host)
    return memory_kb(host.bondd.pid) - before


@pytest.mark.parametrize("hook,cycles", [
    ("tcx", 15), ("clsact", 10), pytest.param("tcx", 200, marks=pytest.mark.soak)],
    indirect=["hook"])
def test_cycles_leave_nothing(lone, hook, cycles):
    host = lone(links=2)
    host.ip("link", "set", "l1", "up")
    for _ in range(10):  # until its memory has settled
        cycle(host)
    for dev, state in zip(host.links, ("DOWN", "UP")):  # the kernel takes up to a second
        wait_for(lambda dev=dev, state=state: host.link(dev)["operstate"] == state, state)
    host.wait_link_local("l1")
    records = {dev: record(host, dev) for dev in host.links}
    attached = {dev: filters(host, dev) for dev in host.links}
    devices = host.devices()
    files = len(open_files(host.bondd.pid))
    grown = [memory_grown_kb(host, cycles) for _ in range(3)]
    assert host.devices() == devices and host.pins() == []
    wait_for(lambda: {dev: record(host, dev) for dev in host.links} == records,
             lambda: f"the slaves to be as before: {records}")
    assert {dev: filters(host, dev) for dev in host.links} == attached
    assert len(open_files(host.bondd.pid)) == files
    assert min(grown) <= 5 * cycles, f"a leak grows each time: {grown} KB"


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_bpf_objects_are_freed(lone, hook):
    host = lone(links=2)
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", *host.links)
    objects = pinned_objects(host)
    programs = [pin for pin in host.pins() if "/prog_" in pin]
    assert sum(kind == "prog" for kind, _ in objects) == len(programs) and len(objects) >= 11
    host.ctl("delete", "bond0")
    assert host.pins() == [] and [filters(host, dev)[0] for dev in host.links] == [[], []]
    if hook == "clsact":
        # One queue of the kernel frees the filters of all namespaces, each behind the lock that
        # these share: on a busy machine that takes minutes.
        wait_for(lambda: not holders(objects), lambda: f"{holders(objects)} to be closed", 60)
    else:
        wait_for(lambda: not there(objects),
                 lambda: f"{there(objects)} to be freed, open in {holders(there(objects))}", 60)


SLAVE_SHAPES = {"as it was made": [],
                "up": [("link", "set", "l0", "up")],
                "small MTU": [("link", "set", "l0", "mtu", "1280")],
                "own MAC": [("link", "set", "l0", "address", "02:ab:cd:ef:00:01")],
                "promiscuous": [("link", "set", "l0", "promisc", "on")],
                "allmulti": [("link", "set", "l0", "allmulticast", "on")],
                "all at once": [("link", "set", "l0", "mtu", "1280", "address", "02:ab:cd:ef:00:01",
                                 "promisc", "on"),
                                ("link", "set", "l0", "allmulticast", "on"),
                                ("link", "set", "l0", "up")]}


def wait_as_before(host, before):
    wait_for(lambda: record(host, "l0") == before, lambda: f"{before}, not {record(host, 'l0')}",
             10)


@pytest.mark.parametrize("policy", ["set", "filter"])
@pytest.mark.parametrize("shape", SLAVE_SHAPES)
def test_a_released_slave_is_as_before(lone, shape, policy):
    host = lone(links=2)
    for state in ("up", "down"):  # a device that never was up shows another qdisc
        host.ip("link", "set", "l0", state)
    for words in SLAVE_SHAPES[shape]:
        host.ip(*words)
    if shape in ("up", "all at once"):
        wait_for(lambda: host.link("l0")["operstate"] == "UP", "link")
        host.wait_link_local("l0")
    before, sysctl = record(host, "l0"), ipv6_settings(host)
    host.ctl("create", "bond0", "mode", "balance-xor", "mac_policy", policy)
    host.ip("link", "set", "bond0", "mtu", "2000")
    host.ctl("add-slave", "bond0", "l0", "l1")
    host.ip("link", "set", "bond0", "up")
    host.wait_slaves("l0", "l1")
    host.ctl("del-slave", "bond0", "l0")
    wait_as_before(host, before)
    assert ipv6_settings(host) == sysctl
    host.ctl("add-slave", "bond0", "l0")
    host.ctl("delete", "bond0")
    wait_as_before(host, before)
    assert ipv6_settings(host) == sysctl


def ipv6_settings(host):
    return host.run("sysctl", "net.ipv6.conf.l0.disable_ipv6",
                    "net.ipv6.conf.l0.addr_gen_mode").stdout


def test_a_slave_that_was_up_gets_ipv6_back(lone):
    host = lone(links=1)
    host.ip("link", "set", "l0", "up")
    wait_for(lambda: "fe80" in host.ip("-6", "addr", "show", "l0"), "a link-local address")
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0")
    assert host.ip("-6", "addr", "show", "l0") == ""
    host.ctl("delete", "bond0")
    wait_for(lambda: "fe80" in host.ip("-6", "addr", "show", "l0"),
             "the link-local address to be back")


def test_a_slave_that_is_used_instead_of_the_bond_stays_up(lone):
    """Somebody deletes bond0 while there is no bondd, and goes on with a slave: the next bondd does
    not cut them off, although the slave was down before.
    """
    host = lone(links=2)
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", *host.links)
    host.kill_bondd()
    host.ip("link", "del", "bond0")
    host.ip("link", "set", "l0", "up")
    host.ip("addr", "add", "10.9.0.1/24", "dev", "l0")
    host.ip("route", "add", "10.10.0.0/16", "via", "10.9.0.9")
    host.start_bondd()
    assert host.ctl_json("list") == []
    assert "10.9.0.9" in host.ip("route"), host.log()
    assert "UP" not in host.link("l1")["flags"]


def test_the_port_side_is_moved_to_another_namespace(lone, on_veths):
    """There is no bond any more, but its device is still there, and bondd says so."""
    host = lone()
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0")
    host.ip("link", "set", "xb-bond0", "netns", host.far.name)
    wait_for(lambda: "'ip link del bond0' removes" in host.log(), "bondd to say so")
    wait_for(lambda: host.ctl_json("list") == [], "the slave to be as it was")
    assert "deleted" not in host.log()
    host.ip("link", "del", "bond0")
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0")


def test_settings_do_not_pass_to_the_next_slave(lone):
    """Weight and drain belong to a slave, not to the slot it had."""
    host = lone(links=3)
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", "l0", "l1", "weight", 7, "drain", "on")
    host.ctl("del-slave", "bond0", "l0")
    host.ctl("add-slave", "bond0", "l2")
    assert host.slave("l2")["options"] == {**host.slave("l2")["options"], "weight": "auto",
                                           "drain": False}
    assert host.slave("l1")["options"]["weight"] == 7


def test_counters_of_slaves_that_left_stay(pair):
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    Stream(made.near, made.far, count=1000, flows=50).finish()
    before = made.near.show()
    made.near.ctl("del-slave", "bond0", "l0")
    after = made.near.show()
    assert after["tx_packets"] >= before["tx_packets"] >= 1000
    assert after["slaves"][0]["tx_packets"] < after["tx_packets"]
    made.near.ctl("add-slave", "bond0", "l0")
    assert made.near.slave("l0")["tx_packets"] < 50, "a new slave starts at zero"


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
@pytest.mark.parametrize("path", ["counted", "direct"])
def test_delete_under_traffic(pair, path, hook):
    """With addresses on the bond; both directions busy."""
    made = pair("balance-xor", links=3, xmit_hash_policy="layer3+4", path=path)
    own = {slave["name"]: slave["perm_mac"] for slave in made.near.show()["slaves"]}
    out = Stream(made.near, made.far, flows=16)
    back = Stream(made.far, made.near, to="10.0.0.1", flows=16, port=9001)
    out.flow_on(1000)
    back.flow_on(1000)
    made.near.ctl("delete", "bond0")
    assert made.near.devices() == {"lo", *made.links} and made.near.pins() == []
    assert {link: made.near.link(link)["address"] for link in made.links} == own
    for link in made.links:
        assert filters(made.near, link)[0] == []
    assert made.near.ctl_json("list") == []
    assert made.near.bondd.poll() is None
    out.sender.kill()
    back.sender.kill()


def test_many_bonds_side_by_side(lone):
    host = lone(links=6)
    for number in range(3):
        host.ctl("create", f"bond{number}", "mode", "active-backup")
        host.ctl("add-slave", f"bond{number}", f"l{2 * number}", f"l{2 * number + 1}")
    for number in range(3):
        host.wait_slaves(f"l{2 * number}", f"l{2 * number + 1}", bond=f"bond{number}")
    assert host.ctl_json("list") == ["bond0", "bond1", "bond2"]
    assert [bond["name"] for bond in host.ctl_json("show")] == ["bond0", "bond1", "bond2"]
    host.restart_bondd(kill=True)
    host.ctl("delete", "bond1")
    assert host.ctl_json("list") == ["bond0", "bond2"]
    host.wait_slaves("l4", "l5", bond="bond2")


@pytest.mark.parametrize("ending", ["it is there", "it is gone"])
def test_a_bond_in_the_midst_of_a_change(lone, ending):
    """Its pins come and go one after another. Whoever looks then sees the bond, or none."""
    host = lone(links=0)
    host.ctl("create", "bond0")
    host.freeze_bondd()
    pins = host.bpf_dir / "bond0"
    (pins / "counters").rename(host.bpf_dir / "moved")

    change = f"mv {host.bpf_dir}/moved {pins}/counters" if ending == "it is there" else \
        f"rm -r {host.bpf_dir}/moved {pins}"
    goes_on = host.spawn("chrt", "-r", "1", "sh", "-c", f"echo; read go; sleep 0.07; {change}",
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    goes_on.stdout.readline()
    goes_on.stdin.write(b"\n")
    goes_on.stdin.flush()
    assert host.ctl("list") == ("bond0\n" if ending == "it is there" else "")
    assert goes_on.wait(10) == 0
    host.thaw_bondd()


def test_create_makes_what_the_contract_says(lone):
    host = lone(links=1)
    host.ctl("create", "bond0")
    link, shown = host.link("bond0"), host.show()
    assert "UP" not in link["flags"] and link["mtu"] == 1500
    assert shown["mode"] == "balance-rr" and shown["slaves"] == [] and shown["carrier"] is False
    assert shown["options"]["miimon"] == 100 and shown["options"]["path"] == "counted"
    assert {"name", "mode", "mac", "mtu", "carrier", "mii_status", "active_slave", "speed_mbps",
            "bondd", "options", "tx_packets", "tx_bytes", "rx_packets", "rx_bytes", "rx_dropped",
            "slaves"} <= set(shown)
    host.ctl("add-slave", "bond0", "l0")
    assert "UP" in host.link("l0")["flags"], "add-slave brings a device up"
    host.ip("link", "set", "bond0", "up")
    host.wait_slaves("l0")
    shown = host.show()
    assert shown["speed_mbps"] == 10000 and shown["slaves"][0]["duplex"] == "full"
    assert {"name", "mii_status", "active", "speed_mbps", "duplex", "mac", "perm_mac",
            "link_failures", "rx_hook", "options", "tx_packets", "tx_bytes", "rx_packets",
            "rx_bytes", "rx_dropped"} <= set(shown["slaves"][0])
    assert shown["slaves"][0]["rx_hook"] == "tc"
