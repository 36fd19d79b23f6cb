"""After a failover in active-backup bond0 says by every address where it is now, and so do the
devices above: ARP for IPv4, a neighbour advertisement for IPv6, and a RARP from who has no address.
"""
import socket
import struct

import pytest

from traffic import Capture
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
