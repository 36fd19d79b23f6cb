# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods with bonds: by podman, by cnitool, and fifty of them by calls of the specification."""
import json
import os
import pathlib
import re
import shutil

import pytest

from built import BUILD
from cni import Pod, Runtime
from namespace import memory_kb, open_files, run
from podman import DEBIAN_PLUGINS, Podman
from waiting import wait_for

MANY = 50

needs_podman = pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed")


def plug(switch, namespace, name, port):
    """A link to the switch."""
    switch.ip("link", "add", port, "type", "veth", "peer", "name", name, "netns", namespace.name)
    switch.ip("link", "set", port, "master", "br0", "up")


@pytest.fixture(name="switch")
def _switch(lab):
    switch = lab.namespace("s")
    switch.ip("link", "add", "br0", "type", "bridge")
    switch.ip("link", "set", "br0", "up")
    switch.ip("addr", "add", "10.1.0.1/16", "dev", "br0")
    return switch


@pytest.fixture(name="podman")
def _podman(lab):
    made = Podman(lab.host("a"))
    made.make_image()
    yield made
    made.end()


def pods_namespaces():
    """Those that podman made, of all on this machine."""
    return {name for name in os.listdir("/run/netns") if name.startswith("netns-")}


def bonds(host):
    return host.ctl_json("list")


def bond_network(links, address):
    return {"type": "xbond", "mode": "active-backup", "miimon": 100, "ifname": "bond0",
            "links": [{"name": link} for link in links],
            "ipam": {"type": "static", "addresses": [{"address": address}]}}


@needs_podman
def test_two_pods_of_podman(podman, switch):
    """A bond each, over links of the host: traffic, a cut, deletion."""
    host = podman.host
    for number, pod in enumerate(("one", "two")):
        links = [f"{pod}{link}" for link in "ab"]
        for link in links:
            plug(switch, host, link, f"p-{link}")
        podman.network(pod, bond_network(links, f"10.1.1.{number + 1}/16"))
    devices, spaces = host.devices(), pods_namespaces()
    for pod in ("one", "two"):
        podman.start(pod, "--network", pod)
    assert len(pods_namespaces() - spaces) == 2
    assert len(bonds(host)) == 2 and len(list(host.run_dir.glob("cni/*.json"))) == 2
    shown = podman.inside("one", "ip", "addr", "show", "bond0").stdout
    assert "10.1.1.1/16" in shown and "UP" in shown

    def reaches(count=1, wait=1):
        return podman.inside("one", "ping", "-c", str(count), "-W", str(wait), "10.1.1.2",
                             check=False)
    wait_for(lambda: reaches().returncode == 0, "the other pod to answer", 10)
    active = {host.show(name)["active_slave"] for name in bonds(host)}
    for link in active:
        switch.ip("link", "set", f"p-{link}", "down")
    wait_for(lambda: active.isdisjoint(host.show(name)["active_slave"] for name in bonds(host)),
             "the other links to take over")
    done = reaches(count=3)
    assert done.returncode == 0 and "3 packets received" in done.stdout, done.stdout
    podman.remove("one", "two")
    assert bonds(host) == [] and host.pins() == [] and not list(host.run_dir.glob("cni/*"))
    wait_for(lambda: host.devices() == devices, "only the links to be left")
    assert pods_namespaces() == spaces


@needs_podman
def test_a_chain_of_podman(podman, switch):
    """Debian's bridge gives the pod eth0; xbond adds a bond with an address of host-local."""
    host = podman.host
    for link in "ab":
        plug(switch, host, f"c{link}", f"p-c{link}")
    podman.network("chain", {"type": "bridge", "bridge": "cni9", "ipam": {
        "type": "host-local", "subnet": "10.9.0.0/24", "dataDir": f"{podman.dir}/ipam"}},
        {**bond_network(["ca", "cb"], ""), "ipam": {
            "type": "host-local", "ranges": [[{"subnet": "10.1.0.0/16", "rangeStart": "10.1.2.1"}]],
            "dataDir": f"{podman.dir}/ipam2"}})
    podman.start("three", "--network", "chain")
    assert "10.9.0." in podman.inside("three", "ip", "addr", "show", "eth0").stdout
    wait_for(lambda: podman.inside("three", "ping", "-c", "1", "-W", "1", "10.1.0.1",
                                   check=False).returncode == 0, "the switch to answer", 10)
    podman.remove("three")
    assert bonds(host) == [] and host.pins() == []
    left = [path for path in pathlib.Path(f"{podman.dir}/ipam2/chain").iterdir()
            if re.match(r"10\.", path.name)]
    assert left == []


@pytest.mark.skipif(not shutil.which("cnitool"), reason="cnitool is not installed (Debian has it "
                    "not; from github.com/containernetworking/cni)")
@pytest.mark.parametrize("version", ("1.0.0", "1.1.0"))
def test_cnitool(lab, switch, version):
    """The reference runtime gives a pod a bond, checks it, sees that it is gone, and takes back.
    Debian's plugins for addresses know versions up to 1.0.0.
    """
    network = bond_network(["a", "b"], "10.1.1.1/16")
    if version == "1.1.0":
        del network["ipam"]
    host, pod = lab.host("a"), lab.namespace("pod")
    for link in "ab":
        plug(switch, host, link, f"p-{link}")
    networks = host.dir / "net.d"
    networks.mkdir()
    (networks / "box.conflist").write_text(json.dumps(
        {"cniVersion": version, "name": "box",
         "plugins": [network]}))
    environment = {**os.environ, "CNI_PATH": f"{BUILD}/cni:{DEBIAN_PLUGINS}",
                   "NETCONFPATH": str(networks), "CNI_IFNAME": "bond0",
                   "XBOND_RUN_DIR": str(host.run_dir), "XBOND_BPF_DIR": str(host.bpf_dir)}

    def cnitool(command, check=True):
        return run(*host.command("cnitool", command, "box", pod.path), check=check,
                   env=environment)
    devices = host.devices()
    added = json.loads(cnitool("add").stdout)
    assert added["cniVersion"] == version
    assert [each["name"] for each in added["interfaces"]].count("bond0") == 1
    try:
        if version == "1.1.0":
            cnitool("status")
            pod.ip("addr", "add", "10.1.1.1/16", "dev", "bond0")
        pod.wait_ping("10.1.0.1")
        cnitool("check")
        pod.ip("link", "del", "bond0")
        gone = cnitool("check", check=False)
        assert gone.returncode == 1 and "bond0" in gone.stderr, gone.stderr
    finally:
        if version == "1.1.0":  # with no list of what is in use, so libcni calls DEL for all
            assert "GC needs the list" in cnitool("gc", check=False).stderr
        else:
            cnitool("del")
    assert bonds(host) == [] and host.pins() == [] and not list(host.run_dir.glob("cni/*"))
    wait_for(lambda: host.devices() == devices, "only the links to be left")


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_fifty_pods_leave_nothing(lab, switch):
    """All at once, with Debian's host-local; then a second time, for which bondd needs no more
    memory and no more descriptors.
    """
    if not os.path.exists(f"{DEBIAN_PLUGINS}/host-local"):
        pytest.skip("containernetworking-plugins is not installed")
    host = lab.host("a")
    runtime = Runtime(host, DEBIAN_PLUGINS)
    config = {"cniVersion": "1.0.0", "name": "many", "type": "xbond", "mode": "802.3ad",
              "linksInContainer": True, "links": [{"name": "net1"}, {"name": "net2"}],
              "ipam": {"type": "host-local", "subnet": "10.1.0.0/16", "rangeStart": "10.1.3.1",
                       "dataDir": str(host.dir / "ipam")}}

    def come_and_go(letter):
        pods = [Pod(runtime, lab.namespace(f"{letter}{number}"), f"{letter}{number}")
                for number in range(MANY)]
        for number, pod in enumerate(pods):
            for link in ("net1", "net2"):
                plug(switch, pod.namespace, link, f"p{number}-{link}")
            pod.add(config)
        assert len(bonds(host)) == MANY
        for pod in (pods[0], pods[-1]):
            pod.namespace.wait_ping("10.1.0.1")
        for pod in pods:
            pod.delete(config)
            lab.namespaces.remove(pod.namespace)
            pod.namespace.remove()
        assert bonds(host) == [] and host.pins() == [] and runtime.records() == []
        assert host.devices() == {"lo"} and children(host.bondd.pid) == []
        addresses = [path.name for path in (host.dir / "ipam/many").iterdir()
                     if path.name.startswith("10.")]
        assert addresses == []
        return memory_kb(host.bondd.pid), len(open_files(host.bondd.pid))
    memory, descriptors = come_and_go("x")
    memory_then, descriptors_then = come_and_go("y")
    print(f"bondd: {memory} kB and {descriptors} descriptors after {MANY} pods, {memory_then} kB "
          f"and {descriptors_then} after {2 * MANY}")
    assert descriptors_then <= descriptors and memory_then < memory * 1.1
