"""Two hosts as one LACP partner, as docs/operators/multihoming.md has it, and protodown."""
import re

import pytest

from lab import ROOT
from lacp import distributing, ports, wait_distributing, wait_told
from traffic import Stream, Tally
from waiting import wait_for

PAGE = ROOT / "docs/operators/multihoming.md"
SYSTEM = "02:00:00:00:00:0e"
BOTH = ["l0", "l1"]


def page_config(dev, priority):
    """The file that the page shows."""
    text = PAGE.read_text().split("    # /etc/xbond/bond0.conf on both hosts\n")[1].split("\n* ")[0]
    text = re.sub("^    ", "", text, flags=re.M)
    return text.replace("[slave eth1]", f"[slave {dev}]").replace("101\n", f"{priority}\n")


class Segment:
    """Hosts a and b, each with one link to far, which has one bond over both."""

    def __init__(self, lab):
        self.hosts = [lab.host(letter, bondd=False) for letter in "ab"]
        self.far = lab.host("c")
        for number, (host, dev) in enumerate(zip(self.hosts, BOTH)):
            lab.link(host, self.far, dev, number)
            (host.config_dir / "bond0.conf").write_text(page_config(dev, 101 + number))
            host.start_bondd()
            host.ip("link", "set", "bond0", "address", "02:00:00:00:00:01")
            host.ip("link", "set", "bond0", "up")
            host.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
        self.far.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "fast", "xmit_hash_policy",
                     "layer3+4", "broadcast_neighbor", "on")
        self.far.ctl("add-slave", "bond0", *BOTH)
        self.far.ip("link", "set", "bond0", "up")
        self.far.ip("addr", "add", "10.0.0.2/24", "dev", "bond0")
        self.wait_both()

    def wait_both(self):
        wait_distributing(self.far, links=BOTH)
        for host, dev in zip(self.hosts, BOTH):
            wait_distributing(host, links=[dev])
        self.far.wait_ping("10.0.0.1")

    def send(self, count):
        """What each host received of so many packets to the address that both have."""
        tallies = [Tally(host, [dev]) for host, dev in zip(self.hosts, BOTH)]
        stream = Stream(self.far, self.hosts[0], to="10.0.0.1", count=count, rate=4000, flows=200)
        stream.sender.wait(timeout=30)
        received = [tally.finish() for tally in tallies]
        stream.finish()
        return received


def test_both_are_one_partner(lab):
    made = Segment(lab)
    shown, theirs = made.far.show()["lacp"], ports(made.far)
    assert (shown["partner_system"], shown["num_ports"]) == (SYSTEM, 2)
    assert len({port["aggregator_id"] for port in theirs.values()}) == 1
    assert {port["partner_system"] for port in theirs.values()} == {SYSTEM}
    keys = [host.show()["lacp"]["actor_key"] for host in made.hosts]
    assert keys[0] == keys[1] == shown["partner_key"] and keys[0] >> 6 == 7
    priorities = [ports(host)[dev]["port_prio"] for host, dev in zip(made.hosts, BOTH)]
    assert priorities == [101, 102]
    received = made.send(2000)
    assert sum(received) == 2000 and min(received) > 500, received
    take_out(made)
    stop_one(made)


def take_out(made):
    """A bond0 that goes down gives its share to the other host, and takes it again."""
    first, second = made.hosts
    first.ip("link", "set", "bond0", "down")
    wait_for(lambda: distributing(made.far) == ["l1"], "the far end to use b only")
    assert made.send(1000) == [0, 1000]
    first.ip("link", "set", "bond0", "up")
    made.wait_both()
    second.ip("link", "set", "bond0", "down")
    wait_for(lambda: distributing(made.far) == ["l0"], "the far end to use a only")
    assert made.send(1000) == [1000, 0]
    second.ip("link", "set", "bond0", "up")
    made.wait_both()


def stop_one(made):
    """A host without bondd keeps its port, and goes on with the same system and key."""
    wait_told(made.far, BOTH)
    told = len(made.far.log())
    made.hosts[0].kill_bondd()
    received = made.send(2000)
    made.hosts[0].start_bondd()
    made.wait_both()
    assert sum(received) == 2000 and min(received) > 500, received
    assert made.far.log()[told:] == ""


def refusal(host, dev):
    return host.run("ip", "link", "set", dev, "protodown", "on", check=False).stderr


@pytest.mark.parametrize("device", ["veth", "netkit"])
def test_protodown_of_a_bond_is_refused_by_the_kernel(lone, device):
    """If this fails, the kernel has learned it, and docs/operators/multihoming.md must say so."""
    host = lone(links=0)
    if host.ctl_try("create", "bond0", "device", device).returncode:
        pytest.skip(f"no {device} here")
    assert "Protodown not supported" in refusal(host, "bond0")


def test_protodown_of_a_slave_is_honoured(lone):
    """A macvlan is a device that has it."""
    host = lone(links=2)
    for name in host.links:
        host.ip("link", "set", name, "up")
        host.ip("link", "add", f"m{name}", "link", name, "type", "macvlan", "mode", "passthru")
    slaves = [f"m{name}" for name in host.links]
    host.make_bond(slaves, "mode", "active-backup")
    host.ip("link", "set", "ml0", "protodown", "on")
    host.wait_slaves("ml1")
    wait_for(lambda: host.show()["active_slave"] == "ml1", "the other slave")
    wait_for(lambda: "held down by protodown" in str(host.slave("ml0")["why"]), "the reason")
    host.restart_bondd()
    assert "held down by protodown" in host.slave("ml0")["why"]
    host.ip("link", "set", "ml1", "protodown", "on")
    wait_for(lambda: not host.show()["carrier"], "the bond to lose its carrier")
    for slave in slaves:
        host.ip("link", "set", slave, "protodown", "off")
    host.wait_slaves(*slaves)
    assert "protodown" not in str(host.slave("ml1")["why"])
