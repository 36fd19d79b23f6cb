# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made from the tables of fields is checked in as it would be made now."""
import pytest

from built import ROOT
from fields import MADE, made


@pytest.mark.parametrize("path", sorted(MADE))
def test_it_is_up_to_date(path):
    text, count = made(path)
    assert count
    assert text == (ROOT / path).read_text(), "call `make fields`"
