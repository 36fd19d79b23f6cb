"""Metrics as text, read back: for tests of what bondd answers."""
import re
import subprocess

SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)",?')
HEADS = ("Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5",)


class Metrics:
    """types {name: type} as written, and samples [(name, {label: value}, number)]."""

    def __init__(self, text):
        self.types, self.helps, self.units, self.samples = {}, {}, {}, []
        self.lines = text.splitlines()
        for line in self.lines:
            if line.startswith("# "):
                self.read_comment(line)
                continue
            name, labels, number = SAMPLE.match(line).groups()
            self.samples.append((name, dict(LABEL.findall(labels or "")), float(number)))

    def read_comment(self, line):
        word, _, rest = line[2:].partition(" ")
        if word == "EOF":
            return
        name, _, value = rest.partition(" ")
        of = {"TYPE": self.types, "HELP": self.helps, "UNIT": self.units}[word]
        assert name not in of, f"{line}: twice"
        of[name] = value

    def all(self, name, **labels):
        """{the other labels' values: number}"""
        return {tuple(value for key, value in found.items() if key not in labels): number
                for known, found, number in self.samples
                if known == name and labels.items() <= found.items()}

    def one(self, name, **labels):
        found = self.all(name, **labels)
        assert len(found) == 1, f"{name} {labels}: {found}"
        return next(iter(found.values()))


def scrape(server, *headers):
    answer = server.ask("/metrics", "Host: localhost", *headers)
    assert answer.status == 200
    return Metrics(answer.text)


def lint(text):
    """What promtool has to say against it."""
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          text=True, timeout=60, check=False)
    return done.stderr + done.stdout
