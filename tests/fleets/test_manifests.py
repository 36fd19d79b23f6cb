# SPDX-License-Identifier: GPL-2.0-or-later
"""The manifests for Kubernetes: as yamllint likes them, and with what bondd needs."""
import json
import re
import shutil
import subprocess

import pytest
import yaml

from built import BUILD, ROOT

KUBERNETES = ROOT / "packaging/kubernetes"
LINT = ["yamllint", "--strict", "-d", "{extends: default, rules: {line-length: {max: 100}, "
        "braces: {max-spaces-inside: 0}, truthy: {check-keys: false}}}"]


@pytest.mark.skipif(not shutil.which("yamllint"), reason="yamllint is not installed")
@pytest.mark.parametrize("directory", ["kubernetes", "ansible"])
def test_yamllint(directory):
    done = subprocess.run([*LINT, ROOT / "packaging" / directory], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout


def default_paths():
    """Of lib/common/paths.c."""
    source = (ROOT / "lib/common/paths.c").read_text()
    found = re.findall(r'"(/[\w/]+/xbond)"', source)
    assert len(found) == 3
    return found


def manifest():
    return yaml.safe_load((KUBERNETES / "xbond.yaml").read_text())


def test_every_mount_has_a_volume():
    spec = manifest()["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"]}
    used = set()
    for container in (*spec["initContainers"], *spec["containers"]):
        for mount in container["volumeMounts"]:
            used.add(mount["name"])
            assert mount["name"] in volumes
    assert used == set(volumes)


def test_the_selector_finds_the_pods():
    spec = manifest()["spec"]
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()


def test_bondd_has_its_directories():
    """Those that the programs take by default, from the host; the names of pods as they come."""
    spec = manifest()["spec"]["template"]["spec"]
    bondd = next(each for each in spec["containers"] if each["name"] == "bondd")
    volumes = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"]}
    mounts = {mount["mountPath"]: mount for mount in bondd["volumeMounts"]}
    for path, mount in mounts.items():
        assert volumes[mount["name"]] == path
    for wanted in default_paths():
        assert any(wanted == path or wanted.startswith(f"{path}/") for path in mounts), wanted
    assert mounts["/run/netns"]["mountPropagation"] == "HostToContainer"
    # A BPF file system that bondd mounts must not end with the container.
    assert mounts["/sys/fs/bpf"]["mountPropagation"] == "Bidirectional"
    assert spec["hostNetwork"] is True and bondd["securityContext"]["privileged"] is True


def test_an_image_that_is_there_is_not_pulled():
    """Otherwise it would be, because of its tag "latest"."""
    spec = manifest()["spec"]["template"]["spec"]
    for container in (*spec["initContainers"], *spec["containers"]):
        assert container["imagePullPolicy"] == "IfNotPresent"


def test_the_network_is_one_that_the_plugin_takes():
    """It gets as far as looking for the container."""
    network = yaml.safe_load((KUBERNETES / "network.yaml").read_text())
    done = subprocess.run(
        [BUILD / "cni/xbond"], input=network["spec"]["config"], text=True, capture_output=True,
        env={"CNI_COMMAND": "ADD", "CNI_CONTAINERID": "x", "CNI_IFNAME": "bond0",
             "CNI_NETNS": "/nowhere"}, check=False)
    assert json.loads(done.stdout)["code"] == 3, done.stdout
