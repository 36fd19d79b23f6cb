"""Fixtures of the network tests: a lab per test, pairs of hosts with bonds at both ends,
and the report of both sides when a test fails. At the end the matrix of faults (test_faults.py).
"""
import collections
import os
import signal
import subprocess

import pytest

import lab as lab_module
import sample
from lab import BONDCTL, BONDD, BPFFS, BUILD, ROOT, Lab
from namespace import KERNEL, run
from waiting import wait_for

# that tests here run
TOOLS = [BUILD / "tools" / name for name in ("udpseq", "rawflood", "xdpflood", "xdplive",
                                           "hang")]
DEADLINE = 300
SOAK_DEADLINE = 1800


def pytest_configure(config):
    for marker in ("soak: takes many minutes; runs with XBOND_SOAK=1 only (make soak)",
                   "xdist_group(name): where pytest-xdist spreads the tests, these stay together"):
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    keep_together(items)
    if not os.environ.get("XBOND_SOAK"):
        soak = [item for item in items if item.get_closest_marker("soak")]
        items[:] = [item for item in items if item not in soak]
        config.hook.pytest_deselected(items=soak)
    sample.mark_all(items)


def keep_together(items):
    """Tests that share a fixture of their file run one after another in one process, also where
    pytest-xdist spreads the others. They come first, as they take longest.
    """
    for item in items:
        if shares_a_fixture(item):
            item.add_marker(pytest.mark.xdist_group(item.path.name))
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


def shares_a_fixture(item):
    of_file = item.nodeid.split("::")[0]
    return any(fixture.scope != "function" and fixture.baseid == of_file
               for fixtures in item._fixtureinfo.name2fixturedefs.values()  # no public way
               for fixture in fixtures)


@pytest.fixture(scope="session", autouse=True)
def machine():
    if os.geteuid():
        pytest.exit("tests/net needs root", returncode=1)
    missing = [str(program.relative_to(ROOT)) for program in (BONDD, BONDCTL, *TOOLS)
               if not program.exists()]
    if missing:
        pytest.exit(f"not built: make {' '.join(missing)}", returncode=1)
    if subprocess.run(["mountpoint", "-q", BPFFS], check=False).returncode:
        run("mount", "-t", "bpf", "bpf", BPFFS)
    if not os.environ.get("XBOND_VM"):
        spare_what_the_kernel_refuses()


def spare_what_the_kernel_refuses():
    """Where the kernel has no fentry, each bondd would find that out anew, by reading all types of
    the kernel once more: 20 ms of CPU. With bondd_chooses it does.
    """
    lab = Lab()
    try:
        host = lab.lone()
        host.ctl("create", "bond0")
        source = wait_for(lambda: host.show()["carrier_source"], "a source of carriers")
    finally:
        lab.close()
    if source == "tracepoint":
        os.environ.setdefault("XBOND_TEST_CARRIER_SOURCE", source)


@pytest.fixture(autouse=True)
def deadline():
    """A test that hangs fails, and is cleaned up like any other."""
    def late(*_):
        raise AssertionError(f"the test took longer than {DEADLINE} s")
    signal.signal(signal.SIGALRM, late)
    signal.alarm(SOAK_DEADLINE if os.environ.get("XBOND_SOAK") else DEADLINE)
    yield
    signal.alarm(0)


@pytest.fixture
def hook(request):
    """What bondd attaches with: None is its own choice. Tests parametrize it, indirectly."""
    chosen = getattr(request, "param", None)
    if chosen == "tcx" and KERNEL < (6, 6):
        pytest.skip("this kernel has no TCX")
    return chosen


@pytest.fixture(params=["counted", "direct"])
def path(request):
    """A test that takes it runs on both."""
    return request.param


@pytest.fixture
def bondd_chooses(monkeypatch):
    """bondd finds out by itself how this kernel tells of carriers."""
    monkeypatch.delenv("XBOND_TEST_CARRIER_SOURCE", raising=False)


@pytest.fixture
def tests_choose(monkeypatch):
    """Each test says which device it wants, whatever XBOND_TEST_DEVICE says."""
    monkeypatch.setattr(lab_module, "DEVICE", None)


@pytest.fixture
def on_veths(monkeypatch):
    """For what a netkit lacks, such as XDP: tests run on a veth, unless they say which device they
    want.
    """
    monkeypatch.setattr(lab_module, "DEVICE", "veth")


@pytest.fixture
def on_pairs(monkeypatch):
    """For what a team does not do, where nobody has said what tests run on."""
    monkeypatch.setattr(lab_module, "DEVICE", lab_module.DEVICE or "pair")


@pytest.fixture
def lab(hook):
    made = Lab(hook)
    yield made
    made.close()


class Pair:
    """Two hosts, links l0.. between them, bond0 on both with 10.0.0.1 and .2, fd00::1 and ::2."""

    def __init__(self, lab, links, same_index=False):
        self.lab = lab
        self.near, self.far = lab.host("a"), lab.host("b")
        self.links = lab.links(self.near, self.far, links, same_index=same_index)

    def bond(self, near_options, far_options):
        for host, options, number in ((self.near, near_options, 1), (self.far, far_options, 2)):
            words = [word for option in options.items() for word in option]
            host.ctl("create", "bond0", *words)
            host.ctl("add-slave", "bond0", *self.links)
            host.ip_batch("link set bond0 up", f"addr add 10.0.0.{number}/24 dev bond0",
                          f"addr add fd00::{number}/64 dev bond0 nodad")
        for host in (self.near, self.far):
            host.wait_slaves(*self.links)
        self.near.wait_ping("10.0.0.2")
        return self


@pytest.fixture
def pair(lab):
    """make(mode, links=4, far={}, same_index=False, OPTION=VALUE...) returns a Pair; far's options
    default to near's.
    """

    def make(mode, links=4, far=None, same_index=False, **options):
        near_options = {"mode": mode, **options}
        return Pair(lab, links, same_index).bond(near_options, {**near_options, **(far or {})})
    return make


@pytest.fixture
def pair_with(pair):
    """pair_with(OPTION=VALUE...): a make() as pair's, for bonds that have these options, and spread
    their flows.
    """

    def with_(**common):
        def make(mode="balance-xor", **options):
            policy = {"xmit_hash_policy": "layer3+4"} if mode == "balance-xor" else {}
            return pair(mode, **{**policy, **common, **options})
        return make
    return with_


@pytest.fixture
def lone(lab):
    return lab.lone


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    result = outcome.get_result()
    lab = item.funcargs.get("lab") if hasattr(item, "funcargs") else None
    if result.failed and lab is not None and call.when in ("setup", "call"):
        result.sections.append(("both sides", lab.report()))


def pytest_terminal_summary(terminalreporter):
    """From the tests' properties, which also come from the processes of pytest-xdist."""
    cells = collections.defaultdict(collections.Counter)
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, counts in getattr(report, "user_properties", ()):
                if name == "faults" and report.when == "call":
                    for verb in (counts["verb"], "all"):
                        cells[verb, counts["what"]].update(tried=counts["tried"],
                                                           good=counts["good"])
    if not cells:
        return
    whats = sorted({what for _, what in cells})
    terminalreporter.section("faults: tried, failed", "-")
    terminalreporter.line("".join(f"{word:>20}" for word in ("", *whats)))
    for verb in sorted({verb for verb, _ in cells}, key=lambda verb: (verb == "all", verb)):
        counts = [cells[verb, what] for what in whats]
        terminalreporter.line("".join(f"{word:>20}" for word in (verb, *(
            f"{each['tried']}, {each['tried'] - each['good']}" if each["tried"] else "-"
            for each in counts))))
