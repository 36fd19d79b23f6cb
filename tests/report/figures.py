# SPDX-License-Identifier: GPL-2.0-or-later
"""What a row of the report consists of: figures, each with the command that made it and, where
somebody published one, theirs. Knows nothing of how anything is measured or shown.
"""
import dataclasses


@dataclasses.dataclass
class Figure:
    """ratio: of value to what the links could carry. published: the figure of others, in words, and
    published_ratio likewise. bound: what ratio, or value where there is no ratio, must reach (None:
    for the reader); least: True when more is better.
    """
    what: str
    value: float
    unit: str
    command: str
    ratio: float = None
    published: str = ""
    published_ratio: float = None
    bound: float = None
    least: bool = True
    note: str = ""

    @property
    def judged(self):
        """What the bound is for."""
        return self.value if self.ratio is None else self.ratio

    @property
    def held(self):
        if self.bound is None:
            return None
        return self.judged >= self.bound if self.least else self.judged <= self.bound

    def as_json(self):
        found = dataclasses.asdict(self)
        for key in ("value", "ratio", "published_ratio", "bound"):
            if found[key] is not None:
                found[key] = round(found[key], 4)
        return {**found, "held": self.held}


def at_least_published(what, value, unit, command, links_carry, published, published_ratio, **more):
    """A figure that is held to the ratio that others reached."""
    return Figure(what, value, unit, command, ratio=value / links_carry, published=published,
                  published_ratio=published_ratio, bound=published_ratio, **more)


@dataclasses.dataclass
class Listing:
    """Output to be read as it is."""
    title: str
    text: str


@dataclasses.dataclass
class Section:
    """One row of the report. about: paragraphs; setup: the commands that made what was measured on;
    plots: (file name, SVG); error: why the rest is missing.
    """
    number: int
    title: str
    about: list = dataclasses.field(default_factory=list)
    setup: list = dataclasses.field(default_factory=list)
    figures: list = dataclasses.field(default_factory=list)
    plots: list = dataclasses.field(default_factory=list)
    listings: list = dataclasses.field(default_factory=list)
    error: str = ""
    seconds: float = 0

    def missed(self):
        return [figure for figure in self.figures if figure.held is False]

    def as_json(self):
        return {"number": self.number, "title": self.title, "seconds": round(self.seconds, 1),
                "error": self.error, "setup": self.setup,
                "figures": [figure.as_json() for figure in self.figures]}
