"""What the ways of a packet through a host with an aggregate cost: received, forwarded, bridged,
with a VLAN, and in TCP. xbond, with the device that this kernel gives it, beside the kernel's
bonding in the same mode, in rounds that alternate.

All of it happens in the CPU time of the sender, because a veth receives in the softirq of the CPU
that sends. So a figure has the sender's share in it. For "received alone" it is measured over plain
devices and left out. Where it ends nobody can say to the instruction, so there are two figures: in
one it ends at the sender's TC egress, in the other at the receiver's TC ingress.
"""
import statistics
import subprocess

from ...bench.bed import (BLAST, PLAIN, PLAIN_FAR, PLAIN_NEAR, add_plain_link, blast, bring_up,
                          drop_at, drop_at_ingress, lab, no_arp)
from ...bench.rows import Row, alternate, median_ratio

from traffic import Iperf  # pylint: disable=wrong-import-order
from .aggregates import HASH, aggregates, bonding, xbond

MODES = {"balance-xor": HASH, "active-backup": ()}
KINDS = ("xbond", "bonding")
TAG = 7
ALONE, WHOLE = 1.10, 1.04  # bounds of xbond over bonding
TCP_BYTES = "40M"


def in_each_mode(made, host, far, modes=MODES):
    ways = {f"{kind} {mode}": {"xbond": xbond("mode", mode, "device", "auto", *MODES[mode]),
                               "bonding": bonding(mode, *MODES[mode])}[kind]
            for mode in modes for kind in KINDS}
    return aggregates(made, host, far, ways)


def ratios(what, figures, bound, less=None):
    """figures: {"KIND MODE": [a figure of each round]}; less: what is no part of them."""
    less = less or [0] * len(next(iter(figures.values())))
    for mode in MODES:
        ours, theirs = ([whole - part for whole, part in zip(figures[f"{kind} {mode}"], less)]
                        for kind in KINDS)
        yield Row(f"{what}, {mode}: bonding", statistics.median(theirs), "ns/packet")
        yield Row(f"{what}, {mode}: xbond / bonding", median_ratio(ours, theirs), "ratio", bound)


def add_share(made, sender, receiver, number, hook):
    """A plain device that drops the sender's packets. Returns whom it reaches."""
    dev, net = f"share{number}", f"10.{80 + number}.0"
    made.link(sender, receiver, dev, 90 + number)
    for host, address in ((sender, f"{net}.1"), (receiver, f"{net}.2")):
        bring_up(host, [dev])
        host.ip("addr", "add", f"{address}/24", "dev", dev)
    no_arp(sender, dev, f"{net}.2", receiver.link(dev)["address"])
    drop_at(sender if hook == "egress" else receiver, dev, hook)
    return f"{net}.2"


def add_vlan(host, dev, address):
    name = f"{dev}.{TAG}"
    host.ip("link", "add", name, "link", dev, "type", "vlan", "id", TAG)
    host.ip("link", "set", name, "up")
    host.ip("addr", "add", f"{address}/24", "dev", name)
    return name


class Routed:
    """A host with an aggregate, and what is behind it: whom it reaches by which address. The far
    ends drop what they receive. They send by the first link, which is the active one.
    """

    def __init__(self, number, each, host, far):
        link, net = each.links[0], f"10.{60 + number}"
        self.name, self.local, self.remote = each.name, f"{each.subnet}.1", f"{each.subnet}.2"
        far.ip("addr", "add", f"{each.subnet}.3/24", "dev", link)
        no_arp(far, link, self.local, each.mac())
        no_arp(host, each.dev, self.remote)
        self.behind_plain, self.behind_bond = f"{net}.1.1", f"{net}.2.1"
        far.ip("route", "add", f"{net}.1.0/24", "via", self.local, "dev", link)
        host.ip("route", "add", f"{net}.1.0/24", "via", PLAIN_FAR, "dev", PLAIN)
        far.ip("route", "add", f"{net}.2.0/24", "via", PLAIN_NEAR, "dev", PLAIN)
        host.ip("route", "add", f"{net}.2.0/24", "via", self.remote, "dev", each.dev)
        self.local_vlan, self.remote_vlan = f"{net}.3.1", f"{net}.3.2"
        no_arp(host, add_vlan(host, each.dev, self.local_vlan), self.remote_vlan)
        no_arp(far, add_vlan(far, link, f"{net}.3.3"), self.local_vlan, each.mac())
        for link in each.links:
            drop_at_ingress(far, link)


def routed_rows(rounds, seconds):
    with lab() as made:
        host, far = made.host("a"), made.namespace("b")
        add_plain_link(made, host, far)
        no_arp(host, PLAIN, PLAIN_FAR)
        no_arp(far, PLAIN, PLAIN_NEAR, host.link(PLAIN)["address"])
        drop_at_ingress(far, PLAIN)
        shares = {hook: add_share(made, far, host, number, hook)
                  for number, hook in enumerate(("egress", "ingress"))}
        host.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        routed = [Routed(number, each, host, far)
                  for number, each in enumerate(in_each_mode(made, host, far))]
        ways = {"received": (far, "local"), "sent with a VLAN": (host, "remote_vlan"),
                "received with a VLAN": (far, "local_vlan"),
                "forwarded in": (far, "behind_plain"), "forwarded out": (far, "behind_bond")}
        subjects = {(way, each.name): lambda sender=sender, to=getattr(each, to):
                    blast(sender, to, seconds)
                    for way, (sender, to) in ways.items() for each in routed}
        with host.spawn(BLAST, "sink", stdout=subprocess.PIPE) as sink:
            assert sink.stdout.readline() == b"ready\n"
            figures = alternate(rounds, {**subjects, **{hook: lambda to=to: blast(far, to, seconds)
                                                        for hook, to in shares.items()}})
            sink.kill()
    shares = {hook: figures.pop(hook) for hook in shares}
    of_way = {way: {name: values for (other, name), values in figures.items() if other == way}
              for way in ways}
    for hook, bound in (("egress", ALONE), ("ingress", None)):
        yield from ratios(f"received alone, less what is sent up to TC {hook}",
                          of_way["received"], bound, shares[hook])
    for way in list(ways)[1:]:
        yield from ratios(way, of_way[way], WHOLE)


def bridged_rows(rounds, seconds):
    """The aggregate and a plain device are ports of a bridge."""
    with lab() as made:
        host, far = made.host("a"), made.namespace("b")
        subjects = {"bridged in": {}, "bridged out": {}}
        for number, each in enumerate(in_each_mode(made, host, far)):
            port = f"port{number}"
            made.link(host, far, port, 200 + number)
            bring_up(host, [port])
            bring_up(far, [port])
            host.ip("link", "add", f"br{number}", "type", "bridge", "mcast_snooping", "0")
            host.ip("addr", "flush", "dev", each.dev)
            for dev in (each.dev, port):
                host.ip("link", "set", dev, "master", f"br{number}")
            host.ip("link", "set", f"br{number}", "up")
            for link in (port, *each.links):
                drop_at_ingress(far, link)
            for way, dev, to, net in (("bridged in", each.links[0], port, 1),
                                      ("bridged out", port, each.dev, 2)):
                mac = f"02:00:00:00:{number:02x}:{net:02x}"
                host.run("bridge", "fdb", "replace", mac, "dev", to, "master", "static")
                far.ip("addr", "add", f"10.{60 + number}.{net}.1/24", "dev", dev)
                address = f"10.{60 + number}.{net}.2"
                no_arp(far, dev, address, mac)
                subjects[way][each.name] = lambda address=address: blast(far, address, seconds)
        figures = {way: alternate(rounds, of_way) for way, of_way in subjects.items()}
    for way, values in figures.items():
        yield from ratios(way, values, WHOLE)


def seconds_of(near, server, address, *words):
    """Of the only CPU, which both ends of the connection share."""
    return server.run(near, address, "-n", TCP_BYTES, *words)["end"]["sum_received"]["seconds"]


def tcp_rows(rounds):
    """In active-backup, where both ends of the cable are simple."""
    with lab() as made:
        host, far = made.host("a"), made.namespace("b")
        found = in_each_mode(made, host, far, ["active-backup"])
        for each in found:
            far.ip("addr", "add", f"{each.subnet}.2/24", "dev", each.links[0])
        server = Iperf(far)
        for way, words in (("TCP sent", ()), ("TCP received", ("-R",))):
            figures = alternate(rounds, {
                each.name: lambda each=each: seconds_of(host, server, f"{each.subnet}.2", *words)
                for each in found})
            yield Row(f"{way}, CPU per byte: xbond / bonding",
                      median_ratio(*figures.values()), "ratio", WHOLE)
        server.close()


def path_rows(rounds, seconds):
    yield from routed_rows(rounds, seconds)
    yield from bridged_rows(rounds, seconds)
    yield from tcp_rows(rounds)
