"""takeover and handback of bonds of other kinds (one slave, a team, other modes), and with a
partner that changes its mind in their midst.
"""
import json
import subprocess

import pytest

from junk import Floods
from lab import Refused
from lacp import ACTIVITY, AGGREGATION, COLLECTING, DISTRIBUTING, SYNC, TIMEOUT, lacpdu, pdu_info
from namespace import end
from partners import KernelBond
from test_handover import is_kernels, kernel_bond, note, picture, traffic, undo_each
from waiting import wait_for

pytestmark = pytest.mark.full
NAMES = ("bond0",)


def with_switch(setting, pairs, mode):
    made = setting(pairs).switch()
    kernel_bond(made.near, mode)
    made.address(made.near, "bond0", 1)
    made.near.wait_ping("10.0.0.2")
    return made


def with_partner(setting):
    """802.3ad, with bonding as the partner, which is made.partner."""
    made = setting(2)
    made.partner = KernelBond(made).start()
    made.lab.partners.append(made.partner)
    made.partner.close = made.partner.stop
    kernel_bond(made.near, "802.3ad", "lacp_rate", "fast")
    made.address(made.near, "bond0", 1)
    wait_both_ports(made)
    return made


def wait_both_ports(made):
    wait_for(lambda: len(made.partner.distributing()) == 2, "the partner to distribute", 30)
    made.near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("mode", ("active-backup", "balance-xor"))
def test_one_slave(setting, mode):
    """The old bond is empty before the new one has its name. Then the kernel gives it another
    address, and so forgets its neighbours.
    """
    made = with_switch(setting, 1, mode)
    near = made.near
    near.ip("neigh", "add", "10.0.0.77", "lladdr", "02:00:00:00:00:77", "dev", "bond0")
    before = picture(near, NAMES)
    undo_each(made, "takeover", ("moved", "configured", "all-moved"), NAMES)
    for verb in ("takeover", "handback"):
        with traffic(made) as silences:
            near.ctl(verb, "bond0")
        note(f"{mode}, one slave, {verb}", silences)
        assert is_kernels(near) == (verb == "handback")
        assert picture(near, NAMES) == before
        near.wait_ping("10.0.0.2")


def test_team(setting):
    """It says nothing of its mode; a handback makes a bond of it."""
    made = setting(2).switch()
    near = made.near
    for name in near.links:
        near.ip("link", "set", name, "down")
    config = {"device": "bond0", "runner": {"name": "activebackup"},
              "link_watch": {"name": "ethtool"}, "ports": {name: {} for name in near.links}}
    teamd = near.spawn("teamd", "-t", "bond0", "-c", json.dumps(config), stdin=subprocess.DEVNULL)
    try:
        wait_for(lambda: near.exists("bond0") and
                 all(near.link(name).get("master") == "bond0" for name in near.links),
                 "teamd to add its ports", 15)
        near.ip("link", "set", "bond0", "up")
        made.address(near, "bond0", 1)
        near.wait_ping("10.0.0.2")
        before = picture(near, NAMES)
        with pytest.raises(Refused, match="only teamd knows how bond0 works; add 'mode MODE'"):
            near.ctl("takeover", "bond0")
        assert picture(near, NAMES) == before
        with traffic(made) as silences:
            near.ctl("takeover", "bond0", "mode", "active-backup")
        note("team takeover", silences)
        near.wait_slaves(*near.links)
        near.wait_ping("10.0.0.2")
        assert picture(near, NAMES) == before
        near.ctl("handback", "bond0")
        assert is_kernels(near) and picture(near, NAMES) == before
        near.wait_ping("10.0.0.2")
    finally:
        end(teamd)


BALANCING = {
    "balance-tlb": ("tlb_dynamic_lb", "0", "xmit_hash_policy", "layer3+4"),
    "balance-alb": ("updelay", "200"),
}


def own_macs(near):
    """What distinguishes slaves that have addresses of their own, whichever has the bond's."""
    return sorted(near.link(dev)["address"] for dev in near.links)


def bond_data(near):
    """As the kernel has it; without what it is about now."""
    data = near.link("bond0")["linkinfo"]["info_data"]
    return {key: value for key, value in data.items() if key != "active_slave"}


@pytest.mark.parametrize("mode", ("active-backup", "balance-xor"))
@pytest.mark.parametrize("is_unplugged", (False, True))
def test_a_slave_that_is_down(setting, mode, is_unplugged):
    """Nobody waits for it; it stays down, and is used as soon as it is up."""
    made = with_switch(setting, 2, mode)
    near, slave = made.near, made.near.links[0]

    def set_link(is_up):
        if is_unplugged:
            made.nics.cable(int(slave.removeprefix("eth")), is_up)
        else:
            near.ip("link", "set", slave, "up" if is_up else "down")
        wait_for(lambda: ("LOWER_UP" in near.link(slave)["flags"]) == is_up, "the link's state")

    for verb in ("takeover", "handback"):
        set_link(False)
        near.wait_ping("10.0.0.2")
        with traffic(made) as silences:
            near.ctl(verb, "bond0")
        note(f"{mode}, a slave {'unplugged' if is_unplugged else 'down'}, {verb}", silences)
        assert is_kernels(near) == (verb == "handback")
        assert "LOWER_UP" not in near.link(slave)["flags"]
        near.wait_ping("10.0.0.2")
        set_link(True)
        if verb == "takeover":
            near.wait_slaves(*near.links)
        else:
            wait_for(lambda: near.link(slave)["linkinfo"]["info_slave_data"]["mii_status"] == "UP",
                     "the slave to be used")
        near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("mode", BALANCING)
@pytest.mark.parametrize("primary", ("eth0", "eth2"))
def test_modes_that_balance(setting, mode, primary):
    """The active slave has the bond's address and moves last; both ends use it afterwards."""
    made = setting(2).switch()
    near = made.near
    kernel_bond(near, mode, "lp_interval", "7", "primary", primary, "primary_reselect", "failure",
                *BALANCING[mode])
    near.ip("link", "set", "eth0", "type", "bond_slave", "prio", "3")
    made.address(near, "bond0", 1)
    near.wait_ping("10.0.0.2")
    wait_for(lambda: near.link("bond0")["linkinfo"]["info_data"].get("active_slave") == primary,
             "the primary")
    before, macs, data = picture(near, NAMES), own_macs(near), bond_data(near)
    with traffic(made) as silences:
        near.ctl("takeover", "bond0")
    note(f"{mode}, primary {primary}, takeover", silences)
    show = near.show()
    assert show["mode"] == mode and picture(near, NAMES) == before
    wanted = {"lp_interval": 7, "primary": primary, "primary_reselect": "failure"}
    wanted |= {"tlb_dynamic_lb": False, "xmit_hash_policy": "layer3+4"} \
        if mode == "balance-tlb" else {"updelay": 200}
    assert {key: show["options"][key] for key in wanted} == wanted
    assert near.slave("eth0")["options"]["prio"] == 3
    near.wait_slaves(*near.links)
    wait_for(lambda: near.show()["active_slave"] == primary, "the primary")
    assert near.link(primary)["address"] == show["mac"] and len(set(own_macs(near))) == 2
    near.wait_ping("10.0.0.2")
    made.far.wait_ping("10.0.0.1")
    with traffic(made) as silences:
        near.ctl("handback", "bond0")
    note(f"{mode}, primary {primary}, handback", silences)
    assert is_kernels(near) and picture(near, NAMES) == before
    assert (own_macs(near), bond_data(near)) == (macs, data)
    assert near.link("eth0")["linkinfo"]["info_slave_data"]["prio"] == 3
    near.wait_ping("10.0.0.2")
    made.far.wait_ping("10.0.0.1")


@pytest.mark.parametrize("mode", ("balance-rr", "balance-xor", "broadcast", *BALANCING))
def test_undo_in_other_modes(setting, mode):
    made = with_switch(setting, 2, mode)
    for verb in ("takeover", "handback"):
        undo_each(made, verb, ("moved", "configured", "all-moved"), NAMES)


def test_undo_with_a_partner(setting):
    made = with_partner(setting)
    for verb in ("takeover", "handback"):
        undo_each(made, verb, ("moved", "all-moved"), NAMES, lambda: wait_both_ports(made))


def under_way(near, verb):
    """It has begun, and bondd serves: programs are slow to start here, so this starts no other."""
    child = near.spawn(*near.ctl_command(verb, "bond0"), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    wait_for((near.run_dir / "handover/bond0.json").exists, "the journal", 15)
    return child


@pytest.mark.parametrize("verb", ("takeover", "handback"))
def test_bondd_serves_others_meanwhile(setting, verb):
    """Requests about another bond do not wait for a port of this one, which nobody may change. That
    port hears its partner when all has been asked.
    """
    made = with_partner(setting)
    near = made.near
    if verb == "handback":
        near.ctl("takeover", "bond0")
        wait_both_ports(made)
    near.ctl("create", "bond1", "mode", "active-backup")

    def ask(method, bond, **words):
        words = {"method": method, "bond": bond, **words}
        return near.request(json.dumps(words).encode() + b"\n", timeout=60)
    delay = {"options": {"updelay": "100"}}
    (near.config_dir / "bond0.conf").write_text("[bond]\nmode = 802.3ad\nmiimon = 70\n")
    first = made.partner.links[:1]
    made.partner.silence(True, first)
    child = under_way(near, verb)
    assert ask("set", "bond1", **delay)["ok"]
    assert ask("show", "bond1")["result"]["view"]["options"]["updelay"] == 100
    for name in ("n0-bond0", "bond0") if verb == "takeover" else ("bond0",):
        for method in ("set", "delete", "takeover", "handback", "policy"):
            said = ask(method, name, **(delay if method in ("set", "takeover") else {}))
            assert "has not ended yet; try again" in said["error"]
    said = ask("apply", "bond0")["result"]
    assert "has not ended yet; try again" in said[0]["error"] and not said[0]["changed"]
    assert (near.run_dir / "handover/bond0.json").exists(), "the port is still waited for"
    made.partner.silence(False, first)
    assert ended_somehow(made, child)
    wait_both_ports(made)
    near.ctl("delete", "bond1")


@pytest.mark.parametrize("verb", ("takeover", "handback"))
@pytest.mark.parametrize("has_switched", (False, True))
def test_bondd_stops_in_its_midst(setting, verb, has_switched):
    """Before the change over it is undone, and after it finished, by the bondd that stops."""
    made = with_partner(setting)
    near = made.near
    if verb == "handback":
        near.ctl("takeover", "bond0")
        wait_both_ports(made)
    before, said = picture(near, NAMES), len(near.log())
    child = under_way(near, verb)
    if has_switched:
        wait_for(lambda: "is now called" in near.log()[said:], "the names to change over", 30)
    near.stop_bondd()
    assert ended_somehow(made, child) == has_switched
    assert is_kernels(near) == (has_switched == (verb == "handback"))
    near.start_bondd()
    assert picture(near, NAMES) == before
    wait_both_ports(made)


def begun(near, verb):
    """It runs, and the new bond is there."""
    child = near.spawn(*near.ctl_command(verb, "bond0"), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    wait_for(lambda: near.exists("n0-bond0"), "the new bond", 15)
    return child


def ended_somehow(made, child):
    """Done, or undone in one line; nothing in between is left. Returns whether it was done."""
    near = made.near
    said = child.communicate(timeout=150)[1].decode()
    assert child.returncode == 0 or (said.count("\n") == 1 and "as it was" in said), said
    assert not list((near.run_dir / "handover").iterdir())
    assert not [name for name in near.devices() if name[0] in "no"]
    return child.returncode == 0


@pytest.mark.parametrize("verb", ("takeover", "handback"))
def test_another_partner_in_its_midst(setting, verb):
    """The partner is another system with another key from then on."""
    made = with_partner(setting)
    if verb == "handback":
        made.near.ctl("takeover", "bond0")
        wait_both_ports(made)
    child = begun(made.near, verb)
    made.partner.start(mac="02:00:00:00:07:77", ad_user_port_key=9)
    done = ended_somehow(made, child)
    assert is_kernels(made.near) == (done == (verb == "handback"))
    wait_both_ports(made)
    assert {end["partner"]["system"] for end in made.partner.view().values()} == \
        {made.near.link("bond0")["address"]}


@pytest.mark.parametrize("verb", ("takeover", "handback"))
def test_forged_lacpdus_in_its_midst(setting, verb):
    """Of a system that is another on each link, 20 a second beside the partner's own."""
    made = with_partner(setting)
    if verb == "handback":
        made.near.ctl("takeover", "bond0")
        wait_both_ports(made)
    state = ACTIVITY | TIMEOUT | AGGREGATION | SYNC | COLLECTING | DISTRIBUTING
    frames = {dev: lacpdu(pdu_info(f"02:00:00:00:66:0{number}", number + 1, key=number + 6,
                                   state=state))
              for number, dev in enumerate(made.far.links)}
    child = begun(made.near, verb)
    floods = Floods(made.far, frames, 40, rate=20)
    done = ended_somehow(made, child)
    for flood in floods.children:
        end(flood)
    assert is_kernels(made.near) == (done == (verb == "handback"))
    wait_both_ports(made)
