"""What `bondctl set BOND device KIND` loses of 10,000 packets per second both ways: each way
between the kinds that this kernel makes, in each mode that both can. A kernel with veth alone makes
another veth (XBOND_TEST_CONVERT).
"""
import itertools
import os

# First: it sets the path for what follows.
from .bed import lab, quiet_for

# pylint: disable=wrong-import-order
from namespace import kernel_makes
from traffic import PORT, Stream
# pylint: enable=wrong-import-order

from .failover import MODES, Bed
from .rows import Row

RATE = 10000
LEAST_RATE = 7000
LOST, SILENT_MS = 1000, 100  # bounds
AFTER = 0.5  # seconds of the stream, of which all would be lost if the bond were dead
KINDS = ("veth", "netkit", "veth", "team", "netkit", "team", "veth")  # each way once
TEAM_HAS_NOT = ("balance-tlb", "balance-alb")


def ways(mode, made):
    kinds = [kind for kind in KINDS if kind in made and
             (kind != "team" or mode not in TEAM_HAS_NOT)]
    return list(dict.fromkeys(each for each in itertools.pairwise(kinds)
                              if each[0] != each[1])) or [("veth", "veth")]


def converted(bed, new):
    """{direction: what its Stream says} of a conversion."""
    bed.wait()
    quiet_for(AFTER, "addresses are announced again so long after the last conversion")
    streams = {"out": Stream(bed.near, bed.far, rate=RATE, flows=64, every=5),
               "in": Stream(bed.far, bed.near, to="10.0.0.1", rate=RATE, flows=64, every=5,
                            port=PORT + 1)}
    for stream in streams.values():
        stream.flow_on(RATE // 10)
    bed.near.ctl("set", "bond0", "device", new)
    quiet_for(AFTER, "so long a loss counts")
    return {direction: stream.finish() for direction, stream in streams.items()}


def rows_of_mode(bed, mode, turns, made):
    found = {}
    for _ in range(turns):
        for old, new in ways(mode, made):
            assert bed.near.show()["device"] == old
            for direction, result in converted(bed, new).items():
                found.setdefault((old, new, direction), []).append(result)
    for (old, new, direction), results in found.items():
        what = f"conversion, {mode}, {old} to {new}, {direction}"
        yield Row(f"{what}: lost, worst of {turns}", max(each["lost"] for each in results),
                  "packets", LOST)
        yield Row(f"{what}: longest silence", max(each["longest_silence_ms"] for each in results),
                  "ms", SILENT_MS)
        yield Row(f"{what}: rate", min(each["sent"] / each["seconds"] for each in results),
                  "packets/s", LEAST_RATE, least=True)


def mode_rows(modes, turns):
    os.environ["XBOND_TEST_CONVERT"] = "1"
    made = [kind for kind in dict.fromkeys(KINDS) if kernel_makes(kind)]
    for mode in modes:
        with lab() as hosts:
            yield from rows_of_mode(Bed(hosts, mode, False), mode, turns, made)
    del os.environ["XBOND_TEST_CONVERT"]


def rows(scale):
    yield from mode_rows(MODES, scale.conversions)
