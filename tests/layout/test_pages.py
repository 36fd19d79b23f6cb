# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages about the sources name what there is: folders, files and functions."""
import fnmatch
import re

import pytest

from built import ROOT
from test_ladder import FILES, LADDER, MAY_USE

MAP = "docs/developers/architecture.md"
PAGES = ("CONTRIBUTING.md", MAP, "docs/developers/bfd.md", "docs/developers/lab.md",
         "docs/developers/lacp.md")
OF_THE_KERNEL = {"netif_carrier_off", "bpf_printk", "bpf_redirect_peer"}


def test_the_map_has_all_folders_in_their_order():
    rows = re.findall(r"^\| (`\w+/.*?`) \|", (ROOT / MAP).read_text(), re.M)
    folders = [folder.rstrip("/") for row in rows for folder in re.findall(r"`([\w/]+)`", row)]
    assert sorted(folders) == sorted(MAY_USE)
    assert [folder for folder in folders if folder in LADDER] == list(LADDER)


@pytest.fixture(scope="module", name="paths")
def _paths():
    tops = [top for top in ROOT.iterdir() if not top.name.startswith((".", "build"))]
    return [f"/{path.relative_to(ROOT)}" for top in tops for path in (top, *top.rglob("*"))]


@pytest.mark.parametrize("page", PAGES)
def test_files(page, paths):
    """Those of recipes have NAME in their names."""
    text = re.sub(r"\]\([^)]*\)", "]", (ROOT / page).read_text())  # links: tests/manual
    named = {name for name in re.findall(r"(?<![\w*/.-])[\w*/.-]+\.(?:c|h|py|scd|sim)\b", text)
             if "NAME" not in name}
    assert named and not [name for name in named if not fnmatch.filter(paths, f"*/{name}")]


def test_functions():
    pages = "".join((ROOT / page).read_text() for page in PAGES)
    named = set(re.findall(r"\b([a-z]\w+)\(\)", pages)) - OF_THE_KERNEL
    code = "".join((ROOT / path).read_text() for path in FILES)
    python = "".join(path.read_text() for path in (ROOT / "tests").glob("*.py"))
    assert not [name for name in named if not re.search(
        rf"^(?:\w|#define ).*\b{name}\(", code, re.M) and f"def {name}(" not in python]
