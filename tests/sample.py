# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests run. `make test` runs a sample, by a seed that changes with the commit; `make
test-long` runs all. tests/unit/sample.h is the same in C.

@pytest.mark.variants(n, always=("part of an id", ...)) of a parametrized test: the sample has the
cases that `always` names, and n others. With long=m `make test-long` has m others, as all would
take many hours. tests/conftest.py calls choose().

Tests of a suite that takes long take turns (mark_all()): of each file a third runs, and with the
next two seeds the others do; what `always` names always runs. Who names a file gets all tests of
it.
"""
import collections
import hashlib
import itertools
import os
import pathlib

import pytest

WANTS_ALL = not os.environ.get("XBOND_TEST_SEED")  # as who calls pytest himself
SEED = int(os.environ.get("XBOND_TEST_SEED") or 1)
IS_LONG = os.environ.get("XBOND_TEST_LONG") == "1"
MARKERS = (
    "variants(n, always=(), long=None): a sample has those that `always` names, n or `long` others",
    "takes_turns: it is in a sample of `make test` with every third seed")
TURNS = 3


def size(sample, everything):
    return everything if IS_LONG or WANTS_ALL else min(sample, everything)


def choose(config, items):
    """Deselects what is not in the sample. It depends on nothing but the seed and the names, so
    that processes which share the tests agree. Returns how many cases that were.
    """
    if WANTS_ALL or config.option.keyword:
        return 0
    variants = [item for item in items if _count(item) and not _is_named(item, config.args)]
    in_turn = [item for item in items if item.get_closest_marker("takes_turns") and not IS_LONG
               and not _is_corner(item) and not _is_in_named_file(item, config.args)]
    left_out = (set(variants) - set(_chosen(variants))) | (set(in_turn) - set(_next(in_turn)))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
    return len(left_out)


def _variants(item):
    return item.get_closest_marker("variants") if hasattr(item, "callspec") else None


def _count(item):
    """How many of its variants are in the sample; None: all."""
    marker = _variants(item)
    return marker and (marker.kwargs.get("long") if IS_LONG else marker.args[0])


def _always(item):
    marker = _variants(item)
    return marker.kwargs.get("always", ()) if marker else ()


def _is_corner(item):
    return any(part in item.callspec.id for part in _always(item))


def _is_named(item, args):
    """Has the user asked for this case?"""
    return any(arg.endswith("::" + item.name) for arg in args)


def _is_in_named_file(item, args):
    return any(pathlib.Path(arg.split("::")[0]).name == item.path.name for arg in args)


def _next(items):
    """Those whose turn it is: of each file the same share."""
    for path, of_file in itertools.groupby(sorted(items, key=_path), key=_path):
        of_file = list(of_file)
        names = sorted({item.originalname for item in of_file}, key=_digest)
        mine = names[(SEED + _digest(path)[0]) % TURNS::TURNS]
        yield from (item for item in of_file if item.originalname in mine)


def _path(item):
    return item.path.name


def _digest(text):
    return hashlib.sha256(text.encode()).digest()


def mark_all(items):
    """For a suite that takes too long for each commit: its tests take turns. Where they hardly say
    themselves how many of their variants are enough, it is one of every four.
    """
    of_function = collections.Counter(_function(item) for item in items)
    for item in items:
        item.add_marker("takes_turns")
        if hasattr(item, "callspec") and not _variants(item):
            item.add_marker(pytest.mark.variants(-(-of_function[_function(item)] // 4)))


def _function(item):
    return item.nodeid.removesuffix(f"[{item.callspec.id}]") if hasattr(item, "callspec") else ""


def _chosen(items):
    for function, cases in itertools.groupby(sorted(items, key=_function), key=_function):
        cases = list(cases)
        for part in _always(cases[0]):
            if not any(part in case.callspec.id for case in cases):
                raise pytest.UsageError(f"{function}: variants names {part!r}, and no case has it")
        yield from filter(_is_corner, cases)
        others = sorted(itertools.filterfalse(_is_corner, cases), key=_rank)
        yield from others[:_count(cases[0])]


def _rank(item):
    return _digest(f"{SEED} {item.path.name} {item.name}")
