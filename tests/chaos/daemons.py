# SPDX-License-Identifier: GPL-2.0-or-later
"""Troubles of bondd itself: it ends, dies, stops, and is replaced by another build."""
import os

import builds
from lab import BONDD
from waiting import quiet_for

BUILDS = {"this": BONDD}


def make_builds(directory):
    """One with other programs, and a newer one whose maps differ, which this one cannot read. An
    emulated machine has no compiler: there XBOND_BUILDS names what builds.py has made, or this
    build stands for all.
    """
    if "XBOND_VM" in os.environ and "XBOND_BUILDS" not in os.environ:
        return
    BUILDS.update(other=builds.build(directory / "other", builds.other_programs),
                  newer=builds.build(directory / "newer", builds.newer_abi))


def is_newer(host):
    return host.program != BONDD and host.program == BUILDS.get("newer")


def kill(life):
    end = life.chance.randrange(2)
    life.note("kill -9 and start at", end)
    life.hosts[end].restart_bondd(kill=True)
    return False


def restart(life):
    end = life.chance.randrange(2)
    life.note("stop and start at", end)
    life.hosts[end].restart_bondd()
    return False


def freeze(life):
    end = life.chance.randrange(2)
    life.note("stop, continue at", end)
    life.hosts[end].freeze_bondd()
    quiet_for(life.chance.random(), "bondd does not run")
    life.hosts[end].thaw_bondd()
    return False


def replace(life):
    """An older build leaves the bond of the newer one alone, until that is back."""
    end, name = life.chance.randrange(2), life.chance.choice(["this", "other", "newer"])
    host, newer = life.hosts[end], is_newer(life.hosts[end])
    life.note("replace by", name, "build at", end)
    host.replace_bondd(BUILDS.get(name, BONDD))
    if newer and not is_newer(host):
        assert "bond0: not adopted" in host.log(), host.log()
        quiet_for(life.chance.random(), "nobody cares for the bond")
        host.replace_bondd(BUILDS["newer"])
    return is_newer(host) and not newer and life.applications[end].is_there


def kill_while_it_takes_over(life):
    """By the time it is killed it may have converted the maps, which no other build can read."""
    end, seconds = life.chance.randrange(2), life.chance.random() / 2
    host, newer = life.hosts[end], is_newer(life.hosts[end])
    name = life.chance.choice(["this", "other", "newer"])
    life.note("replace by", name, "build, kill -9 and start at", end, "after", f"{seconds:.3f} s")
    host.stop_bondd()
    if not newer:
        host.use_build(BUILDS.get(name, BONDD))
    host.start_bondd(wait=False)
    quiet_for(seconds, "a bondd that takes over has no sign that can be waited for")
    host.restart_bondd(kill=True)
    return is_newer(host) and not newer and life.applications[end].is_there


TROUBLES = [kill, freeze, restart, replace, replace, kill_while_it_takes_over]
