# SPDX-License-Identifier: GPL-2.0-or-later
"""show --proc and sysfs-tree: programs that only know the kernel's files read them.
tests/vm/guest/test_kernel_files.py compares them with the kernel's.
"""
import os
import re
import shutil
import socket
import subprocess
import threading
import urllib.request

import pytest

from frames import mac_bytes
from pins import X, Pins, fill
from test_calls import BONDCTL
from waiting import wait_for

EXPORTER = "prometheus-node-exporter"
MARK = ".bondctl-sysfs-tree"


@pytest.fixture
def bondctl(bpf_dir, tmp_path):
    def call(*words, status=0, **kwargs):
        done = subprocess.run([BONDCTL, "--run-dir", str(tmp_path), "--bpf-dir", str(bpf_dir),
                               *map(str, words)], capture_output=True, text=True, timeout=60,
                              check=False, **kwargs)
        assert done.returncode == status, done.stderr
        return done
    return call


@pytest.fixture
def bond(bpf_dir):
    def make(mode=X.MODE_8023AD, slaves=2):
        made = Pins(bpf_dir, slaves, mode)
        made.bond.carrier = 1
        made.begin(mode)
        return made
    return make


@pytest.fixture
def proc(bondctl, tmp_path):
    """A file that has what show --proc prints."""
    path = tmp_path / "proc"

    def write(*words):
        path.write_text(bondctl("show", "--proc", *words).stdout)
        return path
    return write


@pytest.fixture
def net(bondctl, tmp_path):
    """sysfs-tree writes, and we read: net("bond0/bonding/mode")."""
    def read(name, write=True):
        if write:
            bondctl("sysfs-tree", tmp_path / "sys")
        return (tmp_path / "sys/class/net" / name).read_text()
    return read


def sections(text):
    """The bond's part and a part for each slave, each {key: value}. Lines that are indented belong
    to what comes before them.
    """
    parts = [{}]
    for line in text.splitlines():
        found = re.match(r"^([A-Z][^:]*): ?(.*)$", line)
        if found and found[1] == "Slave Interface":
            parts.append({})
        if found:
            parts[-1].setdefault(found[1], found[2])
    return parts[0], parts[1:]


def check(path, slaves=2, mode=None):
    """In the shape of those that monitoring systems run: it knows the kernel's file of a bond and
    nothing else. Returns (status, line): 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
    """
    try:
        with open(path, encoding="ascii") as file:
            text = file.read()
    except OSError as error:
        return 3, f"UNKNOWN: {error}"
    if not text.startswith("Ethernet Channel Bonding Driver: v"):
        return 3, "UNKNOWN: not a file of the bonding driver"
    bond, found = sections(text)
    if mode and mode not in bond["Bonding Mode"]:
        return 2, f"CRITICAL: mode is {bond['Bonding Mode']}"
    if bond["MII Status"] != "up":
        return 2, "CRITICAL: the bond is down"
    if bond.get("Currently Active Slave") == "None":
        return 2, "CRITICAL: no active slave"
    down = [slave["Slave Interface"] for slave in found if slave["MII Status"] != "up"]
    if len(found) < slaves or down:
        return 1, f"WARNING: {len(found)} slaves, down: {', '.join(down) or 'none'}"
    ids = {slave.get("Aggregator ID") for slave in found}
    if len(ids) > 1:
        return 1, f"WARNING: slaves are in aggregators {', '.join(sorted(ids))}"
    speeds = [slave["Speed"].removesuffix(" Mbps") for slave in found]
    failures = sum(int(slave["Link Failure Count"]) for slave in found)
    return 0, f"OK: {len(found)} slaves, {'+'.join(speeds)} Mbps, {failures} failures"


def test_a_check_reads_a_bond_in_order(bond, proc):
    bond()
    assert check(proc("bond0"), mode="802.3ad") == (0, "OK: 2 slaves, 1000+1000 Mbps, 0 failures")


def test_a_check_sees_what_is_wrong(bond, proc):
    made = bond(X.MODE_ACTIVE_BACKUP)
    assert check(proc())[0] == 0
    made.slaves[1].link, made.slaves[1].link_failures = X.LINK_GOING_DOWN, 4
    assert check(proc()) == (1, "WARNING: 2 slaves, down: eth1")
    text = proc().read_text()
    assert "MII Status: going down\nSpeed: Unknown\nDuplex: Unknown\nLink Failure Count: 4" in text
    made.bond.active_slot = X.NO_SLOT
    assert check(proc()) == (2, "CRITICAL: no active slave")
    made.bond.carrier = 0
    assert check(proc()) == (2, "CRITICAL: the bond is down")


def test_a_check_sees_two_aggregators(bond, proc):
    def differ(system, port):
        port[1].aggregator = 2
    bond().publish(differ)
    assert check(proc()) == (1, "WARNING: slaves are in aggregators 1, 2")


def test_proc_of_all_modes(bond, proc):
    made = bond(X.MODE_BALANCE_RR)
    for mode, words in ((X.MODE_BALANCE_RR, "load balancing (round-robin)"),
                        (X.MODE_BALANCE_XOR, "load balancing (xor)"),
                        (X.MODE_BROADCAST, "fault-tolerance (broadcast)"),
                        (X.MODE_ACTIVE_BACKUP, "fault-tolerance (active-backup)")):
        made.bond.mode = mode
        assert proc().read_text().splitlines()[2] == f"Bonding Mode: {words}"
    made.bond.fail_over_mac = X.FAIL_OVER_MAC_FOLLOW
    fill(made.bond.primary, b"eth1")
    made.bond.active_slot, made.table.selection = 1, X.SELECT_ACTIVE
    assert proc().read_text().splitlines()[2:5] == [
        "Bonding Mode: fault-tolerance (active-backup) (fail_over_mac follow)",
        "Primary Slave: eth1 (primary_reselect always)", "Currently Active Slave: eth1"]
    fill(made.bond.primary, b"eth7")  # not there
    assert "Primary Slave: None\n" in proc().read_text()


def test_proc_of_probes(bond, proc):
    made = bond(X.MODE_ACTIVE_BACKUP)
    made.bond.arp_interval_ms = 500
    for at, address in enumerate((b"\n\0\0\x09", b"\n\0\0\x08")):
        made.bond.arp_ip_target[at] = int.from_bytes(address, "little")
    assert ("ARP Polling Interval (ms): 500\nARP Missed Max: 2\n"
            "ARP IP target/s (n.n.n.n form): 10.0.0.9, 10.0.0.8\n"
            "NS IPv6 target/s (xx::xx form):\n") in proc().read_text()


def test_proc_without_a_partner(bond, proc):
    def silent(system, port):
        system.active_aggregator = 0
        for each in (port[0], port[1]):
            each.aggregator = 0
            fill(each.partner.system, bytes(6))
    bond().publish(silent)
    text = proc().read_text()
    assert "bond bond0 has no active aggregator\n" in text
    assert text.count("Aggregator ID: N/A\n") == 2 and "details" not in text


def test_proc_has_no_json_and_no_words_for_another_version(bond, bondctl):
    made = bond()
    bondctl("-j", "show", "--proc", status=2)
    made.bond.abi_version = 1000
    done = bondctl("show", "--proc", "bond0", status=1)
    assert done.stdout == "" and "1000" in done.stderr


def test_values_in_sys(bond, net):
    made = bond()
    made.settings.xmit_hash_policy, made.slaves[1].queue_id = X.POLICY_LAYER34, 7
    fill(made.slaves[1].perm_mac, mac_bytes("02:00:5e:00:00:77"))
    assert net("bonding_masters") == "bond0\n"
    for name, value in (("bond0/bonding/slaves", "eth0 eth1\n"),
                        ("bond0/bonding/xmit_hash_policy", "layer3+4 1\n"),
                        ("bond0/bonding/queue_id", "eth0:0 eth1:7\n"),
                        ("bond0/bonding/ad_partner_mac", "02:00:5e:20:00:00\n"),
                        ("bond0/bonding/active_slave", ""), ("bond0/bonding/use_carrier", "1\n"),
                        ("bond0/lower_eth1/bonding_slave/perm_hwaddr", "02:00:5e:00:00:77\n"),
                        ("eth1/bonding_slave/ad_actor_oper_port_state", "61\n"),
                        ("eth1/master/bonding/mode", "802.3ad 4\n")):
        assert net(name, write=False) == value, name


def test_the_devices_themselves(bond, net):
    """What check_linux_bonding reads beside the directories of bonding, and others like it do."""
    made = bond(X.MODE_ACTIVE_BACKUP)
    made.monitors[1].works = 0
    made.slaves[1].link = X.LINK_DOWN
    fill(made.slaves[0].mac, mac_bytes("02:00:5e:10:00:00"))
    for name, value in (("bond0/operstate", "up"), ("bond0/lower_eth0/operstate", "up"),
                        ("bond0/lower_eth1/operstate", "down"), ("eth0/carrier", "1"),
                        ("eth1/carrier", "0"), ("eth0/speed", "1000"), ("eth1/speed", "-1"),
                        ("eth0/duplex", "full"), ("eth1/duplex", "unknown"),
                        ("eth0/address", "02:00:5e:10:00:00"), ("bond0/mtu", "1500")):
        assert net(name) == value + "\n", name
    made.bond.carrier = 0
    assert net("bond0/operstate") == "down\n"


def test_a_link_that_another_monitor_takes_down_has_carrier(bond, net):
    made = bond(X.MODE_ACTIVE_BACKUP)
    made.slaves[1].link = X.LINK_DOWN
    made.monitors[1].spoken |= 1 << X.MONITOR_ARP
    assert net("eth1/operstate") == "up\n"
    assert net("eth1/bonding_slave/mii_status") == "down\n"


def test_a_bond_that_is_administratively_down_is_not_up(bond, bpf_dir, tmp_path):
    bond(X.MODE_ACTIVE_BACKUP)
    script = ("ip link add bond0 address 02:00:5e:10:00:00 type veth peer name port\n"
              'exec "$@"')
    subprocess.run(["unshare", "--net", "sh", "-ec", script, "sh", BONDCTL, "--run-dir", tmp_path,
                    "--bpf-dir", bpf_dir, "sysfs-tree", tmp_path / "sys"], check=True, timeout=60)
    assert (tmp_path / "sys/class/net/bond0/operstate").read_text() == "down\n"


def test_no_bonds_are_an_empty_list(bpf_dir, net):
    assert net("bonding_masters") == ""


def test_the_tree_follows(bond, net, tmp_path):
    made = bond(X.MODE_BALANCE_XOR)
    assert net("bond0/bonding/slaves") == "eth0 eth1\n"
    made.slaves[1].state = 0
    assert net("bond0/bonding/slaves") == "eth0\n"
    assert not (tmp_path / "sys/class/net/eth1").exists()
    assert sorted(tmp_path.glob("sys*")) == [tmp_path / "sys"]
    assert (tmp_path / "sys").stat().st_mode & 0o777 == 0o755


def test_a_bond_that_cannot_be_read_is_left_out(bond, bpf_dir, bondctl, net, tmp_path):
    """One line and the exit status say so; the others are written."""
    bond().bond.abi_version = 1000
    Pins(bpf_dir, mode=X.MODE_BALANCE_XOR, name="bond1").begin(X.MODE_BALANCE_XOR)
    done = bondctl("sysfs-tree", tmp_path / "sys", status=1)
    assert "bond0" in done.stderr and done.stderr.count("\n") == 1
    assert net("bonding_masters", write=False) == "bond1\n"
    assert not (tmp_path / "sys/class/net/bond0").exists()


def tree(path):
    return sorted(str(each) for each in path.rglob("*"))


def test_what_others_have_made_is_not_touched(bond, bondctl, tmp_path):
    bond()
    own = tmp_path / "own"
    own.mkdir()
    bondctl("sysfs-tree", own)  # an empty one may be taken
    assert (own / MARK).exists()
    (own / MARK).unlink()
    before = tree(own)
    assert "was not made by sysfs-tree" in bondctl("sysfs-tree", own, status=1).stderr
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(own)
    for name in ("file", "link", "none/below"):
        assert bondctl("sysfs-tree", tmp_path / name, status=1).stderr.count("\n") == 1
    shutil.chown(own, "nobody")
    (own / MARK).write_text("")
    assert "another user" in bondctl("sysfs-tree", own, status=1).stderr
    assert tree(own) == sorted([*before, str(own / MARK)])
    bondctl("sysfs-tree", ".", status=1, cwd=tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {"bpf", "own", "file", "link"}


def test_many_at_once(bond, bpf_dir, tmp_path):
    bond()
    for _ in range(6):
        calls = [subprocess.Popen([BONDCTL, "--run-dir", tmp_path, "--bpf-dir", bpf_dir,
                                   "sysfs-tree", tmp_path / "sys"]) for _ in range(8)]
        assert [call.wait(60) for call in calls] == [0] * 8
        assert list(tmp_path.glob("sys*")) == [tmp_path / "sys"]
        shutil.rmtree(tmp_path / "sys")


def test_readers_see_no_half_tree(bond, bondctl, tmp_path):
    """One looks as fast as it can, while the tree is written anew and anew."""
    bond()
    top = tmp_path / "sys"
    bondctl("sysfs-tree", top)
    bad, done = [], threading.Event()

    def look():
        while not done.is_set():
            root = os.open(top, os.O_RDONLY)
            try:
                inside = f"/proc/self/fd/{root}/class/net"
                found = os.listdir(inside)
                # 2 slaves, the bond and the list; or this tree has just been replaced
                if len(found) != 4 and os.stat(top).st_ino == os.fstat(root).st_ino:
                    bad.append(found)
            except FileNotFoundError:
                if os.stat(top).st_ino == os.fstat(root).st_ino:
                    bad.append("missing")
            finally:
                os.close(root)
            os.sched_yield()
    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(8):
        bondctl("sysfs-tree", top)
    done.set()
    reader.join()
    assert not bad


@pytest.mark.skipif(not shutil.which(EXPORTER), reason=f"no {EXPORTER}")
def test_node_exporter(bond, bondctl, tmp_path):
    made = bond(slaves=3)
    made.slaves[2].link = X.LINK_DOWN
    bondctl("sysfs-tree", tmp_path / "sys")
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % port.getsockname()[1]
    child = subprocess.Popen([EXPORTER, "--collector.disable-defaults", "--collector.bonding",
                              f"--path.sysfs={tmp_path}/sys", f"--web.listen-address={address}"],
                             stderr=subprocess.DEVNULL)

    def metrics():
        try:
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
                text = answer.read().decode()
        except OSError:
            return None
        return dict(re.findall(r"^(node_bonding\w+\{.*\}) (\d+)$", text, re.M))
    try:
        assert wait_for(metrics, "node_exporter to answer", 15) == {
            'node_bonding_slaves{master="bond0"}': "3", 'node_bonding_active{master="bond0"}': "2"}
    finally:
        child.kill()
        child.wait()
