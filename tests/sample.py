# SPDX-License-Identifier: GPL-2.0-or-later
"""How many of a test's many variants run. `make test` runs a sample, by a seed that changes with
the commit; `make test-long` runs all. tests/unit/sample.h is the same in C.

@pytest.mark.variants(n, always=("part of an id", ...)) of a parametrized test: the sample has the
cases that `always` names, and n others. tests/conftest.py calls choose().
"""
import collections
import hashlib
import itertools
import os

import pytest

SEED = int(os.environ.get("XBOND_TEST_SEED") or 1)
# Whoever calls pytest himself, and a guest, wants all.
IS_LONG = os.environ.get("XBOND_TEST_LONG") == "1" or not os.environ.get("XBOND_TEST_SEED")
MARKER = "variants(n, always=()): a sample of `make test` has those that `always` names, n others"


def size(sample, everything):
    return everything if IS_LONG else min(sample, everything)


def choose(config, items):
    """Deselects what is not in the sample. It depends on nothing but the seed and the names, so
    that processes which share the tests agree. Returns how many cases that were.
    """
    if IS_LONG or config.option.keyword:
        return 0
    variants = [item for item in items if _variants(item) and not _is_named(item, config.args)]
    left_out = set(variants) - set(_chosen(variants))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
    return len(left_out)


def _variants(item):
    return item.get_closest_marker("variants") if hasattr(item, "callspec") else None


def _is_named(item, args):
    """Has the user asked for this case?"""
    return any(arg.endswith("::" + item.name) for arg in args)


def mark_all(items):
    """For a suite whose tests hardly say themselves how many of their variants are enough: one of
    every four.
    """
    of_function = collections.Counter(_function(item) for item in items)
    for item in items:
        if hasattr(item, "callspec") and not _variants(item):
            item.add_marker(pytest.mark.variants(-(-of_function[_function(item)] // 4)))


def _function(item):
    return item.nodeid.removesuffix(f"[{item.callspec.id}]") if hasattr(item, "callspec") else ""


def _chosen(items):
    for function, cases in itertools.groupby(sorted(items, key=_function), key=_function):
        cases = list(cases)
        yield from _chosen_of(function, cases, *_words_of(_variants(cases[0])))


def _words_of(marker):
    return marker.args[0], marker.kwargs.get("always", ())


def _chosen_of(function, cases, count, always):
    for part in always:
        if not any(part in case.callspec.id for case in cases):
            raise pytest.UsageError(f"{function}: variants names {part!r}, and no case has it")
    fixed = [case for case in cases if any(part in case.callspec.id for part in always)]
    others = sorted((case for case in cases if case not in fixed), key=_rank)
    return fixed + others[:count]


def _rank(item):
    return hashlib.sha256(f"{SEED} {item.path.name} {item.name}".encode()).digest()
