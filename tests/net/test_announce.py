"""After a failover in active-backup bond0 says by every address where it is now, and so do the
devices above: ARP for IPv4, a neighbour advertisement for IPv6, and a RARP from who has no address.
"""
import json
import socket
import struct

import pytest

from traffic import Capture, send_frames
from waiting import wait_for

ARP, RARP, IPV6 = 0x0806, 0x8035, 0x86DD


def is_announcement(frame):
    """An ARP request of 10.0.0.1 for itself."""
    return frame.type == ARP and frame.data[28:32] == frame.data[38:42] == bytes([10, 0, 0, 1])


def is_advertisement(frame):
    return frame.type == IPV6 and frame.data[20] == 58 and frame.data[54] == 136


def fail_over(host, to):
    host.ctl("set", "bond0", "active_slave", to)
    wait_for(lambda: host.show()["active_slave"] == to, f"{to} is active")


def test_addresses_are_announced_on_the_new_slave(pair):
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    mac = made.near.show()["mac"]
    fail_over(made.near, "l0")
    with Capture(made.far, "l1") as wire:
        seen = []

        def announced():
            seen.extend(wire.frames())
            ours = [frame for frame in seen if frame.src == mac]
            return any(is_announcement(frame) for frame in ours) and \
                any(is_advertisement(frame) for frame in ours)

        fail_over(made.near, "l1")
        wait_for(announced, "ARP for 10.0.0.1 and an advertisement on l1")


def test_without_addresses_the_switch_learns_by_rarp(lone):
    host = lone(links=2)
    host.make_bond(["l0", "l1"], "mode", "active-backup")
    fail_over(host, "l0")
    with Capture(host.far, "l1") as wire:
        fail_over(host, "l1")
        wait_for(lambda: any(frame.type == RARP for frame in wire.frames()), "a RARP on l1")


def test_vlans_on_the_bond_are_announced_too(pair):
    """Switches learn per VLAN: the one with an address by ARP, the other by RARP."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    for vlan in (5, 6):
        done = made.near.run("ip", "link", "add", f"bond0.{vlan}", "link", "bond0", "type", "vlan",
                             "id", str(vlan), check=False)
        if "Unknown device type" in done.stderr or "not supported" in done.stderr:
            pytest.skip("this kernel has no VLAN devices")
        made.near.ip("link", "set", f"bond0.{vlan}", "up")
    made.near.ip("addr", "add", "10.0.5.1/24", "dev", "bond0.5")
    fail_over(made.near, "l0")
    with Capture(made.far, "l1") as wire:
        seen = []

        def announced():
            seen.extend((frame.vlan, frame.type, frame.data[28:32]) for frame in wire.frames())
            return (5, ARP, bytes([10, 0, 5, 1])) in seen and any(each[:2] == (6, RARP)
                                                                  for each in seen)

        fail_over(made.near, "l1")
        wait_for(announced, "ARP on VLAN 5 and RARP on VLAN 6")


def reports(frames, mac):
    """Multicast groups of valid IGMPv2 and MLDv1 reports from mac."""
    found = set()
    for frame in frames:
        if frame.src != mac:
            continue
        if frame.type == 0x0800 and frame.data[23] == 2:
            header = 14 + 4 * (frame.data[14] & 15)
            if frame.data[header] != 0x16:
                continue
            assert ones_complement(frame.data[14:header]) == \
                ones_complement(frame.data[header:header + 8]) == 0xffff
            assert frame.data[22] == 1 and frame.data[30:34] == frame.data[header + 4:header + 8]
            found.add(socket.inet_ntop(socket.AF_INET, frame.data[header + 4:header + 8]))
        elif frame.type == IPV6 and frame.data[20] == 0 and frame.data[62] == 131:
            pseudo = frame.data[22:54] + struct.pack("!II", 24, 58)
            assert ones_complement(pseudo + frame.data[62:86]) == 0xffff
            found.add(socket.inet_ntop(socket.AF_INET6, frame.data[70:86]))
    return found


def ones_complement(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


@pytest.mark.parametrize("mode", ["active-backup", "balance-tlb", "balance-alb"])
def test_multicast_groups_are_reported_on_the_new_slave(pair, mode):
    """For switches that snoop: they would wait for the next query."""
    made = pair(mode, links=2, far={"mode": "broadcast"})
    mac, index = made.near.show()["mac"], made.near.link("bond0")["ifindex"]
    with made.near.inside():
        four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    with four, six:
        four.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                        struct.pack("=4s4si", socket.inet_aton("239.1.2.3"), b"\0" * 4, index))
        six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                       socket.inet_pton(socket.AF_INET6, "ff05::1234") + struct.pack("=i", index))
        fail_over(made.near, "l0")
        with Capture(made.far, "l1") as wire:
            seen = []

            def reported():
                seen.extend(wire.frames())
                return {"239.1.2.3", "ff05::1234"} <= reports(seen, mac)

            fail_over(made.near, "l1")
            wait_for(reported, "both reports on l1")
            assert not {"224.0.0.1", "ff02::1"} & reports(seen, mac)


# the devices above

def lacks(done):
    return "Unknown device type" in done.stderr or "not supported" in done.stderr


def above(host, name, *words, address=None, lower="bond0"):
    """A device on lower, up."""
    done = host.run("ip", "link", "add", name, "link", lower, *words, check=False)
    if lacks(done):
        pytest.skip(f"this kernel has no {words[1]}")
    assert not done.returncode, done.stderr
    if address:
        host.ip("addr", "add", address, "dev", name)
    host.ip("link", "set", name, "up")


def mac_of(host, dev):
    return host.link(dev)["address"]


def arps(frames):
    """(source, VLAN or None, address) of each ARP request of an address for itself."""
    return {(frame.src, frame.vlan, socket.inet_ntoa(frame.data[28:32])) for frame in frames
            if frame.type == ARP and frame.data[28:32] == frame.data[38:42]}


def rarps(frames):
    return {frame.src for frame in frames if frame.type == RARP}


def announced(made, complete, what, deadline=10.0):
    """Lets bond0 fail over from l0 to l1; what the wire of l1 saw until complete(frames)."""
    fail_over(made.near, "l0")
    with Capture(made.far, "l1") as wire:
        seen = []

        def heard():
            seen.extend(wire.frames())
            return complete(seen)

        fail_over(made.near, "l1")
        wait_for(heard, what, deadline)
    return seen


@pytest.mark.parametrize("words",
                         [("type", "macvlan", "mode", "bridge"), ("type", "ipvlan", "mode", "l2"),
                          ("type", "macvtap", "mode", "bridge")], ids=lambda words: words[1])
def test_devices_on_the_bond_are_announced(pair, words):
    """By address where they have one; by RARP where they have none."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    above(made.near, "u0", *words, address="10.0.7.1/24")
    above(made.near, "u1", *words)
    first, second = mac_of(made.near, "u0"), mac_of(made.near, "u1")
    announced(made, lambda seen: (first, None, "10.0.7.1") in arps(seen) and second in rarps(seen),
              "both devices")


def test_vlans_macvlans_and_bridges_one_on_the_other_are_announced(pair):
    """bond0 in a bridge, a macvlan on that, and where there are VLANs one on the bridge."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    made.near.ip("link", "add", "br0", "address", "02:00:00:00:0b:01", "type", "bridge",
                 "forward_delay", "0")
    made.near.ip("link", "set", "bond0", "master", "br0")
    made.near.ip("addr", "add", "10.0.8.1/24", "dev", "br0")
    made.near.ip("link", "set", "br0", "up")
    wait_for(lambda: "UP" in made.near.link("br0")["operstate"], "br0 to be up")
    above(made.near, "u0", "type", "macvlan", "mode", "bridge", address="10.0.9.1/24", lower="br0")
    wanted = {("02:00:00:00:0b:01", None, "10.0.8.1"), (mac_of(made.near, "u0"), None, "10.0.9.1")}
    done = made.near.run("ip", "link", "add", "br0.5", "link", "br0", "type", "vlan", "id", "5",
                         check=False)
    if not lacks(done):
        made.near.ip("addr", "add", "10.0.10.1/24", "dev", "br0.5")
        made.near.ip("link", "set", "br0.5", "up")
        wanted.add(("02:00:00:00:0b:01", 5, "10.0.10.1"))
    announced(made, lambda seen: wanted <= arps(seen), f"{wanted}")


def test_devices_that_are_down_or_stand_elsewhere_are_not_announced(pair):
    """Nor is one without ARP asked for by ARP."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    for name, address in (("u0", "10.0.7.1/24"), ("u1", "10.0.7.2/24"), ("u2", "10.0.7.3/24")):
        above(made.near, name, "type", "macvlan", "mode", "bridge", address=address)
    made.near.ip("link", "set", "u0", "down")
    made.near.ip("link", "set", "u1", "arp", "off")
    made.near.ip("link", "add", "other", "address", "02:00:00:00:0b:02", "type", "veth", "peer",
                 "name", "end")
    made.near.ip("addr", "add", "10.0.7.4/24", "dev", "other")
    made.near.ip("link", "set", "other", "up")
    last = (mac_of(made.near, "u2"), None, "10.0.7.3")
    seen = announced(made, lambda seen: last in arps(seen), "u2")
    assert not {"10.0.7.1", "10.0.7.2", "10.0.7.4"} & {address for *_, address in arps(seen)}


def test_every_one_of_many_devices_is_announced(pair):
    """Private macvlans: others would give each frame to all of them."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    count = 300
    lines = []
    for number in range(count):
        lines += [f"link add u{number} link bond0 type macvlan mode private",
                  f"addr add 10.1.{number // 200}.{number % 200 + 1}/32 dev u{number}",
                  f"link set u{number} up"]
    made.near.ip_batch(*lines)
    wanted = {f"10.1.{number // 200}.{number % 200 + 1}" for number in range(count)} | {"10.0.0.1"}
    announced(made, lambda seen: wanted <= {address for *_, address in arps(seen)}, "all devices",
              10)


def test_devices_in_other_namespaces_are_announced(pair):
    """As containers have them: one on bond0, and what stands on that."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    there = made.lab.namespace("c")
    above(made.near, "u0", "type", "macvlan", "mode", "bridge")
    made.near.ip("link", "set", "u0", "netns", there.name)
    there.ip("addr", "add", "10.0.7.1/24", "dev", "u0")
    there.ip("link", "set", "u0", "up")
    above(there, "u1", "type", "macvlan", "mode", "bridge", address="10.0.7.2/24", lower="u0")
    wanted = {(mac_of(there, "u0"), None, "10.0.7.1"), (mac_of(there, "u1"), None, "10.0.7.2")}
    announced(made, lambda seen: wanted <= arps(seen), f"{wanted}")


def test_a_bond_in_another_namespace_is_announced(pair):
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    there, mac = made.lab.namespace("c"), made.near.show()["mac"]
    made.near.ip("link", "set", "bond0", "netns", there.name)
    there.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    there.ip("link", "set", "bond0", "up")
    wait_for(lambda: "moved to another namespace" in made.near.log(), "bondd to see it")
    wait_for(lambda: len(made.near.carrier_slaves()) == 2, "both slaves")
    announced(made, lambda seen: (mac, None, "10.0.0.1") in arps(seen), "10.0.0.1")


# what of IPv6

ROUTER, OVERRIDE = 0x80, 0x20


def advertised(frames, mac):
    """{target: flags} of the valid neighbour advertisements from mac, which are sent by the target
    itself.
    """
    found = {}
    for frame in frames:
        if frame.src != mac or not is_advertisement(frame):
            continue
        assert ones_complement(frame.data[22:54] + struct.pack("!II", 32, 58) +
                               frame.data[54:86]) == 0xffff
        assert frame.data[22:38] == frame.data[62:78]
        found[socket.inet_ntop(socket.AF_INET6, frame.data[62:78])] = frame.data[58]
    return found


def flags_of(host, address):
    """What `ip` says of one of bond0's addresses."""
    words = host.ip("-6", "addr", "show", "dev", "bond0", "to", address).split()
    return set(words)


def link_local(host):
    """Which the kernel lets nobody use at first, also where it looks for no duplicates."""
    def found():
        words = flags_of(host, "fe80::/10")
        return None if "tentative" in words else next(
            (word.split("/")[0] for word in words if word.startswith("fe80::")), None)
    return wait_for(found, "a link-local address")


def test_addresses_that_may_be_anothers_are_not_announced(pair):
    """Tentative and failed ones, which would be stolen; link-local and deprecated
    ones are in use.
    """
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    near, mac = made.near, made.near.show()["mac"]
    own = link_local(near)
    near.run("sysctl", "-qw", "net.ipv6.conf.bond0.accept_dad=1")
    near.ip("addr", "add", "fd00::2/64", "dev", "bond0")
    wait_for(lambda: "dadfailed" in flags_of(near, "fd00::2"), "fd00::2 to be the far side's")
    near.run("sysctl", "-qw", "net.ipv6.conf.bond0.dad_transmits=1000")
    near.ip("addr", "add", "fd00::3/64", "dev", "bond0")
    near.ip("addr", "add", "fd00::4/64", "dev", "bond0", "nodad", "preferred_lft", "0")
    assert "tentative" in flags_of(near, "fd00::3") and "deprecated" in flags_of(near, "fd00::4")
    wanted = {own, "fd00::1", "fd00::4"}
    seen = announced(made, lambda seen: wanted <= set(advertised(seen, mac)), f"{wanted}")
    assert advertised(seen, mac) == dict.fromkeys(wanted, OVERRIDE)


def test_an_optimistic_address_overrides_nobody(pair):
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    near, mac = made.near, made.near.show()["mac"]
    near.run("sysctl", "-qw", "net.ipv6.conf.bond0.accept_dad=1",
             "net.ipv6.conf.bond0.dad_transmits=1000")
    near.run("sysctl", "-qw", "net.ipv6.conf.bond0.optimistic_dad=1", check=False)
    near.ip("addr", "add", "fd00::3/64", "dev", "bond0", "optimistic", check=False)
    if "optimistic" not in flags_of(near, "fd00::3"):
        pytest.skip("this kernel has no optimistic addresses")
    seen = announced(made, lambda seen: "fd00::3" in advertised(seen, mac), "fd00::3")
    assert advertised(seen, mac)["fd00::3"] == 0 and advertised(seen, mac)["fd00::1"] == OVERRIDE


def test_a_router_says_that_it_is_one(pair):
    """Whose advertisement comes without that flag is nobody's default router any more (RFC 4861,
    7.2.5).
    """
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    mac = made.near.show()["mac"]
    for forwarding, flags in (("1", ROUTER | OVERRIDE), ("0", OVERRIDE)):
        made.near.run("sysctl", "-qw", f"net.ipv6.conf.bond0.forwarding={forwarding}")
        seen = announced(made, lambda seen: "fd00::1" in advertised(seen, mac), "fd00::1")
        assert advertised(seen, mac)["fd00::1"] == flags


def test_groups_are_reported_from_a_link_local_address(pair):
    """Routers heed no other (RFC 2710, 5)."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    mac, index = made.near.show()["mac"], made.near.link("bond0")["ifindex"]
    own = link_local(made.near)
    with made.near.inside():
        six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    with six:
        six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                       socket.inet_pton(socket.AF_INET6, "ff05::1234") + struct.pack("=i", index))
        seen = announced(made, lambda seen: "ff05::1234" in reports(seen, mac), "the report")
    sources = {socket.inet_ntop(socket.AF_INET6, frame.data[22:38]) for frame in seen
               if frame.src == mac and frame.type == IPV6 and frame.data[20] == 0 and
               frame.data[62] == 131}
    assert sources == {own}


def test_the_bond_ends_while_it_is_announced(pair):
    """And another failover begins anew."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    lines = [f"link add u{number} link bond0 type macvlan mode bridge\nlink set u{number} up"
             for number in range(100)]
    made.near.ip_batch(*lines)
    for slave in ("l0", "l1") * 5:
        made.near.ctl("set", "bond0", "active_slave", slave)
    made.near.ctl("delete", "bond0")
    made.near.ctl("create", "bond0", "mode", "active-backup")
    made.near.ctl("add-slave", "bond0", "l0", "l1")
    made.near.ip("link", "set", "bond0", "up")
    made.near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    made.near.wait_slaves("l0", "l1")
    mac = made.near.show()["mac"]
    announced(made, lambda seen: (mac, None, "10.0.0.1") in arps(seen), "10.0.0.1")


# the machines behind a bridge

class Bridged:
    """bond0, or a VLAN on it, as a port of br0, with a machine, which is silent, behind each of
    the ports p0, p1, and so on; and a switch that the two slaves end at. away: br0 and bond0 are in
    another namespace.
    """

    def __init__(self, lab, machines, *options, port="bond0", away=False):
        self.near = lab.lone(links=2)
        self.far, self.lab = self.near.far, lab
        self.far.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
        self.far.ip_batch("link add sw up type bridge forward_delay 0 mcast_snooping 0",
                          *[f"link set {name} master sw" for name in self.near.links])
        self.near.make_bond(["l0", "l1"], "mode", "active-backup", *options)
        self.host = lab.namespace("h") if away else self.near
        if away:
            self.near.ip("link", "set", "bond0", "netns", self.host.name)
            self.host.ip("link", "set", "bond0", "up")
            wait_for(lambda: "moved to another namespace" in self.near.log(), "bondd to see it")
        self.host.ip_batch("link add br0 address 02:00:00:00:0b:01 type bridge forward_delay 0 "
                           "mcast_snooping 0", "link set br0 up")
        if port != "bond0":
            above(self.host, port, "type", "vlan", "id", port.split(".")[1])
        self.host.ip("link", "set", port, "master", "br0")
        self.machines = [lab.namespace(f"v{number}") for number in range(machines)]
        for number, machine in enumerate(self.machines):
            machine.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                        "net.ipv6.conf.default.disable_ipv6=1")
            self.host.ip_batch(f"link add p{number} type veth peer name e0 address "
                               f"{machine_mac(number)} netns {machine.name}",
                               f"link set p{number} master br0", f"link set p{number} up")
            machine.ip("link", "set", "e0", "up")
        wait_for(lambda: all(is_open(self.host, each) for each in
                             (port, *(f"p{number}" for number in range(machines)))),
                 "all ports of br0 to forward")
        fail_over(self.near, "l0")

    def bridge(self, *words):
        self.host.run("bridge", *words)

    def speak(self):
        """Once, so that the switch knows all machines at l0."""
        for number, machine in enumerate(self.machines):
            send_frames(machine, "e0", [frame_of(machine_mac(number))])
        for number in range(len(self.machines)):
            wait_for(lambda number=number: at_port(self.far, "sw", machine_mac(number)) == {"l0"},
                     f"the switch to know machine {number} at l0")

    def fail_over(self, *wanted):
        """Until the wire of l1 has seen RARPs of these, each (address, tag or None), and bond0's in
        the round after. All RARPs and their tags.
        """
        mac = self.near.show()["mac"]
        with Capture(self.far, "l1") as wire:
            seen = []

            def is_over():
                seen.extend(tagged_rarps(wire.frames()))
                return set(wanted) <= set(seen) and seen.count((mac, None)) >= 2

            self.near.ctl("set", "bond0", "num_grat_arp", "2", "peer_notif_delay", "300")
            fail_over(self.near, "l1")
            wait_for(is_over, lambda: f"{wanted} and bond0 twice; {seen}")
        return set(seen)


def machine_mac(number):
    return f"02:00:00:00:0c:{number:02x}"


def is_open(host, port):
    return host.link(port)["linkinfo"].get("info_slave_data", {}).get("state") == "forwarding"


def frame_of(mac, to="ff:ff:ff:ff:ff:ff"):
    """Of an experimental type, so that nobody answers."""
    return bytes.fromhex((to + mac).replace(":", "")) + b"\x88\xb5" + bytes(46)


def at_port(namespace, bridge, mac):
    """The ports where a bridge has this address."""
    return {entry["ifname"] for entry in json.loads(namespace.run(
        "bridge", "-j", "fdb", "show", "br", bridge).stdout) if entry["mac"] == mac}


def tagged_rarps(frames):
    return [(frame.src, frame.vlan) for frame in frames if frame.type == RARP]


@pytest.fixture
def bridged(lab):
    return lambda machines, *options, **more: Bridged(lab, machines, *options, **more)


@pytest.mark.parametrize("how", [{}, {"away": True}, {"port": "bond0.5"}],
                         ids=["here", "elsewhere", "vlan"])
def test_the_switch_finds_silent_machines(bridged, how):
    """Machines of the same bridge do not hear of it."""
    made = bridged(2, **how)
    made.speak()
    with Capture(made.machines[1], "e0") as other:
        fail_over(made.near, "l1")
        for number in range(2):
            wait_for(lambda number=number: at_port(made.far, "sw", machine_mac(number)) == {"l1"},
                     f"the switch to know machine {number} at l1")
        assert machine_mac(0) not in rarps(other.frames())


def test_what_the_switch_sends_back_moves_no_machine(bridged):
    """A backup slave hears each announcement from the switch."""
    made = bridged(1)
    made.speak()
    with Capture(made.near, "l0") as back:
        heard = []
        fail_over(made.near, "l1")
        wait_for(lambda: heard.extend(back.frames()) or machine_mac(0) in rarps(heard),
                 "the announcement on the backup slave")
    assert at_port(made.near, "br0", machine_mac(0)) == {"p0"}


def test_where_a_backup_hears_the_bond_no_machine_is_announced(bridged):
    """What the switch sends back would tell br0 that the machine is outside."""
    made = bridged(1, "all_slaves_active", "on")
    send_frames(made.machines[0], "e0", [frame_of(machine_mac(0), "02:00:00:00:0d:01")])
    wait_for(lambda: at_port(made.near, "br0", machine_mac(0)), "br0 to know the machine")
    made.bridge("fdb", "replace", machine_mac(0), "dev", "p0", "master", "static")
    assert machine_mac(0) not in dict(made.fail_over())


def test_no_bond_waits_for_the_machines_of_another(bridged):
    """A switch that dies takes the active link of several bonds."""
    made, ports, each = bridged(0), 40, 1000
    near, far = made.near, made.far
    near.ip_batch(*[f"link add q{port} master br0 up type veth peer name e{port}"
                    for port in range(ports)], *[f"link set e{port} up" for port in range(ports)])
    for name in ("l2", "l3"):
        near.ip("link", "add", name, "type", "veth", "peer", "name", name, "netns", far.name)
        far.ip("link", "set", name, "up")
    near.ctl("create", "bond1", "mode", "active-backup", "primary", "l2")
    near.ctl("add-slave", "bond1", "l2", "l3")
    near.ip("link", "set", "bond1", "up")
    wait_for(lambda: near.show("bond1")["active_slave"] == "l2", "bond1 to use l2")
    near.run("bridge", "-batch", "-", input="\n".join(
        f"fdb add 02:00:00:{port:02x}:{number // 256:02x}:{number % 256:02x} dev q{port} master "
        "static" for port in range(ports) for number in range(each)))
    with Capture(far, "l1") as machines, Capture(far, "l3") as wire:
        seen = set()
        far.ip("link", "set", "l0", "down")
        wait_for(lambda: seen.update(rarps(machines.frames())) or len(seen) > 10, "machines")
        far.ip("link", "set", "l2", "down")
        wait_for(lambda: rarps(wire.frames()), "bond1's RARP")
        seen.update(rarps(machines.frames()))
        assert len(seen) < ports * each


def test_machines_are_announced_in_their_vlan(bridged):
    """As the bond's port sends it: with a tag, without, or not at all."""
    made = bridged(5)
    if made.near.run("ip", "link", "set", "br0", "type", "bridge", "vlan_filtering", "1",
                     "vlan_default_pvid", "0", check=False).returncode:
        pytest.skip("this kernel's bridges do not tell VLANs apart")
    for vlan in ("10", "20 pvid untagged", "40"):
        made.bridge("vlan", "add", "dev", "bond0", "vid", *vlan.split())
    for number, vlan in enumerate((10, 20, 30, 40)):
        made.bridge("vlan", "add", "dev", f"p{number}", "vid", vlan, "pvid", "untagged")
        send_frames(made.machines[number], "e0", [frame_of(machine_mac(number))])
        wait_for(lambda number=number: at_port(made.near, "br0", machine_mac(number)),
                 f"br0 to know machine {number}")
    made.bridge("vlan", "set", "dev", "bond0", "vid", 40, "state", "blocking")
    made.bridge("vlan", "add", "dev", "p4", "vid", 10)
    made.bridge("fdb", "add", machine_mac(4), "dev", "p4", "master", "static")
    wanted = {(machine_mac(0), 10), (machine_mac(1), None), (machine_mac(4), 10)}
    seen = made.fail_over(*wanted)
    assert {each for each in seen if each[0].startswith("02:00:00:00:0c")} == wanted


def test_whom_the_bridge_would_not_let_speak_is_not_announced(bridged):
    """The bridge's own addresses, what a routing daemon has put there, the machine of an isolated
    or a blocked port, virtual routers.
    """
    made = bridged(4)
    made.bridge("fdb", "add", "02:00:00:00:0e:00", "dev", "p0", "master", "static")
    made.bridge("fdb", "add", "02:00:00:00:0e:01", "dev", "p0", "master", "permanent")
    made.bridge("fdb", "add", "02:00:00:00:0e:02", "dev", "p0", "master", "extern_learn")
    made.bridge("fdb", "add", "00:00:5e:00:01:07", "dev", "p0", "master", "static")
    for number in (1, 2, 3):
        made.bridge("fdb", "add", machine_mac(number), "dev", f"p{number}", "master", "static")
    made.bridge("link", "set", "dev", "bond0", "isolated", "on")
    made.bridge("link", "set", "dev", "p1", "isolated", "on")
    made.bridge("link", "set", "dev", "p2", "state", "0")
    bond, own = made.near.show()["mac"], "02:00:00:00:0b:01"
    seen = made.fail_over(("02:00:00:00:0e:00", None), (machine_mac(3), None))
    assert seen == {(mac, None) for mac in (bond, own, "02:00:00:00:0e:00", machine_mac(3))}


def test_a_host_outside_is_not_announced(bridged):
    made = bridged(1)
    made.speak()
    send_frames(made.far, "l0", [frame_of("02:00:00:00:0d:01")])
    wait_for(lambda: at_port(made.near, "br0", "02:00:00:00:0d:01") == {"bond0"},
             "br0 to know the host outside")
    assert "02:00:00:00:0d:01" not in dict(made.fail_over((machine_mac(0), None)))


def test_a_host_outside_is_not_announced_by_another_port_to_the_bond(lab):
    """Two macvlans on bond0, in another namespace and there in one bridge."""
    near, there = lab.lone(links=2), lab.namespace("c")
    near.make_bond(["l0", "l1"], "mode", "active-backup", "num_grat_arp", "2", "peer_notif_delay",
                   "300")
    there.ip("link", "add", "br1", "up", "type", "bridge", "forward_delay", "0")
    for name in ("u0", "u1"):
        above(near, name, "type", "macvlan", "mode", "private")
        near.ip("link", "set", name, "netns", there.name)
        there.ip_batch(f"link set {name} master br1", f"link set {name} up")
        wait_for(lambda name=name: is_open(there, name), f"{name} to forward")
    fail_over(near, "l0")
    send_frames(near.far, "l0", [frame_of("02:00:00:00:0d:01")])
    wait_for(lambda: at_port(there, "br1", "02:00:00:00:0d:01"), "br1 to know the host outside")
    mac = near.show()["mac"]
    with Capture(near.far, "l1") as wire:
        seen = []
        fail_over(near, "l1")
        wait_for(lambda: seen.extend(tagged_rarps(wire.frames())) or seen.count((mac, None)) >= 2,
                 "the second announcement of bond0")
    assert (mac_of(there, "br1"), None) in seen and ("02:00:00:00:0d:01", None) not in seen


def test_a_port_that_the_bridge_blocks_attracts_no_machine(bridged):
    made = bridged(1)
    made.speak()
    made.bridge("link", "set", "dev", "bond0", "state", "0")
    assert machine_mac(0) not in dict(made.fail_over())


def test_many_addresses_behind_a_port_displace_no_other_machine(bridged):
    made = bridged(2)
    made.near.run("bridge", "-batch", "-", input="".join(
        f"fdb add 02:00:00:01:{number // 256:02x}:{number % 256:02x} dev p0 master static\n"
        for number in range(1100)))
    made.bridge("fdb", "add", machine_mac(1), "dev", "p1", "master", "static")
    seen = made.fail_over((machine_mac(1), None))
    assert sum(mac.startswith("02:00:00:01:") for mac, _ in seen) == 1024
