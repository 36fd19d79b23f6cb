"""LACP partners in the far namespace: the kernel's bonding, and team with teamd. Each tells what it
sees in the same words, so that one test serves both. Knows namespaces, not bondd.
"""
import json
import os
import re
import socket
import struct
import subprocess

from namespace import end
from waiting import wait_for

FLAGS = ["activity", "timeout", "aggregation", "synchronization", "collecting", "distributing",
         "defaulted", "expired"]
ADDRESSES = ("10.0.0.2/24", "fd00::2/64")
DISTRIBUTES = {"synchronization", "collecting", "distributing"}
RTM_NEWLINK, NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 16, 1, 4, 2
IFLA_LINKINFO, IFLA_INFO_KIND, IFLA_INFO_DATA = 18, 1, 2
IFLA_BOND_COUPLED_CONTROL = 32


def flags(number):
    return {name for bit, name in enumerate(FLAGS) if int(number) >> bit & 1}


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def set_coupled_control(namespace, dev, on):
    """This machine's iproute2 does not know the option; an older kernel ignores it silently."""
    info = attribute(IFLA_INFO_KIND, b"bond") + attribute(
        IFLA_INFO_DATA, attribute(IFLA_BOND_COUPLED_CONTROL, bytes([on])))
    body = struct.pack("=BxHiII", 0, 0, namespace.link(dev)["ifindex"], 0,
                       0) + attribute(IFLA_LINKINFO, info)
    with namespace.inside():
        link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    with link:
        link.send(struct.pack("=IHHII", 16 + len(body), RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, 1,
                              0) + body)
        answer = link.recv(65536)
    kind, error = struct.unpack_from("=H", answer, 4)[0], struct.unpack_from("=i", answer, 16)[0]
    assert kind == NLMSG_ERROR
    if error:
        raise OSError(-error, f"coupled_control of {dev}")


class Partner:
    """What both have. view(): {link: {"actor": {...}, "partner": {...},
    "aggregator", "in_use"}}.
    """
    device = None

    def __init__(self, setting):
        self.far, self.links = setting.far, setting.far.links
        self.options = {}

    def start(self, links=None, mac=None, **options):
        """Makes it, or makes it anew with these options."""
        self.stop()
        self.options = options
        for name in self.links:
            self.far.ip("link", "set", name, "down")
        self.make(self.links if links is None else links, mac, options)
        self.far.ip("link", "set", self.device, "up")
        for address in ADDRESSES:
            self.far.ip("addr", "add", address, "dev", self.device,
                        *(["nodad"] if ":" in address else []))
        return self

    def distributing(self):
        return sorted(link for link, end in self.view().items()
                      if end["in_use"] and DISTRIBUTES <= end["actor"]["state"])

    def silence(self, silent, links=None, deaf=False):
        """Its LACPDUs do not leave any more, if deaf, others do not reach it
        either; all else does.
        """
        for link in links or self.links:
            if silent:
                self.far.run("tc", "qdisc", "add", "dev", link, "clsact")
                for way in ("egress", "ingress") if deaf else ("egress",):
                    self.far.run("tc", "filter", "add", "dev", link, way, "protocol", "0x8809",
                                 "matchall", "action", "drop")
            else:
                self.far.run("tc", "qdisc", "del", "dev", link, "clsact")


class KernelBond(Partner):
    name, device = "bonding", "kb0"
    defaults = {"lacp_rate": "fast", "miimon": "50", "xmit_hash_policy": "layer3+4"}

    def make(self, links, mac, options):
        options = dict(options)
        coupled = options.pop("coupled_control", None)
        words = [word for pair in {**self.defaults, **options}.items() for word in pair]
        self.far.ip("link", "add", self.device, *(["address", mac] if mac else []), "type", "bond",
                    "mode", "802.3ad", *words)
        if coupled is not None:
            set_coupled_control(self.far, self.device, coupled)
        for link in links:
            self.far.ip("link", "set", link, "master", self.device)

    def stop(self):
        self.far.run("ip", "link", "del", self.device, check=False)

    def text(self):
        return self.far.run("cat", f"/proc/net/bonding/{self.device}").stdout

    def view(self):
        head, *parts = re.split(r"^Slave Interface: ", self.text(), flags=re.M)
        active = re.search(r"Aggregator ID: (\d+)", head)
        return {part.split("\n", 1)[0]: self.port(part, active[1] if active else None)
                for part in parts}

    @staticmethod
    def port(text, active):
        def value(pattern, within=text):
            found = re.search(rf"^\s*{pattern}: (.*)$", within, re.M)
            return found[1] if found else None

        def side(name, key):
            part = text.split(f"details {name} lacp pdu:")[1].split("details ")[0]
            return {"system": value("system mac address", part),
                    "system_priority": int(value("system priority", part)),
                    "key": int(value(key, part)), "port": int(value("port number", part)),
                    "port_priority": int(value("port priority", part)),
                    "state": flags(value("port state", part))}
        if "details actor" not in text:
            return {"aggregator": None, "in_use": False, "actor": {"state": set()},
                    "partner": {"state": set()}}
        aggregator = value("Aggregator ID")
        return {"aggregator": aggregator, "in_use": aggregator == active and value("MII Status") ==
                "up", "churn": (value("Actor Churn State"), value("Partner Churn State")),
                "actor": side("actor", "port key"), "partner": side("partner", "oper key")}

    def aggregate(self):
        """What it says of the aggregator in use."""
        part = self.text().split("Active Aggregator Info:")[1].split("Slave Interface:")[0]
        pairs = [line.split(": ", 1) for line in part.splitlines() if ": " in line]
        return {key.strip(): value for key, value in pairs}

    def report(self):
        return self.text() if self.far.exists(self.device) else ""


class Team(Partner):
    name, device = "team", "team0"
    defaults = {"active": True, "fast_rate": True, "tx_hash": ["ip", "l4"]}
    child = None

    def make(self, links, mac, options):
        runner = {"name": "lacp", **self.defaults, **options}
        config = {"device": self.device, "runner": runner, "link_watch": {"name": "ethtool"},
                  "ports": {link: {} for link in links}}
        if mac:
            config["hwaddr"] = mac
        os.makedirs("/run/teamd", exist_ok=True)
        with open("/run/teamd.log", "a") as log:
            self.child = self.far.spawn("teamd", "-t", self.device, "-c", json.dumps(config), "-U",
                                        stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait_for(lambda: self.ctl("state", "dump", check=False).returncode == 0, "teamd to answer",
                 15)

    def stop(self):
        if self.child:
            end(self.child)
            self.child = None

    def ctl(self, *words, check=True):
        return self.far.run("teamdctl", self.device, *words, check=check)

    def view(self):
        return {link: self.port(port["runner"], port["link"]["up"])
                for link, port in json.loads(self.ctl("state", "dump").stdout)["ports"].items()}

    @staticmethod
    def port(runner, is_up):
        def side(info):
            return {**info, "state": flags(info["state"])}
        return {"aggregator": runner["aggregator"]["id"], "in_use": is_up and
                runner["aggregator"]["selected"], "actor": side(runner["actor_lacpdu_info"]),
                "partner": side(runner["partner_lacpdu_info"])}

    def report(self):
        return self.ctl("state", "dump", check=False).stdout + open("/run/teamd.log").read()[-3000:]


def our_port(show, slave):
    """One slave of bondctl -j show in the words of view()."""
    lacp, bond = slave["lacp"], show["lacp"]
    actor = {"system": bond["actor_system"], "system_priority": bond["actor_sys_prio"],
             "key": bond["actor_key"], "port": lacp["port_number"],
             "port_priority": lacp["port_prio"], "state": set(lacp["actor_state"])}
    partner = {"system": lacp["partner_system"], "key": lacp["partner_key"],
               "port": lacp["partner_port"], "state": set(lacp["partner_state"])}
    return {"actor": actor, "partner": partner}


def differences(near, partner, cables):
    """What the two ends say differently of each other: [] when they agree. cables: {our link:
    theirs}.
    """
    show, theirs, found = near.show(), partner.view(), []
    for slave in show["slaves"]:
        ours, other = our_port(show, slave), theirs.get(cables[slave["name"]])
        if not other or not other["actor"].get("system"):
            found.append(f"{slave['name']}: not in the partner's view")
            continue
        for what, said, known in (("we of it", ours["partner"], other["actor"]),
                                  ("it of us", ours["actor"], other["partner"])):
            found += [f"{slave['name']}, {what}: {key} {said[key]!r}, {known[key]!r}"
                      for key in said if said[key] != known[key]]
    return found
