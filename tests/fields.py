# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made from the tables of fields and checked in: the definitions of schemas, and lists in
manuals. Each stands between two marks. `make fields` writes them; tests/manual compares.
"""
import re
import subprocess

from built import BUILD, ROOT

# In a manual the marks are comments; a schema says that its definitions are made.
LIST = r"(?s)(; fields ([\w-]+): made by `make fields`\n)(.*?)(; end of fields\n)"
SCHEMA = r'(?s)(made by `make fields`\.",\n  "definitions": \{\n)()(.*)(  \}\n\}\n)'
MADE = {str(path.relative_to(ROOT)) for place in ("man/*.scd", "docs/json/*.json")
        for path in ROOT.glob(place) if "made by `make fields`" in path.read_text()}


def fields(*words):
    done = subprocess.run([BUILD / "tools/fields", *words], capture_output=True, text=True,
                          check=True, timeout=30)
    return done.stdout


def made(path):
    """(the text of the file as it should be, how many parts of it are made)"""
    is_schema = path.endswith(".json")

    def part(found):
        return fields("schema", path.split("/")[-1].split(".")[0]) if is_schema else \
            fields("list", found[2])
    return re.subn(SCHEMA if is_schema else LIST,
                   lambda found: found[1] + part(found) + found[4], (ROOT / path).read_text())


if __name__ == "__main__":
    for name in MADE:
        (ROOT / name).write_text(made(name)[0])
