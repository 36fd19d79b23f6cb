"""What others send beside LACP: frames of its ethertype from anywhere in the network, other slow
protocols. The ports do not notice, and every frame reaches whom it is for.
"""
import select
import socket

import pytest

from frames import mac_bytes
from junk import BROADCAST, ESMC, MULTICAST, OAM, STRANGER, Floods, claim, forged, other, to
from lacp import (SLOW_TYPE, answers, counters, distributing, marker, tx_slots, wait_answers,
                  wait_distributing, wait_mutual, wait_told)
from traffic import Capture, Stream, send_frames
from waiting import moments, wait_for

PAE_GROUP, EAPOL = "01:80:c2:00:00:03", b"\x88\x8e"


@pytest.fixture
def made(pair, request):
    made = pair("802.3ad", links=2, lacp_rate="fast", rx_hook=getattr(request, "param", "tc"))
    wait_distributing(made.near, made.far, links=made.links)
    wait_mutual(made.near, made.far, made.links)
    for host in (made.near, made.far):
        wait_told(host, made.links)
    return made


def is_from_stranger(frame):
    return frame.type == SLOW_TYPE and frame.src == STRANGER


class SlowSocket:
    """As a daemon of another slow protocol has it: it gets what the slave's program lets pass."""

    def __init__(self, host, dev):
        with host.inside():
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self.socket.bind((dev, SLOW_TYPE))

    def frames(self):
        found = []
        while select.select([self.socket], [], [], 0)[0]:
            found.append(self.socket.recv(2048))
        return found

    def close(self):
        self.socket.close()


@pytest.mark.parametrize("made, kind, address",
                         [("tc", "lacpdu", "unicast"), ("tc", "lacpdu", BROADCAST),
                          ("tc", "lacpdu", MULTICAST), ("tc", "marker", "unicast"),
                          ("tc", "oam", BROADCAST), ("xdp", "lacpdu", "unicast"),
                          ("xdp", "marker", BROADCAST)], indirect=["made"])
def test_frames_from_anywhere_are_the_bonds(made, kind, address):
    """A switch forwards them, 1,000 a second on every link: no port notices."""
    address = made.near.show()["mac"] if address == "unicast" else address
    made_of = {"lacpdu": lambda dev: claim(made.near, dev), "marker": lambda _: marker(),
               "oam": lambda _: other(OAM, 0)}[kind]
    told = [len(host.log()) for host in (made.near, made.far)]
    illegal = [counters(made.near, dev)["illegal_rx"] for dev in made.links]
    with Capture(made.near, "bond0") as capture:
        floods = Floods(made.far, {dev: to(address, made_of(dev)) for dev in made.links}, 4)
        while floods.running():
            assert distributing(made.near) == distributing(made.far) == made.links
        sent = floods.sent()
        seen = []

        def arrived():
            seen.extend(frame for frame in capture.frames(0.1) if is_from_stranger(frame))
            return len(seen) >= sent
        wait_for(arrived, f"{sent} frames on bond0")
    assert len(seen) == sent > 4000
    assert [counters(made.near, dev)["illegal_rx"] for dev in made.links] == illegal
    for host, before in zip((made.near, made.far), told):
        assert "LACP" not in host.log()[before:]


@pytest.mark.parametrize("bondd", ["here", "away"])
def test_other_slow_protocols_beside_lacp(made, bondd):
    """10 a second in each of two protocols and more in bursts, for longer than the
    short timeout.
    """
    told, sent, seen = len(made.near.log()), [], []
    heard = {dev: counters(made.near, dev)["lacpdu_rx"] for dev in made.links}
    if bondd == "away":
        made.near.kill_bondd()
    daemon = SlowSocket(made.near, "l0")
    for _ in moments(6):
        burst = [other(subtype, len(sent) + i)
                 for i, subtype in enumerate((OAM, ESMC) * (1 + 9 * (len(sent) % 3 == 0)))]
        send_frames(made.far, "l0", burst)
        sent += burst
        seen += daemon.frames()
        assert tx_slots(made.near) == {0, 1}
        assert distributing(made.far) == made.links

    def arrived():
        seen.extend(daemon.frames())
        return len([frame for frame in seen if frame[14] in (OAM, ESMC)]) >= len(sent)
    wait_for(arrived, f"{len(sent)} frames of other slow protocols on l0")
    daemon.close()
    assert [frame[:len(sent[0])] for frame in seen if frame[14] in (OAM, ESMC)] == sent
    if bondd == "here":
        assert "LACP" not in made.near.log()[told:]
        wait_for(lambda: all(counters(made.near, dev)["lacpdu_rx"] >= heard[dev] + 5
                             for dev in made.links), "LACPDUs to be heard beside them")
        assert counters(made.near, "l0")["unknown_rx"] > 0
    else:
        made.near.start_bondd()
        wait_distributing(made.near, made.far, links=made.links)


@pytest.mark.parametrize("made", ["tc", "xdp"], indirect=True)
def test_eapol_of_all_sizes(made):
    """To the group and to the bond, which hear it, and each slave as well: 2,000 a second on every
    link, also cut off in its header. The ports and the bond's traffic do not notice.
    """
    near, mac = made.near, made.near.show()["mac"]
    told = [len(host.log()) for host in (near, made.far)]
    near.run("ethtool", "-K", "bond0", "tx", "off")  # a veth wants that for XDP
    stream = Stream(near, made.far, rate=500, flows=16)
    for address in (PAE_GROUP, mac):
        head = mac_bytes(address) + mac_bytes(STRANGER) + EAPOL
        for size in (0, 1, 4, 1486):
            floods = Floods(made.far, {dev: head + b"\xff" * size for dev in made.links}, 1, 2000)
            while floods.running():
                assert distributing(near) == distributing(made.far) == made.links
            assert floods.sent()
    stream.flow_on(500)
    result = stream.finish()
    assert result["duplicates"] == 0 and result["longest_silence_ms"] < 2000, result
    assert [host.log()[said:].count("LACP") for host, said in zip((near, made.far), told)] == [0, 0]


def test_forged_frames_do_not_end_hold(made):
    """One unicast LACPDU of a stranger on every link while bondd is dead."""
    frames = {dev: forged(made.near, dev) for dev in made.links}
    made.near.kill_bondd()
    with Capture(made.near, "bond0") as capture:
        for _ in range(4):
            before = answers(made.near, made.links)
            for dev, frame in frames.items():
                send_frames(made.far, dev, [frame])
            wait_answers(made.near, made.links, before)
            assert tx_slots(made.near) == {0, 1} and distributing(made.far) == made.links
        assert sum(is_from_stranger(frame) for frame in capture.frames(0.1)) == 4 * len(made.links)
    told = len(made.far.log())
    made.near.start_bondd()
    wait_distributing(made.near, made.far, links=made.links)
    assert "LACP" not in made.far.log()[told:]
