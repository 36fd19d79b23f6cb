"""Fixtures of the tests that run inside the emulated machine."""
import contextlib
import json
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from machine import Nics  # noqa: E402
from lab import Lab  # noqa: E402


class Record:
    """What the tests found out about each partner, for docs/users/interop.md: {partner: {behaviour:
    "yes" | "no" | "-": not in this kernel}} of one run.
    """

    def __init__(self):
        self.found = {}

    def note(self, partner, behaviour, outcome):
        outcomes = self.found.setdefault(partner, {})
        if outcomes.get(behaviour) != "no":  # one case of it that fails is enough
            outcomes[behaviour] = outcome

    @contextlib.contextmanager
    def shows(self, partner, behaviour):
        """The block shows it, or fails."""
        try:
            yield
        except pytest.skip.Exception:
            self.note(partner, behaviour, "-")
            raise
        except BaseException:
            self.note(partner, behaviour, "no")
            raise
        self.note(partner, behaviour, "yes")

    def write(self, path):
        with open(path, "w") as file:
            json.dump(self.found, file, indent=1)


record = Record()


def pytest_configure(config):
    for line in ("small: runs in every set",
                 "once(KIND...): in the set core on one kernel only, in turn; with KINDs, of these "
                 "partners only",
                 "full(KIND...): in the set full only; with KINDs likewise",
                 "drivers: in a guest with NICs of its own"):
        config.addinivalue_line("markers", line)


def is_marked(item, name):
    kind = item.callspec.params.get("kind") if hasattr(item, "callspec") else None
    return any(not mark.args or kind in mark.args for mark in item.iter_markers(name))


def in_set(items):
    """Those that run in the set that XBOND_VM_SET names, on this kernel: XBOND_VM_TURN is its
    number/how many there are.
    """
    chosen = os.environ.get("XBOND_VM_SET", "full")
    turn, turns = (int(part) for part in os.environ.get("XBOND_VM_TURN", "0/1").split("/"))
    once = [item for item in items if is_marked(item, "once") and not is_marked(item, "full")]
    for item in items:
        if chosen == "full" or is_marked(item, "small"):
            yield item
        elif chosen == "core" and not is_marked(item, "full") and \
                (item not in once or once.index(item) % turns == turn):
            yield item


def pytest_collection_modifyitems(config, items):
    drivers = bool(os.environ.get("XBOND_VM_DRIVERS"))  # then the guest is for those tests alone
    chosen = list(in_set([item for item in items
                          if bool(item.get_closest_marker("drivers")) == drivers]))
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def pytest_sessionfinish():
    path = os.environ.get("XBOND_VM_RECORD")
    if path:
        record.write(path)


@pytest.fixture(scope="session")
def shows():
    """with shows(PARTNER, BEHAVIOUR): the block shows it. Goes into docs/users/interop.md."""
    return record.shows


@pytest.fixture(scope="session")
def all_nics():
    if not os.environ.get("XBOND_VM"):
        pytest.exit("these tests run in the emulated machine: make test-vm", returncode=1)
    return Nics()


@pytest.fixture
def lab(all_nics):
    made = Lab()
    yield made
    made.close()
    all_nics.give_back()


class Setting:
    """near has bondd, far has the other ends of near.links; cable i is NIC 2i - NIC 2i+1."""

    def __init__(self, lab, nics, pairs, config, first=0):
        self.lab, self.nics = lab, nics
        self.near, self.far = lab.host("a", bondd=False), lab.namespace("b")
        names = nics.take(self.near, self.far, pairs, first)
        self.near.links, self.far.links = [list(ends) for ends in zip(*names)]
        for name, text in (config or {}).items():
            (self.near.config_dir / name).write_text(text)
        self.near.start_bondd()

    def switch(self):
        """far becomes a switch with address 10.0.0.2 and fd00::2."""
        self.far.ip("link", "add", "sw0", "type", "bridge", "forward_delay", "0", "mcast_snooping",
                    "0")
        for name in self.far.links:
            self.far.ip("link", "set", name, "master", "sw0")
        self.address(self.far, "sw0", 2)
        return self

    def kernel_bond(self, mode, *options):
        """far aggregates with the kernel's own bonding."""
        self.far.ip("link", "add", "kb0", "type", "bond", "mode", mode, "miimon", "50", *options)
        for name in self.far.links:
            self.far.ip("link", "set", name, "down")
            self.far.ip("link", "set", name, "master", "kb0")
        self.address(self.far, "kb0", 2)
        return self

    def bond(self, mode, *options, slaves=None):
        """near's bond0 with all its NICs, 10.0.0.1 and fd00::1."""
        slaves = self.near.links if slaves is None else slaves
        self.bond_alone(mode, *options, slaves=slaves)
        if slaves:
            self.near.wait_slaves(*slaves)
            self.near.wait_ping("10.0.0.2")
        return self

    def bond_alone(self, mode, *options, slaves=None):
        """The same, but nobody is waited for."""
        slaves = self.near.links if slaves is None else slaves
        self.near.ctl("create", "bond0", "mode", mode, *options)
        if slaves:
            self.near.ctl("add-slave", "bond0", *slaves)
        self.address(self.near, "bond0", 1)
        return self

    @staticmethod
    def address(namespace, dev, number, v4="10.0.0", v6="fd00"):
        namespace.ip("link", "set", dev, "up")
        namespace.ip("addr", "add", f"{v4}.{number}/24", "dev", dev)
        namespace.ip("addr", "add", f"{v6}::{number}/64", "dev", dev, "nodad")


@pytest.fixture
def setting(lab, all_nics):
    """make(pairs=2, config={file: text}, first=0) returns a Setting; first: the number of its first
    pair.
    """

    def make(pairs=2, config=None, first=0):
        return Setting(lab, all_nics, pairs, config, first)
    return make


class Keeper:
    """One setting for the tests of a module, as booting and bonding take seconds; made anew after a
    test that failed.
    """

    def __init__(self, nics):
        self.nics, self.lab, self.made, self.broken, self.key = nics, None, None, False, None

    def get(self, key, build):
        """The setting that build() made for this key; another key, another setting."""
        if self.broken or key != self.key:
            self.drop()
        if not self.made:
            self.lab = Lab()
            self.broken = True
            self.made = build(Setting(self.lab, self.nics, 2, None))
            self.broken, self.key = False, key
        return self.made

    def drop(self):
        if self.lab:
            self.lab.close()
            self.nics.give_back()
        self.lab = self.made = None
        self.broken = False


@pytest.fixture
def bonded(keeper):
    """A bond in active-backup and a switch, shared: to be left as it was found."""
    made = keeper.get("bonded", lambda made: made.switch().bond("active-backup"))
    made.near.wait_slaves(*made.near.links)
    return made


@pytest.fixture(scope="module")
def keeper(all_nics):
    kept = Keeper(all_nics)
    yield kept
    kept.drop()


def lab_of(item):
    """The lab of a test, alone or shared."""
    kept = item.funcargs.get("keeper")
    if kept:
        kept.broken = True
    return kept.lab if kept else item.funcargs.get("lab")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    result = outcome.get_result()
    lab = lab_of(item) if result.failed and hasattr(item, "funcargs") else None
    if lab is not None and call.when in ("setup", "call"):
        result.sections.append(("both sides", lab.report()))
        dmesg = subprocess.run(["dmesg"], capture_output=True, text=True, check=False).stdout
        result.sections.append(("kernel", "\n".join(dmesg.splitlines()[-15:])))
    if result.failed:
        keep(result)


def keep(result):
    """A failure goes to /out at once: a guest that is ended at its time limit prints none."""
    path = os.environ.get("XBOND_VM_RECORD")
    if path:
        with open(os.path.splitext(path)[0] + ".failed", "a", encoding="utf-8") as file:
            file.write(f"===== {result.nodeid} ({result.when})\n{result.longreprtext}\n")
            for title, text in result.sections:
                file.write(f"--- {title}\n{text}\n")
