# SPDX-License-Identifier: GPL-2.0-or-later
"""Each mutant of the simulator changes places that are in the tree, each once."""
import pytest

from built import ROOT
from sim.mutants import ALL, SHORT, WITHOUT_SHORT


@pytest.mark.parametrize("name", ALL)
def test_its_places_are_in_the_tree(name):
    for file, old, new in [*ALL[name], WITHOUT_SHORT]:
        assert (ROOT / file).read_text().count(old) == 1 and old != new


def test_who_needs_the_goal_of_short_outages_is_a_mutant():
    assert SHORT and ALL.keys() >= SHORT
