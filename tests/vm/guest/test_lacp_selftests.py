"""What the selftests of Linux ask of bonding in 802.3ad, asked of xbond: a passive end,
lacp_strict, and who listens to the group of slow protocols. The partner is kernel bonding.
"""

import pytest

from lacp import SLOW_MAC, distributing, is_slow, ports
from partners import KernelBond
from traffic import Capture
from waiting import moments, quiet_for, wait_for

PEER = "bonding"
GROUP = SLOW_MAC.hex(":")
CARRIES = {"synchronization", "collecting", "distributing"}


@pytest.fixture
def made(setting):
    """Two cables, the kernel's bond at the far end, none here."""
    made = setting(2)
    made.partner = KernelBond(made)
    made.lab.partners.append(made.partner)
    made.partner.close = made.partner.stop
    made.cables = dict(zip(made.near.links, made.far.links))
    return made


def wait_states(made, carrying, carrier):
    """Until these ports, and no others, collect and distribute; the bond has a carrier, or none."""
    def right():
        states = {dev: set(port["actor_state"]) for dev, port in ports(made.near).items()}
        return all((CARRIES <= state) if dev in carrying
                   else not state & {"collecting", "distributing"} for dev, state in states.items())
    wait_for(right, f"{carrying} and no others to collect and distribute", 8)
    wait_for(lambda: made.near.show()["carrier"] == carrier, f"carrier {carrier}", 1)


def lacpdus(capture):
    return sum(is_slow(frame) for frame in capture.frames())


@pytest.mark.full
def test_a_passive_end(made, shows):
    with shows(PEER,
               "lacp_active off here: silent until the partner speaks, and after it has gone"):
        made.bond_alone("802.3ad", "lacp_rate", "fast", "lacp_active", "off")
        with Capture(made.far, "eth1") as one, Capture(made.far, "eth3") as other:
            quiet_for(20, "nobody may say a word of LACP")
            assert (lacpdus(one), lacpdus(other)) == (0, 0)
        assert all("activity" not in port["actor_state"] for port in ports(made.near).values())
        made.partner.start()
        wait_states(made, made.near.links, True)
        wait_for(lambda: made.partner.distributing() == made.far.links, "the partner to distribute")
        for _ in moments(10, interval=0.5):
            for port in made.partner.view().values():
                assert "activity" in port["actor"]["state"] and \
                    "activity" not in port["partner"]["state"]
                assert "expired" not in port["actor"]["state"] and \
                    "distributing" in port["actor"]["state"]
        # One port leaves at each end: each bond has one whose other end does not speak LACP any
        # more.
        made.far.ip("link", "set", "eth1", "nomaster")
        made.far.ip("link", "set", "eth1", "up")
        made.near.ctl("del-slave", "bond0", "eth2")
        made.near.ip("link", "set", "eth2", "up")
        wait_for(lambda: ports(made.near)["eth0"]["rx_state"] == "defaulted",
                 "the partner to be forgotten", 12)
        with Capture(made.far, "eth1") as ours, Capture(made.far, "eth3", outgoing=True) as theirs:
            quiet_for(35, "a periodic LACPDU at the slow rate is due every 30 s")
            here, there = lacpdus(ours), lacpdus(theirs)
        print(f"LACPDUs in 35 s: {here} of the passive end, {there} of the active one")
        assert here == 0 and there >= 1


@pytest.mark.full
def test_lacp_strict(made, shows):
    """Ports fail by cable or by silence; with min_links 1 the bond has a carrier while one port
    works. With all cables in place and no LACP, it has one with lacp_strict off only.
    """
    def cable(number, plugged):
        for nic in (2 * number, 2 * number + 1):
            made.nics.cable(nic, plugged)

    def losses(mode):
        for number, left in ((0, ["eth2"]), (1, [])):
            cable(number, False)
            wait_states(made, left, bool(left))
        for number, back in ((0, ["eth0"]), (1, ["eth0", "eth2"])):
            cable(number, True)
            wait_states(made, back, True)
        made.partner.silence(True, ["eth1"], deaf=True)
        wait_states(made, ["eth2"], True)
        made.partner.silence(True, ["eth3"], deaf=True)
        wait_states(made, [], mode == "off")

    def speaks_again():
        made.partner.silence(False, ["eth1"])
        wait_states(made, ["eth0"], True)
        made.partner.silence(False, ["eth3"])
        wait_states(made, ["eth0", "eth2"], True)
    with shows(PEER, "lacp_strict on and off: carrier with and without a partner"):
        made.partner.start(min_links="1")
        made.bond_alone("802.3ad", "lacp_rate", "fast", "min_links", 1, "xmit_hash_policy",
                        "layer3+4")
        wait_states(made, made.near.links, True)
        changes = made.near.carrier_changes("bond0")
        losses("off")
        assert made.near.carrier_changes("bond0") == changes + 2, \
            "once off and on, when both cables were cut"
        made.near.ctl("set", "bond0", "lacp_strict", "on")
        wait_states(made, [], False)
        made.near.ctl("set", "bond0", "lacp_strict", "off")
        wait_states(made, [], True)
        speaks_again()
        made.near.ctl("set", "bond0", "lacp_strict", "on")
        for _ in moments(2, interval=0.02):
            assert distributing(made.near) == made.near.links and made.near.show()["carrier"]
        losses("on")
        speaks_again()


def groups(namespace, dev):
    """Addresses in the device's filter, as bridge(8) tells them."""
    return {line.split()[0]
            for line in namespace.run("bridge", "fdb", "show", "dev", dev).stdout.splitlines()}


@pytest.mark.once
def test_addresses_on_the_slaves(made, shows):
    """The group is on slaves only, and leaves with the slave and with the bond; so do addresses of
    what is on top.
    """
    with shows(PEER, "addresses that a bond puts on its slaves go with it"):
        own, mcast = "02:00:00:12:34:56", "33:33:ff:78:9a:bc"
        before = {dev: groups(made.near, dev) for dev in made.near.links}
        made.partner.start()
        made.bond_alone("802.3ad", "lacp_rate", "fast")
        made.near.ip("link", "add", "mv0", "link", "bond0", "address", own, "up", "type", "macvlan")
        made.near.ip("addr", "add", "fe80::78:9abc/64", "dev", "bond0", "nodad")

        def listens(dev, *addresses):
            return set(addresses) <= groups(made.near, dev)
        for dev in made.near.links:
            wait_for(lambda dev=dev: listens(dev, GROUP), f"{dev} to listen to slow protocols")
            wait_for(lambda dev=dev: listens(dev, mcast), f"{dev} to listen to {mcast}")
            assert listens(dev, own) or made.near.link(dev)["promiscuity"], groups(made.near, dev)
        assert not listens("bond0", GROUP)
        # Bonding leaves the group while it is down; here a slave listens all its life, in every
        # mode.
        made.near.ip("link", "set", "bond0", "down")
        made.near.ip("link", "set", "bond0", "up")
        assert all(listens(dev, GROUP) for dev in made.near.links)
        made.near.ctl("del-slave", "bond0", "eth2")
        assert groups(made.near, "eth2") <= before["eth2"], groups(made.near, "eth2")
        made.near.kill_bondd()
        made.near.ip("link", "del", "bond0")
        assert listens("eth0", GROUP), "nobody is there to take it back"
        made.near.start_bondd()
        wait_for(lambda: not listens("eth0", GROUP), "eth0 to leave the group")
