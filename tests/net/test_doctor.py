"""doctor on real devices: nothing above a note on bonds that work, and what is wrong with devices
is found. tests/cli/test_doctor.py has what takes maps only.
"""
import contextlib
import json
import subprocess

import pytest

from frames import mac_bytes
from lab import BUILD, is_team
from lacp import AGGREGATION, SYNC, TIMEOUT, lacpdu, pdu_info, ports
from namespace import run
from puppet import ATTACHED, Partner
from traffic import Stream, Talks, pings
from waiting import wait_for

MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad"]
# The checks that watch.
TRAFFIC = ("unanswered", "refused", "loss", "slow", "far-mtu", "far-mac", "channel",
           "lacp-unused", "other-xdp")
WATCH = 3


def found(host, name, *words):
    """[(severity, slave)] of one check."""
    return [(each["severity"], each["slave"]) for each in host.doctor(*words)
            if each["check"] == name]


def says(host, name, words, bond="bond0", seconds=0):
    return any(each["check"] == name and words in each["finding"]
               for each in host.doctor(bond, seconds=seconds))


def wait_found(host, name, *expected):
    wait_for(lambda: found(host, name) == list(expected), f"{name} to find {expected}")


def test_bonds_that_work(lab):
    """One of each mode. Saved, doctor has nothing above a note to say of them, and no note either
    that a user could do something about.
    """
    near, far = lab.host("a"), lab.host("b")
    links = lab.links(near, far, 2 * len(MODES))
    for number, mode in enumerate(MODES):
        pair = links[2 * number:2 * number + 2]
        for host, end in ((near, 1), (far, 2)):
            words = ["mac_policy", "filter"] if mode == "active-backup" else []
            host.ctl("create", f"bond{number}", "mode", mode, *words)
            host.ctl("add-slave", f"bond{number}", *pair)
            host.ip("addr", "add", f"10.0.{number}.{end}/24", "dev", f"bond{number}")
            host.ip("link", "set", f"bond{number}", "up")
    for number in range(len(MODES)):
        for host in (near, far):
            host.wait_slaves(*links[2 * number:2 * number + 2], bond=f"bond{number}")
        near.wait_ping(f"10.0.{number}.2")
    for number in range(len(MODES)):
        near.ctl("save", f"bond{number}")
    left = [each for each in near.doctor()
            if each["check"] not in ("kernel", "carrier-source", "loop")]
    assert left == []
    assert {each["severity"] for each in near.doctor()} <= {"note"}
    away = far.run(*near.ctl_command("-j", "doctor"), check=False)
    assert {each["check"] for each in json.loads(away.stdout)} >= {"device"}


@contextlib.contextmanager
def other_device(host):
    host.ip("link", "add", "x0", "type", "veth", "peer", "name", "x1")
    for dev in ("x0", "x1"):
        host.ip("link", "set", dev, "up")
    yield
    host.ip("link", "del", "x0")


def look_for_duplicate_mac(host):
    address = host.link("bond0")["address"]
    host.ip("link", "add", "br0", "type", "bridge")
    host.ip("link", "set", "br0", "address", address, "up")
    host.ip("link", "set", "bond0", "master", "br0")
    assert found(host, "mac") == []  # it is above the bond
    host.ip("link", "set", "bond0", "nomaster")
    assert found(host, "mac") == [("warning", None)]
    host.ip("link", "del", "br0")
    host.ctl("create", "bond1")
    host.ip("link", "set", "bond1", "address", address, "up")
    assert ("bad", None) in found(host, "mac", "bond0")
    host.ctl("delete", "bond1")
    assert found(host, "mac") == []


def look_for_strict_rp_filter(host):
    host.run("sysctl", "-qw", "net.ipv4.conf.bond0.rp_filter=1")
    assert found(host, "rp_filter") == []
    host.ip("addr", "add", "10.0.0.77/24", "dev", "x0")
    assert found(host, "rp_filter") == [("warning", None)]
    host.run("sysctl", "-qw", "net.ipv4.conf.bond0.rp_filter=2")
    assert found(host, "rp_filter") == []
    host.ip("addr", "del", "10.0.0.77/24", "dev", "x0")


def look_for_arp_targets(host):
    host.ctl("set", "bond0", "arp_interval", "60000", "arp_ip_target", "10.0.0.2,192.0.2.55")
    assert says(host, "arp", "no route to ARP target 192.0.2.55") and \
        found(host, "arp") == [("warning", None), ("note", None)]
    assert says(host, "arp", "each slave must hear replies of its own")
    host.ip("route", "add", "192.0.2.55/32", "dev", "x0")
    assert says(host, "arp", "reached through x0")
    host.ctl("set", "bond0", "arp_interval", "0", "arp_ip_target", "none")


def look_for_path(host):
    host.ctl("set", "bond0", "path", "direct")
    assert found(host, "path") == []
    host.run("tc", "qdisc", "add", "dev", "bond0", "root", "pfifo")
    wait_for(lambda: says(host, "path", "root qdisc"), "doctor to see the qdisc")
    wait_for(lambda: "counted for now: it has a root qdisc" in host.ctl("show", "bond0"),
             "show to say the same")
    host.run("tc", "qdisc", "del", "dev", "bond0", "root")
    host.ctl("set", "bond0", "path", "counted")


def look_for_offloads(host):
    host.run("ethtool", "-K", "l0", "tso", "off")
    assert found(host, "offloads") == [("note", "l0")]
    host.run("ethtool", "-K", "l0", "tso", "on")


def look_for_bfd(host):
    host.ctl("set", "bond0", "bfd_interval", "300", "bfd_local", "10.0.0.1", "bfd_remote",
             "10.0.0.2")
    assert found(host, "bfd") == [("warning", None)]
    host.ctl("set", "bond0", "bfd_interval", "0")


def look_for_slave_set_down(host):
    host.ip("link", "set", "l0", "down")
    assert found(host, "link") == [("warning", "l0")]
    assert says(host, "link", "it is administratively down")
    host.ctl("set", "bond0", "updelay", "600000")
    host.ip("link", "set", "l0", "up")
    wait_found(host, "link", ("note", "l0"))
    host.ctl("set", "bond0", "updelay", "0")
    wait_found(host, "link")


def look_while_bondd_is_away(host):
    host.kill_bondd()
    if not is_team():  # which lets nobody change the MTU of a port
        host.ip("link", "set", "l0", "mtu", "1400")
        host.ip("link", "set", "l1", "mtu", "1600")
        assert found(host, "mtu") == [("bad", "l0"), ("note", "l1")]
    pin, other = (host.bpf_dir / "bond0" / name for name in ("prog_rx", "prog_port"))
    number = json.loads(run("bpftool", "-j", "prog", "show", "pinned", other).stdout)["id"]
    pin.unlink()
    run("bpftool", "prog", "pin", "id", number, pin)
    programs = found(host, "programs")
    assert programs == [("warning", "l0")] or host.slave("l0")["attached"] is None
    host.ip("link", "del", "l2")
    assert found(host, "device") == [("bad", "l2")]
    host.ip("link", "set", "bond0", "down")
    assert says(host, "carrier", "administratively down")
    host.ip("link", "del", "bond0")
    assert says(host, "device", "the device bond0 is gone")
    wait_for(lambda: "bondd is not running" in host.ctl_try("doctor", "--no-traffic").stdout,
             "bondd to be missed")


def test_what_is_wrong(pair):
    host = pair("balance-xor", links=3).near
    with other_device(host):
        for look in (look_for_duplicate_mac, look_for_strict_rp_filter, look_for_arp_targets,
                     look_for_path, look_for_offloads, look_for_bfd, look_for_slave_set_down):
            look(host)
    assert {each["severity"] for each in host.doctor()} == {"note"}
    look_while_bondd_is_away(host)


def test_crossed_cables(lab):
    """l1 and l2 are swapped at the far end."""
    near, far = lab.host("a"), lab.host("b")
    lab.links(near, far, 4)
    for host, first, second in ((near, "l0 l1", "l2 l3"), (far, "l0 l2", "l1 l3")):
        for bond, slaves in (("bond0", first), ("bond1", second)):
            host.ctl("create", bond, "mode", "802.3ad", "lacp_rate", "fast")
            host.ctl("add-slave", bond, *slaves.split())
            host.ip("link", "set", bond, "up")
    wait_for(lambda: all(port["partner_system"] for bond in ("bond0", "bond1")
                         for port in ports(near, bond).values()), "partners to be heard")
    wait_for(lambda: all(
        says(near, "lacp-partner", f"crossed cables: it leads to the partner of {other}", bond)
        for bond, other in (("bond0", "bond1"), ("bond1", "bond0"))), "doctor to see it")
    wait_for(lambda: len(found(near, "lacp-partner")) == 2, "one cable of each bond")
    for host, bond, gone in ((far, "bond0", "l2"), (far, "bond1", "l1")):
        host.ctl("del-slave", bond, gone)
    far.ctl("add-slave", "bond0", "l1")
    far.ctl("add-slave", "bond1", "l2")
    wait_for(lambda: not found(near, "lacp-partner"), "doctor to see that it is mended", 10)


def test_what_a_partner_says(lone):
    """Of itself, on the wire."""
    host = lone(links=3)
    partner = Partner(host)
    partner.speak("l0", ATTACHED)
    partner.speak("l1", ATTACHED & ~AGGREGATION)
    partner.speak("l2", ATTACHED | TIMEOUT, system="02:00:00:00:00:77")
    wait_found(host, "lacp-individual", ("bad", "l1"))
    wait_found(host, "lacp-partner", ("warning", "l2"))
    partner.speak("l0", ATTACHED | SYNC | TIMEOUT)
    host.ctl("set", "bond0", "lacp_hold", "off")
    wait_for(lambda: ("note", "l0") in found(host, "lacp-rate"), "the rates to differ")
    partner.close()


def watched(host, seconds=WATCH):
    """[(severity, slave, check)] of what it saw while it watched the traffic."""
    return [(each["severity"], each["slave"], each["check"])
            for each in host.doctor("bond0", seconds=seconds) if each["check"] in TRAFFIC]


def watched_until(host, is_told):
    """What the first look found that is_told() is true of. Each is longer than the one before: on a
    busy machine there may be too few packets in the time of one.
    """
    for seconds in (6, 12, 24, 48):
        found = watched(host, seconds)
        if is_told(found):
            return found
    raise AssertionError(found)


@pytest.mark.parametrize("mode", [*MODES, "balance-tlb", "balance-alb"])
def test_traffic_that_is_well(pair, mode):
    """Both ways, one way, and none. Of 802.3ad also with a standby port."""
    far = {"mode": "active-backup", "all_slaves_active": "on"} \
        if mode in ("balance-tlb", "balance-alb") else {}
    options = {"xmit_hash_policy": "layer3+4"} if mode in ("balance-xor", "802.3ad") else {}
    if mode == "802.3ad":
        options["max_links"] = 2
    made = pair(mode, links=3, far=far, **options)
    made.near.wait_ping("10.0.0.2")
    assert watched(made.near, 1) == []
    with Talks(made.near, made.far):
        stream = Stream(made.near, made.far, rate=500, flows=8)
        stream.flow_on(100)
        for host in (made.near, made.far):
            assert watched(host) == [], mode
        stream.finish()


def test_one_way_traffic_is_well(pair):
    """Nobody answers, and nobody needs to."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    made.near.wait_ping("10.0.0.2")
    stream = Stream(made.near, made.far, rate=500, flows=16)
    stream.flow_on(100)
    for host in (made.near, made.far):
        assert watched(host) == []
    stream.finish()


@contextlib.contextmanager
def discarding(host, dev, how="xdpdrv"):
    """An XDP program that drops all IPv4."""
    program = host.bpf_dir / "discard"
    run("bpftool", "prog", "load", BUILD / "tools/discard.bpf.o", program)
    host.run("bpftool", "net", "attach", how, "pinned", program, "dev", dev)
    yield
    host.run("bpftool", "net", "detach", how, "dev", dev)
    program.unlink()


def test_a_far_end_that_drops(pair):
    """What one link carries is lost at its far end: the other end is told which link, and this one
    which program.
    """
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    with Talks(made.near, made.far, count=32), discarding(made.far, "l1"):
        assert watched(made.near) == [("bad", "l1", "unanswered")]
        assert ("warning", "l1", "other-xdp") in watched(made.far)
        # by now TCP hardly sends again; of UDP, which does, about half is asked
        lines = made.near.ctl_try("doctor", "bond0", "--seconds", WATCH).stdout.splitlines()
        sent, _, dropped, answered, _, asked = lines[-1].split()[1:]
        assert int(sent) and (dropped, answered) == ("0", "0") and int(asked) >= 3, lines
        made.near.ctl("set-slave", "bond0", "l1", "drain", "on")
        assert watched(made.near) == []
        made.near.ctl("set-slave", "bond0", "l1", "drain", "off")
    with discarding(made.far, "l0", "xdpgeneric"):
        assert found(made.far, "other-xdp") == [("note", "l0")]
    assert watched(made.near, 1) == []


def test_a_far_end_that_drops_what_takes_turns(pair):
    made = pair("balance-rr", links=2)
    with discarding(made.far, "l1"):
        pings(made.near)
        assert watched(made.near) == [("bad", "l1", "unanswered")]


def test_the_only_path_leads_nowhere(pair):
    """The active slave's. The others hear what the switch floods."""
    made = pair("active-backup", links=2)
    made.near.wait_ping("10.0.0.2")
    active = made.near.show()["active_slave"]
    with discarding(made.far, active), Talks(made.near, made.far, answered=False):
        assert watched(made.near, 4) == [("warning", active, "unanswered")]


def bond_by_name(host, names, number, **options):
    host.ctl("create", "bond0", *[word for option in options.items() for word in option])
    host.ctl("add-slave", "bond0", *names)
    host.ip("link", "set", "bond0", "up")
    host.ip("addr", "add", f"10.0.0.{number}/24", "dev", "bond0")


@pytest.mark.parametrize("mode", ["balance-xor", "balance-rr"])
def test_modes_that_differ(lab, mode):
    """One end sends over both links, the other receives over one."""
    near, far = lab.host("a"), lab.host("b")
    names = lab.links(near, far, 2)
    bond_by_name(near, names, 1, mode=mode, xmit_hash_policy="layer3+4")
    bond_by_name(far, names, 2, mode="active-backup")
    for host in (near, far):
        host.wait_slaves(*names)
    backup = "l1" if far.show()["active_slave"] == "l0" else "l0"
    for host, other in ((near, far), (far, near)):  # or it depends on luck who finds whom
        host.ip("neigh", "replace", f"10.0.0.{2 if host is near else 1}", "lladdr",
                other.link("bond0")["address"], "dev", "bond0")
    pings(near)
    with Talks(near, far, count=32, answered=False):
        assert watched(far) == [("bad", backup, "refused")]
        assert watched(near) == [("bad", backup, "unanswered")]


def test_a_link_that_works_one_way(pair):
    """What the far end sends by one link is lost."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    with Talks(made.near, made.far, count=40):  # or chance makes one link look better
        made.far.run("tc", "qdisc", "add", "dev", "l1", "clsact", check=False)
        made.far.run("tc", "filter", "add", "dev", "l1", "egress", "bpf", "da", "obj",
                     BUILD / "tools/filters.bpf.o", "program", "silent")
        assert watched(made.near) == [("warning", "l1", "unanswered")]


SENDS = """
import socket, sys, time
frames = [bytes.fromhex(each) for each in sys.argv[2:]]
made = []
for dev in sys.argv[1].split():
    made.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    made[-1].bind((dev, 0))
print("ready", flush=True)
while True:
    for frame in frames:
        for each in made: each.send(frame)
        time.sleep(0.02)  # the pace
"""


def sends(namespace, frames, *devices):
    """The frames by each device, until it is ended."""
    made = namespace.spawn("python3", "-c", SENDS, " ".join(devices),
                           *[frame.hex() for frame in frames], stdout=subprocess.PIPE)
    assert made.stdout.readline() == b"ready\n"
    return made


def test_a_link_that_loses_a_part(pair):
    """Of what the far end sends by it: each end sees it, and names this link alone."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    with Talks(made.near, made.far, count=32):
        made.far.run("tc", "qdisc", "add", "dev", "l1", "clsact", check=False)
        made.far.run("tc", "filter", "add", "dev", "l1", "egress", "bpf", "da", "obj",
                     BUILD / "tools/filters.bpf.o", "program", "lossy")
        for host in (made.far, made.near):
            found = watched_until(host, lambda found: ("warning", "l1", "loss") in found)
            # on a busy machine TCP may wait so long for what is lost that the link seems slow, too
            assert set(found) <= {("warning", "l1", "loss"), ("warning", "l1", "slow")}


def test_a_link_that_is_slow(pair):
    """What the far end sends by it waits there: this link is named."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    made.far.run("tc", "qdisc", "add", "dev", "l1", "root", "tbf", "rate", "200kbit",
                 "burst", "2kb", "limit", "20kb")
    with Talks(made.near, made.far, count=32):
        # at first TCP sends again what only waits there, and doctor takes it for lost
        watched_until(made.near, lambda found: ("warning", "l1", "slow") in found)


def test_a_far_end_with_a_smaller_mtu(pair):
    """Short packets arrive, long ones do not."""
    made = pair("balance-rr", links=2)
    made.near.wait_ping("10.0.0.2")
    for size in (10, 1400):
        pings(made.near, size=size)
    assert watched(made.near) == []
    made.far.ip("link", "set", "bond0", "mtu", "1200")
    wait_for(lambda: all(made.far.link(link)["mtu"] == 1200 for link in made.links),
             "its slaves to take the MTU")
    wait_for(lambda: watched(made.near) == [("warning", None, "far-mtu")],
             "doctor to see it of both slaves", 30)


def test_a_far_end_with_the_address_of_the_bond(pair):
    """It asks by ARP, and then sends."""
    made = pair("active-backup", links=2)
    made.near.wait_ping("10.0.0.2")
    active = made.near.show()["active_slave"]
    made.far.ip("link", "set", "bond0", "address", made.near.link("bond0")["address"])
    made.far.ip("neigh", "flush", "dev", "bond0")
    pings(made.far, to="10.0.0.99")
    assert watched(made.near) == [("bad", active, "far-mac")]
    assert says(made.near, "far-mac", "with the IP address 10.0.0.2", seconds=WATCH)


@pytest.mark.parametrize("mode", ["balance-rr", "active-backup"])
def test_a_switch_without_a_channel(lab, mode):
    """It floods what the bond broadcasts, also back to the bond."""
    near, far = lab.host("a"), lab.namespace("b")
    links = lab.links(near, far, 2)
    far.ip("link", "add", "sw", "type", "bridge", "forward_delay", "0")
    for dev in ("sw", *links):
        far.ip("link", "set", dev, "up", *(["master", "sw"] if dev in links else []))
    near.ctl("create", "bond0", "mode", mode)
    near.ctl("add-slave", "bond0", *links)
    near.ip("link", "set", "bond0", "up")
    near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    near.wait_slaves(*links)
    near.spawn("ping", "-q", "10.0.0.2")  # nobody answers its ARP requests
    if mode == "balance-rr":
        watched_until(near, lambda found: "channel" in [check for _, _, check in found])
    else:
        assert watched(near, 6) == [("warning", near.show()["active_slave"], "unanswered")]


def test_what_is_true_of_several_slaves_is_said_once(lab):
    near, far = lab.host("a"), lab.namespace("b")
    links = lab.links(near, far, 3)
    for link in links:
        far.ip("link", "set", link, "up")
    near.ctl("create", "bond0", "mode", "802.3ad", "lacp_fallback", "none")
    near.ctl("add-slave", "bond0", *links)
    near.ip("link", "set", "bond0", "up")
    wait_for(lambda: len(found(near, "lacp-silent")) == 3, "doctor to miss the partner")
    lines = [line for line in near.ctl_try("doctor", "--no-traffic").stdout.splitlines()
             if "[lacp-silent]" in line or " l0" in line]
    assert len(lines) == 1 and f"bond0 {', '.join(links)}: " in lines[0]


@pytest.mark.parametrize("mode,severity", [("balance-xor", "warning"), ("active-backup", "note")])
def test_a_far_end_that_speaks_lacp(pair, mode, severity):
    made = pair(mode, links=2)
    frame = lacpdu(pdu_info("02:00:00:00:00:77", 1, state=ATTACHED))
    sends(made.far, [frame], "l1")
    assert watched(made.near) == [(severity, "l1", "lacp-unused")]


def test_frames_that_a_switch_floods(pair):
    """It sends them by all links. By a backup alone they are lost."""
    made = pair("active-backup", links=2)
    made.near.wait_ping("10.0.0.2")
    active = made.near.show()["active_slave"]
    backup = "l1" if active == "l0" else "l0"
    head = mac_bytes(made.near.link("bond0")["address"]) + bytes.fromhex("02005e100001" "0800")
    frames = [head + bytes([0x45, 0, 0, 46, number, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1,
                            1, 2, 3, 4]) + bytes(22) for number in range(100)]

    sender = sends(made.far, frames, active, backup)
    assert watched(made.near) == []
    sender.kill()
    sender = sends(made.far, frames, backup)
    assert watched(made.near) == [("bad", backup, "refused")]
    sender.kill()


def test_a_bondd_that_stands_still(pair):
    """Between two turns, so that it seems to have nothing to do."""
    made = pair("active-backup", links=2)

    def seems_idle():
        made.near.freeze_bondd()
        try:
            return says(made.near, "bondd", "bondd does not answer, though it is there")
        finally:
            made.near.thaw_bondd()
    wait_for(seems_idle, "bondd to be stopped between two turns", 60)
    wait_found(made.near, "bondd")


def test_a_full_run_dir(lone):
    host = lone(bondd=False)
    host.run_dir.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=8k", "none", host.run_dir)
    try:
        with contextlib.suppress(OSError):
            (host.run_dir / "junk").write_bytes(bytes(65536))
        host.start_bondd()
        host.ctl("create", "bond0")
        assert found(host, "bondd") == [("warning", None)]
        (host.run_dir / "junk").unlink()
        assert not found(host, "bondd")
        host.stop_bondd()
    finally:
        run("umount", "-l", host.run_dir)
