"""`set BOND device`: another kind of device gets all that the bond has, under traffic; whatever
fails, and whoever dies, leaves it as it was. Where the kernel has one kind only, that one becomes
another of its kind (XBOND_TEST_CONVERT).
"""
import pytest

from lab import Refused
from namespace import kernel_makes
from policies import FIRST_FIVE, compile_policy
from test_handover import dress, picture
from traffic import Stream
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("tests_choose")
KINDS = ["veth", *(kind for kind in ("netkit", "team") if kernel_makes(kind))]
WAYS = [(old, new) for old in KINDS for new in KINDS if old != new] or [("veth", "veth")]
STEPS = ("recorded", "created", "copied", "released", "moved", "away", "renamed", "configured",
         "all-moved")
ways = pytest.mark.parametrize("old,new", WAYS)


@pytest.fixture
def dressed(pair, monkeypatch):
    def make(mode, old, links=3, **options):
        monkeypatch.setenv("XBOND_TEST_CONVERT", "1")
        # Without a switch between them. Which slave is the active one may change.
        far = {"mode": "broadcast"} if mode == "active-backup" else {}
        made = pair(mode, links=links, far=far, device=old, hash_seed=7, **options)
        dress(made.near)
        near = made.near
        near.ip("link", "add", "link", "bond0", "name", "mv0", "type", "macvlan", "mode", "bridge")
        near.ip("link", "set", "mv0", "up")
        near.ip("addr", "add", "10.3.0.1/24", "dev", "mv0")
        wait_for(lambda: near.ip("-6", "addr").count("inet6 fe80") == 2 and
                 "tentative" not in near.ip("addr"), "link-local addresses of bond0 and mv0")
        return made
    return make


def settings(host):
    shown = host.show()
    return shown["mode"], {**shown["options"], "active_slave": None}, sorted(
        (slave["name"], sorted(slave["options"].items())) for slave in shown["slaves"])


def whole(host):
    """What is on the bond, what is set, and that nothing of the change is left."""
    return (picture(host), *settings(host), host.show()["device"], sorted(host.devices()),
            sorted(host.pins()))


def wait_whole(host, wanted):
    wait_for(lambda: whole(host) == wanted, lambda: f"{wanted}, not {whole(host)}")


@pytest.mark.variants(2)
@ways
@pytest.mark.parametrize("mode", ["active-backup", "balance-xor", "802.3ad"])
def test_everything_goes_along(dressed, mode, old, new):
    made = dressed(mode, old, miimon=50)
    near = made.near
    near.ctl("set-slave", "bond0", made.links[1], "weight", 3)
    near.ctl("set", "bond0", "min_links", 2)
    before, (_, options, slaves) = picture(near), settings(near)
    ifindex = near.link("bond0")["ifindex"]
    out = Stream(near, made.far, rate=500, port=9000)
    back = Stream(made.far, near, to="10.0.0.1", rate=500, port=9001)
    for each in (out, back):
        each.flow_on(100)
    near.ctl("set", "bond0", "device", new, "updelay", 60000)
    for each in (out, back):
        each.flow_on(100)
        assert each.finish()["received"]
    wait_for(lambda: picture(near) == before, lambda: f"{before}, not {picture(near)}")
    shown = near.show()
    assert near.link("bond0")["ifindex"] != ifindex and shown["device"] == new
    wanted = {**options, "device": new, "updelay": 60000}
    assert settings(near) == (mode, wanted, slaves)
    near.wait_slaves(*made.links)
    assert not [name for name in near.devices() if name[0] in "no" and "-bond0" in name]
    near.ctl("save", "bond0")
    assert f"device = {new}" in (near.config_dir / "bond0.conf").read_text()
    # and the next bondd finds one bond
    near.kill_bondd()
    near.start_bondd()
    near.wait_ping("10.0.0.2")
    assert near.ctl("list").split() == ["bond0"]


@pytest.mark.variants(2)
@ways
@pytest.mark.parametrize("step", STEPS)
def test_what_fails_is_undone(dressed, step, old, new):
    made = dressed("active-backup", old, links=2)
    near = made.near
    before = whole(near)
    near.stop_bondd()
    near.environment = {"XBOND_TEST_FAIL_AT": f"handover-{step}"}
    near.start_bondd()
    with pytest.raises(Refused, match="everything is as it was"):
        near.ctl("set", "bond0", "device", new)
    wait_whole(near, before)
    near.wait_ping("10.0.0.2")
    near.environment = {}
    near.stop_bondd()
    near.start_bondd()
    near.ctl("set", "bond0", "device", new)
    near.wait_ping("10.0.0.2")


@pytest.mark.variants(2)
@ways
@pytest.mark.parametrize("step", (*STEPS, "ending"))
def test_who_dies_is_undone_or_finished(dressed, step, old, new):
    made = dressed("active-backup", old, links=2)
    near = made.near
    before = whole(near)
    near.stop_bondd()
    with near.dying_at(f"handover-{step}"):
        near.ctl_try("set", "bond0", "device", new)
    near.start_bondd()
    near.wait_ping("10.0.0.2")
    if step == "ending":
        wait_for(lambda: picture(near) == before[0], lambda: f"{before[0]}, not {picture(near)}")
        assert near.show()["device"] == new and near.ctl("list").split() == ["bond0"]
        assert set(near.devices()) - {"xb-bond0"} == set(before[5]) - {"xb-bond0"}
    else:
        wait_whole(near, before)


def refused(host, *words):
    with pytest.raises(Refused) as refusal:
        host.ctl(*words)
    text = str(refusal.value)
    assert text.count("\n") == 1, text
    return text


def test_refusals_change_nothing(dressed):
    made = dressed("active-backup", "veth", links=2)
    near = made.near
    before = whole(near)
    assert "option of mode 802.3ad only" in \
        refused(near, "set", "bond0", "device", "veth", "lacp_rate", "fast")
    near.ip("link", "add", "n0-bond0", "type", "veth", "peer", "name", "xp")
    assert "n0-bond0 is needed" in refused(near, "set", "bond0", "device", "veth")
    near.ip("link", "del", "n0-bond0")
    (near.config_dir / "bond0.conf").write_text("[bond]\nmode = active-backup\nmin_links = 1\n")
    near.ctl("apply", "bond0", "--confirm", "600")
    assert "a rollback of bond0 waits" in refused(near, "set", "bond0", "device", "veth")
    near.ctl("rollback", "bond0")
    wait_whole(near, before)


def test_a_policy_stays(dressed, tmp_path):
    made = dressed("balance-xor", "veth", links=2)
    near = made.near
    near.ctl("policy", "load", "bond0", compile_policy(FIRST_FIVE, tmp_path / "first.o"))
    assert "a policy is loaded" in refused(near, "set", "bond0", "device", "veth")
    near.ctl("policy", "unload", "bond0")
    near.ctl("set", "bond0", "device", "veth")


def test_the_same_kind_is_only_recorded(pair):
    """Without XBOND_TEST_CONVERT."""
    near = pair("active-backup", links=1, device="auto").near
    ifindex, kind = near.link("bond0")["ifindex"], near.show()["device"]
    for word in (kind, "auto"):
        near.ctl("set", "bond0", "device", word)
        assert near.link("bond0")["ifindex"] == ifindex
        assert near.show()["options"]["device"] == word
