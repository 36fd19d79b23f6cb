"""A device that leads back to the bond, by whatever is between, is refused as its slave: frames
would go round for ever.
"""
import pytest

from lab import is_team
from waiting import wait_for


def on(host, name, lower, kind="macvlan", *words):
    done = host.run("ip", "link", "add", name, "link", lower, "type", kind, *words, check=False)
    if "Unknown device type" in done.stderr or "not supported" in done.stderr:
        pytest.skip(f"this kernel has no {kind} devices")
    assert done.returncode == 0, done.stderr
    return name


def bonds(host, count):
    names = [f"bond{number}" for number in range(count)]
    for name in names:
        host.ctl("create", name, "mode", "broadcast")
        host.ip("link", "set", name, "up")
    return names


def refused(host, bond, dev, way):
    before = host.slave_names(bond)
    done = host.ctl_try("add-slave", bond, dev)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"{dev} leads back to {bond} ({way})" in done.stderr, done.stderr
    assert host.slave_names(bond) == before


KINDS = [("macvlan", ()), ("ipvlan", ("mode", "l2")), ("vlan", ("id", 5))]


@pytest.mark.parametrize("kind,words", KINDS,
                         ids=lambda value: value if isinstance(value, str) else None)
def test_two_bonds_on_each_other(lone, kind, words):
    if is_team() and kind == "ipvlan":
        pytest.skip("a team takes no ipvlan as a port")
    host = lone()
    bonds(host, 2)
    on(host, "up0", "bond0", kind, *words)
    host.ctl("add-slave", "bond1", "up0")
    on(host, "up1", "bond1", kind, *words)
    refused(host, "bond0", "up1", "up1 on bond1 on up0 on bond0")
    refused(host, "bond0", on(host, "own", "bond0"), "own on bond0")


def test_a_long_way(lone):
    """Longer than the kernel stacks devices, for it knows nothing of slaves here."""
    if is_team():
        pytest.skip("the kernel knows a team's ports, and stacks no more devices than eight")
    host = lone(links=0)
    names = bonds(host, 12)
    for lower, upper in zip(names, names[1:]):
        host.ctl("add-slave", upper, on(host, f"on-{lower}", lower))
    on(host, "on-bond11", "bond11")
    way = " on ".join(f"on-{name} on {name}" for name in reversed(names))
    refused(host, "bond0", "on-bond11", way)


def test_by_the_port_of_a_bridge(lone):
    host = lone(links=0)
    bonds(host, 2)
    host.ctl("add-slave", "bond1", on(host, "up0", "bond0"))
    host.ip("link", "add", "br0", "type", "bridge")
    host.ip("link", "set", "bond1", "master", "br0")
    refused(host, "bond0", "br0", "br0 on bond1 on up0 on bond0")


@pytest.mark.parametrize("port", ["bond0", "on0"])
@pytest.mark.parametrize("restart", [False, True], ids=["alive", "restart"])
def test_a_slave_that_is_made_to_lead_back(lone, port, restart):
    """The kernel, which refuses this for a bond of its own, does not know that br0 is a slave."""
    if is_team():
        pytest.skip("the kernel knows a team's ports")
    host = lone()
    host.ctl("create", "bond0", "mode", "broadcast")  # and down: nothing goes round yet
    host.ip("link", "add", "br0", "type", "bridge")
    host.ctl("add-slave", "bond0", "l0", "br0")
    if port != "bond0":
        on(host, port, "bond0")
    if restart:
        host.kill_bondd()
    host.ip("link", "set", port, "master", "br0")
    if restart:
        host.start_bondd()
    wait_for(lambda: host.slave_names() == ["l0"], "br0 to be released")
    assert f"br0 leads back to bond0 (br0 on {port}{' on bond0' * (port != 'bond0')})" in host.log()


def test_by_a_bond_in_another_namespace(lone):
    """Its slaves are here, and so is what stood on it before."""
    host = lone(links=1)
    bonds(host, 2)
    on(host, "up0", "bond0")
    host.ctl("add-slave", "bond1", on(host, "up01", "bond0"))
    on(host, "up1", "bond1")
    for name in ("bond0", "bond1"):
        host.ip("link", "set", name, "netns", host.far.name)
    wait_for(lambda: host.log().count("was moved to another namespace") == 2, "bondd to see it")
    refused(host, "bond0", "up0", "up0 on bond0")
    refused(host, "bond0", "up1", "up1 on bond1 on up01 on bond0")


def test_what_leads_to_another_bond_only(lone):
    host = lone()
    bonds(host, 3)
    host.ctl("add-slave", "bond0", "l0")
    host.ctl("add-slave", "bond2", "l1", on(host, "up0", "bond0"))
    host.ctl("add-slave", "bond1", on(host, "up2", "bond2"))
    assert host.slave_names("bond1") == ["up2"]
