# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made from the tables of fields is checked in as it would be made now."""
import subprocess

import pytest

from built import BUILD, ROOT
from fields import MADE, made


@pytest.mark.parametrize("path", sorted(MADE))
def test_it_is_up_to_date(path):
    text, count = made(path)
    assert count
    assert text == (ROOT / path).read_text(), "call `make fields`"


def test_schemas_that_can_be_made_say_so():
    """Without its mark a schema would not be made any more, nor compared."""
    for path in ROOT.glob("docs/json/*.schema.json"):
        done = subprocess.run([BUILD / "tools/fields", "schema", path.name.split(".")[0]],
                              capture_output=True, timeout=30, check=False)
        assert (not done.returncode) == (f"docs/json/{path.name}" in MADE), path.name
