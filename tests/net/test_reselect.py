"""Which slave of active-backup is active, or of balance-tlb and balance-alb: primary and
primary_reselect, prio, and active_slave by hand; over losses of link and returns, changes of speed,
and another bondd.
"""
import pytest

from lab import Refused
from tap import Tap
from waiting import wait_for

MODES = ["active-backup", "balance-tlb", "balance-alb"]  # that have an active slave
FAR = {"mode": "broadcast", "all_slaves_active": "on"}


def active(host):
    return host.show()["active_slave"]


def wait_active(host, name):
    wait_for(lambda: active(host) == name, f"{name} to be active, not {active(host)}")


def stays(host, name):
    """After all that bondd has heard of by now."""
    assert host.ping_bondd()
    assert active(host) == name


def set_carrier(made, link, works):
    made.near.ip("link", "set", link, "up" if works else "down")


def set_hearing(made, link, works):
    """The link loses what the far end sends, and no carrier."""
    if works:
        made.far.tc_del("filter", "del", "dev", link, "egress", "pref", "7")
        return
    made.far.run("tc", "qdisc", "add", "dev", link, "clsact", check=False)
    made.far.run("tc", "filter", "add", "dev", link, "egress", "pref", "7", "protocol", "all",
                 "bpf", "direct-action", "bytecode", "1,6 0 0 2,")


def cut(made, link, set_link=set_carrier):
    left = [name for name in made.near.carrier_slaves() if name != link]
    set_link(made, link, False)
    made.near.wait_slaves(*left)


def mend(made, link, set_link=set_carrier):
    names = [*made.near.carrier_slaves(), link]
    set_link(made, link, True)
    made.near.wait_slaves(*names)


def prefer(host, **prios):
    for name, prio in prios.items():
        host.ctl("set-slave", "bond0", name, "prio", prio)


@pytest.fixture
def trio(pair):
    """make(mode, OPTION=VALUE...): three slaves; near is active-backup or has this mode, and these
    options.
    """

    def make(mode="active-backup", **options):
        made = pair(mode, links=3, far=FAR)
        for option in options.items():
            made.near.ctl("set", "bond0", *option)
        return made
    return make


@pytest.mark.parametrize("policy", ["always", "better", "failure"])
@pytest.mark.parametrize("set_link, monitor", [
    (set_carrier, {}), (set_hearing, {"arp_ip_target": "10.0.0.2", "arp_interval": 100})],
    ids=["carrier", "arp"])
def test_prio_and_primary(trio, set_link, monitor, policy):
    """Step by step what the selftests of the kernel do (bond_options.sh, prio)."""
    made = trio(primary="l1", primary_reselect=policy, **monitor)
    near = made.near
    if monitor:
        wait_for(lambda: all(slave["monitors"].get("arp", {}).get("state") == "up"
                             for slave in near.show()["slaves"]), "the ARP monitor")
    prefer(near, l0=0, l1=10, l2=11)
    assert [slave["options"]["prio"] for slave in near.show()["slaves"]] == [0, 10, 11]
    stays(near, "l1")
    cut(made, "l1", set_link)
    stays(near, "l2")
    near.wait_ping("10.0.0.2")
    cut(made, "l2", set_link)
    stays(near, "l0")
    mend(made, "l2", set_link)
    returned = "l2" if policy == "always" else "l0"
    stays(near, returned)
    near.wait_ping("10.0.0.2")
    mend(made, "l1", set_link)
    stays(near, "l1" if policy == "always" else returned)
    if policy != "always":
        cut(made, returned, set_link)
        stays(near, "l1")
        return
    prefer(near, l0=1000000, l1=0, l2=-50)
    assert [slave["options"]["prio"] for slave in near.show()["slaves"]] == [1000000, 0, -50]
    stays(near, "l1")
    cut(made, "l1", set_link)
    stays(near, "l0")
    near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("policy", ["always", "better", "failure"])
def test_a_prio_that_is_set_chooses_at_once_by_the_policy(trio, policy):
    made = trio(primary_reselect=policy)
    stays(made.near, "l0")
    prefer(made.near, l2=5)
    stays(made.near, "l2" if policy == "always" else "l0")
    made.near.ctl("set", "bond0", "primary_reselect", "always")
    stays(made.near, "l2")
    prefer(made.near, l1=5)
    stays(made.near, "l2")


def test_better_compares_speed_and_duplex(lone):
    """Also when they change without any loss of link."""
    host = lone(links=0)
    taps = [Tap(host, "t0", 1000), Tap(host, "t1", 1000)]
    host.make_bond(["t0", "t1"], "mode", "active-backup", "primary_reselect", "better")
    host.ctl("set-slave", "bond0", "t1", "prio", 1)
    try:
        for at, speed, duplex, expected in ((1, 100, "full", "t0"), (0, 10, "full", "t1"),
                                            (0, 1000, "full", "t1"), (1, 10, "full", "t1"),
                                            (0, 10, "half", "t1")):
            taps[at].set_speed(speed, duplex)
            host.ip("link", "set", f"t{at}", "alias", f"{speed} {duplex}")  # the kernel tells
            wait_for(lambda at=at, new=(speed, duplex): seen_speed(host, at) == new,
                     "bondd to see it")
            stays(host, expected)
        host.ctl("set", "bond0", "active_slave", "t0")
        stays(host, "t0")
        host.ip("link", "set", "t1", "down")
        host.wait_slaves("t0")
        host.ip("link", "set", "t1", "up")
        host.wait_slaves("t0", "t1")
        wait_active(host, "t1")
        changes = host.log().count("active slave is t1")
        for speed, duplex, expected in ((5, "full", "t0"), (10, "full", "t1")):
            host.ip("link", "set", "t1", "down")
            wait_active(host, "t0")
            taps[1].set_speed(speed, duplex)
            host.ip("link", "set", "t1", "up")
            host.wait_slaves("t0", "t1")
            wait_for(lambda new=(speed, duplex): seen_speed(host, 1) == new, "bondd to ask")
            stays(host, expected)
            assert host.log().count("active slave is t1") == changes + (expected == "t1"), \
                "by its old speed"
    finally:
        for tap in taps:
            tap.close()


def seen_speed(host, at):
    slave = host.show()["slaves"][at]
    return slave["speed_mbps"], slave["duplex"]


@pytest.mark.parametrize("policy", ["better", "failure"])
def test_a_primary_is_used_when_it_is_named_and_when_it_is_added(trio, policy):
    """Whatever the policy; if it has no link then, when it gets it. Another bondd knows that."""
    made = trio(primary_reselect=policy)
    near = made.near
    near.ctl("set", "bond0", "primary", "l1")
    stays(near, "l1")
    cut(made, "l2")
    near.ctl("set", "bond0", "primary", "l2")
    stays(near, "l1")
    near.restart_bondd(kill=True)
    stays(near, "l1")
    mend(made, "l2")
    stays(near, "l2")
    near.ctl("del-slave", "bond0", "l2")
    stays(near, "l0")
    near.ctl("add-slave", "bond0", "l2")
    wait_active(near, "l2")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("policy", ["always", "better", "failure"])
def test_a_choice_by_hand(trio, policy, mode):
    """It stays, over another bondd, too, until a slave that is preferred comes up and the policy
    lets it take over.
    """
    made = trio(mode, primary="l0", primary_reselect=policy)
    near = made.near
    near.ctl("set", "bond0", "active_slave", "l1")
    stays(near, "l1")
    cut(made, "l2")
    mend(made, "l2")
    stays(near, "l1")
    near.restart_bondd(kill=True)
    near.ctl("set", "bond0", "miimon", 50)
    stays(near, "l1")
    cut(made, "l0")
    mend(made, "l0")
    stays(near, "l0" if policy == "always" else "l1")


def test_a_choice_by_hand_that_is_given_back(trio):
    made = trio(primary_reselect="failure")
    near = made.near
    prefer(near, l2=1)
    near.ctl("set", "bond0", "active_slave", "l1")
    stays(near, "l1")
    near.ctl("set", "bond0", "active_slave", "none")
    stays(near, "l2")


def test_downdelay_is_waited_for_unless_a_preferred_slave_comes_up(trio):
    made = trio(primary="l0", primary_reselect="failure")
    near = made.near
    cut(made, "l0")
    stays(near, "l1")
    near.ctl("set", "bond0", "downdelay", 60000)
    made.far.ip("link", "set", "l1", "down")
    wait_for(lambda: near.slave("l1")["mii_status"] == "going_down", "l1 to go down")
    stays(near, "l1")
    near.wait_ping("10.0.0.2")
    mend(made, "l0")
    stays(near, "l0")


def test_another_bondd_chooses_as_the_last(trio):
    """No slave has changed, so neither does the active one: the primary is up, and stands by."""
    made = trio(primary="l1", primary_reselect="failure")
    near = made.near
    cut(made, "l1")
    mend(made, "l1")
    stays(near, "l0")
    for stop in (near.stop_bondd, near.kill_bondd):
        stop()
        near.start_bondd()
        near.wait_slaves("l0", "l1", "l2")
        stays(near, "l0")
    near.stop_bondd()
    near.ip("link", "set", "l0", "down")
    near.start_bondd()
    wait_active(near, "l1")


def test_a_mode_that_chooses_no_slave(lone):
    host = lone()
    host.ctl("create", "bond0", "mode", "balance-xor", "primary_reselect", "better")
    with pytest.raises(Refused, match="prio: refused in mode balance-xor"):
        host.ctl("add-slave", "bond0", "l0", "prio", 1)
    assert "no effect" in host.ctl("show", "-d", "bond0")


def test_saved_and_made_from_the_file(trio):
    """One value under two names is saved once, and read by both."""
    made = trio(primary_reselect="failure", num_unsol_na=3)
    near = made.near
    prefer(near, l2=-7)
    near.ctl("save", "bond0")
    text = (near.config_dir / "bond0.conf").read_text()
    assert "num_grat_arp = 3" in text and "num_unsol_na" not in text and "prio = -7" in text
    near.ctl("delete", "bond0")
    near.restart_bondd()
    near.wait_slaves("l0", "l1", "l2")
    options = near.show()["options"]
    assert (options["num_grat_arp"], options["num_unsol_na"]) == (3, 3)
    assert options["primary_reselect"] == "failure"
    assert near.slave("l2")["options"]["prio"] == -7
