"""What the LACP tests share: the state of a bond's ports in short, PDUs on the wire, and
PDUs made by hand.
"""
import struct
import time

from frames import mac_bytes
from traffic import send_frames
from waiting import quiet_for, wait_for

SLOW_MAC = bytes.fromhex("0180c2000002")
SLOW_TYPE = 0x8809
LACP, MARKER = 1, 2
PDU_SIZE = 124
AWAY_NS = 500_000_000  # XBOND_LACP_AWAY_NS
# in a frame; of TLVs
AT_SUBTYPE, AT_VERSION, AT_ACTOR, AT_PARTNER, AT_COLLECTOR = 14, 15, 16, 36, 56
AT_KIND, INFORMATION = 16, 1  # of a marker
# Slow protocols, subtype marker, TLV response: dropped; all else goes on.
DROP_RESPONSES = ("8,40 0 0 12,21 0 5 34825,48 0 0 14,21 0 3 2,48 0 0 16,21 0 1 2,"
                  "6 0 0 2,6 0 0 4294967295")
(ACTIVITY, TIMEOUT, AGGREGATION, SYNC,
 COLLECTING, DISTRIBUTING, DEFAULTED, EXPIRED) = (1 << bit for bit in range(8))


def ports(host, bond="bond0"):
    """{slave: its lacp object}."""
    return {slave["name"]: slave["lacp"] for slave in host.show(bond)["slaves"]}


def distributing(host, bond="bond0"):
    """Slaves whose port distributes and that are in use."""
    return sorted(slave["name"] for slave in host.show(bond)["slaves"]
                  if slave["active"] and "distributing" in slave["lacp"]["actor_state"])


def wait_distributing(*hosts, links, deadline=10):
    for host in hosts:
        wait_for(lambda host=host: distributing(host) == sorted(links),
                 f"{links} to distribute at {host.name}", deadline)


def wait_told(host, links):
    """Until the log has caught up, too: the last that it says of these ports is that they carry."""
    def says(dev):
        lines = [line for line in host.log().splitlines() if f": {dev} carries " in line]
        return lines and lines[-1].endswith(" carries traffic")
    wait_for(lambda: all(map(says, links)), f"{host.name} to say that {links} carry traffic",
             20)


def wait_mutual(one, other, links):
    """Until both ends of the links say the same of each other."""
    def same():
        here, there = ports(one), ports(other)
        return all(set(here[dev]["actor_state"]) == set(there[dev]["partner_state"]) and
                   set(there[dev]["actor_state"]) == set(here[dev]["partner_state"])
                   for dev in links)
    wait_for(same, "both ends to know each other")


def all_counters(host, bond="bond0"):
    """All counters of each port, from the pinned map: more than show has."""
    pinned = host.pinned("lacp", bond)
    records = pinned["copy"][pinned["current"] & 1]["port"]
    return {dev: records[port["port_number"] - 1]["counters"]
            for dev, port in ports(host, bond).items()}


def counters(host, dev, bond="bond0"):
    return all_counters(host, bond)[dev]


def tx_slots(host):
    """Slots that the datapath transmits on, from the pinned table."""
    mask = host.pinned("table")["tx_mask"]
    return {slot for slot in range(64) if mask >> slot & 1}


def is_slow(frame, subtype=LACP):
    return frame.type == SLOW_TYPE and len(frame.data) > AT_SUBTYPE and \
        frame.data[AT_SUBTYPE] == subtype


def busiest_second(times):
    """The most of these times (sorted) that lie in any one second."""
    most, first = 0, 0
    for last, time in enumerate(times):
        while time - times[first] >= 1.0:
            first += 1
        most = max(most, last - first + 1)
    return most


def pdu_info(system, port, key=1, state=ACTIVITY | TIMEOUT | AGGREGATION, system_priority=65535,
             port_priority=255):
    return struct.pack("!H6sHHHB3x", system_priority, mac_bytes(system), key,
                       port_priority, port, state)


NOBODY = bytes(18)


def lacpdu(actor, partner=NOBODY, version=1, source="02:00:00:00:00:99"):
    frame = SLOW_MAC + mac_bytes(source)
    frame += struct.pack("!HBB", SLOW_TYPE, LACP, version)
    frame += b"\x01\x14" + actor + b"\x02\x14" + partner + b"\x03\x10" + bytes(14)
    return frame.ljust(PDU_SIZE, b"\0")


def marker(kind=1, length=16, system="02:00:00:00:00:99", port=1, transaction=77):
    frame = SLOW_MAC + mac_bytes(system)
    frame += struct.pack("!HBB", SLOW_TYPE, MARKER, 1)
    frame += struct.pack("!BBH6sI2x", kind, length, port, mac_bytes(system),
                         transaction)
    return frame.ljust(PDU_SIZE, b"\0")


def send_slowly(host, dev, frames):
    """Out of dev, so that the next one is below the limit of a slave's LACPDUs, too."""
    for frame in frames:
        send_frames(host, dev, [frame])
        quiet_for(0.15, "ten in a second are read")


def wait_away(host):
    """Until the programs take over: the heartbeat of bondd's LACP thread is old enough."""
    wait_for(lambda: time.monotonic_ns() - host.pinned("table")["lacp_heartbeat_ns"] > AWAY_NS,
             "the programs to see that no bondd runs")


def answers(host, links):
    """How many LACPDUs the programs have answered on each link."""
    return [each["answers"] for each in host.pinned("hold")[:len(links)]]


def wait_answers(host, links, before):
    """Until the programs have answered on all links since answers() gave before."""
    wait_for(lambda: all(now > then for now, then in zip(answers(host, links), before)),
             "the programs to answer")


def patched(frame, **octets):
    """A copy of a frame with other octets; names are at_NUMBER."""
    changed = bytearray(frame)
    for name, value in octets.items():
        changed[int(name.removeprefix("at_"))] = value
    return bytes(changed)


def markers(frames):
    """Markers that ask; not responses."""
    return [frame for frame in frames
            if is_slow(frame, MARKER) and frame.data[AT_KIND] == INFORMATION]


def leave_markers_unanswered(host, dev):
    host.run("tc", "qdisc", "add", "dev", dev, "clsact", check=False)  # may be there
    host.run("tc", "filter", "add", "dev", dev, "egress", "pref", 1, "bpf", "direct-action",
             "bytecode", DROP_RESPONSES)
