"""What bondctl says of packets is what happens to them: explain --pcap, flows and capture on a bond
under traffic.
"""
import json
import pathlib
import subprocess
import sys

from captures import pcap
from traffic import Capture, send_frames

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bpf"))
import generate  # noqa: E402  pylint: disable=wrong-import-position

POLICIES = ("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac")
FRAMES = 400


def predicted(host, frames):
    """The slave of each, by explain --pcap on standard input."""
    done = subprocess.run(host.command(*host.ctl_command("-j", "explain", "bond0", "--pcap", "-")),
                          input=pcap(frames), capture_output=True, check=True, timeout=30)
    return [packet["slave"] for packet in json.loads(done.stdout)["packets"]]


def whole(frame):
    """With the tag that the kernel has taken off, whatever its type."""
    if frame.vlan is not None:
        return frame.data[:12] + frame.vlan.to_bytes(2, "big") + frame.data[12:]
    return frame.data


def sent(frame):
    """A frame as whole() has it behind the pair."""
    tagged = frame[12:14] in (b"\x81\0", b"\x88\xa8")
    return frame[:12] + frame[14:] if tagged else frame


def links_taken(made, frames):
    """{frame: its link}"""
    wires = {link: Capture(made.near, link, outgoing=True) for link in made.links}
    send_frames(made.near, "bond0", frames)
    asked = {sent(frame): frame for frame in frames}
    taken = {asked[whole(each)]: link for link, wire in wires.items()
             for each in wire.frames(0.05) if whole(each) in asked}
    for wire in wires.values():
        wire.close()
    return taken


def test_every_packet_of_a_capture_goes_where_explain_says(pair):
    """Packets of all kinds: tags, fragments, encapsulations, damaged ones; under all policies."""
    made = pair("balance-xor", links=3)
    generator = generate.Generator(3)
    for policy in POLICIES:
        made.near.ctl("set", "bond0", "xmit_hash_policy", policy)
        frames = [generator.packet() for _ in range(FRAMES)]
        taken = links_taken(made, frames)
        assert len(taken) > FRAMES * 0.9  # the kernel takes no damaged tags
        said = dict(zip(frames, predicted(made.near, frames)))
        wrong = [(frame.hex(), said[frame], link) for frame, link in taken.items()
                 if said[frame] != link]
        assert not wrong, f"{policy}: {len(wrong)} of {len(taken)}; the first: {wrong[:2]}"
