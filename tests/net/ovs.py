"""Open vSwitch as the far end: userspace datapath, everything in a directory and a
namespace of its own. Knows namespaces, not bondd.
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import tempfile

from lab import proc_state
from namespace import end, run
from waiting import wait_for

SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"


def listens(path):
    """A socket that is bound, and so is there, does not listen yet."""
    with socket.socket(socket.AF_UNIX) as made:
        return made.connect_ex(str(path)) == 0


class Ovs:
    """ovsdb-server and ovs-vswitchd in a namespace; bridge br0 with its LOCAL port."""

    def __init__(self, namespace):
        self.namespace = namespace
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix=f"{namespace.name}-ovs-", dir="/tmp"))
        self.environment = {**os.environ, "OVS_RUNDIR": str(self.dir), "OVS_LOGDIR": str(self.dir),
                            "OVS_DBDIR": str(self.dir), "OVS_SYSCONFDIR": str(self.dir)}
        self.database = f"unix:{self.dir}/db.sock"
        self.vswitchd = None
        # The namespace's own stack hears what the member ports hear, and must not answer for br0.
        namespace.run("sysctl", "-qw", "net.ipv4.conf.all.arp_ignore=1",
                      "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
        run("ovsdb-tool", "create", self.dir / "conf.db", SCHEMA)
        self.server = self._daemon("ovsdb-server", self.dir / "conf.db",
                                   f"--remote=p{self.database}")
        wait_for(lambda: listens(self.dir / "db.sock"), "ovsdb-server's socket")
        self.vsctl("--no-wait", "init")
        self.start()
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")

    def _daemon(self, *words, niceness=0):
        program = words[0]
        with open(self.dir / f"{program}.out", "a") as log:
            return self.namespace.spawn("nice", "-n", str(niceness), *words,
                                        f"--unixctl={self.dir}/{program}.ctl", "--no-chdir",
                                        f"--log-file={self.dir}/{program}.log",
                                        env=self.environment, stdout=log, stderr=log)

    def start(self):
        (self.dir / "ovs-vswitchd.ctl").unlink(missing_ok=True)
        # A switch has a CPU of its own.
        self.vswitchd = self._daemon("ovs-vswitchd", self.database, niceness=-15)
        wait_for(lambda: listens(self.dir / "ovs-vswitchd.ctl"), "ovs-vswitchd's socket")

    def stop(self):
        end(self.vswitchd)

    def freeze(self):
        self.vswitchd.send_signal(signal.SIGSTOP)
        wait_for(lambda: proc_state(self.vswitchd.pid) == "T", "ovs-vswitchd to stop")

    def thaw(self):
        self.vswitchd.send_signal(signal.SIGCONT)

    def vsctl(self, *words):
        return self.namespace.run("ovs-vsctl", f"--db={self.database}", "--timeout=10", *words,
                                  env=self.environment).stdout

    def appctl(self, *words, check=True):
        return self.namespace.run("ovs-appctl", "-T", "5", "-t", self.dir / "ovs-vswitchd.ctl",
                                  *words, check=check, env=self.environment).stdout

    def add_bond(self, links, mode="balance-tcp", lacp="active", rate="fast"):
        """With numbers of our own: its own may change a second or two later, which is another
        partner to who holds.
        """
        numbers = [word for number, link in enumerate(links, 1) for word in
                   ("--", "set", "interface", link, f"other_config:lacp-port-id={number}",
                    "other_config:lacp-aggregation-key=1")]
        self.vsctl("add-bond", "br0", "bond0", *links, "--", "set", "port", "bond0",
                   f"bond_mode={mode}", f"lacp={lacp}", f"other_config:lacp-time={rate}", *numbers)

    def add_individual(self, link, rate):
        """A port of one link that speaks LACP, and does not aggregate."""
        self.vsctl("add-port", "br0", link, "--", "set", "port", link, "lacp=active",
                   f"other_config:lacp-time={rate}", "--", "set", "interface", link,
                   "other_config:lacp-port-id=1", "other_config:lacp-aggregation-key=1")

    def lacpdus_sent(self):
        """{member of bond0: LACPDUs}."""
        parts = re.split(r"^(?:member|slave): (\S+?):?\s*$",
                         self.appctl("lacp/show-stats", "bond0"), flags=re.M)
        return {name: int(re.search(r"TX PDUs: (\d+)", text)[1])
                for name, text in zip(parts[1::2], parts[2::2])}

    def lacp(self):
        """lacp/show of bond0: {"aggregation key": ..., "members": {name: {"status", "actor state":
        {...}, ...}}}.
        """
        return parse_lacp(self.appctl("lacp/show", "bond0"))

    def enabled(self):
        """Members that the bond lets carry traffic."""
        return sorted(re.findall(r"^(?:member|slave) (\S+): enabled",
                                 self.appctl("bond/show", "bond0"), re.M))

    def report(self):
        parts = [self.appctl(*words, check=False) for words in (("lacp/show",), ("bond/show",))]
        logs = [path.read_text()[-3000:] for path in sorted(self.dir.glob("*.log"))]
        return "\n".join(["===== Open vSwitch", *parts, *logs])

    def close(self):
        for child in (self.vswitchd, self.server):
            end(child, signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)


def parse_lacp(text):
    shown, at = {"members": {}}, None
    for line in text.splitlines():
        member = re.match(r"(?:member|slave): (\S+): (.*)$", line)
        if member:
            at = shown["members"].setdefault(member[1], {"status": member[2].split()})
            continue
        pair = re.match(r"\s+([a-z_ ]+): ?(.*)$", line)
        if pair:
            (shown if at is None else at)[pair[1].strip()] = pair[2]
    return shown
