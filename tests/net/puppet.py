"""A partner that speaks LACP as a test wants, when it wants."""
from lacp import (ACTIVITY, AGGREGATION, AT_ACTOR, COLLECTING, DISTRIBUTING, SYNC, is_slow, lacpdu,
                  pdu_info)
from traffic import Capture, Stream, send_frames
from waiting import wait_for

SYSTEM = "02:00:00:00:00:99"
ATTACHED = ACTIVITY | AGGREGATION | SYNC
CARRYING = ATTACHED | COLLECTING | DISTRIBUTING


class Partner:
    """A far end that says what the test wants, when it wants."""

    def __init__(self, host, **options):
        self.host, self.far = host, host.far
        self.wires = {dev: Capture(host.far, dev) for dev in host.links}
        self.near = {}  # what the host has last said of itself
        words = [word for option in options.items() for word in option]
        host.ctl("create", "bond0", "mode", "802.3ad", "lacp_rate", "slow", "lacp_fallback", "none",
                 *words)
        host.ctl("add-slave", "bond0", *host.links)
        host.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
        host.ip("link", "set", "bond0", "up")
        host.wait_slaves(*host.links)
        wait_for(self._all_attached, "the ports to wait for their partner")

    def hear(self, dev):
        for frame in self.wires[dev].frames():
            if is_slow(frame):
                self.near[dev] = frame.data[AT_ACTOR + 2:AT_ACTOR + 20]
        return self.near.get(dev)

    def says(self, dev, flags):
        """The host has said so on dev."""
        return self.hear(dev) and self.near[dev][14] & flags == flags

    def speak(self, dev, state, system=SYSTEM, **fields):
        actor = pdu_info(system, 7 + self.host.links.index(dev), state=state, **fields)
        send_frames(self.far, dev, [lacpdu(actor, self.hear(dev) or bytes(18))])

    def _all_attached(self):
        for dev in self.host.links:
            if not self.says(dev, SYNC):
                self.speak(dev, ACTIVITY | AGGREGATION)
        return all(self.says(dev, SYNC) for dev in self.host.links)

    def send(self, dev):
        """Sends to bond0 on dev, and nothing else; what bond0's socket did not get."""
        self.far.ip("addr", "replace", "10.0.0.2/24", "dev", dev)
        self.far.ip("neigh", "replace", "10.0.0.1", "lladdr", self.host.link("bond0")["address"],
                    "dev", dev)
        # XDP takes no checksum that is still to be made
        self.far.run("ethtool", "-K", dev, "tx", "off")
        dropped = self.host.slave(dev)["rx_dropped"]
        lost = Stream(self.far, self.host, to="10.0.0.1", count=200, rate=2000).finish()["lost"]
        assert self.host.slave(dev)["rx_dropped"] == dropped
        self.far.ip("addr", "del", "10.0.0.2/24", "dev", dev)
        return lost

    def close(self):
        for wire in self.wires.values():
            wire.close()
