"""show --proc and sysfs-tree against what the kernel's bonding says of the same state: xbond at the
near end, bonding at the far end, with the same options and two slaves each.
"""
import json
import re
import sys

import pytest

from lab import BONDCTL, Refused
from lacp import distributing
from machine import nic_mac
from waiting import wait_for

PEER = "bonding"
# As `ip link` names them, where that is not as the kernel's own files do.
NAMES = {"peer_notif_delay": "peer_notify_delay"}
DELAYS = {"miimon": 100, "updelay": 200, "downdelay": 400}
MODES = {
    "balance-rr": {"packets_per_slave": 7, "all_slaves_active": 1},
    "balance-xor": {"xmit_hash_policy": "vlan+srcmac", **DELAYS},
    "broadcast": {"resend_igmp": 3},
    "active-backup": {"primary_reselect": "better", "miimon": 100, "peer_notif_delay": 200,
                      "num_grat_arp": 4},
    "802.3ad": {"lacp_rate": "fast", "xmit_hash_policy": "layer2+3", "ad_user_port_key": 12,
                "ad_actor_sys_prio": 1000, "min_links": 1, "ad_select": "count"},
    "balance-tlb": {"xmit_hash_policy": "layer3+4", "miimon": 100, "tlb_dynamic_lb": 0},
    "balance-alb": {"primary_reselect": "failure", "miimon": 100, "lp_interval": 3,
                    "tlb_dynamic_lb": 1, "xmit_hash_policy": "layer2"},
}
PROBES = {"arp_interval": 500, "arp_ip_target": "10.0.0.9,10.0.0.8", "arp_missed_max": 4,
          "ns_ip6_target": "fd00::9"}
# prints {path: content} of what bonding has in /sys, and {path: None} of its links between devices
READ_SYS = """
import glob, json, os
os.chdir("/sys/class/net")
names = glob.glob("bonding_masters") + glob.glob("*/bonding/*") + glob.glob("*/bonding_slave/*")
links = [name for name in glob.glob("*/*er*") if os.path.islink(name)]
print(json.dumps({**{name: open(name).read() for name in names}, **{name: None for name in links}}))
"""
# prints {file: content} of net.ipv[46].{conf,neigh}.bond0; some can only be written
READ_SYSCTL = """
import glob, json
found = {}
for path in glob.glob("/proc/sys/net/ipv[46]/*/bond0/*"):
    try:
        found[path.removeprefix("/proc/sys/net/")] = open(path).read()
    except OSError:
        pass
print(json.dumps(found))
"""


@pytest.fixture
def made(keeper):
    def build(setting):
        return setting.bond_alone("balance-rr")
    return keeper.get("files", build)


def make_kernel_bond(made, mode, options, slaves=True):
    far = made.far
    far.run("ip", "link", "del", "bond0", check=False)
    words = [word for name, value in options.items()
             for word in (NAMES.get(name, name), value)]
    far.ip("link", "add", "bond0", "type", "bond", "mode", mode,
           *(() if "arp_interval" in options or "miimon" in options else ("miimon", 100)), *words)
    for name in far.links if slaves else ():
        far.ip("link", "set", name, "down")
        far.ip("link", "set", name, "master", "bond0")
    far.ip("link", "set", "bond0", "up")


def make_same(made, mode, options):
    """Two new bonds. The second slave has a queue_id; in active-backup the first one is the
    primary.
    """
    made.near.ctl("delete", "bond0")
    made.bond_alone(mode, *[word for pair in options.items() for word in pair])
    made.near.ctl("set-slave", "bond0", made.near.links[1], "queue_id", 3)
    make_kernel_bond(made, mode, options)
    made.far.ip("link", "set", made.far.links[1], "type", "bond_slave", "queue_id", 3)
    if mode == "active-backup":
        made.near.ctl("set", "bond0", "primary", made.near.links[0])
        made.far.ip("link", "set", "bond0", "type", "bond", "primary", made.far.links[0])


def neutral(made, text, is_near):
    """Without names and addresses, which differ, and what differs for a good reason."""
    ours, theirs = (made.near, made.far) if is_near else (made.far, made.near)
    for who, host in (("own", ours), ("other", theirs)):
        for number, name in enumerate(host.links):
            text = re.sub(rf"(?<![a-z]){name}\b", f"{who}{number}", text)
            text = text.replace(nic_mac(int(name.removeprefix("eth"))), f"MAC of {who}{number}")
    # The kernel judges churn when a minute has passed.
    return text.replace("Churn State: monitoring", "Churn State: none")


def aggregators(text):
    """With aggregators numbered in the order in which they come: they have no other meaning."""
    numbers = []

    def number(found):
        if found[1] not in numbers:
            numbers.append(found[1])
        return f"Aggregator ID: {numbers.index(found[1])}"
    return re.sub(r"Aggregator ID: (\d+)", number, text)


def proc(made, is_near):
    text = made.near.ctl("show", "--proc", "bond0") if is_near else \
        made.far.run("cat", "/proc/net/bonding/bond0").stdout
    first, rest = text.split("\n", 1)
    assert re.fullmatch(r"Ethernet Channel Bonding Driver: v\d\S+.*", first)
    return aggregators(neutral(made, rest, is_near)).splitlines()


def sys_of_kernel(made):
    done = made.far.run("unshare", "--mount", "sh", "-c",
                        'mount -t sysfs sysfs /sys && exec "$0" -c "$1"', sys.executable, READ_SYS)
    return json.loads(neutral(made, done.stdout, False))


def sys_of_xbond(made):
    tree = made.near.dir / "sys"
    made.near.ctl("sysfs-tree", tree)
    net = tree / "class/net"
    found = {}
    for path in [net / "bonding_masters", *net.glob("*/bonding/*"), *net.glob("*/bonding_slave/*")]:
        found[str(path.relative_to(net))] = path.read_text()
    for path in net.glob("*/*er*"):
        if path.is_symlink():
            assert path.is_dir()
            found[str(path.relative_to(net))] = None
    return json.loads(neutral(made, json.dumps(found), True))


def wait_same(made, read, is_same=lambda ours, theirs: ours == theirs):
    """Both may still be on their way to the same state."""
    seen = []

    def same():
        seen[:] = read(made)
        return is_same(*seen)
    try:
        wait_for(same, "the same of both", 15, 0.3)
    except AssertionError:
        ours, theirs = seen
        assert ours == theirs


def both_of_proc(made):
    return proc(made, True), proc(made, False)


def both_of_sys(made):
    return sys_of_xbond(made), sys_of_kernel(made)


@pytest.mark.parametrize("mode", [
    pytest.param(mode, marks=[] if mode in ("active-backup", "802.3ad") else pytest.mark.once
                 if mode in ("balance-xor", "balance-alb") else pytest.mark.full)
    for mode in MODES])
def test_the_same_as_the_kernel(made, shows, mode):
    with shows(PEER, "what it says in /proc/net/bonding and in /sys, show --proc and sysfs-tree "
                     "say alike"):
        make_same(made, mode, MODES[mode])
        if mode == "802.3ad":
            wait_for(lambda: len(distributing(made.near)) == 2, "both ports to distribute", 20)
        wait_same(made, both_of_proc)
        wait_same(made, both_of_sys)


@pytest.mark.once
def test_the_lines_of_probes(made):
    """Of the ARP monitor; the kernel has no miimon beside it."""
    make_same(made, "active-backup", {})
    made.near.ctl("set", "bond0", *[word for pair in PROBES.items() for word in pair])
    make_kernel_bond(made, "active-backup", PROBES, slaves=False)
    ours, theirs = ([line for line in proc(made, is_near) if line.startswith(("ARP ", "NS "))]
                    for is_near in (True, False))
    made.near.ctl("set", "bond0", "arp_interval", 0)
    assert ours == theirs and len(ours) == 4


@pytest.mark.once
@pytest.mark.parametrize("mode, options, written", [
    ("802.3ad", {"lacp_active": "off", "lacp_rate": "fast"},
     {"lacp_active = off", "lacp_rate = fast"}),
    ("active-backup", {"arp_interval": 500, "ns_ip6_target": "fd00::9"},
     {"ns_ip6_target = fd00::9", "arp_interval = 500", "prio = 7"})])
def test_import_of_a_bond_that_exists(made, mode, options, written):
    """Also of what has no file in sysfs."""
    make_kernel_bond(made, mode, options)
    if "prio = 7" in written:
        made.far.ip("link", "set", made.far.links[1], "type", "bond_slave", "prio", 7)
    done = made.far.run("unshare", "--mount", "sh", "-c",
                        'mount -t sysfs sysfs /sys && exec "$0" import kernel bond0', BONDCTL)
    assert written <= set(done.stdout.splitlines()), done.stdout


def sysctls(host):
    return json.loads(host.run(sys.executable, "-c", READ_SYSCTL).stdout)


@pytest.mark.parametrize("device", ["netkit", "veth", "team"])
def test_the_settings_of_ip(made, device):
    """bond0 begins with those that bonding's device has, such as duplicate address detection."""
    for host in (made.near, made.far):
        host.run("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=1")
    try:
        made.near.ctl_try("delete", "bond0")
        try:
            made.near.ctl("create", "bond0", "device", device)
        except Refused as refused:
            pytest.skip(str(refused))
        made.far.run("ip", "link", "del", "bond0", check=False)
        made.far.ip("link", "add", "bond0", "type", "bond")
        ours, theirs = sysctls(made.near), sysctls(made.far)
    finally:
        for host in (made.near, made.far):
            host.run("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0")
    assert len(theirs) > 100
    assert ours == theirs
