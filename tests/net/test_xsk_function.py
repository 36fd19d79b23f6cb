# SPDX-License-Identifier: GPL-2.0-or-later
"""AF_XDP applications on a bond whose frames are chosen by a BPF function of the user
(options.function of libxbond-xsk).
"""
import contextlib
import ctypes
import errno
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest

from lab import BUILD
from namespace import end, run
from policies import EXAMPLES, compile_policy, tagged
from test_bfd import INTERVAL, MULTIPLIER, V4, lost, wait_up
from test_xsk import Held, listener
from test_xsk_threads import FLOWS, in_dispatcher, make_anew, udp_frame
from traffic import Capture, send_frames
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("on_veths")
VXLAN_PORT, PORTS = 4789, (4007, 4008)
ALL = "return ctx != 0;"


@pytest.fixture(name="function")
def _function(tmp_path):
    """function(BODY): the object file of a function that has it; other text is a whole file."""
    def make(body):
        text = body if "xbond_wants" in body else \
            f"int xbond_wants(struct xdp_md *ctx)\n{{ {body} }}\n"
        return compile_policy(f"#include <linux/bpf.h>\n{text}", tmp_path / "function.bpf.o")
    return make


@pytest.fixture(name="made")
def _made(pair):
    return pair("balance-xor", links=2, xmit_hash_policy="layer3+4")


def learns(host, address):
    """By ARP or neighbour discovery."""
    host.ip("neigh", "flush", "dev", "bond0")
    with host.inside(), socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET,
                                      socket.SOCK_DGRAM) as made:
        made.sendto(b"x", (address, 9))
    wait_for(lambda: any("lladdr" in each for each in
                         host.ip_json("neigh", "show", "dev", "bond0", "to", address)),
             f"{host.name} to learn who has {address}")


def test_what_the_bond_lives_by(pair, function):
    """A function that wants all gets none of it: LACP, micro-BFD, ARP and neighbour discovery go
    on, and so do VLANs.
    """
    made = pair("802.3ad", links=2, lacp_rate="fast", bfd_interval=INTERVAL,
                bfd_multiplier=MULTIPLIER, bfd_local=V4[0], bfd_remote=V4[1],
                far={"bfd_local": V4[1], "bfd_remote": V4[0]})
    hosts = (made.near, made.far)
    wait_up(*hosts, links=made.links)
    mac = made.near.link("bond0")["address"]
    before = [([each["link_failures"] for each in host.show()["slaves"]], lost(host, made.links))
              for host in hosts]
    held, wire = Held(made, 1024, function(ALL), port=0), Capture(made.near, "bond0")
    until = time.monotonic() + 4  # more than the timeout of the fast rate
    while time.monotonic() < until:
        for other in ("10.0.0.2", "fd00::2"):
            learns(made.near, other)
        for other in ("10.0.0.1", "fd00::1"):
            learns(made.far, other)
        send_frames(made.far, "l0", [tagged(udp_frame(mac, 20000), 7)])
        wait_for(lambda: any(frame.vlan == 7 for frame in wire.frames()), "the tagged frame")
        held.socket.send(b"x")
    assert held.counts()["received"]
    assert not made.near.ping("10.0.0.2", timeout=0.3), "the answer is the function's"
    assert before == [([each["link_failures"] for each in host.show()["slaves"]],
                       lost(host, made.links)) for host in hosts]
    for host in hosts:
        assert sorted(host.carrier_slaves("bond0")) == sorted(made.links)
    held.close()
    wire.close()


def taken(stack):
    """How many packets a socket that does not wait has."""
    count = 0
    with contextlib.suppress(BlockingIOError):
        while stack.recv(100):
            count += 1
    return count


def send_vxlan(made, vni, count=8):
    for _ in range(count):  # each has a port of its own
        with made.far.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(struct.pack("!II", 8 << 24, vni << 8), ("10.0.0.1", VXLAN_PORT))


@pytest.fixture(name="vnis")
def _vnis():
    """Where the example's map is pinned."""
    where = pathlib.Path(f"/sys/fs/bpf/vnis{os.getpid()}")
    yield where
    where.unlink(missing_ok=True)


def test_the_example(made, vnis, tmp_path):
    """packaging/examples/by_vni.bpf.c by all slaves, those that come and a bond made anew, with
    bondd and without; its file is not needed any more. When the program is killed, nothing stays.
    """
    near, source = made.near, tmp_path / "by_vni.bpf.c"
    source.write_text(re.sub(r"\bvnis\b", vnis.name, (EXAMPLES / source.name).read_text()))
    file = compile_policy(source, tmp_path / "by_vni.bpf.o")
    held, stack = Held(made, 256, file, port=0), listener(near, "0.0.0.0", VXLAN_PORT)
    file.unlink()
    stack.settimeout(0)

    def spread(vni):
        """How many of 8 frames the program gets, and how many the stack."""
        before, passed = held.counts()["received"], 0
        send_vxlan(made, vni)

        def arrived():
            nonlocal passed
            passed += taken(stack)
            return held.counts()["received"] - before + passed >= 8
        wait_for(arrived, "all frames")
        return held.counts()["received"] - before, passed

    def wait_chosen():
        """The program has followed the bond."""
        wait_for(lambda: spread(42) == (8, 0), "all of network 42")
        assert spread(43) == (0, 8)
    assert spread(42) == (0, 8)
    run("bpftool", "map", "update", "pinned", vnis, "key", 42, 0, 0, 0, "value", 1)
    assert spread(42) == (8, 0)
    near.kill_bondd()
    wait_chosen()
    near.start_bondd()
    near.wait_slaves(*made.links)
    near.ctl("del-slave", "bond0", "l1")
    near.ctl("add-slave", "bond0", "l1")
    made.far.wait_slaves(*made.links)
    wait_chosen()
    make_anew(made)
    wait_chosen()
    end(held.child, signal.SIGKILL)
    wait_for(lambda: not any("xdp" in near.link(link) for link in made.links), "no filter")
    send_vxlan(made, 42)
    count = 0

    def all_pass():
        nonlocal count
        count += taken(stack)
        return count == 8
    wait_for(all_pass, "the stack to get all")
    stack.close()


class Receiver:
    """packaging/examples/pin.c with a function, and sockets for it (build/tools/xskpinned)."""

    def __init__(self, made, queue, file, pins):
        self.pin = made.near.spawn(BUILD / "tools/pin", made.near.bpf_dir / "bond0", file, pins,
                                   stdout=subprocess.PIPE, text=True)
        assert self.pin.stdout.readline() == "ready\n"
        self.sockets = [made.near.spawn(BUILD / "tools/xskpinned", link, queue, pins / link,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                        for link in made.links]
        for each in self.sockets:
            assert each.stdout.readline() == "ready\n"

    def received(self):
        count = 0
        for each in self.sockets:
            each.stdin.write("\n")
            each.stdin.flush()
            count += int(each.stdout.readline())
        return count


def to_port(port):
    """UDP over IPv4 without options."""
    return f"""unsigned char *frame = (void *)(long)ctx->data;
    return frame + 38 <= (unsigned char *)(long)ctx->data_end && frame[12] == 8 &&
           frame[23] == 17 && frame[36] == {port >> 8} && frame[37] == {port & 255};"""


@pytest.fixture(name="shared")
def _shared(made):
    """The pair, with a program of others in libxdp's dispatcher on each of near's slaves."""
    try:
        for link in made.links:
            made.near.run("xdp-loader", "load", "--mode", "native", link,
                          BUILD / "tools/passes.bpf.o")
        if not all(in_dispatcher(made.near, link) for link in made.links):
            pytest.skip("libxdp has no dispatcher on this kernel")
        yield made
    finally:
        for link in made.links:
            made.near.run("xdp-loader", "unload", link, "--all")


@pytest.fixture(name="pins")
def _pins(made):
    where = [made.near.bpf_dir.with_name(f"{made.near.bpf_dir.name}-pins{number}")
             for number in range(2)]
    yield where
    for each in where:
        shutil.rmtree(each, ignore_errors=True)


def test_two_programs(shared, pins, function):
    """In the dispatcher each gets what its own function wants, by the queue that it has. One that
    is killed is no hindrance to the other, and to the bond.
    """
    near, mac = shared.near, shared.near.link("bond0")["address"]
    receivers = [Receiver(shared, queue, function(to_port(port)), pins[queue])
                 for queue, port in enumerate(PORTS)]
    stacks = [listener(near, "10.0.0.1", port) for port in PORTS]
    for each in stacks:
        each.settimeout(0)

    def spread():
        """How many of FLOWS frames for each port come to the receivers, and how many to the stack.
        """
        before = [each.received() for each in receivers]
        for port in PORTS:
            for number, link in enumerate(shared.links):
                send_frames(shared.far, link, [udp_frame(mac, 20000 + flow, port)
                                               for flow in range(number, FLOWS, 2)])
        found, passed = [], [0, 0]

        def arrived():
            nonlocal found
            for number, each in enumerate(stacks):
                passed[number] += taken(each)
            found = [each.received() - old for each, old in zip(receivers, before)]
            return sum(found) + sum(passed) >= 2 * FLOWS
        wait_for(arrived, lambda: f"all frames: {found}, {passed}")
        return found, passed
    found, passed = spread()
    assert all(found) and [sum(each) for each in zip(found, passed)] == [FLOWS, FLOWS]
    killed = receivers.pop(0)
    for child in (killed.pin, *killed.sockets):
        end(child, signal.SIGKILL)
    (count,), passed = spread()
    assert count and passed == [FLOWS, FLOWS - count]
    near.wait_ping("10.0.0.2")
    assert end(receivers[0].pin, signal.SIGTERM) == 0
    for each in stacks:
        each.close()


def test_handles_of_one_process(made, pins, function):
    """They share a filter, so they have the same function; other handles are refused."""
    library, why = ctypes.CDLL(str(BUILD / "libxbond-xsk.so.0")), ctypes.create_string_buffer(256)
    file, bond = function(ALL), str(made.near.bpf_dir / "bond0").encode()
    other = shutil.copy(file, file.with_name("other.bpf.o"))
    place, handles = ctypes.create_string_buffer(str(pins[0]).encode()), []

    def opens(path):
        name, handle = ctypes.create_string_buffer(str(path).encode()), ctypes.c_void_p()
        options = struct.pack("@6I56xPP", 96, 0, 0, 0, 0, 0, ctypes.addressof(place),
                              ctypes.addressof(name))
        assert len(options) == 96
        result = library.xbond_xsk_open(ctypes.byref(handle), bond, options, why)
        handles.extend([handle] * (not result))
        return result
    with made.near.inside():
        assert [opens(path) for path in (file, file, other)] == [0, 0, -errno.EADDRINUSE]
        library.xbond_xsk_close(handles.pop(0))
        assert opens(other) == -errno.EADDRINUSE
        library.xbond_xsk_close(handles.pop(0))
        assert opens(other) == 0
        library.xbond_xsk_close(handles.pop(0))
    assert not any("xdp" in made.near.link(link) for link in made.links)


@pytest.mark.parametrize("body, port, words", [
    (ALL, 7, "something else that is to be received"),
    ("int other(struct xdp_md *ctx) { return ctx != 0; } /* no xbond_wants */", 0, "no object"),
    ("extern int xbond_wants(struct xdp_md *ctx);\n"
     "int other(struct xdp_md *ctx) { return xbond_wants(ctx); }", 0, "no object"),
    ("int xbond_wants(struct xdp_md *ctx, int more) { return ctx && more; }", 0, "no object"),
    ("return *(char *)(long)ctx->data;", 0, "the kernel refuses options.function")])
def test_functions_that_are_refused(made, function, body, port, words):
    done = made.near.run(BUILD / "tools/xskhold", made.near.bpf_dir / "bond0", port, 256,
                         function(body), check=False)
    assert done.returncode == 1 and words in done.stderr.splitlines()[-1], done.stderr
    assert not any("xdp" in made.near.link(link) for link in made.links)


@pytest.mark.parametrize("name, words", [
    ("not/there.o", "no object"), ("/" * 600 + ".o", "too long")])
def test_files_that_are_none(made, name, words):
    done = made.near.run(BUILD / "tools/xskhold", made.near.bpf_dir / "bond0", 0, 256, name,
                         check=False)
    assert done.returncode == 1 and words in done.stderr.splitlines()[-1], done.stderr
