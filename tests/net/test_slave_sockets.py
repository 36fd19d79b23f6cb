"""Sockets that are bound to a slave and a protocol, as those of LLDP and PTP daemons: what is for
the link's other end reaches them, and the bond as well. A team hands all that a slave receives to
sockets on both, as kernel bonding does.
"""
import contextlib
import select
import socket
import struct

import pytest

from frames import mac_bytes
from lab import is_team
from lacp import wait_distributing
from test_stacking import moved_away
from traffic import SOL_PACKET, Capture, send_frames
from waiting import wait_for

PACKET_ADD_MEMBERSHIP, PACKET_MR_ALLMULTI = 1, 2
SOURCE = bytes.fromhex("020000000099")
NEAREST, PEER = bytes.fromhex("0180c200000e"), bytes.fromhex("0180c2000000")
LLDP, PTP, FIP, EAPOL = 0x88cc, 0x88f7, 0x8914, 0x888e
PTP_FORWARDED, FIP_ALL = bytes.fromhex("011b19000000"), bytes.fromhex("011018010002")
both_hooks = pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)


def frame(to, protocol, payload=b""):
    return (to + SOURCE + protocol.to_bytes(2, "big") + payload).ljust(60, b"\0")


FOR_THE_LINK = [frame(NEAREST, LLDP), frame(NEAREST, PTP), frame(NEAREST, FIP), frame(PEER, LLDP)]
FOR_THE_BOND = [frame(PTP_FORWARDED, PTP), frame(FIP_ALL, FIP)]


class Ears:
    """Sockets of a namespace, each bound to a device and a protocol: what they hear from SOURCE."""

    def __init__(self, namespace, devices, protocols=(LLDP, PTP, FIP)):
        self.sockets = {}
        with namespace.inside(), contextlib.ExitStack() as opened:
            for dev in devices:
                for protocol in protocols:
                    made = opened.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
                    made.bind((dev, protocol))
                    # a NIC may filter groups
                    made.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                                    struct.pack("=iHH8x", socket.if_nametoindex(dev),
                                                PACKET_MR_ALLMULTI, 0))
                    self.sockets[made] = dev
            self.opened = opened.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.opened.close()

    def heard(self, wait=0.0):
        """{device: frames}; with wait, until nothing came for so many seconds."""
        found = {}
        while ready := select.select(list(self.sockets), [], [], wait)[0]:
            for each in ready:
                data = each.recv(2048)
                if data[6:12] == SOURCE:
                    found.setdefault(self.sockets[each], []).append(data)
        return {dev: sorted(frames) for dev, frames in found.items()}


def check(ears, sender, dev, sent, expected):
    """Sends frames on dev, and what is heard is that: {device: frames}; the last frame is always
    heard.
    """
    last = frame(NEAREST, LLDP, b"last")
    heard = {}

    def is_over():
        for each, frames in ears.heard().items():
            heard.setdefault(each, []).extend(frames)
        return all(last in heard.get(each, []) for each in expected)
    send_frames(sender, dev, [*sent, last])
    wait_for(is_over, "the last frame")
    assert {each: sorted(frames) for each, frames in heard.items()} == \
        {each: sorted([*frames, last]) for each, frames in expected.items()}


@pytest.mark.parametrize("mode, path, hook",
                         [("balance-rr", "direct", "tcx"), ("balance-xor", "counted", "tcx"),
                          ("balance-xor", "direct", "clsact"), ("broadcast", "counted", "clsact"),
                          ("802.3ad", "counted", "tcx"), ("802.3ad", "direct", "clsact")],
                         indirect=["hook"])
def test_an_active_slave(pair, mode, path, hook):  # noqa: F811
    made = pair(mode, links=2, path=path)
    if mode == "802.3ad":
        wait_distributing(made.near, made.far, links=made.links)
    with Ears(made.far, ["l0", "l1", "bond0"]) as ears, Capture(made.far, "bond0") as above:
        check(ears, made.near, "l0", [*FOR_THE_LINK, *FOR_THE_BOND],
              {"l0": [*FOR_THE_LINK, *FOR_THE_BOND] if is_team() else FOR_THE_LINK,
               "bond0": [*FOR_THE_LINK, *FOR_THE_BOND]})
        assert len([each for each in above.frames(0.1) if each.data[6:12] == SOURCE]) == 7


def test_each_is_counted_once(lone):
    near = lone(links=1)
    near.make_bond(["l0"], "mode", "balance-xor")
    near.wait_port_side()
    counted, shown = near.slave("l0"), near.received("bond0")["packets"]
    with Ears(near, ["bond0"]) as ears:
        check(ears, near.far, "l0", [frame(NEAREST, LLDP)] * 99,
              {"bond0": [frame(NEAREST, LLDP)] * 99})
    wait_for(lambda: near.slave("l0")["rx_packets"] >= counted["rx_packets"] + 100,
             "the frames to be counted")
    assert near.slave("l0")["rx_packets"] < counted["rx_packets"] + 120  # others send a little, too
    assert near.received("bond0")["packets"] < shown + 120


@both_hooks
def test_an_inactive_slave(pair, hook):
    """Only the slave's own sockets hear there, as with kernel bonding; of a team, the bond's, too.
    """
    made = pair("active-backup", links=2)
    backup = next(slave["name"] for slave in made.far.show()["slaves"] if not slave["active"])
    with Ears(made.far, [backup, "bond0"]) as ears:
        check(ears, made.near, backup, [*FOR_THE_LINK, *FOR_THE_BOND],
              {backup: FOR_THE_LINK, **({"bond0": FOR_THE_LINK} if is_team() else {})})


def test_a_slave_of_a_bond_in_another_namespace(pair, path):  # noqa: F811
    made = pair("balance-xor", links=2, path=path)
    other = made.lab.namespace("c")
    with moved_away(made, other), Ears(made.near, ["l0"]) as below, Ears(other, ["bond0"]) as above:
        wait_for(lambda: "moved to another namespace" in made.near.log(), "bondd to see it")
        other.wait_ping("10.0.0.2")
        made.near.wait_port_side()
        check(below, made.far, "l0", FOR_THE_LINK, {"l0": FOR_THE_LINK})
        heard, sent = [], [*FOR_THE_LINK, frame(NEAREST, LLDP, b"last")]
        wait_for(lambda: len(heard) >= len(sent) or heard.extend(above.heard().get("bond0", [])),
                 "all frames")
        assert sorted(heard) == sorted(sent)


def test_slow_protocols_and_pause_stay_on_the_slave(pair):
    made = pair("balance-xor", links=2)
    group = [bytes.fromhex(f"0180c200000{last}") for last in (2, 1)]
    own = [frame(group[0], 0x8809, b"\x0a"), frame(group[1], 0x8808)]
    with Ears(made.far, ["l0", "bond0"], (0x8809, 0x8808, LLDP)) as ears:
        # A team that can send keeps slow protocols on the port itself.
        check(ears, made.near, "l0", own, {"l0": own, "bond0": own[1:] if is_team() else []})


def test_a_supplicant_may_be_on_the_slave_or_on_the_bond(pair, path):  # noqa: F811
    made = pair("active-backup", links=2, path=path)
    address = mac_bytes(made.far.show()["mac"])
    sent = [frame(bytes.fromhex("0180c2000003"), EAPOL), frame(address, EAPOL)]
    active = made.far.show()["active_slave"]
    with Ears(made.far, [active, "bond0"], (EAPOL, LLDP)) as ears:
        check(ears, made.near, active, sent, {active: sent, "bond0": sent})


def test_ip_to_a_group_of_the_link_is_answered_once(pair):
    """On the slave the host would answer a request as well."""
    made = pair("balance-xor", links=2)
    asked = NEAREST + SOURCE + bytes.fromhex("08060001080006040001") + SOURCE + \
        socket.inet_aton("10.0.0.9") + bytes(6) + socket.inet_aton("10.0.0.2")
    with Capture(made.near, "bond0") as above:
        send_frames(made.near, "l0", [asked.ljust(60, b"\0")])
        answers = wait_for(lambda: [each for each in above.frames(0.3) if each.data[:6] == SOURCE],
                           "the answer")
        assert len(answers) == 1


def test_a_bridge_above_hears_as_well(pair, path):  # noqa: F811
    """And keeps it to itself."""
    made = pair("balance-xor", links=2, path=path)
    made.far.ip("link", "add", "br0", "type", "bridge")
    made.far.ip("link", "set", "br0", "up")
    made.far.ip("link", "set", "bond0", "master", "br0")
    sent = [each for each in FOR_THE_LINK if each[:6] == NEAREST]
    with Ears(made.far, ["l0", "bond0"]) as ears, Capture(made.far, "br0") as top:
        check(ears, made.near, "l0", sent, {"l0": sent, "bond0": sent})
        assert not [each for each in top.frames(0.1) if each.data[6:12] == SOURCE]
