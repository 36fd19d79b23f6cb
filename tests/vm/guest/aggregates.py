"""Ways to aggregate links in the emulated machine: xbond, the kernel's own bonding and team. Each
has a device on one host, and links to another. bench.py and paths.py measure them.
"""
import json
import signal
import subprocess

from ...bench.bed import bring_up, make_bond, no_arp
from ...bench.failover import receive_by_napi

from namespace import end, run  # pylint: disable=wrong-import-order
from waiting import wait_for  # pylint: disable=wrong-import-order

LINKS = 2
HASH = ("xmit_hash_policy", "layer3+4")
LACP = (*HASH, "lacp_rate", "fast")
NETKIT = "xbond netkit"


class Aggregate:
    """One way to aggregate: its device on a host, its links, its subnet."""

    def __init__(self, made, near, far, number, name, make, same_index=False):
        self.name, self.dev, self.subnet = name, f"agg{number}", f"10.{20 + number}.0"
        self.links = [f"g{number}l{index}" for index in range(LINKS)]
        for index, link in enumerate(self.links):
            made.link(near, far, link, 100 + 10 * number + index, same_index=same_index)
        bring_up(far, self.links)
        self.teamd = make(near, self.dev, self.links)
        near.ip("link", "set", self.dev, "up")
        near.ip("addr", "add", f"{self.subnet}.1/24", "dev", self.dev)
        self.near, self.far = near, far

    def sent_by_links(self):
        return {link: self.near.sent(link)["packets"] for link in self.links}

    def mac(self):
        return self.near.link(self.dev)["address"]

    def join_at_far(self, mode):
        """A device over the far ends of the links, with an address: a bridge, or in 802.3ad a bond
        of the kernel.
        """
        dev = f"far{self.dev}"
        if mode == "802.3ad":
            bonding(mode, *LACP)(self.far, dev, self.links)
        else:
            self.far.ip("link", "add", dev, "type", "bridge", "forward_delay", "0",
                        "mcast_snooping", "0")
            for link in self.links:
                self.far.ip("link", "set", link, "master", dev)
        self.far.ip("link", "set", dev, "up")
        self.far.ip("addr", "add", f"{self.subnet}.2/24", "dev", dev)
        no_arp(self.near, self.dev, f"{self.subnet}.2", self.far.link(dev)["address"])


def xbond(*options):
    def make(host, dev, links):
        words = dict(zip(options[::2], options[1::2]))
        make_bond(host, links, "10.99.0.1", name=dev, **words)
        host.ip("addr", "flush", "dev", dev)
    return make


def bonding(mode, *options, miimon=100):
    def make(host, dev, links):
        host.ip("link", "add", dev, "type", "bond", "mode", mode, "miimon", miimon, *options)
        for link in links:
            host.ip("link", "set", link, "down")
            host.ip("link", "set", link, "master", dev)
    return make


class Teamd:
    """The daemon that the kernel's team needs."""

    def __init__(self, host, dev, config):
        self.host, self.dev, self.config = host, dev, json.dumps(config)
        self.start()

    def start(self):
        self.process = self.host.spawn("teamd", "--take-over", "-U", "-c", self.config,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: self.host.exists(self.dev), "teamd's device")

    def kill(self):
        end(self.process, signal.SIGKILL)


def team(**runner):
    """The kernel's team with its daemon, which is returned."""
    def make(host, dev, links):
        for link in links:
            host.ip("link", "set", link, "down")
        return Teamd(host, dev, {"device": dev, "runner": runner, "link_watch": {"name": "ethtool"},
                                 "ports": {link: {} for link in links}})
    return make


def has_netkit(host):
    made = host.run("ip", "link", "add", "probe", "type", "netkit", check=False).returncode == 0
    host.run("ip", "link", "del", "probe", check=False)
    return made


def can_be_made(near, name):
    """team: only with the kernel's module for its mode."""
    if name.startswith("team"):
        return run("modprobe", f"team_mode_{name.split()[1]}", check=False).returncode == 0
    return not name.startswith(NETKIT) or has_netkit(near)


def aggregates(made, near, far, ways, far_mode=None, **options):
    """far_mode: the far ends are joined for it. Without a partner, an 802.3ad bond has no
    carrier.
    """
    found = [Aggregate(made, near, far, number, name, make, **options)
             for number, (name, make) in enumerate(ways.items()) if can_be_made(near, name)]
    for each in found:
        if far_mode:
            each.join_at_far(far_mode)
            for link in each.links:
                receive_by_napi(near, far, link)
    for each in found:
        wait_for(lambda each=each: "LOWER_UP" in near.link(each.dev)["flags"],
                 f"carrier of {each.name}", 15)
    return found
