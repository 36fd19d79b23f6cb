"""What a frame costs to send and to receive by AF_XDP, in one CPU's time: by libxbond-xsk over
bonds of one, two and four slaves, by a socket on one plain device, and through a UDP socket on
bond0. 64 flows, batches of 64 frames, copy mode. Sizes with the FCS. What is sent the far ends drop
in TC; what is received they have sent by AF_XDP, a batch by one link, and its cost is of both ends.
"""
import json

from .bed import CPU, PLAIN, TOOLS, bring_up, drop_at_ingress, lab, make_bond, no_arp
from .rows import Row, alternate, median_ratio
from .transmit import FAR

SLAVES = (1, 2, 4)
SIZES = (64, 1518)
MAC = "02:00:00:00:00:99"  # where the frames go
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


def receive_subject(made, kind, name, links, size, seconds):
    near, far = made.hosts[0], made.namespaces[0]
    return lambda: ns_of(near, TOOLS / "xskblast", kind, name, size - FCS, seconds, CPU,
                         f"/run/netns/{far.name}", *links)


def make_bonds(made):
    """{slaves: links} of bond1, bond2 and bond4; the last one has an address."""
    near, far = made.host("a"), made.namespace("b")
    links = made.links(near, far, sum(SLAVES))
    made.link(near, far, PLAIN, 90)
    bring_up(near, [PLAIN])
    bring_up(far, [*links, PLAIN])
    for dev in (*links, PLAIN):
        drop_at_ingress(far, dev)
    bonds = {}
    for slaves in SLAVES:
        bonds[slaves], links = links[:slaves], links[slaves:]
        make_bond(near, bonds[slaves], f"10.0.{0 if slaves == SLAVES[-1] else slaves}.1",
                  name=f"bond{slaves}", mode="balance-xor", xmit_hash_policy="layer3+4")
        near.wait_slaves(*bonds[slaves], bond=f"bond{slaves}")
    no_arp(near, f"bond{SLAVES[-1]}", FAR)
    return bonds


def ratios(scale, subjects, what, size, bounds):
    """Of the bonds over the others."""
    ns = alternate(scale.rounds, subjects)
    for slaves in SLAVES:
        name = f"AF_XDP, {size} bytes, {slaves} slave{'s' * (slaves > 1)}: frames {what} a CPU s"
        for other, words, bound in zip(("plain", "socket"), ("plain device", "UDP socket"), bounds):
            yield Row(f"{name} / {words}", median_ratio(ns[other], ns[slaves]), "ratio", bound,
                      least=True)


def send_rows(near, bonds, scale, size):
    subjects = {"plain": xsk_subject(near, "device", PLAIN, size, scale.seconds),
                "socket": socket_subject(near, size, scale.seconds)}
    for slaves in bonds:
        subjects[slaves] = xsk_subject(near, "bond", near.bpf_dir / f"bond{slaves}", size,
                                       scale.seconds)
    return ratios(scale, subjects, "sent", size, (0.97, 2.5))


def receive_rows(made, near, bonds, scale, size):
    """To a UDP socket over the largest bond."""
    subjects = {"plain": receive_subject(made, "device", PLAIN, [PLAIN], size, scale.seconds),
                "socket": receive_subject(made, "socket", "any", bonds[SLAVES[-1]], size,
                                          scale.seconds)}
    for slaves, links in bonds.items():
        subjects[slaves] = receive_subject(made, "bond", near.bpf_dir / f"bond{slaves}", links,
                                           size, scale.seconds)
    return ratios(scale, subjects, "received", size, (None, None))


def rows(scale):
    with lab() as made:
        bonds = make_bonds(made)
        near = made.hosts[0]
        for size in SIZES:
            yield from send_rows(near, bonds, scale, size)
        for slaves in SLAVES:
            near.ip("link", "set", f"bond{slaves}", "address", MAC)
        near.ip("addr", "add", f"{FAR}/32", "dev", f"bond{SLAVES[-1]}")
        for size in SIZES:
            yield from receive_rows(made, near, bonds, scale, size)
