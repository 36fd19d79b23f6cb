"""bondctl explain says where packets really go, and where they go when that slave has failed."""
import socket
import types

import pytest

from lacp import ports, wait_distributing
from test_carrier import in_place_only
from traffic import Capture
from waiting import wait_for

PORT = 9000
FLOWS = 40
ADDRESSES = {4: ("10.0.0.1", "10.0.0.2"), 6: ("fd00::1", "fd00::2")}
FIRST = 40000


def sender(made, version, number):
    with made.near.inside():
        made_socket = socket.socket(socket.AF_INET if version == 4 else socket.AF_INET6,
                                    socket.SOCK_DGRAM)
    made_socket.bind((ADDRESSES[version][0], FIRST + number))
    made_socket.connect((ADDRESSES[version][1], PORT))
    return made_socket


def links_taken(made, version):
    """The link of each flow, by one datagram of each."""
    taken = {}
    wires = [Capture(made.far, link) for link in made.links]
    for number in range(FLOWS):
        with sender(made, version, number) as flow:
            flow.send(b"x" * 20)
    for wire in wires:
        for frame in wire.frames(0.1):
            start, protocol = (34, frame.data[23:24]) if frame.type == 0x0800 \
                else (54, frame.data[20:21])
            if frame.type in (0x0800, 0x86dd) and protocol == b"\x11":
                port = int.from_bytes(frame.data[start:start + 2], "big")
                if FIRST <= port < FIRST + FLOWS:
                    taken[port - FIRST] = wire.dev
        wire.close()
    assert len(taken) == FLOWS
    return [taken[number] for number in range(FLOWS)]


def explanations(made, version):
    source, destination = ADDRESSES[version]
    dmac = made.far.link("bond0")["address"]
    return [made.near.ctl_json("explain", "bond0", "src", source, "dst", destination, "proto",
                               "udp", "sport", FIRST + number, "dport", PORT, "dmac", dmac)
            for number in range(FLOWS)]


@pytest.mark.parametrize("version", ADDRESSES)
@pytest.mark.parametrize("policy",
                         ["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"])
def test_explain_agrees_with_the_wire(pair, policy, version):
    made = pair("balance-xor", xmit_hash_policy=policy)
    for symmetric in ("off", "on"):
        made.near.ctl("set", "bond0", "symmetric", symmetric)
        said = [each["slave"] for each in explanations(made, version)]
        assert said == links_taken(made, version)
        if policy in ("layer3+4", "encap3+4"):
            assert len(set(said)) > 1


def test_it_foretells_a_failure(pair):
    """Also with bondd stopped, when the slave's share has moved."""
    made = pair("balance-xor", xmit_hash_policy="layer3+4", far={"mode": "balance-xor"})
    before = explanations(made, 4)
    failed = before[0]["slave"]
    made.far.ip("link", "set", failed, "down")
    made.near.wait_slaves(*[link for link in made.links if link != failed])
    expected = [each["if_failed"]["settled"] if each["slave"] == failed else each["slave"]
                for each in before]
    wait_for(lambda: links_taken(made, 4) == expected, "the flows to go where explain has said")
    made.near.stop_bondd()
    assert [each["slave"] for each in explanations(made, 4)] == expected


@in_place_only
@pytest.mark.parametrize("mode", ["balance-xor", "active-backup", "balance-tlb"])
def test_it_looks_at_carriers_while_bondd_is_dead(pair, mode):
    made = pair(mode, xmit_hash_policy="layer3+4", far={"mode": "broadcast"})
    before = [each["slave"] for each in explanations(made, 4)]
    made.near.kill_bondd()
    made.far.ip("link", "set", before[0], "down")
    after = [each["slave"] for each in explanations(made, 4)]
    assert before[0] not in after
    assert after == links_taken(made, 4)


@pytest.mark.parametrize("primary", [None, "l3"])
def test_it_foretells_the_next_active_slave(pair, primary):
    made = pair("active-backup", far={"mode": "broadcast"})
    if primary:
        made.near.ctl("set", "bond0", "primary", primary)
        wait_for(lambda: made.near.show()["active_slave"] == primary, "the primary")
        made.near.ctl("set", "bond0", "active_slave", "l1")
    wait_for(lambda: made.near.show()["active_slave"] == ("l1" if primary else "l0"),
             "the active slave")
    said = made.near.ctl_json("explain", "bond0", "src", "10.0.0.1", "dst", "10.0.0.2")
    assert said["if_failed"]["settled"] == (primary or "l1")
    made.far.ip("link", "set", said["slave"], "down")
    wait_for(lambda: made.near.show()["active_slave"] == said["if_failed"]["settled"],
             "it to be the active one")


def simulated(made):
    """What each slave gets; what each gets if one has failed; who needs its partner's consent."""
    slaves = made.near.ctl_json("simulate", "bond0")["slaves"]
    failures = {slave["name"]: slave["if_failed"] for slave in slaves if slave["if_failed"]}
    return ({slave["name"]: slave["gets"] for slave in slaves},
            {name: {other["name"]: other["gets"] for other in failed["slaves"]}
             for name, failed in failures.items()},
            {name: failed["unsure"] for name, failed in failures.items()})


def lacp_pair(pair, near, far, **options):
    """The first ports of three distribute, at the near end near of them, at the far end far."""
    made = pair("802.3ad", links=3, xmit_hash_policy="layer3+4", lacp_rate="fast", max_links=near,
                far={"max_links": far}, **options)
    links = made.links[:min(limit for limit in (near, far) if limit)]
    wait_distributing(made.near, made.far, links=links)
    return made, links


@pytest.mark.parametrize("links", [1, 2])
def test_it_foretells_the_port_that_stands_by(pair, links):
    """max_links at this end only: the partner has nothing to decide."""
    made, used = lacp_pair(pair, links, 0)
    wait_for(lambda: "synchronization" in ports(made.near)["l2"]["partner_state"],
             "the partner to attach all ports")
    _, then, unsure = simulated(made)
    assert unsure == {link: [] for link in used}
    before = [each for each in explanations(made, 4) if each["slave"] == "l0"]
    assert all(each["if_failed"]["unsure"] == [] for each in before)
    settled = {each["if_failed"]["settled"] for each in before}
    after = made.links[1:links + 1]
    assert settled and settled <= set(after) == set(then["l0"])  # by chance all take l2
    made.far.ip("link", "set", "l0", "down")
    wait_distributing(made.near, links=after)
    for link in after:
        share = then["l0"][link]["share_of_flows"]
        wait_for(lambda link=link, share=share:
                 simulated(made)[0][link]["share_of_flows"] == pytest.approx(share, abs=0.05),
                 "the buckets to be shared out")


@pytest.mark.parametrize("near", [0, 2])
def test_it_does_not_foretell_what_the_partner_decides(pair, near):
    """max_links at the far end: its third port is not in sync."""
    made, used = lacp_pair(pair, near, 2)
    assert "synchronization" not in ports(made.near)["l2"]["partner_state"]
    _, then, unsure = simulated(made)
    assert unsure == {link: ["l2"] for link in used}
    assert set(then["l0"]) == {"l1", "l2"}
    assert "if l0 failed: l2 is counted in, but its partner may not let it transmit\n" in \
        made.near.ctl("simulate", "bond0")
    before = [each for each in explanations(made, 4) if each["slave"] == "l0"]
    unknown = {"at_once": "l1", "settled": None, "unsure": ["l2"]}
    assert unknown in [each["if_failed"] for each in before]
    for each in before:  # some stay with l1 whatever the partner does
        assert each["if_failed"] in (unknown, {"at_once": "l1", "settled": "l1", "unsure": []})


def test_it_foretells_the_other_aggregator(lab):
    """One port to the switch that is in use, two to another one."""
    near, first, second = lab.host("a"), lab.host("b"), lab.host("c")
    made = types.SimpleNamespace(near=near, far=first)
    for number, far in enumerate((first, second, second)):
        lab.link(near, far, f"l{number}", number)
    for host, links in ((near, ("l0", "l1", "l2")), (first, ("l0",)), (second, ("l1", "l2"))):
        host.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "fast",
                 "xmit_hash_policy", "layer3+4")
        host.ctl("add-slave", "bond0", *links)
    for host in (near, first):
        host.ip("link", "set", "bond0", "up")
    wait_distributing(near, first, links=["l0"])
    second.ip("link", "set", "bond0", "up")
    wait_for(lambda: all("synchronization" in ports(near)[link]["partner_state"]
                         for link in ("l1", "l2")), "the other switch to attach its ports")
    wait_distributing(near, links=["l0"])
    _, then, unsure = simulated(made)
    assert set(then["l0"]) == {"l1", "l2"} and unsure == {"l0": []}
    said = [each["if_failed"] for each in explanations(made, 4)]
    assert {(each["at_once"], each["settled"]) for each in said} == {(None, "l1"), (None, "l2")}
    first.ip("link", "set", "l0", "down")
    wait_distributing(near, links=["l1", "l2"])


@in_place_only
def test_simulate_looks_at_carriers_while_bondd_is_dead(pair):
    made = pair("balance-xor", links=3, xmit_hash_policy="layer3+4", far={"mode": "broadcast"})
    made.near.kill_bondd()
    made.far.ip("link", "set", "l0", "down")
    gets, then, _ = simulated(made)
    assert set(gets) == set(then) == {"l1", "l2"}
    assert set(then["l1"]) == {"l2"}
