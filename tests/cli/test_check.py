# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl check: every mistake of a file with its line, without bondd and without root."""
import json
import os
import subprocess

import pytest

import broken
import schema
from broken import BROKEN, check, lay_out


def run(*words, **kwargs):
    return subprocess.run([broken.BONDCTL, *map(str, words)], capture_output=True, text=True,
                          timeout=30, check=False, **kwargs)


@pytest.mark.parametrize("what, config, words", BROKEN, ids=[what for what, _, _ in BROKEN])
def test_broken(what, config, words, tmp_path):
    done = check(lay_out(config, tmp_path))
    assert done.returncode == 1 and done.stdout == "", what
    lines = done.stderr.splitlines()
    assert all(line.startswith("bond0.conf") and line.split(":")[1].isdigit() for line in lines)
    assert all(word in lines[0] for word in words), lines
    assert all(character.isprintable() for line in lines for character in line)


def test_there_are_enough():
    assert len(BROKEN) >= 40 and len({what for what, _, _ in BROKEN}) == len(BROKEN)


def test_all_mistakes_and_warnings(tmp_path):
    path = lay_out({"": "[bond]\nmode = 1\nprimary = eth9\nmimon = 1\n[slave eth0]\nweight = x\n",
                    "10.conf": "[bond]\nupdelay = never\n", "20.conf.old": "nonsense\n",
                    ".30.conf": "nonsense\n"}, tmp_path)
    done = run("-j", "check", path)
    found = schema.check("check", json.loads(done.stdout))
    assert done.returncode == 1 and len(found) == 1 and not found[0]["ok"]
    places = [(os.path.basename(each["file"]), each["line"], each["severity"])
              for each in found[0]["mistakes"]]
    assert places == [("bond0.conf", 3, "warning"), ("bond0.conf", 4, "error"),
                      ("bond0.conf", 6, "error"), ("10.conf", 2, "error")]


def test_no_files(tmp_path):
    """As JSON an empty array and nothing else."""
    done = run("check", "--config-dir", tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and "no configuration file" in done.stdout
    done = run("-j", "check", "--config-dir", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert schema.check("check", json.loads(done.stdout)) == []


def test_a_right_file(tmp_path):
    path = lay_out("[bond]\nmode = 802.3ad\n[slave eth0]\n[slave 02:00:5E:10:00:01]\n", tmp_path)
    done = run("check", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}: no mistakes\n", "")
    done = run("check", "-", input=path.read_text())
    assert done.returncode == 0
    done = run("check", "-", input="[bond]\nmode = 9\n")
    assert done.returncode == 1 and done.stderr.startswith("standard input:2: mode")


def test_a_file_of_another_system(tmp_path):
    """A byte order mark, and lines that end with a carriage return."""
    path = tmp_path / "bond0.conf"
    path.write_bytes("\ufeff[bond]\r\nmode = active-backup\r\n[slave eth0]\r\n".encode())
    assert run("check", path).stdout == f"{path}: no mistakes\n"


def test_a_name_that_steers_terminals(tmp_path):
    """The JSON has the same question marks, so that it can be shown as it is."""
    path = lay_out("[bond]\n", tmp_path, "b\x1b[7m\x9b1m")
    shown = f"{tmp_path}/b?[7m??1m.conf"
    done = run("check", path)
    assert done.stderr.startswith(shown) and done.stderr.count("\n") == 1
    assert json.loads(run("-j", "check", path).stdout)[0]["file"] == shown
    assert run("check", path.rename(tmp_path / "x\x1b[7m")).stdout == \
        f"{tmp_path}/x?[7m: no mistakes\n"


def test_a_whole_directory(tmp_path):
    for bond, text in (("bond0", "[bond]\n[slave eth0]\n"), ("bond1", "[bond]\nmode = 1\n"),
                       ("bond2", "[bond]\n\n[slave eth0]\n"),
                       ("averyveryverylongname", "[bond]\n")):
        lay_out(text, tmp_path, bond)
    done = run("--config-dir", tmp_path, "check")
    assert done.returncode == 1
    assert done.stdout.count("no mistakes") == 2
    name, slave = done.stderr.splitlines()
    assert name.startswith(f"{tmp_path}/averyveryverylongname.conf: bond name too long")
    assert slave.startswith(f"{tmp_path}/bond2.conf:3: eth0 is a slave in {tmp_path}/bond0.conf")


@pytest.mark.parametrize("path, words", [("/nonexistent/bond0.conf", "No such file"),
                                         ("/dev/zero", "regular file"), ("/tmp", "regular file")])
def test_what_is_no_file(path, words):
    done = run("check", path)
    assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1


def test_a_pipe_and_a_huge_file(tmp_path):
    os.mkfifo(tmp_path / "bond0.conf")
    done = run("check", tmp_path / "bond0.conf")
    assert done.returncode == 1 and "regular file" in done.stderr
    huge = tmp_path / "bond1.conf"
    huge.write_text("[bond]\n" + "# x\n" * 600_000)
    done = run("check", huge)
    assert done.returncode == 1 and "longer than 1048576 bytes" in done.stderr


def test_without_root_and_bondd(tmp_path):
    path = lay_out("[bond]\nmode = 1\n", tmp_path)
    for parent in (*path.parents[:-2], path):
        os.chmod(parent, 0o755)
    if any(not os.stat(parent).st_mode & 0o1 for parent in broken.BONDCTL.parents):
        pytest.skip("the build is where others may not look")
    done = run("--run-dir", tmp_path, "check", path, user=65534, group=65534, extra_groups=[])
    assert done.returncode == 0, done.stderr
