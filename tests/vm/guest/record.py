"""What the tests found out about each partner, for docs/users/interop.md."""
import contextlib
import json

import pytest


class Record:
    """{partner: {behaviour: "yes" | "no" | "-": not in this kernel}} of one run."""

    def __init__(self):
        self.found = {}

    def note(self, partner, behaviour, outcome):
        outcomes = self.found.setdefault(partner, {})
        if outcomes.get(behaviour) != "no":  # one case of it that fails is enough
            outcomes[behaviour] = outcome

    @contextlib.contextmanager
    def shows(self, partner, behaviour):
        """The block shows it, or fails."""
        try:
            yield
        except pytest.skip.Exception:
            self.note(partner, behaviour, "-")
            raise
        except BaseException:
            self.note(partner, behaviour, "no")
            raise
        self.note(partner, behaviour, "yes")

    def write(self, path):
        with open(path, "w") as file:
            json.dump(self.found, file, indent=1)
