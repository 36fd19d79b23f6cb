"""What a frame costs to send by AF_XDP, in one CPU's time: by libxbond-xsk over bonds of one, two
and four slaves, by a socket on one plain device, and through a UDP socket on bond0. The far ends
drop in TC. 64 flows, batches of 64 frames, copy mode. Sizes with the FCS.
"""
import json

from .bed import CPU, PLAIN, TOOLS, bring_up, drop_at_ingress, lab, make_bond, no_arp
from .rows import Row, alternate, median_ratio
from .transmit import FAR

SLAVES = (1, 2, 4)
SIZES = (64, 1518)
FCS = 4
UDP_HEADERS = 14 + 20 + 8


def ns_of(host, *words):
    return json.loads(host.run(*words).stdout)["ns_per_packet"]


def xsk_subject(near, kind, name, size, seconds):
    return lambda: ns_of(near, TOOLS / "xskblast", kind, name, size - FCS, seconds, CPU)


def socket_subject(near, size, seconds):
    return lambda: ns_of(near, TOOLS / "blast", "send", "--to", FAR, "--size",
                         size - FCS - UDP_HEADERS, "--seconds", seconds, "--cpu", CPU,
                         "--flows", 64)


def make_bonds(made):
    """bond1, bond2 and bond4, by their slaves; the last one has an address."""
    near, far = made.host("a"), made.namespace("b")
    links = made.links(near, far, sum(SLAVES))
    made.link(near, far, PLAIN, 90)
    bring_up(near, [PLAIN])
    bring_up(far, [*links, PLAIN])
    for dev in (*links, PLAIN):
        drop_at_ingress(far, dev)
    for slaves in SLAVES:
        own, links = links[:slaves], links[slaves:]
        make_bond(near, own, f"10.0.{0 if slaves == SLAVES[-1] else slaves}.1",
                  name=f"bond{slaves}", mode="balance-xor", xmit_hash_policy="layer3+4")
        near.wait_slaves(*own, bond=f"bond{slaves}")
    no_arp(near, f"bond{SLAVES[-1]}", FAR)
    return near


def rows(scale):
    with lab() as made:
        near = make_bonds(made)
        for size in SIZES:
            subjects = {"plain": xsk_subject(near, "device", PLAIN, size, scale.seconds),
                        "socket": socket_subject(near, size, scale.seconds)}
            for slaves in SLAVES:
                subjects[slaves] = xsk_subject(near, "bond", near.bpf_dir / f"bond{slaves}", size,
                                               scale.seconds)
            ns = alternate(scale.rounds, subjects)
            for slaves in SLAVES:
                what = f"AF_XDP, {size} bytes, {slaves} slave{'s' * (slaves > 1)}: frames a CPU s"
                yield Row(f"{what} / plain device", median_ratio(ns["plain"], ns[slaves]), "ratio",
                          0.97, least=True)
                yield Row(f"{what} / UDP socket", median_ratio(ns["socket"], ns[slaves]), "ratio",
                          2.5, least=True)
