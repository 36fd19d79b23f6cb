# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of a bond between two hosts: it is made, has its troubles, and goes. What must hold
after each of them, and in the end. Knows troubles as functions of a Life, which change it and
return whether they may lose packets.
"""
import random

from bpf_objects import holders, pinned_objects, there
from lab import BONDD, Lab
from lacp import distributing
from namespace import memory_kb, open_files
from traffic import Stream
from waiting import IS_SLOW, quiet_for, wait_for

import applications
import daemons
import links
import settings

CABLED = ["balance-rr", "balance-xor", "802.3ad"]  # a cable is a link of both ends
SWITCHED = ["active-backup", "balance-tlb", "balance-alb"]  # a link ends at a switch
TROUBLES = [*links.TROUBLES, *settings.TROUBLES, *daemons.TROUBLES, *applications.TROUBLES]
LINKS, STEPS_OF_A_BOND, RATE, QUIET_S = 3, 12, 200 if IS_SLOW else 2000, 0.5
OF_THE_BOND = {"bond0", "xb-bond0"}
OPENED_ONCE = 4  # descriptors that bondd has from when it first needs them
MOST_MEMORY_KB = 24 << 10
FREED_S = 180  # the kernel takes its time: one queue frees the filters of all namespaces


def left(host):
    return host.devices(), host.pins(), len(open_files(host.bondd.pid))


class Pair:
    """Two hosts with cables between them, or, if switch is a namespace, with a switch."""

    def __init__(self, lab, letters, switch=None):
        self.hosts, self.switch = [lab.host(letter) for letter in letters], switch
        if switch:
            self.plug_in(lab)
        else:
            lab.links(*self.hosts, LINKS)
        self.empty = [left(host) for host in self.hosts]

    def plug_in(self, lab):
        """The links of the second host begin with l0, too, and end at ports that do not."""
        self.switch.ip("link", "add", "br0", "up", "type", "bridge", "mcast_snooping", 0)
        for end, host in enumerate(self.hosts):
            for link in range(LINKS):
                lab.link(host, self.switch, f"l{link}", LINKS * end + link)
                self.switch.ip("link", "set", f"l{link}", "name", self.port(end, link),
                               "master", "br0", "up")

    @staticmethod
    def port(end, link):
        return f"port{end}{link}"


class Life:
    """On the same hosts for all bonds of a seed."""

    def __init__(self, seed):
        self.seed, self.lab, self.done = seed, Lab(), []
        self.cabled = Pair(self.lab, "ab")
        self.switched = Pair(self.lab, "cd", self.lab.namespace("s"))

    def note(self, *words):
        self.done.append(" ".join(str(word) for word in words))

    def live(self, bond, steps):
        """The life of one bond."""
        self.steps = 0
        self.begin(bond)
        for step in steps:
            self.steps += 1
            self.step(bond, step)
        self.end()

    def begin(self, bond):
        self.done, self.chance = [], random.Random(f"{self.seed} {bond}")
        self.mode = self.chance.choice(CABLED + SWITCHED)
        self.pair = self.switched if self.mode in SWITCHED else self.cabled
        self.hosts = self.pair.hosts
        self.names = [[f"l{number}" for number in range(LINKS)] for _ in self.hosts]
        self.members, self.cuts = set(range(LINKS)), [set(), set()]
        self.applications = [applications.Place(self, end) for end in range(2)]
        self.objects = [set(), set()]  # that have been pinned
        self.note("mode", self.mode)
        for number, host in enumerate(self.hosts, 1):
            host.ctl("create", "bond0", "mode", self.mode)
            host.ctl("add-slave", "bond0", *self.names[0])
            host.ip_batch("link set bond0 up", f"addr add 10.0.0.{number}/24 dev bond0")
        self.settle()

    def whole(self, end):
        """Links by which this end can send and receive."""
        cut = self.cuts[end] if self.pair.switch else self.cuts[0] | self.cuts[1]
        return sorted(self.members - cut)

    def settle(self):
        """Until both ends use just the links that they can use."""
        for end, (host, names) in enumerate(zip(self.hosts, self.names)):
            usable = sorted(names[link] for link in self.whole(end))
            wait_for(lambda: self.uses(host, usable),
                     lambda: f"{host.name} to use {usable}: {host.show()['slaves']}", 20)
            host.wait_slaves(*usable)
            shown = {slave["name"]: slave["mii_status"] for slave in host.show()["slaves"]}
            assert shown == {names[link]: "up" if names[link] in usable else "down"
                             for link in self.members}, shown
            assert all("LOWER_UP" in host.link(dev)["flags"] for dev in usable)
        self.hosts[0].wait_ping("10.0.0.2")
        self.hosts[1].wait_ping("10.0.0.1")
        for end in range(2):
            self.applications[end].settle()
            self.check_remains(end)

    def uses(self, host, usable):
        if self.mode == "802.3ad" and distributing(host) != usable:
            return False
        active = sorted(slave["name"] for slave in host.show()["slaves"] if slave["active"])
        if self.mode == "active-backup":
            return len(active) == 1 and active[0] in usable
        return active == usable

    def check_remains(self, end):
        """There is no device and no pin of what the bond was made of before."""
        host = self.hosts[end]
        more = host.devices() - self.pair.empty[end][0] - set(self.names[end]) - OF_THE_BOND
        assert not more, more
        more = [pin for pin in host.pins() if not pin.startswith("bond0/") or "/new_" in pin]
        assert not more, more
        self.objects[end] |= pinned_objects(host)

    @staticmethod
    def wait_freed(objects):
        wait_for(lambda: not there(objects),
                 lambda: f"{there(objects)} to be freed, open in {holders(there(objects))}",
                 FREED_S)

    def streams(self):
        streams = [Stream(*self.hosts, rate=RATE, flows=16),
                   Stream(*self.hosts[::-1], to="10.0.0.1", rate=RATE, flows=16)]
        for stream in streams:
            stream.flow_on(1)
        return streams

    def check(self, streams, lossless, when):
        for stream in streams:
            result = stream.finish()
            assert not result["duplicates"], (when, result)
            assert not lossless or not result["lost"], (when, result)

    def step(self, bond, number):
        self.chance = random.Random(f"{self.seed} {bond} {number}")
        troubles = self.chance.choices(TROUBLES, k=self.chance.choice([1, 1, 2]))
        streams = self.streams()
        may_lose = any([trouble(self) for trouble in troubles])
        self.settle()
        self.check(streams, not may_lose, "in the step")
        streams = self.streams()
        for application in self.applications:
            application.check()
        quiet_for(QUIET_S, "nothing happens")
        self.check(streams, True, "after the step")

    def end(self):
        """What was pinned once is freed already while the bond is there, but for what a stopped
        application has not let go.
        """
        links.mend_links(self)
        for end, (host, names) in enumerate(zip(self.hosts, self.names)):
            if self.applications[end].is_stopped:
                self.applications[end].leave()
            self.wait_freed(self.objects[end] - pinned_objects(host))
            host.ctl("delete", "bond0")
            self.applications[end].leave()
            for link, name in enumerate(names):
                host.ip("link", "set", name, "down")
                if name != f"l{link}":
                    host.ip("link", "set", name, "name", f"l{link}")
            self.check_nothing_left(end)
            if host.program != BONDD:
                host.replace_bondd(BONDD)

    def check_nothing_left(self, end):
        host, empty = self.hosts[end], self.pair.empty[end]
        wait_for(lambda: left(host)[:2] == empty[:2] and left(host)[2] <= empty[2] + OPENED_ONCE,
                 lambda: f"nothing to be left: {left(host)}, not {empty}")
        self.wait_freed(self.objects[end])
        assert memory_kb(host.bondd.pid) < MOST_MEMORY_KB, memory_kb(host.bondd.pid)
