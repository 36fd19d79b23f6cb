"""Policies on the wire: flow and the IPv6 flow label leave a slave that is silently broken, both
hooks hash alike, symmetric brings answers back by the link of the request.
"""
import socket
import struct
import threading

import pytest

from traffic import Capture

LINKS = 8
PORT = 7000


def break_silently(host, link):
    """Frames that arrive on link are lost there, before bondd's clsact filter sees them; carrier
    stays.
    """
    host.run("tc", "filter", "add", "dev", link, "ingress", "prio", 1, "bpf", "direct-action",
             "bytecode", "1,6 0 0 2")


class Connection:
    """TCP from near to far; the far end echoes."""

    def __init__(self, made, to, port):
        family = socket.AF_INET6 if ":" in to else socket.AF_INET
        with made.far.inside():
            listener = socket.socket(family)
        listener.bind((to, port))
        listener.listen()
        with made.near.inside():
            self.near = socket.socket(family)
        self.near.settimeout(10)
        self.near.connect((to, port))
        self.far = listener.accept()[0]
        listener.close()
        self.thread = threading.Thread(target=self._echo, daemon=True)
        self.thread.start()

    def _echo(self):
        try:
            while True:
                data = self.far.recv(65536)
                if not data:
                    return
                self.far.sendall(data)
        except OSError:
            return

    def exchange(self):
        """One word there and back, within the socket's timeout."""
        self.near.sendall(b"word")
        return self.near.recv(4) == b"word"

    def close(self):
        self.near.close()
        self.thread.join(timeout=5)
        self.far.close()


def link_of(made, connection):
    """The link that carries the next exchange to far."""
    wires = [Capture(made.far, link) for link in made.links]
    port = connection.near.getsockname()[1]
    assert connection.exchange()
    seen = {wire.dev for wire in wires for frame in wire.frames(0.05) if source_port(frame) == port}
    for wire in wires:
        wire.close()
    assert len(seen) == 1, seen
    return seen.pop()


def source_port(frame):
    offset = {0x0800: 34, 0x86dd: 54}.get(frame.type)
    next_header = {0x0800: 23, 0x86dd: 20}.get(frame.type)
    if offset is None or len(frame.data) < offset + 4 or \
            frame.data[next_header] != socket.IPPROTO_TCP:
        return None
    return struct.unpack_from("!H", frame.data, offset)[0]


CASES = {"flow": ({"xmit_hash_policy": "flow"}, "10.0.0.2"),
         "flow6": ({"xmit_hash_policy": "flow"}, "fd00::2"),
         "label": ({"xmit_hash_policy": "layer3+4", "ip6_flow_label": "on"}, "fd00::2")}


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
@pytest.mark.parametrize("case", CASES)
def test_tcp_leaves_a_silently_broken_slave(pair, case, path, hook):
    """Each timeout draws a slave again, and timeouts come after 0.2, 0.4, 0.8 s... and so on. Eight
    of them come in 60 s; all draw the broken one once in 17 million times.
    """
    options, to = CASES[case]
    made = pair("balance-xor", links=LINKS, path=path, **options)
    connections = [Connection(made, to, PORT + number) for number in range(6)]
    links = [link_of(made, connection) for connection in connections]
    broken = max(set(links), key=links.count)
    break_silently(made.far, broken)
    for connection in connections:
        connection.near.settimeout(60)
        assert connection.exchange()
    assert broken in links and broken in made.near.carrier_slaves()
    for connection in connections:
        assert link_of(made, connection) != broken
        connection.close()


@pytest.mark.parametrize("hook", ["clsact"], indirect=True)
def test_layer34_does_not_leave_it(pair, hook):
    """What the flow policy is for: by addresses and ports the connection stays where it is."""
    made = pair("balance-xor", links=LINKS, xmit_hash_policy="layer3+4")
    connection = Connection(made, "10.0.0.2", PORT)
    break_silently(made.far, link_of(made, connection))
    connection.near.settimeout(4)
    with pytest.raises(TimeoutError):
        connection.exchange()
    connection.close()


@pytest.mark.parametrize("policy,vlan",
                         [("flow", None), ("encap3+4", None), ("layer3+4", None), ("flow", 7)])
def test_both_hooks_choose_alike(pair, policy, vlan):
    """A connection stays on its link when the path changes, with and without a tag."""
    made = pair("balance-xor", links=4, xmit_hash_policy=policy)
    to = "10.0.0.2"
    if vlan:
        to = "10.7.0.2"
        for host, number in ((made.near, 1), (made.far, 2)):
            done = host.run("ip", "link", "add", "v7", "link", "bond0", "type", "vlan", "id", vlan,
                            check=False)
            if "Unknown device type" in done.stderr:
                pytest.skip("this kernel has no VLAN devices")
            assert done.returncode == 0, done.stderr
            host.ip("addr", "add", f"10.7.0.{number}/24", "dev", "v7")
            host.ip("link", "set", "v7", "up")
        made.near.wait_ping(to)
    connections = [Connection(made, to, PORT + number) for number in range(14)]
    chosen = {}
    for path_ in ("counted", "direct", "counted"):
        made.near.ctl("set", "bond0", "path", path_)
        chosen[path_] = [link_of(made, connection) for connection in connections]
    assert chosen["counted"] == chosen["direct"]
    assert len(set(chosen["direct"])) > 1
    for connection in connections:
        connection.close()


def test_symmetric_answers_come_by_the_link_of_the_request(pair):
    made = pair("balance-xor", links=4, xmit_hash_policy="layer3+4", symmetric="on", hash_seed=5)
    connections = [Connection(made, "10.0.0.2", PORT + number) for number in range(12)]
    there = [Capture(made.far, link) for link in made.links]
    back = [Capture(made.near, link) for link in made.links]
    for connection in connections:
        assert connection.exchange()

    def links(wires, end):
        found = {}
        for wire in wires:
            for frame in wire.frames(0.05):
                if frame.type == 0x0800 and frame.data[23] == socket.IPPROTO_TCP:
                    found.setdefault(struct.unpack_from("!HH", frame.data, 34)[end],
                                     set()).add(wire.dev)
        return found
    requests, answers = links(there, 0), links(back, 1)
    ports = [connection.near.getsockname()[1] for connection in connections]
    assert [requests[port] for port in ports] == [answers[port] for port in ports]
    assert len(set.union(*requests.values())) > 1
    for connection in connections:
        connection.close()
