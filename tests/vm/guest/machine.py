"""The emulated machine's hardware: NICs in cross-connected pairs (eth0 - eth1, eth2 - eth3, ...)
and what qemu does to them from outside: the cable, the plug. All are virtio's, but for the even
ones of XBOND_VM_DRIVERS' pairs, which come last.
"""
import glob
import json
import os
import select
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../net"))

from namespace import run  # noqa: E402
from waiting import PATIENCE, wait_for  # noqa: E402


class Qmp:
    """qemu's control protocol over the guest's virtio port."""

    def __init__(self):
        port = wait_for(lambda: glob.glob("/dev/vport*p1"), "the port to qemu")[0]
        self.fd = os.open(port, os.O_RDWR)
        self.text = b""
        self.begin()

    def begin(self):
        """Once in the life of a guest, which several runs of pytest may share."""
        try:
            self.call("qmp_capabilities")
        except AssertionError as refusal:
            if "already complete" not in str(refusal):
                raise

    def _answer(self, deadline):
        while b"\n" not in self.text:
            if not select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"qemu does not answer; so far {self.text!r}")
            self.text += os.read(self.fd, 4096)
        line, self.text = self.text.split(b"\n", 1)
        return json.loads(line)

    def call(self, command, **arguments):
        request = {"execute": command, "arguments": arguments, "id": command}
        os.write(self.fd, json.dumps(request).encode() + b"\n")
        deadline = time.monotonic() + 10 * PATIENCE
        while True:
            answer = self._answer(deadline)
            if answer.get("id") == command:
                assert "error" not in answer, answer["error"]["desc"]
                return answer["return"]


# NICs are virtio's but for these: {number: model}.
DRIVERS = os.environ.get("XBOND_VM_DRIVERS", "").split()
MODELS = {2 * (int(os.environ.get("XBOND_VM_NICS", "0")) + i): model
          for i, model in enumerate(DRIVERS)}
VIRTIO = {"driver": "virtio-net-pci", "guest_tso4": False, "guest_tso6": False, "guest_ecn": False,
          "guest_ufo": False, "speed": 1000, "duplex": "full"}


def nic_mac(number):
    return f"52:54:00:00:00:{number:02x}"


def promiscuous(namespace, devs):
    return [dev for dev in devs if namespace.link(dev)["promiscuity"]]


class Nics:
    """The NICs; take() lends pairs of them to two namespaces, give_back() has them all as they
    were.
    """

    def __init__(self):
        self.qmp = Qmp()
        names = {number: name for number in range(64) if (name := self.device(number))}
        self.count = len(names)
        for prefix in ("nic", "eth"):  # drivers are not loaded in the order of the slots
            for number, name in names.items():
                run("ip", "link", "set", name, "name", f"{prefix}{number}")
                names[number] = f"{prefix}{number}"
        self.unplugged = set()
        self.without_carrier = set()

    @staticmethod
    def device(number, namespace=None):
        """Its name where it is now (known by its permanent MAC), or None."""
        show = namespace.ip_json if namespace \
            else lambda *words: json.loads(run("ip", "-j", *words).stdout or "[]")
        for link in show("-d", "link", "show"):
            if link.get("permaddr", link.get("address")) == nic_mac(number) and "parentdev" in link:
                return link["ifname"]
        return None

    def take(self, near, far, pairs, first=0):
        """Pairs of names: near's and far's end of each cable."""
        assert (first + pairs) * 2 <= self.count, f"the guest has {self.count} NICs"
        names = []
        for pair in range(first, first + pairs):
            for number, namespace in ((2 * pair, near), (2 * pair + 1, far)):
                run("ip", "link", "set", f"eth{number}", "netns", namespace.name)
                namespace.ip("link", "set", f"eth{number}", "up")
            near.ip("link", "set", f"eth{2 * pair}", "down")
            names.append((f"eth{2 * pair}", f"eth{2 * pair + 1}"))
        return names

    def cable(self, number, plugged):
        """Carrier of one NIC."""
        self.qmp.call("set_link", name=f"nic{number}", up=plugged)
        (self.without_carrier.discard if plugged else self.without_carrier.add)(number)

    def unplug(self, number):
        self.qmp.call("device_del", id=f"nic{number}")
        self.unplugged.add(number)

    def replug(self, number):
        def added():
            try:
                self.qmp.call("device_add", netdev=f"net{number}", id=f"nic{number}",
                              mac=nic_mac(number), romfile="",
                              **({"driver": MODELS[number]} if number in MODELS else VIRTIO),
                              **({"bus": f"port{number}"} if MODELS else {}))
            except AssertionError as refusal:
                if "Duplicate" in str(refusal) or "in use" in str(refusal):
                    return False  # the guest has not let go of the old one yet
                raise
            return True
        wait_for(added, f"NIC {number} to be plugged again", 10)
        self.unplugged.discard(number)

    def plug_into(self, number, namespace, name=None):
        """Plugs an unplugged NIC, which appears in the first namespace as at the start, and moves
        it.
        """
        self.replug(number)
        found = wait_for(lambda: self.device(number), "the new NIC", 10)
        if name and name != found:
            run("ip", "link", "set", found, "name", name)
            found = name
        run("ip", "link", "set", found, "netns", namespace.name)
        return found

    def give_back(self):
        for number in list(self.without_carrier):
            if number not in self.unplugged:
                self.cable(number, True)
        for number in list(self.unplugged):
            self.replug(number)
        for number in range(self.count):
            name = wait_for(lambda number=number: self.device(number), f"NIC {number} to come back",
                            15)
            run("ip", "link", "set", name, "down", "promisc", "off", "allmulticast", "off", "mtu",
                "1500", "address", nic_mac(number))
            if name != f"eth{number}":
                run("ip", "link", "set", name, "name", f"eth{number}")
