# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls CNI plugins as a container runtime does: the command in the environment, the network's
configuration on stdin, a result or an error as JSON on stdout.
"""
import json
import os
import pathlib
import subprocess

from built import BUILD
from namespace import run

PLUGIN = BUILD / "cni" / "xbond"
HERE = pathlib.Path(__file__).resolve().parent


class Failed(Exception):
    """The plugin's error."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['msg']}")
        self.code, self.text, self.version = error["code"], error["msg"], error["cniVersion"]


class Runtime:
    """Starts the plugin in the namespace of a host, whose bondd shall serve it."""

    def __init__(self, host, path=HERE / "ipam"):
        self.host = host
        self.environment = {
            "PATH": os.environ["PATH"], "CNI_PATH": f"/nowhere:{path}",
            "XBOND_RUN_DIR": str(host.run_dir), "XBOND_BPF_DIR": str(host.bpf_dir),
            **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}}

    def variables(self, command, container=None, ifname=None, netns=None):
        given = {"CNI_COMMAND": command, "CNI_CONTAINERID": container, "CNI_IFNAME": ifname,
                 "CNI_NETNS": netns}
        return {**self.environment,
                **{name: str(value) for name, value in given.items() if value is not None}}

    def spawn(self, command, config, **kwargs):
        """A plugin that is left to itself, with its configuration."""
        child = subprocess.Popen(self.host.command(PLUGIN), stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, env=self.variables(command, **kwargs))
        child.stdin.write(json.dumps(config).encode())
        child.stdin.close()
        return child

    def call(self, command, config, **kwargs):
        """What the plugin prints: None if nothing."""
        text = config if isinstance(config, (str, bytes)) else json.dumps(config)
        done = run(*self.host.command(PLUGIN), check=False, input=text if isinstance(text, str)
                   else text.decode("latin-1"), env=self.variables(command, **kwargs))
        assert done.returncode in (0, 1) and not done.stderr, (done.returncode, done.stderr)
        answer = json.loads(done.stdout) if done.stdout else None
        if done.returncode:
            assert answer.keys() == {"cniVersion", "code", "msg"} and "\n" not in answer["msg"]
            raise Failed(answer)
        return answer

    def records(self):
        """The files that say what is attached."""
        directory = self.host.run_dir / "cni"
        return sorted(each.name for each in directory.iterdir()) if directory.exists() else []


class Pod:
    """A container's namespace, and the container's network by this runtime."""

    def __init__(self, runtime, namespace, container, ifname="bond0"):
        self.runtime, self.namespace = runtime, namespace
        self.words = {"container": container, "ifname": ifname, "netns": namespace.path}

    def add(self, config):
        return self.runtime.call("ADD", config, **self.words)

    def delete(self, config):
        assert self.runtime.call("DEL", config, **self.words) is None

    def check(self, config, result):
        assert self.runtime.call("CHECK", {**config, "prevResult": result}, **self.words) is None
