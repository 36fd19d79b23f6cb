# SPDX-License-Identifier: GPL-2.0-or-later
"""chaos [MINUTES [SEED [BOND [STEPS]]]]: two hosts with a bond between them, and one trouble after
the other, chosen by SEED (root). Numbered packets flow both ways meanwhile. None may come twice;
none may be lost by what promises that, and none in the quiet moment after each step. Then the bond
must be as it is shown, at both ends, an AF_XDP application must get what is for it, and nothing may
be left of one that has gone, nor of the maps and programs of a bondd that was replaced. When a bond
has had its troubles, nothing may be left of it.

What a bond of a seed goes through depends on nothing else, so a failure comes again without those
before. Its steps are left out one by one as long as it fails without them; what remains is printed
as SEED, BOND and STEPS, for another run.

The life of a bond is in life.py; a trouble is a function of links.py, settings.py, daemons.py or
applications.py. A new one needs its line in the table there.
"""
import os
import pathlib
import random
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))
# pylint: disable=wrong-import-position
import daemons  # noqa: E402
from life import STEPS_OF_A_BOND, Life  # noqa: E402


def fails(seed, bond, steps):
    life = Life(seed)
    try:
        life.live(bond, steps)
    except Exception as error:  # pylint: disable=broad-exception-caught
        print(f"fails with steps {steps}: {error!s:.200}", flush=True)
        return True
    finally:
        life.lab.close()
    return False


def shortest(seed, bond, steps):
    """Without those that it also fails without, each tried once."""
    for step in steps[-2::-1]:
        without = [each for each in steps if each != step]
        if fails(seed, bond, without):
            steps = without
    return steps


def run(minutes, seed, bond, steps):
    print(f"SEED={seed}", flush=True)
    life, until = Life(seed), time.monotonic() + 60 * minutes
    bonds, failed = 0, False
    try:
        while not bonds or not bond and time.monotonic() < until:
            life.live(int(bond or bonds), steps)
            bonds += 1
    except Exception:  # pylint: disable=broad-exception-caught
        failed = True
        print(life.lab.report(), f"SEED={seed} BOND={bond or bonds}:", *life.done, sep="\n")
        traceback.print_exc()
    finally:
        life.lab.close()
    if failed:
        steps = shortest(seed, int(bond or bonds), list(steps)[:life.steps])
        sys.exit(f"SEED={seed} BOND={bond or bonds} STEPS={','.join(map(str, steps))}")
    print(f"SEED={seed}: {bonds} bonds of {len(steps)} steps, 0 failures")


def main(minutes="1", seed="", bond="", steps=""):
    os.environ["XBOND_TEST_CONVERT"] = "1"
    with tempfile.TemporaryDirectory(prefix="xbond-chaos-") as directory:
        daemons.make_builds(pathlib.Path(directory))
        run(float(minutes), int(seed or random.randrange(1 << 32)), bond,
            [int(step) for step in steps.split(",")] if steps else range(STEPS_OF_A_BOND))


if __name__ == "__main__":
    main(*sys.argv[1:])
