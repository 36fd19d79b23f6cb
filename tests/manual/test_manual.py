# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the manuals and the help against the option table, which bondctl prints with
--dump-options.
"""

import json
import os
import itertools
import re
import subprocess

import pytest

from built import BUILD, ROOT

BONDCTL = os.environ.get("BONDCTL", str(BUILD / "bondctl"))
MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb",
         "balance-alb"]

# Which options each manual describes.
NOT_DESCRIBED = {
    "bondctl.8": {"up"},
    "xbond.conf.5": {"active_slave", "force"},
}
MANUALS = ["bondctl.8", "bondd.8", "xbond.conf.5", "xbond.7"]
HEADING = re.compile(r"^\*([a-z0-9_]+)\* (\S+)$")


def bondctl(*words):
    done = subprocess.run([BONDCTL, *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def table():
    return {option["name"]: option for option in json.loads(bondctl("--dump-options"))}


def source(manual):
    return (ROOT / "man" / f"{manual}.scd").read_text()


def entries(manual):
    """{option: (values, the paragraph below)}, for entries in sections about options."""
    lines = source(manual).splitlines()
    found = {}
    section = ""
    for at, line in enumerate(lines):
        if line.startswith("# "):
            section = line[2:]
        match = HEADING.match(line)
        if match and re.search("OPTIONS|SECTION", section):
            assert match[1] not in found, f"{match[1]} is described twice"
            below = itertools.takewhile(str.strip, lines[at + 1:])
            found[match[1]] = (match[2], " ".join(map(str.strip, below)))
    return found


def modes_text(option):
    def named(modes):
        return f"mode{'s' if len(modes) > 1 else ''} {', '.join(modes)}"

    if option["modes"] != MODES:
        return f"Only in {named(option['modes'])}."
    if option["effect_modes"] != MODES:
        return f"Effect only in {named(option['effect_modes'])}."
    return "All modes."


@pytest.mark.parametrize("manual", NOT_DESCRIBED)
def test_every_option_is_described_and_no_other(manual, table):
    assert set(entries(manual)) == set(table) - NOT_DESCRIBED[manual]


@pytest.mark.parametrize("manual", NOT_DESCRIBED)
def test_values_default_and_modes(manual, table):
    for name, (values, below) in entries(manual).items():
        option = table[name]
        assert values == option["values"], name
        assert below == f"Default *{option['default']}*. {modes_text(option)}", name


def test_bondd_describes_no_option(table):
    assert entries("bondd.8") == {}
    described = re.findall(r"^\*([a-z0-9_]+)\*", source("bondd.8"), re.M)
    assert not set(described) & set(table)


@pytest.mark.parametrize("manual", MANUALS)
def test_scdoc_takes_it(manual):
    done = subprocess.run(["scdoc"], input=source(manual), capture_output=True, text=True,
                          timeout=30)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("manual", MANUALS)
def test_groff_takes_it(manual):
    page = subprocess.run(["scdoc"], input=source(manual), capture_output=True, text=True,
                          timeout=30).stdout
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""


def test_bondctl_verbs_and_flags():
    text = bondctl("--help")
    verbs = re.findall(r"^  ([a-z-]+) ", text.split("Flags")[0], re.M)
    flags = set(re.findall(r"--[a-z-]+", text.split("Flags")[1]))
    page = source("bondctl.8")
    assert set(re.findall(r"^\*bondctl\* \[_FLAG_\]... \*([a-z-]+)\*", page, re.M)) == set(verbs)
    for verb in verbs:
        assert f"*bondctl* [_FLAG_]... *{verb}*" in page
        assert re.search(rf"^\*{verb}\*", page, re.M)
    assert set(re.findall(r"^(?:\*-\w\*, )?\*(--[a-z-]+)\*", page, re.M)) == flags


@pytest.mark.parametrize("words", [(), *((verb,) for verb in re.findall(
    r"^  ([a-z-]+) ", bondctl("--help").split("Flags")[0], re.M))])
def test_help_takes_80_columns(words):
    assert [line for line in bondctl(*words, "--help").splitlines() if len(line) > 80] == []


def test_flags_of_verbs():
    """Each verb's part of the manual has the flags of its help; the synopsis has no others."""
    page = source("bondctl.8")
    parts = re.split(r"^\*([a-z-]+)\*", page.split("# VERBS\n")[1].split("\n# ")[0],
                     flags=re.M)[1:]
    for verb in set(re.findall(r"^\*bondctl\* \[_FLAG_\]... \*([a-z-]+)\*", page, re.M)):
        listed = bondctl(verb, "--help").partition("Flags of this verb:\n")[2].split("\n\n")[0]
        names = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", listed, re.M))
        letters = set(re.findall(r"^  (-\w),", listed, re.M))
        text = "".join(part for name, part in zip(parts[::2], parts[1::2]) if name == verb)
        assert names | letters <= set(re.findall(r"\*(--?[a-z-]+)\*", text)), verb
        synopsis = " ".join(re.findall(rf"^\*bondctl\* \[_FLAG_\]... \*{verb}\*(.*)", page, re.M))
        assert set(re.findall(r"\*(--?[a-z-]+)\*", synopsis)) <= names | letters | {"--"}, verb


def test_exit_status():
    """The help has every status of the manual."""
    section = source("bondctl.8").split("# EXIT STATUS\n")[1].split("\n# ")[0]
    described = re.findall(r"^\*(\d)\*$", section, re.M)
    line = bondctl("--help").split("Exit status:")[1]
    assert re.findall(r"\b(\d) ", line) == described == list("0123456")


def test_events():
    """The section EVENTS has every kind of event with its fields, and no other."""
    listed = json.loads(bondctl("-j", "monitor", "--kinds"))
    kinds = {kind["kind"]: kind["fields"] for kind in listed}
    section = source("bondctl.8").split("# EVENTS\n")[1].split("\n# ")[0]
    entries_of = re.split(r"^\*(\w+)\*$", section.split("\nUnder systemd")[0], flags=re.M)[1:]
    described = dict(zip(entries_of[::2], entries_of[1::2]))
    assert list(described) == list(kinds)
    for kind, fields in kinds.items():
        assert set(re.findall(r"\*(\w+)\*", described[kind])) - {"slave", "receive"} - \
            ({"from", "to", "buckets"} if kind == "buckets" else set()) == set(fields), kind


def test_help_of_verbs_has_the_options(table):
    taken = {"create": {name for name, option in table.items() if option["scope"] == "bond"} -
             {"active_slave", "up"},
             "set": {name for name, option in table.items() if option["scope"] == "bond"} - {"up"},
             "add-slave": {name for name, option in table.items() if option["scope"] == "slave"},
             "set-slave": {name for name, option in table.items() if option["scope"] == "slave"} -
             {"force"}}
    for verb, names in taken.items():
        text = bondctl(verb, "--help")
        assert set(re.findall(r"^  (\w+) [^(]*\(default\s", text, re.M)) == names
