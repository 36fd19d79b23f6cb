"""Frames that a program of somebody else sends by the slaves of a bond (xbond/select.bpf.h).

The program is on a veth, as on a NIC: live frames come out of the veth's other end. It chooses by
the library and redirects to a slave, whose far end drops them in XDP. Beside it, on such a veth:
a program that knows one fixed slave, one that looks at a port and takes one of four, one that
redirects to bond0 (xdp_tx: they cross the pair and choose there), and one that redirects to a bond
whose packets choose in TC. Then without the veth: the programs get the live frames themselves, as
from a NIC's driver; all of one flow. All on one CPU, alternating.
"""
import re
import statistics

from .bed import BUILD, PLAIN, ROOT, lab, run
from .rows import Row, alternate, median_ratio
from .xdp import FLOWS, live, programs, two_bonds

LIBRARY = BUILD / "tools/library_xdp.bpf.o"


def maps_of(path):
    """{map: pin} of what xbond/loader.h gives to this object, which has those of its kind."""
    pins = dict(re.findall(r'#define (XBOND_PIN_\w+) "(\w+)"', (ROOT / "bpf/abi.h").read_text()))
    names = path.read_bytes().split(b"\0")
    return {name: pins[pin] for name, pin in re.findall(
        r'{ "([\w.]+)", (XBOND_PIN_\w+) }', (ROOT / "include/xbond/loader.h").read_text())
            if name.encode() in names}


def load_library(near, loaded):
    """Over the maps of bond0; pinned beside the others."""
    words = [word for name, pin in maps_of(LIBRARY).items()
             for word in ("map", "name", name, "pinned", near.bpf_dir / "bond0" / pin)]
    run("bpftool", "prog", "load", LIBRARY, loaded.pin / "library", "type", "xdp", *words)


def subjects_of(made, loaded, frames):
    near, far, links, more = two_bonds(made, {"xdp_tx": "on"}, {})
    for dev in (*links, *more, PLAIN):
        loaded.attach(far, dev, "drops")
    # so that a veth takes frames: TC then chooses
    loaded.attach(near, near.link("bond1")["link"], "passes")
    load_library(near, loaded)
    for name, devices in (("to", [PLAIN]), ("to_pair", ["bond0"]), ("to_tc", ["bond1"]),
                          ("among", links)):
        loaded.lead(near, name, devices)
    entries = {name: loaded.pair(near, name)
               for name in ("library", "fixed", "spread", "pair", "tc")}
    subjects = {name: live(near, device, frames) for name, device in entries.items()}
    for name in ("library", "fixed"):
        subjects[f"{name}, one flow"] = live(near, entries[name], frames, flows=1)
    for name in ("library", "fixed", "pair", "tc"):
        subjects[f"{name}, at once"] = live(near, loaded.pin / name, frames, flows=1)
    return subjects


def rows(scale):
    with programs() as loaded:
        with lab() as made:
            sent = alternate(scale.rounds // 2, subjects_of(made, loaded, scale.frames))
    yield Row("XDP frame of another program, redirect to a fixed slave",
              statistics.median(sent["fixed"]), "ns/frame")
    for flows, what in (("", f"{FLOWS} flows, 4 slaves"), (", one flow", "one flow, one slave")):
        yield Row(f"by the library, {what}, over a fixed slave",
                  median_ratio(sent[f"fixed{flows}"], sent[f"library{flows}"]), "of rate", 0.92,
                  True)
    yield Row("by the library, frames of a driver, over a fixed slave",
              median_ratio(sent["fixed, at once"], sent["library, at once"]), "of rate", 0.92, True)
    yield Row("by a port to 4 slaves, over a fixed slave",
              median_ratio(sent["fixed"], sent["spread"]), "of rate")
    yield Row("by the library, over the pair (xdp_tx)",
              median_ratio(sent["pair"], sent["library"]), "of rate")
    yield Row("by the library, frames of a driver, over the pair (xdp_tx)",
              median_ratio(sent["pair, at once"], sent["library, at once"]), "of rate")
    yield Row("by the library, over the TC path", median_ratio(sent["tc"], sent["library"]),
              "of rate", 4, True)
    yield Row("by the library, frames of a driver, over the TC path",
              median_ratio(sent["tc, at once"], sent["library, at once"]), "of rate", 4, True)
