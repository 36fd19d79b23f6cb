"""A partner that sends LACPDUs and markers that are wrong, foreign or too many: each is
counted on the slave where it arrives, and the other slaves notice nothing.
"""
import os
import pathlib
import subprocess
import time

import pytest

from lab import BUILD
from lacp import (ACTIVITY, AGGREGATION, AT_ACTOR, AT_COLLECTOR, AT_PARTNER, AT_SUBTYPE,
                  AT_VERSION, MARKER, TIMEOUT, counters, distributing, is_slow, lacpdu,
                  marker, patched, pdu_info, ports, send_slowly, wait_distributing, wait_mutual,
                  wait_told)
from traffic import Capture, Stream, send_frames
from waiting import moments, wait_for

RAWFLOOD = BUILD / "tools/rawflood"
STRANGER, ANOTHER = "02:00:00:00:00:99", "02:00:00:00:00:aa"


@pytest.fixture
def made(pair):
    """Two hosts, three links, 802.3ad; the evil is done on l0 of the far host."""
    made = pair("802.3ad", links=3, lacp_rate="fast", xmit_hash_policy="layer3+4")
    wait_distributing(made.near, made.far, links=made.links)
    wait_mutual(made.near, made.far, made.links)
    wait_told(made.near, made.links)
    return made


def others_state(host):
    """What must not move on l1 and l2: all but the counters of PDUs, and why: that also says that
    the programs hold a port while bondd is late.
    """
    return {name: {key: value for key, value in port.items()
                   if key not in ("lacpdu_rx", "lacpdu_tx", "why")}
            for name, port in ports(host).items() if name != "l0"}


def genuine(made):
    """The far host's next LACPDU on l0, as the near host gets it."""
    with Capture(made.near, "l0") as capture:
        found = wait_for(lambda: [frame for frame in capture.frames(0.1) if is_slow(frame)],
                         "an LACPDU")
    return found[-1].data


def send_counted(made, frame, counter, times=3):
    """Sends the frame on l0, slowly enough for the limit of PDUs, until the counter has risen so
    often.
    """
    before = counters(made.near, "l0")[counter]
    send_slowly(made.far, "l0", [frame] * times)
    wait_for(lambda: counters(made.near, "l0")[counter] >= before + times,
             f"{counter} to rise by {times} from {before}")


ILLEGAL = {
    "subtype 0": lambda pdu: patched(pdu, **{f"at_{AT_SUBTYPE}": 0}),
    "subtype 11": lambda pdu: patched(pdu, **{f"at_{AT_SUBTYPE}": 11}),
    "actor length 0": lambda pdu: patched(pdu, **{f"at_{AT_ACTOR + 1}": 0}),
    "actor length 19": lambda pdu: patched(pdu, **{f"at_{AT_ACTOR + 1}": 19}),
    "actor TLV overrun": lambda pdu: patched(pdu, **{f"at_{AT_ACTOR + 1}": 255}),
    "partner TLV overrun": lambda pdu: patched(pdu, **{f"at_{AT_PARTNER + 1}": 255}),
    "collector TLV overrun": lambda pdu: patched(pdu, **{f"at_{AT_COLLECTOR + 1}": 255}),
    "truncated": lambda pdu: pdu[:60],
    "one octet short": lambda pdu: pdu[:123],
    "subtype alone": lambda pdu: pdu[:15],
    "port 0": lambda pdu: patched(pdu, at_30=0, at_31=0),
    "marker of length 15": lambda pdu: marker(length=15),
    "marker overrun": lambda pdu: marker(length=255),
    "marker of type 0": lambda pdu: marker(kind=0),
    "marker of type 3": lambda pdu: marker(kind=3),
    "short marker": lambda pdu: marker()[:40],
}


def test_illegal_pdus_are_counted(made):
    pdu, state, told = genuine(made), others_state(made.near), len(made.near.log())
    stream = Stream(made.near, made.far, rate=1000, flows=16)
    for make in ILLEGAL.values():
        send_counted(made, make(pdu), "illegal_rx", times=1)
    assert ports(made.near)["l0"]["illegal_rx"] >= len(ILLEGAL)
    assert distributing(made.near) == made.links, "they do no harm on l0 either"
    assert others_state(made.near) == state
    stream.finish_unharmed()
    assert "LACP" not in made.near.log()[told:]


def test_other_subtypes_and_empty_frames_are_no_pdus(made):
    pdu, state = genuine(made), others_state(made.near)
    send_counted(made, patched(pdu, **{f"at_{AT_SUBTYPE}": 3}), "unknown_rx")  # OAM
    send_frames(made.far, "l0", [pdu[:14], pdu[:14] + b"\x01"] * 3)
    for _ in moments(1.2):  # some of the next LACPDUs
        assert distributing(made.near) == made.links and others_state(made.near) == state


@pytest.mark.parametrize("version", [0, 2, 0xf1])
def test_other_versions_are_version_1(made, version):
    pdu, state = genuine(made), others_state(made.near)
    illegal = counters(made.near, "l0")["illegal_rx"]
    send_counted(made, patched(pdu, **{f"at_{AT_VERSION}": version}), "lacpdu_rx", times=3)
    assert counters(made.near, "l0")["illegal_rx"] == illegal
    assert distributing(made.near) == made.links and others_state(made.near) == state


def test_foreign_system_is_ignored(made):
    state = others_state(made.near)
    talk = lacpdu(pdu_info(STRANGER, 7), pdu_info(ANOTHER, 8))
    send_counted(made, talk, "foreign_rx")
    assert distributing(made.near) == made.links and others_state(made.near) == state


def test_other_partner_takes_its_own_port_only(made):
    """A stranger that talks to nobody yet is a partner that was replaced: l0 leaves, and comes
    back.
    """
    state, told = others_state(made.near), len(made.near.log())
    send_frames(made.far, "l0",
                [lacpdu(pdu_info(STRANGER, 7, key=9, state=ACTIVITY | TIMEOUT | AGGREGATION))])
    wait_for(lambda: "l0: LACP partner changed" in made.near.log()[told:], "the change")
    assert others_state(made.near) == state
    wait_distributing(made.near, made.far, links=made.links)
    assert others_state(made.near) == state


def test_own_system_takes_its_own_port_only(made):
    state, own = others_state(made.near), made.near.show()["lacp"]["actor_system"]
    number = ports(made.near)["l0"]["port_number"]
    send_counted(made, lacpdu(pdu_info(own, number)), "looped_rx", times=1)
    assert others_state(made.near) == state
    assert "the cable is looped" in made.near.log()
    wait_distributing(made.near, made.far, links=made.links)
    assert others_state(made.near) == state


def test_markers_are_answered_not_too_often(made):
    with Capture(made.far, "l0") as capture:
        send_frames(made.far, "l0", [marker(transaction=4711)])
        answer = wait_for(lambda: [frame for frame in capture.frames(0.05)
                                   if is_slow(frame, MARKER)], "a response")[0]
        assert (answer.data[16], answer.data[17]) == (2, 16)
        assert answer.data[18:30] == marker(transaction=4711)[18:30]
        for _ in range(100):
            send_frames(made.far, "l0", [marker()])
        answers = [frame for frame in capture.frames(0.4) if is_slow(frame, MARKER)]
    assert len(answers) <= 10
    assert ports(made.near)["l0"]["marker_rx"] >= 1
    wait_distributing(made.near, made.far, links=made.links)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("frame, seconds, rate",
                         [(lacpdu(pdu_info(STRANGER, 7)), 10, 50000),
                          (lacpdu(pdu_info(STRANGER, 7)), 4, None), (marker(), 4, None)],
                         ids=["lacpdu", "lacpdu as fast as can be", "marker as fast as can be"])
def test_flood_on_one_slave(made, frame, seconds, rate):
    state, told = others_state(made.near), len(made.near.log())
    before, began = cpu_seconds(made.near.bondd.pid), time.monotonic()
    with Capture(made.far, "l1") as capture:
        flood = made.far.spawn(RAWFLOOD, "l0", seconds, *([rate] if rate else []),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        sent = int(flood.communicate(frame, timeout=30)[0])
        share = (cpu_seconds(made.near.bondd.pid) - before) / (time.monotonic() - began)
        pdus = [each for each in capture.frames(0.05) if is_slow(each)]
    print(f"{sent / seconds:.0f} PDUs/s; bondd {100 * share:.1f} % of a core")
    assert sent > seconds * 1000
    assert share < 0.2
    assert len(pdus) >= seconds - 1, "l1 speaks at its rate"
    assert others_state(made.near) == state
    log = made.near.log()[told:]
    assert "l1: LACP" not in log and "l2: LACP" not in log
    wait_distributing(made.near, made.far, links=made.links, deadline=12)
