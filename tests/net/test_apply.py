# SPDX-License-Identifier: GPL-2.0-or-later
"""load, apply, confirm and rollback: running bonds become what their files say, and go back."""
import json
import os
import re
import shutil
import signal
import sys
import time

import pytest

import schema
from lab import ROOT, Refused, is_team, stable
from traffic import Stream, Tally
from waiting import wait_for

sys.path.insert(0, str(ROOT / "tests/cli"))
import broken  # noqa: E402  pylint: disable=wrong-import-position

CHANGED = 6
FIRST = """[bond]
mode = 802.3ad
lacp_rate = fast
lacp_fallback_delay = 100
max_links = 3
xmit_hash_policy = layer3+4
hash_seed = 7
[slave l0]
queue_id = 1
actor_port_prio = 9
[slave l1]
queue_id = 2
[slave away]
actor_port_prio = 4
"""
SECOND = """[bond]
mode = active-backup
min_links = 2
primary = l2
hash_seed = 8
path = direct
[slave l2]
prio = 3
queue_id = 1
[slave l1]
drain = on
"""


class Bonds:
    """A host with bondd and five links, and its configuration."""

    def __init__(self, host):
        self.host = host

    def write(self, text, bond="bond0", drop_in=None):
        path = self.host.config_dir / f"{bond}.conf"
        if drop_in:
            path = self.host.config_dir / f"{bond}.conf.d" / drop_in
            path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def apply(self, *words, verb="apply"):
        """The steps of one bond, as text."""
        found = schema.check("apply", json.loads(self.host.ctl("-j", verb, *words)))
        assert len(found) == 1 and found[0]["error"] is None
        return [step["text"] for step in found[0]["steps"]]

    def refusal(self, *words):
        with pytest.raises(Refused) as refused:
            self.host.ctl("apply", *words)
        assert refused.value.status == 1 and refused.value.text.count("\n") == 1
        return refused.value.text

    def awaited(self):
        return self.host.request(b'{"method": "show", "bond": "bond0"}\n')["result"]["awaited"]

    def state(self):
        """All that apply may change, and what it may not."""
        show = self.host.show()
        return show["options"] | {"active_slave": None}, self.awaited(), show["mac"], \
            [(slave["name"], slave["options"], slave["mac"]) for slave in show["slaves"]]

    def rollback_file(self):
        return self.host.run_dir / "bond0.rollback"


@pytest.fixture
def bonds(lone):
    return Bonds(lone(5))


def test_fewest_steps_in_their_order(bonds):
    host = bonds.host
    bonds.write(FIRST)
    assert bonds.apply("--dry-run", verb="load")[0].startswith("create bond0 mode 802.3ad")
    assert host.ctl("list") == ""
    done = host.ctl_try("load", "--changed-status", "bond0")
    assert done.returncode == CHANGED and done.stdout.endswith("add to bond0 when it appears: away "
                                                               "actor_port_prio 4\n")
    for verb in ("load", "apply"):
        done = host.ctl_try(verb, "--changed-status")
        assert (done.returncode, done.stdout) == (0, "bond0: nothing to do\n"), done.stderr
    host.ip("link", "set", "bond0", "up")
    host.wait_slaves("l0", "l1")
    wait_for(lambda: host.show()["carrier"], "lacp_fallback to give bond0 carrier")
    bonds.write(SECOND)
    assert host.ctl_try("load", "--changed-status").stdout == "bond0: nothing to do\n"
    steps = ["set-slave bond0 l0 queue_id 0",
             "set bond0 mode active-backup path direct xmit_hash_policy layer2 primary l2 "
             "hash_seed 8",
             "set-slave bond0 l1 drain on queue_id 0",
             "add-slave bond0 l2 queue_id 1 prio 3", "set bond0 min_links 2",
             "del-slave bond0 l0", "no longer add to bond0 when it appears: away"]
    assert [sorted(step.split()) for step in bonds.apply("--dry-run")] == \
        [sorted(step.split()) for step in steps]
    assert bonds.awaited() == ["away"]
    done = host.ctl_try("apply", "--changed-status")
    assert done.returncode == CHANGED and "bond0 keeps l0's MAC address" in done.stderr
    assert bonds.apply() == [] and bonds.awaited() == []
    assert host.slave_names() == ["l1", "l2"]
    host.wait_slaves("l1", "l2")
    assert "carrier off" not in host.log(), "carrier was lost on the way"
    # what the new mode does not have has stayed, and the defaults are back where it has them
    assert host.show()["options"]["lacp_rate"] == "fast"
    assert host.show()["options"]["xmit_hash_policy"] == "layer2"
    bonds.write("[bond]\nmiimon = 50\n[slave l3]\n", drop_in="50-more.conf")
    assert bonds.apply("bond0") == ["set bond0 miimon 50", "add-slave bond0 l3"]


def test_queue_ids_change_places(bonds):
    bonds.write("[bond]\n[slave l0]\nqueue_id = 1\n[slave l1]\nqueue_id = 2\n")
    bonds.apply()
    bonds.write("[bond]\n[slave l0]\nqueue_id = 2\n[slave l1]\nqueue_id = 1\n")
    bonds.apply()
    assert bonds.apply() == []
    numbers = [slave["options"]["queue_id"] for slave in bonds.host.show()["slaves"]]
    assert numbers == [2, 1]


def test_broken_configurations_change_nothing(bonds):
    host = bonds.host
    bonds.write(SECOND)
    bonds.apply()
    host.wait_slaves("l1", "l2")
    before, links = stable(host.show()), host.ip("-o", "link")
    for what, config, words in broken.BROKEN:
        broken.lay_out(config, host.config_dir)
        done = host.ctl_try("apply", "--confirm", "60")
        assert done.returncode == 1 and done.stderr.count("\n") == 1, what
        assert all(word in done.stderr for word in words), (what, done.stderr)
        assert f"{host.config_dir}/bond0.conf" in done.stderr
    assert host.ctl_try("confirm").returncode == 1 and not bonds.rollback_file().exists()
    assert stable(host.show()) == before and host.ip("-o", "link") == links


def other_kind(host):
    link = json.loads(host.ip("-j", "-d", "link", "show", "bond0"))[0]
    return "netkit" if link["linkinfo"]["info_kind"] == "veth" else "veth"


def test_what_is_refused(bonds):
    host = bonds.host
    bonds.write("[bond]\nmode = active-backup\n[slave l0]\n[slave l1]\n")
    bonds.apply()
    host.ip("addr", "add", "192.0.2.1/24", "dev", "l3")
    host.ctl("create", "bond1")
    host.ctl("add-slave", "bond1", "l4")
    before = bonds.state()
    for text, word in (("fail_over_mac = active\n[slave l0]\n", "--interrupt"),
                       (f"device = {other_kind(host)}\n", "device:"),
                       ("miimon = 50\n[slave l0]\n[slave l3]\n", "192.0.2.1"),
                       ("miimon = 50\n[slave l4]\n", "slave of bond1"),
                       ("[slave bond1]\n", "bonds do not nest"),
                       (f"[slave l0]\n[slave {host.slave('l0')['perm_mac']}]\n", "same device")):
        bonds.write("[bond]\nmode = active-backup\n" + text)
        assert word in bonds.refusal("--confirm", "9")
        assert bonds.state() == before and not bonds.rollback_file().exists()
    assert "No such file or directory; 'bondctl save bond7' writes it" in bonds.refusal("bond7")
    bonds.write("[bond]\n[slave l2]\n[slave l3]\n", bond="bond2")
    done = host.ctl_try("apply", "bond2")
    assert done.returncode == 0 and "192.0.2.1" in done.stderr and "tried again" in done.stderr
    assert "add-slave bond2 l2\nadd to bond2 when it appears: l3\n" in done.stdout
    host.ctl("delete", "bond2")
    (host.config_dir / "bond2.conf").unlink()
    done = host.ctl_try("--config-dir", "/nonexistent", "apply")
    assert done.returncode == 1 and "/nonexistent" in done.stderr
    assert f"'--config-dir {host.config_dir}'" in done.stderr
    blocked = host.run_dir / "bond0.rollback.new"
    blocked.mkdir()
    bonds.write("[bond]\nmode = active-backup\nmiimon = 50\n")
    for words in (("--confirm", "9"), ()):
        assert "nothing was changed" in bonds.refusal(*words)
        assert bonds.state() == before
    blocked.rmdir()
    if is_team():
        return  # it has no fail_over_mac
    bonds.write("[bond]\nmode = active-backup\nfail_over_mac = active\n[slave l0]\n[slave l2]\n")
    assert bonds.apply("--interrupt") == [
        "del-slave bond0 l0 l1", "set bond0 fail_over_mac active", "add-slave bond0 l0 l2"]
    assert bonds.apply() == []


def test_a_step_that_fails_is_undone(bonds):
    """A device that cannot have the bond's MTU is refused only when it is added."""
    host = bonds.host
    bonds.write("[bond]\n[slave l0]\n")
    bonds.apply()
    host.ip("link", "add", "narrow", "link", "l4", "type", "macvlan", "mode", "passthru")
    host.ip("link", "set", "bond0", "mtu", "4000")
    wait_for(lambda: "mtu 4000" in host.ip("link", "show", "l0"), "l0 to follow")
    before = bonds.state()
    bonds.write("[bond]\nmiimon = 50\n[slave l1]\n[slave narrow]\nweight = 3\n")
    for words in ((), ("--confirm", "60")):
        assert "narrow" in bonds.refusal(*words)
        assert bonds.state() == before and not bonds.rollback_file().exists()


def test_it_goes_back(bonds):
    host = bonds.host
    bonds.write(FIRST)
    bonds.apply()
    host.ctl("set", "bond0", "miimon", "70")
    before = bonds.state()
    bonds.write(SECOND)
    for ending in ("rollback", "time", "again"):
        done = host.ctl("apply", "--confirm", "1" if ending == "time" else "60")
        assert "unless 'bondctl confirm bond0'" in done
        if ending == "again":
            bonds.write(SECOND + "[slave l3]\n")
            assert "in 60 s" in bonds.refusal() or "s unless" in bonds.refusal()
            assert bonds.apply(verb="load") == []
            host.ctl("apply", "--confirm", "1")
        elif ending == "rollback":
            assert bonds.state() != before and bonds.rollback_file().exists()
            assert host.ctl("rollback") == "bond0: went back\n"
        wait_for(lambda: not bonds.rollback_file().exists(), "bond0 to go back")
        assert bonds.state() == before, ending
        assert host.ctl_try("confirm", "bond0").returncode == 1
    host.ctl("apply", "--confirm", "60")
    assert 30 < int(re.search(r"will be rolled back in (\d+) s", host.ctl("show"))[1]) <= 60
    assert host.ctl("confirm") == "bond0: confirmed\n" and "goes back" not in host.ctl("show")
    assert not bonds.rollback_file().exists() and bonds.apply() == []
    assert host.ctl_try("rollback").returncode == 1
    # a bond that was made goes, and one that is deleted is forgotten
    bonds.write("[bond]\n", bond="bond1")
    host.ctl("apply", "bond1", "--confirm", "60")
    host.ctl("rollback", "bond1")
    assert host.ctl("list") == "bond0\n"
    for delete in (("ctl", "delete"), ("ip", "link", "del")):
        host.ctl("apply", "bond1", "--confirm", "60")
        getattr(host, delete[0])(*delete[1:], "bond1")
        wait_for(lambda: host.ctl("list") == "bond0\n", "bond1 to go")
        assert host.ctl_try("confirm").returncode == 1


def test_a_slave_goes_back_with_what_its_mode_does_not_have(bonds):
    host = bonds.host
    bonds.write(FIRST)
    bonds.apply()
    host.ctl("set", "bond0", "mode", "active-backup")
    before = bonds.state()
    assert host.slave("l0")["options"]["actor_port_prio"] == 9
    bonds.write("[bond]\nmode = broadcast\n[slave l1]\n")
    bonds.apply("--confirm", "60")
    assert not host.slave("l0")
    host.ctl("rollback")
    assert bonds.state() == before


@pytest.mark.parametrize("name", [b"l\xe9", "l\u00e9".encode(), b"\xff\xfe\x80"])
@pytest.mark.parametrize("restart", [False, True], ids=["goes on", "dies"])
def test_a_slave_whose_name_is_no_text_goes_back(bonds, name, restart):
    """Any bytes may be the name of a device. JSON, in which it is kept, takes UTF-8 only."""
    host = bonds.host
    is_text = name.decode(errors="replace").encode() == name
    odd = name.decode() if is_text else "".join(chr(byte) if byte < 128 else "?" for byte in name)

    def shown():
        return host.slave(odd) and host.show()["options"]["primary"] == odd
    bonds.write("[bond]\nmode = active-backup\nprimary = l1\n[slave l0]\n[slave l1]\n")
    bonds.apply()
    host.rename("l1", os.fsdecode(name))
    wait_for(shown, "bondd to follow the name")
    bonds.write("[bond]\nmode = broadcast\n[slave l0]\n")
    host.ctl("apply", "--confirm", "60")
    assert not shown()
    if restart:
        host.restart_bondd(kill=True)
    assert host.ctl("rollback") == "bond0: went back\n"
    assert shown(), host.log()


@pytest.mark.parametrize("how", ["time", "rollback", "confirm"])
def test_a_bond_whose_name_is_no_text_goes_back(bonds, how):
    host, name = bonds.host, os.fsdecode(b"b\xe9")
    bonds.write("[bond]\nmode = active-backup\n", bond=name)
    host.ctl("apply")
    bonds.write("[bond]\nmode = broadcast\n", bond=name)
    host.ctl("apply", "--confirm", "1" if how == "time" else "60")
    assert host.show(name)["mode"] == "broadcast"
    if how != "time":
        said = {"rollback": "went back", "confirm": "confirmed"}[how]
        assert host.ctl(how) == f"b?: {said}\n"
    mode = "broadcast" if how == "confirm" else "active-backup"
    wait_for(lambda: host.show(name)["mode"] == mode, "the bond to go back")


def test_each_apply_has_its_own_time(bonds):
    """Half a second apart, and the second one comes before the first has ended."""
    host = bonds.host
    for bond in ("bond0", "bond1"):
        bonds.write("[bond]\n", bond=bond)
        host.ctl("apply", bond)
        bonds.write("[bond]\nmiimon = 50\n", bond=bond)
    host.ctl("apply", "bond0", "--confirm", "1")
    first = time.monotonic()
    wait_for(lambda: time.monotonic() > first + 0.5, "half of its time")
    second = time.monotonic()
    host.ctl("apply", "bond1", "--confirm", "1")
    for bond, began in (("bond0", 0), ("bond1", second)):
        wait_for(lambda bond=bond: not (host.run_dir / f"{bond}.rollback").exists(), bond)
        assert time.monotonic() >= began + 1, f"{bond} went back early"
        assert host.show(bond)["options"]["miimon"] == 100


def test_a_bond_that_is_renamed_goes_back(bonds):
    host = bonds.host
    bonds.write(FIRST)
    bonds.apply()
    bonds.write(SECOND)
    host.ctl("apply", "--confirm", "60")
    host.ip("link", "set", "bond0", "name", "bond7")
    wait_for(lambda: host.ctl("list") == "bond7\n", "the new name")
    wait_for((host.run_dir / "bond7.rollback").exists, "the record to follow")
    assert not bonds.rollback_file().exists()
    host.restart_bondd(kill=True)
    assert host.ctl("rollback") == "bond7: went back\n"
    assert host.show("bond7")["options"]["mode"] == "802.3ad"


@pytest.mark.parametrize("step", ["plan-first-step", "plan-later-step", "rollback-done"])
def test_bondd_dies(bonds, step):
    """On the way there, and on the way back: the next bondd goes back."""
    host = bonds.host
    bonds.write(FIRST)
    bonds.apply()
    before = bonds.state()
    with host.dying_at(step):
        bonds.write(SECOND)
        host.ctl_try("apply", "--confirm", "60")
        if step == "rollback-done":
            host.ctl_try("rollback")
    host.start_bondd()
    if step != "rollback-done":
        assert bonds.rollback_file().exists()
        host.ctl("rollback")
    wait_for(lambda: not bonds.rollback_file().exists(), "bond0 to go back")
    assert bonds.state() == before
    if step != "rollback-done":
        with host.dying_at(step):
            before = bonds.state()
            assert host.ctl_try("apply").returncode == 3
        host.start_bondd()
        assert not bonds.rollback_file().exists() and bonds.state() == before
        assert bonds.apply() and bonds.apply() == []


def test_time_goes_on_without_bondd(bonds):
    host = bonds.host
    bonds.write(FIRST)
    bonds.apply()
    before = bonds.state()
    bonds.write(SECOND)
    host.ctl("apply", "--confirm", "60")
    host.kill_bondd()
    saved = json.loads(bonds.rollback_file().read_text())
    saved["at_us"] = 1  # long ago
    bonds.rollback_file().write_text(json.dumps(saved))
    for bond, text in (("bond8", "{}"), ("bond9", '{"at_us": 5, "snapshot": {"existed": true, '
                                                  '"options": [], "slaves": 7}}')):
        (host.run_dir / f"{bond}.rollback").write_text(text)
    host.start_bondd()
    wait_for(lambda: not list(host.run_dir.glob("*.rollback")), "bond0 to go back")
    assert bonds.state() == before and host.ctl("list") == "bond0\n"
    assert "bond8.rollback: cannot be read" in host.log()
    assert "bond9: cannot be rolled back" in host.log()


def test_the_record_comes_back_with_its_directory(bonds):
    bonds.write(FIRST)
    bonds.apply()
    before = bonds.state()
    bonds.write(SECOND)
    bonds.host.ctl("apply", "--confirm", "60")
    shutil.rmtree(bonds.host.run_dir)
    wait_for(bonds.rollback_file().exists, "the record to be back")
    bonds.host.restart_bondd(kill=True)
    bonds.host.ctl("rollback")
    assert bonds.state() == before


def test_hangup_and_a_slave_that_moves(bonds):
    host = bonds.host
    bonds.write("[bond]\n[slave l0]\n")
    bonds.write("[bond]\n[slave l1]\n[slave l2]\n", bond="bond1")
    host.ctl("load")
    bonds.write("[bond]\n[slave l0]\n[slave l1]\n")
    bonds.write("[bond]\n[slave l2]\n", bond="bond1")
    assert host.ctl("apply", "--dry-run").splitlines() == [
        "add-slave bond0 l1", "bond0: not done, because of --dry-run",
        "del-slave bond1 l1", "bond1: not done, because of --dry-run"]
    bonds.write("[bond]\nmode = 77\n", bond="bond2")
    host.bondd.send_signal(signal.SIGHUP)
    wait_for(lambda: host.slave_names() == ["l0", "l1"],
             "bond0 to get l1")
    assert host.ping_bondd() and "bond2.conf:2: mode" in host.log()
    done = host.ctl_try("-j", "apply", "--changed-status")
    assert done.returncode == 1 and "bond2.conf:2" in done.stderr
    assert [each["changed"] for each in json.loads(done.stdout)] == [False, False, False]


def slaves_of(host, *names):
    return [host.slave_names(name) for name in names]


def write_each(bonds, *slaves):
    for number, words in enumerate(slaves):
        bonds.write("[bond]\n" + "".join(f"[slave {slave}]\n" for slave in words.split()),
                    bond=f"bond{number}")


def load_two(bonds):
    """bond0 with l0, bond1 with l1 and l2: their names and slaves."""
    names, before = ("bond0", "bond1"), [["l0"], ["l1", "l2"]]
    write_each(bonds, "l0", "l1 l2")
    bonds.host.ctl("load")
    wait_for(lambda: slaves_of(bonds.host, *names) == before, "the slaves")
    return names, before


def test_bonds_that_want_a_slave_of_each_other_are_refused(bonds):
    """With the files of a first apply one of them gives its slave up."""
    host = bonds.host
    names, before = load_two(bonds)
    write_each(bonds, "l1", "l0 l2")
    for words in (("--dry-run",), ("--confirm", "60"), ()):
        done = host.ctl_try("-j", "apply", *words)
        found = schema.check("apply", json.loads(done.stdout))
        assert done.returncode == 1 and not any(each["changed"] for each in found)
        assert "l1 is a slave of bond1 already" in found[0]["error"]
        assert "l0 is a slave of bond0 already" in found[1]["error"]
        assert slaves_of(host, *names) == before and not list(host.run_dir.glob("*.rollback"))
    write_each(bonds, "l0", "l2")
    host.ctl("apply")
    write_each(bonds, "l1", "l0 l2")
    host.ctl("apply")
    assert slaves_of(host, *names) == [["l1"], ["l0", "l2"]]


@pytest.mark.parametrize("step", ["plan-first-step", "plan-later-step"])
def test_bondd_dies_while_a_slave_moves(bonds, step):
    """One has given it up: the next bondd gives it back."""
    host = bonds.host
    names, before = load_two(bonds)
    write_each(bonds, "l0 l1", "l2")
    bonds.write("[bond]\nmiimon = 50\n[slave l2]\n", bond="bond1")
    with host.dying_at(step):
        assert host.ctl_try("apply").returncode == 3
    assert [path.name for path in host.run_dir.glob("*.rollback")] == ["bond1.rollback"]
    host.start_bondd()
    assert slaves_of(host, *names) == before and host.show("bond1")["options"]["miimon"] == 100
    assert not list(host.run_dir.glob("*.rollback"))
    done = json.loads(host.ctl("-j", "apply"))
    assert [each["error"] for each in done] == [None] * 2
    assert slaves_of(host, *names) == [["l0", "l1"], ["l2"]]
    host.restart_bondd(kill=True)
    assert slaves_of(host, *names) == [["l0", "l1"], ["l2"]]


@pytest.mark.skipif(is_team(), reason="a team has no fail_over_mac")
def test_bondd_dies_while_the_slaves_are_away(bonds):
    """For a moment --interrupt leaves the bond without slaves."""
    host = bonds.host
    bonds.write("[bond]\nmode = active-backup\n[slave l0]\n[slave l1]\n")
    bonds.apply()
    host.wait_slaves("l0", "l1")
    before = bonds.state()
    bonds.write("[bond]\nmode = active-backup\nfail_over_mac = active\n[slave l0]\n[slave l1]\n")
    with host.dying_at("plan-first-step"):
        assert host.ctl_try("apply", "--interrupt").returncode == 3
    host.start_bondd()
    assert bonds.state() == before and "bondd ended during 'apply', which is undone" in host.log()
    assert bonds.apply("--interrupt") and bonds.apply() == []


def test_what_was_not_finished_may_make_no_sense(bonds):
    """Another boot's, another network namespace's, or damaged: the bond stays as it is."""
    host, unfinished = bonds.host, bonds.rollback_file()
    bonds.write("[bond]\n[slave l0]\n")
    host.ctl("load")
    wait_for(lambda: slaves_of(host, "bond0") == [["l0"]], "the slave")
    bonds.write("[bond]\n")
    with host.dying_at("plan-first-step"):
        host.ctl_try("apply")
    good = json.loads(unfinished.read_text())
    assert good["at_us"] == 0
    for text in (json.dumps({**good, "boot_id": "x"}), "{", "[]",
                 json.dumps({**good, "netns_cookie": good["netns_cookie"] + 1}),
                 json.dumps({**good, "snapshot": {**good["snapshot"], "slaves": 7}})):
        unfinished.write_text(text)
        (host.run_dir / "bond7.rollback").write_text(json.dumps(good))
        host.start_bondd()
        assert slaves_of(host, "bond0") == [[]], text
        assert not list(host.run_dir.glob("*.rollback")), text
        host.stop_bondd()
    assert "bond0: cannot be rolled back: it is damaged" in host.log()
    unfinished.write_text(json.dumps(good))
    host.start_bondd()
    assert slaves_of(host, "bond0") == [["l0"]]


def move_one(bonds, seconds):
    """A slave moves to another bond, to be confirmed: the bonds, and their slaves before."""
    names, before = load_two(bonds)
    write_each(bonds, "l0 l1", "l2")
    bonds.host.ctl("apply", "--confirm", str(seconds))
    return names, before


def test_those_between_which_a_slave_moved_go_back_together(bonds):
    """Also if the time of one ends earlier, as when a slave takes long to be added."""
    host = bonds.host
    names, before = move_one(bonds, 60)
    done = host.ctl_try("rollback", "bond1")
    assert done.returncode == 1 and "without a name" in done.stderr
    assert done.stderr.count("\n") == 1
    assert slaves_of(host, *names) == [["l0", "l1"], ["l2"]] and bonds.rollback_file().exists()
    bonds.write("[bond]\nmiimon = 50\n[slave l2]\n", bond="bond1")
    host.ctl("apply", "bond1", "--confirm", "1")
    wait_for(lambda: not list(host.run_dir.glob("*.rollback")), "both to go back")
    assert slaves_of(host, *names) == before


@pytest.mark.parametrize("step", ["plan-first-step", "rollback-done"])
def test_bondd_dies_while_bonds_go_back(bonds, step):
    """One has given its slave back, or is what it was: the next bondd does the rest at once, not
    when the time is over.
    """
    host = bonds.host
    names, before = move_one(bonds, 600)
    with host.dying_at(step):
        assert host.ctl_try("rollback").returncode == 3
    host.start_bondd()
    wait_for(lambda: not list(host.run_dir.glob("*.rollback")), "both to go back")
    assert slaves_of(host, *names) == before and "in part" not in host.log()


def test_a_bond_gets_back_what_a_new_one_had(bonds):
    """The new one, which comes first by its name, is deleted before."""
    host = bonds.host
    bonds.write("[bond]\n[slave l0]\n[slave l1]\n", bond="bond1")
    host.ctl("load")
    wait_for(lambda: slaves_of(host, "bond1") == [["l0", "l1"]], "the slaves")
    bonds.write("[bond]\n[slave l1]\n")
    for ending in ("rollback", "time"):
        bonds.write("[bond]\n[slave l0]\n", bond="bond1")
        host.ctl("apply", "--confirm", "60")
        wait_for(lambda: slaves_of(host, "bond0", "bond1") == [["l1"], ["l0"]], "l1 to move")
        if ending == "rollback":
            host.ctl("rollback")
        else:
            bonds.write("[bond]\nmiimon = 50\n[slave l0]\n", bond="bond1")
            host.ctl("apply", "bond1", "--confirm", "1")
        wait_for(lambda: host.ctl("list") == "bond1\n", "bond0 to go")
        wait_for(lambda: slaves_of(host, "bond1") == [["l0", "l1"]], "l1 to come back")
        wait_for(lambda: not list(host.run_dir.glob("*.rollback")), "nothing to go back to")


def test_a_bond_that_gets_no_slave_back_keeps_one(bonds):
    """Somebody gave its only slave to another bond meanwhile: it is not left without any."""
    host = bonds.host
    bonds.write("[bond]\nmiimon = 50\n[slave l0]\n")
    bonds.write("[bond]\n", bond="bond1")
    host.ctl("apply")
    bonds.write("[bond]\n[slave l2]\n")
    bonds.apply("bond0", "--confirm", "60")
    host.ctl("add-slave", "bond1", "l0")
    done = host.ctl_try("rollback", "bond0")
    assert done.returncode == 1 and "l0 is a slave of bond1 already" in done.stderr
    assert host.slave_names() == ["l2"]
    assert host.show()["options"]["miimon"] == 50
    assert "rolled back only in part, and keeps its present slaves" in host.log()


def test_two_that_wait_swap_their_names(bonds):
    """bondd stands still while they do, so each has the other's name when it looks."""
    host = bonds.host
    for number in (0, 1):
        bonds.write(f"[bond]\nmiimon = {50 + number}\n", bond=f"bond{number}")
    host.ctl("load")
    for number in (0, 1):
        bonds.write(f"[bond]\nmiimon = {70 + number}\n", bond=f"bond{number}")
    host.ctl("apply", "--confirm", "60")
    host.bondd.send_signal(signal.SIGSTOP)
    for name, new in (("bond0", "meanwhile"), ("bond1", "bond0"), ("meanwhile", "bond1")):
        host.ip("link", "set", name, "name", new)
    host.bondd.send_signal(signal.SIGCONT)
    wait_for(lambda: host.show("bond1")["options"]["miimon"] == 70, "bondd to follow")
    wait_for(lambda: host.show("bond0")["options"]["miimon"] == 71, "bondd to follow")
    assert host.ping_bondd(), "the pins come first, the records of the rollback afterwards"
    host.restart_bondd(kill=True)
    host.ctl("rollback")
    assert [host.show(f"bond{number}")["options"]["miimon"] for number in (0, 1)] == [51, 50]


def test_slaves_by_mac(bonds):
    host = bonds.host
    mac = json.loads(host.ip("-j", "link", "show", "l1"))[0]["address"]
    bonds.write(f"[bond]\nmode = active-backup\n[slave l0]\n[slave {mac}]\nprio = 5\n"
                "[slave 02:00:5e:00:00:77]\nprio = 6\n")
    host.ctl("load")
    wait_for(lambda: len(host.show()["slaves"]) == 2, "l1 to be added")
    assert bonds.awaited() == host.show()["awaited"] == ["02:00:5e:00:00:77"]
    assert bonds.apply() == []
    # renamed while it is a slave
    host.ip("link", "set", "l1", "down")
    host.ip("link", "set", "l1", "name", "lan1")
    wait_for(lambda: host.slave("lan1"), "bondd to hear of the new name")
    assert bonds.apply() == []
    host.ctl("save", "bond0")
    saved = (host.config_dir / "bond0.conf").read_text()
    assert f"[slave {mac}]\nprio = 5" in saved and "[slave 02:00:5e:00:00:77]\nprio = 6" in saved
    assert bonds.apply() == []
    # gone, and back under another name; and one that was never there
    host.ip("link", "del", "lan1")
    wait_for(lambda: sorted(bonds.awaited()) == sorted([mac, "02:00:5e:00:00:77"]), "lan1 to go")
    assert bonds.apply() == []
    host.restart_bondd()
    for name, address in (("new1", mac), ("new2", "02:00:5e:00:00:77")):
        host.ip("link", "add", name, "address", address, "type", "veth", "peer", "name",
                f"{name}p")
    wait_for(lambda: host.slave("new1") and host.slave("new2"), "both to be added")
    assert host.slave("new1")["options"]["prio"] == 5
    assert bonds.apply() == [] and bonds.awaited() == []
    host.ctl("del-slave", "bond0", "new2")
    host.ip("link", "del", "new2")
    assert bonds.apply() == ["add to bond0 when it appears: 02:00:5e:00:00:77 prio 6"]
    host.ctl("del-slave", "bond0", "02:00:5e:00:00:77")
    assert bonds.awaited() == []


def test_two_devices_with_one_address(bonds):
    host = bonds.host
    mac = host.link("l3")["address"]
    host.ip("link", "set", "l2", "address", mac)
    bonds.write("[bond]\n[slave l0]\n")
    bonds.apply()
    before = bonds.state()
    bonds.write(f"[bond]\n[slave {mac}]\n[slave l0]\n")
    assert f"several devices have the address {mac}" in bonds.refusal()
    assert bonds.state() == before
    host.ctl("delete", "bond0")
    host.ctl("load")
    wait_for(lambda: f"slave {mac}: several devices have" in host.log(), "the log to say why")
    assert host.slave_names() == ["l0"]
    host.ip("link", "set", "l2", "address", "02:00:00:00:00:77")
    wait_for(lambda: host.slave("l3"), "the only one to be added", deadline=10)
    assert host.log().count("several devices have") == 2  # the refusal, and why it was awaited
    assert bonds.apply() == []


def test_a_slave_by_mac_leaves_another_bond(bonds):
    """A veth has no permanent address: what it had before it became a slave is its own."""
    host = bonds.host
    mac = host.link("l1")["address"]
    bonds.write("[bond]\n[slave l0]\n[slave l1]\n", bond="bond1")
    host.ctl("load")
    bonds.write("[bond]\n")
    host.ctl("load")
    bonds.write(f"[bond]\n[slave {mac.upper()}]\n")
    assert "l1 is a slave of bond1 already" in bonds.refusal("bond0")
    bonds.write("[bond]\n[slave l0]\n", bond="bond1")
    assert "add-slave bond0 l1" in host.ctl("apply", "--dry-run")
    assert host.ctl_try("apply", "--changed-status").returncode == CHANGED
    assert host.slave_names() == ["l1"]
    done = host.ctl_try("apply", "--changed-status")
    assert (done.returncode, done.stdout) == (0, "bond0: nothing to do\nbond1: nothing to do\n")


def test_packets_flow_meanwhile(pair):
    """Slaves are exchanged and options change under a stream: nothing that is sent is lost. What
    counts is what arrives: the far end's bond drops it as long as its bondd has not seen the link.
    """
    made = pair("balance-rr", links=4)
    near = made.near
    bonds = Bonds(near)
    near.ctl("del-slave", "bond0", "l2", "l3")
    tally = Tally(made.far, made.links)
    with_stream = Stream(near, made.far, rate=5000)
    with_stream.flow_on(500)
    for text in ("[bond]\n[slave l2]\n[slave l3]\n", "[bond]\nmode = active-backup\n[slave l3]\n",
                 "[bond]\nmode = balance-xor\nmin_links = 2\n[slave l0]\n[slave l1]\n"):
        bonds.write(text)
        assert bonds.apply() and bonds.apply() == []
        with_stream.flow_on(500)
    result = with_stream.finish()
    assert tally.finish() == result["sent"], result
