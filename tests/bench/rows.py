"""Rows of the result, and the statistics behind them: alternating rounds and medians.
Knows nothing of what is measured.
"""
import dataclasses
import json
import statistics
import sys


@dataclasses.dataclass
class Row:
    """One figure. bound: what it must reach (None: for the reader); least: True when more is
    better.
    """
    name: str
    value: float
    unit: str
    bound: float = None
    least: bool = False

    @property
    def held(self):
        if self.bound is None:
            return None
        return self.value >= self.bound if self.least else self.value <= self.bound

    def as_json(self):
        return {"name": self.name, "value": round(self.value, 3), "unit": self.unit,
                "bound": self.bound, "held": self.held}

    def as_text(self):
        bound = "" if self.bound is None else f"{'>=' if self.least else '<='} {self.bound:g}"
        mark = {None: "", True: "held", False: "MISSED"}[self.held]
        return f"{self.name:<68}{self.value:>10.3f} {self.unit:<10}{bound:>9}  {mark}"


def alternate(rounds, subjects):
    """{name: [value of each round]} of {name: function}, one after another, round by round: what
    changes in the machine meanwhile meets all of them. Every other round goes backwards.
    """
    values = {name: [] for name in subjects}
    for number in range(rounds):
        names = list(subjects)
        for name in names[::-1] if number % 2 else names:
            values[name].append(subjects[name]())
    return values


def median_ratio(over, under):
    """Median of the ratios of the rounds."""
    return statistics.median(a / b for a, b in zip(over, under))


def median_difference(more, less):
    return statistics.median(a - b for a, b in zip(more, less))


def chosen(text, names):
    """The words of text, between commas or blanks; without any, all names. Ends with a message if
    one is no name.
    """
    words = text.replace(",", " ").split()
    for word in words:
        if word not in names:
            print(f"bench: there is no {word!r} to choose; there are {', '.join(names)}",
                  file=sys.stderr)
            sys.exit(2)
    return words or list(names)


def write_json(path, rows):
    path.write_text("[\n" + ",\n".join("  " + json.dumps(row.as_json()) for row in rows) + "\n]\n")
