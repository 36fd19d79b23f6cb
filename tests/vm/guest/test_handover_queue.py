"""Handovers that wait for each other, and rollbacks that wait for them."""
import json
import subprocess
import time

import pytest

from test_handover import is_kernels, kernel_bond
from waiting import wait_for

pytestmark = pytest.mark.full


def ask(near, method, **words):
    """Programs are slow to start here, so this starts none."""
    return near.request(json.dumps({"method": method, **words}).encode() + b"\n", timeout=120)


def order(near, verb, bond):
    return near.spawn(*near.ctl_command(verb, bond), stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE)


def ended(child):
    said = child.communicate(timeout=150)[1].decode()
    assert said.count("\n") <= 1, said
    return child.returncode, said


def test_two_bonds_and_one_of_them_twice(setting):
    """One after another, whatever the order in which they were asked for."""
    made = setting(3).switch()
    near = made.near
    kernel_bond(near, "balance-xor", slaves=near.links[:2])
    made.address(near, "bond0", 1)
    near.ip("link", "add", "bond1", "type", "bond", "mode", "active-backup", "miimon", "50")
    near.ip("link", "set", near.links[2], "down")
    near.ip("link", "set", near.links[2], "master", "bond1")
    near.ip("link", "set", "bond1", "up")
    near.wait_ping("10.0.0.2")
    for verb in ("takeover", "handback"):
        near.freeze_bondd()
        children = [order(near, verb, bond) for bond in ("bond0", "bond1", "bond0")]
        near.thaw_bondd()
        found = sorted(ended(child) for child in children)
        assert [status for status, _ in found] == [0, 0, 1], found
        assert "already" in found[2][1] or "has not ended yet" in found[2][1] or \
            "is not an xbond bond" in found[2][1]
        assert is_kernels(near) == (verb == "handback")
        assert near.ctl("list") == ("bond0\nbond1\n" if verb == "takeover" else "")
        assert not list((near.run_dir / "handover").iterdir())
        near.wait_ping("10.0.0.2")


def test_a_rollback_waits_for_a_handback(setting, all_nics):
    """bond1 has got a slave of bond0, and the time ends while it is handed back: only when that has
    failed both of them are what they were, for each alone would lose the slave.
    """
    made = setting(3).switch()
    near, slaves = made.near, made.near.links
    files = {"bond0": (slaves, slaves[:1]), "bond1": ([], slaves[1:])}

    def write(which):
        for bond, sets in files.items():
            (near.config_dir / f"{bond}.conf").write_text(
                "[bond]\nmode = 802.3ad\n" + "".join(f"[slave {name}]\n" for name in sets[which]))

    def have(bond, status=("up", "down")):
        view = ask(near, "show", bond=bond)["result"]["view"]
        return sorted(slave["name"] for slave in view["slaves"] if slave["mii_status"] in status)

    def up(bond):
        return have(bond, ("up",))
    write(0)
    near.ctl("load")
    wait_for(lambda: have("bond0") == slaves, "bond0's slaves", 15)
    near.ip("link", "set", "bond1", "up")
    write(1)
    found = ask(near, "apply", confirm=15)["result"]
    applied = time.monotonic()
    assert [each["changed"] for each in found] == [True, True], found
    wait_for(lambda: up("bond1") == slaves[1:], "bond1's links", 10)
    child = order(near, "handback", "bond1")
    wait_for((near.run_dir / "handover/bond1.json").exists, "the journal", 15)
    all_nics.cable(2, False)  # so that it fails, after a while
    all_nics.cable(4, False)
    said = ask(near, "rollback")
    assert "a takeover or handback of bond1 has not ended yet" in said["error"]
    wait_for(lambda: time.monotonic() > applied + 17, "the time to be over", 20)
    assert child.poll() is None and have("bond0") == slaves[:1]
    status, said = ended(child)
    assert status == 1 and "as it was" in said
    wait_for(lambda: not list(near.run_dir.glob("*.rollback")), "both to go back", 30)
    assert (have("bond0"), have("bond1")) == (slaves, [])
    assert "in part" not in near.log()
