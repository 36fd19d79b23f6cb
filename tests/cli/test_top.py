# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl top on maps that are made by hand: no bondd, no traffic. tests/net has the rates."""
import json
import os
import re
import signal
import socket
import subprocess

import pytest

import schema
from built import ROOT
from clock import Clock, hurried
from pins import L, X, Pins, fill
from screen import Screen
from test_calls import BONDCTL
from test_schema import MODES, assert_mutants_fail
from waiting import quiet_for, wait_for

QUICK = ("--interval", "0.1")
F5 = "\x1b[15~"  # does nothing but wake it


@pytest.fixture(name="call")
def _call(bpf_dir, tmp_path):
    return [BONDCTL, "--run-dir", str(tmp_path), "--bpf-dir", str(bpf_dir), "top"]


@pytest.fixture(name="bondd")
def _bondd(tmp_path):
    """Accepts connections, and answers nothing. It must beat to be there."""
    with socket.socket(socket.AF_UNIX) as bondd:
        bondd.bind(str(tmp_path / "bondd.sock"))
        bondd.listen(64)
        yield


def once(call, *words, status=0, **kwargs):
    done = subprocess.run(hurried(*call, "--once", *QUICK, *words), capture_output=True, text=True,
                          timeout=60, **kwargs)
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout


def once_json(call, *words):
    return schema.check("top", json.loads(once(call, "-j", *words)))


def problems(call):
    """But for the programs, of which these maps have none."""
    return [line for line in once_json(call, "bond0")["problems"] if "taken off" not in line]


def remove(pins):
    for path in pins.directory.iterdir():
        path.unlink()
    pins.directory.rmdir()


def slave_of(bond, name):
    return next(slave for slave in bond["slaves"] if slave["name"] == name)


def test_schema(bpf_dir, call):
    pins = Pins(bpf_dir, slaves=1)
    pins.publish()
    bond = once_json(call, "bond0")
    assert_mutants_fail("top", bond)
    assert once_json(call)[0]["name"] == "bond0"
    pins.bond.abi_version = 1000
    bond = once_json(call, "bond0")
    assert_mutants_fail("top", bond)
    assert "version 1000" in bond["problems"][0] and bond["tx_bits_per_s"] is None


@pytest.mark.parametrize("mode", MODES)
def test_what_weights_give(bpf_dir, call, mode):
    pins = Pins(bpf_dir, slaves=4, mode=MODES.index(mode))
    pins.publish()
    pins.settings.weight[2] = 2000
    pins.settings.drain_mask = 1 << 3
    pins.bond.active_slot = 1
    bond = once_json(call, "bond0")
    due = {slave["name"]: slave["share_due"] for slave in bond["slaves"]}
    if mode == "active-backup":
        assert due == {"eth0": 0, "eth1": 1, "eth2": 0, "eth3": 0}
    elif mode == "broadcast":
        assert due == {"eth0": pytest.approx(1 / 3), "eth1": pytest.approx(1 / 3),
                       "eth2": pytest.approx(1 / 3), "eth3": 0}
    else:
        assert due == {"eth0": 0.25, "eth1": 0.25, "eth2": 0.5, "eth3": 0}
    hashes = pins.table.selection == X.SELECT_HASH
    assert [slave["buckets"] for slave in bond["slaves"]] == \
        ([4096, 0, 0, 0] if hashes else [None] * 4)
    assert all(slave["share"] is None for slave in bond["slaves"])
    assert not re.search(r"\.\d{11}", once(call, "-j", "bond0")), "more digits than are known"


@pytest.mark.usefixtures("bondd")
def test_problems_in_words(bpf_dir, call):
    pins = Pins(bpf_dir, mode=X.MODE_ACTIVE_BACKUP)
    pins.bond.active_slot, pins.bond.carrier = 0, 1
    pins.table.heartbeat_ns = 2**63
    assert problems(call) == []
    pins.slaves[1].link, pins.table.tx_mask = X.LINK_DOWN, 1
    pins.monitors[1].works = 0
    pins.slaves[0].trouble = X.TROUBLE_ADDRESSES
    addresses, carrier = problems(call)
    assert addresses == "eth0: it has IP addresses, which belong on the bond"
    assert carrier.startswith("eth1: not used: no carrier for ")
    pins.table.heartbeat_ns = 0
    text = once(call)
    assert "bond0: bondd does not answer: " in text and "bond0: eth1: not used: no carrier" in text


LINKS = {X.LINK_UP: "up", X.LINK_DOWN: "down", X.LINK_GOING_UP: "going up",
         X.LINK_GOING_DOWN: "going down"}


@pytest.mark.parametrize("mode", [X.MODE_ACTIVE_BACKUP, X.MODE_BALANCE_XOR, X.MODE_8023AD])
@pytest.mark.parametrize("link", LINKS, ids=LINKS.get)
@pytest.mark.parametrize("drained", [False, True])
def test_the_words_of_show(bpf_dir, call, mode, link, drained):
    """The state of its link, or what a slave is used for, and what is wrong."""
    pins = Pins(bpf_dir, mode=mode)
    pins.bond.active_slot, pins.bond.carrier, pins.table.lacp_heartbeat_ns = 0, 1, 2**63
    pins.publish()
    pins.slaves[1].link, pins.settings.drain_mask = link, drained << 1
    if link != X.LINK_UP:
        pins.table.tx_mask = 1
    shown = subprocess.run(hurried(*call[:-1], "show"), capture_output=True, text=True, check=True,
                           timeout=60).stdout
    head, row = (re.search(f"^  {word} .*", shown, re.M)[0] for word in ("SLAVE", "eth1"))
    state, role = (row[head.index(begin):head.index(end)].strip()
                   for begin, end in (("STATE", "bit/s"), ("ROLE", "WEIGHT")))
    assert state == LINKS[link]
    assert re.search(f"  eth1 +{role if state == 'up' else state} ", once(call))
    news = [line.strip() for line in shown.splitlines()[1:]]
    assert once_json(call, "bond0")["problems"] == news[:next(
        at for at, line in enumerate(news) if line.startswith("mac "))]


@pytest.mark.usefixtures("bondd")
def test_standby_is_no_problem(bpf_dir, call):
    pins = Pins(bpf_dir)
    pins.bond.carrier, pins.table.heartbeat_ns = 1, 2**63
    pins.table.lacp_heartbeat_ns = 2**63

    def to_standby(system, port):
        system.config.max_links = 1
        port[1].selected, port[1].mux = L.STANDBY, L.MUX_DETACHED
        port[1].actor.state &= ~(L.COLLECTING | L.DISTRIBUTING)

    def to_another_system(_, port):
        port[1].aggregator, port[1].selected, port[1].mux = 2, L.STANDBY, L.MUX_DETACHED
        port[1].actor.state &= ~(L.COLLECTING | L.DISTRIBUTING)
        port[1].partner.system[5] ^= 1

    pins.publish(to_standby)
    pins.table.tx_mask = 1
    assert problems(call) == []
    assert re.search("eth1 +standby +detached", once(call))
    pins.publish(to_another_system)
    assert "eth1: not used: not aggregated: connected to another switch " in problems(call)[0]
    assert re.search("eth1 +not used +detached", once(call))
    pins.slaves[1].link = X.LINK_DOWN
    assert "eth1: not used: " in problems(call)[0]


def test_drops_of_a_backup_are_no_problem(bpf_dir, call):
    """Those that an alert is for are told, in the words of stats; others are not."""
    pins = Pins(bpf_dir, mode=X.MODE_ACTIVE_BACKUP)
    alerts = (ROOT / "packaging/metrics/alerts.yml").read_text()
    bad = re.search('dropped_packets_total.reason=~"([^"]+)"', alerts)[1]
    reasons = {name.removeprefix("DROP_").lower(): number for name, number in vars(X).items()
               if re.match("DROP_(?!.*(FLOOD|STRANGERS))", name)}  # which budgets count
    dropped = 0

    def drop_more(text):
        nonlocal dropped
        dropped += 100
        pins.count(1, rx_dropped=dropped)
        pins.drop(1, dict.fromkeys(reasons.values(), dropped))
        return "LACPDUs that bondd did not read in time" in text
    with Screen(*call, *QUICK, lines=50) as screen:
        screen.wait("eth1")
        text = screen.wait_until(drop_more, "the drops")
        assert re.search("bond0: eth1: drops .* packets/s: LACPDUs", text)
        assert text.count("packets/s") == sum(bool(re.fullmatch(bad, each)) for each in reasons)
        assert screen.end("q") == 0


def test_afxdp(bpf_dir, call):
    """What programs send by AF_XDP has a column while there is some."""
    pins = Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)

    def send_more(text):
        pins.afxdp.slot[1].tx_bytes += 10**6
        return re.search(r"BUCKETS +DROP/s +AF_XDP\n", text) and re.search("eth1 .*M *\n", text)
    assert "AF_XDP" not in once(call)
    with Screen(*call, *QUICK) as screen:
        screen.wait_until(send_more, "the column")
        assert screen.end("q") == 0


def test_drained_but_in_use(bpf_dir, call):
    """No other can, so it is used."""
    pins = Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)
    pins.settings.drain_mask = 1 << 1
    assert re.search("eth0 +in use ", once(call)) and re.search("eth1 +drained ", once(call))
    pins.slaves[0].link, pins.table.tx_mask = X.LINK_DOWN, 1 << 1
    assert re.search("eth1 +in use .* 100% +0 ", once(call))


def test_names_cannot_steer_the_terminal(bpf_dir, call):
    pins = Pins(bpf_dir, slaves=1)
    pins.publish()
    fill(pins.slaves[0].name, b"\x1b[31m\xff")
    pins.slaves[0].link = X.LINK_DOWN
    assert "\x1b" not in once(call) and "  ?[31m?" in once(call)
    assert slave_of(once_json(call, "bond0"), "?[31m?")
    with Screen(*call) as screen:
        screen.wait("?[31m?")
        screen.press("jd")
        screen.wait("Drain ?[31m?")
        screen.end("nq")


@pytest.mark.parametrize("words, status, line", [
    (["-j"], 2, "-j needs --once"), (["--interval", "0"], 2, "takes seconds"),
    (["--interval", "nan"], 2, "takes seconds"), (["--interval", "1s"], 2, "takes seconds"),
    (["--once", "bond9"], 1, "no such bond"), (["bond0", "bond1"], 2, "unexpected"),
    ([], 1, "use 'bondctl top --once'"), (["bad/name"], 2, "'bad/name'")])
def test_bad_calls(call, words, status, line):
    done = subprocess.run([*call, *words], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (status, "") and done.stderr.count("\n") == 1
    assert line in done.stderr


def test_who_may_not_read_is_told(bpf_dir, call):
    Pins(bpf_dir)
    subprocess.run(["mount", "--bind", str(bpf_dir), "/mnt"], check=True)
    call[call.index(str(bpf_dir))] = "/mnt"
    os.chmod("/mnt", 0o700)
    try:
        line = once(call, status=1, user="nobody")
    finally:
        subprocess.run(["umount", "/mnt"], check=True)
    assert "no permission" in line and line.count("\n") == 1


@pytest.mark.parametrize("term, wanted", [("dumb", "cannot show a full screen"),
                                          ("no-such", "is not known"), ("", "is not known")])
def test_terminals_that_cannot(bpf_dir, call, term, wanted):
    with Screen(*call, term=term) as screen:
        assert screen.end() == 1
        assert wanted in screen.text() and "--once" in screen.text()
        assert screen.modes_are_restored()


@pytest.mark.parametrize("term", ["xterm", "xterm-256color", "vt100", "linux", "screen"])
def test_terminals_that_can(bpf_dir, call, term):
    Pins(bpf_dir).publish()
    with Screen(*call, *QUICK, term=term) as screen:
        screen.wait("eth1")
        assert screen.end("q") == 0
        assert screen.modes_are_restored()


def test_no_color(bpf_dir, call):
    pins = Pins(bpf_dir)
    pins.publish()
    pins.slaves[0].link = X.LINK_DOWN
    for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        with Screen(*call, **environment) as screen:
            screen.wait("eth0   down")
            screen.end("q")
            assert (b"\x1b[31m" in screen.output) == coloured


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
                                    signal.SIGSEGV, signal.SIGABRT])
def test_the_terminal_is_restored(bpf_dir, call, number):
    Pins(bpf_dir).publish()
    with Screen(*call) as screen:
        screen.wait("eth1")
        assert not screen.modes_are_restored()
        assert screen.end(number=number) == -number
        assert screen.modes_are_restored()
        assert b"\x1b[?1049l" in screen.output


def test_a_terminal_that_goes_away_ends_it(bpf_dir, call):
    Pins(bpf_dir).publish()
    with Screen(*call) as screen:
        screen.wait("eth1")
        assert screen.hang_up() in (0, -signal.SIGHUP)


@pytest.mark.parametrize("size", [(20, 5), (1, 1), (7, 2), (40, 3), (300, 100)])
def test_any_size(bpf_dir, call, size):
    pins = Pins(bpf_dir, slaves=64)
    pins.publish()
    pins.slaves[0].link = X.LINK_DOWN
    with Screen(*call, *QUICK) as screen:
        screen.wait("eth1 ")
        screen.resize(*size)
        screen.press("?jjjjGgkd\x1bs+-p")
        screen.resize(80, 24)
        screen.wait("PAUSED")
        screen.press("pn")
        screen.wait("sorted by name")
        screen.wait("eth1 ")
        assert screen.end("q") == 0


def test_begins_in_a_tiny_terminal(bpf_dir, call):
    Pins(bpf_dir).publish()
    with Screen(*call, columns=20, lines=5) as screen:
        text = screen.wait("bond0")
        assert all(len(line) <= 20 for line in text.splitlines())
        assert screen.end("q") == 0


@pytest.mark.usefixtures("bondd")
def test_problems_in_a_low_terminal(bpf_dir, call):
    """They come before the keys."""
    pins = Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)
    pins.bond.carrier, pins.table.heartbeat_ns = 0, 2**63
    for lines in (5, 4, 3):
        with Screen(*call, *QUICK, lines=lines) as screen:
            text = screen.wait("problems: 'bondctl top --once' prints them")
            assert "bond0 " in text and ("q quit" in text) == (lines > 3)
            assert screen.end("q") == 0


@pytest.mark.parametrize("size", [(80, 24), (80, 8), (30, 12), (20, 5), (30, 40)])
def test_help_in_any_terminal(bpf_dir, call, size):
    """No word is cut, and the last line says how to leave, and whether something is missing."""
    Pins(bpf_dir).publish()
    with Screen(*call, *QUICK, columns=size[0], lines=size[1]) as screen:
        screen.wait("bond0")
        screen.press("?")
        text = " ".join(screen.wait_until(lambda text: "Any key" in text, "the help").split())
        whole = "normal for a backup Any key goes back." in text
        assert whole == (size in ((80, 24), (30, 40)))
        assert whole or text.endswith("Any key goes back. 'man bondctl-top' has the rest.")
        if size != (20, 5):
            assert "show only this bond; again, or Escape: all of them" in text
        assert screen.end("qq") == 0


def test_long_sentences_are_broken(bpf_dir, call):
    pins = Pins(bpf_dir, slaves=2)
    pins.publish()
    pins.bond.abi_version = 1000
    with Screen(*call, *QUICK, columns=40) as screen:
        text = screen.wait("of the same version")
        assert all(len(line) <= 40 for line in text.splitlines())
        screen.resize(20, 5)
        pins.bond.abi_version = X.ABI_VERSION
        screen.resize(20, 6)
        screen.wait("eth0")
        screen.press("jjd")
        screen.wait("(y/n)")
        assert screen.end("nq") == 0


def test_bonds_come_and_go(bpf_dir, call):
    with Screen(*call, *QUICK) as screen:
        screen.wait("no bonds yet")
        pins = Pins(bpf_dir)
        pins.publish()
        screen.wait("eth1")
        pins.slaves[1].state = X.SLOT_FREE
        screen.wait_until(lambda text: "eth1" not in text and "eth0" in text, "eth1 to go")
        remove(pins)
        screen.wait("no bonds yet")
        Pins(bpf_dir, slaves=3).publish()
        screen.wait("eth2")
        assert screen.end("q") == 0


def test_waits_for_the_bond_that_was_named(bpf_dir, call):
    pins = Pins(bpf_dir)
    with Screen(*call, *QUICK, "bond0") as screen:
        screen.wait("eth1")
        remove(pins)
        screen.wait("no such bond: bond0")
        Pins(bpf_dir, slaves=3)
        assert "no such bond" not in screen.wait("eth2")
        assert screen.end("q") == 0


def test_keys_after_the_bond_has_gone(bpf_dir, call):
    """Both are found at once: a bond without its pins, and keys for its slave."""
    pins = Pins(bpf_dir)
    with Screen(*call, *QUICK, MALLOC_PERTURB_="85") as screen:
        screen.wait("eth1")
        screen.process.send_signal(signal.SIGSTOP)
        remove(pins)
        quiet_for(0.2, "a reading is due, and comes before the keys")
        screen.press("jd")
        screen.process.send_signal(signal.SIGCONT)
        screen.wait("pick a slave first")
        assert screen.end("q") == 0


def test_keys(bpf_dir, call):
    pins = Pins(bpf_dir, slaves=3)
    pins.publish()
    with Screen(*call, *QUICK) as screen:
        screen.wait("sorted by name")
        screen.press("s")
        screen.wait("sorted by rate")
        screen.press("x")
        screen.wait("sorted by drops")
        screen.press("++")
        screen.wait("every 0.5 s")
        screen.press("p")
        screen.wait("PAUSED")
        pins.slaves[2].state = X.SLOT_FREE
        screen.press("n")
        assert "eth2" in screen.wait("sorted by name")
        screen.press(" ")
        screen.wait_until(lambda text: "eth2" not in text, "eth2 to go")
        screen.press("?")
        screen.wait("Any key goes back")
        screen.press("q")
        screen.wait("eth1")
        assert screen.end("q") == 0


def test_a_drain_is_asked_about(bpf_dir, call, tmp_path):
    pins = Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)
    clock, interval = Clock(tmp_path), 0.5
    with Screen(*clock.command(*call, "--interval", interval)) as screen:
        screen.wait("eth1")
        screen.press("jjd")
        screen.wait("Drain eth1 of bond0?")
        assert pins.settings.drain_mask == 0
        screen.press("n")
        screen.wait("nothing was changed")
        assert pins.settings.drain_mask == 0
        screen.press("d")
        screen.wait("Drain eth1 of bond0?")
        screen.press("y")
        screen.wait("eth1 is drained")
        assert pins.settings.drain_mask == 1 << 1

        def has_ended(text):
            clock.move(interval)
            screen.press(F5)
            return "eth1 is drained" not in text
        screen.wait_until(has_ended, "the message to end")
        screen.press("dy")
        screen.wait("no longer drained")
        assert pins.settings.drain_mask == 0
        screen.press("d")
        screen.wait("Drain eth1")
        pins.slaves[1].state = X.SLOT_FREE
        screen.press("y")
        screen.wait("'eth1' is not a slave of bond0")
        assert pins.settings.drain_mask == 0
        assert screen.end("q") == 0


def test_ascii_without_utf8(bpf_dir, call):
    Pins(bpf_dir).publish()
    with Screen(*call, LC_ALL="C") as screen:
        screen.wait("eth1")
        screen.end("q")
        assert screen.output.isascii()


def test_stops_and_goes_on_like_any_job(bpf_dir, call):
    Pins(bpf_dir).publish()
    with Screen(*call, *QUICK) as screen:
        screen.wait("eth1")
        screen.process.send_signal(signal.SIGSTOP)
        screen.press("s")
        screen.process.send_signal(signal.SIGCONT)
        wait_for(lambda: "sorted by rate" in screen.text(), "the key to be obeyed")
        assert screen.end("q") == 0


def test_a_bond_that_is_administratively_down(bpf_dir, call):
    Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)
    setup = ("ip link add bond0 address 02:00:5e:10:00:00 type veth peer name port; "
             'if [ "$1" = up ]; then ip link set bond0 up; fi; shift; exec "$@"')
    told = "bond0: the bond is administratively down: 'ip link set bond0 up' brings it up"
    for state in ("down", "up"):
        done = subprocess.run(["unshare", "--net", "sh", "-ec", setup, "sh", state,
                               *hurried(*call, "--once", *QUICK)], capture_output=True, text=True,
                              timeout=60, check=True)
        assert (told in done.stdout.splitlines()) == (state == "down")
