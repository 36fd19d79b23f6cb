"""bondd dies, is restarted, stopped, frozen, or killed half-way: traffic must not notice,
and the next bondd finishes or undoes what the last one left.
"""
import contextlib

import pytest

from lab import is_team, needs_ports_that_come_back, stable
from namespace import groups, run
from traffic import Stream
from waiting import wait_for


@pytest.mark.parametrize("path", ["counted", "direct"])
@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_kill_and_restart_lose_nothing(pair, path, hook):
    made = pair("balance-xor", xmit_hash_policy="layer3+4", path=path)
    stream = Stream(made.near, made.far, flows=64)
    for host in (made.near, made.far):
        stream.flow_on(1500)
        host.kill_bondd()
        stream.flow_on(1500)
        host.start_bondd()
        stream.flow_on(1500)
    stream.finish_unharmed(in_order=True)


@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "broadcast"])
def test_orderly_restart_loses_nothing(pair, mode):
    made = pair(mode, links=2)
    stream = Stream(made.near, made.far, flows=4)
    stream.flow_on(1000)
    made.near.stop_bondd()
    stream.flow_on(1000)
    made.near.start_bondd()
    stream.flow_on(1000)
    if mode == "active-backup":
        stream.finish_unharmed(in_order=True)
    else:
        assert stream.finish()["lost"] == 0


def wait_same(host, before):
    """Until show is as before; otherwise the difference is reported."""
    with contextlib.suppress(AssertionError):
        wait_for(lambda: stable(host.show()) == before, "the same state as before", 5)
    assert stable(host.show()) == before


def identities(host):
    """What would change if something were torn down and made again."""
    links = {name: (host.link(name)["ifindex"], host.link(name)["address"],
                    host.link(name)["flags"])
             for name in sorted(host.devices()) if name != "lo"}
    return links, host.pins(), host.ip("addr")


def test_pins_of_another_name(pair):
    """As bonds are left that were to swap their names, and one of which has gone since."""
    near = pair("balance-xor").near
    before = stable(near.show()), identities(near)
    near.kill_bondd()
    (near.bpf_dir / "bond0").rename(near.bpf_dir / "n0-bond0")
    near.start_bondd()
    wait_for(lambda: near.ctl("list").split() == ["bond0"], "the bond to have its name")
    assert (stable(near.show()), identities(near)) == before
    near.wait_ping("10.0.0.2")


OPTIONS = dict(xmit_hash_policy="layer2+3", min_links=1, miimon=50, updelay=70, downdelay=130,
               hash_seed=12345)


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_adoption_keeps_everything(pair, hook):
    made = pair("balance-xor", links=3, **OPTIONS)
    host = made.near
    host.ctl("set-slave", "bond0", "l1", "weight", 3)
    host.ctl("set-slave", "bond0", "l2", "drain", "on")
    host.ctl("set", "bond0", "path", "direct")
    made.far.ip("link", "set", "l0", "down")
    wait_for(lambda: host.slave("l0")["mii_status"] == "down", "the end of downdelay")
    before, marks = stable(host.show()), identities(host)
    counted = host.show()["tx_packets"]
    host.restart_bondd(kill=True)
    wait_same(host, before)
    assert identities(host) == marks
    assert host.show()["tx_packets"] >= counted
    made.far.ip("link", "set", "l0", "up")
    host.wait_slaves("l0", "l1", "l2")


def test_adoption_of_active_backup(pair):
    made = pair("active-backup", links=3, far={"mode": "broadcast"})
    host = made.near
    host.ctl("set", "bond0", "primary", "l2")
    wait_for(lambda: host.show()["active_slave"] == "l2", "the primary")
    before = stable(host.show())
    host.restart_bondd(kill=True)
    wait_same(host, before)


def test_show_without_bondd(pair):
    made = pair("balance-xor", links=2)
    before = stable(made.near.show())
    assert before.pop("awaited") == []
    made.near.kill_bondd()
    wait_for(lambda: made.near.show()["bondd"] is False, "bondctl to see that bondd is not running")
    assert stable(made.near.show()) == {**before, "bondd": False, "carrier_source": None}
    assert made.near.ctl_json("list") == ["bond0"]
    assert made.near.ctl_json("stats")[0]["name"] == "bond0"
    assert "bond0" in made.near.ctl("show")
    made.near.start_bondd()
    assert made.near.show()["bondd"] is True


def test_a_cut_while_bondd_was_away(pair):
    """The new bondd sees at once what it missed."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    made.near.kill_bondd()
    made.far.ip("link", "set", "l0", "down")
    made.near.start_bondd()
    made.near.wait_slaves("l1")
    result = Stream(made.near, made.far, count=1000, flows=64).finish()
    assert result["lost"] == 0


def test_a_slave_deleted_while_bondd_was_away(pair):
    made = pair("balance-xor", links=2)
    made.near.kill_bondd()
    made.near.ip("link", "del", "l0")
    made.near.start_bondd()
    wait_for(lambda: made.near.slave_names() == ["l1"],
             "l0 to be gone")
    made.near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("pin", ["bond", "settings"])
def test_a_bond_that_cannot_be_adopted_yet(lone, pin):
    """bondd tries again, and awaits slaves of the file then, too. It is silent about another bond
    that has gone meanwhile.
    """
    host = lone()
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", "l0")
    host.ctl("create", "bond1")
    host.kill_bondd()
    (host.config_dir / "bond0.conf").write_text("[bond]\nmode = balance-xor\n[slave l7]\n")
    with host.refusing(pin):
        host.start_refusable()
        assert host.log().count("not adopted") == 2
        run("rm", "-r", host.bpf_dir / "bond1")
    wait_for(lambda: host.show().get("awaited") == ["l7"], "bond0 to be adopted")
    assert host.log().count("not adopted") == 2 and "taken" not in host.log()


def test_commands_for_a_bond_that_cannot_be_adopted_yet(lone):
    """They say so. The first one that comes when it can be adopted finds it."""
    host = lone()
    host.ctl("create", "bond0")
    host.kill_bondd()
    with host.refusing("settings"):
        host.start_refusable()
        for words in (("delete", "bond0"), ("set", "bond0", "min_links", "1"),
                      ("add-slave", "bond0", "l0"), ("handback", "bond0")):
            refused = host.ctl_try(*words).stderr
            assert "bond0 is not adopted yet" in refused and "rm -r" not in refused, refused
        shown = host.request(b'{"method": "show", "bond": "bond0"}\n')
        assert "bond0 is not adopted yet" in shown["error"]
        assert host.request(b'{"method": "list"}\n')["result"] == ["bond0"]
    host.ctl("delete", "bond0")
    assert not host.exists("bond0") and not host.pins()


def test_a_bond_of_another_namespace(lab):
    """Nobody is told to remove the maps of a bond that may be in use."""
    host, other = lab.lone(), lab.host("c", bondd=False)
    host.ctl("create", "bond0")
    host.kill_bondd()
    other.bpf_dir = host.bpf_dir
    other.start_bondd()
    for verb in ("create", "delete"):
        refused = other.ctl_try(verb, "bond0").stderr
        assert "bond of another network namespace" in refused and "rm -r" not in refused, refused


def test_another_bond_of_a_name_that_cannot_be_adopted_yet(lone):
    """Such a name is refused. Whoever has removed the pins may make a new bond of that name, and
    bondd does not adopt that one.
    """
    host = lone()
    for name in ("bond0", "bond1"):
        host.ctl("create", name)
    conf, record = host.config_dir / "bond0.conf", host.run_dir / "bond0.rollback"
    conf.write_text("[bond]\nmin_links = 2\n")
    host.ctl("apply", "bond0", "--confirm", "60")
    conf.unlink()
    host.kill_bondd()
    with host.refusing("settings"):
        host.start_refusable()
        refused = host.ctl_try("create", "bond0").stderr
        assert "bond0 is not adopted yet" in refused and "rm -r" not in refused
        host.ip("link", "del", "bond0")
        run("rm", "-r", host.bpf_dir / "bond0")
    host.ctl("create", "bond0")
    wait_for(lambda: "bond1: adopted" in host.log(), "bond1 to be adopted")
    assert "bond0: adopted" not in host.log() and ".conf" not in host.log()
    assert not record.exists()


def test_a_bond_that_cannot_be_adopted(lone):
    """Each try may load all programs, so it is not tried again and again."""
    host = lone()
    host.ctl("create", "bond0")
    host.kill_bondd()
    with host.refusing("no settings"):
        host.start_refusable()
    socket = host.run_dir / "bondd.sock"
    for _ in range(4):  # bondd looks every second
        socket.unlink()
        wait_for(socket.exists, "bondd to listen again")
    assert host.log().count("adopted") == 1


def test_a_rollback_of_a_bond_that_cannot_be_adopted_yet(lone):
    host = lone()
    host.ctl("create", "bond0")
    (host.config_dir / "bond0.conf").write_text("[bond]\nmin_links = 2\n")
    host.ctl("apply", "--confirm", "60")
    host.kill_bondd()
    with host.refusing("settings"):
        host.start_refusable()
    wait_for(lambda: "bond0: adopted" in host.log(), "bond0 to be adopted")
    assert host.ctl("rollback", "bond0") and host.show()["options"]["min_links"] == 0


# What the kernel does not answer: "could not ask" and "is not there" are two answers.

LINK_CALLS = {"sendmsg": "ENOBUFS", "recvmsg": "ENOBUFS"}


@pytest.mark.variants(4)
@pytest.mark.parametrize("call", LINK_CALLS)
@pytest.mark.parametrize("number", range(1, 13))
def test_one_request_fails_at_adoption(lone, call, number):
    host = lone()
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    before = identities(host)
    host.kill_bondd()
    host.start_failing(f"{call}:error={LINK_CALLS[call]}:when={number}")
    host.wait_slaves("l0", "l1")
    assert identities(host) == before
    assert "gone" not in host.log()


@pytest.mark.parametrize("call", LINK_CALLS)
def test_no_request_succeeds_at_adoption(lone, call):
    """The slaves stay, the log says so, and all is well when the kernel answers again."""
    host = lone()
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    host.kill_bondd()
    host.start_failing(f"{call}:error={LINK_CALLS[call]}:when=1..200")
    assert "does not say whether l0 is there" in host.log()
    assert host.slave_names() == ["l0", "l1"]
    host.wait_slaves("l0", "l1")
    host.far.ip("link", "set", "l0", "down")
    host.wait_slaves("l1")
    host.ctl_try("del-slave", "bond0", "l1")  # the kernel may still refuse
    wait_for(lambda: not host.show()["problem"], "l1 to be released")
    assert not host.link("l1")["allmulti"]
    assert "gone" not in host.log()


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_a_slave_with_another_name_and_address(lone, hook):
    """Both were changed while bondd was away, of a device that has no permanent address."""
    host = lone()
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    mac = host.link("bond0")["address"]
    host.kill_bondd()
    host.ip("link", "set", "l1", "down")
    host.ip("link", "set", "l1", "name", "other", "address", "02:00:00:00:77:02")
    host.ip("link", "set", "other", "up")
    host.start_bondd()
    host.wait_slaves("l0", "other")
    wait_for(lambda: host.link("other")["address"] == mac, "the bond's address on it")
    host.ctl("del-slave", "bond0", "other")
    assert "gone" not in host.log()


def test_another_device_with_the_number_of_a_slave(lone):
    host = lone()
    host.make_bond(["l0", "l1"], "mode", "balance-xor")
    host.kill_bondd()
    index = host.link("l1")["ifindex"]
    host.ip("link", "del", "l1")
    host.ip("link", "add", "other", "index", index, "type", "veth", "peer", "name", "end")
    host.start_bondd()
    host.wait_slaves("l0")
    assert host.slave_names() == ["l0"]


def test_the_bond_deleted_while_bondd_was_away(pair):
    made = pair("balance-xor", links=2)
    made.near.kill_bondd()
    made.near.ip("link", "del", "bond0")
    made.near.start_bondd()
    wait_for(lambda: made.near.ctl_json("list") == [], "the bond to be gone")
    assert made.near.pins() == []


# settings in mid-stream

STEERING = [("xmit_hash_policy",
             ["layer2", "encap3+4", "layer2+3", "encap2+3", "vlan+srcmac", "flow", "layer3+4"]),
            ("symmetric", ["on", "off", "on"]),
            ("path", ["direct", "counted", "direct", "counted"])]
BONDD_STATES = {"running": lambda host: None, "frozen": lambda host: host.freeze_bondd(),
                "stopped": lambda host: host.stop_bondd(), "killed": lambda host: host.kill_bondd()}


@pytest.mark.parametrize("bondd", BONDD_STATES)
@pytest.mark.parametrize("option,values", STEERING, ids=[option for option, _ in STEERING])
def test_set_in_mid_stream_loses_and_reorders_nothing(pair, option, values, bondd):
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    BONDD_STATES[bondd](made.near)
    stream = Stream(made.near, made.far, flows=16)
    for value in values:
        stream.flow_on(400)
        made.near.ctl("set", "bond0", option, value)
    stream.flow_on(400)
    stream.finish_unharmed(in_order=True)
    shown = made.near.show()["options"][option]
    assert {True: "on", False: "off"}.get(shown, shown) == values[-1]


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
@pytest.mark.parametrize("option,values", STEERING, ids=[option for option, _ in STEERING])
def test_set_in_mid_stream_with_clsact(pair, option, values, hook):
    test_set_in_mid_stream_loses_and_reorders_nothing(pair, option, values, "running")


def test_weights_in_mid_stream_lose_nothing(pair):
    """New buckets are published whole."""
    made = pair("balance-xor", xmit_hash_policy="layer3+4")
    stream = Stream(made.near, made.far, flows=200)
    for weight in (5, 1, 65535, "auto"):
        stream.flow_on(300)
        made.near.ctl("set-slave", "bond0", "l1", "weight", weight)
    stream.finish_unharmed()


def test_a_weight_without_bondd_says_so(pair):
    made = pair("balance-xor", links=2)
    made.near.stop_bondd()
    done = made.near.ctl_try("set-slave", "bond0", "l0", "weight", "7")
    assert done.returncode == 0 and "bondd" in done.stderr + done.stdout
    assert made.near.slave("l0")["options"]["weight"] == 7
    made.near.start_bondd()
    assert made.near.slave("l0")["options"]["weight"] == 7


def test_add_and_del_under_traffic_lose_little(pair):
    """del-slave takes the slave out of the datapath first: nothing is lost."""
    made = pair("balance-xor", links=3, xmit_hash_policy="layer3+4")
    stream = Stream(made.near, made.far, flows=64)
    stream.flow_on(500)
    made.near.ctl("del-slave", "bond0", "l1")
    stream.flow_on(500)
    made.near.ctl("add-slave", "bond0", "l1")
    made.near.wait_slaves("l0", "l1", "l2")
    stream.flow_on(500)
    result = stream.finish()
    assert result["lost"] <= 10 and result["duplicates"] == 0, result


def has_what_a_slave_has(host):
    disabled = host.run("sysctl", "-n", "net.ipv6.conf.l0.disable_ipv6").stdout.strip()
    return disabled == "1" and "01:80:c2:00:00:02" in groups(host, "l0")


def test_a_slave_that_was_in_another_namespace_while_bondd_was_dead(lone):
    """There it has lost all that is not its own: IPv6 is on again, its groups are gone."""
    needs_ports_that_come_back()
    host = lone(links=2)
    host.make_bond(["l0", "l1"], "mode", "active-backup")
    assert has_what_a_slave_has(host)
    host.kill_bondd()
    host.ip("link", "set", "l0", "netns", host.far.name, "name", "away")
    host.far.ip("link", "set", "away", "netns", host.name, "name", "l0")
    assert "UP" not in host.link("l0")["flags"]
    assert not has_what_a_slave_has(host)
    host.start_bondd()
    host.wait_slaves("l0", "l1")
    assert has_what_a_slave_has(host)
    host.ctl("delete", "bond0")
    assert not has_what_a_slave_has(host)


# killed in between

STEPS = ["create-pinned", "create-device", "enslave-recorded", "enslave-changed",
         "enslave-attached", "release-detached", "delete-started"]


def plain_view(host):
    """What xbond changes on slaves: flags, MTU, MAC, filters, groups, IPv6."""
    view = {}
    for name in host.links:
        link = host.link(name)
        view[name] = (sorted(set(link["flags"]) - {"LOWER_UP", "NO-CARRIER"}), link["mtu"],
                      link["address"],
                      link.get("promiscuity"), link.get("allmulti"), groups(host, name),
                      host.run("tc", "filter", "show", "dev", name, "ingress").stdout,
                      host.run("sysctl", "-n", f"net.ipv6.conf.{name}.disable_ipv6").stdout)
    return view


@pytest.mark.parametrize("step", ["create-device", "delete-started"])
def test_a_device_that_cannot_be_removed_is_tried_again(lone, step):
    """Of a bond that a bondd which died made or deleted only in part."""
    host = lone(links=1)
    words = ("create", "bond0")
    if step == "delete-started":
        host.ctl(*words)
        before = plain_view(host)
        host.ctl("add-slave", "bond0", "l0")
        words = ("delete", "bond0")
    else:
        before = plain_view(host)
    with host.dying_at(step):
        assert host.ctl_try(*words).returncode == 3
    with host.refusing("delete"):
        host.start_refusable()
        assert "cannot be removed" in host.log()
        refused = host.ctl_try("create", "bond0").stderr
        assert "the device of bond0 could not be removed; bondd tries it again" in refused
        assert plain_view(host) == before  # slaves need not wait for that
        assert host.exists("bond0")
    wait_for(lambda: not host.exists("bond0"), "bondd to remove the device")
    wait_for(lambda: host.pins() == [], "bondd to remove the pins")
    host.ctl("create", "bond0")


def test_pins_that_cannot_be_removed_are_tried_again(lone):
    """Until then the bond is there, with all of its pins, for those who look."""
    host = lone(links=1)
    host.stop_bondd()
    host.start_refusable()
    host.ctl("create", "bond0")
    pins = host.pins()
    with host.refusing("rename"):
        refused = host.ctl_try("delete", "bond0").stderr
        assert "the pins of bond0 could not be removed; bondd tries it again" in refused
        assert host.pins() == pins
        assert host.ctl_json("show")[0]["name"] == "bond0"
        assert not host.exists("bond0")
    wait_for(lambda: host.pins() == [], "bondd to remove the pins")
    host.ctl("create", "bond0")


def test_killed_while_a_slave_was_down_for_its_mac(lone):
    """Some drivers change their address only while down: who finds a member so
    brings it up again.
    """
    host = lone(links=2)
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", "l0", "l1")
    with host.dying_at("mac-changed"):
        host.ip("link", "set", "bond0", "address", "02:00:00:00:77:01")
    changed = [name for name in host.links if host.link(name)["address"] == "02:00:00:00:77:01"]
    host.ip("link", "set", changed[0], "down")
    host.start_bondd()
    host.wait_slaves("l0", "l1")


def test_killed_before_a_slave_refuses_the_bonds_mtu(lone):
    """A macvlan cannot have a larger one than what is below it. The next bondd asks it."""
    if is_team():
        pytest.skip("a team refuses an MTU that one of its ports refuses")
    host = lone(links=2)
    host.ip("link", "add", "m0", "link", "l1", "type", "macvlan")
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0", "m0")
    host.stop_bondd()
    with host.dying_at("mtu-changed"):
        host.ip("link", "set", "bond0", "mtu", "3000")
    assert host.link("l0")["mtu"] == 3000
    host.start_bondd()
    wait_for(lambda: [host.link(name)["mtu"] for name in ("bond0", "l0", "m0")] == [1500] * 3,
             "the bond to go back")
    assert host.show()["mtu"] == 1500


def test_killed_while_the_second_of_two_is_added(lone):
    """No slave is left, and the bond does not keep the MAC address of the first."""
    if is_team():
        pytest.skip("the kernel gives a port its address when it joins the team")
    host = lone(links=2)
    host.ip("link", "set", "l1", "up")
    host.wait_link_local("l1")
    host.ctl("create", "bond0")
    mac, before = host.link("bond0")["address"], plain_view(host)
    with host.dying_at("mac-changed"):
        assert host.ctl_try("add-slave", "bond0", "l0", "l1").returncode == 3
    host.start_bondd()
    assert host.show()["slaves"] == []
    wait_for(lambda: plain_view(host) == before, lambda: f"{before}; it is {plain_view(host)}")
    assert host.link("bond0")["address"] == mac


def test_killed_while_a_released_slave_was_down(lone):
    host = lone(links=1)
    host.ip("link", "set", "l0", "up")
    host.ctl("create", "bond0", "mode", "balance-xor")
    host.ctl("add-slave", "bond0", "l0")
    with host.dying_at("release-detached"):
        assert host.ctl_try("del-slave", "bond0", "l0").returncode == 3
    host.ip("link", "set", "l0", "down")
    host.start_bondd()
    assert "UP" in host.link("l0")["flags"] and host.show()["slaves"] == []


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
@pytest.mark.parametrize("step", ["enslave-recorded", "clsact-made", "enslave-attached"])
@pytest.mark.parametrize("owner", ["ours", "the user's"])
def test_killed_while_a_qdisc_is_made(lone, owner, step, hook):
    """The user's clsact qdisc stays, though it is empty; the one that bondd has made goes."""
    host = lone(links=1)
    host.ctl("create", "bond0", "mode", "active-backup")
    if owner == "the user's":
        host.run("tc", "qdisc", "add", "dev", "l0", "clsact")
    with host.dying_at(step):
        assert host.ctl_try("add-slave", "bond0", "l0").returncode == 3
    host.start_bondd()
    assert host.show()["slaves"] == []
    qdiscs = host.run("tc", "qdisc", "show", "dev", "l0").stdout
    assert ("clsact" in qdiscs) == (owner == "the user's")


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
@pytest.mark.parametrize("step", STEPS)
def test_killed_half_way(lone, step, hook):
    """The next bondd undoes or finishes; deleting the bond then restores every slave."""
    host = lone(links=2, bondd=False)
    host.ip("link", "set", "l0", "mtu", "1400")
    host.ip("link", "set", "l1", "up")
    host.wait_link_local("l1")
    before, devices = plain_view(host), host.devices()
    with host.dying_at(step):
        for words in (["create", "bond0", "mode", "balance-xor"],
                      ["add-slave", "bond0", "l0", "l1"], ["del-slave", "bond0", "l0"],
                      ["delete", "bond0"]):
            done = host.ctl_try(*words)
            if done.returncode:
                break
        assert done.returncode == 3, (done.returncode, done.stderr)
    host.start_bondd()
    if "bond0" in host.ctl_json("list"):
        members = {slave["name"] for slave in host.show()["slaves"]}
        now = plain_view(host)
        assert all(now[name] == before[name] for name in host.links if name not in members)
        host.ctl("delete", "bond0")
    assert plain_view(host) == before
    assert host.devices() == devices
    assert host.pins() == []
    host.make_bond(["l0", "l1"])
