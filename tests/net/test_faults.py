# SPDX-License-Identifier: GPL-2.0-or-later
"""The matrix of faults: each system call of each verb fails once, of bondd and of bondctl, by
tests/tools/faults.so.c. After each: bondd lives, what is there is what was before or what was
wanted, so `show` agrees with the devices, a bond that was there carries traffic, and a second try
or a restart of bondd brings what was wanted. A call is known by its stack. The shares divide the
stacks among them, each build anew. Of the calls that are made from one place, as libbpf makes
hundreds, the first and the last fail.

Pairs: in the verbs that change devices a call fails, and another one of those that bondd makes to
undo what it has done, or to go on. In every second case both stay, so that no other try helps.

Memory: the kernel kills bondd in a verb, when it takes more than it may.
"""
import collections
import contextlib
import ctypes
import dataclasses
import json
import mmap
import os
import re
import signal
import subprocess

import pytest

from built import BUILD, IS_INSTRUMENTED
from lab import Lab, stable
from memory_group import MemoryGroup
from namespace import KERNEL
from policies import WANTED
from tcx import TCX_EGRESS, TCX_INGRESS, order
from waiting import PATIENCE, wait_for

pytestmark = [
    pytest.mark.usefixtures("on_veths", "bondd_chooses"),
    pytest.mark.skipif(IS_INSTRUMENTED, reason="sanitizers want to come before faults.so"),
    pytest.mark.skipif(KERNEL < (6, 6), reason="looks at programs by TCX")]
INJECTOR = BUILD / "tools/faults.so"
SHARES = 72
# So many calls after the first failure comes the second. Undos have much in common, so that of all
# together each call is met.
LATER = (1, 3, 9, 27)
DEADLINE = 600  # of a share, in seconds; the usual one is for a single case
RELEASED = 15  # seconds until what could not be restored is tried again
NOT_UNDONE = "not everything could be undone"  # a conversion says so, and bondd tries again
LOST = 3  # status of bondctl: bondd could not take the request, or not answer
# What the verb or its answer is not about, or what chance decides.
NOT_COMPARED = {"hash_seed", "link_failures", "resets", "times_detached", "failover",
                "speed_mbps", "duplex", "carrier_source"}
# Programs that ask for a policy do what the others do if there is none. The one of a pair does what
# the others do on `path counted`.
ASK_NOBODY = {"xbond_egress_as": "xbond_egress", "xbond_egress_pa": "xbond_egress",
              "xbond_port_asks": "xbond_port"}
# What is still wrong: a function that the failing call is made for, and what is wrong.
KNOWN = {}

BEFORE = """[bond]
mode = active-backup
xmit_hash_policy = layer2
[slave l0]
prio = 3
"""
AFTER = """[bond]
mode = balance-xor
xmit_hash_policy = layer3+4
min_links = 1
[slave l1]
queue_id = 2
[slave l2]
"""


class Faults(ctypes.Structure):
    """As in tests/tools/faults.so.c."""
    _fields_ = [("fail_stack", ctypes.c_uint64), ("fail_nth", ctypes.c_uint32),
                ("seen", ctypes.c_uint32), ("count", ctypes.c_uint32),
                ("is_recording", ctypes.c_uint32), ("then", ctypes.c_uint32),
                ("stays", ctypes.c_uint32), ("failed", ctypes.c_char * 24),
                ("stack", ctypes.c_uint64 * 8192)]


class Injector:
    """Lets calls of the programs fail that have its environment."""

    ends, wrapper = (), []

    def __init__(self, path):
        assert INJECTOR.exists(), f"not built: {INJECTOR}"
        path.write_bytes(bytes(ctypes.sizeof(Faults)))
        with open(path, "r+b") as file:
            self.shared = Faults.from_buffer(mmap.mmap(file.fileno(), 0))
        self.environment = {"LD_PRELOAD": str(INJECTOR), "XBOND_TEST_FAULTS": str(path)}

    @contextlib.contextmanager
    def recording(self):
        self.shared.fail_stack, self.shared.count, self.shared.is_recording = 0, 0, 1
        yield
        self.shared.is_recording = 0

    @contextlib.contextmanager
    def armed(self, stack, nth, stays=False, then=0):
        """The nth call of that stack fails in the block, and so does the one that comes so many
        calls later. If they stay, so do all later ones from the same places.
        """
        self.shared.failed, self.shared.seen = b"", 0
        self.shared.stays, self.shared.then = stays, then
        self.shared.fail_nth, self.shared.fail_stack = nth, stack
        yield
        self.shared.fail_stack = 0

    def calls(self):
        """(stack, nth) of the first and of the last call of each stack that was recorded."""
        times = collections.Counter(self.shared.stack[:self.shared.count])
        return [(stack, nth) for stack in sorted(times) for nth in sorted({1, times[stack]})]

    @property
    def failed(self):
        return self.shared.failed.decode()


def lasting(link, filters):
    """Without what comes and goes by itself: the groups of IPv6 addresses; and that of all IPv6
    nodes, which a device that is down has if IPv6 was turned on since then.
    """
    return sorted(mac for mac in filters if not mac.startswith("33:33:ff") and
                  ("UP" in link["flags"] or mac != "33:33:00:00:00:01"))


def devices(host):
    """What a verb may change of a device, with its programs, in the order in which they run."""
    keys = ("address", "mtu", "promiscuity", "allmulti", "ifalias", "master")
    filters = collections.defaultdict(list)
    for each in json.loads(host.run("bridge", "-j", "fdb", "show").stdout):
        filters[each["ifname"]].append(each["mac"])
    return {link["ifname"]: {key: link.get(key) for key in keys} | {
        "up": "UP" in link["flags"],
        "filters": lasting(link, filters[link["ifname"]]),
        "xdp": link.get("xdp", {}).get("prog", {}).get("name"),
        "programs": [order(host, link["ifname"], hook) for hook in (TCX_INGRESS, TCX_EGRESS)]}
            for link in host.ip_json("-d", "link", "show")}


def comparable(value):
    """Without what chance decides."""
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items() if key not in NOT_COMPARED}
    return [comparable(each) for each in value] if isinstance(value, list) else value


def differences(one, other, where=""):
    """What differs, as lines."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [line for key in sorted({*one, *other})
                for line in differences(one.get(key), other.get(key), f"{where}/{key}")]
    if isinstance(one, list) and isinstance(other, list):
        one, other = [each for each in one if each not in other], \
            [each for each in other if each not in one]
    return [] if one == other else [f"{where}: {one!r:.100}, not {other!r:.100}"]


def whole(state):
    return state


def shown(state):
    """What users see of it, without pins."""
    return state["shown"]


class Case:
    """A host with three links, where one verb is tried again and again."""

    def __init__(self, verb, bondd):
        self.verb, self.bondd = verb, bondd
        self.make()

    def make(self):
        self.lab = Lab(None)
        self.host = self.lab.lone(links=3, bondd=False)
        self.host.far.ip_batch("link add br0 type bridge", "addr add 10.0.0.2/24 dev br0",
                               "link set br0 up", *[f"link set {name} master br0"
                                                    for name in self.host.links])
        self.host.environment, self.host.wrapper = self.bondd.environment, self.bondd.wrapper
        self.host.start_bondd()
        for words in self.verb.prepare:
            self.must(words)
        self.before = self.settled()
        assert self.do(self.verb.do).returncode == self.verb.is_refused
        self.after = self.settled()
        self.go_back()
        self.before = self.settled()  # a policy leaves a pin

    def do(self, words, environment=None):
        """Words of bondctl, or a function that returns a finished process. For a conversion,
        bondctl would wait for minutes until bondd takes the request.
        """
        if callable(words):
            return words(self, environment)
        try:
            return self.host.run(*self.host.ctl_command(*words), check=False,
                                 env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, LOST, "", "")

    def must(self, words):
        done = self.do(words)
        assert done.returncode == 0, (words, done.stderr)

    def state(self):
        """Of a bond's MAC address, which is by chance until it is that of its first slave: which
        links have the same.
        """
        host = self.host
        found = devices(host)
        mac_of = {name: found[name]["address"] for name in host.links}

        def owners(mac):
            return [name for name, each in mac_of.items() if each == mac]
        bonds = {bond["name"]: {**bond, "mac": owners(bond["mac"]),
                                "slaves": {each["name"]: each for each in bond["slaves"]}}
                 for bond in host.ctl_json("show")}
        for name in found.keys() - mac_of.keys():
            found[name] |= {"address": owners(found[name]["address"]), "filters": None}
        for slave in bonds["bond0"]["slaves"].values() if self.verb.swaps else ():
            slave["mac"] = found[slave["name"]]["address"] = None
        if not any(bond["policy"] for bond in bonds.values()):
            for device in found.values():
                device["programs"] = [[ASK_NOBODY.get(name, name) for name in names]
                                      for names in device["programs"]]
        pins = [re.sub("(link_rx_)[0-9]+", r"\1N", pin) for pin in host.pins()]
        return comparable({"shown": {"show": stable(bonds), "devices": found}, "pins": pins})

    def settled(self):
        last = [None] * 3

        def is_same():
            last.append(self.state())
            return last[-3] == last[-2] == last[-1] and last[-1]
        return wait_for(is_same, "nothing to change by itself", interval=0.15)

    def wait_state(self, *wanted, deadline=10, part=whole):
        """Returns the state, whether or not a part of it has become that of one of those."""
        parts = [part(each) for each in wanted]
        with contextlib.suppress(AssertionError):
            return wait_for(lambda: part(state := self.state()) in parts and state, "", deadline)
        return self.state()

    def go_back(self):
        if self.state()["shown"] != self.before["shown"]:
            self.must(self.verb.undo)
        state = self.wait_state(self.before, part=shown)
        assert state["shown"] == self.before["shown"], differences(state, self.before)

    def apply(self, text, *words, environment=None):
        (self.host.config_dir / "bond0.conf").write_text(text)
        return self.do(("apply", "bond0", *words), environment)

    def restart(self):
        """Whatever has become of bondd."""
        self.host.restart_bondd(kill=True)

    def start_faulty(self):
        """A start of bondd as a verb; it may end, and then its unit starts it again."""
        self.host.kill_bondd()
        log_size = len(self.host.log())
        self.host.start_bondd(wait=False)
        status = LOST
        with contextlib.suppress(AssertionError):
            wait_for(lambda: self.host.bondd.poll() is not None or self.host.ping_bondd(), "", 20)
            status = self.host.bondd.poll() or 0
        said = re.findall("^bondd: (.*)$", self.host.log()[log_size:], re.M)
        return subprocess.CompletedProcess("bondd", status, "", "; ".join(said))

    # one fault

    def wrong(self, done):
        """After the fault: what is not as it should be, as lines; it is mended for the next."""
        wanted = [self.before, self.after]
        if done.returncode != LOST and not self.verb.goes_on:
            wanted = [self.before if done.returncode else self.after]
        state = self.wait_state(*wanted, deadline=RELEASED, part=shown)
        may_be_between = self.verb.is_asked or NOT_UNDONE in done.stderr or (
            done.returncode == LOST and self.verb.in_parts)
        found = [] if may_be_between or state["shown"] in (each["shown"] for each in wanted) else [
            f"status {done.returncode}, but {line}"
            for line in differences(state["shown"], wanted[0]["shown"])]
        if state != self.after and (done.returncode or self.verb.is_asked):
            state = self.try_again(found, "second try", shown,
                                   done.returncode == LOST or self.verb.goes_on)
        if state != self.after:
            found += [f"not healed: {line}"
                      for line in differences(state["shown"], self.after["shown"])]
            self.restart()
            state = self.wait_state(self.after)
            if state == self.before:
                state = self.try_again(found, "after a restart")
            found += [f"nor by a restart: {line}" for line in differences(state, self.after)]
        return found

    def try_again(self, found, when, part=whole, may_be_late=False):
        """may_be_late: what the first request asked for may be done meanwhile."""
        again = self.do(self.verb.do)
        state = self.wait_state(self.after, part=part)
        if again.returncode != self.verb.is_refused and not (
                may_be_late and part(state) == part(self.after)):
            found.append(f"{when}: {again.stderr.strip()}")
        return state

    def leftovers(self):
        """Pins, which nobody is shown, after a restart of bondd."""
        self.restart()
        return [f"left over: {line}" for line in differences(self.wait_state(self.before),
                                                             self.before)]

    def wait_tried_again(self):
        tries = self.host.log().count("faults: ")
        with contextlib.suppress(AssertionError):  # it may not be needed again
            wait_for(lambda: self.host.log().count("faults: ") > tries, "", 2.5)

    def reached(self, is_there, deadline=3):
        """As a finished process, for verbs that are not words of bondctl."""
        status = LOST
        with contextlib.suppress(AssertionError):
            wait_for(is_there, "", deadline)
            status = 0
        return subprocess.CompletedProcess("", status, "", "")

    def has_ended(self):
        """One that was killed is there for another moment."""
        wait_for(lambda: self.host.bondd.poll() is not None or self.host.ping_bondd(),
                 "bondd to answer or to end")
        return self.host.bondd.poll() is not None

    def has_traffic(self, deadline=3):
        return self.reached(lambda: self.host.ping("10.0.0.2", timeout=0.3),
                            deadline).returncode == 0

    def check(self, armed, *call, **how):
        """Lets a call of one program fail, or two. Returns what was wrong, as lines."""
        log_size = len(self.host.log())
        with armed.armed(*call, **how):
            done = self.do(self.verb.do, armed.environment if armed is not self.bondd else None)
            if how == {"stays": True} and self.host.bondd.poll() is None:
                self.wait_tried_again()
        if not armed.failed:  # it made fewer calls this time
            self.go_back()
            return []
        deadline = RELEASED if NOT_UNDONE in done.stderr else 3
        found = [] if not self.verb.carries or self.has_traffic(deadline) else ["no traffic"]
        if self.has_ended():
            ends = (*armed.ends, *((1,) if self.verb is VERBS["start"] else ()))
            if self.host.bondd.returncode not in ends:
                found.append(f"bondd ended with {self.host.bondd.returncode}")
            self.restart()
        if done.returncode not in (0, 1, LOST, *armed.ends) or (
                self.verb is VERBS["start"] and done.returncode == LOST and
                not how.get("stays")):  # it may be the connections that fail
            found.append(f"status {done.returncode}: {done.stderr.strip()}")
        found += self.wrong(done)
        log = self.host.log()[log_size:] + done.stderr
        if found:
            self.lab.close()
            self.make()
        else:
            self.go_back()
        return [f"{armed.failed} by {call}, {how}: {done.stderr.strip()}",
                *found,
                *stack(log)] if found and not is_known(stack(log)) else []


def is_known(lines):
    return any(part in line for part in KNOWN for line in lines)


def stack(log):
    """Who made the first call that failed, by what the injector wrote."""
    lines = log.split("faults: ")[1].splitlines()[1:] if "faults: " in log else []
    frames = [found for found in (re.search(r"/(bondd|bondctl)\(\+(0x[0-9a-f]+)\)", line)
                                  for line in lines) if found]
    if not frames:
        return []
    names = subprocess.run(["addr2line", "-f", "-s", "-i", "-e", BUILD / frames[0][1],
                            *[hex(int(frame[2], 16) - 1) for frame in frames]],
                           capture_output=True, text=True, check=True).stdout.split("\n")
    return ["  in " + " < ".join(names[:-1:2])]


@dataclasses.dataclass
class Verb:
    """Words of bondctl, or functions of the case."""
    do: object
    undo: object = ()
    prepare: tuple = ()  # what is there before
    is_refused: bool = False
    goes_on: bool = False  # by itself, when it was refused
    in_parts: bool = False  # a part may be done when bondd is lost, and bondctl says so
    carries: bool = False  # traffic, whatever becomes of it
    is_asked: bool = False  # the device: it may refuse, and the verb goes on; it is asked again
    swaps: bool = False  # MAC addresses of slaves: which one the others have does not matter


def applies(text, *words):
    return lambda case, environment: case.apply(text, *words, environment=environment)


def loads_policy(case, environment):
    return case.do(("policy", "load", "bond0", WANTED), environment)


def goes_up(case, _):
    case.host.ip("addr", "replace", "10.0.0.1/24", "dev", "bond0")
    case.host.ip("link", "set", "bond0", "up")
    return case.reached(case.has_traffic)


def creates_anew(case, _):
    """The first slave's MAC address would stay."""
    case.must(("delete", "bond0"))
    return case.do(CREATE)


def gives_mtu(mtu):
    def do(case, _):
        case.host.ip("link", "set", "bond0", "mtu", str(mtu))
        return case.reached(lambda: {case.host.link(name)["mtu"]
                                     for name in ("bond0", "l0", "l1")} == {mtu})
    return do


def sets_carrier(state, active):
    def do(case, _):
        case.host.far.ip("link", "set", "l0", state)
        return case.reached(lambda: case.host.show()["active_slave"] == active and
                            case.host.show()["mac"] == case.host.link(active)["address"])
    return do


CREATE = ("create", "bond0", "mode", "balance-xor", "hash_seed", "7")
ADD = ("add-slave", "bond0", "l0", "l1", "weight", "2")
BOND = (CREATE, ADD, goes_up)
CONVERT = ("set", "bond0", "device", "veth")
UNLOAD = ("policy", "unload", "bond0")
VERBS = {
    "create": Verb(CREATE, ("delete", "bond0")),
    "delete": Verb(("delete", "bond0"), applies(BEFORE), (applies(BEFORE),), goes_on=True),
    "add-slave": Verb(ADD, creates_anew, (CREATE,)),
    "del-slave": Verb(("del-slave", "bond0", "l0", "l1"), ADD, BOND, goes_on=True),
    "set": Verb(("set", "bond0", "xmit_hash_policy", "layer3+4", "miimon", "50", "min_links", "1",
                 "path", "direct", "mode", "balance-rr"),
                ("set", "bond0", "mode", "balance-xor", "xmit_hash_policy", "layer2", "miimon",
                 "100", "min_links", "0", "path", "counted"), BOND, in_parts=True, carries=True),
    "set-slave": Verb(("set-slave", "bond0", "l0", "queue_id", "5", "weight", "3", "drain", "on"),
                      ("set-slave", "bond0", "l0", "queue_id", "0", "weight", "2", "drain", "off"),
                      BOND, in_parts=True, carries=True),
    "apply": Verb(applies(AFTER), applies(BEFORE), (applies(BEFORE),)),
    "rollback": Verb(("rollback", "bond0"), applies(AFTER, "--confirm", "600"),
                     (applies(BEFORE), applies(AFTER, "--confirm", "600")), goes_on=True),
    "policy-load": Verb(loads_policy, UNLOAD, BOND, carries=True),
    "policy-unload": Verb(UNLOAD, loads_policy, (*BOND, loads_policy), carries=True),
    "takeover": Verb(("takeover", "bond7"), prepare=BOND, is_refused=True, carries=True),
    "handback": Verb(("handback", "bond0"), prepare=BOND, is_refused=True, carries=True),
    "convert": Verb(CONVERT, CONVERT, BOND, carries=True),
    "start": Verb(lambda case, _: case.start_faulty(), prepare=BOND, carries=True),
    "set-hook": Verb(("set", "bond0", "rx_hook", "xdp"), ("set", "bond0", "rx_hook", "tc"), BOND,
                     carries=True, is_asked=True),
    "set-macs": Verb(("set", "bond0", "mac_policy", "filter"),
                     ("set", "bond0", "mac_policy", "set"), BOND, carries=True),
    "mtu": Verb(gives_mtu(1400), gives_mtu(1500), BOND, in_parts=True, carries=True),
    **{f"failover-{which}": Verb(
        sets_carrier("down", "l1"), sets_carrier("up", "l0"),
        (("create", "bond0", "mode", "active-backup", "fail_over_mac", which, "primary", "l0"),
         ("add-slave", "bond0", "l0", "l1"), goes_up),
        carries=True, swaps=which == "follow") for which in ("active", "follow")},
}
# Those that change devices.
OF_DEVICES = ("create", "delete", "add-slave", "del-slave", "set", "convert", "start", "set-hook",
              "set-macs", "mtu", "failover-active", "failover-follow")
THAT_TAKE_MEMORY = ("create", "policy-load", "convert", "start", "set-hook")
# bondctl does more in these than send a request.
OF_BONDCTL = ("create", "apply", "policy-load", "policy-unload")


@pytest.fixture(name="name")
def verb_name(request, monkeypatch):
    """handback is looked at where it is refused; a veth is converted to another one."""
    if request.param == "convert":
        monkeypatch.setenv("XBOND_TEST_CONVERT", "1")
    if request.param == "handback":
        with contextlib.closing(Lab(None)) as lab:
            made = lab.namespace("k").run("ip", "link", "add", "kb0", "type", "bond", check=False)
        if not made.returncode:
            pytest.skip("this kernel has bonding")
    return request.param


def calls(case, armed, share):
    """What to let fail."""
    with armed.recording():
        assert case.do(case.verb.do, armed.environment).returncode == case.verb.is_refused
    found = armed.calls()
    assert found, "no call was recorded"
    case.wait_state(case.after)
    case.go_back()
    return [(stack, nth) for stack, nth in found if stack % SHARES == share]


def once(call):
    return [{}]


def for_a_while(call):
    return [{"stays": True}]


def with_a_later_one(call):
    return [{"then": then, "stays": bool((call[0] // SHARES + i) % 2)}
            for i, then in enumerate(LATER)]


@pytest.fixture(name="tally")
def in_the_matrix(record_property):
    """Of a test, for the table at the end of the run (conftest.py): tally(verb, what fails)."""
    def tally(name, what):
        counts = {"verb": name, "what": what, "tried": 0, "good": 0}
        record_property("faults", counts)
        return counts
    return tally


def try_all(case, armed, cases, counts):
    """cases: arguments of Case.check(). Returns what was wrong, as lines."""
    found = []
    for call, how in cases:
        counts["tried"] += 1
        wrong = case.check(armed, *call, **how)
        found += wrong
        if not armed.failed:
            counts["tried"] -= 1
        elif not wrong:
            counts["good"] += 1
    return found + case.leftovers()


def let_fail(tmp_path, program, name, share, ways, counts):
    signal.alarm(DEADLINE * PATIENCE)
    bondd, bondctl = Injector(tmp_path / "bondd"), Injector(tmp_path / "bondctl")
    case = Case(VERBS[name], bondd)
    armed = {"bondd": bondd, "bondctl": bondctl}[program]
    try:
        found = try_all(case, armed, [(call, way) for call in calls(case, armed, share)
                                      for way in ways(call)], counts)
    finally:
        case.lab.close()
    assert not found, "\n" + "\n".join(found)


@pytest.mark.variants(len(VERBS) // 2, long=200)
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("program,name", [("bondd", name) for name in VERBS] +
                         [("bondctl", name) for name in OF_BONDCTL], indirect=["name"])
def test_each_call_fails_once(tmp_path, program, name, share, tally):
    let_fail(tmp_path, program, name, share, once, tally(name, program))


@pytest.mark.variants(1, long=20)
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("name", ["del-slave", "delete"], indirect=True)
def test_each_call_fails_for_a_while(tmp_path, name, share, tally):
    """What could not be restored is restored when it can be."""
    let_fail(tmp_path, "bondd", name, share, for_a_while, tally(name, "bondd, for a while"))


@pytest.mark.variants(1, long=20)
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("name", OF_DEVICES, indirect=True)
def test_two_calls_fail(tmp_path, name, share, tally):
    let_fail(tmp_path, "bondd", name, share, with_a_later_one, tally(name, "bondd, pairs"))


@pytest.fixture(name="group")
def memory_group():
    with contextlib.closing(MemoryGroup(f"xbt{os.getpid()}")) as group:
        yield group


@pytest.mark.variants(2, long=16)
@pytest.mark.parametrize("share", range(16))
@pytest.mark.parametrize("name", THAT_TAKE_MEMORY, indirect=True)
def test_killed_for_memory(group, name, share, tally):
    signal.alarm(DEADLINE * PATIENCE)
    case = Case(VERBS[name], group)
    try:
        found = try_all(case, group, [(((share * 128 + step * 2048) * 1024,), {})
                                      for step in range(6)], tally(name, "bondd, killed"))
        assert group.count(), "nothing was killed"
    finally:
        case.lab.close()
    assert not found, "\n" + "\n".join(found)
