# SPDX-License-Identifier: GPL-2.0-or-later
"""show for people: what is wrong comes first, in words; a table of 80 columns; what is at its
default is left out; colour on terminals only.
"""
import os
import pty
import select
import socket
import subprocess
import sys
import time

import pytest

from frames import mac_bytes
from pins import X, Pins, differ, fill, stand_by
from test_calls import BONDCTL

STOPPED = "bondd is not running"
CONTINUES = ": traffic continues, and avoids slaves that lose carrier"
ESCAPE = "\033["
MINUTE_NS = 60 * 10**9
COLOURS = {"TERM": "xterm"}
MODES = [X.MODE_BALANCE_RR, X.MODE_ACTIVE_BACKUP, X.MODE_BALANCE_XOR, X.MODE_BROADCAST,
         X.MODE_8023AD]


@pytest.fixture
def command(bpf_dir, tmp_path):
    return [BONDCTL, "--run-dir", str(tmp_path), "--bpf-dir", str(bpf_dir), "show"]


@pytest.fixture
def lines(command):
    def read(*words):
        done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=60,
                              check=True)
        return done.stdout.splitlines()
    return read


@pytest.fixture
def bond(bpf_dir):
    """Nothing is wrong, but that bondd is not running."""
    def make(mode=X.MODE_BALANCE_XOR, slaves=2):
        made = Pins(bpf_dir, slaves, mode)
        made.bond.carrier, made.bond.hook = 1, X.HOOK_CLSACT
        made.begin(mode)
        return made
    return make


def news(shown):
    """The lines between the headline and the first fact, without that of bondd."""
    facts = next(at for at, line in enumerate(shown) if line.startswith("  mac "))
    return [line.strip() for line in shown[1:facts] if not line.startswith("  bondd ")]


def ago(ns):
    """The clock then, if this machine was up."""
    if time.monotonic_ns() < ns:
        pytest.skip(f"this machine has not been up for {ns // 10**9} s")
    return time.monotonic_ns() - ns


def lose_carrier(made, slot, ns=3 * MINUTE_NS):
    made.take_out(slot)
    made.monitors[slot].works = 0
    made.monitors[slot].since_ns[X.MONITOR_CARRIER] = ago(ns)


def table(shown):
    """{slave: its cells}"""
    at = next(at for at, line in enumerate(shown) if line.startswith("  SLAVE"))
    return {line.split()[0]: line.split()[1:] for line in shown[at + 1:]
            if not line.startswith("  options")}


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_wrong(bond, lines, mode):
    bond(mode)
    assert news(lines()) == []


def test_the_first_line_says_that_all_is_well(bond, lines, tmp_path):
    made = bond()
    with socket.socket(socket.AF_UNIX) as bondd:
        bondd.bind(str(tmp_path / "bondd.sock"))
        bondd.listen()
        made.table.heartbeat_ns = time.monotonic_ns()
        assert lines()[:2] == ["bond0: balance-xor, up, 2 Gbit/s, all slaves in use",
                               "  mac 02:00:5e:10:00:00, mtu 1500"]


def test_bondd_is_not_running(bond, lines):
    bond()
    assert lines()[:2] == ["bond0: balance-xor, up, 2 Gbit/s, 2 of 2 slaves in use",
                           f"  {STOPPED}{CONTINUES}"]


def test_bondd_does_not_answer(bond, lines, tmp_path):
    """It accepts connections, but its heart beats no more."""
    bond()
    with socket.socket(socket.AF_UNIX) as bondd:
        bondd.bind(str(tmp_path / "bondd.sock"))
        bondd.listen()
        assert lines()[1] == f"  bondd does not answer{CONTINUES}"
        assert lines("-d")[1] == f"    bondd does not answer{CONTINUES}"


def test_without_carrier_no_traffic_continues(bond, lines):
    made = bond()
    made.bond.carrier = 0
    for slot in (0, 1):
        lose_carrier(made, slot)
    for told in (lines(), lines("-d")):
        assert STOPPED in [line.strip() for line in told]
        assert not any("traffic continues" in line for line in told)


def test_a_slave_without_carrier(bond, lines):
    made = bond(slaves=3)
    lose_carrier(made, 2)
    made.slaves[2].link_failures = 4
    assert news(lines()) == ["eth2: not used: no carrier for 3 min; link failures 4"]
    assert lines()[0] == "bond0: balance-xor, up, 2 Gbit/s, 2 of 3 slaves in use"
    assert table(lines())["eth2"][:4] == ["down", "?", "not", "used"]


@pytest.mark.parametrize("ns, words", [(5 * 10**8, "500 ms"), (59 * 10**9, "59 s"),
                                       (200 * MINUTE_NS, "3 h")])
def test_since_when(bond, lines, ns, words):
    made = bond()
    lose_carrier(made, 1, ns)
    found = news(lines())[0].removeprefix("eth1: not used: no carrier for ")
    assert found == words or words == "500 ms" and found.endswith(" ms")


def test_a_hold_down_says_when_it_ends(bond, lines):
    made = bond()
    made.take_out(1)
    made.monitors[1].spoken |= 1 << X.MONITOR_FLAPS
    made.quality[1].flaps.hold.level = 3
    made.quality[1].flaps.hold.until_ns = time.monotonic_ns() + 39 * 10**9
    assert news(lines()) == [
        "eth1: not used: it is held down because it flaps; it is tried again in 39 s"]


@pytest.mark.parametrize("monitor, finding", [
    (X.MONITOR_FLAPS, "it is held down because it flaps"),
    (X.MONITOR_SILENCE, "it receives nothing"),
    (X.MONITOR_ERRORS, "it receives too many broken frames")])
def test_used_in_spite_of_a_monitor(bond, lines, monitor, finding):
    made = bond()
    judge(made, 1, monitor, 0)
    assert news(lines()) == [f"eth1: used although {finding}: no other slave works"]
    assert table(lines())["eth1"][2:4] == ["in", "use"]
    made.bond.min_links = 2
    assert news(lines()) == [
        f"eth1: used although {finding}: fewer than min_links others work"]
    made.take_out(1)
    assert news(lines()) == [f"eth1: not used: {finding} for 5 min"]


def test_a_backup_in_spite_of_a_monitor(bond, lines):
    made = bond(X.MODE_ACTIVE_BACKUP)
    for slot in (0, 1):
        judge(made, slot, X.MONITOR_SILENCE, 0)
    assert news(lines()) == ["eth0: used although it receives nothing: no other slave works",
                             "eth1: a backup although it receives nothing: no other slave works"]


@pytest.mark.parametrize("mode", [*MODES, X.MODE_BALANCE_TLB])
def test_used_although_drained(bond, lines, mode):
    made = bond(mode)
    made.settings.drain_mask = 1
    made.take_out(1)
    sentence = "eth0: used although it is drained: no other slave can be used"
    assert sentence in news(lines())
    made.slaves[1].link, made.settings.drain_mask, made.table.tx_mask = X.LINK_UP, 3, 3
    assert sentence in news(lines())
    if mode != X.MODE_ACTIVE_BACKUP:
        assert sentence.replace("eth0", "eth1") in news(lines())


def test_not_yet_drained_is_not_news(bond, lines):
    """By markers: the slave is used until the far end has answered."""
    made = bond(X.MODE_8023AD)
    made.settings.drain_mask, made.table.watched = 1, 1
    made.table.flags |= X.F_DRAIN_MARKERS
    assert table(lines())["eth0"][2:4] == ["in", "use"] and news(lines()) == []


def test_delays(bond, lines):
    made = bond()
    made.bond.downdelay_ms = 300
    made.slaves[1].link, made.monitors[1].works = X.LINK_GOING_DOWN, 0
    assert news(lines()) == ["eth1: no carrier; downdelay (300 ms) is running"]
    assert table(lines())["eth1"][:2] == ["going", "down"]


def test_no_carrier_is_said_once(bond, lines):
    made = bond()
    made.bond.carrier, made.bond.min_links = 0, 3
    assert news(lines()) == ["the bond has no carrier: it needs 3 usable slaves (min_links), and "
                             "has 2"]
    assert lines()[0].startswith("bond0: balance-xor, down")


def test_no_slave_can_be_used(bond, lines):
    made = bond()
    made.bond.carrier = 0
    for slot in (0, 1):
        lose_carrier(made, slot)
    assert news(lines()) == ["the bond has no carrier: no slave can be used"] + [
        f"eth{slot}: not used: no carrier for 3 min" for slot in (0, 1)]


def test_no_slaves(bond, lines):
    made = bond(slaves=0)
    made.bond.carrier = 0
    assert news(lines()) == ["the bond has no carrier: it has no slaves"]
    assert lines()[0] == "bond0: balance-xor, down, no slaves"
    assert not any("SLAVE" in line for line in lines())


def test_programs_that_were_taken_off(bond, lines):
    made = bond()
    made.bond.hook = X.HOOK_TCX
    made.slaves[1].clsact = 1
    assert news(lines()) == [
        "the bond's own programs were taken off: it sends nothing, or not as it should",
        "eth0: it sends, but receives nothing: its receive program was taken off"]
    made.bond.state = X.BOND_DELETING
    assert not any("taken off" in line for line in lines()), "bondd itself did it"


def test_problem(bond, lines):
    made = bond()
    made.slaves[1].trouble = X.TROUBLE_ADDRESSES
    assert news(lines()) == ["eth1: it has IP addresses, which belong on the bond"]


def test_wanted_roles_are_not_news(bond, lines):
    made = bond(X.MODE_ACTIVE_BACKUP)
    assert news(lines()) == []
    assert lines()[0].startswith("bond0: active-backup, up, 1 Gbit/s, active slave eth0 of 2")
    assert [cells[2] for cells in table(lines()).values()] == ["active", "backup"]
    made.bond.mode, made.table.selection = X.MODE_BALANCE_XOR, X.SELECT_HASH
    made.settings.drain_mask = 2
    assert news(lines()) == []
    assert table(lines())["eth1"][2] == "drained"


def test_a_backup_without_carrier_is_news(bond, lines):
    lose_carrier(bond(X.MODE_ACTIVE_BACKUP), 1)
    assert news(lines()) == ["eth1: not used: no carrier for 3 min"]


def test_lacp(bond, lines):
    made = bond(X.MODE_8023AD)
    assert "  partner 02:00:5e:20:00:00, key 17, on 2 ports of aggregator 1" in lines()

    made.publish(stand_by)
    made.table.tx_mask = 1
    assert news(lines()) == [] and table(lines())["eth1"][2] == "standby"
    made.publish(differ)
    assert news(lines()) == [
        "eth1: not used: not aggregated: partner key 18 differs from the aggregator's 17",
        "eth1: churned: the partner's port has been out of sync for a minute"]


def test_lacp_without_a_partner(bond, lines):
    def silent(system, port):
        for each in (port[0], port[1]):
            fill(each.partner.system, bytes(6))

    bond(X.MODE_8023AD).publish(silent)
    assert news(lines()) == ["no LACP partner: 2 slaves carry traffic (lacp_fallback one)"]


def test_a_bond_of_another_version(bond, lines):
    bond().bond.abi_version = 1000
    shown = lines()
    assert shown[0] == "bond0: state unknown" and len(shown) == 2
    assert shown[1].startswith("  it was made with ABI version 1000")


def test_options_at_their_defaults_are_left_out(bond, lines):
    made = bond()
    assert not any(line.startswith("  options") for line in lines())
    made.settings.xmit_hash_policy, made.bond.updelay_ms = X.POLICY_LAYER34, 200
    made.slaves[1].queue_id = 3
    shown = lines()
    assert "  options xmit_hash_policy layer3+4, updelay 200" in shown
    assert "  options of eth1: queue_id 3" in shown
    details = lines("-d")
    assert "    downdelay            0" in details and "    updelay              200" in details
    assert lines("--details") == details


def test_an_option_without_effect_is_marked(bond, lines):
    bond().bond.resend_igmp = 7
    assert "  options resend_igmp 7 (no effect in this mode)" in lines()


def test_two_ways_to_steer(bond, lines):
    made = bond()
    made.bond.rebalance_interval_s = 5
    assert "  options rebalance_interval 5" in lines()
    made.bond.flowlet_gap_us = 1000
    assert "  options rebalance_interval 5 (no effect with flowlet_gap), flowlet_gap 1000" in \
        lines()


def test_80_columns(bond, command, lines):
    """Long names, large numbers, many options, delays and hold-downs."""
    made = bond(slaves=64)
    for slot, slave in enumerate(made.slaves):
        fill(slave.name, b"enp129s0f%03dnp1" % slot)
        slave.link_failures, slave.speed_mbps = 4294967295, 2500
        made.settings.weight[slot] = 65535
    made.slaves[3].link = X.LINK_GOING_DOWN
    for field in ("updelay_ms", "downdelay_ms", "bfd_interval_ms", "flap_limit", "rx_silence_ms",
                  "error_limit", "min_links"):
        setattr(made.bond, field, 59)
    made.bond.peer_notif_delay_ms = 59
    made.bond.updelay_ms = 20000
    made.take_out(4, X.LINK_GOING_UP)
    made.take_out(5)
    for slot, monitor in ((5, X.MONITOR_FLAPS), (6, X.MONITOR_SILENCE)):
        judge(made, slot, monitor, 0)
    hold = made.quality[5].flaps.hold
    hold.level, hold.until_ns = 6, time.monotonic_ns() + 200 * 10**9
    shown = screen_lines(command)
    assert sum(line.startswith("  enp129") and " 65535 " in line for line in shown) == 64
    assert sum(line.startswith("  options") for line in shown) == 1
    at = shown.index("  enp129s0f004np1: not used: its link is up again; updelay (20000 ms) is")
    assert shown[at + 1] == "    running; link failures 4294967295"
    for written in (shown, screen_lines(command, "-d")):
        assert [line for line in written if len(line) > 80] == []
    # Scripts find a sentence in one line.
    assert "enp129s0f004np1: not used: its link is up again; updelay (20000 ms) is running; link " \
        "failures 4294967295" in news(lines())


def test_details_take_80_columns(bond, command, lines):
    made = bond(X.MODE_BALANCE_ALB)
    made.table.selection = X.SELECT_HASH
    made.table.flags |= X.F_LOADS
    fill(made.bond.arp_ip_target, range(1 << 30, (1 << 30) + 16))
    slave = made.slaves[0]
    fill(slave.name, b"enp129s0f000np1")
    slave.link, slave.link_failures, slave.resets = X.LINK_GOING_DOWN, 4294967295, 65535
    slave.speed_mbps, made.bond.updelay_ms = 400000, 20000
    made.take_out(1, X.LINK_GOING_UP)
    slave.trouble = X.TROUBLE_ENDING
    for monitor in (X.MONITOR_FLAPS, X.MONITOR_SILENCE, X.MONITOR_ERRORS):
        judge(made, 0, monitor, 0)
    for name in ("flaps", "silence", "errors"):
        hold = getattr(made.quality[0], name).hold
        hold.level, hold.until_ns = 6, time.monotonic_ns() + 200 * 10**9
    shown, told = screen_lines(command, "-d"), lines("-d")
    assert [line for line in shown if len(line) > 80] == []
    assert " ".join(" ".join(shown).split()).replace(", ", ",") == \
        " ".join(" ".join(told).split()).replace(", ", ",")
    assert [line for line in told if len(line) > 80] != []


LONG = "/no/such/directory" * 3


@pytest.mark.parametrize("words, statuses", [
    (["doctor", "--no-traffic"], (0, 4, 5)), (["doctor", "--list"], (0,)),
    (["monitor", "--kinds"], (0,)),
    (["top", "--once", "--interval", "0.1"], (0,)), (["stats"], (0,)), (["show", "-d"], (0,)),
    (["explain", "bond0", "src", "2001:db8:1111:2222:3333:4444:5555:6666", "dst",
      "2001:db8:1111:2222:3333:4444:5555:7777", "proto", "udp", "sport", "60000", "dport",
      "60000", "dmac", "02:00:5e:10:00:09"], (0,)),
    (["simulate", "--random", "10", "bond0"], (0, 2)), (["--help"], (0,)),
    (["set", "--help"], (0,)), (["import", "netplan", "--keys"], (0,)),
    (["set", "bond0", "mtu", "9000"], (1, 2)), (["create", "b", "mode", "802.3ad"], (3,)),
    (["delete", "bond0"], (3,)), (["apply", "x" * 10], (1, 2, 3)), (["check", LONG], (1,)),
    (["show", "none"], (1,))], ids=lambda words: " ".join(map(str, words))[:25])
def test_everything_takes_80_columns(bond, command, words, statuses):
    """On a terminal, words are not broken, and none is lost. Elsewhere lines are not broken."""
    made = bond(X.MODE_BALANCE_ALB, slaves=8)
    for slot, slave in enumerate(made.slaves[:8]):
        fill(slave.name, b"enp129s0f%03dnp1" % slot)
        slave.trouble, slave.rx_hook = X.TROUBLE_ENDING | X.TROUBLE_NFT, slot & 1
        made.count(slot, tx_packets=10**12, tx_bytes=10**15, rx_packets=10**12, rx_bytes=10**15)
    call = [*command[:-1], *words]
    shown = on_terminal(call, {}, statuses=statuses).replace("\r", "").splitlines()
    assert shown and [line for line in shown if len(line) > 80 and " " in line.strip()] == []
    done = subprocess.run(call, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    if words[0] != "top":  # which may change in between
        assert " ".join(" ".join(shown).split()).replace(" ", "") == done.stdout.replace(
            "\n", "").replace(" ", "")


def test_names_cannot_speak_to_the_terminal(bond, lines):
    made = bond()
    fill(made.slaves[0].name, b"e\033[2Jx\x07\xc2\x9b31m\0")
    shown = "\n".join([*lines(), *lines("-d"), *lines("--proc")])
    assert not any(ord(char) < 32 and char not in "\n\t" or 0x7f <= ord(char) < 0xa0
                   for char in shown)
    assert "e?[2Jx???31m" in shown


def on_terminal(command, environment, *words, statuses=(0,)):
    """What it writes to a terminal."""
    master, slave = pty.openpty()
    child = subprocess.Popen([*command, *words], stdin=subprocess.DEVNULL, stdout=slave,
                             stderr=slave, env={"PATH": os.environ["PATH"], **environment})
    os.close(slave)
    written, ready = b"", select.poll()
    ready.register(master)
    while ready.poll(60000):
        try:
            part = os.read(master, 65536)
        except OSError:  # the child has closed the last end
            break
        written += part
    os.close(master)
    assert child.wait(60) in statuses
    return written.decode()


def screen_lines(command, *words):
    """Without colours."""
    return on_terminal(command, {}, *words).replace("\r", "").splitlines()


def test_colour(bond, command):
    made = bond()
    lose_carrier(made, 1)
    shown = on_terminal(command, COLOURS)
    assert f"{ESCAPE}31meth1: not used: no carrier for 3 min{ESCAPE}0m" in shown
    assert ESCAPE in on_terminal(command, {**COLOURS, "NO_COLOR": ""})
    plain = on_terminal(command, {**COLOURS, "NO_COLOR": "1"})
    assert ESCAPE not in plain
    assert plain.replace("\r", "").splitlines()[0] == \
        "bond0: balance-xor, up, 1 Gbit/s, 1 of 2 slaves in use"
    for environment in ({"TERM": "dumb"}, {}):
        assert ESCAPE not in on_terminal(command, environment)
    assert ESCAPE not in on_terminal(command, COLOURS, "--proc")


def test_no_colour_in_a_pipe(bond, command):
    bond()
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          env={**os.environ, **COLOURS})
    assert ESCAPE not in done.stdout


def test_a_reader_that_has_gone_is_no_error_message(bond, command):
    bond(slaves=64)
    done = subprocess.run(["sh", "-c", '"$@" | :', "sh", *command], capture_output=True, text=True,
                          check=False)
    assert done.stderr == ""


def in_namespace(setup, command):
    """In a network namespace of its own, which the script `setup` has prepared."""
    done = subprocess.run(["unshare", "--net", "sh", "-ec", f'{setup}\nexec "$@"', "sh", *command],
                          capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("address, state, is_told", [
    ("02:00:5e:10:00:00", "down", True),
    ("02:00:5e:10:00:00", "up", False),
    ("02:00:5e:10:00:99", "down", False),  # somebody else's bond0
])
def test_a_bond_that_is_administratively_down(bond, command, address, state, is_told):
    bond(X.MODE_ACTIVE_BACKUP)
    setup = (f"ip link add bond0 address {address} type veth peer name port\n"
             f"ip link set bond0 {state}")
    shown = in_namespace(setup, command)
    sentence = "the bond is administratively down: 'ip link set bond0 up' brings it up"
    assert shown[0].split(", ")[1] == ("down" if is_told else "up")
    assert news(shown) == ([sentence] if is_told else [])
    assert (f"    {sentence}" in in_namespace(setup, [*command, "-d"])) == is_told


@pytest.mark.parametrize("address, state, is_told", [
    ("02:00:5e:10:00:01", "down", True),
    ("02:00:5e:10:00:01", "up", False),
    ("02:00:5e:10:00:99", "down", False),  # somebody else's device
])
def test_a_slave_that_is_administratively_down(bond, command, address, state, is_told):
    made = bond()
    lose_carrier(made, 1)
    made.slaves[1].ifindex, made.slaves[1].link_failures = 77, 4
    fill(made.slaves[1].mac, mac_bytes("02:00:5e:10:00:01"))
    setup = (f"ip link add eth1 index 77 address {address} type veth peer name port\n"
             f"ip link set eth1 {state}")
    sentence = "it is administratively down ('ip link set eth1 up' brings it up)" if is_told \
        else "no carrier for 3 min"
    assert news(in_namespace(setup, command)) == [f"eth1: not used: {sentence}; link failures 4"]
    assert news(in_namespace("true", command)) == [
        "eth1: not used: no carrier for 3 min; link failures 4"]


def test_no_slave_is_active(bond, lines):
    made = bond(X.MODE_ACTIVE_BACKUP)
    made.bond.carrier, made.bond.active_slot = 0, X.NO_SLOT
    for slot in (0, 1):
        lose_carrier(made, slot)
    assert lines()[0] == "bond0: active-backup, down, 0 of 2 slaves in use"


def judge(made, slot, monitor, works):
    """A monitor has a verdict on the slave since five minutes ago."""
    made.monitors[slot].spoken |= 1 << monitor
    made.monitors[slot].works &= ~(1 << monitor)
    made.monitors[slot].works |= works << monitor
    made.monitors[slot].since_ns[monitor] = ago(5 * MINUTE_NS)


def test_a_link_that_comes_and_goes(bond, lines):
    """It works just now; with few losses, or after a minute, nothing is said."""
    made = bond()
    made.slaves[1].link_failures = 3
    judge(made, 1, X.MONITOR_CARRIER, True)
    assert news(lines()) == []
    made.monitors[1].since_ns[X.MONITOR_CARRIER] = ago(2 * 10**9)
    assert news(lines()) == ["eth1: its link came back 2 s ago; link failures 3"]
    assert "all slaves in use" not in lines()[0]
    made.slaves[1].link_failures = 2
    assert news(lines()) == []


def test_details_tell_monitors_and_hooks(bond, lines):
    made = bond()
    made.slaves[1].rx_hook = X.RX_XDP
    lose_carrier(made, 1)
    judge(made, 0, X.MONITOR_FLAPS, 0)
    hold = made.quality[0].flaps.hold
    hold.level, hold.until_ns = 6, time.monotonic_ns() + 200 * 10**9
    told = lines("-d")
    at = next(at for at, line in enumerate(told) if line.startswith("  slave eth1"))
    assert "    receives through     tc" in told[:at]
    assert "    monitor flaps        down for 5 min; 0 flaps in the last minute; held down for " \
        "another 3 min" in told[:at]
    assert "    receives through     xdp" in told[at:]
    assert "    monitor carrier      down for 3 min" in told[at:]


def test_details_of_probes(bond, lines):
    made = bond()
    made.bond.arp_interval_ms = 100
    fill(made.bond.arp_ip_target, [int.from_bytes(socket.inet_aton(host), sys.byteorder)
                                   for host in ("192.0.2.1", "192.0.2.254")])
    judge(made, 0, X.MONITOR_ARP, 1)
    made.probes.times[0].from_ns[0] = ago(3 * MINUTE_NS)
    assert "    monitor arp          up for 5 min; 192.0.2.1 heard 3 min ago; 192.0.2.254 never " \
        "heard" in lines("-d")


def test_details_of_lacp_take_80_columns(bond, command):
    bond(X.MODE_8023AD)
    told = screen_lines(command, "-d")
    assert [line for line in told if len(line) > 80] == []
    assert "activity, aggregation, synchronization, collecting, distributing" in \
        " ".join(" ".join(told).split())
