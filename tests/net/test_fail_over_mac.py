"""fail_over_mac: who has which MAC address after each failover, on the devices and on the wire, and
after a bondd that dies between two of them.
"""
import pytest

from lab import Refused, is_team
from test_announce import ARP, above, is_announcement
from test_mac import USER_MAC, mac
from traffic import Capture, send_packets
from waiting import wait_for

FAR = {"mode": "broadcast", "all_slaves_active": "on", "fail_over_mac": "none"}
STEPS = ["mac-swap-begun", "mac-swap-recorded", "mac-swap-half"]


def start_announced(made, link, address):
    """Starts a bondd, which announces the failover to link that another one has left."""
    with Capture(made.far, link) as wire:
        made.near.start_bondd()
        heard = []
        wait_for(lambda: heard.extend(wire.frames()) or any(
            is_announcement(frame) for frame in heard), "the announcement")
    assert {frame.src for frame in heard if is_announcement(frame)} == {address}


def macs(host):
    """Of the slaves, by name; as the devices have them, which is as `show` says."""
    shown = {}

    def is_right():
        shown.update({slave["name"]: slave["mac"] for slave in host.show()["slaves"]})
        return shown == {name: mac(host, name) for name in shown}
    wait_for(is_right, "show to be right")
    return shown


def owns(host):
    return {slave["name"]: slave["perm_mac"] for slave in host.show()["slaves"]}


def fail_over(made, link):
    """By loss of link, so to the lowest that is left; or by hand, if another is asked for."""
    made.near.ctl("set", "bond0", "active_slave", link)
    wait_for(lambda: made.near.show()["active_slave"] == link, f"{link} to be active")


def sources(made, link, count=20):
    """Source addresses of what the far end of link hears of some packets."""
    with Capture(made.far, link) as wire:
        wire.frames()
        send_packets(made.near, count=count)
        return {frame.src for frame in wire.frames(0.1) if frame.numbers()}


def told(frames):
    """(VLAN or 0, source) of each ARP request of an address of ours for itself."""
    return [(frame.vlan or 0, frame.src) for frame in frames
            if frame.type == ARP and frame.data[28:32] == frame.data[38:42]]


def settled(made, expected):
    """Until bond0 has the address."""
    wait_for(lambda: mac(made.near) == expected == made.near.show()["mac"],
             f"bond0 to have {expected}")


@pytest.fixture
def trio(pair):
    return lambda policy, **options: pair("active-backup", links=3, far=FAR, fail_over_mac=policy,
                                          **options)


def test_none(trio):
    """All have bond0's, which stays."""
    made = trio("none")
    address = mac(made.near)
    for link in ("l1", "l2", "l0"):
        fail_over(made, link)
        assert sources(made, link) == {address}
        assert set(macs(made.near).values()) == {address} == {mac(made.near)}


def test_active(trio):
    """Slaves keep theirs; bond0 has that of the active one, and announces it."""
    made = trio("active", path="direct")
    near, own = made.near, {link: mac(made.near, link) for link in made.links}
    assert len(set(own.values())) == 3
    for link in ("l1", "l2", "l0"):
        with Capture(made.far, link) as wire:
            fail_over(made, link)
            settled(made, own[link])
            heard = []
            wait_for(lambda wire=wire, heard=heard: heard.extend(wire.frames()) or any(
                is_announcement(frame) for frame in heard), "the announcement")
            told = [frame for frame in heard if is_announcement(frame)]
            assert {frame.src for frame in told} == {own[link]}
            assert all(frame.data[22:28].hex(":") == own[link] for frame in told)
        assert macs(near) == own
        assert sources(made, link) == {own[link]}
        near.wait_ping("10.0.0.2")
        made.far.wait_ping("10.0.0.1")
    near.ctl("del-slave", "bond0", "l0")
    wait_for(lambda: mac(near) in (own["l1"], own["l2"]), "bond0 to have another's")
    assert mac(near, "l0") == own["l0"]
    near.ctl("delete", "bond0")
    assert {link: mac(near, link) for link in made.links} == own


def test_active_after_a_loss_of_link(trio):
    made = trio("active")
    own = {link: mac(made.near, link) for link in made.links}
    made.far.ip("link", "set", "l0", "down")
    made.near.wait_slaves("l1", "l2")
    settled(made, own["l1"])
    made.near.wait_ping("10.0.0.2")


def test_follow(trio):
    """bond0's stays; the new active slave gets it, and the old one has the other's."""
    made = trio("follow")
    near, address = made.near, mac(made.near)
    before = macs(near)
    assert before["l0"] == address and len(set(before.values())) == 3
    for link, last in (("l1", "l0"), ("l2", "l1"), ("l0", "l2"), ("l2", "l0")):
        fail_over(made, link)
        expected = {**before, link: address, last: before[link]}
        wait_for(lambda expected=expected: macs(near) == expected, f"{expected}")
        assert mac(near) == address == near.show()["mac"]
        assert sources(made, link) == {address}
        near.wait_ping("10.0.0.2")
        made.far.wait_ping("10.0.0.1")
        before = expected


def test_follow_gives_everybody_his_own_back(trio):
    """Also if another has it by then."""
    made = trio("follow")
    near, own = made.near, owns(made.near)
    address = mac(near)
    for link in ("l1", "l2"):
        fail_over(made, link)
    wait_for(lambda: macs(near) == {"l0": own["l1"], "l1": own["l2"], "l2": address}, "two swaps")
    near.ctl("del-slave", "bond0", "l1")
    assert mac(near, "l1") == own["l1"]
    assert len({*macs(near).values(), own["l1"]}) == 3 and macs(near)["l2"] == address
    near.ctl("del-slave", "bond0", "l2")
    assert mac(near, "l2") == own["l2"]
    wait_for(lambda: macs(near) == {"l0": address}, "the last one to have bond0's")
    near.ctl("delete", "bond0")
    assert {link: mac(near, link) for link in made.links} == own


def test_follow_with_slaves_of_one_address(lone):
    """As after a bond that has let them go: the second gets another, until it leaves."""
    host = lone(links=3)
    host.ip("link", "set", "l1", "address", mac(host, "l0"))
    host.ip("link", "set", "l2", "address", mac(host, "l0"))
    address = mac(host, "l0")
    host.ctl("create", "bond0", "mode", "active-backup", "fail_over_mac", "follow")
    host.ctl("add-slave", "bond0", *host.links)
    assert mac(host) == address == macs(host)["l0"] and len(set(macs(host).values())) == 3
    host.ctl("delete", "bond0")
    assert {mac(host, link) for link in host.links} == {address}


def swap_and_die(near, step, link):
    with near.dying_at(step):
        near.run(*near.ctl_command("set", "bond0", "active_slave", link), check=False)


def test_follow_is_finished_by_the_next_bondd(trio):
    """And announced."""
    made = trio("follow")
    near, address = made.near, mac(made.near)
    for turn, step in enumerate(STEPS):
        before, last, link = macs(near), f"l{turn % 3}", f"l{(turn + 1) % 3}"
        swap_and_die(near, step, link)
        assert sources(made, link) == {address}
        start_announced(made, link, address)
        assert near.show()["active_slave"] == link
        assert macs(near) == {**before, last: before[link], link: address}
        assert mac(near) == address


def test_follow_when_another_slave_is_active_by_then(trio):
    """No two slaves have one address, and the active one has bond0's."""
    made = trio("follow")
    near, address = made.near, mac(made.near)
    for turn, step in enumerate(STEPS):
        last, link, other = (f"l{(turn + further) % 3}" for further in range(3))
        fail_over(made, last)
        wait_for(lambda last=last: macs(near)[last] == address, "the bond to be at rest")
        swap_and_die(near, step, link)
        for each in (last, link):
            near.ip("link", "set", each, "down")
        near.start_bondd()
        near.wait_slaves(other)
        wait_for(lambda other=other: macs(near)[other] == address, f"{other} to have bond0's")
        assert len(set(macs(near).values())) == 3
        for each in (last, link):
            near.ip("link", "set", each, "up")
        near.wait_slaves(*made.links)


def test_a_bondd_that_dies_while_a_slave_leaves(trio):
    made = trio("follow")
    near, own = made.near, owns(made.near)
    fail_over(made, "l1")
    fail_over(made, "l2")
    wait_for(lambda: macs(near)["l2"] == mac(near), "the swap")
    with near.dying_at("mac-swap-leaving"):
        near.run(*near.ctl_command("del-slave", "bond0", "l1"), check=False)
    near.start_bondd()
    assert mac(near, "l1") == own["l1"]
    assert len({*macs(near).values(), own["l1"]}) == 3


def test_active_is_finished_by_the_next_bondd(trio):
    made = trio("active")
    near, own = made.near, owns(made.near)
    for step, link in (("failover-published", "l2"), ("bond-mac-set", "l1")):
        swap_and_die(near, step, link)
        start_announced(made, link, own[link])
        settled(made, own[link])
    near.kill_bondd()
    near.ctl("set", "bond0", "active_slave", "l2")
    assert sources(made, "l2") == {own["l1"]}, "the old one, until bondd is back"
    near.start_bondd()
    settled(made, own["l2"])
    assert macs(near) == own


@pytest.mark.parametrize("policy", ["active", "follow"])
def test_the_detour_of_a_dead_bondd(trio, policy):
    """It sends with bond0's address as it is, which is the old active slave's."""
    made = trio(policy)
    near, address = made.near, mac(made.near)
    near.kill_bondd()
    near.ctl("set", "bond0", "active_slave", "l2")
    assert sources(made, "l2") == {address}
    assert mac(near) == address != mac(near, "l2")


def test_active_with_filters(trio):
    """mac_policy filter: the backups receive for bond0's address of now, and of no other."""
    made = trio("active", mac_policy="filter")
    near, own = made.near, owns(made.near)

    def filters(link):
        return {word for word in near.run("bridge", "fdb", "show", "dev", link).stdout.split()
                if word in own.values()} - {own[link]}

    for link in ("l1", "l2", "l0"):
        fail_over(made, link)
        settled(made, own[link])
        wait_for(lambda link=link: [filters(each) for each in made.links] ==
                 [set() if each == link else {own[link]} for each in made.links], "the filters")
        assert macs(near) == own


def test_an_address_by_hand(trio):
    """active: it is put back; follow: bond0 and the active slave have it."""
    made = trio("active")
    near, own = made.near, owns(made.near)
    near.ip("link", "set", "bond0", "address", USER_MAC)
    wait_for(lambda: "is put back" in near.log(), "bondd to see it")
    settled(made, own["l0"])
    near.ip("link", "set", "l1", "address", USER_MAC)
    wait_for(lambda: mac(near, "l1") == own["l1"], "bondd to put that back, too")


def test_an_address_by_hand_with_follow(trio):
    made = trio("follow")
    near, own = made.near, owns(made.near)
    near.ip("link", "set", "bond0", "address", USER_MAC)
    settled(made, USER_MAC)
    wait_for(lambda: macs(near) == {**own, "l0": USER_MAC}, "l0 to have it")
    near.ip("link", "set", "bond0", "address", own["l1"])
    settled(made, own["l1"])
    wait_for(lambda: macs(near)["l0"] == own["l1"] and len(set(macs(near).values())) == 3,
             "l1 to have another")


@pytest.mark.parametrize("policy", ["active", "follow"])
def test_another_mode_and_back(trio, policy):
    """Other modes have one address on all slaves."""
    made = trio(policy)
    near, own = made.near, owns(made.near)
    fail_over(made, "l1")
    wait_for(lambda: macs(near)["l1"] == mac(near), "l1 and bond0 to have one address")
    address = mac(near)
    near.ctl("set", "bond0", "mode", "balance-xor")
    assert set(macs(near).values()) == {address} == {mac(near)}
    assert "fail_over_mac" in near.ctl("show", "-d", "bond0")
    near.ctl("set", "bond0", "mode", "active-backup")
    wait_for(lambda: len(set(macs(near).values())) == 3 and
             macs(near)[near.show()["active_slave"]] == mac(near), "their own again")
    near.ctl("delete", "bond0")
    assert {link: mac(near, link) for link in made.links} == own


@pytest.mark.parametrize("policy", ["active", "follow"])
def test_bond0_elsewhere(trio, policy):
    made = trio(policy)
    near, there = made.near, made.lab.namespace("c")
    own, address = owns(near), mac(near)
    near.ip("link", "set", "bond0", "netns", there.name)
    there.ip("link", "set", "bond0", "up")
    there.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
    wait_for(lambda: "moved to another namespace" in near.log(), "bondd to see it")
    wait_for(lambda: len(near.carrier_slaves()) == 3, "the slaves")
    fail_over(made, "l1")
    expected = own["l1"] if policy == "active" else address
    wait_for(lambda: mac(there) == expected == macs(near)["l1"], "the addresses")
    there.wait_ping("10.0.0.2")
    made.far.wait_ping("10.0.0.1")


def test_a_macvlan_keeps_its_own(trio):
    made = trio("active")
    above(made.near, "u0", "type", "macvlan", "mode", "bridge", address="10.0.7.1/24")
    made.far.ip("addr", "add", "10.0.7.2/24", "dev", "bond0")
    address = mac(made.near, "u0")
    fail_over(made, "l2")
    settled(made, mac(made.near, "l2"))
    made.near.wait_ping("10.0.7.2", dev="u0")
    made.far.wait_ping("10.0.7.1")
    assert mac(made.near, "u0") == address


@pytest.mark.parametrize("policy", ["active", "follow"])
def test_a_vlan_has_what_bond0_has(trio, policy):
    """The kernel sees to that, unless it was given one of its own; both are announced."""
    made = trio(policy, num_grat_arp=2, peer_notif_delay=10, resend_igmp=3)
    near = made.near
    for vlan in (5, 6):
        above(near, f"bond0.{vlan}", "type", "vlan", "id", str(vlan), address=f"10.0.{vlan}.1/24")
    above(made.far, "bond0.5", "type", "vlan", "id", "5", address="10.0.5.2/24")
    near.ip("link", "set", "bond0.6", "address", USER_MAC)
    own = mac(near, "l1") if policy == "active" else mac(near)
    with Capture(made.far, "l1") as wire:
        fail_over(made, "l1")
        settled(made, own)
        wait_for(lambda: mac(near, "bond0.5") == own, "the VLAN to follow")
        heard = []
        wait_for(lambda: heard.extend(wire.frames()) or len(told(heard)) >= 6, "all announcements")
    assert sorted(told(heard)) == sorted([(0, own), (5, own), (6, USER_MAC)] * 2)
    near.wait_ping("10.0.5.2")
    made.far.wait_ping("10.0.5.1")


def test_refusals(trio):
    made = trio("active")
    near = made.near
    with pytest.raises(Refused, match="only while the bond has no slaves"):
        near.ctl("set", "bond0", "fail_over_mac", "none")
    near.ctl("set", "bond0", "fail_over_mac", "active")
    near.ctl("del-slave", "bond0", *made.links)
    near.ctl("set", "bond0", "fail_over_mac", "follow")
    with pytest.raises(Refused, match="use one of them"):
        near.ctl("set", "bond0", "mac_policy", "filter")


def test_a_first_slave_that_cannot_change_its_address(lone):
    """An IFB. As in the kernel, fail_over_mac becomes active; and not if it is added later."""
    if is_team():
        pytest.skip("a team that counts gives slaves its address")
    host = lone(links=2)
    if host.run("ip", "link", "add", "i0", "type", "ifb", check=False).returncode:
        pytest.skip("this kernel has no IFB")
    host.ctl("create", "bond0", "mode", "active-backup")
    done = host.ctl_try("add-slave", "bond0", "i0")
    assert done.returncode == 0 and "fail_over_mac is now active" in done.stderr, done.stderr
    assert host.show()["options"]["fail_over_mac"] == "active"
    assert mac(host) == mac(host, "i0")
    own = {name: mac(host, name) for name in ("i0", "l0")}
    host.ctl("add-slave", "bond0", "l0")
    assert {name: mac(host, name) for name in own} == own
    wait_for(lambda: mac(host) == own[host.show()["active_slave"]], "bond0 to have one of them")
    host.ctl("delete", "bond0")
    for policy, why in (("none", "does not take the bond's MAC address"),
                        ("follow", "cannot change its MAC address while it is up")):
        host.ctl("create", "bond0", "mode", "active-backup", "fail_over_mac", policy)
        host.ctl("add-slave", "bond0", "l0")
        with pytest.raises(Refused, match=why):
            host.ctl("add-slave", "bond0", "i0")
        assert {name: mac(host, name) for name in own} == own
        assert host.show()["options"]["fail_over_mac"] == policy
        host.ctl("delete", "bond0")


def test_follow_with_a_slave_that_refuses(lone):
    """A macvlan refuses an address that is in use on the device below it. Nobody else's address is
    changed then, the maps say what the devices have, and later failovers are as ever.
    """
    host = lone(links=3)
    host.ip("link", "add", "m0", "link", "l2", "type", "macvlan", "mode", "bridge")
    host.ip("link", "set", "l2", "up")
    host.make_bond(["l0", "m0", "l1"], "mode", "active-backup", "fail_over_mac", "follow")
    address, own, free = mac(host), macs(host), mac(host, "l2")

    def fail_over_to(link):
        host.ctl("set", "bond0", "active_slave", link)
        wait_for(lambda: host.show()["active_slave"] == link, f"{link} to be active")

    host.ip("link", "set", "l2", "address", address)
    fail_over_to("m0")
    wait_for(lambda: "m0 does not take the bond's MAC address" in host.log(), "the refusal")
    assert macs(host) == own and mac(host) == address
    fail_over_to("l1")
    wait_for(lambda: macs(host) == {**own, "l0": own["l1"], "l1": address}, "l1 to have it")
    fail_over_to("l0")
    wait_for(lambda: macs(host) == own, "everything to be as before")
    host.ip("link", "set", "l2", "address", free)
    fail_over_to("m0")
    wait_for(lambda: macs(host) == {**own, "l0": own["m0"], "m0": address}, "m0 to have it")
    # The one that leaves refuses what it gets: the others are as they must be.
    host.ip("link", "set", "l2", "address", own["l1"])
    fail_over_to("l1")
    wait_for(lambda: mac(host, "l1") == address, "l1 to have it")
    host.ip("link", "set", "l2", "address", free)
    fail_over_to("l0")
    wait_for(lambda: mac(host, "l0") == address, "l0 to have it")
    fail_over_to("m0")
    wait_for(lambda: mac(host, "m0") == address and len(set(macs(host).values())) == 3,
             "m0 to have it, and nobody else")
    # bond0 gets the address of l1, which m0 refuses: all have again what they had
    has, free = macs(host), mac(host, "l2")
    host.ip("link", "set", "l2", "address", has["l1"])
    host.ip("link", "set", "bond0", "address", has["l1"])
    wait_for(lambda: f"the bond goes back to {address}" in host.log(), "the refusal")
    wait_for(lambda: macs(host) == has and mac(host) == address, "the addresses of before")
    host.ip("link", "set", "l2", "address", free)
    host.ctl("delete", "bond0")
    assert {link: mac(host, link) for link in own} == own
