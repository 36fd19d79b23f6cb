"""device team: what bond0 and its slaves are then, both ways through it, what is refused, what
others do to a slave, and bondd dying at each step. Most of it needs a kernel with team (tests/vm).
The other tests run on it with XBOND_TEST_DEVICE=team.
"""
import contextlib
import ctypes
import os
import pathlib
import select
import socket
import struct

import pytest

from namespace import kernel_makes, run
from nft import DROP, Chain
from test_netkit import kind, refused
from traffic import Capture, Stream, flows_by_link, send_frames, send_packets
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("tests_choose")
FORCE_COUNTED = 1  # XBOND_F_FORCE_COUNTED
LLDP = bytes.fromhex("0180c200000e") + bytes.fromhex("020000000099") + b"\x88\xcc" + bytes(46)
BPDU = bytes.fromhex("0180c2000000020000000099") + b"\0\x26\x42\x42\3" + bytes(43)
FROM_OUTSIDE = LLDP[6:12]
HAS_TEAM = os.geteuid() == 0 and kernel_makes("team")
team_only = pytest.mark.skipif(not HAS_TEAM, reason="this kernel has no team")


@pytest.fixture
def team_pair(pair_with):
    return pair_with(device="team")


def state(host, dev):
    """What an administrator would see of a device, and find again after it was a slave."""
    link = host.ip_json("-d", "link", "show", "dev", dev)[0]
    return ({key: link.get(key) for key in ("address", "mtu", "master", "promiscuity", "allmulti",
                                            "qdisc")},
            sorted(set(link["flags"]) & {"UP", "PROMISC", "ALLMULTI"}),
            sorted(host.ip("maddr", "show", "dev", dev).splitlines()[1:]))


def missing(host):
    return [each["bond"] for each in host.doctor() if each["check"] == "boot"]


# which device

@pytest.mark.skipif(HAS_TEAM, reason="this kernel has team")
def test_refused_where_the_kernel_has_none(lone):
    host = lone(links=1)
    assert "this kernel has no team" in refused(host, "create", "bond0", "device", "team")
    host.ctl("create", "bond0")


@pytest.mark.skipif(HAS_TEAM, reason="this kernel has team")
def test_a_boot_where_the_kernel_has_none(lone):
    """Its bond is not made and the others are; doctor and apply say so, until the file is right."""
    host = lone(links=1)
    files = [host.config_dir / f"bond{number}.conf" for number in range(2)]
    files[0].write_text("[bond]\ndevice = team\n")
    files[1].write_text("[bond]\ndevice = auto\n")
    host.replace_bondd(host.program)
    assert host.ctl("list").split() == ["bond1"] and "this kernel has no team" in host.log()
    assert host.show("bond1")["device"] in ("netkit", "veth")
    assert missing(host) == ["bond0"]
    assert "this kernel has no team" in refused(host, "apply", "bond0")
    files[0].write_text("[bond]\ndevice = pair\n")
    host.ctl("apply", "bond0")
    assert missing(host) == []


def test_what_a_team_has_not(lone):
    host = lone(links=1)
    for words in (("rx_hook", "xdp"), ("rx_hook", "auto"), ("xdp_tx", "on")):
        assert f"{words[0]}: a team has no XDP; add 'device veth'" in \
            refused(host, "create", "bond0", "device", "team", *words)
    for words in (("mac_policy", "filter"),
                  ("mode", "active-backup", "fail_over_mac", "active")):
        assert "path: a team that is made for mac_policy filter or fail_over_mac" in \
            refused(host, "create", "bond0", "device", "team", "path", "counted", *words)
    if HAS_TEAM:
        host.ctl("create", "bond0", "device", "team", "mode", "active-backup")
        assert host.show()["options"]["path"] == "counted"
        assert "fail_over_mac: the bond's team gives the slaves its own address; add " \
            "'device veth'" in \
            refused(host, "set", "bond0", "fail_over_mac", "follow")
        host.ctl("delete", "bond0")
        host.ctl("create", "bond0", "device", "team", "mac_policy", "filter")
        assert host.show()["options"]["path"] == "direct"
        host.ctl("set", "bond0", "mac_policy", "set")
        assert "can only send directly; leave path out, or add" in \
            refused(host, "set", "bond0", "path", "counted")
        host.ctl("set", "bond0", "path", "direct")
        assert "a team has no XDP" in refused(host, "set", "bond0", "rx_hook", "xdp")


AGAINST = {"rx_hook": ("rx_hook", "auto"), "xdp_tx": ("xdp_tx", "on"),
           "mode": ("mode", "balance-alb"),
           "mac_policy": ("mac_policy", "filter"),
           "fail_over_mac": ("mode", "active-backup", "fail_over_mac", "active")}


def test_auto_is_a_team_unless_an_option_is_against_it(lone):
    host = lone(links=1)
    kinds = {}
    for option, words in {None: (), **AGAINST}.items():
        host.ctl("create", "bond0", *words)
        shown = host.show()
        assert shown["device"] == kind(host) and shown["options"]["device"] == "auto"
        assert shown["device_for"] == option
        if option:
            assert f"device auto ({shown['device']}, for {option})" in \
                " ".join(host.ctl("show", "-d", "bond0").split())
        kinds[option] = shown["device"]
        host.ctl("delete", "bond0")
    assert (kinds.pop(None) == "team") == HAS_TEAM and "team" not in kinds.values()
    host.ctl("create", "bond0", "device", "pair")
    assert host.show()["device"] != "team" and host.show()["device_for"] is None


@contextlib.contextmanager
def no_loadbalance():
    """As on a kernel that has teams without the mode loadbalance."""
    loader = pathlib.Path("/proc/sys/kernel/modprobe")
    program = loader.read_text()
    run("modprobe", "-r", "team_mode_loadbalance", check=False)
    run("modprobe", "team", check=False)  # which may have gone with it
    if pathlib.Path("/sys/module/team_mode_loadbalance").exists():
        pytest.skip("the module is built in, or in use")
    loader.write_text("/bin/false\n")
    try:
        yield
    finally:
        loader.write_text(program)


@team_only
def test_a_kernel_whose_teams_cannot_send(lone):
    host = lone(links=1)
    with no_loadbalance():
        assert "path: this kernel has no teams that count (module team_mode_loadbalance); use " \
            "path direct" in refused(host, "create", "bond0", "device", "team")
        host.ctl("create", "bond0")
        assert host.show()["device"] != "team" and host.exists("xb-bond0")
        host.ctl("delete", "bond0")
        host.ctl("create", "bond0", "device", "team", "path", "direct")
    assert host.show()["options"]["path"] == "direct"
    assert "can only send directly" in refused(host, "set", "bond0", "path", "counted")


@team_only
def test_slaves_are_ports_and_are_given_back(lone):
    """Up and down before, with an MTU of their own."""
    host = lone(links=3)
    host.ip("link", "set", "l0", "up", "mtu", 1600)
    for name in ("l1", "l2"):  # have been up once, as they will have been
        host.ip("link", "set", name, "up")
        host.ip("link", "set", name, "down")
    before = {name: state(host, name) for name in host.links}
    host.ctl("create", "bond0", "device", "team")
    assert kind(host) == host.show()["device"] == "team" and not host.exists("xb-bond0")
    host.ctl("add-slave", "bond0", "l0", "l1")
    host.ip("link", "set", "bond0", "up")
    host.wait_slaves("l0", "l1")
    wait_for(lambda: "LOWER_UP" in host.link("bond0")["flags"], "carrier")
    assert {name: host.link(name).get("master") for name in host.links} == \
        {"l0": "bond0", "l1": "bond0", "l2": None}
    assert {host.link(name)["address"] for name in ("l0", "l1", "bond0")} == \
        {before["l0"][0]["address"]}
    told = " ".join(host.ctl("show", "-d", "bond0").split())
    assert "device team" in told and "path counted" in told
    assert "slave-use" not in [each["check"] for each in host.doctor()]
    # a bond in a bond, and another namespace
    host.ctl("create", "bond1")
    assert "bonds do not nest" in refused(host, "add-slave", "bond1", "bond0")
    host.ctl("delete", "bond1")
    run("ip", "netns", "add", f"{host.name}m")
    moved = host.run("ip", "link", "set", "bond0", "netns", f"{host.name}m", check=False)
    run("ip", "netns", "del", f"{host.name}m")
    assert moved.returncode != 0
    # MTU and name follow
    host.ip("link", "set", "bond0", "mtu", 1400)
    wait_for(lambda: host.show()["mtu"] == 1400 and host.link("l1")["mtu"] == 1400, "the MTU")
    host.ip("link", "set", "bond0", "down")
    host.ip("link", "set", "bond0", "name", "renamed")
    wait_for(lambda: host.ctl_json("list") == ["renamed"], "the name")
    host.ip("link", "set", "renamed", "name", "bond0")
    wait_for(lambda: host.ctl_json("list") == ["bond0"], "the name")
    # one leaves, then the bond goes
    host.ctl("del-slave", "bond0", "l1")
    assert state(host, "l1") == before["l1"]
    host.ctl("delete", "bond0")
    assert {name: state(host, name) for name in host.links} == before
    assert host.devices() == {"lo", *host.links} and host.pins() == []
    # whoever deletes the device ends the bond
    host.ctl("create", "bond0", "device", "team")
    host.ctl("add-slave", "bond0", *host.links)
    host.ip("link", "del", "bond0")
    wait_for(lambda: host.ctl_json("list") == [], "the bond to be gone")
    wait_for(lambda: {name: state(host, name) for name in host.links} == before, "slaves as before")


# both ways

@team_only
@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_both_ways(team_pair, hook, path):
    """By every slave, and counted by xbond; bond0 counts and captures what it receives. Changes of
    the path lose nothing.
    """
    made = team_pair(links=4, path=path)
    near, far = made.near, made.far
    wires = [Capture(far, link) for link in made.links]
    shown = near.show()["tx_packets"]
    assert Stream(near, far, count=1000, flows=100).finish()["lost"] == 0
    assert 1000 <= near.show()["tx_packets"] - shown <= 1050
    assert all(flows_by_link(wires)[1].values())
    for wire in wires:
        wire.close()
    received = near.received("bond0")["packets"]
    with Capture(near, "bond0") as capture:
        assert Stream(far, near, to="10.0.0.1", count=1000, flows=50).finish()["lost"] == 0
        assert len(capture.frames(0.1)) >= 1000
    assert 1000 <= near.received("bond0")["packets"] - received <= 1050
    near.ip("link", "set", made.links[0], "txqueuelen", 1)
    near.run("tc", "qdisc", "add", "dev", "bond0", "root", "pfifo")
    for link in made.links:  # a device that takes nothing, for a moment
        near.run("tc", "qdisc", "add", "dev", link, "root", "tbf", "rate", "8kbit", "burst", 1600,
                 "limit", 1600)
    send_packets(near, count=200)
    for link in made.links:
        near.run("tc", "qdisc", "del", "dev", link, "root")
    stream = Stream(near, far, flows=16)
    for other in ("direct", path):  # back and forth where the team can
        near.ctl("set", "bond0", "path", other)
        stream.flow_on(500)
    stream.finish_unharmed(in_order=True)


@team_only
def test_bond0_counts_and_captures_what_it_sends(team_pair):
    """With `direct` only while there is a capture."""
    made = team_pair(links=2)
    near, far = made.near, made.far

    def sent_of_a_thousand():
        before = near.sent("bond0")["packets"]
        assert Stream(near, far, count=1000, flows=50).finish()["lost"] == 0
        return near.sent("bond0")["packets"] - before
    assert 1000 <= sent_of_a_thousand() <= 1050
    near.ctl("set", "bond0", "path", "direct")
    assert sent_of_a_thousand() == 0
    with Capture(near, "bond0", outgoing=True) as capture:
        wait_for(lambda: near.pinned("table")["flags"] & FORCE_COUNTED, "bondd to see the capture")
        assert 1000 <= sent_of_a_thousand() <= 1050
        assert len([frame for frame in capture.frames(0.1) if frame.numbers()]) == 1000
    wait_for(lambda: not near.pinned("table")["flags"] & FORCE_COUNTED, "direct to be in force")
    assert sent_of_a_thousand() == 0


@team_only
def test_the_team_sends_by_the_slave_that_was_chosen(team_pair):
    """What a slave is counted for leaves by it, also if it comes later or somebody else has changed
    the team's ports; and what leaves while one is cut leaves by the others.
    """
    made = team_pair(links=3)
    near, far = made.near, made.far
    near.ctl("del-slave", "bond0", "l0")
    near.ctl("add-slave", "bond0", "l0")
    near.wait_slaves(*made.links)

    def counts():
        """What each slave is counted for, and what came out of its link."""
        return [(near.slave(link)["tx_packets"], far.received(link)["packets"])
                for link in made.links]

    def wires_agree():
        before = counts()
        assert Stream(near, far, count=600, flows=600).finish()["lost"] == 0
        sent = [(chosen - was_chosen, came - had_come) for (chosen, came), (was_chosen, had_come)
                in zip(counts(), before)]
        return all(chosen > 100 and abs(came - chosen) < 20 for chosen, came in sent)
    assert wires_agree()
    near.run("teamnl", "bond0", "setoption", "enabled", "false", "--port=l1")
    wait_for(wires_agree, "bondd to look at the team again", 40)
    stream = Stream(near, far, flows=32)
    stream.flow_on(500)
    near.kill_bondd()
    far.ip("link", "set", "l2", "down")
    stream.flow_on(500)
    near.start_bondd()
    stream.flow_on(500)
    result = stream.finish()
    # What is in a veth while it closes is lost; a link that nobody avoids would lose some 160.
    assert result["lost"] <= 20 and result["duplicates"] == 0, result


@team_only
def test_a_slave_that_somebody_puts_in_again_is_used_at_once(team_pair):
    """bondd sees it only when it is a port again, as if nothing had been."""
    made = team_pair("active-backup", links=2, primary="l0")
    near = made.near
    wait_for(lambda: near.show()["active_slave"] == "l0", "the primary")
    near.freeze_bondd()
    near.ip("link", "set", "l0", "nomaster")
    near.ip("link", "set", "l0", "master", "bond0")
    near.thaw_bondd()
    near.wait_slaves("l0", "l1")
    wait_for(lambda: near.ping("10.0.0.2"), "packets to leave by l0")


LOAD, JUMP_IF_SET, RETURN = 0x20, 0x45, 0x06  # classic BPF
RXHASH = 0xfffff000 + 32  # SKF_AD_OFF + SKF_AD_RXHASH
SO_ATTACH_FILTER = 26
HASH_BEGINS_WITH_ONE = ((LOAD, 0, 0, RXHASH), (JUMP_IF_SET, 0, 1, 1 << 31), (RETURN, 0, 0, 1 << 16),
                        (RETURN, 0, 0, 0))


@team_only
def test_packets_without_a_hash_stay_different_flows(team_pair):
    """Those of an unconnected socket: queueing disciplines tell them apart by the hash."""
    near = team_pair("active-backup", links=1).near
    code = ctypes.create_string_buffer(
        b"".join(struct.pack("=HBBI", *step) for step in HASH_BEGINS_WITH_ONE))
    with near.inside():
        ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        ear.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                       struct.pack("@HP", len(HASH_BEGINS_WITH_ONE), ctypes.addressof(code)))
        ear.bind(("l0", 3))  # ETH_P_ALL
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with ear, sender:
        for port in range(20000, 20064):
            sender.sendto(b"flow", ("10.0.0.2", port))
        heard = 0
        while select.select([ear], [], [], 0.2)[0]:
            heard += ear.recv(100).endswith(b"flow")
    assert 8 < heard < 56


@team_only
@pytest.mark.parametrize("mode", ["balance-rr", "broadcast", "802.3ad"])
def test_modes(team_pair, mode, path):
    made = team_pair(mode, links=2, path=path,
                     **({"lacp_rate": "fast"} if mode == "802.3ad" else {}))
    made.near.wait_ping("10.0.0.2")
    assert bool(made.near.sent("bond0")["packets"]) == (path == "counted")
    made.far.wait_ping("fd00::1")


@team_only
def test_a_slave_that_does_not_receive(team_pair, path):
    """Of active-backup's inactive slave bond0 gets nothing but what belongs to the link; sockets on
    the slave hear that. A frame for another address is not bond0's, whatever its slave is called.
    """
    made = team_pair("active-backup", links=2, path=path, far={"mode": "broadcast"})
    near, far = made.near, made.far
    near.ctl("set", "bond0", "primary", "l0")
    wait_for(lambda: near.show()["active_slave"] == "l0", "the primary")
    with near.inside():
        ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        ear.bind(("l1", 0x88cc))
        ear.settimeout(5)
    with ear, Capture(near, "bond0") as capture:
        send_frames(far, "l1", [BPDU, LLDP])
        assert ear.recv(100)[6:12] == FROM_OUTSIDE
        assert BPDU not in [frame.data for frame in capture.frames(0.1)]
        send_frames(far, "l0", [BPDU])
        wait_for(lambda: BPDU in [frame.data for frame in capture.frames(0.1)], "the active one's")
    dropped = near.slave("l1")["rx_dropped"]
    far.wait_ping("10.0.0.1")  # each packet twice: by l0 and by l1
    assert near.slave("l1")["rx_dropped"] > dropped
    Stream(far, near, to="10.0.0.1", count=500).finish_unharmed(in_order=True)
    near.ctl("set", "bond0", "active_slave", "l1")
    near.wait_ping("10.0.0.2")
    for link in made.links:
        far.ip("link", "set", link, "down")
    wait_for(lambda: near.link("bond0")["operstate"] in ("DOWN", "LOWERLAYERDOWN"), "carrier off")
    for link in made.links:
        far.ip("link", "set", link, "up")
    near.wait_ping("10.0.0.2")
    near.ip("link", "set", "bond0", "carrier", "off")
    wait_for(lambda: "LOWER_UP" in near.link("bond0")["flags"], "bondd to put its carrier back")


@team_only
@pytest.mark.parametrize("family", ["netdev", "inet"])
def test_nft_chains_on_a_slave_see_what_the_bond_receives(team_pair, family):
    """So nobody is warned of them."""
    made = team_pair("active-backup", links=2, far={"mode": "active-backup"})
    near, far = made.near, made.far
    for host in (near, far):
        host.ctl("set", "bond0", "primary", "l0")
    chain = Chain(near, "l0", family, DROP)
    received = near.received("bond0")["packets"]
    stream = Stream(far, near, to="10.0.0.1", count=500)
    assert stream.finish()["lost"] == 500 and near.received("bond0")["packets"] == received
    chain.remove()
    near.wait_ping("10.0.0.2")
    assert near.slave("l0")["problem"] is None and "nft" not in near.log()


@team_only
def test_slaves_keep_their_addresses(team_pair):
    made = team_pair("balance-rr", links=2, mac_policy="filter")
    addresses = {made.near.link(name)["address"] for name in (*made.links, "bond0")}
    assert len(addresses) >= 2
    for near, far, to in ((made.near, made.far, "10.0.0.2"), (made.far, made.near, "10.0.0.1")):
        assert Stream(near, far, to=to, count=500, flows=10).finish()["lost"] == 0


# what others do

@team_only
def test_somebody_takes_a_slave_out(team_pair):
    """`ip link set nomaster` releases it, also while there is no bondd; the others go on."""
    made = team_pair(links=3)
    near = made.near
    near.ip("link", "set", "l0", "nomaster")
    near.wait_slaves("l1", "l2")
    assert "somebody has taken l0 out of bond0" in near.log()
    near.wait_ping("10.0.0.2")
    near.kill_bondd()
    near.ip("link", "set", "l1", "nomaster")
    near.wait_ping("10.0.0.2")
    near.start_bondd()
    near.wait_slaves("l2")
    near.wait_ping("10.0.0.2")
    assert near.link("l1").get("master") is None
    near.ctl("add-slave", "bond0", "l1", "l0")
    near.wait_slaves("l0", "l1", "l2")
    assert {near.link(name)["master"] for name in made.links} == {"bond0"}
    near.wait_ping("10.0.0.2")


@team_only
@pytest.mark.parametrize("place", ["nomaster", "master br0"])
def test_what_has_left_stays_up(lone, place):
    """The kernel sets a port that leaves down. Who has it up when bondd comes uses it: it has its
    own address again, and is not set down, although it was down before it was a slave.
    """
    host = lone(links=1)
    mac = host.link("l0")["address"]
    host.ctl("create", "bond0", "device", "team")
    host.ip("link", "set", "bond0", "address", "02:00:00:00:00:66")
    host.ctl("add-slave", "bond0", "l0")
    assert host.link("l0")["address"] == "02:00:00:00:00:66"
    host.kill_bondd()
    host.ip("link", "add", "br0", "type", "bridge")
    host.ip("link", "set", "l0", *place.split())
    host.ip("link", "set", "l0", "up")
    host.start_bondd()
    assert host.show()["slaves"] == [] and host.link("l0")["address"] == mac
    assert "UP" in host.link("l0")["flags"], host.log()


@team_only
def test_somebody_puts_a_device_in(lone):
    """`ip link set DEV master bond0` makes a slave, also while there is no bondd. What cannot be a
    slave is taken out again, as its frames would pass xbond_rx by.
    """
    host = lone(links=3)
    for name in host.links:  # have been up once, as they will have been
        host.ip("link", "set", name, "up")
        host.ip("link", "set", name, "down")
    host.ctl("create", "bond0", "device", "team")
    host.ip("link", "set", "bond0", "mtu", 1400)
    wait_for(lambda: host.show()["mtu"] == 1400, "the MTU")
    before = {name: state(host, name) for name in host.links}
    host.ip("link", "set", "l0", "master", "bond0")
    host.wait_slaves("l0")
    assert "somebody has put l0 into bond0; it is a slave now" in host.log()
    host.kill_bondd()
    host.ip("link", "set", "l1", "master", "bond0")
    host.start_bondd()
    host.wait_slaves("l0", "l1")
    host.ip("addr", "add", "10.9.0.1/24", "dev", "l2")
    host.ip("link", "set", "l2", "master", "bond0")
    wait_for(lambda: host.link("l2").get("master") is None, "l2 to be out again")
    refusal = "somebody has put l2 into bond0, but it does not become a slave: l2 has IP addresses"
    assert refusal in wait_for(host.log, "the log")
    host.ip("link", "set", "l2", "master", "bond0")  # again, which is told only once
    wait_for(lambda: host.link("l2").get("master") is None, "l2 to be out again")
    assert host.ping_bondd() and host.log().count(refusal) == 1
    host.ip("addr", "flush", "dev", "l2")
    host.ip("link", "set", "l2", "master", "bond0")
    host.wait_slaves("l0", "l1", "l2")
    host.ctl("del-slave", "bond0", "l2")
    host.ip("link", "set", "l2", "down")
    host.ip("addr", "add", "10.9.0.1/24", "dev", "l2")
    host.ip("link", "set", "l2", "master", "bond0")  # it has been a slave since
    wait_for(lambda: host.log().count(refusal) == 2, "the log to tell it again")
    host.ip("addr", "flush", "dev", "l2")
    assert sorted(host.carrier_slaves()) == ["l0", "l1"]
    host.ctl("delete", "bond0")
    assert {name: state(host, name) for name in host.links} == before


@team_only
def test_a_team_of_others_with_its_number(lone):
    """bond0 is known by its address or its program, so no other team is taken for it."""
    host = lone(links=1, bondd=False)
    host.start_bondd()
    host.ctl("create", "bond0", "device", "team")
    number = host.link("bond0")["ifindex"]
    host.kill_bondd()
    host.ip("link", "set", "bond0", "address", "02:00:00:00:00:77")
    host.ip("link", "set", "bond0", "name", "other")
    host.start_bondd()
    wait_for(lambda: host.ctl_json("list") == ["other"], "the name")
    assert host.show("other")["mac"] == "02:00:00:00:00:77"
    host.kill_bondd()
    host.ip("link", "del", "other")
    host.ip("link", "add", "other", "index", number, "type", "team")
    host.start_bondd()
    assert host.ctl_json("list") == [] and host.pins() == []
    assert host.link("other")["ifindex"] == number


# bondd dies

@team_only
def test_kill_and_restart_lose_nothing(team_pair, path):
    made = team_pair(links=2, path=path)
    near = made.near
    before = {name: state(near, name) for name in (*made.links, "bond0")}
    changes = {name: near.link(name).get("carrier_changes") for name in before}
    stream = Stream(near, made.far, flows=32)
    for stop in (near.kill_bondd, near.stop_bondd):
        stream.flow_on(700)
        stop()
        stream.flow_on(700)
        near.start_bondd()
        stream.flow_on(700)
    stream.finish_unharmed(in_order=True)
    assert {name: state(near, name) for name in before} == before
    assert {name: near.link(name).get("carrier_changes") for name in before} == changes


@team_only
@pytest.mark.parametrize("step", ["create-pinned", "create-device"])
def test_killed_in_create(lone, step):
    host = lone(links=1, bondd=False)
    with host.dying_at(step):
        assert host.ctl_try("create", "bond0", "device", "team").returncode == 3
    host.start_bondd()
    assert host.devices() == {"lo", *host.links} and host.pins() == []


@team_only
@pytest.mark.parametrize("step", ["enslave-changed", "team-joined", "team-left", "delete-started"])
def test_killed_between(lone, step):
    """The slave is as before, or a member; a bond that was being deleted is gone."""
    host = lone(links=1, bondd=False)
    host.ip("link", "set", "l0", "up")
    before = state(host, "l0")
    with host.dying_at(step):
        host.ctl("create", "bond0", "device", "team")
        host.ctl_try("add-slave", "bond0", "l0")
        host.ctl_try(*(("delete", "bond0") if step == "delete-started"
                       else ("del-slave", "bond0", "l0")))
    host.start_bondd()
    assert state(host, "l0") == before
    if step == "delete-started":
        assert host.devices() == {"lo", "l0"} and host.pins() == []
    else:
        assert host.show()["slaves"] == []
        host.ctl("add-slave", "bond0", "l0")
        assert host.link("l0")["master"] == "bond0"
