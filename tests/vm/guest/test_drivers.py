"""Slaves with drivers of real NICs: igb (native XDP, SR-IOV), igbvf, e1000e (no XDP), vmxnet3 (LRO;
XDP in newer kernels). The far ends are virtio's. What they show goes into docs/users/interop.md, a
column for each driver.
"""
import json
import os
import pathlib
import subprocess

import pytest

import lab as lab_module
from lab import BUILD, ROOT, Refused, hooks
from conftest import Setting
from machine import DRIVERS, MODELS, nic_mac
from namespace import KERNEL, PATIENCE, features, run
from test_nic import add_vlan, state
from traffic import PORT, Stream, send_packets
from waiting import wait_for

pytestmark = pytest.mark.drivers
KINDS = list(dict.fromkeys(DRIVERS))
RESETS = ("igb", "vmxnet3")  # for XDP
MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad"]


def kinds(*core):
    """Every driver; in the set core these only."""
    return pytest.mark.parametrize("kind", [pytest.param(kind, marks=[] if kind in core
                                                         else pytest.mark.full) for kind in KINDS])


@pytest.fixture(autouse=True)
def on_veths(monkeypatch):
    """A netkit has no XDP."""
    monkeypatch.setattr(lab_module, "DEVICE", "veth")


@pytest.fixture
def wired(setting):
    """make(kind): near's two NICs of this driver. The bond is deleted at the end, for what it
    changed goes with the NICs.
    """
    hosts = []

    def make(kind):
        first = min([number for number, model in MODELS.items() if model == kind], default=0) // 2
        made = setting(first=first)
        made.numbers = [2 * first, 2 * first + 2]
        # QEMU's forgets a new MAC address at every reset
        for dev in made.near.links if kind == "vmxnet3" else ():
            made.near.ip("link", "set", dev, "promisc", "on")
        hosts.append(made.near)
        return made
    yield make
    for host in hosts:
        host.ctl_try("delete", "bond0")


def distributing(made):
    return sum("distributing" in slave["lacp"]["actor_state"]
               for slave in made.near.show()["slaves"])


def has_xdp(kind):
    """Native XDP, on this kernel."""
    return kind == "igb" or (kind == "vmxnet3" and KERNEL >= (6, 6))


def full_state(namespace, dev):
    return {**state(namespace, dev), "features": features(namespace, dev),
            "xdp": "xdp" in namespace.link(dev)}


def losses(made):
    """How often each slave has lost its carrier, or got it."""
    return [made.near.carrier_changes(dev) for dev in made.near.links]


def all_work(made):
    return all(slave["mii_status"] == "up" for slave in made.near.show()["slaves"])


def wait_hooks(made, *expected):
    wait_for(lambda: hooks(made.near) == list(expected) and all_work(made), f"hooks {expected}", 30)


def lro_of(made):
    return [features(made.near, dev)["large-receive-offload"] for dev in made.near.links]


def openers(host):
    """VLAN devices that bondd has made on slaves."""
    return [name for name in host.devices() if name.startswith("xbv")]


@pytest.mark.full
def test_lro_of_slaves_below_a_bridge(wired, shows):
    """As kernel bonding: what was put together on arrival cannot be sent on."""
    made = wired("vmxnet3")
    near, before = made.near, ["on", "on"]

    def lro():
        return lro_of(made)
    with shows("vmxnet3", "LRO is off while the bond is a bridge port, and comes back"):
        assert lro() == before
        made.switch().bond("active-backup")
        near.ip("link", "add", "br0", "type", "bridge")
        near.ip("link", "set", "bond0", "master", "br0")
        wait_for(lambda: lro() == ["off", "off"], "LRO to be off")
        near.kill_bondd()
        near.ip("link", "set", "bond0", "nomaster")
        near.start_bondd()
        wait_for(lambda: lro() == before, "LRO to be back")
        near.ip("link", "set", "bond0", "master", "br0")
        wait_for(lambda: lro() == ["off", "off"], "LRO to be off again")
        near.ctl("del-slave", "bond0", near.links[0])
        assert lro() == ["on", "off"]
        near.kill_bondd()
        near.ip("link", "del", "bond0")
        near.start_bondd()
        assert lro() == before


def test_lro_of_slaves_with_vlans(wired, shows):
    """The kernel turns it off below a VLAN device, and not on again after the last one."""
    made = wired("vmxnet3")
    near = made.near
    with shows("vmxnet3", "LRO comes back after the last VLAN"):
        made.switch().bond("active-backup")
        near.ip("link", "add", "br0", "type", "bridge")
        for vlan in (100, 101):
            add_vlan(near, "bond0", vlan, 1)
        wait_for(lambda: lro_of(made) == ["off", "off"], "LRO to be off")
        near.ip("link", "del", "bond0.100")
        wait_for(lambda: len(openers(near)) == 2, "those of the other VLAN alone")
        near.restart_bondd(kill=True)
        near.ip("link", "set", "bond0", "master", "br0")
        near.ip("link", "del", "bond0.101")
        wait_for(lambda: not openers(near), "the slaves' VLAN devices to go")
        assert lro_of(made) == ["off", "off"], near.log()  # of a bridge port, now
        near.ip("link", "set", "bond0", "nomaster")
        wait_for(lambda: lro_of(made) == ["on", "on"], "LRO to be back")
        add_vlan(near, "bond0", 100, 1)
        wait_for(lambda: lro_of(made) == ["off", "off"], "LRO to be off again")
        near.ctl("del-slave", "bond0", near.links[0])
        assert lro_of(made) == ["on", "off"]
        near.kill_bondd()
        near.ip("link", "del", "bond0")
        near.start_bondd()
        assert lro_of(made) == ["on", "on"]


@kinds("igb", "vmxnet3")
def test_a_restart_changes_nothing(wired, shows, kind):
    made = wired(kind)
    with shows(kind, "bondd's restart changes nothing on a slave, with rx_hook auto"):
        made.switch().bond("active-backup", "rx_hook", "auto")
        made.near.wait_slaves(*made.near.links)
        before = (losses(made), [full_state(made.near, dev) for dev in made.near.links],
                  hooks(made.near))
        stream = Stream(made.near, made.far, rate=200)
        stream.flow_on(100)
        for _ in range(2):
            made.near.restart_bondd(kill=True)
        stream.flow_on(100)
        result = stream.finish()
        assert (losses(made), [full_state(made.near, dev) for dev in made.near.links],
                hooks(made.near)) == before, made.near.log()
        assert result["lost"] == 0, result


@kinds("e1000e")
def test_auto_under_traffic(wired, shows, kind):
    """A NIC without XDP is not touched; others change one at a time, and the bond works all the
    time.
    """
    made = wired(kind)
    xdp = has_xdp(kind)
    with shows(kind, "rx_hook auto and tc under traffic, one slave at a time"):
        made.switch().bond("active-backup")
        before = losses(made)
        features_before = [features(made.near, dev) for dev in made.near.links]
        carrier = made.near.carrier_changes("bond0")
        stream = Stream(made.near, made.far, rate=200)
        stream.flow_on(100)
        for hook in ("auto", "tc"):
            made.near.ctl("set", "bond0", "rx_hook", hook)
            wait_hooks(made, *(["xdp"] if xdp and hook == "auto" else ["tc"]) * 2)
            stream.flow_on(100)
        result = stream.finish()
        assert made.near.carrier_changes("bond0") == carrier
        assert [features(made.near, dev) for dev in made.near.links] == features_before
        assert result["lost"] <= 5, result
        if not xdp or kind not in RESETS:
            assert losses(made) == before, made.near.log()
        shown = made.near.show()["slaves"]
        assert [slave["link_failures"] for slave in shown] == [0, 0], shown
        resets = [slave["resets"] for slave in shown]
        assert min(resets) >= 2 if xdp and kind in RESETS else resets == [0, 0], shown


@kinds("igb")
def test_lacp_one_at_a_time(wired, shows, kind):
    made = wired(kind)
    xdp = has_xdp(kind)
    with shows(kind, "802.3ad: rx_hook under traffic, one slave at a time"):
        made.kernel_bond("802.3ad", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4")
        made.bond("802.3ad", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4")
        wait_for(lambda: distributing(made) == 2, "both to distribute", 15)
        carrier = made.near.carrier_changes("bond0")
        to = Stream(made.near, made.far, rate=200, flows=16)
        back = Stream(made.far, made.near, to="10.0.0.1", rate=200, flows=16, port=9001)
        to.flow_on(100)
        dropped = {slave["name"]: slave["rx_dropped"] for slave in made.near.show()["slaves"]}
        made.near.ctl("set", "bond0", "rx_hook", "auto")
        if xdp:  # the first has left; what its partner sent meanwhile was still taken
            first = wait_for(lambda: [slave for slave in made.near.show()["slaves"]
                                      if slave["rx_hook"] == "xdp"], "the first change", 20)[0]
            assert first["rx_dropped"] == dropped[first["name"]]
        expected = ["xdp", "xdp"] if xdp else ["tc", "tc"]
        wait_for(lambda: hooks(made.near) == expected and distributing(made) == 2,
                 "both to be changed", 60)
        to.flow_on(100)
        results = to.finish(), back.finish()
        print("lost, there and back:", *((result["lost"], result["gaps"]) for result in results))
        assert made.near.carrier_changes("bond0") == carrier
        assert [slave["link_failures"] for slave in made.near.show()["slaves"]] == [0, 0]
        # Some while a port joins: kernel bonding sends on it before it says so. All at once it was
        # 2.4 s of both directions: 480.
        assert max(result["lost"] for result in results) <= 80, results


@kinds("igb")
@pytest.mark.parametrize("order", ["hook first",
                                   pytest.param("MTU first", marks=pytest.mark.full)])
def test_auto_yields_to_the_mtu(wired, shows, kind, order):
    made = wired(kind)
    xdp = ["xdp"] * 2 if has_xdp(kind) else ["tc"] * 2
    with shows(kind, "rx_hook auto gives way to a large MTU, and returns"):
        made.switch().bond("active-backup")
        for dev in (*made.far.links, "sw0"):
            made.far.ip("link", "set", dev, "mtu", 9000)
        if order == "hook first":
            made.near.ctl("set", "bond0", "rx_hook", "auto")
            wait_hooks(made, *xdp)
        made.near.ip("link", "set", "bond0", "mtu", 9000)
        wait_for(lambda: [made.near.link(dev)["mtu"] for dev in made.near.links] == [9000] * 2,
                 "the slaves to follow", 10)
        if order == "MTU first":
            made.near.ctl("set", "bond0", "rx_hook", "auto")
        made.near.wait_slaves(*made.near.links, deadline=20)
        assert made.near.link("bond0")["mtu"] == 9000
        made.near.wait_ping("10.0.0.2", size=8900, deadline=15)
        assert hooks(made.near) == ["tc", "tc"]  # by XDP none of these drivers takes large frames
        made.near.ip("link", "set", "bond0", "mtu", 1500)
        wait_hooks(made, *xdp)
        made.near.wait_ping("10.0.0.2", deadline=15)


@pytest.mark.parametrize("kind", ["igb"])
def test_xdp_by_name_and_the_mtu(wired, shows, kind):
    made = wired(kind)
    with shows(kind, "rx_hook xdp refuses a large MTU, and is refused by one"):
        made.switch().bond("active-backup", "rx_hook", "xdp")
        wait_hooks(made, "xdp", "xdp")
        made.near.ip("link", "set", "bond0", "mtu", 9000)
        wait_for(lambda: "while it receives through XDP" in made.near.log(), "the reason", 10)
        wait_for(lambda: made.near.link("bond0")["mtu"] == 1500, "the old MTU")
        made.near.ctl("set", "bond0", "rx_hook", "tc")
        wait_hooks(made, "tc", "tc")
        made.near.ip("link", "set", "bond0", "mtu", 9000)
        wait_for(lambda: [made.near.link(dev)["mtu"] for dev in made.near.links] == [9000] * 2,
                 "the slaves to follow", 10)
        wait_hooks(made, "tc", "tc")
        with pytest.raises(Refused, match="takes no XDP program at MTU 9000"):
            made.near.ctl("set", "bond0", "rx_hook", "xdp")
        assert made.near.show()["options"]["rx_hook"] == "tc" and hooks(made.near) == ["tc", "tc"]


@kinds("vmxnet3")
def test_state_is_restored(wired, shows, kind):
    """VLAN stripping, filters, LRO, MTU and all else, also after XDP and a VLAN."""
    made = wired(kind)
    xdp = has_xdp(kind)
    with shows(kind, "VLAN stripping and filters, LRO and all else are as before afterwards"):
        before = [full_state(made.near, dev) for dev in made.near.links]
        made.switch().bond("active-backup", "rx_hook", "xdp")
        wait_hooks(made, *(["xdp"] if xdp else ["tc"]) * 2)
        add_vlan(made.far, "sw0", 100, 2)
        add_vlan(made.near, "bond0", 100, 1)
        made.near.wait_ping("10.0.100.2", deadline=15)
        made.near.ip("link", "del", "bond0.100")
        made.near.ctl("set", "bond0", "rx_hook", "tc")
        wait_hooks(made, "tc", "tc")
        lro_before = [each["features"]["large-receive-offload"] for each in before]
        wait_for(lambda: lro_of(made) == lro_before, "LRO to be back")
        made.near.ctl("set", "bond0", "rx_hook", "auto")
        wait_hooks(made, *(["xdp"] if xdp else ["tc"]) * 2)
        made.near.ctl("delete", "bond0")
        wait_for(lambda: [full_state(made.near, dev) for dev in made.near.links] == before,
                 "everything to be as before")


@kinds()
@pytest.mark.parametrize("mode", MODES)
def test_modes(wired, shows, kind, mode):
    made = wired(kind)
    with shows(kind, f"{mode}: traffic both ways, cut of a link, and return"):
        made.kernel_bond(mode, *(["lacp_rate", "fast"] if mode == "802.3ad" else []))
        made.bond(mode, *(["lacp_rate", "fast"] if mode == "802.3ad" else []))
        for cut in (0, 1):
            for end in (0, 1):
                made.nics.cable(made.numbers[cut] + end, False)
            made.near.wait_slaves(made.near.links[1 - cut])
            made.near.wait_ping("10.0.0.2", deadline=15)
            for end in (0, 1):
                made.nics.cable(made.numbers[cut] + end, True)
            made.near.wait_slaves(*made.near.links, deadline=20)
            made.near.wait_ping("10.0.0.2", deadline=15)


@kinds()
def test_a_team(wired, shows, kind):
    """LACPDUs and VLANs past the team's receive handler, and everything is as before afterwards."""
    made = wired(kind)
    with shows(kind, "device team: 802.3ad and a VLAN, cut, kill -9; all is as before afterwards"):
        before = [full_state(made.near, dev) for dev in made.near.links]
        made.kernel_bond("802.3ad", "lacp_rate", "fast")
        made.bond("802.3ad", "lacp_rate", "fast", "device", "team")
        wait_for(lambda: distributing(made) == 2, "both to distribute", 15)
        assert {made.near.link(dev)["master"] for dev in made.near.links} == {"bond0"}
        add_vlan(made.far, "kb0", 100, 2)
        add_vlan(made.near, "bond0", 100, 1)
        made.near.wait_ping("10.0.100.2", deadline=15)
        for cut in (0, 1):
            made.nics.cable(made.numbers[cut], False)
            made.near.wait_slaves(made.near.links[1 - cut])
            made.near.wait_ping("10.0.100.2", deadline=15)
            made.near.kill_bondd()
            made.near.wait_ping("10.0.100.2", deadline=15)
            made.near.start_bondd()
            made.nics.cable(made.numbers[cut], True)
            made.near.wait_slaves(*made.near.links, deadline=20)
        wait_for(lambda: distributing(made) == 2, "both to distribute", 15)
        made.near.ctl("delete", "bond0")
        wait_for(lambda: [full_state(made.near, dev) for dev in made.near.links] == before,
                 "everything to be as before")


@kinds("igb")
def test_xdp_redirects_both_ways(wired, shows, kind):
    """What arrives by XDP, and what another XDP program sends through bond0."""
    made = wired(kind)
    if not has_xdp(kind):
        with shows(kind, "XDP: redirects to bond0, and of others through bond0"):
            pytest.skip("no native XDP in this kernel's driver")
    with shows(kind, "XDP: redirects to bond0, and of others through bond0"):
        made.switch().bond("balance-rr", "rx_hook", "xdp", "xdp_tx", "on")
        wait_hooks(made, "xdp", "xdp")
        Stream(made.far, made.near, to="10.0.0.1", count=300, rate=300, flows=16,
               port=9001).finish_unharmed()
        before = [made.far.received(dev)["packets"] for dev in made.far.links]

        def send_more():
            made.near.run(ROOT / "build/tools/xdplive", "lo", "bond0", 64)
            return all(made.far.received(dev)["packets"] - then >= 100
                       for dev, then in zip(made.far.links, before))
        wait_for(send_more, "the frames", 20)


@kinds()
def test_removed_and_back(wired, shows, kind):
    made = wired(kind)
    with shows(kind, "the NIC is removed under traffic, and comes back"):
        made.switch().bond("active-backup", "rx_hook", "auto")
        stream = Stream(made.near, made.far, rate=200)
        stream.flow_on(100)
        made.nics.unplug(made.numbers[0])
        wait_for(lambda: len(made.near.show()["slaves"]) == 1, "the slave to leave", 15)
        stream.flow_on(100)
        name = made.nics.plug_into(made.numbers[0], made.near, made.near.links[0])
        made.near.ctl("add-slave", "bond0", name)
        made.near.wait_slaves(*made.near.links, deadline=20)
        assert stream.finish()["duplicates"] == 0


def wait_operstate(host, dev, state):
    wait_for(lambda: host.link(dev)["operstate"] == state, f"{dev} to be {state}", 20)


def zero_copy_sender(made, kind, rate):
    """By all queues that each slave has: of an igb one for each CPU."""
    macs = [host.link(dev)["address"] for host, dev in ((made.near, "bond0"), (made.far, "sw0"))]
    queues = os.cpu_count() if kind == "igb" else 1
    return (BUILD / "tools/xskseq", made.near.bpf_dir / "bond0", *macs, rate, 0, 16, queues)


@pytest.mark.parametrize("rate, cuts", [(500, 2),
                                        pytest.param(4000, 20, marks=pytest.mark.full)])
@pytest.mark.parametrize("kind", ["igb", "virtio"])
def test_zero_copy(wired, shows, kind, rate, cuts):
    """The kernel does not say then what it cannot send, and a queue has no buffers of its own."""
    made = wired(kind)
    near, far = made.near, made.far
    with shows(kind, "AF_XDP in zero-copy mode (libxbond-xsk): cuts lose nothing, without bondd"):
        made.switch().bond("balance-xor", "xmit_hash_policy", "layer3+4")
        if KERNEL < (6, 14):
            done = near.run(*zero_copy_sender(made, kind, rate), check=False)
            assert "has no zero-copy mode" in done.stderr
            return
        for change in (lambda: None, near.freeze_bondd, near.kill_bondd):
            stream = Stream(near, far, sender=zero_copy_sender(made, kind, rate))
            stream.flow_on(500)
            change()
            for cut in range(cuts):
                for plugged, state in ((False, "DOWN"), (True, "UP")):
                    made.nics.cable(made.numbers[cut % 2], plugged)
                    wait_operstate(near, near.links[cut % 2], state)
                    stream.flow_on(300)
            result = stream.finish()
            print(result)
            # A guest that gets no CPU for a moment has full rings.
            assert result["made"] == result["sent"] + result["full"], result
            # On the wire, until the driver noticed, and what left until the next look.
            assert result["lost"] <= cuts * max(25, rate / 50), result
            near.thaw_bondd()
        near.start_bondd()
        made.near.wait_slaves(*near.links, deadline=20)
        holder = near.spawn(BUILD / "tools/xskhold", near.bpf_dir / "bond0", PORT, 1024, "zerocopy",
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert holder.stdout.readline() == "ready\n"
        near.wait_ping("10.0.0.2", deadline=15)
        send_packets(far, to="10.0.0.1", count=200, rate=500, flows=50)
        wait_for(lambda: counts_of(holder)["received"] == 200,
                 lambda: f"200 packets: {counts_of(holder)}")
        send_packets(far, to="10.0.0.1", count=4000, rate=2000, flows=50)  # nobody receives them
        assert send_and_count(made) == 400  # by all queues
        holder.stdin.close()
        assert holder.wait(10 * PATIENCE) == 0
        near.wait_ping("10.0.0.2", deadline=15)


def send_and_count(made):
    """Packets for the bond itself, of many flows: how many of 400 arrive."""
    return Stream(made.far, made.near, to="10.0.0.1", port=PORT + 1, count=400, rate=500,
                  flows=50).finish()["received"]


def counts_of(holder):
    """It receives all that there is."""
    holder.stdin.write("\n")
    holder.stdin.flush()
    return json.loads(holder.stdout.readline())


# SR-IOV: a virtual function of each igb. Its host is this machine's first namespace.

def physical_functions():
    """(number, path on the bus, name) of every igb."""
    for number, model in MODELS.items():
        for path in pathlib.Path("/sys/bus/pci/drivers/igb").glob("0000:*") if model == "igb" \
                else ():
            name = next((path / "net").iterdir()).name
            mac = pathlib.Path(f"/sys/class/net/{name}/address").read_text().strip()
            if mac == nic_mac(number):
                yield number, path, name


class Functions(Setting):
    """near's slaves v0 and v1 are virtual functions, whose MAC addresses the host has set; far is
    as ever.
    """
    MACS = ["02:00:00:00:07:00", "02:00:00:00:07:01"]

    def __init__(self, lab, nics):
        self.lab, self.nics = lab, nics
        self.near, self.far = lab.host("a"), lab.namespace("b")
        self.near.links, self.far.links, self.hosts = ["v0", "v1"], [], list(physical_functions())
        for index, (number, path, name) in enumerate(self.hosts):
            run("ip", "link", "set", name, "up")
            (path / "sriov_numvfs").write_text("1")
            run("ip", "link", "set", name, "vf", 0, "mac", self.MACS[index])
            function = self.driver_anew(path / "virtfn0")
            run("ip", "link", "set", function, "name", f"v{index}", "netns", self.near.name)
            run("ip", "link", "set", f"eth{number + 1}", "netns", self.far.name)
            self.far.ip("link", "set", f"eth{number + 1}", "up")
            self.far.links.append(f"eth{number + 1}")

    @staticmethod
    def driver_anew(path):
        """It asks its host for its address only at the start. The device's name."""
        here = lambda: [each.name for each in (path / "net").glob("*")]
        wait_for(here, "the virtual function", 10)
        for verb in ("unbind", "bind"):
            (pathlib.Path("/sys/bus/pci/drivers/igbvf") / verb).write_text(path.resolve().name)
        return wait_for(here, "the virtual function", 10)[0]

    def trust(self):
        """What the manual says that helps."""
        for _, _, name in self.hosts:
            run("ip", "link", "set", name, "vf", 0, "trust", "on")

    def close(self):
        for _, path, name in self.hosts:
            (path / "sriov_numvfs").write_text("0")
            run("ip", "link", "set", name, "down")


@pytest.fixture
def functions(lab, all_nics):
    if "igb" not in KINDS:
        pytest.skip("no igb")
    made = Functions(lab, all_nics)
    yield made
    made.close()


@pytest.mark.full
def test_virtual_function_refuses_the_bonds_mac(functions, shows):
    with shows("igbvf", "a virtual function that refuses the bond's MAC: refused, or the bond's "
               "MAC goes back"):
        made = functions.switch()
        near = made.near
        near.ctl("create", "bond0", "mode", "active-backup")
        with pytest.raises(Refused, match="a virtual function, does not take the bond's MAC"):
            near.ctl("add-slave", "bond0", "v0", "v1")  # v1 shall take v0's
        near.ctl("add-slave", "bond0", "v0")
        made.address(near, "bond0", 1)
        near.wait_ping("10.0.0.2", deadline=15)
        near.ip("link", "set", "bond0", "address", "02:00:00:00:00:77")
        wait_for(lambda: near.link("bond0")["address"] == made.MACS[0], "the bond's MAC to go back")
        assert "the bond goes back to" in near.log()
        near.wait_ping("10.0.0.2", deadline=15)
        made.trust()
        near.ctl("add-slave", "bond0", "v1")
        near.wait_slaves("v0", "v1", deadline=20)


@pytest.mark.full
def test_virtual_functions_with_mac_policy_filter(functions, shows):
    with shows("igbvf", "mac_policy filter: the log says that the host must let it"):
        made = functions.switch()
        made.near.ctl("create", "bond0", "mode", "active-backup", "mac_policy", "filter")
        made.near.ctl("add-slave", "bond0", "v0", "v1")
        assert "v1 is a virtual function" in made.near.log() and \
            "v0 is a virtual function" not in made.near.log()


@pytest.mark.full
def test_restart_with_virtual_functions(functions, shows):
    with shows("igbvf", "bondd's restart changes nothing on a slave, with rx_hook auto"):
        made = functions.switch()
        made.trust()
        made.bond("active-backup", "rx_hook", "auto")
        before = (losses(made), [full_state(made.near, dev) for dev in made.near.links],
                  hooks(made.near))
        for _ in range(2):
            made.near.restart_bondd(kill=True)
        made.near.wait_ping("10.0.0.2", deadline=15)
        assert (losses(made), [full_state(made.near, dev) for dev in made.near.links],
                hooks(made.near)) == before, made.near.log()


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
def test_modes_with_virtual_functions(functions, shows, mode):
    with shows("igbvf", f"{mode}: traffic both ways"):
        made, lacp = functions, ["lacp_rate", "fast"] if mode == "802.3ad" else []
        made.trust()
        made.kernel_bond(mode, *lacp)
        made.bond(mode, *lacp)
        made.near.wait_ping("fd00::2", deadline=15)
        made.far.wait_ping("10.0.0.1", deadline=15)
        if mode == "802.3ad":
            wait_for(lambda: distributing(made) == 2, "both to distribute", 15)
