# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor on maps made by hand: each test does one thing wrong and waits to be told of it. What
takes devices is in tests/net/test_doctor.py, what this machine cannot have in
tests/unit/test_doctor.c.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time

import pytest

from built import ROOT
from clock import impatient, patient
from frames import mac_bytes
from pins import HASH, L, NO_PREALLOC, X, Pins, fill, libbpf
from schema import check
from test_calls import BONDCTL
from waiting import wait_for

OTHER = "02:00:5e:20:00:99"
TEAM = "kernel/drivers/net/team/team_mode_loadbalance"


class Doctor:
    """Calls doctor, and holds its exit status and its JSON against what it found."""

    def __init__(self, bpf_dir, run_dir):
        self.directories = ["--run-dir", str(run_dir), "--bpf-dir", str(bpf_dir), "--config-dir",
                            str(run_dir)]
        self.between = None

    def call(self, *words, **kwargs):
        """It looks again at what is bad, after a while in which nothing changes here, or what the
        test has between() do.
        """
        command = [BONDCTL, *self.directories, "doctor", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        if not self.between:
            return subprocess.run(impatient(*command), check=False, timeout=60, **pipes, **kwargs)
        with subprocess.Popen(patient(*command), **pipes, **kwargs) as child:
            wait_for(lambda: "nanosleep" in pathlib.Path(f"/proc/{child.pid}/wchan").read_text(),
                     "doctor to have looked once")
            self.between()
            out, err = child.communicate(timeout=60)
        return subprocess.CompletedProcess(command, child.returncode, out, err)

    def all(self, *words):
        done = self.call("-j", *words)
        assert done.stderr == "", done.stderr
        found = check("doctor", json.loads(done.stdout))
        worst = {each["severity"] for each in found}
        expected = 5 if "bad" in worst else 4 if "warning" in worst else 0
        assert done.returncode == expected
        return found

    def found(self, name, *words):
        """[(severity, slave, finding)] of one check."""
        return [(each["severity"], each["slave"], each["finding"])
                for each in self.all(*words) if each["check"] == name]

    def advice(self, name):
        return [each["advice"] for each in self.all() if each["check"] == name]


@pytest.fixture
def doctor(bpf_dir, tmp_path):
    return Doctor(bpf_dir, tmp_path)


def answer(listener):
    """To all requests, until nobody can connect any more."""
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            with client:
                if client.recv(1000):
                    client.sendall(b'{"ok": true}\n')


@pytest.fixture
def bondd(tmp_path):
    """What answers at bondd's socket."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "bondd.sock"))
        listener.listen(100)
        thread = threading.Thread(target=answer, args=[listener])
        thread.start()
        yield listener
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.fixture
def pins(bpf_dir, bondd):
    """A bond in 802.3ad, with a bondd that looks after it."""
    made = Pins(bpf_dir, slaves=3)
    made.bond.carrier = 1
    made.bond.hook = X.HOOK_CLSACT
    made.table.heartbeat_ns = time.monotonic_ns() + 3600 * 10**9
    made.failover.carrier_source = X.CARRIER_FENTRY
    made.beat()
    made.publish()
    return made


@pytest.fixture
def plain(pins):
    pins.bond.mode, pins.table.selection = X.MODE_BALANCE_XOR, X.SELECT_HASH
    return pins


def test_these_maps_are_healthy(pins, doctor):
    """But for what hand-made maps lack, so that what others find here is what they did."""
    assert {each["check"] for each in doctor.all()} - {"kernel"} == \
        {"device", "programs", "config", "lacp-pdus"}


def test_the_list_has_no_name_twice_and_needs_nothing(doctor):
    done = doctor.call("-j", "--list")
    checks = check("doctor-list", json.loads(done.stdout))
    names = [each["check"] for each in checks]
    assert done.returncode == 0 and len(set(names)) == len(names)
    assert [line.split()[0] for line in doctor.call("--list").stdout.splitlines()] == names
    assert doctor.call("--list", "bond0").returncode == 2


def test_text_has_a_line_of_finding_and_one_of_advice(pins, doctor):
    pins.bond.min_links = 7
    done = doctor.call("bond0")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("bad      bond0: min_links is 7") and \
        lines[0].endswith("[min_links]")
    assert lines[1].startswith(" " * 9 + "bondctl set bond0 min_links 3")
    assert len(lines) == 2 * len(doctor.all("bond0"))


def test_names_with_sequences_for_terminals(pins, doctor):
    fill(pins.slaves[0].name, b"e\x1b[2J")
    pins.slaves[0].duplex = 0
    assert doctor.found("speed")[0][1] == "e?[2J" and "\x1b" not in doctor.call().stdout


def test_bad_calls(pins, doctor):
    assert doctor.call("bond7").returncode == 1 and "no such bond" in doctor.call("bond7").stderr
    assert doctor.call("bond0", "bond1").returncode == 2
    assert doctor.call("../etc").returncode == 2


def test_who_may_not_read_maps_gets_one_line(pins, doctor, bpf_dir, tmp_path):
    for path in (bpf_dir, bpf_dir / "bond0", tmp_path):
        path.chmod(0o755)
    for path in tmp_path.parents:
        if path.stat().st_uid == os.getuid() and len(path.parts) > 2:
            path.chmod(path.stat().st_mode | 0o055)
    done = doctor.call(user="nobody", group="nogroup", extra_groups=[])
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    assert "root" in done.stderr


def test_no_bonds(doctor, tmp_path):
    found = [each for each in doctor.all() if each["check"] == "bondd"]
    assert [each["severity"] for each in found] == ["note"]


def test_no_bpf_file_system(tmp_path):
    lost = Doctor(tmp_path / "none", tmp_path)
    assert lost.found("bpf")[0][0] == "bad"


def test_bondd_away(pins, doctor, bondd, tmp_path):
    assert doctor.found("bondd") == []
    bondd.shutdown(socket.SHUT_RDWR)
    assert doctor.found("bondd")[0][:2] == ("warning", None)  # it beats elsewhere
    pins.table.heartbeat_ns = 1
    severity, _, finding = doctor.found("bondd")[0]
    assert severity == "bad" and "is not running" in finding


def test_bondd_that_does_not_look_after_the_bond(pins, doctor):
    pins.table.heartbeat_ns = 1
    severity, _, finding = doctor.found("bondd")[0]
    assert severity == "bad" and "does not manage bond0" in finding


def test_other_versions_and_damaged_pins(pins, doctor):
    pins.bond.abi_version = X.ABI_VERSION + 1
    severity, _, finding = doctor.found("pins")[0]
    assert severity == "bad" and "ABI" in finding
    pins.bond.magic = 0
    assert doctor.found("pins")[0][0] == "bad"


def test_maps_of_an_earlier_build(pins, doctor):
    (pins.directory / "monitors").unlink()
    assert "earlier version" in doctor.found("programs")[0][2]


def test_programs_that_were_taken_off(pins, doctor):
    pins.bond.hook = X.HOOK_TCX
    assert [each[:2] for each in doctor.found("attached")] == \
        [("bad", None), ("bad", "eth0"), ("bad", "eth1"), ("bad", "eth2")]


@pytest.mark.parametrize("source, severities", [(X.CARRIER_POLL, ["warning"]),
                                                (X.CARRIER_TRACEPOINT, ["note"]),
                                                (X.CARRIER_FENTRY, [])])
def test_carrier_source(pins, doctor, source, severities):
    pins.failover.carrier_source = source
    assert [each[0] for each in doctor.found("carrier-source")] == severities
    pins.table.heartbeat_ns = 1  # nobody watches
    assert doctor.found("carrier-source") == []


def test_bonds_in_the_order_of_their_names_and_the_host_once(plain, doctor, bpf_dir):
    for name in ("bond10", "bond2"):
        made = Pins(bpf_dir, slaves=2, mode=X.MODE_BALANCE_XOR, name=name)
        made.bond.min_links = 7
        made.table.heartbeat_ns = plain.table.heartbeat_ns
        made.failover.carrier_source = X.CARRIER_TRACEPOINT
    plain.failover.carrier_source = X.CARRIER_TRACEPOINT
    found = doctor.all()
    assert [each["bond"] for each in found if each["check"] == "min_links"] == ["bond2", "bond10"]
    assert [each["bond"] for each in found if each["check"] == "config"] == \
        ["bond0", "bond2", "bond10"]
    assert [each["bond"] for each in found if each["check"] == "carrier-source"] == [None]


def test_path(plain, doctor):
    plain.settings.path = X.PATH_DIRECT
    assert doctor.found("path") == []
    plain.table.flags |= 1  # XBOND_F_FORCE_COUNTED
    assert doctor.found("path")[0][0] == "note"


def test_xdp(pins, doctor):
    pins.bond.rx_hook = X.RX_XDP
    pins.slaves[0].rx_hook = pins.slaves[2].rx_hook = X.RX_XDP
    pins.slaves[1].before.flags = 512  # XBOND_SLAVE_XDP_REFUSED
    (severity, slave, finding), = doctor.found("xdp")
    assert (severity, slave) == ("warning", "eth1") and "refused" in finding


def test_carrier(pins, doctor):
    pins.bond.carrier = 0
    assert doctor.found("carrier")[0][0] == "bad"
    for slot in range(3):
        pins.slaves[slot].state = X.SLOT_FREE
    assert "no slaves" in doctor.found("carrier")[0][2]


def test_devices_of_another_namespace(pins, doctor):
    """Nothing else is said of devices that cannot be seen."""
    assert doctor.found("device")[0][0] == "warning"
    assert "namespace" in doctor.found("device")[0][2]


def test_clients(plain, doctor):
    plain.bond.mode = X.MODE_BALANCE_ALB
    assert doctor.found("clients") == []
    fd = plain.create("clients", HASH, 32, X.MAX_CLIENTS, NO_PREALLOC, key_size=40)
    many = X.MAX_CLIENTS // 8 * 7

    def add(first, end):
        for number in range(first, end):
            assert libbpf.bpf_map_update_elem(fd, number.to_bytes(40, "big"), bytes(32),
                                              ctypes.c_uint64(0)) == 0

    add(0, many)
    assert doctor.found("clients") == []
    add(many, many + 1)
    [(severity, slave, finding)] = doctor.found("clients")
    assert (severity, slave) == ("warning", None) and f"{many + 1} of 4096" in finding
    plain.bond.mode = X.MODE_BALANCE_TLB
    assert doctor.found("clients") == []


def test_link(plain, doctor):
    plain.slaves[1].link, plain.slaves[1].link_failures = X.LINK_DOWN, 4
    plain.monitors[1].works = 0
    found = [each for each in doctor.all() if each["check"] == "link"]
    assert [(each["slave"], each["finding"]) for each in found] == \
        [("eth1", "it is not used: no carrier")]
    assert "4 times" in found[0]["advice"]


@pytest.mark.parametrize("monitor, words", [
    (X.MONITOR_CARRIER, "check cable"), (X.MONITOR_ARP, "targets"), (X.MONITOR_BFD, "BFD")])
def test_a_link_that_a_monitor_takes_down(plain, doctor, monitor, words):
    plain.slaves[1].link = X.LINK_DOWN
    plain.monitors[1].spoken |= 1 << monitor
    plain.monitors[1].works &= ~(1 << monitor)
    advice, = (each["advice"] for each in doctor.all() if each["check"] == "link")
    assert words in advice and advice.endswith("; its link has failed 0 times")


def test_hold_down(plain, doctor):
    plain.slaves[1].link = X.LINK_DOWN
    plain.monitors[1].spoken |= 1 << X.MONITOR_FLAPS
    hold = plain.quality[1].flaps.hold
    hold.level, hold.until_ns = 1, time.monotonic_ns() + 9 * 10**9
    assert doctor.found("link") == []
    (severity, slave, finding), = doctor.found("hold-down")
    assert (severity, slave) == ("warning", "eth1")
    assert finding.startswith("it is not used: it is held down because it flaps; it is tried again")


@pytest.mark.parametrize("monitor, words", [
    (X.MONITOR_FLAPS, "it is held down because it flaps"),
    (X.MONITOR_SILENCE, "it receives nothing"),
    (X.MONITOR_ERRORS, "it receives too many broken frames")])
def test_hold_down_of_slaves_in_use(plain, doctor, monitor, words):
    """Of all slaves, so they are in use; or of one, which carries what the others cannot."""
    for slot in range(3):
        plain.monitors[slot].spoken |= 1 << monitor
    assert doctor.found("hold-down") == [
        ("warning", f"eth{slot}", f"it is used although {words}: no other slave works")
        for slot in range(3)]
    assert doctor.found("link") == []
    for slot in (0, 1):
        plain.slaves[slot].link, plain.monitors[slot].works = X.LINK_DOWN, 0
        plain.monitors[slot].spoken = 1 << X.MONITOR_CARRIER
    assert [each[1:] for each in doctor.found("hold-down")] == \
        [("eth2", f"it is used although {words}: no other slave works")]
    assert [each[1] for each in doctor.found("link")] == ["eth0", "eth1"]


def test_a_hold_down_that_is_over(plain, doctor):
    """Its slave is on trial: what is left of the time is how long the next one would be."""
    hold = plain.quality[1].silence.hold
    hold.level, hold.until_ns = 1, time.monotonic_ns() + 9 * 10**9
    hold = plain.quality[1].flaps.hold
    hold.level, hold.until_ns = 1, time.monotonic_ns() + 9 * 10**9
    for monitor in (X.MONITOR_FLAPS, X.MONITOR_SILENCE):
        plain.monitors[1].spoken |= 1 << monitor
        plain.monitors[1].works |= 1 << monitor
    assert doctor.found("hold-down") == []


def test_what_is_bad_for_a_moment_is_not_told(plain, doctor):
    def mend():
        plain.bond.min_links = 0
    plain.bond.min_links = 7
    doctor.between = mend
    assert doctor.found("min_links") == []


def test_a_bond_that_is_deleted_meanwhile(plain, doctor, bpf_dir):
    made = Pins(bpf_dir, slaves=2, mode=X.MODE_BALANCE_XOR, name="bond1")
    made.bond.min_links = 7
    doctor.between = lambda: shutil.rmtree(bpf_dir / "bond1")
    assert [each for each in doctor.all() if each["bond"] == "bond1"] == []


def test_the_bond_that_was_asked_for_is_deleted_meanwhile(plain, doctor, bpf_dir):
    plain.bond.min_links = 7
    doctor.between = lambda: shutil.rmtree(bpf_dir / "bond0")
    done = doctor.call("bond0")
    assert (done.returncode, done.stdout) == (1, "") and "no such bond" in done.stderr


def test_speed(plain, doctor):
    plain.slaves[1].duplex, plain.slaves[2].speed_mbps = 0, 10000
    assert [each[1] for each in doctor.found("speed")] == ["eth1"]
    plain.table.selection = X.SELECT_TURNS
    assert [each[1] for each in doctor.found("speed")] == ["eth1", "eth2"]
    plain.slaves[2].link = X.LINK_DOWN
    assert [each[1] for each in doctor.found("speed")] == ["eth1"]


@pytest.mark.parametrize("trouble, check_", [(1, "slave-use"), (2, "slave-use"), (4, "slave-use"),
                                             (8, "filters"), (16, "filters"), (32, "filters")])
def test_what_others_do_to_slaves(plain, doctor, trouble, check_):
    plain.slaves[1].trouble = trouble
    assert [each[:2] for each in doctor.found(check_)] == [("warning", "eth1")]


def test_a_slave_that_is_not_yet_as_before(plain, doctor):
    plain.slaves[1].state, plain.slaves[1].restored = 3, 0xffffffff & ~0x88
    (severity, _, text), = doctor.found("released")
    assert severity == "warning" and "(eth1: MAC address, MTU)" in text


def test_config(plain, doctor, tmp_path):
    assert doctor.found("config")[0][0] == "note"
    file = tmp_path / "bond0.conf"
    text = "[bond]\nmode = balance-xor\nhash_seed = 0\n\n[slave eth0]\n[slave eth1]\n[slave eth2]\n"
    file.write_text(text)
    assert doctor.found("config") == []
    plain.bond.min_links, plain.bond.updelay_ms = 2, 300
    (severity, _, finding), = doctor.found("config")
    assert severity == "warning" and "min_links is 2 now, and will be 0" in finding and \
        "1 more" in finding
    plain.bond.min_links = plain.bond.updelay_ms = 0
    plain.slaves[1].queue_id = 3
    assert doctor.found("config")[0][1] == "eth1"
    plain.slaves[1].queue_id = 0
    file.write_text(text.replace("eth1", "eth9"))
    assert [each[1] for each in doctor.found("config")] == ["eth1", "eth9"]
    file.write_text("[bond]\nmode = nonsense\n")
    assert doctor.found("config")[0][0] == "bad"


def test_options_without_effect(plain, doctor):
    assert doctor.found("no-effect") == []
    plain.bond.num_peer_notif, plain.slaves[2].actor_port_prio = 3, 7
    (_, bond, first), (_, slave, second) = doctor.found("no-effect")
    assert (bond, slave) == (None, "eth2")
    assert "num_grat_arp 3 has no effect in mode balance-xor" in first and \
        "actor_port_prio" in second


def test_two_ways_to_steer(plain, doctor):
    """Only one of them does something."""
    plain.bond.rebalance_interval_s = 5
    assert doctor.found("no-effect") == []
    plain.bond.flowlet_gap_us = 1000
    (severity, _, text), = doctor.found("no-effect")
    assert severity == "note" and text == \
        "rebalance_interval 5 has no effect while flowlet_gap is set"
    plain.bond.rebalance_interval_s = 0
    assert doctor.found("no-effect") == []


def test_min_links(pins, doctor):
    pins.bond.min_links = 3
    assert doctor.found("min_links") == []
    pins.bond.max_links = 2
    assert "max_links" in doctor.found("min_links")[0][2]
    pins.bond.min_links, pins.bond.max_links = 4, 0
    assert doctor.found("min_links")[0][0] == "bad"


def test_choice(plain, doctor):
    plain.bond.mode, plain.table.selection = X.MODE_ACTIVE_BACKUP, X.SELECT_ACTIVE
    fill(plain.bond.primary, b"eth1")
    assert doctor.found("choice") == []
    fill(plain.bond.primary, b"eth7")
    assert "eth7" in doctor.found("choice")[0][2]
    fill(plain.bond.primary, b"\0")
    plain.settings.drain_mask = 7
    assert doctor.found("choice")[0][2] == "all slaves are drained, so drain has no effect"


def test_arp(plain, doctor):
    plain.bond.arp_interval_ms = 1000
    assert doctor.found("arp")[0][0] == "warning"
    plain.bond.arp_interval_ms = 0
    plain.bond.arp_ip_target[0] = int.from_bytes(socket.inet_aton("192.0.2.1"), "little")
    assert doctor.found("arp")[0][0] == "note"


def test_arp_targets_that_do_not_answer(plain, doctor, bondd):
    """Links count as working nevertheless, as backups do by the active slave's probes."""
    plain.bond.mode, plain.bond.arp_interval_ms = X.MODE_ACTIVE_BACKUP, 1000
    plain.bond.arp_ip_target[0] = int.from_bytes(socket.inet_aton("192.0.2.1"), "little")
    now_ns = time.monotonic_ns()
    for slot in range(3):
        plain.monitors[slot].spoken |= 1 << X.MONITOR_ARP
        plain.monitors[slot].works |= 1 << X.MONITOR_ARP
        plain.monitors[slot].since_ns[X.MONITOR_ARP] = now_ns
        plain.probes.times[slot].to_ns[0] = now_ns
    assert doctor.found("arp") == []  # it has just begun
    plain.monitors[2].since_ns[X.MONITOR_ARP] = now_ns - 20 * 10**9
    (severity, slave, finding), = doctor.found("arp")
    assert (severity, slave) == ("warning", None) and "no target" in finding
    plain.probes.times[1].from_ns[0] = now_ns - 20 * 10**9
    assert len(doctor.found("arp")) == 1
    plain.probes.times[1].from_ns[0] = now_ns + 10 * 10**9
    assert doctor.found("arp") == []
    plain.probes.times[1].from_ns[0] = 0
    plain.table.heartbeat_ns = 1
    assert doctor.found("arp") == []


def port_by_hand(pins, slot, change):
    pins.publish(lambda system, port: change(port[slot]))


def test_lacp_silent(pins, doctor):
    def silent(port):
        port.rx = L.RX_DEFAULTED
        port.counters = type(port.counters)()
    port_by_hand(pins, 1, silent)
    (severity, slave, finding), = doctor.found("lacp-silent")
    assert (severity, slave) == ("warning", "eth1") and "but one does on eth0" in finding
    assert "same LACP group" in doctor.advice("lacp-silent")[0]

    def was_heard(port):
        silent(port)
        port.counters.lacpdu_rx = 5
    port_by_hand(pins, 1, was_heard)
    (_, _, finding), = doctor.found("lacp-silent")
    assert finding == "LACPDUs no longer arrive, but they do on eth0"
    assert "one-way link" in doctor.advice("lacp-silent")[0]

    def of_another(port):
        was_heard(port)
        port.counters.stranger_rx = 5
    port_by_hand(pins, 1, of_another)
    assert "no partner" in doctor.found("lacp-silent")[0][2]
    pins.publish(lambda system, port: [silent(each) for each in port[:3]])
    assert [each[0] for each in doctor.found("lacp-silent")] == ["bad"] * 3

    def falls_back(system, port):
        for each in port[:3]:
            silent(each)
        port[1].fallback = 1
    pins.publish(falls_back)
    pins.bond.lacp_active = 0
    first, second, _ = [finding for _, _, finding in doctor.found("lacp-silent")]
    assert "lacp_active is off" in first and "carries traffic without LACP" in second
    assert "carries traffic" not in first
    pins.bond.lacp_active = 1
    assert "lacp_active" not in doctor.found("lacp-silent")[0][2]


def test_lacp_individual(pins, doctor):
    def individual(port):
        port.partner.state &= ~L.AGGREGATION
    port_by_hand(pins, 2, individual)
    assert [each[:2] for each in doctor.found("lacp-individual")] == [("bad", "eth2")]


def test_lacp_partner(pins, doctor):
    port_by_hand(pins, 2, lambda port: fill(port.partner.system, mac_bytes(OTHER)))
    (severity, slave, finding), = doctor.found("lacp-partner")
    assert (severity, slave) == ("warning", "eth2") and OTHER in finding
    assert doctor.found("lacp-key") == []


def test_lacp_stranger(pins, doctor):
    def strange(port):
        fill(port.stranger, mac_bytes(OTHER))
        port.stranger_ns, port.rx = time.monotonic_ns() + 10**12, L.RX_DEFAULTED
    port_by_hand(pins, 0, strange)
    (severity, slave, finding), = doctor.found("lacp-partner")
    assert (severity, slave) == ("bad", "eth0") and "not the lacp_partner" in finding
    assert doctor.found("lacp-silent") == []


def test_lacp_key(pins, doctor):
    def other_key(port):
        port.partner.key = 99
    port_by_hand(pins, 2, other_key)
    assert [each[:2] for each in doctor.found("lacp-key")] == [("warning", "eth2")]
    assert doctor.found("lacp-partner") == []

    def other_speed(port):
        port.actor.key = 5
    port_by_hand(pins, 1, other_speed)
    assert "speed differs" in doctor.found("lacp-key")[0][2]


def test_lacp_loop(pins, doctor):
    def loop(port):
        port.loop_port, port.actor.state = 2, 0
    pins.table.tx_mask = 6
    port_by_hand(pins, 0, loop)
    (severity, slave, finding), = doctor.found("lacp-loop")
    assert (severity, slave) == ("bad", "eth0") and "connected to eth1" in finding
    port_by_hand(pins, 0, lambda port: fill(port.partner.system, mac_bytes("02:00:5e:10:00:00")))
    assert doctor.found("lacp-loop")[0][:2] == ("warning", "eth0")


def test_lacp_rate(pins, doctor):
    def fast(port):
        port.partner.state |= L.TIMEOUT
    port_by_hand(pins, 1, fast)
    assert [each[:2] for each in doctor.found("lacp-rate")] == [("note", "eth1")]


def test_lacp_sync(pins, doctor):
    def out_of_sync(port):
        port.actor.state &= ~L.DISTRIBUTING
        port.partner.state &= ~L.SYNCHRONIZATION
        port.mux, port.told = L.MUX_ATTACHED, 0
        port.out_sync_ns = max(1, time.monotonic_ns() - 11 * 10**9)
    pins.table.tx_mask = 5
    port_by_hand(pins, 1, out_of_sync)
    (severity, slave, finding), = doctor.found("lacp-sync")
    assert (severity, slave) == ("warning", "eth1") and "has not attached its port" in finding
    assert "one-way" not in doctor.advice("lacp-sync")[0]

    def unheard(port):
        out_of_sync(port)
        port.partner.state |= L.EXPIRED
    port_by_hand(pins, 1, unheard)
    assert "one-way link" in doctor.advice("lacp-sync")[0]
    pins.table.lacp_heartbeat_ns = 1
    assert doctor.found("lacp-sync") == []


def test_lacp_pdus(pins, doctor):
    def well_formed(system, ports):
        for port in ports:
            port.counters.illegal_rx = 0
    assert [each[:2] for each in doctor.found("lacp-pdus")] == \
        [("note", slave) for slave in ("eth0", "eth1", "eth2")]
    pins.publish(well_formed)
    assert doctor.found("lacp-pdus") == []
    pins.hold[2].budget[X.PDU_STRANGER].flooded = 7
    assert "7 too many" in doctor.found("lacp-pdus")[0][2]


@contextlib.contextmanager
def mounted(kind, *where, options="rw"):
    for path in where:
        subprocess.run(["mount", "-t", kind, "-o", options, kind, path], check=True)
    try:
        yield
    finally:
        for path in where:
            subprocess.run(["umount", "-l", path], check=True)


def test_boot(plain, doctor, tmp_path):
    """As on a machine that systemd has booted; in a mount namespace of these tests."""
    (tmp_path / "bond0.conf").write_text("[bond]\nmode = balance-xor\n")
    with mounted("tmpfs", "/run", "/etc/systemd"):
        assert doctor.found("boot") == []
        wants = pathlib.Path("/etc/systemd/system/multi-user.target.wants")
        for directory in (pathlib.Path("/run/systemd/system"), wants):
            directory.mkdir(parents=True)
        assert doctor.found("boot")[0][0] == "warning"
        (wants / "bondd.service").touch()
        assert doctor.found("boot") == []
    (tmp_path / "bond1.conf").write_text("[bond]\n")
    assert "comes back when bondd starts" in doctor.found("boot")[0][2]
    assert doctor.advice("boot")[0].endswith(f"deleted for good: rm {tmp_path}/bond1.conf")


@pytest.mark.parametrize("files, has_team", [
    ({}, False),
    ({"modules.builtin": f"{TEAM}.ko"}, True),
    ({"modules.builtin": "kernel/drivers/net/team/team.ko"}, False),
    ({f"{TEAM}.ko.xz": ""}, True),
    ({f"{TEAM}.ko.xz": "", "modprobe.d/a.conf": "# blacklist team\nblacklist teams"}, True),
    ({f"{TEAM}.ko.xz": "", "modprobe.d/a.conf": "options bonding\nblacklist team"}, False),
    ({f"{TEAM}.ko": "", "modprobe.d/a.conf": "install team-mode-loadbalance /bin/false"}, False),
    ({"modules.builtin": f"{TEAM}.ko", "modprobe.d/a.conf": "blacklist team"}, True)])
def test_device_kind(plain, doctor, bpf_dir, tmp_path, files, has_team):
    """The one device that every namespace has stands for the bond."""
    (bpf_dir / "bond0").rename(bpf_dir / "lo")
    plain.bond.ifindex, plain.bond.netnsid = 1, -1
    for name in ("upper", "work"):
        (tmp_path / name).mkdir()
    for name, text in files.items():
        path = tmp_path / "upper" / ("" if "/a" in name else f"modules/{os.uname().release}") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    options = f"lowerdir=/usr/lib,upperdir={tmp_path}/upper,workdir={tmp_path}/work"
    with mounted("tmpfs", "/sys/module"), mounted("overlay", "/usr/lib", options=options):
        assert bool(doctor.found("device-kind")) == has_team
        pathlib.Path("/sys/module/team_mode_loadbalance").mkdir()
        assert doctor.found("device-kind")


@pytest.mark.parametrize("file, text, severities", [
    ("NetworkManager/devices/1", "[device]\nmanaged=true\n", ["warning"]),
    ("NetworkManager/devices/1", "[device]\nconnection-uuid=0b7a\n", ["warning"]),
    ("NetworkManager/devices/1", "[device]\nmanaged=false\nconnection-uuid=0b7a\n", []),
    ("NetworkManager/devices/2", "[device]\nmanaged=true\n", []),
    ("systemd/netif/links/1", "ADMIN_STATE=configured\n", ["warning"]),
    ("systemd/netif/links/1", "ADMIN_STATE=unmanaged\n", []),
    ("systemd/netif/links/1", "ADMIN_STATE=" + "x" * 5000 + "\n\0\xff", []),
    ("network/ifstate", "eth7=eth7\nlo=lo\n", ["note"]),
    ("network/ifstate", "loo=loo\n", [])], ids=range(9))
def test_managers(plain, doctor, file, text, severities):
    """The one device that every namespace has stands for a slave."""
    plain.slaves[1].ifindex = 1
    fill(plain.slaves[1].name, b"lo\0\0")
    with mounted("tmpfs", "/run"):
        path = pathlib.Path("/run") / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        assert [each[:2] for each in doctor.found("manager")] == \
            [(severity, "lo") for severity in severities]


def test_the_manual_has_the_checks(doctor):
    """All of them, in the order of the table, and in its words."""
    page = (ROOT / "man/bondctl-doctor.8.scd").read_text()
    section = page.split("# CHECKS", 1)[1].split("\n# ", 1)[0]
    told = {name: " ".join(text.split()).rstrip(".")
            for name, text in re.findall(r"^- \*(\S+)\*: (.*\n(?:  .*\n)*)", section, re.M)}
    checks = json.loads(doctor.call("-j", "--list").stdout)
    assert list(told) == [each["check"] for each in checks]
    for each in checks:
        assert told[each["check"]].lower().startswith(each["healthy"].lower()), each["check"]


def test_every_check_has_a_test():
    """Here, on real devices or with facts by hand: it is asked for by its name, which may be a
    parameter, or its function is called.
    """
    table = (ROOT / "cli/doctor/doctor_checks.c").read_text()
    tests = "".join((ROOT / "tests" / path).read_text() for path in
                    ("cli/test_doctor.py", "net/test_doctor.py", "unit/test_doctor.c"))
    for name, function in re.findall(r'\{ "(\S+)",.*?(doctor_check_\w+)', table, re.S):
        asked_for = rf'found\((\w+, )?"{name}"|\(\d+, "{name}"\)|\b{function}\b'
        assert re.search(asked_for, tests), name
