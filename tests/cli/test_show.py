# SPDX-License-Identifier: GPL-2.0-or-later
"""show and set-slave on maps made by hand, without bondd: the contract's JSON of mode
802.3ad.
"""

import json
import re
import socket
import subprocess
import time

import pytest

import schema
from pins import L, X, Pins, differ, fill, stand_by
from test_calls import BONDCTL, OK, FakeBondd

import abi  # of tests/bpf
from frames import mac_bytes

# As xbond-json(5) lists them.
BOND_KEYS = {"active_aggregator", "actor_system", "actor_sys_prio", "actor_key", "partner_system",
             "partner_sys_prio", "partner_key", "num_ports", "rate", "rate_effective"}
SLAVE_KEYS = {"aggregator_id", "port_number", "port_prio", "actor_key", "actor_state",
              "partner_state", "rx_state", "mux_state", "partner_system", "partner_sys_prio",
              "partner_key", "partner_port", "partner_port_prio", "actor_churn", "partner_churn",
              "actor_churns", "partner_churns", "lacpdu_rx", "lacpdu_tx", "marker_rx", "marker_tx",
              "illegal_rx", "stranger_rx", "selected", "why"}
COLLECTS, CARRIES = 0x10, 0x30  # bits of a state
IN_USE = ["activity", "aggregation", "synchronization", "collecting", "distributing"]


@pytest.fixture
def pins(bpf_dir):
    made = Pins(bpf_dir)
    made.beat()
    made.publish()
    return made


@pytest.fixture
def bondctl(bpf_dir, tmp_path):
    def call(*words, status=0):
        flags = ["--run-dir", str(tmp_path), "--bpf-dir", str(bpf_dir), "--config-dir",
                 str(tmp_path)]
        done = subprocess.run([BONDCTL, *flags, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == status, done.stderr
        return done

    return call


@pytest.fixture
def show(bondctl):
    return lambda: schema.check("show", json.loads(bondctl("-j", "show", "bond0").stdout))


@pytest.fixture
def stats(bondctl):
    return lambda: schema.check("stats", json.loads(bondctl("-j", "stats", "bond0").stdout))


def whys(bond):
    return [slave["lacp"]["why"] for slave in bond["slaves"]]


def test_keys(pins, show):
    bond = show()
    assert set(bond["lacp"]) == BOND_KEYS
    assert [set(slave["lacp"]) for slave in bond["slaves"]] == [SLAVE_KEYS] * 2


def test_aggregated(pins, show):
    bond = show()
    assert bond["lacp"] == {"active_aggregator": 1, "actor_system": "02:00:5e:10:00:00",
                            "actor_sys_prio": 65535, "actor_key": 9,
                            "partner_system": "02:00:5e:20:00:00", "partner_sys_prio": 65535,
                            "partner_key": 17, "num_ports": 2,
                            "rate": "slow", "rate_effective": "slow"}
    assert bond["speed_mbps"] == 2000
    slave = bond["slaves"][1]
    assert slave["active"] is True
    assert slave["lacp"] == {
        "aggregator_id": 1, "port_number": 2, "port_prio": 255, "actor_key": 9,
        "actor_state": IN_USE, "partner_state": IN_USE, "rx_state": "current",
        "mux_state": "collecting_distributing", "partner_system": "02:00:5e:20:00:00",
        "partner_sys_prio": 65535, "partner_key": 17, "partner_port": 2, "partner_port_prio": 255,
        "actor_churn": "none", "partner_churn": "none", "actor_churns": 0, "partner_churns": 0,
        "lacpdu_rx": 11, "lacpdu_tx": 21,
        "marker_rx": 3, "marker_tx": 4, "illegal_rx": 5, "stranger_rx": 6, "selected": "selected",
        "why": "collecting and distributing"}


def test_other_modes_have_no_lacp(bpf_dir, show):
    Pins(bpf_dir, mode=X.MODE_BALANCE_XOR).publish()
    bond = show()
    assert "lacp" not in bond and all("lacp" not in slave for slave in bond["slaves"])
    assert bond["options"]["lacp_rate"] == "slow"


def test_options(pins, show):
    pins.bond.ad_select, pins.bond.lacp_rate, pins.bond.max_links = L.AD_PORT_PRIO, 1, 2
    fill(pins.bond.ad_actor_system, mac_bytes("02:00:5e:30:00:0f"))
    pins.slaves[1].actor_port_prio = 7
    bond = show()
    options = bond["options"]
    assert (options["mode"], options["ad_select"],
            options["lacp_rate"]) == ("802.3ad", "actor_port_prio", "fast")
    assert (options["max_links"], options["lacp_fallback"],
            options["lacp_fallback_delay"]) == (2, "one", 3000)
    assert options["lacp_active"] and not options["lacp_strict"] and options["lacp_hold"]
    assert options["ad_actor_system"] == "02:00:5e:30:00:0f"
    assert bond["slaves"][1]["options"]["actor_port_prio"] == \
        bond["slaves"][1]["lacp"]["port_prio"] == 7


def test_none_is_null(pins, show):
    assert show()["options"]["ad_actor_system"] is None


def test_nothing_published_yet(bpf_dir, show):
    Pins(bpf_dir).beat()
    bond = show()
    assert set(bond["lacp"]) == BOND_KEYS
    assert (bond["lacp"]["active_aggregator"], bond["lacp"]["partner_key"],
            bond["lacp"]["num_ports"]) == (None, None, 0)
    lacp = bond["slaves"][0]["lacp"]
    assert set(lacp) == SLAVE_KEYS
    assert (lacp["port_number"], lacp["actor_state"], lacp["selected"]) == (None, [], "unselected")
    assert lacp["why"] == "bondd has not started LACP on it yet"


def test_no_partner(pins, show):
    def silent(system, port):
        system.active_aggregator = 0
        for each in (port[0], port[1]):
            each.selected, each.aggregator = L.UNSELECTED, 0
            each.mux, each.rx = L.MUX_DETACHED, L.RX_DEFAULTED
            fill(each.partner.system, bytes(6))
            each.partner.key = each.partner.port = each.partner.system_priority = 0
            each.partner.state = L.TIMEOUT
            each.actor.state = L.ACTIVITY | L.AGGREGATION | L.DEFAULTED | L.TIMEOUT
            each.heard_ns -= 5 * 10**9

    pins.publish(silent)
    bond = show()
    assert (bond["lacp"]["partner_system"], bond["lacp"]["partner_sys_prio"],
            bond["lacp"]["actor_key"]) == (None,) * 3
    assert (bond["lacp"]["rate"], bond["lacp"]["rate_effective"]) == ("slow", "fast")
    lacp = bond["slaves"][0]["lacp"]
    assert (lacp["partner_system"], lacp["partner_key"], lacp["partner_port"]) == (None,) * 3
    assert (lacp["aggregator_id"], lacp["partner_state"]) == (None, ["timeout"])
    assert lacp["why"].startswith("no LACPDU for ")


def test_why_names_the_slaves(pins, show):
    pins.publish(differ)
    bond = show()
    assert bond["lacp"]["num_ports"] == 1
    assert whys(bond)[1] == "not aggregated: partner key 18 differs from the aggregator's 17"
    pins.publish(stand_by)
    assert whys(show())[1] == "standby: max_links 1, lower priority than eth0"


def test_state_of_another_version_is_not_read(pins, show):
    def other(system, port):
        system.version = 999

    pins.publish(other)
    assert show()["lacp"]["num_ports"] == 0


def test_a_hold_down_ends_with_the_verdict(pins, show):
    """until_ms, and the reason, are about a slave that is held down."""
    pins.monitors[0].spoken |= 1 << X.MONITOR_SILENCE
    hold = pins.quality[0].silence.hold
    hold.level, hold.until_ns = 1, time.monotonic_ns() + 9 * 10**9
    held = show()["slaves"][0]["monitors"]["silence"]
    assert held["state"] == "down" and 0 < held["until_ms"] <= 9000
    pins.monitors[0].works |= 1 << X.MONITOR_SILENCE
    heard = show()["slaves"][0]["monitors"]["silence"]
    assert (heard["state"], heard["until_ms"]) == ("up", None)


def test_hold(pins, show, bondctl):
    pins.table.lacp_heartbeat_ns = 0
    for slot, answers in ((0, 12), (1, 1)):
        pins.hold[slot].in_force, pins.hold[slot].answers = 1, answers
        pins.hold[slot].words[1].holding, pins.hold[slot].words[1].told = 1, CARRIES
    held = ["kept up by the programs without bondd: 12 answers",
            "kept up by the programs without bondd: 1 answer"]
    assert whys(show()) == held
    text = bondctl("show", "-d", "bond0").stdout
    assert all(line in text for line in held)
    pins.hold[0].ended, pins.hold[1].ended = X.HOLD_SILENT, X.HOLD_PARTNER_CHANGED
    assert whys(show()) == ["no longer kept up without bondd: the partner is silent",
                            "no longer kept up without bondd: the partner is another one"]
    pins.hold[0].ended = X.HOLD_OUT_OF_STEP
    assert whys(show())[0] == "no longer kept up without bondd: the partner's state has changed"
    pins.hold[0].ended, pins.hold[0].withheld = X.HOLD_GOES_ON, CARRIES & ~COLLECTS
    assert whys(show())[0] == (
        "kept up by the programs without bondd, collecting only, as the partner does not: "
        "12 answers")
    pins.beat()
    assert whys(show()) == ["collecting and distributing"] * 2


def test_a_port_that_was_idle_is_not_held(pins, show):
    """Its partner is answered, but there is nothing to hold."""
    pins.table.lacp_heartbeat_ns = 0
    pins.hold[0].words[0].holding = 1
    assert whys(show())[0].startswith("not kept up without bondd")


def test_not_held(pins, show):
    pins.table.lacp_heartbeat_ns = 0
    assert whys(show()) == [
        "not kept up without bondd; last known: collecting and distributing"] * 2


def test_text(pins, bondctl):
    pins.bond.lacp_tx = X.LACP_TX_BALANCE_RR
    pins.settings.xmit_hash_policy = X.POLICY_LAYER34
    text = bondctl("show", "-d", "bond0").stdout
    for line in ("bond0: mode 802.3ad", "1, selected ports: 2",
                 "system 02:00:5e:20:00:00, priority 65535, key 17",
                 "collecting and distributing\n",
                 "number 2, priority 255, aggregator 1, selected\n",
                 "machines             receive current, mux collecting_distributing\n",
                 "10 received, 20 sent, 5 illegal\n", "markers              3 received, 4 sent\n",
                 "layer3+4   (no effect with lacp_tx balance-rr)"):
        assert line in text, text


def test_damaged_pin_is_named(pins, bpf_dir, bondctl):
    (bpf_dir / "bond0" / "lacp").unlink()
    assert "bond0/lacp is missing" in bondctl("show", "bond0", status=1).stderr


@pytest.mark.parametrize("mode", [77, 0xffffffff])
def test_a_mode_of_a_later_version(pins, bondctl, mode):
    """Or damage: nobody is told to remove a bond that works."""
    pins.bond.mode = mode
    text = bondctl("show", "bond0", status=1).stderr
    assert f"has mode {mode}, which this version of xbond does not know; use the version that " \
        "made the bond or, if the pins are damaged, remove them" in text


def test_a_state_that_does_not_exist_is_damage(pins, bondctl):
    pins.bond.state = 3
    assert "has a state that does not exist" in bondctl("show", "bond0", status=1).stderr


def test_values_of_a_later_version(pins, bondctl):
    """They are numbers."""
    pins.settings.xmit_hash_policy = 99
    names = ("ad_select", "fail_over_mac", "primary_reselect", "arp_validate", "mac_policy",
             "rx_hook", "device", "lacp_fallback", "lacp_tx")
    for name in (*names, "device_kind", "hook"):
        setattr(pins.bond, name, 99)
    options = json.loads(bondctl("-j", "show", "bond0").stdout)["options"]
    assert {options[name] for name in (*names, "xmit_hash_policy")} == {"99"}
    assert re.search(r"mac_policy +99$", bondctl("show", "-d", "bond0").stdout, re.M)


def test_set_slave_goes_to_bondd(pins, bondctl, tmp_path):
    bondd = FakeBondd(tmp_path, OK)
    bondctl("set-slave", "bond0", "eth1", "actor_port_prio", "7")
    assert bondd.request() == {"method": "set-slave", "bond": "bond0", "slaves": ["eth1"],
                               "options": {"actor_port_prio": "7"}}
    assert pins.slaves[1].actor_port_prio == 255


def test_set_slave_steering_does_not_need_bondd(pins, bondctl):
    bondctl("set-slave", "bond0", "eth1", "drain", "on")
    assert pins.settings.drain_mask == 2


def test_set_slave_is_all_or_none(pins, bondctl):
    assert "not running" in bondctl("set-slave", "bond0", "eth1", "drain", "on", "actor_port_prio",
                                    "7", status=3).stderr
    assert pins.settings.drain_mask == 0


@pytest.mark.parametrize("words, part", [
    (["set-slave", "bond0", "eth1", "actor_port_prio", "7"],
     "actor_port_prio: refused in mode balance-xor"),
    (["set", "bond0", "lacp_rate", "fast"], "lacp_rate: refused in mode balance-xor"),
    (["set", "bond0", "max_links", "2"], "max_links: refused in mode balance-xor")])
def test_refused_in_other_modes(bpf_dir, bondctl, words, part):
    Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)
    assert part in bondctl(*words, status=1).stderr


@pytest.mark.parametrize("words", [["set", "bond0", "xmit_hash_policy", "layer3+4"],
                                   ["set-slave", "bond0", "eth1", "drain", "on"]])
def test_settings_wait_for_the_end_of_a_takeover(pins, bondctl, words):
    """It would lose them. If bondd is dead, none goes on."""
    pins.table.flags |= X.F_HANDED_OVER
    pins.table.heartbeat_ns = time.monotonic_ns() + 3600 * 10**9
    before = bytes(pins.settings)
    assert "has not ended yet; try again" in bondctl(*words, status=1).stderr
    assert bytes(pins.settings) == before
    pins.table.heartbeat_ns = 1
    bondctl(*words)
    assert bytes(pins.settings) != before


def test_a_team_that_cannot_send_has_one_path(pins, bondctl):
    """Without bondd, which has no say in it."""
    pins.bond.device_kind, pins.settings.path = X.DEVICE_TEAM, X.PATH_DIRECT
    assert "path: a team that is made for mac_policy filter" in \
        bondctl("set", "bond0", "xmit_hash_policy", "layer3+4", "path", "counted", status=1).stderr
    assert pins.settings.path == X.PATH_DIRECT
    assert pins.settings.xmit_hash_policy == X.POLICY_LAYER2
    bondctl("set", "bond0", "path", "direct")
    pins.bond.team_sends = 1
    bondctl("set", "bond0", "path", "counted")
    assert pins.settings.path == X.PATH_COUNTED


def test_monitors_say_what_they_found(pins, show):
    verdict, now_ns = pins.monitors[1], time.monotonic_ns()
    verdict.spoken |= 1 << X.MONITOR_ARP
    verdict.since_ns[X.MONITOR_CARRIER] = now_ns - 90 * 10**9
    verdict.since_ns[X.MONITOR_ARP] = now_ns - 60 * 10**9
    first, second = (slave["monitors"] for slave in show()["slaves"])
    assert first.keys() == {"carrier"}
    assert (second["carrier"]["state"], second["arp"]["state"]) == ("up", "down")
    assert second["carrier"]["since_ms"] >= 90000 > second["arp"]["since_ms"] >= 60000


def test_monitors_of_an_earlier_build_are_unknown(pins, show):
    (pins.directory / "monitors").unlink()
    assert [slave["monitors"] for slave in show()["slaves"]] == [None, None]


def test_failovers_are_shown(pins, show, bondctl):
    assert show()["failover"] == {"last_duration_us": None, "count": 0, "histogram_us": []}
    assert "failovers" not in bondctl("show", "-d", "bond0").stdout
    pins.failover.count, pins.failover.last_ns = 3, 170700
    pins.failover.histogram[0], pins.failover.histogram[8] = 1, 2
    histogram = [{"below": 1, "failovers": 1}, {"below": 256, "failovers": 2}]
    assert show()["failover"] == {"last_duration_us": 170, "count": 3, "histogram_us": histogram}
    assert "the last took 170 us; 3 in all" in bondctl("show", "-d", "bond0").stdout


@pytest.mark.parametrize("number, name", [(X.CARRIER_UNKNOWN, None), (X.CARRIER_POLL, "poll"),
                                          (X.CARRIER_TRACEPOINT, "tracepoint"),
                                          (X.CARRIER_FENTRY, "fentry"), (99, None)])
def test_what_watches_carriers_is_shown(pins, show, tmp_path, number, name):
    pins.failover.carrier_source = number
    assert show()["carrier_source"] is None  # without bondd nobody watches
    with socket.socket(socket.AF_UNIX) as bondd:
        bondd.bind(str(tmp_path / "bondd.sock"))
        bondd.listen()
        pins.table.heartbeat_ns = time.monotonic_ns()
        assert show()["carrier_source"] == name


def test_failovers_of_an_earlier_build_are_unknown(pins, show):
    (pins.directory / "failover").unlink()
    assert [show()[key] for key in ("carrier_source", "failover")] == [None, None]


def reasons(show):
    return [slave["why"] for slave in show()["slaves"]]


@pytest.fixture
def plain(pins):
    """A bond in balance-xor with two slaves in use."""
    pins.bond.mode, pins.bond.carrier, pins.bond.hook = X.MODE_BALANCE_XOR, 1, X.HOOK_CLSACT
    pins.table.selection = X.SELECT_HASH
    return pins


def test_why_a_slave_in_use_is_null(plain, show, bondctl):
    assert reasons(show) == [None, None]
    assert "not in use" not in bondctl("show", "-d", "bond0").stdout


@pytest.mark.parametrize("ended, what, diag", [
    (X.BFD_SILENT, "the far end is silent on this link", "control detection time expired"),
    (X.BFD_SIGNALED, "the far end has taken it down", "neighbor signaled session down")])
def test_why_names_the_session_that_the_programs_have_ended(plain, show, ended, what, diag):
    """bondd is not running, so the monitor still says what it said."""
    link = plain.mapped("bfd", abi.btf().struct("xbond_bfd")).link[1]
    link.enabled, link.words[0].session.state = 1, 3
    plain.monitors[1].spoken |= 1 << X.MONITOR_BFD
    plain.monitors[1].works |= 1 << X.MONITOR_BFD
    monitor = show()["slaves"][1]["monitors"]["bfd"]
    assert (monitor["state"], monitor["session"], monitor["lost"]) == ("up", "up", 0)
    plain.table.tx_mask &= ~2
    assert reasons(show) == [None, "bondd has taken it out of use for a moment"]
    link.ended = ended
    assert reasons(show) == [None, f"its BFD session ended while bondd was not running: {what}"]
    monitor = show()["slaves"][1]["monitors"]["bfd"]
    assert (monitor["state"], monitor["session"], monitor["lost"]) == ("down", "down", 1)
    assert monitor["diag"] == diag
    link.ended = 99
    assert reasons(show) == [None, "bondd has taken it out of use for a moment"]


def test_why_names_the_monitor(plain, show, bondctl):
    plain.take_out(1)
    plain.monitors[1].works = 0
    assert reasons(show) == [None, "no carrier"]
    assert "    not in use           no carrier\n" in bondctl("show", "-d", "bond0").stdout
    plain.monitors[1].spoken |= 1 << X.MONITOR_BFD
    plain.monitors[1].works |= 1 << X.MONITOR_CARRIER
    assert reasons(show) == [None, "its BFD session is down"]
    plain.monitors[1].works = plain.monitors[1].spoken
    assert reasons(show) == [None, "no monitor has found its link working yet"]
    (plain.directory / "monitors").unlink()
    assert reasons(show) == [None, "its link is down"]


def test_why_says_how_long_a_slave_is_held(plain, show):
    plain.take_out(1)
    plain.monitors[1].spoken |= 1 << X.MONITOR_FLAPS
    flaps = plain.quality[1].flaps
    flaps.hold.level, flaps.hold.until_ns = 3, time.monotonic_ns() + 39 * 10**9
    for at in range(4):
        flaps.at_ns[at] = time.monotonic_ns() - at * 25 * 10**9
    shown = show()["slaves"][1]
    assert shown["why"] == "it is held down because it flaps; it is tried again in 39 s"
    assert shown["monitors"]["flaps"]["flaps"] == 3
    assert 30000 < shown["monitors"]["flaps"]["until_ms"] <= 39000
    flaps.hold.until_ns = 1
    shown = show()["slaves"][1]
    assert shown["why"] == "it is held down because it flaps"
    assert shown["monitors"]["flaps"]["until_ms"] is None


def test_why_without_the_map_of_an_earlier_build(plain, show):
    (plain.directory / "quality").unlink()
    plain.monitors[0].spoken |= 1 << X.MONITOR_FLAPS
    assert show()["slaves"][0]["monitors"]["flaps"].keys() == {"state", "since_ms"}


def test_why_names_the_delay(plain, show):
    plain.bond.updelay_ms, plain.bond.downdelay_ms = 500, 300
    plain.take_out(0, X.LINK_GOING_UP)
    plain.take_out(1, X.LINK_GOING_DOWN)
    plain.monitors[1].works = 0
    assert reasons(show) == ["its link is up again; updelay (500 ms) is running",
                             "no carrier; downdelay (300 ms) is running"]


def test_why_names_drain_and_backup(plain, show):
    plain.settings.drain_mask = 1
    assert reasons(show) == ["drained: it carries traffic only when no other slave can", None]
    plain.settings.drain_mask = 3
    assert reasons(show) == [None, None]
    plain.settings.drain_mask = 0
    plain.bond.mode, plain.table.selection = X.MODE_ACTIVE_BACKUP, X.SELECT_ACTIVE
    plain.bond.active_slot = 1
    assert reasons(show) == ["backup: the active slave is eth1", None]
    plain.slaves[0].queue_id = 3
    assert reasons(show)[0] == \
        "backup: the active slave is eth1; it carries the packets of queue 3 (queue_id)"


def test_why_names_programs_that_are_gone(plain, show):
    plain.bond.hook = X.HOOK_TCX
    assert reasons(show)[0] == \
        "it sends, but receives nothing: its receive program was taken off"


def test_why_names_min_links(plain, show):
    plain.bond.carrier, plain.bond.min_links = 0, 3
    assert reasons(show) == ["the bond has no carrier: it needs 3 usable slaves (min_links), and "
                             "has 2"] * 2
    plain.bond.min_links = 0
    assert reasons(show) == ["the bond has no carrier"] * 2


def test_why_is_that_of_lacp(pins, show, bondctl):
    pins.bond.carrier, pins.table.tx_mask = 1, 0
    shown = show()["slaves"][0]
    assert shown["why"] == shown["lacp"]["why"]
    assert "not in use" not in bondctl("show", "-d", "bond0").stdout


def test_drops_by_reason(pins, bondctl, stats):
    """Those that the programs count, on every CPU, and those of the budgets."""
    cpus = pins.drop(0, {X.DROP_INACTIVE: 5, X.DROP_LACP_QUEUE: 1, X.DROP_NO_SLAVE: 9})
    pins.drop(X.MAX_SLAVES, {X.DROP_NO_SLAVE: 7, X.DROP_INACTIVE: 9})
    for kind, number in ((X.PDU_PARTNER, 11), (X.PDU_STRANGER, 12), (X.PDU_MARKER, 13)):
        pins.hold[1].budget[kind].flooded = number
    shown = stats()
    assert shown["drops"] == {"no_slave": 7 * cpus}
    first, second = ({name: number for name, number in slave["drops"].items() if number}
                     for slave in shown["slaves"])
    assert first == {"inactive": 5 * cpus, "lacp_queue": cpus}
    assert second == {"lacp_flood": 11, "lacp_strangers": 12, "marker_flood": 13}
    text = bondctl("stats", "bond0").stdout
    assert f"{5 * cpus}: arrived on a slave that does not receive for the bond" in text
    assert f"{7 * cpus}: sent while no slave could transmit" in text
    assert text.count("  dropped ") == 6


def test_afxdp(pins, show, stats, bondctl):
    """What programs have counted is in the sums, and apart; of slaves that have left, too."""
    assert "AF_XDP" not in bondctl("stats").stdout + bondctl("show", "-d").stdout
    cpus = pins.count(1, tx_packets=10, rx_bytes=7)
    for at, number in enumerate(("tx_packets", "tx_bytes", "rx_packets", "rx_bytes")):
        setattr(pins.afxdp.slot[1], number, 100 + at)
        setattr(pins.afxdp.retired, number, 1000)
    pins.afxdp.slot[1].rx_dropped = 3
    shown, counted = show(), stats()
    for bond, slave in ((shown, shown["slaves"][1]),
                        (counted["counters"], counted["slaves"][1]["counters"])):
        assert slave["tx_packets"] == 10 * cpus + 100 and slave["afxdp_tx_packets"] == 100
        assert slave["rx_bytes"] == 7 * cpus + 103 and slave["afxdp_rx_bytes"] == 103
        assert bond["tx_packets"] == 10 * cpus + 1100 and bond["afxdp_tx_packets"] == 1100
        assert bond["rx_dropped"] == slave["rx_dropped"] == 3
    assert counted["slaves"][1]["drops"]["inactive"] == 3
    assert shown["slaves"][0]["afxdp_tx_bytes"] == 0
    text = bondctl("stats").stdout
    assert "\n  by AF_XDP 1100 (1101 bytes) out, 1102 (1103 bytes) in\n" in text
    assert "\n    by AF_XDP 100 (101 bytes) out, 102 (103 bytes) in\n" in text
    assert "of these by AF_XDP   100 packets, 101 bytes out, 102 packets, 103 bytes in\n" in \
        bondctl("show", "-d").stdout
    pins.directory.joinpath("afxdp").unlink()  # no bondd of this build has adopted the bond yet
    counted = stats()["counters"]
    assert (counted["tx_packets"], counted["afxdp_tx_packets"]) == (10 * cpus, 0)


def test_drops_of_a_bond_of_before(pins, stats):
    """No bondd of this build has given it the map yet."""
    pins.directory.joinpath("drops").unlink()
    shown = stats()
    assert shown["drops"] == {"no_slave": None}
    assert {slave["drops"]["inactive"] for slave in shown["slaves"]} == {None}
    assert {slave["drops"]["lacp_flood"] for slave in shown["slaves"]} == {0}


def test_stats_take_80_columns(pins, bondctl):
    for name, value in (("packets", 99 * 10**9), ("bytes", 99 * 10**12)):
        setattr(pins.bond.retired, f"tx_{name}", value)
        setattr(pins.bond.retired, f"rx_{name}", value)
    head, *rows = bondctl("stats").stdout.splitlines()
    assert head.split() == ["tx_packets", "tx_bytes", "rx_packets", "rx_bytes", "rx_dropped"]
    assert [row.split()[0] for row in rows] == ["bond0", "eth0", "eth1"]
    assert rows[0].split()[1:3] == ["99000000000", "99000000000000"]
    assert {len(line) for line in (head, *rows)} == {len(head)} and len(head) <= 80
    assert bondctl("stats", "bond0").stdout.splitlines() == [head, *rows]


def test_no_bonds(bpf_dir, bondctl):
    """People are told; programs read that there is nothing."""
    for words in (("show",), ("show", "-d"), ("stats",)):
        assert bondctl(*words).stdout == "there are no bonds; 'bondctl create' makes one\n"
    for words in (("show", "--proc"), ("list",)):
        assert bondctl(*words).stdout == ""
    assert json.loads(bondctl("-j", "show").stdout) == []
