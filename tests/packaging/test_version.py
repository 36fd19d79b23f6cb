# SPDX-License-Identifier: GPL-2.0-or-later
"""The version: one file has the number, and the programs show it with the commit."""
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = (ROOT / "VERSION").read_text().strip()


def output(*words, cwd=ROOT):
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()


def in_checkout():
    return (ROOT / ".git").exists()


needs_checkout = pytest.mark.skipif(not in_checkout(), reason="not a git checkout")


def copy(directory):
    """What packaging/version needs, without a repository around it."""
    shutil.copytree(ROOT / "packaging", directory / "packaging")
    shutil.copy(ROOT / "VERSION", directory)
    return directory / "packaging/version"


@pytest.mark.parametrize("program", ["bondd", "bondctl"])
def test_programs_show_the_version_of_the_build(program):
    built = (ROOT / "build/version").read_text().strip()
    assert built.split()[0] == NUMBER
    assert output(ROOT / "build" / program, "--version") == f"{program} {built}"


@needs_checkout
def test_checkout_has_the_commit():
    commit = output("git", "rev-parse", "--short=12", "HEAD")
    assert output("packaging/version").removesuffix(")").removesuffix("-dirty") == \
        f"{NUMBER} ({commit}"


def test_without_git_there_is_no_commit(tmp_path):
    assert output(copy(tmp_path)) == NUMBER


def test_repository_around_the_tree_is_not_ours(tmp_path):
    output("git", "init", "-q", cwd=tmp_path)
    output("git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q",
           "--allow-empty", "-m", "x", cwd=tmp_path)
    assert output(copy(tmp_path / "inner")) == NUMBER


@needs_checkout
def test_archive_has_the_commit(tmp_path):
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True,
                             check=True).stdout
    subprocess.run(["tar", "-x", "-C", tmp_path], input=archive, check=True)
    commit = output("git", "rev-parse", "HEAD")
    number, shown = output(tmp_path / "packaging/version").removesuffix(")").split(" (")
    assert number == NUMBER and commit.startswith(shown) and len(shown) >= 7


def test_new_version_compiles_one_file():
    todo = output("make", "-n", "V=1", "VERSION=9.9.9", "build/bondctl")
    assert [line.split()[-3] for line in todo.splitlines()
            if " -c " in line] == ["lib/common/paths.c"]
    assert "9.9.9" in todo


def test_same_version_compiles_nothing():
    built = (ROOT / "build/version").read_text().strip()
    assert " -c " not in output("make", "-n", "V=1", f"VERSION={built}", "build/bondctl")
