# SPDX-License-Identifier: GPL-2.0-or-later
"""The Ansible role: its linter, and runs of it on this machine, in the namespace of a host."""
import json
import os
import re
import shutil
import subprocess

import pytest

from built import BUILD, ROOT

ANSIBLE = ROOT / "packaging/ansible"

pytestmark = pytest.mark.skipif(not shutil.which("ansible-playbook"),
                                reason="ansible is not installed")


@pytest.mark.skipif(not shutil.which("ansible-lint"), reason="ansible-lint is not installed")
def test_lint():
    done = subprocess.run(["ansible-lint", "--offline", "--strict", "site.yml"], cwd=ANSIBLE,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class Playbook:
    """The role alone, for the machine that it runs on."""

    def __init__(self, host):
        self.host = host
        self.path = host.dir / "play.yml"
        self.path.write_text(json.dumps([
            {"hosts": "localhost", "connection": "local", "gather_facts": False,
             "roles": ["xbond"]}]))
        self.environment = {
            **os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}",
            "ANSIBLE_ROLES_PATH": str(ANSIBLE / "roles"), "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCALHOST_WARNING": "False", "HOME": str(host.dir),
            "XBOND_RUN_DIR": str(host.run_dir), "XBOND_BPF_DIR": str(host.bpf_dir),
            "XBOND_CONFIG_DIR": str(host.config_dir)}

    def run(self, bonds, *words, fails=False, **variables):
        """The counts of its last line, and all that it said."""
        variables = {"xbond_package": "", "xbond_service": False, "xbond_bonds": bonds,
                     "xbond_config_dir": str(self.host.config_dir), **variables}
        done = self.host.run("ansible-playbook", *words, "-i", "localhost,", "-e",
                             json.dumps(variables), self.path, env=self.environment, check=False,
                             timeout=120)
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        counts = re.search(r"ok=(\d+) +changed=(\d+) .*failed=(\d+)", done.stdout)
        return int(counts[2]), done.stdout


def test_the_role(lab):
    """Looked at, done, done again, changed, refused, purged."""
    host, far = lab.host("a"), lab.namespace("b")
    lab.links(host, far, 2)
    book = Playbook(host)
    bonds = {"bond0": {"options": {"mode": "active-backup", "miimon": 50},
                       "slaves": {"l0": {"prio": 3}, "l1": None}}}
    changed, _ = book.run(bonds, "--check", xbond_apply=False)
    assert changed == 1 and not list(host.config_dir.iterdir())
    changed, _ = book.run(bonds)
    assert changed == 2
    show = host.show()
    assert show["options"]["miimon"] == 50
    assert [slave["options"]["prio"] for slave in show["slaves"]] == [3, 0]
    changed, _ = book.run(bonds)
    assert changed == 0
    bonds["bond0"]["options"]["miimon"] = 70
    changed, _ = book.run(bonds, xbond_confirm=30)
    assert changed == 2 and host.show()["options"]["miimon"] == 70
    before = (host.config_dir / "bond0.conf").read_text()
    bonds["bond0"]["options"]["miimon"] = "often"
    _, said = book.run(bonds, fails=True)
    assert "miimon" in said and (host.config_dir / "bond0.conf").read_text() == before
    bonds["bond0"]["options"] = {"mode": "active-backup", "primary": None, "arp_interval": 100,
                                 "arp_ip_target": ["192.0.2.1", "192.0.2.2"]}
    book.run(bonds)
    text = (host.config_dir / "bond0.conf").read_text()
    assert "primary" not in text and "arp_ip_target = 192.0.2.1,192.0.2.2\n" in text
    # As -e xbond_purge=false gives them.
    changed, _ = book.run({}, xbond_purge="false", xbond_service="false", xbond_apply="false")
    assert changed == 0 and (host.config_dir / "bond0.conf").read_text() == text
    book.run({}, xbond_purge=True)
    assert not list(host.config_dir.glob("*.conf")) and host.ctl_json("list") == ["bond0"]
