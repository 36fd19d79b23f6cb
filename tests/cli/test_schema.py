# SPDX-License-Identifier: GPL-2.0-or-later
"""The schemas of docs/json: real output passes, and no change of its shape does."""
import copy
import json
import subprocess

import pytest

import schema
from frames import pcap
from pins import X, Pins
from test_calls import BONDCTL

LOOP = {"worst_ms": 0.5, "worst_work": "socket", "worst_own_ms": 0.25, "turns": 7,
        "histogram_ms": [{"below": 0.001, "turns": 7}]}
FLOW = ("src", "10.0.0.1", "dst", "10.0.0.2", "dmac", "02:00:5e:00:00:01")
MODES = schema.modes()


@pytest.fixture
def output(bpf_dir, tmp_path):
    """What bondctl -j prints, without bondd."""
    def read(*words):
        done = subprocess.run([BONDCTL, "--run-dir", str(tmp_path), "--bpf-dir", str(bpf_dir), "-j",
                               *words], capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)
    return read


@pytest.fixture
def full(bpf_dir):
    """A bond whose JSON has every optional part."""
    pins = Pins(bpf_dir, slaves=1)
    pins.publish()
    pins.failover.count = pins.failover.histogram[3] = 1
    pins.monitors[0].spoken |= 1 << X.MONITOR_FLAPS | 1 << X.MONITOR_SILENCE | 1 << X.MONITOR_ERRORS
    return pins


def passes(name, value):
    return schema.validator(name).is_valid(value)


def places(value, path=()):
    """The path of every value, containers included."""
    if path:
        yield path
    for key, part in value.items() if isinstance(value, dict) else \
            enumerate(value) if isinstance(value, list) else ():
        yield from places(part, (*path, key))


def within(value, path):
    for key in path:
        value = value[key]
    return value


def changed(value, path, change):
    made = copy.deepcopy(value)
    change(within(made, path[:-1]), path[-1])
    return made


def put(new):
    def change(container, key):
        container[key] = new
    return change


def remove(container, key):
    del container[key]


def optional(path):
    """A monitor may have no verdict; of the fields that count, all do; a summary has no packets."""
    return path == ("packets",) or path[-2:-1] == ("monitors",) or path[-2:-1] == ("fields",) or \
        path[-3:-2] == ("monitors",) and path[-1] not in ("state", "since_ms")


def assert_mutants_fail(name, value):
    """No field may be missing, be of another type or have a stranger beside it."""
    schema.check(name, value)
    for path in places(value):
        assert not passes(name, changed(value, path, put([[]]))), path
        assert not passes(name, changed(value, path, put({"?": 1}))), path
        if isinstance(within(value, path), dict):
            assert not passes(name, changed(value, (*path, "unknown"), put(1))), path
        if isinstance(path[-1], str) and not optional(path):
            assert not passes(name, changed(value, path, remove)), path
    if isinstance(value, dict):
        assert not passes(name, {**value, "unknown": 1})


def test_show(full, output):
    assert_mutants_fail("show", {**output("show", "bond0"), "loop": LOOP})
    everything = schema.check("show", output("show"))
    assert not passes("show", [*everything, {}]) and not passes("show", {})


def test_stats_and_list(full, output, tmp_path):
    value = output("stats", "bond0")
    assert_mutants_fail("stats", {**value, "loop": LOOP})
    assert not passes("stats", [value, {}])
    assert_mutants_fail("list", output("list"))


def test_explain(bpf_dir, output):
    Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)
    assert_mutants_fail("explain", output("explain", "bond0", *FLOW))


def test_explain_pcap(bpf_dir, output, tmp_path):
    Pins(bpf_dir, mode=X.MODE_BALANCE_XOR)
    (tmp_path / "capture").write_bytes(pcap([bytes(12) + b"\x08\x06", b"short"]))
    value = output("explain", "bond0", "--pcap", str(tmp_path / "capture"))
    value["packets"] = value["packets"][:1]
    assert_mutants_fail("explain-pcap", value)


@pytest.mark.parametrize("name, words", [("monitor-kinds", ["monitor", "--kinds"]),
                                         ("import-keys", ["import", "kernel", "--keys"]),
                                         ("doctor-list", ["doctor", "--list"])])
def test_lists(output, name, words):
    assert_mutants_fail(name, output(*words)[:20])


@pytest.mark.parametrize("mode", MODES)
def test_every_mode(bpf_dir, output, mode):
    Pins(bpf_dir, mode=MODES.index(mode))
    shown = schema.check("show", output("show", "bond0"))
    assert shown["mode"] == mode
    assert not passes("show", {**shown, "mode": "802.3ad" if mode != "802.3ad" else "broadcast"})
    schema.check("explain", output("explain", "bond0", *FLOW))


@pytest.mark.parametrize("pin", ["monitors", "failover", "quality"])
def test_a_bond_of_an_earlier_build(full, output, pin):
    (full.directory / pin).unlink()
    schema.check("show", output("show", "bond0"))


def test_a_bond_of_another_version(full, output):
    full.bond.abi_version = 1000
    assert_mutants_fail("show", output("show", "bond0"))


def test_every_option_is_described():
    listed = json.loads(subprocess.run([BONDCTL, "--dump-options"], capture_output=True, text=True,
                                       check=True).stdout)
    definitions = schema.validator("show").schema["definitions"]
    for scope in ("bond", "slave"):
        assert set(definitions[f"{scope}_options"]["required"]) == \
            {option["name"] for option in listed if option["scope"] == scope} - {"force", "up"}
