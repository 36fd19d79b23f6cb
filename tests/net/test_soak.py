"""Random operations on one bond after the other: what administrators, cables and crashes do. bondd
always answers, a refusal is one line, what save writes is what apply takes, and deleting the bond
restores its slaves. `make soak` has long histories by random seeds, and XBOND_TEST_SEED repeats one
of them.
"""
import concurrent.futures
import os
import random
import re

import pytest

import schema
from lab import IS_INSTRUMENTED, ROOT
from namespace import memory_kb, open_files
from waiting import quiet_for, wait_for

LONG = bool(os.environ.get("XBOND_SOAK"))
BONDS, STEPS = (20, 100) if LONG else (1, 35)
ADMINISTRATORS = 3
MOST_MEMORY_KB = 24 << 10
REFUSED = (1, 2)
VIEWED = (0, 1, 4, 5)  # doctor's findings too

MODES = schema.modes()
BOND_OPTIONS = {
    "mode": MODES, "device": ["auto", "veth", "netkit", "team"],
    "path": ["counted", "direct"], "min_links": [0, 1, 2, 5],
    "miimon": [10, 100], "updelay": [0, 50], "downdelay": [0, 50],
    "xmit_hash_policy": ["layer2", "layer3+4", "flow", "encap3+4"], "symmetric": ["on", "off"],
    "ip6_flow_label": ["on", "off"],
    "hash_seed": ["random", 7], "packets_per_slave": [0, 1, 5], "bytes_per_slave": [0, 1500],
    "rebalance_interval": [0, 1], "rebalance_idle": [0, 100], "flowlet_gap": [0, 500],
    "primary": ["l0", "l1", "none", "nobody"], "active_slave": ["l0", "l1", "l2", "none"],
    "primary_reselect": ["always", "better", "failure"],
    "fail_over_mac": ["none", "active", "follow"], "mac_policy": ["set", "filter"],
    "num_grat_arp": [0, 1, 3], "num_unsol_na": [0, 2], "peer_notif_delay": [0, 100],
    "resend_igmp": [0, 1, 5],
    "all_slaves_active": ["on", "off"], "broadcast_neighbor": ["on", "off"],
    "arp_interval": [0, 50, 100], "arp_ip_target": ["10.0.0.2", "10.0.0.2,10.0.0.3", "none"],
    "ns_ip6_target": ["fd00::2", "none"], "arp_all_targets": ["any", "all"],
    "arp_validate": ["none", "all", "filter", "active", "filter_backup"],
    "arp_missed_max": [1, 2, 5],
    "bfd_interval": [0, 10, 50], "bfd_multiplier": [2, 3], "bfd_remote": ["10.0.0.2", "none"],
    "bfd_local": ["10.0.0.1", "none", "fd00::1"],
    "flap_limit": [0, 1, 5], "rx_silence": [0, 500, 1000], "error_limit": [0, 100],
    "rx_hook": ["tc", "xdp", "auto"], "xdp_tx": ["on", "off"],
    "tlb_dynamic_lb": ["on", "off"], "lp_interval": [1, 5],
    "lacp_rate": ["slow", "fast"], "lacp_fallback": ["none", "one", "all", "off"],
    "lacp_tx": ["hash", "balance-rr"], "max_links": [0, 1], "ad_select": ["stable", "bandwidth"],
    "drain_markers": ["on", "off"], "lacp_active": ["on", "off"], "lacp_hold": ["on", "off"],
    "lacp_strict": ["on", "off"], "lacp_revert": ["on", "off"], "lacp_wtr": [0, 1],
    "lacp_fallback_delay": [0, 3000], "lacp_partner": ["02:00:00:00:00:66", "none"],
    "coupled_control": ["on", "off"], "min_links_lacp": ["on", "off"],
    "ad_actor_system": ["02:00:00:00:00:55", "none"], "ad_actor_sys_prio": [1, 65535],
    "ad_user_port_key": [0, 5],
}
SLAVE_OPTIONS = {"weight": [1, 5, "auto"], "drain": ["on", "off"], "queue_id": [0, 1, 2, 3],
                 "prio": [-1, 0, 5], "actor_port_prio": [1, 255]}
VIEWS = [
    ("show", "-d"), ("show", "--proc"), ("stats", "bond0"), ("simulate", "bond0"),
    ("doctor", "--no-traffic"),
    ("top", "--once", "--interval", "0.1"),
    ("explain", "bond0", "src", "10.0.0.1", "dst", "10.0.0.2", "dmac", "02:00:00:00:00:09",
     "proto", "tcp", "sport", 1, "dport", 2)]


def state(near, dev):
    """What bondd may change of a device."""
    link = near.link(dev)
    kept = {key: value for key, value in link.items()
            if key not in ("stats64", "operstate", "flags")}
    return {
        **kept, "up": "UP" in link["flags"], "promiscuous": "PROMISC" in link["flags"],
        "programs": near.run("bpftool", "-j", "net", "show", "dev", dev).stdout,
        "filters": near.run("tc", "filter", "show", "dev", dev, "ingress", check=False).stdout,
        "queues": near.run("tc", "qdisc", "show", "dev", dev).stdout,
        "receives": sorted(near.run("bridge", "fdb", "show", "dev", dev).stdout.splitlines()),
        "addresses": sorted((each["local"], each["prefixlen"]) for each in
                            near.ip_json("address", "show", "dev", dev)[0]["addr_info"]),
        "settings": near.run("sysctl", "-a", "-r", rf"^net\.ipv[46]\.(conf|neigh)\.{dev}\.").stdout,
        "features": near.run("ethtool", "-k", dev).stdout,
    }


class Histories:
    """Of bonds called bond0 with the links of near, made of one seed."""

    def __init__(self, near, seed):
        self.near, self.seed = near, seed
        self.chance = random.Random(seed)
        self.done = []

    def bond(self):
        return "bond0"

    def fail(self, what):
        raise AssertionError("\n".join([f"XBOND_TEST_SEED={self.seed}: {what}, after:",
                                        *self.done]))

    def note(self, *words):
        self.done.append(" ".join(map(str, words)))

    def ctl(self, *words):
        """Its status; a refusal says why in one line."""
        ended = self.near.ctl_try(*words)
        self.note(*words, "->", ended.returncode, ended.stderr.strip())
        if ended.returncode and (ended.returncode not in REFUSED or
                                 ended.stderr.count("\n") != 1):
            self.fail(f"status {ended.returncode}, and on stderr: {ended.stderr}")
        return ended

    def set_bond(self):
        words = []
        for _ in range(self.chance.choice([1, 1, 2])):
            option = self.chance.choice([*BOND_OPTIONS, *6 * ["mode"]])
            words += [option, self.chance.choice(BOND_OPTIONS[option])]
        self.ctl("set", self.bond(), *words)

    def set_slave(self):
        option = self.chance.choice(list(SLAVE_OPTIONS))
        self.ctl("set-slave", self.bond(), self.link(), option,
                 self.chance.choice(SLAVE_OPTIONS[option]))

    def link(self):
        return self.chance.choice(self.near.links)

    def add_slave(self):
        self.ctl("add-slave", self.bond(), self.link(), "force", "yes")

    def del_slave(self):
        self.ctl("del-slave", self.bond(), self.link())

    def pull_cable(self):
        link, to = self.link(), self.chance.choice(["up", "down"])
        self.near.far.ip("link", "set", link, to)
        self.note("far end of", link, to)

    def set_mtu(self):
        link, mtu = self.link(), self.chance.choice([1400, 1500])
        if self.near.is_team("bond0"):
            link = "bond0"  # it lets nobody change the MTU of a port
        self.near.ip("link", "set", link, "mtu", mtu)
        self.note("mtu of", link, mtu)

    def apply_saved(self):
        for verb in (("save", "bond0"), ("check",), ("apply",)):
            self.ctl(*verb)

    def kill(self):
        self.near.kill_bondd()
        self.note("kill -9")
        if self.chance.random() < .5:
            self.ctl("set-slave", "bond0", self.link(), "drain", self.chance.choice(["on", "off"]))
        self.near.start_bondd()

    def freeze(self):
        self.near.freeze_bondd()
        self.view()
        self.near.thaw_bondd()

    def view(self):
        words = self.chance.choice(VIEWS)
        ended = self.near.ctl_try(*words)
        self.note(*words)
        if ended.returncode not in VIEWED or ended.stderr.count("\n") > 1:
            self.fail(f"status {ended.returncode}, and on stderr: {ended.stderr}")

    def step(self):
        often = {self.set_bond: 50, self.set_slave: 10, self.add_slave: 10, self.del_slave: 4,
                 self.pull_cable: 5, self.set_mtu: 3, self.apply_saved: 4, self.kill: 4,
                 self.freeze: 2, self.view: 8}
        self.chance.choices(list(often), list(often.values()))[0]()
        if not self.near.ping_bondd():
            self.fail("bondd does not answer")

    def saved_is_what_there_is(self):
        """What save writes is no mistake, and apply has nothing to do."""
        self.ctl("save", "bond0")
        written = (self.near.config_dir / "bond0.conf").read_text()
        for verb, answer in (("check", ""), ("apply", "nothing")):
            ended = self.ctl(verb)
            if ended.returncode or answer not in ended.stdout:
                self.fail(f"{verb} of what save wrote says {ended.stdout}{ended.stderr}{written}")
        (self.near.config_dir / "bond0.conf").unlink()

    def of_one_bond(self, steps):
        self.done = []
        self.ctl("create", "bond0", "mode", self.chance.choice(MODES))
        self.near.ip("link", "set", "bond0", "up")
        self.near.ip("address", "add", "10.0.0.1/24", "dev", "bond0")
        self.ctl("add-slave", "bond0", *self.near.links, "force", "yes")
        for _ in range(steps):
            self.step()
        self.saved_is_what_there_is()
        self.near.ctl("delete", "bond0")


class Administrator(Histories):
    """One of several who know nothing of each other, and of their scripts."""

    def __init__(self, near, seed, elsewhere):
        super().__init__(near, seed)
        self.elsewhere = elsewhere

    def bond(self):
        return self.chance.choice(["bond0", "bond1"])

    def create(self):
        self.ctl("create", self.bond(), "mode", self.chance.choice(MODES))

    def delete(self):
        self.ctl("delete", self.bond())

    def move(self):
        """A link to another namespace and, soon, back."""
        link = self.link()
        self.note("move", link)
        self.near.ip("link", "set", link, "netns", self.elsewhere.name, check=False)
        quiet_for(self.chance.random() / 5, "it is there")
        self.elsewhere.ip("link", "set", link, "netns", self.near.name, check=False)

    def rename(self):
        dev = self.chance.choice([*self.near.links, "bond0", "bond1"])
        self.note("rename", dev)
        self.near.ip("link", "set", dev, "name", "x" + dev, check=False)
        quiet_for(self.chance.random() / 5, "it has that name")
        self.near.ip("link", "set", "x" + dev, "name", dev, check=False)

    def step(self):
        often = {self.create: 8, self.delete: 3, self.set_bond: 25, self.set_slave: 8,
                 self.add_slave: 15, self.del_slave: 6, self.pull_cable: 4, self.move: 3,
                 self.rename: 3}
        self.chance.choices(list(often), list(often.values()))[0]()

    def go_on(self, steps):
        for _ in range(steps):
            self.step()


def reset(near):
    """Takes back what the history did to the links, and gives the address that slaves have not."""
    for link in near.links:
        near.far.ip("link", "set", link, "up")
        near.ip("link", "set", link, "up", "mtu", 1500)
    near.ip("-4", "address", "flush", "dev", "l2")
    near.ip("address", "add", "192.0.2.9/24", "dev", "l2")


def seeds():
    chosen = os.environ.get("XBOND_TEST_SEED", random.randrange(1 << 32) if LONG else 2)
    return [pytest.param(int(chosen), marks=pytest.mark.soak if LONG else [])]


def test_histories_have_every_option():
    promised = (ROOT / "tests/manual/promised.txt").read_text()
    for kind, tried, alone in (("bond", BOND_OPTIONS, "up"), ("slave", SLAVE_OPTIONS, "force")):
        assert set(re.findall(rf"^option {kind} (\S+)", promised, re.M)) - {alone} == set(tried)


@pytest.mark.usefixtures("tests_choose")
@pytest.mark.parametrize("seed", seeds())
def test_random_operations(lone, seed):
    print(f"XBOND_TEST_SEED={seed}")
    near = lone(3)
    reset(near)
    wait_for(lambda: all("LOWER_UP" in near.link(link)["flags"] for link in near.links), "carriers")
    histories = Histories(near, seed)
    before = {link: state(near, link) for link in near.links}
    opened = len(open_files(near.bondd.pid))
    for _ in range(BONDS):
        histories.of_one_bond(STEPS)
        reset(near)
        wait_restored(near, histories, before)
        assert near.pins() == [], seed
        assert len(open_files(near.bondd.pid)) <= opened, seed
        assert IS_INSTRUMENTED or memory_kb(near.bondd.pid) < MOST_MEMORY_KB, seed


def names_of_before(near, elsewhere):
    """Whatever an operation that met another one has left."""
    for dev in ("bond0", "bond1", *near.links):
        near.ip("link", "set", "x" + dev, "name", dev, check=False)
    for link in near.links:
        elsewhere.ip("link", "set", link, "netns", near.name, check=False)


@pytest.mark.usefixtures("tests_choose")
@pytest.mark.parametrize("seed", seeds())
def test_several_administrators(lab, lone, seed):
    """At the same time. In the end bondd answers, and the slaves are as before."""
    print(f"XBOND_TEST_SEED={seed}")
    near, elsewhere = lone(3), lab.namespace("c")
    reset(near)
    wait_for(lambda: all("LOWER_UP" in near.link(link)["flags"] for link in near.links), "carriers")
    before = {link: state(near, link) for link in near.links}
    for turn in range(BONDS):
        all_of_them = [Administrator(near, seed + 1000 * turn + number, elsewhere)
                       for number in range(ADMINISTRATORS)]
        with concurrent.futures.ThreadPoolExecutor(ADMINISTRATORS) as pool:
            for done in [pool.submit(each.go_on, STEPS) for each in all_of_them]:
                done.result()
        names_of_before(near, elsewhere)
        for bond in near.ctl_json("show"):
            near.ctl("delete", bond["name"])
        reset(near)
        for each in all_of_them:
            wait_restored(near, each, before)
        assert near.pins() == [], seed


def wait_restored(near, histories, before):
    for link in near.links:
        def differences(link=link):
            now = state(near, link)
            return {key: (before[link].get(key), now.get(key)) for key in {*before[link], *now}
                    if before[link].get(key) != now.get(key)}
        try:
            wait_for(lambda look=differences: not look(), f"{link} to be as it was")
        except AssertionError:
            histories.fail(f"{link} is not as it was: {differences()}")
