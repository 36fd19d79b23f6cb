# SPDX-License-Identifier: GPL-2.0-or-later
"""`make install` into a directory of its own: which files, and a unit that systemd understands."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {"usr/sbin/bondd", "usr/sbin/bondctl"}
PLUGIN = "usr/lib/cni/xbond"
UNITS = "usr/lib/systemd/system"
UNIT = f"{UNITS}/bondd.service"
OTHER_UNITS = ("bondd.socket", "xbond-teardown.service")
EXPOSURE = 4.0  # as systemd-analyze counts: 0 to 10, of which 10 is the most
METRICS = {f"usr/share/xbond/metrics/{path.name}"
           for path in (ROOT / "packaging/metrics").iterdir()}
COMPLETIONS = {"usr/share/bash-completion/completions/bondctl",
               "usr/share/zsh/site-functions/_bondctl",
               "usr/share/fish/vendor_completions.d/bondctl.fish"}
SCHEMAS = {f"usr/share/xbond/json/{path.name}"
           for path in (ROOT / "docs/json").glob("*.schema.json")}
HOOKS = ("etc/network/if-pre-up.d/xbond", "etc/network/if-post-down.d/xbond",
         "usr/libexec/ifupdown-ng/xbond")
TOOLS = {"usr/lib/udev/rules.d/90-xbond.rules", "usr/lib/udev/xbond-device",
         "usr/lib/systemd/network/05-xbond.network", "usr/lib/NetworkManager/conf.d/xbond.conf",
         *HOOKS}


def make(target, destination, **more):
    subprocess.run(["make", target, f"DESTDIR={destination}", "PREFIX=/usr"], cwd=ROOT, check=True,
                   capture_output=True, **more)


def files(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def manuals():
    return {f"usr/share/man/man{path.stem[-1]}/{path.stem}"
            for path in (ROOT / "man").glob("*.scd")}


needs_analyze = pytest.mark.skipif(not shutil.which("systemd-analyze"),
                                   reason="systemd-analyze is not installed")


@pytest.fixture(scope="module", name="installed")
def _installed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("installed")
    make("all", directory)
    make("install", directory, umask=0o077)
    make("install-dev", directory, umask=0o077)
    return directory


def unit_line(installed, key):
    lines = (installed / UNIT).read_text().splitlines()
    return next(line.split("=", 1)[1] for line in lines if line.startswith(f"{key}="))


def test_files(installed):
    units = {UNIT, PLUGIN, *(f"{UNITS}/{name}" for name in OTHER_UNITS)}
    assert PROGRAMS | manuals() | METRICS | SCHEMAS | COMPLETIONS | TOOLS | units <= \
        files(installed)
    assert (installed / "etc/xbond").is_dir()
    for program in PROGRAMS:
        assert (installed / program).stat().st_mode & 0o777 == 0o755


def test_everybody_may_read_them(installed):
    """Whatever the umask of who installs them is."""
    for path in installed.rglob("*"):
        mode = path.stat().st_mode & 0o777
        assert mode == 0o755 or path.is_file() and mode == 0o644, (path, oct(mode))


def test_every_verb_has_a_manual_page(installed):
    """A page of several verbs is found by the name of each."""
    pages = installed / "usr/share/man"
    verbs = re.findall(r"^  ([a-z-]+) ", subprocess.run(
        [installed / "usr/sbin/bondctl", "help"], capture_output=True, text=True,
        check=True).stdout.split("Flags")[0], re.M)
    assert len(verbs) > 20
    for verb in verbs:
        page = pages / f"man8/bondctl-{verb}.8"
        if page.read_text().startswith(".so "):
            page = pages / page.read_text().split()[1]
        assert re.search(rf"^\\fBbondctl {verb}\b", page.read_text(), re.M), verb


def test_programs_run(installed):
    for program in PROGRAMS:
        done = subprocess.run([installed / program, "--version"], capture_output=True, text=True,
                              check=True)
        assert done.stdout.strip(), program


def test_unit_starts_what_is_installed(installed):
    assert "@sbindir@" not in (installed / UNIT).read_text()
    assert installed.joinpath(unit_line(installed, "ExecStart").lstrip("/")).is_file()
    assert unit_line(installed, "Type") == "notify"
    assert unit_line(installed, "KillMode") == "process"


def test_hooks_call_what_is_installed(installed):
    """Whatever their PATH is: that of an executor of ifupdown-ng has no /usr/local."""
    for hook in HOOKS:
        text = (installed / hook).read_text()
        assert "@sbindir@" not in text and "/usr/sbin/bondctl" in text, hook
        assert (installed / hook).stat().st_mode & 0o777 == 0o755, hook


@needs_analyze
def test_units_verify(installed, tmp_path):
    units = []
    for name in ("bondd.service", *OTHER_UNITS):
        text = (installed / UNITS / name).read_text()
        assert "@sbindir@" not in text
        units.append(tmp_path / name)
        units[-1].write_text(text.replace("/usr/sbin/", f"{installed}/usr/sbin/"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True,
                          text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if "bond" in line]
    assert done.returncode == 0 and not complaints, done.stderr


@needs_analyze
def test_unit_is_hardened(installed, capsys):
    unit = installed / UNIT
    done = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true",
                           f"--threshold={EXPOSURE * 10:.0f}", unit], capture_output=True,
                          text=True, check=False)
    with capsys.disabled():
        print("\n" + done.stdout.splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("has_group, destination, asked_for", [
    (False, "", "--system xbond"), (True, "", None), (False, "/package", None)])
def test_the_group_is_made(tmp_path, has_group, destination, asked_for):
    """By programs that stand for those of the system."""
    for name, text in (("getent", f"exit {0 if has_group else 2}"),
                       ("groupadd", f'echo "$@" >{tmp_path}/group')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    places = ("PREFIX", "sysconfdir", "unitdir", "udevdir", "networkddir", "networkmanagerdir",
              "ifupdown2dir", "ifupdownngdir", "bashcompletiondir", "zshcompletiondir",
              "fishcompletiondir")
    subprocess.run(["make", "install", f"DESTDIR={tmp_path}{destination}" if destination else
                    "DESTDIR=", *(f"{place}={tmp_path}/{place}" for place in places)], cwd=ROOT,
                   check=True, capture_output=True,
                   env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    made = tmp_path / "group"
    assert (made.read_text().strip() if made.exists() else None) == asked_for


def test_uninstall(tmp_path):
    make("install", tmp_path)
    make("install-dev", tmp_path)
    configuration = tmp_path / "etc/xbond/bond0.conf"
    configuration.write_text("[bond]\n")
    make("uninstall", tmp_path)
    assert files(tmp_path) == {"etc/xbond/bond0.conf"}
