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

MANUALS = sorted(path.stem for path in (ROOT / "man").glob("*.scd"))
HEADING = re.compile(r"^\*([a-z0-9_]+)\* (\S+)$")


def bondctl(*words):
    done = subprocess.run([BONDCTL, *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


TABLE = {option["name"]: option for option in json.loads(bondctl("--dump-options"))}
MODES = TABLE["mode"]["modes"]


@pytest.fixture(scope="module")
def table():
    return TABLE


def source(manual):
    return (ROOT / "man" / f"{manual}.scd").read_text()


def section(manual, title):
    return source(manual).split(f"\n# {title}\n")[1].split("\n# ")[0]


def names_of(manual):
    """What stands under NAME before the dash."""
    return section(manual, "NAME").split(" - ")[0].strip().split(", ")


PAGE_OF = {name.removeprefix("bondctl-"): manual for manual in MANUALS
           for name in names_of(manual) if name.startswith("bondctl-")}
VERBS = re.findall(r"^  ([a-z-]+) ", bondctl("--help").split("Flags")[0], re.M)


def entries():
    """{option: (values, paragraphs below)} of the sections about options."""
    found = {}
    for title in ("OPTIONS OF A BOND", "OPTIONS OF A SLAVE"):
        lines = section("xbond.conf.5", title).splitlines()
        for at, line in enumerate(lines):
            if match := HEADING.match(line):
                assert match[1] not in found, f"{match[1]} is described twice"
                below = itertools.takewhile(lambda text: text[:1] in ("", "\t"), lines[at + 1:])
                paragraphs = "\n".join(below).strip().split("\n\n")
                found[match[1]] = (match[2], [" ".join(text.split()) for text in paragraphs])
    return found


def modes_text(option):
    def named(modes):
        return f"mode{'s' if len(modes) > 1 else ''} {', '.join(modes)}"

    if option["modes"] != MODES:
        return f"Only in {named(option['modes'])}."
    if option["effect_modes"] != MODES:
        return f"Used only in {named(option['effect_modes'])}."
    return "All modes."


def test_every_option_is_described_and_no_other(table):
    assert set(entries()) == set(table)


def test_short_line_default_and_modes(table):
    """The short line has the words of the help. What should be there is printed of all at once,
    because a new mode changes many.
    """
    expected = []
    for name, (values, (first, *_)) in entries().items():
        option = table[name]
        short = f"{option['help'][0].upper()}{option['help'][1:]}."
        line = f"{short} Default *{option['default']}*. {modes_text(option)}"
        if (values, first.removesuffix(" Not in kernel bonding.")) != (option["values"], line):
            expected.append(f"*{name}* {option['values']}\n\t{line}")
    assert not expected, "\n".join(expected)


def test_table_of_the_options():
    """It has each group with its options, in the order in which they are described."""
    head, *groups = re.split(r"^## (.*)$", section("xbond.conf.5", "OPTIONS OF A BOND"), flags=re.M)
    rows = re.findall(r"^\|. (.*)\n:. (.*)$", head.replace("\n   ", " "), re.M)
    assert [title for title, _ in rows] == groups[::2]
    for (_, names), text in zip(rows, groups[1::2]):
        described = [match[1] for match in map(HEADING.match, text.splitlines()) if match]
        assert names == ", ".join(f"*{name}*" for name in described)


def test_table_of_the_defaults(table):
    """It has the options in their order, with the defaults that they have."""
    rows = re.findall(r"^\|  (.*)$", section("xbond.conf.5", "DEFAULTS"), re.M)
    listed = {row.split("*")[1] for row in rows}
    assert rows and listed <= set(table)
    assert rows == [f"*{name}* {table[name]['default']}" for name in entries() if name in listed]


@pytest.mark.parametrize("manual", sorted(set(MANUALS) - {"xbond.conf.5"}))
def test_each_option_is_described_once(manual, table):
    """Elsewhere are no headings of options, but fields of JSON and of maps may have such names."""
    described = {match[1] for match in map(HEADING.match, source(manual).splitlines()) if match}
    assert not described & set(table)


@pytest.mark.parametrize("manual", MANUALS)
def test_scdoc_takes_it(manual):
    done = subprocess.run(["scdoc"], input=source(manual), capture_output=True, text=True,
                          timeout=30)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("manual", MANUALS)
def test_groff_takes_it(manual):
    page = subprocess.run(["scdoc"], input=source(manual), capture_output=True, text=True,
                          timeout=30).stdout
    done = subprocess.run(["groff", "-t", "-man", "-Tutf8", "-ww"], input=page, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.parametrize("manual", MANUALS)
def test_headings_are_in_capitals(manual):
    """A line of a paragraph that begins with # is no text, but a heading."""
    text = re.sub(r"^```\n.*?^```$", "", source(manual), flags=re.M | re.S)
    assert all(map(str.isupper, re.findall(r"^#(?!#) ?(.*)$", text, re.M)))


def test_verbs():
    """The table of bondctl(8) has every verb; what shares a row shares a page."""
    rows = [re.findall(r"\*([a-z-]+)\*", row) for row in
            re.findall(r"^\|. (\*.*)$", section("bondctl.8", "VERBS"), re.M)]
    assert sorted(itertools.chain(*rows)) == sorted(VERBS) == sorted(PAGE_OF)
    assert all(len({PAGE_OF[verb] for verb in row}) == 1 for row in rows)


def test_bondctl_is_two_screens():
    page = subprocess.run(["scdoc"], input=source("bondctl.8"), capture_output=True, text=True,
                          timeout=30, check=True).stdout
    lines = subprocess.run(["groff", "-t", "-man", "-Tascii", "-P-c", "-rLL=80n"], input=page,
                           capture_output=True, text=True, timeout=60, check=True).stdout
    # Between the first line and the last one; man(1) shows blank lines once.
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines.strip().splitlines()[1:-1]).strip())
    assert len(text.splitlines()) <= 2 * 24


def test_global_flags():
    rows = section("bondctl-help.8", "FLAGS")
    described = re.findall(r"^\|. (?:\*-\w\*, )?\*(--[a-z-]*)\*", rows, re.M)
    listed = re.findall(r"^  (?:-\w, )?(--[a-z-]*)", bondctl("--help").split("Flags")[1], re.M)
    assert described == listed


@pytest.mark.parametrize("manual", sorted(set(PAGE_OF.values())))
def test_examples_come_first(manual):
    """And each is in the synopsis by which its page is found."""
    assert re.findall(r"^# (.*)$", source(manual), re.M)[:3] == ["NAME", "SYNOPSIS", "EXAMPLES"]
    assert names_of(manual)[0] == manual.removesuffix(".8")


@pytest.mark.parametrize("manual", MANUALS)
def test_pages_name_what_there_is(manual):
    """Verbs after bondctl, and other pages of xbond."""
    text = re.sub(r"\s+", " ", source(manual))
    assert set(re.findall(r"\*bondctl (?:-j )?([a-z-]+)", text)) - {"-w", "-j"} <= set(VERBS)
    assert set(re.findall(r"^[#$] bondctl (?:-j )?([a-z-]+)", source(manual), re.M)) <= set(VERBS)
    pages = {f"{name}.{page[-1]}" for page in MANUALS for name in names_of(page)}
    named = {f"{name}.{number}" for name, number in
             re.findall(r"\*((?:bondctl|bondd|xbond)[a-z.-]*)\*\((\d)\)", text)}
    assert named <= pages


def test_cheat_sheet():
    """The right column has calls of bondctl."""
    blocks = re.findall(r"```\n(.*?)```", section("xbond.7", "CHEAT SHEET"), re.S)
    calls = [line[40:].split() for block in blocks for line in block.splitlines()
             if line[40:].strip()]
    assert len(calls) > 20
    assert {call[1] if call[0] == "-j" else call[0] for call in calls} <= set(VERBS)


@pytest.mark.parametrize("words", [(), *((verb,) for verb in VERBS)])
def test_help_takes_80_columns(words):
    assert [line for line in bondctl(*words, "--help").splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("verb", VERBS)
def test_flags_of_verbs(verb):
    """The verb's page describes the flags of its help; the synopsis has these and no others."""
    page = source(PAGE_OF[verb])
    listed = bondctl(verb, "--help").partition("Flags of this verb:\n")[2].split("\n\n")[0]
    names = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", listed, re.M))
    letters = set(re.findall(r"^  (-\w),", listed, re.M))
    flags = page.partition("\n# FLAGS\n")[2].split("\n# ")[0]
    assert names | letters <= set(re.findall(r"\*(--?[a-z-]+)\*(?=,|\n| _)", flags))
    synopsis = " ".join(re.findall(rf"^\*bondctl {verb}\b(?!-)((?:.*\n\\\[)?.*)",
                                   section(PAGE_OF[verb], "SYNOPSIS"), re.M))
    assert synopsis
    shown = set(re.findall(r"\*(--?[a-z-]+)\*", synopsis))
    assert shown <= names | letters | {"--"}
    assert names <= shown | {"--details", "--write"}  # which are there by their letters


def test_exit_status():
    """The help has every status of the manual."""
    described = re.findall(r"^\|. \*(\d)\*$", section("bondctl.8", "EXIT STATUS"), re.M)
    line = bondctl("--help").split("Exit status:")[1]
    assert re.findall(r"\b(\d) ", line) == described == list("0123456")


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
