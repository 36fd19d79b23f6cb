"""A bondd of another build takes over: its programs replace those that are attached, its maps the
older ones, and no packet and no partner notices.
"""
import json
import os
import re

import pytest

import builds
import lab as lab_module
from bpf_objects import holders, pinned_objects, there
from lab import BONDD, ROOT, stable
from namespace import kernel_makes, run
from lacp import tx_slots, wait_distributing, wait_told
from policies import WANTED, slot, want
from test_netkit import netkit_only
from test_xdp import by_xdp, whole_checksums
from traffic import Stream
from waiting import wait_for
from xsk_echo import Echo

pytestmark = pytest.mark.usefixtures("on_veths")
SOAK = os.environ.get("XBOND_SOAK")
UPGRADES = 20
RATE = 300 if os.environ.get("XBOND_VM") else 10000 if SOAK else 5000  # each way
both_hooks = pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)


@pytest.fixture(scope="session")
def other(tmp_path_factory):
    """A bondd whose programs differ."""
    return builds.build(tmp_path_factory.mktemp("builds") / "other", builds.other_programs)


@pytest.fixture(scope="session")
def newer(tmp_path_factory):
    """A bondd whose programs differ, and of the next ABI version."""
    return builds.build(tmp_path_factory.mktemp("builds") / "newer", builds.newer_abi)


def tag(*words):
    return json.loads(run("bpftool", "-j", "prog", "show", *words).stdout)["tag"]


def pinned_tags(host):
    return {path.name: tag("pinned", path)
            for path in sorted((host.bpf_dir / "bond0").glob("prog_*"))}


def attached_tags(host, links):
    """What runs on the slaves, on bond0 and on the port side."""
    found = {}
    for dev in [*links, "bond0", "xb-bond0"]:
        shown = json.loads(host.run("bpftool", "-j", "net", "show", "dev", dev).stdout)[0]
        ids = [each["id"] for each in shown.get("tc", []) if "id" in each] or tcx_ids(host, dev)
        found[dev] = [tag("id", number) for number in ids]
    return found


def tcx_ids(host, dev):
    """An older bpftool does not know TCX; the links do."""
    pins = {"bond0": "link_egress", "xb-bond0": "link_port",
            **{f"l{slot}": f"link_rx_{slot}" for slot in range(64)}}
    return [json.loads(run("bpftool", "-j", "link", "show", "pinned",
                           host.bpf_dir / "bond0" / pins[dev]).stdout)["prog_id"]]


def runs_its_own(host, links):
    """What is attached is what is pinned."""
    pinned, attached = pinned_tags(host), attached_tags(host, links)
    return all(attached[dev] == [pinned["prog_rx"]] for dev in links) and \
        attached["bond0"] == [pinned["prog_egress"]] and \
        attached["xb-bond0"] == [pinned["prog_port"]]


def dies(host, program, step):
    """This bondd takes over, and ends at a step of that."""
    host.stop_bondd()
    host.use_build(program)
    with host.dying_at(step, wait=False):
        pass


class Watched:
    """Two hosts that speak LACP, packets both ways, and what must not have changed in the end."""

    def __init__(self, made):
        self.near, self.far, self.links = made.near, made.far, made.links
        wait_distributing(self.near, self.far, links=self.links)
        wait_told(self.far, self.links)
        self.before = self.flaps()
        self.logged = len(self.far.log())
        self.streams = [Stream(self.near, self.far, rate=RATE, flows=64, port=9000),
                        Stream(self.far, self.near, to="10.0.0.1", rate=RATE, flows=64, port=9001)]
        self.flow_on()

    def flow_on(self):
        for stream in self.streams:
            stream.flow_on(500)

    def flaps(self):
        hosts = {host.name: ([slave["link_failures"] for slave in host.show()["slaves"]],
                             {dev: host.carrier_changes(dev) for dev in [*self.links, "bond0"]})
                 for host in (self.near, self.far)}
        return hosts

    def lost(self):
        """Ends the traffic; packets that did not arrive, each way."""
        wait_distributing(self.near, self.far, links=self.links)
        assert self.flaps() == self.before
        assert self.far.log()[self.logged:] == "", "the partner has noticed something"
        results = [stream.finish() for stream in self.streams]
        assert all(result["duplicates"] == 0 for result in results), results
        return [result["lost"] for result in results]


@pytest.fixture
def watched(pair):
    """make(**options): the near end is upgraded, the far end watches."""

    def make(prepare=None, lacp_rate="fast", **options):
        made = pair("802.3ad", links=2, lacp_rate=lacp_rate, xmit_hash_policy="layer3+4", **options)
        for host in (made.near, made.far) if prepare else ():
            prepare(host, made.links)
        return Watched(made)
    return make


@both_hooks
def test_upgrades_lose_nothing(watched, other, hook):
    """Back and forth between two builds, under traffic and fast LACP."""
    made = watched()
    tags, before = {}, pinned_tags(made.near)
    for number in range(UPGRADES if SOAK else 2 if os.environ.get("XBOND_VM") else 6):
        program = BONDD if number % 2 else other
        made.near.replace_bondd(program)
        assert runs_its_own(made.near, made.links), (pinned_tags(made.near),
                                                     attached_tags(made.near, made.links))
        assert pinned_tags(made.near) == tags.setdefault(program, pinned_tags(made.near))
        made.flow_on()
    assert tags[BONDD] == before
    assert not set(tags[BONDD].values()) & set(tags[other].values())
    assert made.near.log().count("another build") == number + 1
    assert made.near.show()["times_detached"] == 0 and made.near.slave("l0")["times_detached"] == 0
    assert made.lost() == [0, 0]


def xdp_of(host, links):
    """Tags and numbers of what runs by XDP on the slaves and the port side."""
    ids = [host.link(dev)["xdp"]["prog"]["id"] for dev in [*links, "xb-bond0"]]
    return [tag("id", number) for number in ids], ids


@netkit_only
def test_upgrades_of_a_netkit(watched, other):
    made = watched(device="netkit", far={"device": "veth"})
    for program in (other, BONDD):
        made.near.replace_bondd(program)
        tags = [tag("id", number) for number in tcx_ids(made.near, "xb-bond0")]
        assert tags == [pinned_tags(made.near)["prog_port"]]
        made.flow_on()
    assert made.near.show()["times_detached"] == 0
    assert made.lost() == [0, 0]


@by_xdp
def test_upgrades_by_xdp(watched, other):
    """A program follows a program; a restart of the same build changes none."""
    made = watched(whole_checksums, rx_hook="xdp", xdp_tx="on",
                   far={"rx_hook": "tc", "xdp_tx": "off"})
    first = xdp_of(made.near, made.links)
    for program in (other, BONDD):
        made.near.replace_bondd(program)
        tags, ids = xdp_of(made.near, made.links)
        assert all((now == before) == (program == BONDD) for now, before in zip(tags, first[0]))
        assert not set(ids) & set(first[1])
        made.flow_on()
        made.near.replace_bondd(program)
        assert (tags, ids) == xdp_of(made.near, made.links)
        made.flow_on()
    assert {slave["rx_hook"] for slave in made.near.show()["slaves"]} == {"xdp"}
    assert made.lost() == [0, 0]


@by_xdp
def test_xdp_follows_its_maps(watched, other, newer):
    """The newer build has the other one's programs, on maps of its own."""
    made = watched(whole_checksums, rx_hook="xdp", xdp_tx="on",
                   far={"rx_hook": "tc", "xdp_tx": "off"})
    made.near.replace_bondd(other)
    tags, ids = xdp_of(made.near, made.links)
    made.near.replace_bondd(newer)
    now = xdp_of(made.near, made.links)
    assert now[0] == tags and not set(now[1]) & set(ids)
    made.flow_on()
    assert [stream.finish()["lost"] for stream in made.streams] == [0, 0]


@pytest.mark.parametrize("hook", ["tcx", pytest.param("clsact", marks=pytest.mark.soak)],
                         indirect=True)
def test_a_newer_abi_and_back(watched, newer, hook):
    """Its bondd takes the maps over. An older one leaves the bond alone, and says so."""
    made = watched()
    abi = made.near.show()["abi_version"]
    version = f"ABI version {abi + 1}"
    sent = made.near.ctl_json("stats", "bond0")["counters"]["tx_packets"]
    made.near.replace_bondd(newer)
    assert runs_its_own(made.near, made.links)
    assert made.near.log().count(f"were converted from ABI version {abi} to {abi + 1}") == 1
    made.flow_on()
    assert made.near.ctl_json("stats", "bond0")["counters"]["tx_packets"] > sent
    before = made.near.pins(), pinned_tags(made.near), attached_tags(made.near, made.links)
    for _ in range(2):
        made.near.replace_bondd(BONDD)
        why = f"it was made with {version}, and this bondd supports version {abi}"
        assert f"bond0: not adopted: {why}" in made.near.log()
        assert made.near.ctl_json("list") == ["bond0"]
        assert version in made.near.show()["problem"] and made.near.show()["slaves"] == []
        assert version in made.near.ctl("show", "bond0")
        assert before == (made.near.pins(), pinned_tags(made.near),
                          attached_tags(made.near, made.links))
        made.flow_on()
        made.near.replace_bondd(newer)
        made.flow_on()
    assert made.lost() == [0, 0]


@pytest.mark.parametrize("step, hook", [("upgrade-pinned", "tcx"), ("upgrade-attached", "clsact"),
                                        *(pytest.param(*words, marks=pytest.mark.soak) for words in
                                          (("upgrade-pinned", "clsact"),
                                           ("upgrade-attached", "tcx")))], indirect=["hook"])
def test_bondd_dies_half_way(watched, other, step, hook):
    """The next one finishes, of either build."""
    made = watched()
    for first, then in ((other, other), (BONDD, other)):
        dies(made.near, first, step)
        made.flow_on()
        made.near.use_build(then)
        made.near.start_bondd()
        assert runs_its_own(made.near, made.links)
        made.flow_on()
    assert made.near.pins() == [pin for pin in made.near.pins() if "new_" not in pin]
    assert made.lost() == [0, 0]


@pytest.mark.parametrize("step", ["migrate-staged", "migrate-exchanged", "upgrade-attached"])
def test_bondd_dies_while_it_migrates(watched, newer, step):
    made = watched()
    dies(made.near, newer, step)
    made.flow_on()
    made.near.start_bondd()
    assert runs_its_own(made.near, made.links)
    assert {pin.split("/")[0] for pin in made.near.pins()} == {"bond0"}
    made.flow_on()
    assert [stream.finish()["lost"] for stream in made.streams] == [0, 0]
    assert made.far.log()[made.logged:] == ""


def array(path):
    """Bytes of a map's only value."""
    return bytes(int(byte, 16) for byte in
                 json.loads(run("bpftool", "-j", "map", "dump", "pinned", path).stdout)[0]["value"])


def write_array(path, value):
    run("bpftool", "map", "update", "pinned", path, "key", 0, 0, 0, 0, "value", *value)


def test_an_older_abi_that_nobody_converts(watched):
    """It is left alone, like a newer one; the bondd that knows it goes on with it."""
    made = watched()
    made.near.stop_bondd()
    path = made.near.bpf_dir / "bond0/bond"
    bond = array(path)
    abi = int.from_bytes(bond[4:8], "little")
    write_array(path, bond[:4] + (abi - 1).to_bytes(4, "little") + bond[8:])
    before = made.near.pins(), pinned_tags(made.near), attached_tags(made.near, made.links)
    made.near.start_bondd()
    assert f"bond0: not adopted: it was made with ABI version {abi - 1}, and this bondd supports " \
        f"version {abi}" in made.near.log()
    assert before == (made.near.pins(), pinned_tags(made.near),
                      attached_tags(made.near, made.links))
    made.flow_on()
    made.near.stop_bondd()
    write_array(path, bond)
    made.near.start_bondd()
    assert made.lost() == [0, 0]


def test_a_mode_that_only_a_later_version_has(lone):
    """With the same ABI: it is left alone, and nobody is told to remove a bond that works."""
    near = lone(links=1)
    near.make_bond(["l0"])
    near.stop_bondd()
    path = near.bpf_dir / "bond0/bond"
    bond, layout = array(path), (ROOT / "tests/manual/promised.txt").read_text()
    at = int(re.search(r"xbond_bond at (\d+) __u32 mode$", layout, re.M)[1])
    write_array(path, bond[:at] + b"\x4d" + bond[at + 1:])
    before = near.pins(), pinned_tags(near), attached_tags(near, ["l0"])
    near.start_bondd()
    assert "bond0: not adopted: " in near.log() and "has mode 77, which this version of xbond " \
        "does not know; use the version that made the bond or" in near.log()
    assert before == (near.pins(), pinned_tags(near), attached_tags(near, ["l0"]))
    near.stop_bondd()
    write_array(path, bond)
    near.start_bondd()
    near.wait_slaves("l0")


def partner_is_silent(made):
    made.far.ip("link", "set", "l1", "down")
    wait_for(lambda: not made.near.pinned("hold")[1]["words"][
        made.near.pinned("hold")[1]["in_force"] & 1]["current"], "LACP to give the partner up")


LEAVES = {
    "slave": lambda made: made.near.ctl("del-slave", "bond0", "l1"),
    "LACP": lambda made: made.near.ctl("set", "bond0", "mode", "balance-xor"),
    "partner": partner_is_silent,
}


@pytest.mark.parametrize("leaves", LEAVES)
def test_what_lacp_has_left_keeps_no_program(pair, other, leaves):
    """Its timer was wound up by a program that is replaced then."""
    made = pair("802.3ad", links=2, lacp_rate="fast")
    wait_distributing(made.near, made.far, links=made.links)
    LEAVES[leaves](made)
    before = pinned_objects(made.near)
    made.near.replace_bondd(other)
    replaced = before - pinned_objects(made.near)
    assert replaced
    wait_for(lambda: not there(replaced), lambda: f"{there(replaced)} to be freed", 60)


def test_an_application_keeps_no_program(pair, other):
    """It runs on, and what it has opened ends, too."""
    made = pair("802.3ad", links=2)
    echo = Echo(made.near, made.far)
    echo.wait_answers()
    before = pinned_objects(made.near)
    made.near.replace_bondd(other)
    replaced = before - pinned_objects(made.near)
    assert replaced
    wait_for(lambda: not there(replaced),
             lambda: f"{there(replaced)} to be freed, open in {holders(there(replaced))}", 60)
    echo.talk()
    echo.close()


@pytest.mark.parametrize("build", ["other", "newer"])
def test_timers_go_on(pair, build, request):
    """Those that the old programs have wound up are the new ones': bondd's absence and a partner's
    silence are noticed.
    """
    made = pair("802.3ad", links=2, lacp_rate="fast", far={"lacp_hold": "off"})
    wait_distributing(made.near, made.far, links=made.links)
    made.near.replace_bondd(request.getfixturevalue(build))
    heard = made.near.pinned("hold")[0]["words"][0]["heard_ns"]
    wait_for(lambda: made.near.pinned("hold")[0]["words"][0]["heard_ns"] != heard,
             "a LACPDU or two")
    assert made.near.pinned("table")["watched"] == 1
    for host in (made.near, made.far):
        host.kill_bondd()
    wait_for(lambda: made.near.pinned("table")["watched"] == 0, "the watchdog to bite")
    wait_for(lambda: not tx_slots(made.near), "the silent partner's ports to carry nothing")


def test_a_map_that_older_builds_did_not_have(pair):
    """It is made, and nothing else is touched."""
    made = pair("balance-xor", links=2)
    pins, before = made.near.pins(), attached_tags(made.near, made.links)
    made.near.stop_bondd()
    (made.near.bpf_dir / "bond0/attached").unlink()
    assert made.near.show()["times_detached"] is None
    made.near.start_bondd()
    assert made.near.pins() == pins and before == attached_tags(made.near, made.links)
    assert made.near.show()["times_detached"] == 0


def test_what_only_newer_builds_have(lone):
    """It stays as long as the bond does."""
    near = lone(links=1)
    near.make_bond(["l0"])
    more = [near.bpf_dir / "bond0" / name for name in ("prog_more", "more")]
    run("bpftool", "prog", "pin", "pinned", near.bpf_dir / "bond0/prog_rx", more[0])
    run("bpftool", "map", "create", more[1], "type", "array", "key", "4", "value", "8", "entries",
        "1", "name", "more")
    near.replace_bondd(BONDD)
    near.wait_slaves("l0")
    assert "not adopted" not in near.log() and all(path.exists() for path in more)
    near.ctl("delete", "bond0")
    assert near.pins() == []


def test_bondd_dies_while_it_makes_a_map(pair):
    """The next one does not leave programs on the map that has lost its pin: it makes all anew."""
    near = pair("balance-xor", links=2).near
    near.stop_bondd()
    drops = near.bpf_dir / "bond0/drops"
    drops.unlink()
    with near.dying_at("upgrade-pinned", wait=False):
        pass
    near.start_bondd()
    number = json.loads(run("bpftool", "-j", "map", "show", "pinned", drops).stdout)["id"]
    for name in ("prog_rx", "prog_port"):
        shown = run("bpftool", "-j", "prog", "show", "pinned", near.bpf_dir / "bond0" / name)
        assert number in json.loads(shown.stdout)["map_ids"], name


def test_a_policy_stays(pair, other, newer):
    """It decides for each packet, whichever build's programs ask it, and with other maps."""
    made = pair("balance-xor", links=2, xmit_hash_policy="layer3+4")
    near = made.near
    near.ctl("policy", "load", "bond0", WANTED)
    want(near, slot(1))
    stream = Stream(near, made.far, rate=RATE, flows=64)

    def stays_on(link):
        """All but for some of the kernel's own."""
        before = {name: made.far.received(name)["packets"] for name in made.links}
        stream.flow_on(500)
        assert sum(made.far.received(name)["packets"] - count for name, count in before.items()
                   if name != link) < 8

    stays_on("l1")
    for program in (other, BONDD, newer):
        before = made.far.received("l0")["packets"]
        near.replace_bondd(program)
        assert made.far.received("l0")["packets"] - before < 16
        stays_on("l1")
    assert near.pinned("policy_map_wanted") is not None
    near.ctl("policy", "load", "bond0", WANTED)
    want(near, slot(0))
    stream.flow_on(10)
    stays_on("l0")
    stream.finish_unharmed()


def test_programs_that_the_kernel_refuses(pair):
    """The bond goes on with those that it has, and bondd says so. It tries because a map lacks."""
    made = pair("balance-xor", links=2)
    made.near.stop_bondd()
    for pin in ("attached", "cursor"):
        (made.near.bpf_dir / "bond0" / pin).unlink()
    run("bpftool", "map", "create", made.near.bpf_dir / "bond0/cursor", "type", "array", "key", "4",
        "value", "8", "entries", "1", "name", "foreign")
    made.near.start_bondd()
    wait_for(lambda: "bond0: continues with the programs of another build" in made.near.log(),
             "bondd to say so")
    made.near.wait_ping("10.0.0.2")
    assert made.near.show()["attached"]


def test_programs_of_this_build_are_known_by_their_tags(lone):
    """The next bondd reads their tags and loads nothing. If that record is missing, is wrong, or is
    another build's, it loads them, and writes it anew.
    """
    host = lone(links=1)
    host.ctl("create", "bond0")
    record, tags = host.run_dir / "programs", pinned_tags(host)
    known = record.read_text()
    assert tags["prog_rx"] in known
    for text in (known, None, "{", known.replace(tags["prog_rx"], 16 * "0"),
                 known.replace('"build": "', '"build": "0')):
        host.stop_bondd()
        if text is None:
            record.unlink()
        else:
            record.write_text(text)
        with host.refusing("cursor"):
            host.log_path.unlink()
            host.start_refusable()
            loads = "continues with the programs of another build" in host.log()
            host.stop_bondd()
        assert loads == (text != known), text
        host.start_bondd()
        assert (record.read_text(), pinned_tags(host)) == (known, tags)


def test_a_policy_stays_when_the_kernel_refuses_programs(pair):
    """Its programs go on asking it, also when the kernel would take others again."""
    near = pair("balance-xor", links=2, path="direct").near
    near.ctl("policy", "load", "bond0", WANTED)
    before = pinned_tags(near)
    near.stop_bondd()
    (near.bpf_dir / "bond0/attached").unlink()
    with near.refusing("cursor"):
        near.start_refusable()
    assert "bond0: continues with the programs of another build" in near.log()
    near.wait_looked(3)
    assert pinned_tags(near) == before
    assert "is put back" not in near.log()


@pytest.mark.parametrize("step", [None, "migrate-staged", "migrate-exchanged"])
def test_programs_of_others_learn_that_the_bond_has_other_maps(lone, newer, step):
    """What they have mapped says so from before the exchange on."""
    near = lone(links=1)
    near.ctl("create", "bond0")
    near.ctl("add-slave", "bond0", "l0")
    table = near.bpf_dir / "bond0/table"
    theirs = near.bpf_dir / "theirs"  # keeps the map
    run("bpftool", "map", "pin", "pinned", table, theirs)
    offered = near.pinned("table")["select_abi"]
    assert offered and near.pinned("../theirs")["select_abi"] == offered
    if step:
        dies(near, newer, step)
        left = near.pinned("../theirs")["select_abi"]
        assert left == (offered if step == "migrate-staged" else 0)
        near.start_bondd()
    else:
        near.replace_bondd(newer)
    assert near.pinned("../theirs")["select_abi"] == 0
    assert near.pinned("table")["select_abi"] == offered


# Of the release 1.0.0: together nearly all options, and what is on bonds and slaves.

OF_EACH_MODE = (
    "mode balance-rr bytes_per_slave 9000 path direct miimon 70 updelay 40 downdelay 30",
    "mode active-backup primary l2 primary_reselect failure fail_over_mac follow num_grat_arp 3 "
    "peer_notif_delay 300 resend_igmp 2 arp_interval 600000 arp_ip_target 10.9.0.1,10.9.0.2 "
    "arp_validate all arp_all_targets all arp_missed_max 9 ns_ip6_target fd09::1",
    "mode balance-xor xmit_hash_policy flow symmetric on ip6_flow_label on hash_seed 7 min_links 2 "
    "flowlet_gap 500 bfd_interval 60000 bfd_multiplier 5 bfd_local 10.9.0.3 bfd_remote 10.9.0.4",
    "mode broadcast flap_limit 9 rx_silence 600000 error_limit 900 mac_policy filter",
    "mode 802.3ad lacp_rate fast lacp_tx balance-rr packets_per_slave 5 ad_select bandwidth "
    "ad_actor_sys_prio 9 ad_actor_system 02:00:00:00:00:09 ad_user_port_key 8 coupled_control off "
    "broadcast_neighbor on max_links 1 lacp_revert off lacp_wtr 6 lacp_fallback all "
    "lacp_fallback_delay 50 lacp_hold off drain_markers on",
    "mode balance-tlb tlb_dynamic_lb off lp_interval 7 all_slaves_active on",
    "mode balance-alb rebalance_interval 3600 rebalance_idle 50 xmit_hash_policy layer3+4",
)


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    """The bondd of 1.0.0."""
    if builds.no_release():
        pytest.skip(builds.no_release())
    return builds.release(tmp_path_factory.mktemp("builds") / "release")


@pytest.fixture
def released(release, monkeypatch):
    """Hosts begin with it. Its output may lack what this tree's schemas want."""
    monkeypatch.setattr(lab_module, "BONDD", release)
    monkeypatch.setattr(lab_module, "WITH_SCHEMA", ())
    return release


def takes_over(host, program):
    """Replaces bondd, and says whether this one knows the maps. The present one must."""
    refusals = host.log().count("not adopted")
    host.replace_bondd(program)
    takes = host.log().count("not adopted") == refusals
    assert takes or program != BONDD, host.log()
    return takes


@both_hooks
def test_bonds_of_the_release(watched, released, hook):
    """Taken over, given back and taken over again under traffic. The far end stays."""
    made = watched()
    pins = set(made.near.pins())
    for program in (BONDD, released, BONDD):
        if takes_over(made.near, program):
            assert runs_its_own(made.near, made.links)
        assert pins <= set(made.near.pins())
        made.flow_on()
    assert made.lost() == [0, 0]


def known(before, now, at="show"):
    """Where what was shown before is otherwise now. There may be more; and nobody answers LACP."""
    if isinstance(before, dict):
        for key in before.keys() - {"abi_version", "lacp", "why"}:
            yield from known(before[key], now.get(key, "nothing"), f"{at}.{key}")
    elif isinstance(before, list) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now)):
            yield from known(one, other, f"{at}[{number}]")
    elif before != now:
        yield at, before, now


def shown(host, bonds):
    return [stable(host.show(bond)) for bond in bonds]


def test_options_of_the_release(lone, released):
    """Each bond is as it was, and its file has nothing to change; also on the way back."""
    near = lone(links=2 * len(OF_EACH_MODE))
    bonds = [f"bond{number}" for number in range(len(OF_EACH_MODE))]
    for bond, options, first in zip(bonds, OF_EACH_MODE, near.links[::2]):
        second = near.links[near.links.index(first) + 1]
        near.ctl("create", bond, *options.split())
        near.ctl("add-slave", bond, first, "weight", "3", "queue_id", "1")
        near.ctl("add-slave", bond, second, "drain", "on")
        near.ip("link", "set", bond, "up")
        if kernel_makes("vlan"):
            near.ip_batch(f"link add v-{bond} link {bond} up type vlan id 9",
                          f"link add {first}.v link {first} up type vlan id 8")
        near.ctl("save", bond)
    near.ip("link", "add", "link", "bond1", "name", "mv0", "type", "macvlan", "mode", "bridge")
    near.ctl("set-slave", "bond1", "l3", "prio", "-4")
    near.ctl("save", "bond1")
    wait_for(lambda: all(near.show(bond)["carrier"] for bond in bonds), "all bonds to have carrier")
    before = shown(near, bonds)
    for program in (BONDD, released, BONDD):
        if not takes_over(near, program):
            continue
        wait_for(lambda: not list(known(before, shown(near, bonds))),
                 lambda: list(known(before, shown(near, bonds))))
        near.ctl("check")
        assert all(not each["steps"] for each in near.ctl_json("apply", "--dry-run"))


def test_requests_between_the_release_and_this_build(lone, released):
    """bondctl of one, bondd of the other, if they have the same maps."""
    near = lone(links=3)
    near.ctl("create", "bond0", "mode", "active-backup")
    abi = near.show()["abi_version"]
    for bondd, bondctl in ((BONDD, released), (released, BONDD)):
        if not takes_over(near, bondd) or near.show()["abi_version"] != abi:
            break
        near.bondctl = bondctl.with_name("bondctl")
        near.ctl("create", "bond1", "mode", "802.3ad", "lacp_rate", "fast")
        near.ctl("add-slave", "bond1", "l0", "l1", "actor_port_prio", "7")
        near.ctl("set", "bond1", "min_links", "2", "lacp_rate", "slow")
        near.ctl("set-slave", "bond1", "l1", "actor_port_prio", "8")
        assert near.ctl("list").split() == ["bond0", "bond1"]
        near.ctl("del-slave", "bond1", "l0")
        assert '"action":"del-slave"' in near.ctl("-j", "monitor", "--since", "-1h", "--no-follow")
        (near.config_dir / "bond0.conf").write_text("[bond]\nmode = active-backup\n[slave l2]\n")
        near.ctl("apply", "bond0", "--confirm", "600")
        near.ctl("rollback")
        near.ctl("apply", "bond0", "--confirm", "600")
        near.ctl("confirm")
        near.ctl("delete", "bond1")
        near.ctl("del-slave", "bond0", "l2")


@pytest.fixture
def begun(lone, released):
    near = lone(links=2)
    near.ctl("create", "bond0", "mode", "active-backup", "min_links", "1", "device", "veth")
    near.ctl("add-slave", "bond0", "l0")
    near.ip("link", "set", "bond0", "up")
    near.wait_slaves("l0")
    return near


def test_a_change_of_the_release_waits_to_be_confirmed(begun, released):
    """The next bondd changes it back, also on the way back."""
    for program in (BONDD, released):
        before = stable(begun.show())
        (begun.config_dir / "bond0.conf").write_text(
            "[bond]\nmode = balance-xor\nmin_links = 2\n[slave l0]\n[slave l1]\nweight = 4\n")
        begun.ctl("apply", "--confirm", "600")
        if not takes_over(begun, program):
            break
        assert begun.show()["mode"] == "balance-xor"
        begun.ctl("rollback")
        begun.wait_slaves("l0")
        assert not list(known(before, stable(begun.show())))


@pytest.mark.parametrize("step", ["all-moved", "ending"])
def test_the_release_dies_while_it_converts(begun, step, monkeypatch):
    """The next bondd undoes it, or ends it."""
    monkeypatch.setenv("XBOND_TEST_CONVERT", "1")
    before = sorted(begun.devices())
    with begun.dying_at(f"handover-{step}"):
        begun.ctl_try("set", "bond0", "device", "veth")
    begun.use_build(BONDD)
    begun.start_bondd()
    wait_for(lambda: sorted(begun.devices()) == before, lambda: f"{before}, not {begun.devices()}")
    begun.wait_slaves("l0")
    assert begun.ctl("list").split() == ["bond0"]
    assert not list((begun.run_dir / "handover").iterdir())
