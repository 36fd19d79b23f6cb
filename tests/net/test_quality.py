"""flap_limit, rx_silence and error_limit: a slave is held down only while another works, the next
bondd goes on with the hold-down, and `set` ends it.
"""
import contextlib
import socket
import struct
import threading

import pytest

from built import BUILD
from events import Monitor
from lacp import distributing, wait_distributing
from traffic import Stream
from waiting import moments, wait_for

MODES = ["active-backup", "balance-xor", "802.3ad"]


@pytest.fixture
def made(pair):
    """made(mode, links=2, near's options): a pair whose far end never holds anything down."""

    def make(mode, links=2, **options):
        far = {"active-backup": {"mode": "broadcast"}}.get(mode, {})
        common = {"lacp_rate": "fast", "xmit_hash_policy": "layer3+4"} if mode == "802.3ad" else {}
        made = pair(mode, links=links, far={**dict.fromkeys(options, 0), **far},
                    **common, **options)
        if mode == "802.3ad":
            wait_distributing(made.near, made.far, links=made.links)
        return made
    return make


def monitor(host, dev, name):
    return host.slave(dev)["monitors"].get(name)


def flap(made, dev, times, host=None):
    """So many losses of carrier, each seen by the kernel of both ends."""
    host = host or made.far
    wait_for(lambda: monitor(made.near, dev, "flaps"), "the monitor to begin to count")
    for _ in range(times):
        before = made.near.carrier_changes(dev)
        host.ip("link", "set", dev, "down")
        host.ip("link", "set", dev, "up")
        wait_for(lambda before=before: made.near.carrier_changes(dev) >= before + 2,
                 "carrier to be back")


def wait_held(host, dev, name="flaps"):
    wait_for(lambda: (monitor(host, dev, name) or {}).get("state") == "down" and
             host.slave(dev)["mii_status"] == "down", f"{dev} to be out for its {name}")


def wait_used(host, *devs, deadline=10):
    wait_for(lambda: all(host.slave(dev)["mii_status"] == "up" for dev in devs),
             f"{devs} to be up", deadline)


# flap_limit

@pytest.mark.parametrize("mode", MODES)
def test_a_slave_that_flaps_is_held_down(made, mode):
    both = made(mode, flap_limit=3)
    near = both.near
    flap(both, "l0", 3)
    wait_used(near, "l0", "l1")
    wait_for(lambda: monitor(near, "l0", "flaps")["flaps"] == 3, "three flaps to be counted")
    assert monitor(near, "l0", "flaps")["until_ms"] is None
    flap(both, "l0", 1)
    wait_held(near, "l0")
    held = monitor(near, "l0", "flaps")
    assert held["flaps"] == 4 and 0 < held["until_ms"] <= 10000
    assert monitor(near, "l0", "carrier")["state"] == "up"
    assert "held down because it flaps; it is tried again in" in near.slave("l0")["why"]
    assert "not used: it is held down because it flaps" in near.ctl("show", "bond0")
    assert near.log().count("l0 is held down for 10 s while another slave works") == 1
    # The next bondd goes on with it, and a setting ends it.
    near.kill_bondd()
    assert near.slave("l0")["mii_status"] == "down"
    near.start_bondd()
    assert near.slave("l0")["mii_status"] == "down"
    assert 0 < monitor(near, "l0", "flaps")["until_ms"] <= held["until_ms"]
    stream = Stream(near, both.far, flows=16, rate=2000)
    stream.flow_on()
    near.ctl("set", "bond0", "flap_limit", 3)
    wait_used(near, "l0", "l1")
    assert stream.finish()["lost"] == 0
    wait_for(lambda: monitor(near, "l0", "flaps"), "the monitor to begin anew")
    assert monitor(near, "l0", "flaps")["flaps"] == 0


def test_all_slaves_flap_and_all_are_used(made):
    both = made("balance-xor", flap_limit=1)
    for _ in range(2):
        flap(both, "l0", 1)
        flap(both, "l1", 1)
    for dev in both.links:
        wait_for(lambda dev=dev: monitor(both.near, dev, "flaps")["state"] == "down", "both flap")
    wait_used(both.near, "l0", "l1")
    assert [slave["why"] for slave in both.near.show()["slaves"]] == [None, None]
    for dev in both.links:
        assert f"  {dev}: used although it is held down because it flaps: no other slave works" \
            in both.near.ctl("show", "bond0")
    both.near.wait_ping("10.0.0.2")


def test_what_is_said_of_a_slave_that_is_used_though_held(made):
    both = made("balance-xor", flap_limit=1)
    near, words = both.near, "although it is held down because it flaps: no other slave works"
    events = Monitor(near)
    flap(both, "l0", 2)
    wait_held(near, "l0")
    both.far.ip("link", "set", "l1", "down")
    assert events.wait(kind="link", text=f"l0 is up {words}")["reason"] is None
    assert [event["reason"] for event in events.having(kind="link", state="up")
            if event["reason"]] == []
    near.wait_slaves("l0")
    found = {(each["check"], each["slave"]): each["finding"] for each in near.doctor("bond0")}
    assert found["hold-down", "l0"] == f"it is used {words}"
    assert found["link", "l1"] == "it is not used: no carrier"
    assert events.stop() == 0


def test_min_links_is_worth_more(made):
    """With two of two slaves needed, none is held down; one more makes it possible."""
    both = made("balance-xor", links=3, flap_limit=1, min_links=2)
    both.far.ip("link", "set", "l2", "down")
    both.near.wait_slaves("l0", "l1")
    flap(both, "l0", 2)
    wait_for(lambda: monitor(both.near, "l0", "flaps")["state"] == "down", "the monitor to say no")
    wait_used(both.near, "l0", "l1")
    assert both.near.show()["carrier"] is True
    both.far.ip("link", "set", "l2", "up")
    wait_held(both.near, "l0")
    assert both.near.show()["carrier"] is True


def test_a_standby_port_takes_over(pair):
    """max_links 1: the port that stands by is as good as one that works; alone, the bad one is
    used.
    """
    both = pair("802.3ad", links=2, lacp_rate="fast", max_links=1, flap_limit=1,
                far={"max_links": 0, "flap_limit": 0})
    near = both.near
    wait_for(lambda: distributing(near) == distributing(both.far) == ["l0"], "the first port")
    flap(both, "l0", 2)
    wait_held(near, "l0")
    wait_for(lambda: distributing(near) == distributing(both.far) == ["l1"], "the other port")
    near.wait_ping("10.0.0.2")
    near.restart_bondd(kill=True)
    for _ in moments(1):
        assert distributing(near) == ["l1"] and near.slave("l0")["mii_status"] == "down"
    both.far.ip("link", "set", "l1", "down")
    wait_for(lambda: distributing(near) == ["l0"], "the first port to be used again")
    near.wait_ping("10.0.0.2")
    both.far.ip("link", "set", "l1", "up")
    wait_held(near, "l0")
    wait_for(lambda: distributing(near) == distributing(both.far) == ["l1"], "the other port")


def test_flaps_by_hand_and_while_bondd_is_away_count(made):
    both = made("active-backup", flap_limit=5)
    flap(both, "l1", 3, host=both.near)
    wait_for(lambda: monitor(both.near, "l1", "flaps")["flaps"] == 3, "flaps by hand to count")
    both.near.stop_bondd()
    flap(both, "l1", 3)
    both.near.start_bondd()
    wait_held(both.near, "l1")
    assert monitor(both.near, "l1", "flaps")["flaps"] == 6


def test_what_bondd_does_itself_is_no_flap(made):
    """veth loses its carrier for nothing that bondd does, so the device is made to by hand."""
    both = made("balance-xor", flap_limit=1)
    wait_for(lambda: monitor(both.near, "l0", "flaps"), "the monitor to begin")
    for mtu in (1400, 1300, 1200, 1500):
        both.near.ip("link", "set", "bond0", "mtu", mtu)
        wait_for(lambda mtu=mtu: both.near.link("l0")["mtu"] == mtu, "the MTU")
    both.near.ctl("set", "bond0", "mac_policy", "filter")
    both.near.ctl("set", "bond0", "mac_policy", "set")
    both.near.wait_looked(1)
    assert monitor(both.near, "l0", "flaps")["flaps"] == 0


# rx_silence

def silence(host, dev):
    """Nothing leaves this device any more, and carrier stays."""
    host.run("tc", "qdisc", "add", "dev", dev, "clsact", check=False)
    host.run("tc", "filter", "add", "dev", dev, "egress", "bpf", "da", "obj",
             BUILD / "tools/filters.bpf.o", "program", "silent")


def speak(host, dev):
    host.run("tc", "filter", "del", "dev", dev, "egress")


def test_leaving_for_a_better_slave_is_no_failover(made):
    """A slave that is held down serves while nothing else works. Nothing fails when it leaves."""
    both = made("balance-xor", flap_limit=3)
    near = both.near
    flap(both, "l0", 4)
    wait_held(near, "l0")
    both.far.ip("link", "set", "l1", "down")
    wait_used(near, "l0")
    before = near.show()["failover"]
    assert before["count"] > 0
    both.far.ip("link", "set", "l1", "up")
    wait_used(near, "l1")
    wait_held(near, "l0")
    assert near.show()["failover"] == before


@pytest.mark.parametrize("mode", ["balance-rr", "802.3ad"])
def test_a_silent_slave_is_not_used(made, mode):
    both = made(mode, rx_silence=800)
    near = both.near
    stream = Stream(both.far, near, to="10.0.0.1", flows=64, rate=500)
    wait_for(lambda: all(monitor(near, dev, "silence") for dev in both.links), "the monitor")
    for _ in moments(1):
        assert near.carrier_slaves() == both.links
    silence(both.far, "l0")
    wait_held(near, "l0", "silence")
    assert monitor(near, "l0", "silence")["since_heard_ms"] >= 800
    assert near.slave("l0")["why"].startswith("it receives nothing; it is tried again in ")
    near.restart_bondd(kill=True)
    for _ in moments(0.5):
        assert near.carrier_slaves() == ["l1"]
    speak(both.far, "l0")
    wait_used(near, "l0")
    stream.finish()


def test_the_partner_of_a_silent_port_is_told(pair):
    """It would go on sending for 90 s, to a port that receives no more."""
    both = pair("802.3ad", links=2, lacp_rate="slow", rx_silence=800, xmit_hash_policy="layer3+4",
                far={"rx_silence": 0})
    near, far = both.near, both.far
    wait_distributing(near, far, links=both.links)
    stream = Stream(far, near, to="10.0.0.1", flows=64, rate=500)
    wait_for(lambda: all(monitor(near, dev, "silence") for dev in both.links), "the monitor")
    silence(far, "l0")
    wait_held(near, "l0", "silence")
    wait_for(lambda: distributing(near) == distributing(far) == ["l1"], "the partner to stop")
    speak(far, "l0")
    wait_used(near, "l0")
    wait_distributing(near, far, links=both.links)
    stream.finish()


@contextlib.contextmanager
def chatter(host, dev):
    """Frames for nobody leave this device all the time."""
    with host.inside():
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        sender.bind((dev, 0))
    done = threading.Event()

    def talk():
        while not done.wait(0.1):
            sender.send(bytes.fromhex("020000000099 020000000098 88b5") + bytes(46))

    with sender:
        thread = threading.Thread(target=talk)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def test_another_aggregator_takes_over(pair):
    """Two partners: a port of the aggregator that LACP would choose next is a way out, too."""
    both = pair("802.3ad", links=2, lacp_rate="slow")
    near, far = both.near, both.far
    far.ctl("del-slave", "bond0", "l1")
    far.ctl("create", "bond1", "mode", "802.3ad")
    far.ctl("add-slave", "bond1", "l1")
    far.ip("link", "set", "bond1", "up")
    wait_for(lambda: near.slave("l1")["why"].startswith("not aggregated: connected to another"),
             "the second partner")
    assert distributing(near) == distributing(far) == ["l0"]
    with chatter(far, "l1"):
        silence(far, "l0")  # the partner would answer when it hears that l0 is out
        near.ctl("set", "bond0", "rx_silence", 800)
        wait_held(near, "l0", "silence")
        wait_for(lambda: distributing(near) == distributing(far, "bond1") == ["l1"], "the other")
        assert distributing(far) == []
    wait_used(near, "l0", "l1")
    assert distributing(near) == ["l1"], "both are silent, and what works is kept"


def test_all_are_silent_and_all_are_used(made):
    both = made("balance-xor", rx_silence=200)
    both.far.kill_bondd()
    for dev in both.links:
        wait_for(lambda dev=dev: (monitor(both.near, dev, "silence") or {}).get("state") == "down",
                 "silence")
    wait_for(lambda: both.near.carrier_slaves() == both.links, "both to be used")

    def is_said():
        """A frame of the far kernel may end the silence of one for a moment."""
        shown = both.near.ctl("show", "bond0")
        return "all slaves in use" not in shown and all(
            f"  {dev}: used although it receives nothing: no other slave works" in shown
            for dev in both.links)
    wait_for(is_said, "show to say it")
    both.near.wait_ping("10.0.0.2")


def test_hold_downs_end_by_themselves(pair):
    """Also where both hosts have given up a link, and neither sends on it: the first that tries
    ends that.
    """
    both = pair("balance-rr", links=3, rx_silence=300, flap_limit=1, far={"flap_limit": 0})
    streams = [Stream(both.near, both.far, rate=500),
               Stream(both.far, both.near, to="10.0.0.1", rate=500)]
    for host in (both.near, both.far):
        silence(host, "l0")
    for host in (both.near, both.far):
        wait_held(host, "l0", "silence")
    flap(both, "l1", 2)
    wait_held(both.near, "l1")
    for host in (both.near, both.far):
        speak(host, "l0")
    for host in (both.near, both.far):
        wait_used(host, "l0", "l1", deadline=45)  # tried again after 10, 20, 40 s
        assert [slave["why"] for slave in host.show()["slaves"]] == [None] * 3
    for stream in streams:
        stream.finish()


def test_a_silence_that_is_too_short(lone):
    host = lone()
    host.ctl("create", "bond0", "mode", "balance-xor")
    done = host.ctl_try("set", "bond0", "rx_silence", 99)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "rx_silence: 99 ms is too short" in done.stderr
    assert host.show()["options"]["rx_silence"] == 0


# error_limit

class Tunnel:
    """A VXLAN device that gets its frames from this test. Where the packet around it was marked as
    congested and what is in it cannot be, the driver counts a frame error.
    """
    INNER = bytes.fromhex("ffffffffffff 02005e1000ff 0800" "45000014 00000000 40110000 7f000001"
                          "7f000001") + bytes(40)
    VXLAN = struct.pack("!II", 1 << 27, 5 << 8)

    def __init__(self, host, name):
        host.ip("link", "set", "lo", "up")
        host.ip("link", "add", name, "type", "vxlan", "id", 5, "dstport", 4789, "local",
                "127.0.0.1", "nolearning")
        with host.inside():
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, good, bad):
        for tos, count in ((0, good), (3, bad)):
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
            for _ in range(count):
                self.socket.sendto(self.VXLAN + self.INNER, ("127.0.0.1", 4789))


@pytest.mark.parametrize("mode", ["active-backup", "balance-xor"])
def test_a_slave_with_too_many_errors_is_held_down(lone, mode):
    host = lone(links=1)
    tunnel = Tunnel(host, "x0")
    host.make_bond(["x0", "l0"], "mode", mode, "error_limit", 1000)
    wait_for(lambda: monitor(host, "x0", "errors"), "the monitor to begin")
    tunnel.send(good=2000, bad=4)  # four are not enough to judge by
    host.wait_looked(1)
    assert host.carrier_slaves() == ["x0", "l0"]
    tunnel.send(good=2000, bad=40)
    wait_held(host, "x0", "errors")
    shown = monitor(host, "x0", "errors")
    assert 1000 < shown["errors_per_million"] < 1000000 and 0 < shown["until_ms"] <= 10000
    assert "too many broken frames; it is tried again in" in host.slave("x0")["why"]
    host.restart_bondd(kill=True)
    assert host.carrier_slaves() == ["l0"]
    # It is the only one left, so it is used.
    host.far.ip("link", "set", "l0", "down")
    host.wait_slaves("x0")
    host.far.ip("link", "set", "l0", "up")
    host.wait_slaves("l0")
    host.ctl("set", "bond0", "error_limit", 0)
    host.wait_slaves("x0", "l0")
    assert monitor(host, "x0", "errors") is None
