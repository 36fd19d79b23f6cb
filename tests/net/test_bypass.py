"""What `path direct` must not go past: filters and programs of others on bond0's TC hooks."""
import pytest

from lab import BUILD
from namespace import KERNEL
from tcx import TCX_EGRESS, TCX_INGRESS, Tcx, attach_before
from test_stacking import forced_counted, is_direct, moved_away
from waiting import wait_for

FILTERS = BUILD / "tools/filters.bpf.o"
REJECT = ("bpf", "da", "obj", FILTERS, "program", "reject")
BEHIND, BEFORE = 4000, 1  # preferences; xbond's is 2829
STACK_DIRECT = 16  # XBOND_F_STACK_DIRECT
both_hooks = pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)


@pytest.fixture
def direct(pair):
    def make(**options):
        made = pair("balance-xor", links=2, far={"path": "counted"},
                    **{"path": "direct", **options})
        wait_for(lambda: is_direct(made.near), "direct")
        return made
    return make


class Filter:
    """A clsact filter, as tc makes it."""

    def __init__(self, namespace, side="egress", pref=BEHIND, qdisc="clsact", dev="bond0"):
        self.namespace = namespace
        self.place = ["dev", dev, *([side] if qdisc == "clsact" else ["ingress"]), "pref", pref]
        namespace.run("tc", "qdisc", "add", "dev", dev, qdisc, check=False)
        namespace.run("tc", "filter", "add", *self.place, *REJECT)

    def detach(self):
        self.namespace.run("tc", "filter", "del", *self.place)


@pytest.mark.parametrize("hook,kind", [("tcx", "filter"), ("clsact", "filter"), ("tcx", "program")],
                         indirect=["hook"])
def test_a_filter_on_the_way_out_forces_counted(direct, hook, kind):
    made = direct()
    put = Filter(made.near) if kind == "filter" else Tcx(made.near, "bond0", FILTERS, "reject",
                                                         TCX_EGRESS)
    made.near.wait_no_ping("10.0.0.2")
    wait_for(lambda: forced_counted(made.near), "counted")
    assert "filters" in next(line for line in made.near.ctl("show", "bond0").splitlines()
                             if "counted for now" in line)
    assert made.near.log().count("has filters on its egress") == 1
    put.detach()
    made.near.wait_ping("10.0.0.2")
    wait_for(lambda: is_direct(made.near), "direct again")


def test_many_filters_and_their_qdisc(direct):
    """They come and go in one burst."""
    made = direct()
    made.near.run("tc", "qdisc", "add", "dev", "bond0", "clsact", check=False)
    reject = " ".join(map(str, REJECT))
    batch = "\n".join(f"filter add dev bond0 egress pref {4000 + number} protocol arp {reject}"
                      for number in range(50))
    made.near.run("tc", "-batch", "-", input=batch)
    wait_for(lambda: forced_counted(made.near), "counted")
    made.near.tc_del("qdisc", "del", "dev", "bond0", "clsact")
    wait_for(lambda: is_direct(made.near), "direct again")


def test_a_block_that_devices_share(direct):
    made = direct()
    made.near.run("tc", "qdisc", "add", "dev", "bond0", "egress_block", 7, "clsact")
    assert is_direct(made.near)
    made.near.run("tc", "filter", "add", "block", 7, *REJECT)
    made.near.wait_no_ping("10.0.0.2")
    made.near.run("tc", "filter", "del", "block", 7)
    wait_for(lambda: is_direct(made.near), "direct again")


def test_a_filter_that_is_there_before_direct_and_before_bondd(direct):
    made = direct()
    made.near.ctl("set", "bond0", "path", "counted")
    Filter(made.near)
    made.near.wait_no_ping("10.0.0.2")
    made.near.ctl("set", "bond0", "path", "direct")
    assert not any(made.near.ping("10.0.0.2", timeout=0.1) for _ in range(10))
    made.near.restart_bondd(kill=True)
    assert not any(made.near.ping("10.0.0.2", timeout=0.1) for _ in range(10))


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_what_comes_before_is_met_on_direct(direct, hook):
    made = direct()
    if hook == "tcx":
        attach_before(made.near, FILTERS, "reject")
    else:
        Filter(made.near, pref=BEFORE)
    made.near.wait_no_ping("10.0.0.2")
    made.near.wait_looked()
    assert not forced_counted(made.near)


def test_an_ingress_qdisc_has_no_filters_on_the_way_out(direct):
    """The kernel lists its filters under either name."""
    made = direct()
    Filter(made.near, qdisc="ingress")
    made.near.wait_no_ping("10.0.0.2")
    made.near.wait_looked()
    assert not forced_counted(made.near)


@both_hooks
@pytest.mark.parametrize("kind", ["filter", "program"])
def test_a_filter_on_the_way_in_is_met_on_direct(direct, hook, kind):
    if kind == "program" and KERNEL < (6, 6):
        pytest.skip("this kernel has no TCX")
    made = direct()
    put = Filter(made.near, "ingress") if kind == "filter" \
        else Tcx(made.near, "bond0", FILTERS, "reject", TCX_INGRESS)
    made.near.wait_no_ping("10.0.0.2")
    made.near.wait_looked()
    assert not forced_counted(made.near)
    put.detach()
    made.near.wait_ping("10.0.0.2")


@pytest.mark.parametrize("side", ["ingress", "egress"])
def test_filters_are_met_while_away(direct, side):
    """Also where the kernel hands over straight into the other namespace."""
    made = direct()
    other = made.lab.namespace("c")
    with moved_away(made, other):
        other.wait_ping("10.0.0.2")
        put = Filter(other, side)
        other.wait_no_ping("10.0.0.2")
        put.detach()
        other.wait_ping("10.0.0.2")
    made.near.wait_ping("10.0.0.2")


def test_with_xdp_tx(pair):
    """What the stack sends is direct then, whatever path says."""
    made = pair("balance-xor", links=2, device="veth", xdp_tx="on", far={"xdp_tx": "off"})
    wait_for(lambda: made.near.pinned("table")["flags"] & STACK_DIRECT, "the stack to go direct")
    put = Filter(made.near)
    made.near.wait_no_ping("10.0.0.2")
    wait_for(lambda: not made.near.pinned("table")["flags"] & STACK_DIRECT, "the stack not to")
    put.detach()
    made.near.wait_ping("10.0.0.2")
    wait_for(lambda: made.near.pinned("table")["flags"] & STACK_DIRECT,
             "the stack to go direct again")
