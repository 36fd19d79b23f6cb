# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made from the tables of view/ and checked in: the definitions of a schema, and lists in
manuals. Each stands between two marks. `make fields` writes them; tests/manual compares.
"""
import re
import subprocess
import sys

from built import BUILD, ROOT

# In a manual the marks are comments; in JSON they are what stands around the definitions.
LIST = r"(?s)(; fields (\w+): made by `make fields`\n)(.*?)(; end of fields\n)"
SCHEMA = r'(?s)(  "definitions": \{\n)()(.*)(  \}\n\}\n)'
MADE = {"docs/json/show.schema.json": SCHEMA, "man/xbond-json.5.scd": LIST, "man/bondd.8.scd": LIST}


def fields(part):
    done = subprocess.run([BUILD / "tools/fields", part], capture_output=True, text=True,
                          check=True, timeout=30)
    return done.stdout


def made(path):
    """(the text of the file as it should be, how many parts of it are made)"""
    return re.subn(MADE[path], lambda found: found[1] + fields(found[2] or "schema") + found[4],
                   (ROOT / path).read_text())


if __name__ == "__main__":
    for name in MADE:
        text, count = made(name)
        if not count:
            sys.exit(f"{name} has no marks")
        (ROOT / name).write_text(text)
