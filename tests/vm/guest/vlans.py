"""4,000 VLANs with an address each on an aggregate in active-backup: how long they take, what a cut
loses below them, until the switches know all of them by the other link, and how long the aggregate
takes to go. xbond with each device beside the kernel's bonding and team, one after another.
"""
from ...bench.bed import lab
from ...bench.rows import Row
from ...bench.scale import seconds_of

from traffic import Stream  # pylint: disable=wrong-import-order
from waiting import quiet_for, wait_for  # pylint: disable=wrong-import-order
from .aggregates import aggregates, bonding, team, xbond

MODE = "active-backup"
VLANS = 4000
RATE = 2000  # packets/s
WAYS = {
    **{f"xbond {device}": xbond("mode", MODE, "device", device)
       for device in ("team", "netkit", "veth")},
    "bonding": bonding(MODE),
    "team activebackup": team(name="activebackup"),
}


def add_vlans(host, dev):
    ids = range(1, VLANS + 1)
    host.ip_batch(*[f"link add v{number} link {dev} up type vlan id {number}" for number in ids])
    host.ip_batch(*[f"addr add 10.{64 + number // 250}.{number % 250}.1/24 dev v{number}"
                    for number in ids])


def lost_at_a_cut(each):
    stream = Stream(each.near, each.far, to=f"{each.subnet}.2", rate=RATE, flows=8, early=0)
    stream.flow_on(RATE // 5)
    each.far.ip("link", "set", each.links[0], "down")
    stream.flow_on(RATE // 5)
    return stream.finish()["lost"]


def seconds_until_told(each):
    """From a cut until there was a frame for each VLAN on the link that takes over."""
    each.far.ip("link", "set", each.links[0], "up")
    quiet_for(2, "the first cut's announcements end, and its link is seen")
    before = each.sent_by_links()[each.links[0]]
    return seconds_of(lambda: (
        each.far.ip("link", "set", each.links[1], "down"),
        wait_for(lambda: each.sent_by_links()[each.links[0]] - before >= VLANS,
                 "an announcement of each VLAN", 60)))


def measure(each):
    yield "made", seconds_of(lambda: add_vlans(each.near, each.dev)), "s"
    yield "lost at a cut", lost_at_a_cut(each), "packets"
    yield "all announced after a cut", seconds_until_told(each), "s"
    yield "removed", seconds_of(lambda: each.near.ip("link", "del", each.dev)), "s"


def vlan_rows():
    for name, make in WAYS.items():
        with lab() as made:
            near = made.host("a")
            near.run("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
            for each in aggregates(made, near, made.namespace("b"), {name: make}, far_mode=MODE):
                for what, value, unit in measure(each):
                    yield Row(f"{VLANS} VLANs on {name}: {what}", value, unit)
