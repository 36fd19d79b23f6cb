# SPDX-License-Identifier: GPL-2.0-or-later
"""The ladder of folders: who may use whom, by the #include lines and by what the objects call.

A folder uses itself and those below it. docs/developers/architecture.md says what each is for.
"""
import pathlib
import re
import subprocess

import pytest

from built import BUILD, ROOT

# From the top. A folder may use those that come after it.
LADDER = ("daemon", "daemon/control", "daemon/handover", "daemon/manage", "daemon/device",
          "daemon/slave", "daemon/alb", "daemon/monitor", "daemon/bond", "daemon/announce",
          "daemon/dataplane", "daemon/lacp_thread", "daemon/bfd_thread", "daemon/metrics",
          "daemon/base", "lib/network", "lib/view", "lib/options", "lib/rules", "lib/common", "bpf",
          "lib/lacp", "lib/bfd")
SHARED = LADDER[LADDER.index("lib/network"):]  # what bondd and bondctl are both made of
MAY_USE = {folder: set(LADDER[i:]) for i, folder in enumerate(LADDER)}
# Metrics are a client of the core, as bondctl and the CNI plugin are: bondd starts their thread,
# and what a packet needs does not know of it. Nor of handover, which stands above it.
for _folder in LADDER[1:LADDER.index("daemon/metrics")]:
    MAY_USE[_folder].discard("daemon/metrics")
# bondctl: the verbs' folders do not know each other.
OF_VERBS = ("cli/show", "cli/explain", "cli/monitor", "cli/top", "cli/doctor", "cli/packets",
            "cli/import")
MAY_USE["cli/base"] = {"cli/base", *SHARED}
MAY_USE |= {folder: {folder, *MAY_USE["cli/base"]} for folder in OF_VERBS}
MAY_USE["cni"] = {"cni", *MAY_USE["cli/base"]}  # of cli/base it uses the client
MAY_USE["include/xbond"] = {"include/xbond", *LADDER[LADDER.index("bpf"):]}
# The library for AF_XDP: applications of others link it, and nothing of xbond uses it.
MAY_USE["xsk"] = {"xsk", *MAY_USE["include/xbond"]}
MAY_USE["cli"] = {"cli", *OF_VERBS, *MAY_USE["cli/base"]}


def files_of_code(suffix):
    """All but those of the tests, of examples and of builds, also where there is no git."""
    others = (".", "build", "debian", "packaging", "tests")
    tops = [top for top in ROOT.iterdir() if top.is_dir() and not top.name.startswith(others)]
    return sorted(pathlib.PurePosixPath(path.relative_to(ROOT))
                  for top in tops for path in top.rglob("*" + suffix))


SOURCES = files_of_code(".c")
FILES = SOURCES + files_of_code(".h")
HOST = [path for path in SOURCES if path.parts[0] != "bpf"]  # have objects that nm can read


def folder_of(path):
    return path.parent.as_posix()


def includes():
    """(file, file it includes)"""
    for path in FILES:
        for name in re.findall(r'^#include "([^"]+)"', (ROOT / path).read_text(), re.M):
            for top in ("", "lib/", "include/"):  # what is in none of them, the build makes
                if (ROOT / top / name).exists():
                    yield path, pathlib.PurePosixPath(top + name)


def symbols(*options):
    """(file, symbol) of all objects."""
    objects = [path.with_suffix(".o") for path in HOST]
    lines = subprocess.run(["nm", "-A", "-P", *options, *objects], cwd=BUILD, check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        name, symbol = line.split()[:2]
        yield pathlib.PurePosixPath(name.rstrip(":")).with_suffix(".c"), symbol


def calls():
    """(file, file it calls or reads from, symbol)"""
    home = {symbol: path for path, symbol in symbols("-g", "--defined-only") if symbol != "main"}
    for path, symbol in symbols("-u"):
        if symbol in home:
            yield path, home[symbol], symbol


def is_allowed(user, used):
    return folder_of(used) in MAY_USE.get(folder_of(user), ())


def circles(edges):
    """Lists of folders that reach themselves, each with the others."""
    below = {}
    for user, used in edges:
        below.setdefault(user, set()).add(used)
    reach = {}
    for start in below:
        todo, seen = [start], set()
        while todo:
            for used in below.get(todo.pop(), ()):
                if used not in seen:
                    seen.add(used)
                    todo.append(used)
        reach[start] = seen
    return sorted({tuple(sorted(str(other) for other in reach[path]
                                if path in reach.get(other, ())))
                   for path in reach if path in reach[path]})


@pytest.fixture(scope="module", name="all_calls")
def _all_calls():
    missing = [str(path) for path in HOST if not (BUILD / path.with_suffix(".o")).exists()]
    assert not missing, "not built"
    return list(calls())


def test_every_folder_is_in_the_table():
    assert {folder_of(path) for path in FILES} == set(MAY_USE)


def test_includes_go_down():
    upward = [f"{user} ({folder_of(user)}) includes {used}" for user, used in includes()
              if not is_allowed(user, used)]
    assert not upward


def test_calls_go_down(all_calls):
    upward = [f"{user} ({folder_of(user)}) uses {symbol} of {used}"
              for user, used, symbol in all_calls if not is_allowed(user, used)]
    assert not upward


def between_folders(edges):
    """What belongs together may stand together, in several files of one folder."""
    return ((folder_of(user), folder_of(used)) for user, used in edges
            if folder_of(user) != folder_of(used))


def test_no_circle_of_calls(all_calls):
    assert not circles(between_folders((user, used) for user, used, _ in all_calls))


def test_no_circle_of_headers():
    assert not circles(between_folders(includes()))


def test_a_stem_is_in_one_folder():
    folders = {}
    public = pathlib.PurePosixPath("include/xbond/select.bpf.h")  # others include it by this name
    for path in FILES:
        if path == public:
            continue
        folders.setdefault(path.name.split(".")[0], set()).add(folder_of(path))
    assert not {stem: found for stem, found in folders.items() if len(found) > 1}
