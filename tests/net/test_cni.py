# SPDX-License-Identifier: GPL-2.0-or-later
"""The CNI plugin, called by the spec: a bond in a pod, and nothing left of it."""
import itertools
import json
import re
import signal

import pytest

from cni import Failed, Pod, Runtime
from namespace import end, run
from waiting import wait_for

LINKS = ["net1", "net2"]


def network(**more):
    """Two links, one address."""
    return {"cniVersion": "1.0.0", "name": "net", "type": "xbond", "mode": "active-backup",
            "miimon": "100", "linksInContainer": True, "links": [{"name": name} for name in LINKS],
            "ipam": {"type": "xbond-test-ipam", "answer": {
                "ips": [{"address": "10.0.0.1/24", "gateway": "10.0.0.2"},
                        {"address": "fd00::1/64"}],
                "routes": [{"dst": "0.0.0.0/0"}, {"dst": "10.8.0.0/16", "gw": "10.0.0.3"}]}},
            **more}


class Node:
    """A host with bondd, a switch, and pods with two links to it each."""

    def __init__(self, lab):
        self.lab = lab
        self.host = lab.host("a")
        self.switch = lab.namespace("s")
        self.runtime = Runtime(self.host)
        self.numbers = itertools.count()
        self.switch.ip("link", "add", "br0", "type", "bridge")
        self.switch.ip("link", "set", "br0", "up")
        self.switch.ip("addr", "add", "10.0.0.2/24", "dev", "br0")
        self.switch.ip("addr", "add", "fd00::2/64", "dev", "br0", "nodad")

    def plug(self, namespace, name):
        """A link from the switch; returns its name there."""
        there = f"p{next(self.numbers)}"
        self.switch.ip("link", "add", there, "type", "veth", "peer", "name", name, "netns",
                       namespace.name)
        self.switch.ip("link", "set", there, "master", "br0", "up")
        return there

    def pod(self, letter, names=LINKS, ifname="bond0"):
        namespace = self.lab.namespace(letter)
        pod = Pod(self.runtime, namespace, f"pod-{letter}", ifname)
        pod.ports = [self.plug(namespace, name) for name in names]
        return pod

    def remove(self, pod):
        self.lab.namespaces.remove(pod.namespace)
        pod.namespace.remove()

    def is_clean(self):
        return not self.runtime.records() and not self.host.pins() \
            and self.host.devices() == {"lo"} and self.host.ctl_json("list") == []


@pytest.fixture(name="node")
def _node(lab):
    return Node(lab)


def test_a_bond_in_a_pod(node):
    """Made, checked, used, cut, deleted, deleted again."""
    pod, config = node.pod("p"), network(mtu=1400, primary="net2", allSlavesActive=0)
    own = {name: pod.namespace.link(name)["address"] for name in LINKS}
    pod.namespace.ip("link", "set", "net1", "up")
    pod.namespace.ip("link", "set", "bond0", "up", check=False)
    result = pod.add(config)
    device = pod.namespace.link("bond0")
    assert result == {
        "cniVersion": "1.0.0", "interfaces": [
            {"name": "bond0", "mac": device["address"], "sandbox": pod.namespace.path}],
        "ips": [{"address": "10.0.0.1/24", "gateway": "10.0.0.2", "interface": 0},
                {"address": "fd00::1/64", "interface": 0}],
        "routes": config["ipam"]["answer"]["routes"]}
    assert device["mtu"] == 1400 and "UP" in device["flags"] and device["address"] == own["net1"]
    routes = {each["dst"]: each.get("gateway") for each in pod.namespace.ip_json("route")}
    assert routes == {"default": "10.0.0.2", "10.8.0.0/16": "10.0.0.3", "10.0.0.0/24": None}
    assert pod.namespace.devices() == {"lo", "bond0"}
    name = node.host.ctl_json("list")[0]
    assert device["ifalias"] == f"xbond: {name} on the host"
    wait_for(lambda: pod.namespace.ping("10.0.0.2"), "the switch to answer")
    pod.namespace.wait_ping("fd00::2")
    wait_for(lambda: node.host.show(name)["active_slave"] == f"{name}-1",
             "net2, which is called otherwise on the host")
    run(*pod.namespace.command("ip", "-batch", "-"), input="".join(
        f"addr add 10.1.0.{host}/32 dev bond0\n" for host in range(100)))
    pod.check(config, result)
    node.switch.ip("link", "set", pod.ports[1], "down")
    wait_for(lambda: pod.namespace.ping("10.0.0.2"), "the other link to carry on")
    pod.namespace.ip("addr", "del", "fd00::1/64", "dev", "bond0")
    with pytest.raises(Failed, match=r"^103: the address fd00::1/64 is missing"):
        pod.check(config, result)
    with pytest.raises(Failed, match="already"):
        pod.add(config)
    pod.delete(config)
    assert node.is_clean()
    assert {name: pod.namespace.link(name)["address"] for name in LINKS} == own
    assert ["UP" in pod.namespace.link(name)["flags"] for name in LINKS] == [True, False]
    pod.delete(config)
    with pytest.raises(Failed, match="^3: there is no bond bond0 of container pod-p"):
        pod.check(config, result)


def test_links_of_the_host_and_a_chain(node):
    """Behind another plugin, with links that stay on the host; in 802.3ad, which must begin at
    once; and the pod goes away without a word.
    """
    pod = node.pod("p", names=[], ifname="eth0")
    for name in LINKS:
        node.plug(node.host, name)
    before = {"interfaces": [{"name": "eth0", "mac": "02:00:00:00:00:09", "sandbox": "/x"}],
              "ips": [{"address": "192.0.2.1/24", "interface": 0}]}
    config = network(cniVersion="0.4.0", linksInContainer=False, ifname="bond7", mode="802.3ad",
                     lacpRate=1, xmitHashPolicy="layer3+4", prevResult=before,
                     runtimeConfig={"mac": "02:00:00:00:00:07"},
                     links=[{"name": "net1", "actorPortPrio": 7}, {"name": "net2"}],
                     ipam={"type": "xbond-test-ipam",
                           "answer": {"ips": [{"address": "10.0.0.1/24"}]}})
    result = pod.add(config)
    assert result["interfaces"] == [*before["interfaces"], {
        "name": "bond7", "mac": "02:00:00:00:00:07", "sandbox": pod.namespace.path}]
    assert result["ips"] == [*before["ips"],
                             {"address": "10.0.0.1/24", "version": "4", "interface": 1}]
    name = node.host.ctl_json("list")[0]
    wait_for(lambda: [slave["mac"] for slave in node.host.show(name)["slaves"]]
             == ["02:00:00:00:00:07"] * 2, "the slaves to have the address")
    show = node.host.show(name)
    assert show["options"]["lacp_rate"] == "fast"
    assert [each["options"]["actor_port_prio"] for each in show["slaves"]] == [7, 255]
    pod.namespace.wait_ping("10.0.0.2")  # by the fallback: the switch speaks no LACP
    node.remove(pod)
    wait_for(lambda: node.host.ctl_json("list") == [], "bondd to see that the bond has gone")
    assert node.host.devices() == {"lo", *LINKS}
    pod.delete(config)
    assert not node.runtime.records() and node.host.devices() == {"lo", *LINKS}


def test_what_a_pod_leaves_behind(node):
    """The pod is gone: its links end as they would have ended with it. By DEL, and by GC."""
    config = network(cniVersion="1.1.0")
    pods = [node.pod(letter) for letter in "pqr"]
    for pod in pods:
        pod.add(config)
    stays, *goes = pods
    for pod in goes:
        node.remove(pod)
    pods[1].delete(config)
    valid = [{"containerID": stays.words["container"], "ifname": "bond0"}]
    with pytest.raises(Failed, match="valid-attachments"):
        node.runtime.call("GC", config)
    node.runtime.call("GC", {**config, "name": "other", "cni.dev/attachments": []})
    assert len(node.runtime.records()) == 2
    node.runtime.call("GC", {**config, "cni.dev/valid-attachments": valid})
    name = node.host.ctl_json("list")
    assert len(name) == 1 and node.runtime.records() == [f"{name[0]}.json"]
    assert node.host.devices() == {"lo", f"xb-{name[0]}", f"{name[0]}-0", f"{name[0]}-1"}
    stays.namespace.wait_ping("10.0.0.2")
    node.runtime.call("GC", {**config, "cni.dev/valid-attachments": []})
    assert node.is_clean() and stays.namespace.devices() == {"lo", *LINKS}


def test_a_failure_is_undone(node, tmp_path):
    """Wherever ADD fails, and wherever it dies."""
    pod, good = node.pod("p"), network()
    own = {name: pod.namespace.link(name)["address"] for name in LINKS}
    log = tmp_path / "ipam.log"

    def is_as_before():
        return node.is_clean() and own == {
            name: pod.namespace.link(name)["address"]
            for name in pod.namespace.devices() - {"lo"}}

    ipam = {**good["ipam"], "log": str(log)}
    wrong = {
        r"^777: ADD of the ipam plugin .* failed: all are taken: really":
            {"ipam": {**ipam, "fail": "ADD", "error": {"code": 777, "msg": "all are taken",
                                                       "details": "really"}}},
        "^102: ADD of the ipam plugin .* failed: it gave no reason":
            {"ipam": {**ipam, "fail": "ADD", "error": {"code": -1}}},
        r"^6: ips: no address: 10.0.0.1/33":
            {"ipam": {**ipam, "answer": {"ips": [{"address": "10.0.0.1/33"}]}}},
        "^101: routes, number 1: ":
            {"ipam": {**ipam, "answer": {"routes": [{"dst": "10.9.0.0/16", "gw": "10.7.0.1"}]}}},
        "^102: there is no plugin nobody in CNI_PATH": {"ipam": {"type": "nobody"}},
        "^102: ADD of the ipam plugin .* gave no result": {"ipam": {**ipam, "raw": ""}},
        "^7: links: there is no device net3 in the container":
            {"links": [{"name": "net1"}, {"name": "net3"}]},
        "^100: .*net3": {"links": [{"name": "net3"}], "linksInContainer": False},
        "^101: ": {"mtu": 65000, "links": [{"name": "net1"}], "ifname": "lo0", "mode": "802.3ad",
                   "ipam": {**ipam, "answer": {"ips": [{"address": "10.0.0.1/24"}] * 2}}},
        "^7: there is a device net1 in the container already": {"ifname": "net1"},
    }
    for error, more in wrong.items():
        with pytest.raises(Failed, match=error):
            pod.add({**good, **more})
        assert is_as_before(), error
    assert log.read_text().split("\n")[:2] == ["ADD pod-p bond0", "DEL pod-p bond0"]

    child = node.runtime.spawn("ADD", {**good, "ipam": {**ipam, "hang": True}}, **pod.words)
    wait_for(lambda: pod.namespace.exists("bond0"), "the bond to be in the pod")
    end(child, signal.SIGKILL)
    assert not node.is_clean()
    pod.delete(good)
    assert is_as_before()

    node.host.stop_bondd()
    with pytest.raises(Failed, match="^11: bondd is not running"):
        pod.add(good)
    assert node.runtime.records() == [] and set(LINKS) <= pod.namespace.devices()
    with pytest.raises(Failed, match="^50: bondd is not running"):
        node.runtime.call("STATUS", {**good, "cniVersion": "1.1.0"})
    node.host.start_bondd()
    assert node.runtime.call("STATUS", {**good, "cniVersion": "1.1.0"}) is None
    node.host.freeze_bondd()
    with pytest.raises(Failed, match="^50: bondd has not answered within 5 s"):
        node.runtime.call("STATUS", {**good, "cniVersion": "1.1.0"})
    node.host.thaw_bondd()
    result = pod.add(good)
    node.host.kill_bondd()
    with pytest.raises(Failed, match="^11: bondd is not running"):
        pod.delete(good)
    pod.namespace.wait_ping("10.0.0.2")
    node.host.start_bondd()
    pod.check(good, result)
    pod.delete(good)
    assert is_as_before()


def test_bondd_dies_in_the_middle(node):
    """At some steps of create and add-slave: DEL cleans up when there is a bondd again."""
    pod, config = node.pod("p"), network(ipam={})
    node.host.stop_bondd()
    for step in ("create-device", "bond-mac-set"):
        with node.host.dying_at(step):
            with pytest.raises(Failed, match="^11: bondd was lost during the request"):
                pod.add(config)
        node.host.start_bondd()
        pod.delete(config)
        assert node.is_clean() and pod.namespace.devices() == {"lo", *LINKS}, step
        node.host.stop_bondd()


BROKEN = [
    ("", "^6: the network configuration on stdin: line 1"),
    ("[]", "^6: .*is not an object"),
    ('{"a": 1, "a": 2}', "^6: .*duplicate"),
    ("[" * 5000, "^6: "),
    (b"\xff\xfe{}", "^6: "),
    ({"cniVersion": "1.0.0"}, "^7: name: "),
    (network(cniVersion="2.0.0"), "^1: cniVersion 2.0.0 is not supported"),
    (network(cniVersion=1), "^7: cniVersion: a text is needed"),
    (network(name="a/../b"), "^7: name: "),
    (network(failOverMacs=1), "^2: unsupported field failOverMacs with value 1"),
    (network(failOverMac=1, fail_over_mac="none"), "^7: fail_over_mac is given twice"),
    (network(mode="balance-all"), "^7: .*balance-all"),
    (network(mode={"a": 1}), "^7: mode: a text or a number is needed"),
    (network(mode="802.3ad", primary="net1"), "^7: .*primary"),
    (network(miimon="100ms"), "^7: .*miimon"),
    (network(device="team"), "^7: device: a team stays in its network namespace"),
    (network(links=[]), "^7: links: at least one"),
    (network(links={"name": "net1"}), "^7: links: at least one"),
    (network(links=[{"name": "../x"}]), "^7: links: each needs a name"),
    (network(links=[{"name": "net1"}] * 2), "^7: links: net1 is given twice"),
    (network(links=[{"name": f"n{i}"} for i in range(65)]), "^7: links: a bond has at most 64"),
    (network(links=[{"name": "net1", "weigth": 1}]), "^2: unsupported field weigth"),
    (network(links=[{"name": "net1", "weight": 70000}]), "^7: .*weight"),
    (network(mtu=70000), "^7: mtu: "),
    (network(mtu="1500"), "^7: mtu: "),
    (network(ifname="a b"), "^7: ifname: "),
    (network(linksInContainer=1), "^7: linksInContainer: "),
    (network(mac="01:00:5e:00:00:01"), "^7: mac: "),
    (network(ipam="host-local"), "^7: ipam: "),
    (network(ipam={"type": "../../bin/sh"}), "^7: ipam: "),
    (network(prevResult=[]), "^7: prevResult: "),
    (network(runDir=7), "^7: runDir: "),
    (network(mode="\u00fc" * 200), "^7: "),
    ({**network(), "\u00fc" * 40: 1}, r"^2: unsupported field "),
]
# Without these, nobody knows what to delete.
DEL_REFUSES = r"\^1: |\^7: (name|cniVersion|runDir): "


def test_bad_input_is_refused(node):
    """By the code of the spec, before anything is changed."""
    pod = node.pod("p")
    for config, error in BROKEN:
        with pytest.raises(Failed, match=error):
            pod.add(config)
        # The runtime calls DEL afterwards, and keeps the pod until it succeeds.
        if isinstance(config, dict) and not re.match(DEL_REFUSES, error):
            pod.delete(config)
    good = network()
    environment = [
        ({"container": None}, "^4: CNI_CONTAINERID is missing"),
        ({"container": "../x"}, "^4: CNI_CONTAINERID is not valid"),
        ({"ifname": "a/b"}, "^4: CNI_IFNAME is not valid"),
        ({"ifname": "\udcfc"}, r"^4: CNI_IFNAME is not valid: \?"),
        ({"ifname": ""}, "^4: CNI_IFNAME is missing"),
        ({"netns": "/etc/passwd"}, "^3: there is no network namespace at /etc/passwd"),
        ({"netns": "/proc/self/ns/mnt"}, "^3: .* Invalid argument"),
        ({"netns": node.host.path}, "^4: .* is the namespace of the host"),
    ]
    for change, error in environment:
        with pytest.raises(Failed, match=error):
            node.runtime.call("ADD", good, **{**pod.words, **change})
    with pytest.raises(Failed, match="^4: CNI_COMMAND is not known: ADDD"):
        node.runtime.call("ADDD", good, **pod.words)
    assert node.is_clean() and pod.namespace.devices() == {"lo", *LINKS}
    versions = node.runtime.call("VERSION", {"cniVersion": "9.9"})
    assert versions["supportedVersions"][-1] == "1.1.0"
    # Another namespace than bondd's: found out, and undone.
    there = Runtime(node.host)
    there.host = node.switch
    there.host.run_dir = node.host.run_dir
    with pytest.raises(Failed, match="^100: bondd serves another namespace"):
        there.call("ADD", good, **pod.words)
    assert node.is_clean() and pod.namespace.devices() == {"lo", *LINKS}


def test_files_of_others(node):
    """A record that somebody has written into, and a directory that cannot be written."""
    pod, config = node.pod("p"), network(ipam={})
    pod.add(config)
    record = node.host.run_dir / "cni" / node.runtime.records()[0]
    text = record.read_text()
    for junk in ("", "{}", text.replace('"net1"', '"../net1"'), text[:80]):
        record.write_text(junk)
        with pytest.raises(Failed, match="^5: .* cannot be read"):
            pod.delete(config)
    record.write_text(json.dumps({**json.loads(text), "containerID": "other"}))
    pod.delete(config)  # it is not this container's
    assert len(node.host.ctl_json("list")) == 1
    record.write_text(text)
    pod.delete(config)
    assert node.is_clean()
    run("rmdir", record.parent)
    record.parent.write_text("")
    with pytest.raises(Failed, match="^5: "):
        pod.add(config)
    assert pod.namespace.devices() == {"lo", *LINKS}
    record.parent.unlink()
