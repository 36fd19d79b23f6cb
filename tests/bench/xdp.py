"""Frames by XDP: through a bond with xdp_tx, and into bond0 with rx_hook xdp.

Live frames (BPF_F_TEST_XDP_LIVE_FRAMES) take the ways that a driver's frames take. Sending: from
a device into bond0, across the pair, by the program on the port side to a slave, whose far end
drops them in XDP; against a pair whose port side has an empty program that knows one fixed slave.
Receiving: by a slave's receive ring and its program into bond0, which drops them in TC; against
XDP_PASS on a plain slave that does. All on one CPU, alternating.
"""
import contextlib
import json
import os
import pathlib
import shutil
import statistics

from . import bed
from .bed import BUILD, PLAIN, add_plain_link, bring_up, drop_at_ingress, lab, make_bond, run
from .rows import Row, alternate, median_ratio

XDPLIVE, REDIRECTS = BUILD / "tools/xdplive", BUILD / "tools/redirects.bpf.o"
FLOWS = 64


class Programs:
    """tests/tools/redirects.bpf.c, loaded; its programs and maps are pinned as PIN/name."""

    def __init__(self):
        self.pin = pathlib.Path("/sys/fs/bpf") / f"bench-xdp-{os.getpid()}"
        bed.mount_bpffs()
        self.pin.mkdir()
        run("bpftool", "prog", "loadall", REDIRECTS, self.pin, "pinmaps", self.pin)

    def attach(self, namespace, device, name):
        namespace.run("bpftool", "net", "attach", "xdpdrv", "pinned", self.pin / name, "dev",
                      device)

    def lead(self, namespace, name, devices):
        """The devmap leads to these devices. It takes those of the namespace it is written from."""
        for key, device in enumerate(devices):
            index = namespace.link(device)["ifindex"].to_bytes(4, "little")
            namespace.run("bpftool", "map", "update", "pinned", self.pin / name, "key", str(key),
                          "0", "0", "0", "value", *[str(byte) for byte in index])

    def pair(self, namespace, name):
        """The near end of a new pair whose far end has this program."""
        namespace.ip("link", "add", f"{name}0", "type", "veth", "peer", "name", f"{name}1")
        bring_up(namespace, [f"{name}0", f"{name}1"])
        self.attach(namespace, f"{name}1", name)
        return f"{name}0"

    def remove(self):
        shutil.rmtree(self.pin, ignore_errors=True)


@contextlib.contextmanager
def programs():
    made = Programs()
    try:
        yield made
    finally:
        made.remove()


def live(namespace, to, frames, flows=FLOWS):
    """A subject: ns per frame that enters the namespace at lo and is redirected to a device."""
    def run_once():
        done = namespace.run("taskset", "-c", bed.CPU, XDPLIVE, "lo", to, frames, flows)
        return json.loads(done.stdout)["ns_per_frame"]
    return run_once


def two_bonds(made, options, others):
    """Two hosts' namespaces; near has bond0 of l0 to l3 with some options, bond1 of m0 to m3 with
    others.
    """
    near, far = made.host("a"), made.namespace("b")
    links, more = made.links(near, far, 4), [f"m{number}" for number in range(4)]
    for number, name in enumerate(more):
        made.link(near, far, name, 20 + number)
    add_plain_link(made, near, far)
    bring_up(far, [*links, *more])
    for name, slaves, address, chosen in (("bond0", links, "10.0.0.1", options),
                                          ("bond1", more, "10.1.0.1", others)):
        make_bond(near, slaves, address, name=name, mode="balance-xor", xmit_hash_policy="layer3+4",
                  **chosen)
        near.wait_slaves(*slaves, bond=name)
    return near, far, links, more


def sending(made, loaded, frames):
    near, far, links, more = two_bonds(made, {"xdp_tx": "on"}, {})
    for dev in (*links, *more, PLAIN):
        loaded.attach(far, dev, "drops")
    return senders(near, loaded, frames, PLAIN, links)


def senders(near, loaded, frames, plain, slaves):
    """Subjects: through bond0, which has these slaves, by XDP; through bond1 by TC; and without a
    bond: to one plain device by a program across a pair, or at once; to the slaves by a program
    that only looks at a port; dropped as soon as made.
    """
    # so that a veth takes frames: TC then chooses
    loaded.attach(near, near.link("bond1")["link"], "passes")
    loaded.lead(near, "to", [plain])
    loaded.lead(near, "among", [slaves[key % len(slaves)] for key in range(4)])
    devices = {"xdp": "bond0", "fixed": loaded.pair(near, "fixed"), "tc": "bond1", "bare": plain,
               "spread": loaded.pair(near, "spread")}
    subjects = {name: live(near, device, frames) for name, device in devices.items()}
    subjects["made"] = live(near, "-", frames)
    for name in ("xdp", "fixed"):
        subjects[f"{name}, one flow"] = live(near, devices[name], frames, flows=1)
    return subjects


def rows_of_sending(sent, slaves):
    for name, what in (("bare", "redirect to a slave"), ("xdp", "by XDP through bond0"),
                       ("tc", "by TC through bond0")):
        yield Row(f"XDP frame, {what}", statistics.median(sent[name]), "ns/frame")
    for flows, what in (("", f"{FLOWS} flows, {slaves} slaves"),
                        (", one flow", "one flow, one slave")):
        yield Row(f"XDP frames through bond0, {what}, over a fixed slave",
                  median_ratio(sent[f"fixed{flows}"], sent[f"xdp{flows}"]), "of rate", 0.9, True)
    yield Row(f"XDP frames to {slaves} slaves by a program without a bond, over a fixed slave",
              median_ratio(sent["fixed"], sent["spread"]), "of rate")
    yield Row("XDP frames through bond0, over the TC path", median_ratio(sent["tc"], sent["xdp"]),
              "of rate", 4, True)
    yield Row("XDP frames through bond0, over the TC path, without the making of frames",
              statistics.median((tc - made) / (by_xdp - made) for tc, by_xdp, made in
                                zip(sent["tc"], sent["xdp"], sent["made"])), "of rate")
    yield Row("XDP frames through bond0, over a bare redirect",
              median_ratio(sent["bare"], sent["xdp"]), "of rate")


def receiving(made, loaded, frames):
    near, far, _, more = two_bonds(made, {"rx_hook": "xdp"}, {"path": "direct"})
    for dev in more:
        near.run("ethtool", "-K", dev, "gro", "on")  # so that a veth takes frames
    loaded.attach(near, PLAIN, "passes")
    for dev in ("bond0", "bond1", PLAIN):
        drop_at_ingress(near, dev)
    return {name: live(far, device, frames)
            for name, device in {"xdp": "l0", "tc": "m0", "plain": PLAIN}.items()}


def rows(scale):
    with programs() as loaded:
        with lab() as made:
            sent = alternate(scale.rounds // 2, sending(made, loaded, scale.frames))
        with lab() as made:
            received = alternate(scale.rounds // 2, receiving(made, loaded, scale.frames))
    yield from rows_of_sending(sent, 4)
    yield Row("XDP receive into bond0 / XDP_PASS on a slave",
              median_ratio(received["xdp"], received["plain"]), "ratio", 1.3)
    yield Row("TC receive into bond0, direct / XDP_PASS on a slave",
              median_ratio(received["tc"], received["plain"]), "ratio")
