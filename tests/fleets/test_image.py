# SPDX-License-Identifier: GPL-2.0-or-later
"""The image: its layers, and bondd and the plugin run from it, as the DaemonSet has them."""
import json
import pathlib
import shutil
import subprocess
import tarfile

import pytest
import yaml

from built import BUILD, ROOT
from cni import Pod, Runtime
from namespace import run
from podman import AS_IT_IS, Podman
from waiting import wait_for

MANIFEST = ROOT / "packaging/kubernetes/xbond.yaml"
TAG = "localhost/xbond:test"

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("mmdebstrap", "umoci", "podman"))),
    reason="mmdebstrap, umoci or podman is not installed")


@pytest.fixture(scope="module", name="image")
def _image():
    run(ROOT / "packaging/image/build", BUILD, timeout=600)
    return BUILD / "xbond-image.tar"


def pod_of_manifest():
    return yaml.safe_load(MANIFEST.read_text())["spec"]["template"]["spec"]


def test_layout(image):
    """Two layers; bondd begins by itself; small."""
    with tarfile.open(image) as archive:
        names = {name.removeprefix("./") for name in archive.getnames()}

        def blob(digest):
            return json.load(archive.extractfile(f"./blobs/{digest.replace(':', '/')}"))
        index = json.load(archive.extractfile("./index.json"))
        manifest = blob(index["manifests"][0]["digest"])
        config = blob(manifest["config"]["digest"])
    assert "oci-layout" in names and len(manifest["layers"]) == 2
    assert config["config"]["Entrypoint"] == ["/usr/sbin/bondd"]
    version = (ROOT / "VERSION").read_text().strip()
    assert config["config"]["Labels"]["org.opencontainers.image.version"] == version
    print(f"{image.stat().st_size >> 20} MB")
    assert image.stat().st_size < 100 << 20


PROPAGATION = {None: "", "HostToContainer": ":rslave", "Bidirectional": ":rshared"}


def mounts(host):
    """Those of the manifest, with the directories of a test behind them."""
    behind = {"bpf": "/sys/fs/bpf", "run": host.run_dir, "config": host.config_dir,
              "netns": "/run/netns"}
    container = pod_of_manifest()["containers"][0]
    return [f"--volume={behind[each['name']]}:{each['mountPath']}"
            + PROPAGATION[each.get("mountPropagation")]
            for each in container["volumeMounts"]]


@pytest.fixture(name="podman")
def _podman(lab, image):
    made = Podman(lab.host("a", bondd=False))
    made.call("load", "-i", image)
    loaded = made.call("images", "-q").stdout.split()[0]
    made.call("tag", loaded, TAG)
    yield made
    made.end()


def test_it_serves_a_pod(podman, lab):
    """By the manifest's mounts, probe and commands; bonds outlive the container."""
    host, spec = podman.host, pod_of_manifest()
    host.run_dir.mkdir()
    bondd = spec["containers"][0]
    start = ["run", "-d", "--privileged", "--read-only", *AS_IT_IS, "--network",
             f"ns:{host.path}", *mounts(host)]
    podman.call(*start, "--name", "bondd", TAG, "--bpf-dir", host.bpf_dir)
    wait_for(host.ping_bondd, "bondd in its container", 15)
    probe = bondd["readinessProbe"]["exec"]["command"]
    assert probe == bondd["livenessProbe"]["exec"]["command"]
    podman.call("exec", "bondd", *probe)

    there = host.dir / "cni-bin"
    there.mkdir()
    install = spec["initContainers"][0]
    podman.call("run", "--rm", "--read-only", *AS_IT_IS, "--network=none",
                f"--volume={there}:{install['volumeMounts'][0]['mountPath']}", "--entrypoint",
                install["command"][0], TAG, *install["command"][1:])
    assert [path.name for path in there.iterdir()] == ["xbond"]
    assert subprocess.run([there / "xbond"], env={"CNI_COMMAND": "VERSION"}, check=True,
                          capture_output=True).stdout

    switch, space = lab.namespace("s"), lab.namespace("p")
    for name in ("net1", "net2"):
        switch.ip("link", "add", name, "type", "veth", "peer", "name", name, "netns", space.name)
        switch.ip("link", "set", name, "up")
    config = {"cniVersion": "1.0.0", "name": "n", "type": "xbond", "mode": "active-backup",
              "failOverMac": 1, "mtu": 1400, "linksInContainer": True,
              "links": [{"name": "net1"}, {"name": "net2"}]}
    pod = Pod(Runtime(host), space, "in-image")
    result = pod.add(config)
    # fail_over_mac: bondd enters the pod's namespace for it, by the mount of /run/netns.
    other = space.link("bond0")["address"]
    switch.ip("link", "set", "net1", "down")
    wait_for(lambda: space.link("bond0")["address"] != other, "the other slave's address")
    podman.remove("bondd")
    assert space.exists("bond0") and host.pins()
    podman.call(*start, "--name", "again", TAG, "--bpf-dir", host.bpf_dir)
    wait_for(host.ping_bondd, "bondd in its next container", 15)
    switch.ip("link", "set", "net1", "up")
    assert result["interfaces"][0]["name"] == "bond0"
    pod.delete(config)
    assert host.pins() == [] and space.devices() == {"lo", "net1", "net2"}
    assert not list(pathlib.Path(host.run_dir, "cni").iterdir())
