# SPDX-License-Identifier: GPL-2.0-or-later
"""Troubles of who changes a bond's settings, or what it is made of."""
import subprocess

import pytest

from namespace import kernel_makes
from waiting import quiet_for

OPTIONS = {"xmit_hash_policy": ["layer2", "layer3+4", "flow"], "miimon": [10, 100],
           "packets_per_slave": [1, 5], "rebalance_interval": [0, 1], "resend_igmp": [0, 3],
           "symmetric": ["on", "off"], "min_links": [0, 1], "num_grat_arp": [0, 3],
           "lacp_rate": ["slow", "fast"], "drain_markers": ["on", "off"],
           "primary_reselect": ["always", "better", "failure"], "lp_interval": [1, 5],
           "tlb_dynamic_lb": [0, 1], "path": ["counted", "direct"]}
# What another tool's file says of bond0 with this mode, miimon and these slaves.
FOREIGN = {
    "ifupdown": "auto bond0\niface bond0 inet manual\n bond-mode {}\n bond-miimon {}\n"
                " bond-slaves {}\n",
    "netplan": "network: {{bonds: {{bond0: {{parameters: {{mode: {}, mii-monitor-interval: {}}},\n"
               "  interfaces: [{}]}}}}}}\n",
    "nmstate": "interfaces: [{{name: bond0, type: bond, state: up, link-aggregation:\n"
               "  {{mode: {}, options: {{miimon: {}}}, port: [{}]}}}}]\n"}
DEVICES = ["veth", *(kind for kind in ("netkit", "team") if kernel_makes(kind))]


def may_be_refused(life, end, *words):
    """With one line, or by the tests, which know what a team lacks."""
    try:
        done = life.hosts[end].ctl_try(*words)
    except pytest.skip.Exception as skipped:
        life.note(*words, "at", end, skipped)
        return
    life.note(*words, "at", end, done.stderr.strip())
    assert done.returncode in (0, 1) and done.stderr.count("\n") == done.returncode, done


def set_option(life):
    option = life.chance.choice(list(OPTIONS))
    value = life.chance.choice(OPTIONS[option])
    may_be_refused(life, life.chance.randrange(2), "set", "bond0", option, value)
    return False


def choose(life):
    """Another slave is to be used; what is on its way to the last one may be lost."""
    end, link = life.chance.randrange(2), life.chance.choice(sorted(life.members))
    option = life.chance.choice(["primary", "active_slave"])
    may_be_refused(life, end, "set", "bond0", option, life.names[end][link])
    return True


def drain(life):
    end, link = life.chance.randrange(2), life.chance.choice(sorted(life.members))
    host, name = life.hosts[end], life.names[end][link]
    was_active = host.show()["active_slave"] == name
    life.note("drain", link, "at", end, "and back", "(active)" if was_active else "")
    for value in ("on", "off"):
        host.ctl("set-slave", "bond0", name, "drain", value)
    return was_active or host.show()["active_slave"] == name  # others must learn of the next


def set_down_and_up(life):
    end = life.chance.randrange(2)
    life.note("bond0 down and up at", end)
    for state in ("down", "up"):
        life.hosts[end].ip("link", "set", "bond0", state)
    return True


def apply_and_roll_back(life):
    end = life.chance.randrange(2)
    host = life.hosts[end]
    life.note("apply --confirm, rollback at", end)
    host.ctl("save", "bond0")
    host.ctl("set", "bond0", "updelay", 100)
    host.ctl("apply", "bond0", "--confirm", 60)
    host.ctl("rollback", "bond0")
    assert host.show()["options"]["updelay"] == 100
    host.ctl("set", "bond0", "updelay", 0)
    (host.config_dir / "bond0.conf").unlink()
    return False


def import_and_apply(life):
    """What the file does not say becomes as usual, unless that is taken back."""
    end, tool = life.chance.randrange(2), life.chance.choice(list(FOREIGN))
    verb, host = life.chance.choice(["confirm", "rollback"]), life.hosts[end]
    slaves = [life.names[end][link] for link in sorted(life.members)]
    life.note("import", tool, "file, apply --confirm,", verb, "at", end)
    before, foreign = host.show(), host.dir / "foreign"
    miimon = 50 if before["options"]["miimon"] == 20 else 20
    foreign.write_text(FOREIGN[tool].format(
        life.mode, miimon, (" " if tool == "ifupdown" else ", ").join(slaves)))
    host.ctl("import", tool, "--write", foreign)
    host.ctl("apply", "bond0", "--confirm", 60)
    assert host.show()["options"]["miimon"] == miimon
    host.ctl(verb, "bond0")
    (host.config_dir / "bond0.conf").unlink()
    after = host.show()
    assert verb == "confirm" or after["options"] == before["options"], (before, after)
    return after["active_slave"] != before["active_slave"]


def another_device(life, host):
    """Of another kind, if the kernel has several."""
    kinds = [kind for kind in DEVICES if kind != host.show()["device"]]
    return "set", "bond0", "device", life.chance.choice(kinds or DEVICES)


def convert(life):
    end = life.chance.randrange(2)
    may_be_refused(life, end, *another_device(life, life.hosts[end]))
    return True


def kill_while_it_converts(life):
    end, seconds = life.chance.randrange(2), life.chance.random() / 2
    host = life.hosts[end]
    words = another_device(life, host)
    converts = host.spawn(*host.ctl_command(*words), stderr=subprocess.DEVNULL)
    quiet_for(seconds, "a conversion under way has no sign that can be waited for")
    host.restart_bondd(kill=True)
    life.note(*words, "kill -9 and start at", end, "after", f"{seconds:.3f} s")
    converts.wait()
    assert host.ctl("list").split() == ["bond0"]
    return True


TROUBLES = [set_option, set_option, choose, drain, set_down_and_up, apply_and_roll_back,
            import_and_apply, import_and_apply, convert, kill_while_it_converts]
