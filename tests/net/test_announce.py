"""After a failover in active-backup bond0 says by every address where it is now: ARP for IPv4, a
neighbour advertisement for IPv6, and a RARP when it has no address.
"""
import socket
import struct

import pytest

from lab import wait_for
from traffic import Capture

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
            return any(is_announcement(frame) for frame in ours) and any(is_advertisement(frame) for frame in ours)

        fail_over(made.near, "l1")
        wait_for(announced, "ARP for 10.0.0.1 and an advertisement on l1")


def test_without_addresses_the_switch_learns_by_rarp(lone):
    host = lone(links=2)
    host.ctl("create", "bond0", "mode", "active-backup")
    host.ctl("add-slave", "bond0", "l0", "l1")
    host.ip("link", "set", "bond0", "up")
    host.wait_slaves("l0", "l1")
    fail_over(host, "l0")
    with Capture(host.far, "l1") as wire:
        fail_over(host, "l1")
        wait_for(lambda: any(frame.type == RARP for frame in wire.frames()), "a RARP on l1")


def test_vlans_on_the_bond_are_announced_too(pair):
    """Switches learn per VLAN: the one with an address by ARP, the other by RARP."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    for vlan in (5, 6):
        done = made.near.run("ip", "link", "add", f"bond0.{vlan}", "link", "bond0", "type", "vlan", "id", str(vlan),
                             check=False)
        if "Unknown device type" in done.stderr or "not supported" in done.stderr:
            pytest.skip("this kernel has no VLAN devices")
        made.near.ip("link", "set", f"bond0.{vlan}", "up")
    made.near.ip("addr", "add", "10.0.5.1/24", "dev", "bond0.5")
    fail_over(made.near, "l0")
    with Capture(made.far, "l1") as wire:
        seen = []

        def announced():
            seen.extend((frame.vlan, frame.type, frame.data[28:32]) for frame in wire.frames())
            return (5, ARP, bytes([10, 0, 5, 1])) in seen and any(each[:2] == (6, RARP) for each in seen)

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
            assert ones_complement(frame.data[14:header]) == ones_complement(frame.data[header:header + 8]) == 0xffff
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


def test_multicast_groups_are_reported_on_the_new_slave(pair):
    """For switches that snoop: they would wait for the next query."""
    made = pair("active-backup", links=2, far={"mode": "broadcast"})
    mac, index = made.near.show()["mac"], made.near.link("bond0")["ifindex"]
    with made.near.inside():
        four, six = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
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
