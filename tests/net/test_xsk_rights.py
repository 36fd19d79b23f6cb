# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of an ordinary user with AF_XDP sockets on a bond: a member of the group xbond-xsk gets
what the library maps and nothing else, whoever has made the pins.
"""
import grp
import ctypes
import os
import pathlib
import re
import shutil
import signal
import struct

import pytest

from lab import BUILD
from namespace import end
from test_xsk import Pinned, Sender
from user_group import user_group
from waiting import wait_for
from xsk_echo import Echo

pytestmark = pytest.mark.usefixtures("on_veths")
GROUP = "xbond-xsk"
READ = {"settings", "table", "buckets", "alb"}
WRITTEN = {"cursor", "moves", "flowlets", "vlans", "afxdp"}


@pytest.fixture(scope="module", autouse=True)
def group():
    if not os.stat("/sys/fs/bpf").st_mode & 0o001:
        pytest.skip("/sys/fs/bpf is root's alone: chmod o+x /sys/fs/bpf")
    with user_group(GROUP):
        yield


@pytest.fixture(name="made")
def _made(pair):
    return pair("balance-xor", links=3, xmit_hash_policy="layer3+4")


def as_user(*groups, capabilities="+net_raw,+ipc_lock"):
    """The words in front of a command, as a unit with AmbientCapabilities= has it."""
    groups = ("--groups", *groups) if groups else ("--clear-groups",)
    return ["setpriv", "--reuid", "65534", "--regid", "65534", *groups,
            f"--inh-caps=-all,{capabilities}", f"--ambient-caps=-all,{capabilities}"]


def rights(near):
    """The pins that the group may read, and those that it may write."""
    gid, found = grp.getgrnam(GROUP).gr_gid, {0o640: set(), 0o660: set()}
    for pin in (near.bpf_dir / "bond0").iterdir():
        about = pin.stat()
        assert about.st_uid == 0 and about.st_mode & 0o777 in (0o600, *found), pin
        if about.st_gid == gid:
            found.setdefault(about.st_mode & 0o777, set()).add(pin.name)
        else:
            assert not about.st_gid and about.st_mode & 0o777 == 0o600, pin
    for each in (near.bpf_dir, near.bpf_dir / "bond0"):
        if each.stat().st_gid != gid or each.stat().st_mode & 0o777 != 0o710:
            return None
    return found[0o640], found[0o660]


def test_an_ordinary_user_sends(made):
    """Links are cut, slaves come and go, and the bond is made anew: all as for root."""
    near, sender = made.near, Sender(made, before=as_user(GROUP))
    sender.flow_on(*made.links)
    made.far.ip("link", "set", "l0", "down")
    sender.flow_on("l1", "l2")
    made.far.ip("link", "set", "l0", "up")
    near.ctl("del-slave", "bond0", "l2")
    sender.flow_on("l0", "l1")
    near.ctl("add-slave", "bond0", "l2")
    sender.flow_on(*made.links)
    sender.finish()


def test_a_bond_that_is_made_anew(made):
    near, sender = made.near, Sender(made, before=as_user(GROUP))
    sender.flow_on(*made.links)
    near.ctl("delete", "bond0")
    near.ctl("create", "bond0", "mode", "active-backup")
    assert rights(near) == (READ, WRITTEN)
    near.ctl("add-slave", "bond0", "l2")
    near.ip("link", "set", "bond0", "up")
    near.wait_slaves("l2")
    sender.flow_on("l2")


@pytest.mark.parametrize("words, why", [
    (as_user(), "that takes the group xbond-xsk, and 'chmod o+x /sys/fs/bpf'"),
    (as_user("nogroup"), "that takes the group xbond-xsk"),
    (as_user(GROUP, capabilities="+ipc_lock"), "cannot use l0, queue 0: CAP_NET_RAW is missing"),
], ids=["no group", "another group", "no capability"])
def test_what_is_missing_is_said(made, words, why):
    done = made.near.run(*words, BUILD / "tools/xskseq", made.near.bpf_dir / "bond0",
                         "02:00:00:00:00:01", "02:00:00:00:00:02", 1, 1, 1, check=False)
    assert done.returncode == 1 and why in done.stderr and done.stderr.count("\n") == 1, done.stderr


OPEN = """
import ctypes, os, platform, struct, sys

call = {"x86_64": 321, "aarch64": 280}[platform.machine()]
for name in os.environ["PINS"].split():
    path = ctypes.create_string_buffer(f"{sys.argv[1]}/{name}".encode())
    may = ""
    for flag in (8, 16):  # BPF_F_RDONLY, BPF_F_WRONLY
        attr = ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(path), 0, flag), 16)
        if ctypes.CDLL(None).syscall(call, 7, attr, 16) >= 0:  # BPF_OBJ_GET
            may += " rw"[flag // 8]
    print(name, may)
for name in ("bond0", "bond0/table", "bond0/afxdp"):
    for change in (os.unlink, os.rmdir, lambda path: os.chmod(path, 0o777)):
        try:
            change(f"{sys.argv[1]}/../{name}")
            print("changed", name)
        except OSError:
            pass
"""


def test_members_get_nothing_else(made):
    pins = sorted(pin.name for pin in (made.near.bpf_dir / "bond0").iterdir())
    done = made.near.run(*as_user(GROUP), "env", f"PINS={' '.join(pins)}", "/usr/bin/python3", "-c",
                         OPEN, made.near.bpf_dir / "bond0")
    may = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert set(may) == set(pins) and {name: what for name, what in may.items() if what} == \
        {**dict.fromkeys(READ, "r"), **dict.fromkeys(WRITTEN, "rw")}


def as_before_the_group(near):
    """As an earlier bondd, or one that has found no group, has made them."""
    near.kill_bondd()
    for pin in (near.bpf_dir / "bond0").iterdir():
        shutil.chown(pin, "root", "root")
        pin.chmod(0o600)
    for each in (near.bpf_dir, near.bpf_dir / "bond0"):
        shutil.chown(each, "root", "root")
        each.chmod(0o700)
    near.start_bondd()


def without_a_map(near):
    """As an earlier bondd that did not have it."""
    near.kill_bondd()
    (near.bpf_dir / "bond0/afxdp").unlink()
    near.start_bondd()


@pytest.mark.parametrize("change", [
    as_before_the_group, without_a_map,
    lambda near: (near.bpf_dir / "bond0/vlans").unlink(),
    lambda near: shutil.rmtree(near.bpf_dir / "bond0"),
    lambda near: shutil.rmtree(near.bpf_dir),
], ids=["adopted", "upgraded", "a pin", "the bond's", "all"])
def test_the_rights_come_back(made, change):
    assert rights(made.near) == (READ, WRITTEN)
    change(made.near)
    wait_for(lambda: os.path.exists(made.near.bpf_dir / "bond0") and
             rights(made.near) == (READ, WRITTEN), "the rights to be there again")
    sender = Sender(made, before=as_user(GROUP))
    sender.flow_on(*made.links)


def test_without_the_group_they_end(made, tmp_path):
    """Its number may be that of another group by now."""
    near, groups = made.near, tmp_path / "group"
    near.stop_bondd()
    groups.write_text(re.sub(f"^{GROUP}:.*\n", "", pathlib.Path("/etc/group").read_text(),
                             flags=re.M))
    near.wrapper = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                    f'mount --bind {groups} /etc/group && exec "$@"', "sh"]
    near.start_bondd()
    for path in (near.bpf_dir, near.bpf_dir / "bond0", *(near.bpf_dir / "bond0").iterdir()):
        about = path.stat()
        assert not about.st_gid and not about.st_mode & 0o077, path


@pytest.fixture(name="pins")
def _pins(made):
    """A directory whose group may put sockets in."""
    where = made.near.bpf_dir.with_name(made.near.bpf_dir.name + "-pins")
    where.mkdir()
    shutil.chown(where, group=GROUP)
    where.chmod(0o2710)
    yield where
    shutil.rmtree(where)


def echo_on(made, pins):
    echo = Echo(made.near, made.far, before=as_user(GROUP), wanted=pins)
    echo.wait_answers()
    return echo


def test_an_ordinary_user_receives(made, pins):
    """What another process asks for, by the slaves that there are. All else is the bond's."""
    near, held = made.near, Pinned(made, pins)
    echo = echo_on(made, pins)
    echo.talk()
    near.wait_ping("10.0.0.2")
    near.ctl("del-slave", "bond0", "l2")
    wait_for(lambda: held.pins() == ["l0", "l1"], "the pin to go")
    echo.talk()
    near.ctl("add-slave", "bond0", "l2")
    wait_for(lambda: held.pins() == made.links, "the pin")
    made.far.wait_slaves(*made.links)
    echo.wait_answers()
    echo.talk()
    assert end(held.child, signal.SIGTERM) == 0
    assert not echo.filters()
    echo.close()


def test_a_receiver_follows_who_has_the_filter(made, pins):
    """That process is killed, so all is the bond's. Then another one begins, whose maps take the
    place of those that were left.
    """
    held = Pinned(made, pins)
    echo = echo_on(made, pins)
    held.child.kill()
    held.child.wait()
    wait_for(lambda: not echo.filters(), "the filters to go")
    held.child = held.hold()
    echo.wait_answers()
    echo.talk()
    assert end(held.child, signal.SIGTERM) == 0
    echo.close()


def test_what_a_receiver_lacks_is_said(made, pins):
    def refused(why):
        done = made.near.run(*as_user(GROUP), BUILD / "tools/echo", made.near.bpf_dir / "bond0",
                             pins, check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and why in done.stderr, done
    refused("cannot use l0, queue 0: options.sockets has no map for it")
    pins.chmod(0o710)
    held = Pinned(made, pins)
    refused("cannot use l0, queue 0: its map in options.sockets is not for this user")
    assert end(held.child, signal.SIGTERM) == 0


@pytest.mark.parametrize("port, pins, sockets, why", [
    (7, None, b"/nowhere", "the process that has the pins says"),
    (0, b"/nowhere", b"/nowhere", "the process that has the pins says"),
    (0, None, b"/" * 600, "options.sockets is too long"), (0, None, b"/nowhere", "no such bond")])
def test_options(port, pins, sockets, why):
    library, text = ctypes.CDLL(str(BUILD / "libxbond-xsk.so.0")), ctypes.create_string_buffer(256)
    texts = [each and ctypes.create_string_buffer(each) for each in (pins, sockets)]
    paths = [each and ctypes.addressof(each) or 0 for each in texts]
    options = struct.pack("@6IH50xPPP", 104, 0, 0, 0, 0, 0, port, paths[0], 0, paths[1])
    assert len(options) == 104
    assert library.xbond_xsk_open(ctypes.byref(ctypes.c_void_p()), b"/nowhere/bond0", options,
                                  text) < 0
    assert why in text.value.decode()
