"""Configuration files at start, slaves that appear later, save, and running under a service
manager.
"""
import json
import signal
import socket

import pytest

from namespace import end
from traffic import Stream
from waiting import wait_for


def write(host, text, bond="bond0"):
    (host.config_dir / f"{bond}.conf").write_text(text)


SIMPLE = """# a comment
[bond]
mode = active-backup
miimon = 50
primary = l1

[slave l0]

[slave l1]
weight = 9
"""


def test_a_file_is_applied_at_start(lone):
    host = lone(links=2, bondd=False)
    write(host, SIMPLE)
    host.start_bondd()
    shown = host.show()
    assert shown["mode"] == "active-backup" and shown["options"]["miimon"] == 50 and \
        host.slave_names() == ["l0", "l1"]
    assert shown["slaves"][1]["options"]["weight"] == 9
    wait_for(lambda: host.show()["active_slave"] == "l1", "the primary")


def is_up(host):
    return "UP" in host.ip_json("link", "show", "bond0")[0]["flags"]


@pytest.mark.parametrize("up", [None, "on", "off"])
def test_a_bond_from_a_file_is_up(lone, up):
    """When it is made, and never again: the administrator may set it down."""
    host = lone(links=2, bondd=False)
    write(host, SIMPLE.replace("primary = l1", f"up = {up}" if up else ""))
    host.start_bondd()
    assert is_up(host) == (up != "off")
    host.ip("link", "set", "bond0", "up" if up == "off" else "down")
    host.ctl("apply", "bond0")
    host.restart_bondd()
    host.ctl("load")
    assert is_up(host) == (up == "off")
    host.ctl("delete", "bond0")
    assert host.ctl_json("load", "bond0", "--dry-run")[0]["steps"][0]["action"] == "create"
    host.ctl("load", "bond0")
    assert is_up(host) == (up != "off")


def of_ifupdown(command):
    """The command where the files of the host are about its devices, and ifupdown's name bond0."""
    return ["unshare", "--mount", "--pid", "--kill-child", "--mount-proc", "sh", "-c",
            "mount -t tmpfs none /etc && mkdir /etc/network && "
            "echo 'iface bond0 inet dhcp' >/etc/network/interfaces && exec \"$0\" \"$@\"", *command]


@pytest.mark.parametrize("up", [None, "on"])
def test_a_bond_of_another_tool_is_left_to_it(lone, up):
    host = lone(links=2, bondd=False)
    write(host, SIMPLE + (f"[bond]\nup = {up}\n" if up else ""))
    plain = host.bondd_command
    host.bondd_command = lambda: of_ifupdown(plain())
    host.start_bondd()
    assert is_up(host) == bool(up)
    assert ("bond0 is left down, because ifupdown brings it up" in host.log()) != bool(up)
    host.run(*of_ifupdown(host.ctl_command("save", "bond0")))
    assert ("up = on" in (host.config_dir / "bond0.conf").read_text()) == bool(up)
    host.kill_bondd()  # unshare passes no SIGTERM on


def test_save_says_what_it_leaves_out(lone):
    host, mac = lone(links=1), "02:00:00:00:00:aa"
    host.ctl("create", "bond0")
    host.ctl("add-slave", "bond0", "l0")
    host.ip("link", "set", "bond0", "up")
    assert host.ctl_try("save", "bond0").stderr == ""
    host.ip("link", "set", "bond0", "address", mac, "mtu", "1400")
    wait_for(lambda: host.show()["mac"] == mac and host.show()["mtu"] == 1400, "bondd to follow")
    said = host.ctl_try("save", "bond0").stderr.splitlines()
    assert len(said) == 2 and " 1400, " in said[0] and f" {mac}, " in said[1]


def test_save_writes_whether_the_bond_is_up(lone):
    host, file = lone(links=1), "bond0.conf"
    host.ctl("create", "bond0")
    done = host.ctl_try("save", "bond0")
    assert done.returncode == 0 and "up = off" in done.stderr
    assert "up = off\n" in (host.config_dir / file).read_text()
    host.ip("link", "set", "bond0", "up")
    assert host.ctl_try("save", "bond0").stderr == ""
    assert "up =" not in (host.config_dir / file).read_text()


def test_a_slave_that_appears_later_is_added(lone):
    host = lone(links=1, bondd=False)
    write(host, SIMPLE)
    host.start_bondd()
    assert host.slave_names() == ["l0"] and "l1" in host.log()
    host.ip("link", "add", "other", "type", "veth", "peer", "name", "otherp")
    host.ip("link", "add", "l1", "index", "77", "type", "veth", "peer", "name", "l1p")
    wait_for(lambda: host.slave_names() == ["l0", "l1"], "l1 to be added")
    assert host.slave("l1")["options"]["weight"] == 9


def test_a_device_renamed_to_a_waited_for_name_is_added(lone):
    """As udev does: the device appears as eth0 first."""
    host = lone(links=1, bondd=False)
    write(host, SIMPLE)
    host.start_bondd()
    host.ip("link", "add", "eth0", "index", "77", "type", "veth", "peer", "name", "l1p")
    host.ip("link", "set", "eth0", "name", "l1")
    wait_for(lambda: host.slave_names() == ["l0", "l1"], "l1 to be added")


@pytest.mark.parametrize("mode", ["802.3ad", "active-backup"])
def test_a_slave_that_goes_and_returns_has_its_settings(lone, mode):
    host = lone(links=1, bondd=False)
    lacp = "actor_port_prio = 7\n" if mode == "802.3ad" else "prio = -7\n"
    write(host, f"[bond]\nmode = {mode}\n[slave l0]\nweight = 5\ndrain = on\nqueue_id = 3\n{lacp}")
    host.start_bondd()
    assert host.slave_names() == ["l0"]
    host.ip("link", "del", "l0")
    wait_for(lambda: host.slave_names() == [], "l0 to leave")
    host.ip("link", "add", "l0", "index", "78", "type", "veth", "peer", "name", "l0p")
    wait_for(lambda: host.slave_names() == ["l0"], "l0 to be added again")
    options = host.slave("l0")["options"]
    assert (options["weight"], options["drain"], options["queue_id"]) == (5, True, 3)
    assert mode != "802.3ad" or options["actor_port_prio"] == 7
    assert mode == "802.3ad" or options["prio"] == -7


# waiting for slaves: for that bond, and as long as its user wants it

WAITING = "[bond]\nmode = balance-xor\n[slave l0]\n[slave l1]\nweight = 9\n"


def awaiting(lone):
    """A host whose bond0 has l0 and waits for l1."""
    host = lone(links=1, bondd=False)
    write(host, WAITING)
    host.start_bondd()
    assert host.slave_names() == ["l0"]
    return host


def plug(host, name="l1"):
    host.ip("link", "add", name, "index", 77, "type", "veth", "peer", "name", f"{name}p")


def settled(host):
    """bondd has read what the kernel had told before."""
    host.wait_looked(1.2)


def test_another_bond_of_that_name_does_not_inherit_the_waiting(lone):
    host = awaiting(lone)
    host.ctl("delete", "bond0")
    host.ctl("create", "bond0", "mode", "balance-xor")
    plug(host)
    settled(host)
    assert host.slave_names() == []


def test_del_slave_ends_the_waiting(lone):
    host = awaiting(lone)
    host.ctl("del-slave", "bond0", "l1", "l0")
    plug(host)
    settled(host)
    assert host.slave_names() == []


def test_what_was_added_by_hand_is_waited_for_no_more(lone):
    """It came with an address and was refused; its user adds it all the same, and removes it."""
    host = awaiting(lone)
    host.ip("link", "add", "tmp", "index", "77", "type", "veth", "peer", "name", "tmpp")
    host.ip("addr", "add", "192.0.2.9/24", "dev", "tmp")
    host.ip("link", "set", "tmp", "name", "l1")
    wait_for(lambda: "192.0.2.9" in host.log(), "bondd to refuse it")
    host.ctl("add-slave", "bond0", "l1", "force", "yes")
    host.ctl("del-slave", "bond0", "l1")
    settled(host)
    assert host.slave_names() == ["l0"]


def test_a_renamed_bond_goes_on_waiting(lone):
    host = awaiting(lone)
    host.rename("bond0", "lag7")
    wait_for(lambda: host.ctl_json("list") == ["lag7"], "bondd to follow the name")
    plug(host)
    wait_for(lambda: host.slave_names("lag7") == ["l0", "l1"],
             "l1 to be added")


def test_a_waited_for_name_may_be_an_alternative_one(lone):
    host = awaiting(lone)
    plug(host, "eth0")
    host.ip("link", "property", "add", "dev", "eth0", "altname", "l1")
    wait_for(lambda: host.slave_names() == ["l0", "eth0"], "eth0 to be added")
    assert host.slave("eth0")["options"]["weight"] == 9
    host.ctl("set-slave", "bond0", "l1", "weight", "7", "queue_id", "3")
    options = host.slave("eth0")["options"]
    assert (options["weight"], options["queue_id"]) == (7, 3)
    assert "filter" in host.ctl_try("capture", "bond0", "--slave", "l1", "no such filter").stderr
    found = [each["slave"] for each in json.loads(host.run(
        *host.ctl_command("-j", "doctor", "--no-traffic", "bond0"), check=False).stdout)
             if each["check"] == "config"]
    assert found == ["eth0"], "its weight differs"
    host.ctl("save", "bond0")
    assert "slave l1" not in (host.config_dir / "bond0.conf").read_text()
    host.ctl("del-slave", "bond0", "l1")
    settled(host)
    assert host.slave_names() == ["l0"]


@pytest.mark.parametrize("how", ["restart", "apply"])
def test_a_slave_by_an_alternative_name_returns(lone, how):
    def appear():
        plug(host, "eth0")
        host.ip("link", "property", "add", "dev", "eth0", "altname", "l1")
        wait_for(lambda: host.slave_names() == ["l0", "eth0"], "eth0 to be added")
    host = lone(links=1, bondd=False)
    write(host, WAITING if how == "restart" else "[bond]\nmode = balance-xor\n[slave l0]\n")
    host.start_bondd()
    if how == "apply":
        plug(host, "eth0")
        host.ip("link", "property", "add", "dev", "eth0", "altname", "l1")
        write(host, WAITING)
        host.ctl("apply")
    else:
        appear()
        host.restart_bondd()
    host.ip("link", "del", "eth0")
    wait_for(lambda: host.slave_names() == ["l0"], "bondd to see it")
    appear()


@pytest.mark.parametrize("back", ["before", "after"])
def test_a_slave_that_goes_while_bondd_is_away_returns(lone, back):
    host = lone(links=2, bondd=False)
    write(host, WAITING)
    host.start_bondd()
    host.ctl("set-slave", "bond0", "l1", "weight", "5")
    host.kill_bondd()
    host.ip("link", "del", "l1")
    if back == "before":
        plug(host)
    host.start_bondd()
    if back == "after":
        plug(host)
    wait_for(lambda: host.slave_names() == ["l0", "l1"], "l1 to be added again")
    assert host.slave("l1")["options"]["weight"] == 5


def test_a_file_that_was_half_applied_is_applied_anew(lone):
    host = lone(links=2, bondd=False)
    write(host, WAITING)
    with host.dying_at("enslave-attached", wait=False):
        pass
    host.start_bondd()
    assert host.slave_names() == ["l0", "l1"]
    assert host.slave("l1")["options"]["weight"] == 9


def test_save_keeps_a_slave_that_is_not_there(lone):
    host = awaiting(lone)
    host.ctl("set", "bond0", "miimon", 50)
    done = host.ctl_try("save", "bond0")
    assert done.returncode == 0 and "l1 is not a slave now, but bondd waits for it" in done.stderr
    text = (host.config_dir / "bond0.conf").read_text()
    assert "miimon = 50" in text and "[slave l1]\nweight = 9\n" in text
    plug(host)
    wait_for(lambda: host.slave_names() == ["l0", "l1"], "l1 to be added")
    host.rename("l1", "lan1")
    wait_for(lambda: host.slave_names() == ["l0", "lan1"], "bondd to follow the name")
    host.ctl("save", "bond0")
    assert "slave l1]" not in (host.config_dir / "bond0.conf").read_text(), \
        "the same device under two names"


def test_save_drops_a_slave_that_nobody_waits_for(lone):
    host = awaiting(lone)
    host.ctl("del-slave", "bond0", "l1")
    host.ctl("save", "bond0")
    assert "l1" not in (host.config_dir / "bond0.conf").read_text()


def test_save_without_bondd_keeps_what_is_not_there(lone):
    host = awaiting(lone)
    host.kill_bondd()
    host.ctl("save", "bond0")
    assert "[slave l1]\nweight = 9\n" in (host.config_dir / "bond0.conf").read_text()


def test_a_slave_that_was_refused_is_tried_again(lone):
    host = lone(links=2, bondd=False)
    host.ip("addr", "add", "192.0.2.9/24", "dev", "l1")
    write(host, WAITING)
    host.start_bondd()
    assert host.slave_names() == ["l0"] and "192.0.2.9" in host.log()
    host.ip("addr", "del", "192.0.2.9/24", "dev", "l1")
    host.ip("link", "set", "l1", "up")
    wait_for(lambda: host.slave_names() == ["l0", "l1"], "l1 to be added", 20)


def test_a_slave_that_its_device_refuses_keeps_nobody_busy(lone):
    """Each try changes flags of the device, which is news of it."""
    host = lone(links=1, bondd=False)
    host.ip("link", "set", "l0", "address", "02:00:00:00:66:01")
    host.ip("link", "add", "lower", "type", "veth", "peer", "name", "lowerp")
    host.ip("link", "set", "lower", "up")
    for name, mac in (("taken", "02:00:00:00:66:01"), ("l1", "02:00:00:00:66:02")):
        host.ip("link", "add", name, "link", "lower", "address", mac, "type", "macvlan", "mode",
                "bridge")
    host.ip("link", "set", "taken", "up")
    write(host, WAITING)
    host.start_bondd()
    assert host.slave_names() == ["l0"] and "slave l1:" in host.log()
    settled(host)
    assert host.ping_bondd()


def test_a_running_bond_is_adopted_as_it_runs(lone):
    host = lone(links=3, bondd=False)
    write(host, SIMPLE)
    host.start_bondd()
    host.ctl("set", "bond0", "miimon", 200, "primary", "none")
    host.ctl("del-slave", "bond0", "l1")
    host.ctl("add-slave", "bond0", "l2")
    host.restart_bondd()
    shown = host.show()
    assert shown["options"]["miimon"] == 200 and shown["options"]["primary"] in ("", None, "none")
    assert host.slave_names() == ["l0", "l2"]


def test_a_malformed_file_is_named_with_its_line(lone):
    """It is not applied; another one is. What can be malformed: tests/cli/broken.py."""
    host = lone(links=2, bondd=False)
    write(host, "[bond]\nmode = balance-rr\n[slave l0]\nweight = none\n")
    write(host, "[bond]\nmode = broadcast\n[slave l1]\n", bond="bond1")
    host.start_bondd()
    assert "bond0.conf:4:" in host.log(), host.log()
    assert host.ctl_json("list") == ["bond1"]
    assert host.slave_names("bond1") == ["l1"]


def test_file_names_that_no_bond_can_have(lone):
    host = lone(links=1, bondd=False)
    for name in ("a-name-that-is-much-too-long-for-it", "has space", ".hidden"):
        write(host, "[bond]\nmode = broadcast\n", bond=name)
    (host.config_dir / "README").write_text("no configuration")
    (host.config_dir / "bond5.conf").mkdir()
    host.start_bondd()
    assert host.ctl_json("list") == []
    assert "too-long" in host.log()


def saved_state(host):
    shown = host.show()
    slaves = [(slave["name"], slave["options"]) for slave in shown["slaves"]]
    return shown["mode"], shown["options"], slaves


@pytest.mark.parametrize("bond,slave", [
    (["mode", "balance-xor", "xmit_hash_policy", "layer3+4", "path", "direct", "min_links", "2",
      "updelay", "40", "downdelay", "60"],
     ["weight", "7", "drain", "on"]),
    (["mode", "balance-rr", "packets_per_slave", "0", "bytes_per_slave", "5000", "hash_seed", "99"],
     ["weight", "3"]),
    (["mode", "active-backup", "primary", "l1", "all_slaves_active", "on", "mac_policy", "filter"],
     ["weight", "auto"]),
    (["mode", "broadcast", "miimon", "30"], ["drain", "on"])])
def test_save_writes_what_makes_the_same(lone, bond, slave):
    host = lone(links=2)
    host.ctl("create", "bond0", *bond)
    host.ctl("add-slave", "bond0", *host.links)
    host.ctl("set-slave", "bond0", "l1", *slave)
    before = saved_state(host)
    host.stop_bondd()
    host.ctl("save", "bond0")
    text = (host.config_dir / "bond0.conf").read_text()
    host.start_bondd()
    host.ctl("delete", "bond0")
    host.restart_bondd()
    assert saved_state(host) == before
    host.ctl("save", "bond0")
    assert (host.config_dir / "bond0.conf").read_text() == text


def test_stopping_the_service_leaves_the_traffic_running(pair):
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    for number in (signal.SIGTERM, signal.SIGINT):
        stream = Stream(made.near, made.far, flows=16)
        stream.flow_on(500)
        assert end(made.near.bondd, number) == 0
        assert not (made.near.run_dir / "bondd.sock").exists(), \
            "an orderly stop takes its socket along"
        stream.flow_on(500)
        made.near.start_bondd()
        assert stream.finish()["lost"] == 0


def test_a_hangup_is_no_end(lone):
    """systemd would take it for a clean one, and not start bondd again."""
    host = lone(links=1)
    host.ctl("create", "bond0")
    for count in (1, 2):
        host.bondd.send_signal(signal.SIGHUP)
        wait_for(lambda: host.log().count("SIGHUP: every bond becomes") == count or
                 host.bondd.poll() is not None, "a line in the log")
    assert host.ping_bondd() and host.ctl_json("list") == ["bond0"]


def test_bondd_tells_the_service_manager(lone, tmp_path):
    """READY=1 after the socket answers, STOPPING=1 at the end (Type=notify)."""
    host = lone(links=0, bondd=False)
    path = host.dir / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(10)
        host.environment = {"NOTIFY_SOCKET": str(path)}
        host.start_bondd(wait=False)
        said = b""
        while b"READY=1" not in said:
            said += manager.recv(4096) + b"\n"
        assert host.ping_bondd()
        host.stop_bondd()
        while b"STOPPING=1" not in said:
            said += manager.recv(4096) + b"\n"


def test_the_log_has_priorities_under_the_journal(lone):
    """With JOURNAL_STREAM set stderr lines begin with <N>, otherwise not."""
    host = lone(links=0)
    host.ctl("create", "bond0")
    assert "created" in host.log() and "<5>" not in host.log()
