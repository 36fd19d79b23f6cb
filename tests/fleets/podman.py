# SPDX-License-Identifier: GPL-2.0-or-later
"""podman with directories of its own, in the namespace of a host, with its CNI backend."""
import json
import os
import shutil

from built import BUILD
from namespace import run

DEBIAN_PLUGINS = "/usr/lib/cni"
IMAGE = "localhost/xbond-test-box"


# A machine that is a container itself may not have what podman gives by default.
AS_IT_IS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")


class Podman:
    """What it starts is in IMAGE: busybox and nothing else."""

    def __init__(self, host):
        self.host, self.dir = host, host.dir / "podman"
        self.networks = self.dir / "net.d"
        self.networks.mkdir(parents=True)
        (self.dir / "containers.conf").write_text(
            '[network]\nnetwork_backend = "cni"\n'
            f'cni_plugin_dirs = ["{BUILD}/cni", "{DEBIAN_PLUGINS}"]\n'
            f'network_config_dir = "{self.networks}"\n'
            '[engine]\nevents_logger = "none"\ncgroup_manager = "cgroupfs"\n'
            f'runtime = "runc"\nlock_type = "file"\ntmp_dir = "{self.dir}/tmp"\n'
            '[containers]\nlog_driver = "k8s-file"\n')
        self.environment = {**os.environ, "CONTAINERS_CONF": f"{self.dir}/containers.conf",
                            "XBOND_RUN_DIR": str(host.run_dir),
                            "XBOND_BPF_DIR": str(host.bpf_dir)}

    def words(self, *words):
        return self.host.command("podman", "--root", self.dir / "root", "--runroot",
                                 self.dir / "run", "--storage-driver", "vfs",
                                 "--cgroup-manager", "cgroupfs", *words)

    def call(self, *words, check=True, **kwargs):
        return run(*self.words(*words), check=check, env=self.environment, timeout=120, **kwargs)

    def network(self, name, *plugins):
        (self.networks / f"{name}.conflist").write_text(json.dumps(
            {"cniVersion": "1.0.0", "name": name, "plugins": plugins}))

    def make_image(self):
        """From a directory with busybox in it."""
        root = self.dir / "box"
        (root / "bin").mkdir(parents=True)
        shutil.copy(shutil.which("busybox"), root / "bin")
        for name in ("sh", "sleep", "ping", "ip", "nc", "cat"):
            (root / "bin" / name).symlink_to("busybox")
        archive = self.dir / "box.tar"
        run("tar", "-C", root, "-cf", archive, ".")
        self.call("import", archive, IMAGE)

    def start(self, name, *options):
        """A container that waits."""
        self.call("run", "-d", "--name", name, *AS_IT_IS, "--cap-add=NET_RAW",
                  *options, IMAGE, "sleep", "1000")

    def inside(self, name, *words, check=True):
        return self.call("exec", name, *words, check=check)

    def remove(self, *names):
        done = self.call("rm", "-f", "-t", "0", *names)
        assert "level=error" not in done.stderr, done.stderr

    def end(self):
        """All containers, and what the storage has mounted."""
        self.call("rm", "-f", "-a", "-t", "0", check=False)
