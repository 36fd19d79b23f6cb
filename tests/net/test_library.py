"""Programs of others that send as the bond does (xbond/select.bpf.h): the example of an XDP
router with its loader, as somebody has them who has installed xbond-dev.
"""
import contextlib
import ctypes
import errno
import mmap
import os
import re
import signal
import struct
import subprocess

import pytest

from frames import IPV4, UDP, ethernet, ip4, mac_bytes, udp
from lab import BUILD, ROOT
from namespace import end, run
from policies import WANTED, slot, want
from test_xdp import takes_frames
from traffic import Capture, send_frames
from waiting import wait_for

pytestmark = pytest.mark.usefixtures("on_veths")
FLOWS = 64
FAR_MAC = "02:00:00:00:00:02"
SELECT_ABI = 88  # where it is in the table, for ever
libbpf = ctypes.CDLL("libbpf.so.1", use_errno=True)


@pytest.fixture(scope="module", name="installed")
def _installed(tmp_path_factory):
    """The directory of the built example."""
    made = tmp_path_factory.mktemp("library")
    run("make", "-C", ROOT, "install-dev", f"DESTDIR={made}", "PREFIX=/usr")
    include, examples = f"-I{made}/usr/include", ROOT / "packaging/examples"
    text = (examples / "route.bpf.c").read_text()
    for directory, source in ((made, text), (made / "plain", text.replace("xdp.frags", "xdp"))):
        directory.mkdir(exist_ok=True)
        (directory / "route.bpf.c").write_text(source)
        run("clang", "-O2", "-g", "-ffreestanding", "-target", "bpf", "-mcpu=v3", include,
            f"-I/usr/include/{os.uname().machine}-linux-gnu", "-c", directory / "route.bpf.c", "-o",
            directory / "route.bpf.o")
    run("cc", "-O2", include, "-o", made / "route", examples / "route.c", "-lbpf")
    return made


class Router:
    """near's bond0 leads to far; packets from a client come by c1."""

    def __init__(self, near, directory):
        self.near, self.directory = near, directory
        self.sources = set()  # (link, address) of what ways() has seen
        takes_frames(near.far, near.links)
        near.ip("link", "add", "c0", "type", "veth", "peer", "name", "c1")
        near.ip("addr", "add", "10.1.0.1/24", "dev", "c1")
        for dev in ("c0", "c1"):
            near.ip("link", "set", dev, "up")
        near.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0",
                 "net.ipv4.conf.c1.rp_filter=0")

    def make_bond(self, *links):
        near = self.near
        near.make_bond(links, "mode", "balance-xor", "xmit_hash_policy", "layer3+4")
        near.ip("addr", "add", "10.0.0.1/24", "dev", "bond0")
        self.know_far("bond0")

    def know_far(self, bond):
        self.near.ip("neigh", "replace", "10.0.0.2", "lladdr", FAR_MAC, "dev", bond)

    def rename(self, bond, name):
        self.near.rename(bond, name)
        wait_for(lambda: (self.near.bpf_dir / name).exists(), "bondd to follow")
        self.know_far(name)  # if the bond was down for a moment, that was forgotten

    def bond_dir(self):
        return self.near.bpf_dir / "bond0"

    @contextlib.contextmanager
    def loaded(self):
        """While the example's program is on c1."""
        loader = self.near.spawn(self.directory / "route", self.bond_dir(), "c1",
                                 cwd=self.directory, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: "xdp" in self.near.link("c1") or loader.poll() is not None, "the router")
        assert loader.poll() is None, loader.stderr.read()
        yield loader
        assert end(loader, signal.SIGTERM) == 0
        assert "xdp" not in self.near.link("c1")

    def frames(self, size=0):
        """size: of what UDP carries"""
        there = self.near.link("c1")["address"]
        for port in range(FLOWS):
            packet = ip4("10.1.0.2", "10.0.0.2", UDP, udp(1000 + port, 9, bytes(size)), summed=True)
            yield ethernet(there, "02:00:00:00:00:03", IPV4, packet).ljust(60, b"\0")

    def ways(self, size=0):
        """{source port: link} by which each of the flows arrives at the far end; sees that the bond
        has counted them, and that they were routed.
        """
        before = self.near.show()["tx_packets"]
        with contextlib.ExitStack() as stack:
            wires = {link: stack.enter_context(Capture(self.near.far, link))
                     for link in self.near.links}
            send_frames(self.near, "c0", list(self.frames(size)))
            found, twice = {}, []
            self.sources = set()

            def arrived():
                for link, wire in wires.items():
                    for frame in wire.frames(0.05):
                        if frame.data[:6] != mac_bytes(FAR_MAC) or frame.type != 0x0800:
                            continue
                        port = struct.unpack("!H", frame.data[34:36])[0]
                        twice.extend([port] if port in found else [])
                        found[port] = link
                        self.sources.add((link, frame.data[6:12]))
                        assert frame.data[22] == 63, "TTL"
                        assert sum(struct.unpack("!10H", frame.data[14:34])) % 0xffff == 0
                return len(found) == FLOWS
            wait_for(arrived, "all flows at the far end")
        assert not twice
        assert self.near.show()["tx_packets"] - before >= FLOWS
        return found


@pytest.fixture
def router(lone, installed):
    made = Router(lone(links=3), installed)
    made.make_bond("l0", "l1")
    return made


def test_the_example_sends_as_the_bond_does(router):
    """By the same slaves as the stack, in spite of everything that happens to the bond."""
    near = router.near
    by_stack = router.ways()
    assert set(by_stack.values()) == {"l0", "l1"}
    with router.loaded():
        sent = near.sent("bond0")["packets"]
        assert router.ways() == by_stack
        assert near.sent("bond0")["packets"] - sent < FLOWS, "they went around bond0"
        near.kill_bondd()
        assert router.ways() == by_stack, "without bondd"
        near.far.ip("link", "set", "l1", "down")
        wait_for(lambda: not near.link("l1")["operstate"] == "UP", "the loss")
        assert set(router.ways().values()) == {"l0"}, "detour without bondd"
        near.far.ip("link", "set", "l1", "up")
        near.start_bondd()
        near.wait_slaves("l0", "l1")
        wait_for(lambda: router.ways() == by_stack, "the old ways")
        near.ctl("add-slave", "bond0", "l2")
        near.wait_slaves("l0", "l1", "l2")
        with_another = router.ways()
        assert set(with_another.values()) == {"l0", "l1", "l2"}
        near.ctl("set-slave", "bond0", "l2", "drain", "on")
        drained = wait_for(lambda: [ways for ways in [router.ways()]
                                    if set(ways.values()) == {"l0", "l1"}], "the drain")[0]
        near.ctl("set-slave", "bond0", "l2", "drain", "off")
    assert wait_for(lambda: router.ways() == with_another, "the stack's ways")
    near.ctl("set-slave", "bond0", "l2", "drain", "on")
    assert wait_for(lambda: router.ways() == drained, "the stack's ways")
    near.ctl("del-slave", "bond0", "l2")
    with router.loaded():
        assert set(router.ways().values()) == {"l0", "l1"}


def test_frames_in_several_buffers(router):
    """They go by the stack, and leave by the same slaves."""
    near = router.near
    for host, devices in ((near, ("c0", "c1", "bond0")), (near.far, near.links)):
        for dev in devices:
            host.ip("link", "set", dev, "mtu", 9000)
    wait_for(lambda: {near.link(link)["mtu"] for link in ("l0", "l1")} == {9000}, "the slaves' MTU")
    with router.loaded():
        by_xdp = router.ways()
        sent = near.sent("bond0")["packets"]
        assert router.ways(8000) == by_xdp
        assert near.sent("bond0")["packets"] - sent >= FLOWS


def test_other_modes(router):
    near = router.near
    with router.loaded():
        near.ctl("set", "bond0", "mode", "active-backup")
        active = near.show()["active_slave"]
        assert set(router.ways().values()) == {active}
        near.ctl("set", "bond0", "mode", "balance-rr")
        taken = [link for _, link in sorted(router.ways().items())]
        # A stray packet of the stack (ND) takes a turn, too.
        assert sum(one == after for one, after in zip(taken, taken[1:])) <= 2, taken
        near.ctl("set", "bond0", "mode", "broadcast")
        before = {link: near.far.received(link)["packets"] for link in ("l0", "l1")}
        send_frames(near, "c0", list(router.frames()))
        wait_for(lambda: all(near.far.received(link)["packets"] - count >= FLOWS
                             for link, count in before.items()), "a copy on each link")


# In a place of its own, where the pins are where bondd has them by default.
BY_NAME = """
mount --bind "$1" /mnt
mount -t tmpfs none /sys/fs/bpf
mkdir /sys/fs/bpf/xbond
mount --bind /mnt /sys/fs/bpf/xbond
exec "$2" "$3" c1
"""


@pytest.mark.parametrize("name", ["bond0", "bond0.5"])
def test_a_bond_by_its_name(router, name):
    near = router.near
    if name != "bond0":
        near.rename("bond0", name)
        wait_for(lambda: near.ctl_try("show", name).returncode == 0, "the new name")
    loader = near.spawn("unshare", "-m", "sh", "-ec", BY_NAME, "sh", near.bpf_dir,
                        router.directory / "route", name, cwd=router.directory,
                        stderr=subprocess.PIPE, text=True)
    wait_for(lambda: "xdp" in near.link("c1") or loader.poll() is not None, "the router")
    assert loader.poll() is None, loader.stderr.read()
    assert end(loader, signal.SIGTERM) == 0


@pytest.mark.parametrize("mode", ["balance-tlb", "balance-alb"])
def test_slaves_with_addresses_of_their_own(router, mode):
    """What leaves by another slave than the active one has that slave's source address."""
    near = router.near
    near.ctl("set", "bond0", "mode", mode, "tlb_dynamic_lb", "off")
    near.wait_slaves("l0", "l1")
    by_stack, sources = router.ways(), router.sources
    assert set(by_stack.values()) == {"l0", "l1"} and len({mac for _, mac in sources}) == 2
    with router.loaded():
        sent = near.sent("bond0")["packets"]
        assert router.ways() == by_stack and router.sources == sources
        near.kill_bondd()
        assert router.ways() == by_stack and router.sources == sources, "without bondd"
        assert near.sent("bond0")["packets"] - sent < FLOWS, "they went around bond0"


def test_user_space(router, tmp_path):
    """xsk/choice.c, over the pins of two bonds at a time; what decides cannot be written."""
    near, frames = router.near, list(router.frames())
    near.ctl("create", "bond1", "mode", "active-backup")
    near.ctl("add-slave", "bond1", "l2")
    near.ip("link", "set", "bond1", "up")
    near.wait_slaves("l2", bond="bond1")
    (tmp_path / "frames").write_bytes(b"".join(struct.pack("=I", len(frame)) + frame
                                               for frame in frames))
    with open(tmp_path / "frames", "rb") as given:
        told = near.run(BUILD / "tools/choose", router.bond_dir(), near.bpf_dir / "bond1",
                        stdin=given).stdout
    links = {str(near.link(link)["ifindex"]): link for link in near.links}
    chosen = [[links[each] for each in line.split()] for line in told.splitlines()]
    assert {1000 + port: first for port, (first, _) in enumerate(chosen)} == router.ways()
    assert {second for _, second in chosen} == {"l2"}


def test_frames_for_others(router):
    """What a switch floods is not routed a second time, nor what is for everybody."""
    near, taken = router.near, list(router.frames())
    others = [mac_bytes(dest) + frame[6:] for dest, frame in
              zip(("02:00:00:00:00:77", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"), taken)]
    with router.loaded(), contextlib.ExitStack() as stack:
        near.ip("link", "set", "c1", "promisc", "on")
        wires = [stack.enter_context(Capture(near.far, link)) for link in near.links]
        send_frames(near, "c0", [*others, taken[-1]])
        found = []

        def arrived():
            found.extend(struct.unpack("!H", frame.data[34:36])[0] for wire in wires
                         for frame in wire.frames(0.05)
                         if frame.data[:6] == mac_bytes(FAR_MAC) and frame.type == 0x0800)
            return 1000 + FLOWS - 1 in found
        wait_for(arrived, "the frame for this router")
        assert found == [1000 + FLOWS - 1]


def test_the_words_in_pick(router, installed, tmp_path):
    """The classifier that bpftool loads, as its comment says: each frame leaves by the same slave
    as from bond0.
    """
    near, text = router.near, (ROOT / "packaging/examples/pick.bpf.c").read_text()
    words = "\n".join(re.findall(r"^ \*   (.*)$", text, re.M))
    pin = f"/sys/fs/bpf/{near.name}-pick"
    for said, here in (("/sys/fs/bpf/xbond/bond0", router.bond_dir()), ("/sys/fs/bpf/pick", pin),
                       ("dev0", "c1"), ("clang ", f"clang -I{installed}/usr/include ")):
        assert said in words
        words = words.replace(said, str(here))
    (tmp_path / "pick.bpf.c").write_text(text)
    frames = [mac_bytes(FAR_MAC) + frame[6:] for frame in router.frames()]

    def ways(dev):
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(Capture(near.far, link)) for link in near.links]
            found = {}

            def arrived():
                found.update({frame.data: wire.dev for wire in wires for frame in wire.frames(0.05)
                              if frame.data in frames})
                return len(found) == FLOWS
            send_frames(near, dev, frames)
            wait_for(arrived, "all frames at the far end")
            return found
    by_bond = ways("bond0")
    assert set(by_bond.values()) == {"l0", "l1"}
    sent, counted = near.sent("bond0")["packets"], near.show()["tx_packets"]
    try:
        near.run("sh", "-exc", words, cwd=tmp_path)
        assert ways("c0") == by_bond
    finally:
        if os.path.exists(pin):
            os.unlink(pin)
    assert near.sent("bond0")["packets"] - sent < FLOWS <= near.show()["tx_packets"] - counted


def test_flowlets(router):
    """One flow, in bursts: the pauses between them are shorter than the gap, then longer."""
    near = router.near
    burst, bursts = [next(router.frames()).ljust(1400, b"\0")] * 20, 20

    def shares():
        before = {link: near.far.received(link)["packets"] for link in ("l0", "l1")}

        def found():
            return [near.far.received(link)["packets"] - count for link, count in before.items()]
        for number in range(1, bursts + 1):  # the kernel may take each without a pause
            send_frames(near, "c0", burst)
            wait_for(lambda number=number: sum(found()) >= len(burst) * number, "the packets",
                     interval=0)
        return found()

    with router.loaded():
        sent = near.sent("bond0")["packets"]
        near.ctl("set", "bond0", "flowlet_gap", 1000000)
        first, second = shares(), shares()
        assert max(min(first), min(second)) < 20 and (first[0] > 20) == (second[0] > 20)
        near.ctl("set", "bond0", "flowlet_gap", 1)
        assert min(shares()) > 40
        assert near.sent("bond0")["packets"] - sent < len(burst) * bursts, "they went around bond0"


def test_a_bond_that_ends_and_begins_again(router):
    """The program lets packets pass until its loader has given it the new maps."""
    near = router.near
    with router.loaded() as loader:
        near.ctl("delete", "bond0")
        assert "xdp" in near.link("c1")
        router.make_bond("l0", "l2")

        def around():
            before = near.sent("bond0")["packets"]
            ways = router.ways()
            assert set(ways.values()) == {"l0", "l2"}
            return near.sent("bond0")["packets"] - before < FLOWS
        wait_for(around, "the loader to replace the program")
        assert loader.poll() is None


def test_a_bond_with_another_name(router):
    """The program that runs goes on."""
    near = router.near
    with router.loaded() as loader:
        router.rename("bond0", "bond1")
        before = near.sent("bond1")["packets"]
        wires = [Capture(near.far, link) for link in near.links]
        send_frames(near, "c0", list(router.frames()))
        found = []
        wait_for(lambda: found.extend(frame for wire in wires for frame in wire.frames(0.05)
                                      if frame.data[:6] == mac_bytes(FAR_MAC)
                                      and frame.type == 0x0800) or len(found) >= FLOWS,
                 "the flows at the far end")
        for wire in wires:
            wire.close()
        assert near.sent("bond1")["packets"] - before < FLOWS, "they went around bond1"
        assert loader.poll() is None
        router.rename("bond1", "bond0")
        assert router.ways()


def test_a_policy(router):
    """The bond's programs ask it, so packets go by the stack as long as there is one."""
    near = router.near

    def by_stack(ways):
        before = near.sent("bond0")["packets"]
        assert router.ways() == ways
        return near.sent("bond0")["packets"] - before >= FLOWS
    spread = router.ways()
    with router.loaded():
        assert not by_stack(spread)
        near.ctl("policy", "load", "bond0", WANTED)
        slots = {each["slave"]: each["slot"]
                 for each in near.ctl_json("policy", "show", "bond0")["slots"]}
        assert by_stack(spread)
        for link in ("l0", "l1"):
            want(near, slot(slots[link]))
            assert by_stack(dict.fromkeys(spread, link))
        near.ctl("policy", "unload", "bond0")
        wait_for(lambda: not by_stack(spread), "bondd to go back to programs that ask nobody")


# A loader that does what HOOK says after it has opened the first map of the bond.
INTERRUPTED = r"""
#include <xbond/loader.h>

int __real_bpf_obj_get(const char *path);

int __wrap_bpf_obj_get(const char *path)
{
	int fd = __real_bpf_obj_get(path);

	if (strstr(path, "/settings") && system(getenv("HOOK")))
		abort();
	return fd;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = bpf_object__open("route.bpf.o");
	char why[XBOND_WHY_SIZE] = "used";
	int r = xbond_use(object, argv[argc - 1], why);

	printf("%d %s\n", r, why);
	return 0;
}
"""


def test_a_bond_that_is_made_anew_meanwhile(router, tmp_path):
    """No program has maps of both."""
    near, source = router.near, tmp_path / "interrupted.c"
    source.write_text(INTERRUPTED)
    run("cc", f"-I{router.directory}/usr/include", "-o", tmp_path / "interrupted", source,
        "-Wl,--wrap=bpf_obj_get", "-lbpf")

    def say(hook):
        return near.run(tmp_path / "interrupted", router.bond_dir(), cwd=router.directory,
                        env={**os.environ, "HOOK": hook}).stdout
    ctl = " ".join(near.ctl_command())
    assert say("true") == "0 used\n"
    assert say(f"{ctl} delete bond0 && {ctl} create bond0 mode balance-xor") == \
        f"{-errno.EAGAIN} {router.bond_dir()} was made anew meanwhile; try again\n"
    assert say("true") == "0 used\n"


def write_version(router, version):
    """As a bondd does that offers another version."""
    fd = libbpf.bpf_obj_get(str(router.bond_dir() / "table").encode())
    assert fd >= 0
    with mmap.mmap(fd, mmap.PAGESIZE) as table:
        before, table[SELECT_ABI:SELECT_ABI + 4] = \
            struct.unpack("=I", table[SELECT_ABI:SELECT_ABI + 4])[0], struct.pack("=I", version)
    os.close(fd)
    return before


def refusal(router, bond, example="."):
    done = router.near.run(router.directory / "route", bond, "c1", cwd=router.directory / example,
                           check=False)
    assert done.returncode == 1 and "xdp" not in router.near.link("c1")
    return done.stderr


def test_another_version(router):
    """Programs that run leave packets to the stack, and others are not loaded."""
    near = router.near
    by_stack = router.ways()
    with router.loaded():
        assert router.ways() == by_stack
        mine = write_version(router, 7)
        sent = near.sent("bond0")["packets"]
        assert router.ways() == by_stack
        assert near.sent("bond0")["packets"] - sent >= FLOWS, "they did not pass"
    assert f"compiled for version {mine} of xbond's selection, and {router.bond_dir()} has " \
        "version 7" in refusal(router, router.bond_dir())
    write_version(router, 0)
    assert "does not offer it to programs" in refusal(router, router.bond_dir())
    near.restart_bondd()
    assert near.pinned("table")["select_abi"] == mine
    assert 'its section must be "xdp.frags"' in refusal(router, router.bond_dir(), "plain")
    assert "no such bond" in refusal(router, near.bpf_dir / "bond9")
