# SPDX-License-Identifier: GPL-2.0-or-later
"""bondctl save on maps made by hand: what it writes, and the file that it replaces."""
import os
import stat
import subprocess

import pytest

from frames import mac_bytes
from pins import Pins, fill
from test_calls import BONDCTL


@pytest.fixture(name="pins")
def _pins(bpf_dir):
    pins = Pins(bpf_dir)
    pins.bond.max_links = 2
    fill(pins.bond.random_mac, bytes(pins.bond.mac))
    return pins


@pytest.fixture(name="config_dir")
def _config_dir(tmp_path):
    path = tmp_path / "etc"
    path.mkdir()
    return path


@pytest.fixture(name="save")
def _save(pins, config_dir):
    """Returns what it says."""
    def call(status=0, before=""):
        done = subprocess.run(["bash", "-c", before + 'exec "$@"', "save", BONDCTL, "--run-dir",
                               config_dir, "--bpf-dir", pins.directory.parent, "--config-dir",
                               config_dir, "save", "bond0"],
                              capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr.count("\n")) == (status, status), done.stderr
        return done.stderr
    return call


def test_what_it_writes(pins, save, config_dir):
    pins.bond.lacp_rate = 1
    fill(pins.bond.ad_actor_system, mac_bytes("02:00:5e:30:00:0f"))
    pins.slaves[1].actor_port_prio = 7
    save()
    assert (config_dir / "bond0.conf").read_text().splitlines()[1:] == [
        "[bond]", "mode = 802.3ad", "hash_seed = 0", "lacp_rate = fast",
        "ad_actor_system = 02:00:5e:30:00:0f",
        "max_links = 2", "", "[slave eth0]", "", "[slave eth1]", "actor_port_prio = 7"]


@pytest.mark.parametrize("target", ["there", "not there yet", "by two links"])
def test_it_writes_what_a_link_leads_to(save, config_dir, tmp_path, target):
    """A configuration that is kept elsewhere, by git say."""
    kept, link = tmp_path / "kept", config_dir / "bond0.conf"
    kept.mkdir()
    if target == "there":
        (kept / "bond0.ini").write_text("[bond]\n")
    (kept / "second").symlink_to(kept / "bond0.ini")
    link.symlink_to("../kept/second" if target == "by two links" else "../kept/bond0.ini")
    save()
    assert link.is_symlink() and (kept / "second").is_symlink() and \
        not (kept / "bond0.ini").is_symlink()
    assert "max_links = 2" in (kept / "bond0.ini").read_text()
    assert [path.name for path in config_dir.iterdir()] == ["bond0.conf"]
    assert sorted(path.name for path in kept.iterdir()) == ["bond0.ini", "second"]


def test_it_keeps_the_permissions_of_the_file(save, config_dir):
    """Its owner, too: it may be hidden from others."""
    path = config_dir / "bond0.conf"
    save()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o640)
    os.chown(path, 12, 34)
    save()
    now = path.stat()
    assert (stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid) == (0o640, 12, 34)


def test_what_it_says_is_not_in_the_file(save, config_dir):
    """Standard error is closed, and no file takes its place."""
    path = config_dir / "bond0.conf"
    path.write_text("[bond\n")
    save(before="exec 2>&-; ")
    assert path.read_text().startswith("# Written by bondctl")


def test_it_follows_no_links_in_a_circle(save, config_dir):
    link = config_dir / "bond0.conf"
    link.symlink_to("bond0.conf")
    assert "links" in save(status=1)
    assert link.is_symlink()


def test_a_directory_that_is_none(save, config_dir):
    config_dir.rmdir()
    config_dir.write_text("no directory")
    save(status=1)
    assert config_dir.read_text() == "no directory"
