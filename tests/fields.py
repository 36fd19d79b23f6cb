# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made from the tables of fields and keys and checked in: the definitions of schemas, and
lists in manuals and pages. Each stands between two marks. `make fields` writes them; tests/manual
compares.
"""
import json
import pathlib
import re
import subprocess

from built import BUILD, ROOT

# In manuals and pages the marks are comments; a schema says that its definitions are made.
MARK = "made by `make fields`"
LIST = rf"(?s)((?:;|<!--) fields ([\w-]+): {MARK}.*?\n)(.*?)((?:;|<!--) end of fields)"
SCHEMA = rf'(?s)({MARK}\.",\n  "definitions": {{\n)()(.*)(  }}\n}}\n)'
MADE = {str(path.relative_to(ROOT))
        for place in ("man/*.scd", "docs/json/*.json", "docs/operators/*.md")
        for path in ROOT.glob(place) if MARK in path.read_text()}


def fields(*words):
    done = subprocess.run([BUILD / "tools/fields", *words], capture_output=True, text=True,
                          check=True, timeout=30)
    return done.stdout


# The longest table is that of several tools. It stands at one of them.
SHARED = "kernel"


def becomes(row):
    """What becomes of a key. An option and a section are set as code, a sentence is not."""
    fate = row["becomes"]
    if not fate:
        return f"nothing: {row['why_lost']}"
    if fate == row["key"]:
        return "the option of this name"
    return fate.strip("()") if " " in fate and fate != "[slave DEV]" else f"`{fate}`"


def places(tool):
    """{where the tool has keys: {what becomes of them: the keys}}"""
    done = subprocess.run([BUILD / "bondctl", "import", tool, "--keys", "-j"], capture_output=True,
                          text=True, check=True, timeout=30)
    tables = {}
    for row in json.loads(done.stdout):
        table = tables.setdefault(row["place"], {})
        table.setdefault(becomes(row), []).append(f"`{row['key']}`")
    return tables


def keys(tool):
    """What becomes of each key of a tool that import reads, as tables of a page."""
    shared, text = next(iter(places(SHARED).values())), ""
    for place, table in places(tool).items():
        text += f"\n### {place}\n\n"
        if table == shared and tool != SHARED:
            text += (f"The options of kernel bonding; [bondctl import {SHARED}]"
                     f"(#bondctl-import-{SHARED}) has their table.\n")
        else:
            text += "| key | becomes |\n|---|---|\n"
            text += "".join(f"| {', '.join(same)} | {fate} |\n" for fate, same in table.items())
    return text + "\n"


def made(path):
    """(the text of the file as it should be, how many parts of it are made)"""
    name, _, kind = pathlib.PurePath(path).name.partition(".")
    make = {"schema.json": lambda _: fields("schema", name), "md": keys}.get(
        kind, lambda part: fields("list", part))
    return re.subn(SCHEMA if kind == "schema.json" else LIST,
                   lambda found: found[1] + make(found[2]) + found[4], (ROOT / path).read_text())


if __name__ == "__main__":
    for name in MADE:
        (ROOT / name).write_text(made(name)[0])
