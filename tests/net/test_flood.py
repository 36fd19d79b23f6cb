# SPDX-License-Identifier: GPL-2.0-or-later
"""One slave receives as many control frames and as much junk as a CPU makes, of all kinds by turns:
whatever watches the links, the other slaves stay and lose nothing, bondd answers, what is too much
is counted by its reason, and afterwards all is as before.
"""
import os
import struct
import subprocess
import time

import pytest

from frames import mac_bytes
from lab import BUILD
from lacp import lacpdu, marker, pdu_info, wait_distributing
from targets import ADVERTISEMENT, ALL, REPLY, REQUEST, SOLICITATION, arp, neighbour
from test_bfd import UP, V4, wait_up
from test_bfd import frame as bfd_frame
from test_bfd import packet as bfd_packet
from test_lacp_evil import ANOTHER, STRANGER, cpu_seconds
from traffic import Stream
from waiting import wait_for

XDPFLOOD = BUILD / "tools/xdpflood"
SECONDS, SIZE = 1.5, 128  # of the flood; of its frames, as in xdpflood.bpf.c
STRANGERS = 300  # balance-alb takes 256 new clients in a second
INTERVAL, MISSED = 100, 8  # less time than the flood
ARP = {"arp_interval": INTERVAL, "arp_missed_max": MISSED, "arp_ip_target": "10.0.0.2",
       "ns_ip6_target": "fd00::2"}
BFD = {"bfd_interval": INTERVAL, "bfd_multiplier": MISSED, "bfd_local": V4[0], "bfd_remote": V4[1]}
VALIDATE = ("none", "active", "backup", "all", "filter", "filter_active", "filter_backup")
LACP = {"lacp_rate": "fast"}
INACTIVE, BFD_DROPS = {"inactive"}, {"bfd_strangers", "bfd_refused"}
LACP_DROPS = {"lacp_strangers", "marker_flood"}

# what the slaves end at: mode, options, the reasons by which drops are counted
BONDS = {
    "active-backup miimon": ("switch", "active-backup", {"miimon": 50}, INACTIVE),
    **{f"active-backup arp {value}": ("switch", "active-backup", {**ARP, "arp_validate": value},
                                      INACTIVE) for value in VALIDATE},
    "active-backup rx_silence": ("broadcast", "active-backup", {"rx_silence": 800}, INACTIVE),
    "active-backup bfd": ("broadcast", "active-backup", BFD, INACTIVE | BFD_DROPS),
    "balance-rr miimon": ("balance-rr", "balance-rr", {"miimon": 50}, set()),
    "balance-xor bfd": ("balance-xor", "balance-xor", BFD, BFD_DROPS),
    "broadcast miimon": ("broadcast", "broadcast", {"miimon": 50}, set()),
    "802.3ad": ("802.3ad", "802.3ad", LACP, LACP_DROPS),
    "802.3ad bfd": ("802.3ad", "802.3ad", {**LACP, **BFD}, LACP_DROPS | BFD_DROPS),
    "802.3ad arp all": ("802.3ad", "802.3ad", {**LACP, **ARP, "arp_validate": "all"}, LACP_DROPS),
    "balance-tlb": ("switch", "balance-tlb", {}, INACTIVE),
    "balance-alb": ("switch", "balance-alb", {"primary": "l0"}, set()),
}


def kinds(mac):
    """What a stranger of this number sends, of each kind."""
    def tagged(frame, count):
        return frame[:12] + b"\x81\x00\x00\x07" * count + frame[12:]

    def of(number):
        ip, ip6 = f"10.1.{number >> 8}.{number & 255}", f"fd00::1:{number:x}"
        own = f"02:cc:00:00:{number >> 8:02x}:{number & 255:02x}"
        broadcast = arp(REQUEST, ip, "10.0.0.1", sender_mac=own)
        return [
            broadcast, arp(REPLY, ip, "10.0.0.1", dst=mac, sender_mac=own, target_mac=mac),
            neighbour(SOLICITATION, ip6, "ff02::1:ff00:1", "fd00::1", "33:33:ff:00:00:01"),
            neighbour(ADVERTISEMENT, ip6, "ff02::1", ip6, "33:33:00:00:00:01"),
            mac_bytes(ALL) + mac_bytes(own) + struct.pack("!H", 0x88b5) + os.urandom(46),
            *(tagged(broadcast, count) for count in (1, 2, 3, 8)),
            lacpdu(pdu_info(STRANGER, 7), pdu_info(ANOTHER, 8)), marker(),
            bfd_frame(bfd_packet(UP, 7, 0)), bfd_frame(bfd_packet(UP, 7, 0), ttl=254),
        ]
    return of


class Bond:
    """bond0 with l0, which is drained and will be flooded, l1 and l2. The far end has 10.0.0.2."""

    def __init__(self, lab, far, mode, options):
        self.lab, self.mode, self.options = lab, mode, options
        self.at_once = {name: value for name, value in options.items()
                        if name.startswith(("bfd", "lacp"))}
        self.near = lab.host("a")
        self.far = lab.namespace("b") if far == "switch" else lab.host("b")
        self.links = lab.links(self.near, self.far, 3)
        self._make(self.near, mode, self.at_once, 1)
        if far == "switch":
            self._switch()
        else:
            turned = {"bfd_local": V4[1], "bfd_remote": V4[0]} if "bfd_local" in options else {}
            if mode == "802.3ad":
                turned["broadcast_neighbor"] = "on"
            self._make(self.far, far, {**self.at_once, **turned}, 2)
        self.settles()

    def _make(self, host, mode, options, number):
        host.ctl("create", "bond0", "mode", mode, *(word for each in options.items()
                                                    for word in each))
        host.ctl("add-slave", "bond0", *self.links)
        host.ip_batch("link set bond0 up", f"addr add 10.0.0.{number}/24 dev bond0",
                      f"addr add fd00::{number}/64 dev bond0 nodad")

    def _switch(self):
        self.far.ip("link", "add", "br0", "type", "bridge", "mcast_snooping", 0)
        self.far.ip_batch(*(f"link set {link} master br0 up" for link in self.links),
                          "link set br0 up", "addr add 10.0.0.2/24 dev br0",
                          "addr add fd00::2/64 dev br0 nodad")

    def settles(self):
        self.near.wait_slaves(*self.links, deadline=20)
        if self.mode == "802.3ad":
            wait_distributing(self.near, self.far, links=self.links, deadline=20)
        if "bfd_interval" in self.options:
            wait_up(self.near, self.far, links=self.links)
        self.near.wait_ping("10.0.0.2")

    def empty(self, drain):
        """Nobody sends anything of the streams over l0. In balance-alb it is the active slave, so
        that its neighbours are heard: the far end sends to another one.
        """
        if self.mode == "balance-alb":
            self.far.ip("neigh", "replace", "10.0.0.1", "lladdr", self.near.slave("l1")["mac"],
                        "dev", "br0", "nud", "permanent" if drain == "on" else "stale")
            return
        for host in (self.near, *([self.far] if hasattr(self.far, "bondd") else [])):
            host.ctl("set-slave", "bond0", "l0", "drain", drain)

    def watch(self):
        """The rest of the options: a monitor that needs traffic begins when there is some."""
        words = [word for each in self.options.items() if each[0] not in self.at_once
                 for word in each]
        if words:
            self.near.ctl("set", "bond0", *words)
        if "arp_interval" in self.options:
            for dev in self.links[1:]:
                wait_for(lambda dev=dev: self.near.slave(dev)["monitors"].get("arp", {}).get(
                    "state") == "up", f"{dev} to be up by ARP")

    def others(self):
        """What a flood on l0 must not change on the other slaves."""
        return [{key: slave[key] for key in ("name", "mii_status", "link_failures", "active")}
                for slave in self.near.show()["slaves"] if slave["name"] != "l0"]

    def drops(self):
        slaves = self.near.ctl_json("stats", "bond0")["slaves"]
        return next(slave["drops"] for slave in slaves if slave["name"] == "l0")

    def received(self):
        slave = self.near.slave("l0")
        return slave["rx_packets"] + slave["rx_dropped"]

    def flood(self):
        """Returns how many frames a second; what must hold meanwhile does."""
        of = kinds(self.near.show()["mac"])
        frames = b"".join(frame.ljust(SIZE, b"\0") for number in range(STRANGERS)
                          for frame in of(number))
        others, began = self.others(), time.monotonic()
        before = cpu_seconds(self.near.bondd.pid)
        self.near.run("ethtool", "-K", "l0", "gro", "on")
        flood = self.far.spawn(XDPFLOOD, f"{XDPFLOOD}.bpf.o", "l0", SECONDS, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        flood.stdin.write(frames)
        flood.stdin.close()
        while flood.poll() is None:
            assert self.near.request(b'{"method": "ping"}\n')["ok"]
            assert self.others() == others
        rate = int(flood.stdout.read())
        share = (cpu_seconds(self.near.bondd.pid) - before) / (time.monotonic() - began)
        print(f"{rate} frames/s; bondd {100 * share:.1f} % of a CPU")
        assert share < 0.2
        return rate


@pytest.mark.variants(2, always=("balance-alb",))
@pytest.mark.parametrize("name", BONDS)
def test_others_notice_nothing(lab, name):
    far, mode, options, reasons = BONDS[name]
    made = Bond(lab, far, mode, options)
    made.near.run("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0",
                  "net.ipv4.conf.bond0.rp_filter=0")
    made.near.ip("route", "add", "10.0.0.0/8", "dev", "bond0")
    made.empty("on")
    streams = [Stream(made.near, made.far, rate=1000, flows=16),
               Stream(made.far, made.near, to="10.0.0.1", rate=1000, flows=16)]
    for stream in streams:
        stream.flow_on(200)
    made.watch()
    drops, received = made.drops(), made.received()
    rate = made.flood()
    assert rate > 1000
    for stream in streams:
        result = stream.finish()
        assert result["lost"] == 0, result
    assert made.received() > received + rate * SECONDS / 2
    assert {reason for reason, count in made.drops().items()
            if count and count > (drops[reason] or 0)} == reasons
    made.empty("off")
    made.settles()
