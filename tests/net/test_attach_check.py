"""What somebody takes away from a bond's datapath comes back: programs, links, filters, pins, the
BPF file system.
"""
import json
import os
import shutil
import time

import pytest

from namespace import run
from tcx import order
from traffic import Stream
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("on_veths")  # a netkit has one program less
LINKS = {"link_rx_0": "l0", "link_port": "xb-bond0", "link_egress": "bond0"}
tcx_only = pytest.mark.parametrize("hook", ["tcx"], indirect=True)
clsact_only = pytest.mark.parametrize("hook", ["clsact"], indirect=True)


def times(host, dev="bond0"):
    """How often the datapath was found detached there."""
    return (host.slave(dev) if dev.startswith("l") else host.show())["times_detached"]


def told(host, dev):
    return host.log().count(f"the program on {dev};")


@tcx_only
@pytest.mark.parametrize("pin", LINKS)
def test_a_detached_program_is_put_back(pair, pin, hook):
    made, dev = pair("balance-rr", links=2), LINKS[pin]
    assert made.near.show()["attached"] and made.near.slave("l0")["attached"]
    run("bpftool", "link", "detach", "pinned", made.near.bpf_dir / "bond0" / pin)
    wait_for(lambda: told(made.near, dev), "bondd to see it")
    counted = "l0" if dev == "l0" else "bond0"
    assert times(made.near, counted) == 1
    assert made.near.show()["attached"] and made.near.slave("l0")["attached"]
    for _ in range(4):
        assert made.near.ping("10.0.0.2")
    made.near.wait_looked()
    assert (told(made.near, dev), times(made.near, counted)) == (1, 1)


@tcx_only
@pytest.mark.parametrize("way", ["detached", "unpinned"])
def test_what_was_taken_off_while_bondd_was_away(pair, way, hook):
    made = pair("balance-rr", links=2)
    made.near.kill_bondd()
    for pin in LINKS:
        path = made.near.bpf_dir / "bond0" / pin
        if way == "detached":
            run("bpftool", "link", "detach", "pinned", path)
        else:
            path.unlink()
    assert made.near.show()["attached"] is False and made.near.slave("l0")["attached"] is False
    assert made.near.ctl("show", "-d", "bond0").count("not attached") == 2
    made.near.start_bondd()
    assert made.near.show()["attached"] and made.near.slave("l0")["attached"]
    for _ in range(4):
        assert made.near.ping("10.0.0.2")
    assert [told(made.near, dev) for dev in LINKS.values()] == [1, 1, 1]


@tcx_only
@pytest.mark.parametrize("away", [False, True])
def test_a_pin_that_is_no_link(pair, away, hook):
    """Something else in a link's place counts as a link that is lost."""
    made = pair("balance-rr", links=2)
    directory = made.near.bpf_dir / "bond0"
    made.near.wait_looked()  # of pins that are seconds old bondd may not know yet
    if away:
        made.near.kill_bondd()
    for pin, other in zip(LINKS, ("cursor", "prog_look", "table")):
        (directory / pin).unlink()
        os.link(directory / other, directory / pin)
    if away:
        (directory / pin).unlink()
        (directory / pin).mkdir()
        assert made.near.show()["attached"] is False and made.near.slave("l0")["attached"] is False
        made.near.start_bondd()
    wait_for(lambda: [told(made.near, dev) for dev in LINKS.values()] == [1, 1, 1],
             "bondd to see it")
    assert made.near.show()["attached"] and made.near.slave("l0")["attached"]
    for _ in range(4):
        assert made.near.ping("10.0.0.2")


@tcx_only
def test_pins_that_somebody_removes(pair, hook):
    """bondd holds what was pinned: no packet is lost."""
    made = pair("balance-rr", links=2)
    directory, before = made.near.bpf_dir / "bond0", made.near.pins()
    stream = Stream(made.near, made.far, rate=2000)
    made.near.wait_looked()  # of pins that are seconds old bondd may not know yet
    for pin in [*LINKS, "table", "prog_rx"]:
        (directory / pin).unlink()
    wait_for(lambda: made.near.pins() == before, "the pins to be back")
    made.near.wait_looked()
    shutil.rmtree(directory)
    wait_for(lambda: made.near.pins() == before, "the directory to be back")
    wait_for(lambda: made.near.log().count("of its pins; they are back") == 1 and
             made.near.log().count("its pins were gone, and are back") == 1, "bondd to say so")
    made.near.wait_looked()
    result = stream.finish()
    assert result["lost"] == 0, result
    assert times(made.near) == times(made.near, "l0") == 0
    made.near.restart_bondd(kill=True)
    made.near.ctl("del-slave", "bond0", "l0")
    made.near.wait_looked()
    assert "bond0/link_rx_0" not in made.near.pins()
    made.near.ctl("delete", "bond0")
    assert made.near.pins() == []


@tcx_only
def test_a_slave_whose_pin_somebody_removes_is_released(pair, hook):
    """Its program goes on without the pin, and would drop what the device receives."""
    near = pair("balance-rr", links=2).near
    near.wait_looked()  # of pins that are seconds old bondd may not know yet
    (near.bpf_dir / "bond0/link_rx_0").unlink()
    near.ctl("del-slave", "bond0", "l0")
    assert order(near, "l0") == []
    near.wait_looked()
    assert "bond0/link_rx_0" not in near.pins()


REMOVALS = {"l0": [("qdisc", "del", "dev", "l0", "clsact"),
                   ("filter", "del", "dev", "l0", "ingress")],
            "xb-bond0": [("qdisc", "del", "dev", "xb-bond0", "clsact"),
                         ("filter", "del", "dev", "xb-bond0", "ingress")],
            "bond0": [("qdisc", "del", "dev", "bond0", "clsact"),
                      ("filter", "del", "dev", "bond0", "egress")]}


@clsact_only
@pytest.mark.parametrize("dev", REMOVALS)
def test_filters_that_somebody_removes(pair, dev, hook):
    made = pair("balance-rr", links=2)
    for count, removal in enumerate(REMOVALS[dev], 1):
        made.near.tc_del(*removal)
        wait_for(lambda: told(made.near, dev) == count, "bondd to see it")
        assert times(made.near, dev if dev == "l0" else "bond0") == count
        for _ in range(4):
            assert made.near.ping("10.0.0.2")


@clsact_only
def test_what_cannot_be_put_back_is_said_once(pair, hook):
    """`show` says so until it can."""
    made = pair("balance-rr", links=2)
    made.near.freeze_bondd()
    made.near.tc_del("qdisc", "del", "dev", "bond0", "clsact")
    made.near.run("tc", "qdisc", "add", "dev", "bond0", "ingress")
    made.near.thaw_bondd()
    wait_for(lambda: made.near.show()["attached"] is False, "show to say so")
    assert "not attached" in made.near.ctl("show", "-d", "bond0")
    made.near.wait_looked()
    assert made.near.log().count("the program on bond0 is not attached") == 1 and \
        times(made.near) == 1
    made.near.tc_del("qdisc", "del", "dev", "bond0", "ingress")
    wait_for(lambda: made.near.show()["attached"], "the program to be back")
    assert made.near.log().count("the program on bond0 is in place again") == 1 and \
        times(made.near) == 1


@pytest.mark.parametrize("hook", ["tcx", "clsact"], indirect=True)
def test_a_restart_touches_nothing(pair, hook):
    """Not a pin, not a link, not a program."""
    made = pair("balance-rr", links=2)

    def seen():
        pins = {path.name: (path.stat().st_ino, path.stat().st_mtime)
                for path in (made.near.bpf_dir / "bond0").iterdir()}
        return pins, *(made.near.run("tc", "filter", "show", "dev", dev, side).stdout
                       for dev, side in
                       (("l0", "ingress"), ("xb-bond0", "ingress"), ("bond0", "egress")))
    before = seen()
    made.near.restart_bondd()
    assert seen() == before
    assert "another build" not in made.near.log()


def egress_program(host):
    """Its name as the kernel has it, which cuts it off; None while another one is attached."""
    pinned = json.loads(run("bpftool", "-j", "prog", "show", "pinned",
                            host.bpf_dir / "bond0/prog_egress").stdout)
    attached = json.loads(run("bpftool", "-j", "link", "show", "pinned",
                              host.bpf_dir / "bond0/link_egress").stdout)
    return pinned["name"][:15] if attached["prog_id"] == pinned["id"] else None


@tcx_only
def test_bond0_has_the_program_that_its_path_needs(pair, hook):
    """Only one that packets may leave directly chooses slaves at its egress: the kernel verifies
    such a program for long.
    """
    made = pair("balance-xor", links=2)
    host = made.near

    def wait_program(name):
        wait_for(lambda: egress_program(host) == name, f"{name} at bond0")
        assert host.ping("10.0.0.2")
    wait_program("xbond_egress_pa")
    for option, on, off in (("path", "direct", "counted"), ("xdp_tx", "on", "off")):
        host.ctl("set", "bond0", option, on)
        wait_program("xbond_egress")
        host.ctl("set", "bond0", option, off)
        wait_program("xbond_egress_pa")
    host.stop_bondd()
    host.ctl("set", "bond0", "path", "direct")
    host.start_bondd()
    wait_program("xbond_egress")
    assert host.show()["times_detached"] == 0


def test_pins_are_not_read_again_and_again_when_the_date_was_set_back(lone):
    host = lone(links=0)
    host.ctl("create", "bond0")
    host.stop_bondd()
    with host.refusing("earlier"):
        host.start_refusable()
        host.wait_looked()
        with host.failing("openat:error=EMFILE:when=65535") as trace:
            host.wait_looked(5)
        assert f'"{host.bpf_dir}/bond0", ' not in trace.read_text()


class Secluded:
    """A pair of hosts; the near bondd has mounts of its own, and a BPF file system that nobody else
    has.
    """

    def __init__(self, lab):
        self.near, self.far = near, far = lab.host("a", bondd=False), lab.host("b")
        self.mount_point = near.dir / "bpf"
        self.mount_point.mkdir()
        near.bpf_dir = self.mount_point / "xbond"
        plain, bondctl = near.bondd_command, near.ctl_command
        near.bondd_command = lambda: ["unshare", "-m", "--propagation", "private", "sh", "-c",
                                      f'mount -t bpf bpf {self.mount_point} && exec "$@"', "sh",
                                      *plain()]
        near.ctl_command = lambda *words: [*self.within(), *bondctl(*words)]
        near.start_bondd()
        links = lab.links(near, far, 2)
        for number, host in enumerate((near, far), 1):
            host.ctl("create", "bond0", "mode", "balance-rr")
            host.ctl("add-slave", "bond0", *links)
            host.ip("link", "set", "bond0", "up")
            host.ip("addr", "add", f"10.0.0.{number}/24", "dev", "bond0")
        near.wait_ping("10.0.0.2")

    def within(self):
        return ["nsenter", "-m", "-t", str(self.near.bondd.pid), "--"]

    def run(self, *words):
        return run(*self.within(), *words).stdout

    def pins(self):
        return sorted(self.run("find", self.near.bpf_dir, "-type", "f").split())

    def wait_said(self, words):
        wait_for(lambda: self.near.log().count(words) == 1, f"bondd to say {words}")


def test_the_bpf_file_system_is_unmounted(lab):
    """Traffic goes on, bondd says what that is worth; as soon as there is a BPF file system it pins
    everything again.
    """
    made = Secluded(lab)
    wait_for(lambda: time.time() - made.near.log_path.stat().st_mtime > 2, "bondd to know the pins")
    before = made.pins()
    stream = Stream(made.near, made.far, rate=2000)
    stream.flow_on(200)
    made.run("umount", "-l", made.mount_point)
    made.wait_said("its pins are gone from")
    stream.flow_on(4000)
    assert made.near.log().count("its pins are gone from") == 1
    made.run("mount", "-t", "bpf", "bpf", made.mount_point)
    made.wait_said("its pins were gone, and are back")
    assert made.pins() == before
    assert made.near.show()["attached"] and made.near.show()["times_detached"] == 0
    made.near.ctl("del-slave", "bond0", "l1")
    result = stream.finish()
    assert result["lost"] == 0, result
    made.near.ctl("delete", "bond0")
    assert made.pins() == []
