"""The built BPF object, loaded in a namespace of its own and run packet by packet.

A Datapath plays bondd: it fills the maps, then BPF_PROG_RUN gives the verdict, and the
per-slot counters tell which slave was chosen. Slaves are veth devices, so that clones
of broadcast mode have somewhere to go.
"""
import ctypes
import json
import os
import mmap
import socket
import subprocess
import types

import abi

TC_UNSPEC, TC_SHOT, TC_REDIRECT = -1, 2, 7
XDP_DROP, XDP_REDIRECT = 1, 4
CLONE_NEWNET = 0x40000000
ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING = 3, 263, 23
PROGRAMS = ("xbond_egress", "xbond_port", "xbond_rx", "xbond_beat")
XDP_OBJECT = abi.BUILD / "bpf/xdp.bpf.o"
LO_INDEX, BOND_INDEX, PORT_INDEX, SLAVE_INDEX = 1, 50, 51, 100
X = types.SimpleNamespace(**abi.constants())
libbpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
libc = ctypes.CDLL(None, use_errno=True)
for function in ("bpf_object__open", "bpf_object__find_program_by_name",
                 "bpf_object__find_map_by_name", "bpf_object__next_program"):
    getattr(libbpf, function).restype = ctypes.c_void_p
libbpf.bpf_program__name.restype = ctypes.c_char_p


class RunOptions(ctypes.Structure):
    """struct bpf_test_run_opts of libbpf."""
    _fields_ = [("sz", ctypes.c_size_t), ("data_in", ctypes.c_char_p),
                ("data_out", ctypes.c_void_p), ("data_size_in", ctypes.c_uint32),
                ("data_size_out", ctypes.c_uint32), ("ctx_in", ctypes.c_void_p),
                ("ctx_out", ctypes.c_void_p), ("ctx_size_in", ctypes.c_uint32),
                ("ctx_size_out", ctypes.c_uint32), ("retval", ctypes.c_uint32),
                ("repeat", ctypes.c_int), ("duration", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("cpu", ctypes.c_uint32), ("batch_size", ctypes.c_uint32)]


class BatchOptions(ctypes.Structure):
    _fields_ = [("sz", ctypes.c_size_t), ("elem_flags", ctypes.c_uint64),
                ("flags", ctypes.c_uint64)]


class OwnNamespace:
    """The process is in a fresh network namespace between enter() and leave()."""

    def enter(self):
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        if libc.unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")

    def leave(self):
        if libc.setns(self.home, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        os.close(self.home)


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True)


def add_device(name, index):
    ip("link", "add", name, "index", index, "type", "veth", "peer", "name", name + "p")
    for each in (name, name + "p"):
        ip("link", "set", each, "up", "addrgenmode", "none")


def possible_cpus():
    with open("/sys/devices/system/cpu/possible") as file:
        return int(file.read().strip().split("-")[-1]) + 1


class Loaded:
    """Programs of one object file, and its maps."""

    def load(self, path, names):
        self.cpus = possible_cpus()
        self.object = ctypes.c_void_p(libbpf.bpf_object__open(str(path).encode()))
        assert self.object.value
        program = None
        while program := libbpf.bpf_object__next_program(self.object, ctypes.c_void_p(program)):
            name = libbpf.bpf_program__name(ctypes.c_void_p(program)).decode()
            libbpf.bpf_program__set_autoload(ctypes.c_void_p(program), name in names)
        assert libbpf.bpf_object__load(self.object) == 0
        self.programs = {name: libbpf.bpf_program__fd(ctypes.c_void_p(
            libbpf.bpf_object__find_program_by_name(self.object, name.encode())))
            for name in names}

    def unload(self):
        libbpf.bpf_object__close(self.object)

    def _map_fd(self, name):
        return libbpf.bpf_map__fd(
            ctypes.c_void_p(libbpf.bpf_object__find_map_by_name(self.object, name.encode())))

    def _mapped(self, name, struct):
        size = -(-ctypes.sizeof(struct) // mmap.PAGESIZE) * mmap.PAGESIZE
        return struct.from_buffer(mmap.mmap(self._map_fd(name), size))

    def _point(self, devmap_fd, slot, ifindex):
        """ifindex None: the entry is empty."""
        key, value = ctypes.c_uint32(slot), ctypes.c_uint32(ifindex or 0)
        if ifindex:
            r = libbpf.bpf_map_update_elem(devmap_fd, ctypes.byref(key), ctypes.byref(value),
                                           ctypes.c_uint64(0))
        else:
            r = libbpf.bpf_map_delete_elem(devmap_fd, ctypes.byref(key))
        assert r == 0, (slot, ifindex)

    def _test_run(self, program, **options):
        """(what the program returns, the options after it); of struct bpf_test_run_opts."""
        options = RunOptions(sz=ctypes.sizeof(RunOptions), **options)
        error = libbpf.bpf_prog_test_run_opts(self.programs[program], ctypes.byref(options))
        assert error == 0, f"BPF_PROG_RUN: {os.strerror(-error)} ({options.data_size_in} bytes)"
        return ctypes.c_int32(options.retval).value, options

    def call(self, program):
        """What a program returns that gets no packet."""
        return self._test_run(program)[0]


class XdpDatapath(Loaded):
    """The XDP program of the port side, with maps of its own: a ready bond of one slave, lo."""

    def __init__(self):
        btf = abi.btf()
        self.load(XDP_OBJECT, ["xbond_xdp_tx"])
        self.table = self._mapped(".data.table", btf.struct("xbond_table"))
        self.table.selection, self.table.tx_mask, self.table.watched = X.SELECT_HASH, 1, 1
        self.table.flags = X.F_CARRIER | X.F_XDP_TX
        self._point(self._map_fd("devices"), 0, LO_INDEX)

    def run(self, program, packet):
        return self._test_run(program, data_in=packet, data_size_in=len(packet))[0]


class Datapath(Loaded):
    # slots that are devices; others have an ifindex nobody has, good for redirects only, and the
    # carrier of lo
    devices = 4

    def __init__(self):
        btf = abi.btf()
        self.namespace = OwnNamespace()
        self.namespace.enter()
        add_device("bond0", BOND_INDEX)
        add_device("port0", PORT_INDEX)
        ip("link", "set", "lo", "up")
        for slot in range(self.devices):
            add_device(f"s{slot}", SLAVE_INDEX + slot)
        self.load(abi.OBJECT, PROGRAMS)
        self.devices_fd = self._map_fd("devices")
        for slot in range(X.MAX_SLAVES):
            self.point(slot, SLAVE_INDEX + slot if slot < self.devices else LO_INDEX)
        self.skb_type = btf.struct("__sk_buff")
        self.settings = self._mapped(".data.settings", btf.struct("xbond_settings"))
        self.table = self._mapped(".data.table", btf.struct("xbond_table"))
        self.buckets = self._mapped(".data.buckets", btf.struct("xbond_buckets"))
        self.cursor = self._mapped(".data.cursor", btf.struct("xbond_cursor"))
        self.hold = self._mapped(".data.hold", btf.struct("xbond_hold") * X.MAX_SLAVES)
        self.probes = self._mapped(".data.probes", btf.struct("xbond_probes"))
        self.counters_fd = self._map_fd("counters")
        self.counters_type = btf.struct("xbond_counters")
        assert ctypes.sizeof(self.counters_type) % 8 == 0
        self.reset()

    def close(self):
        self.unload()
        self.namespace.leave()

    # what bondd would do

    def reset(self, slots=4, **changes):
        """A ready bond with so many members, all carrying traffic, counted,
        balance-xor layer3+4.
        """
        ctypes.memset(ctypes.byref(self.settings), 0, ctypes.sizeof(self.settings))
        ctypes.memset(ctypes.byref(self.table), 0, ctypes.sizeof(self.table))
        ctypes.memset(ctypes.byref(self.cursor), 0, ctypes.sizeof(self.cursor))
        table = self.table
        self.settings.packets_per_slave = 1
        self.settings.xmit_hash_policy = X.POLICY_LAYER34
        table.selection, table.flags, table.hash_seed = X.SELECT_HASH, X.F_CARRIER, 0x1234567
        table.tx_mask = table.rx_mask = (1 << slots) - 1
        table.bond_ifindex, table.port_ifindex = BOND_INDEX, PORT_INDEX
        table.watched = 1
        for slot in range(slots):
            table.ifindex[slot] = SLAVE_INDEX + slot
            table.byte_cost[slot] = 256
            self.buckets.slot_of[table.ifindex[slot] % X.SLOT_CACHE] = slot
        self.fill_buckets([bucket % slots for bucket in range(X.BUCKETS)])
        for name, value in changes.items():
            setattr(self.settings if hasattr(self.settings, name) else table, name, value)

    def point(self, slot, ifindex):
        """The device whose carrier is the slot's; None: it has gone."""
        self._point(self.devices_fd, slot, ifindex)

    def fill_buckets(self, slots, copy=0):
        for bucket, slot in enumerate(slots):
            self.buckets.bucket[copy][bucket] = slot
        self.table.bucket_count[copy] = len(slots)

    # running

    def run(self, program, packet, ifindex=0):
        """The verdict."""
        return self.answer(program, packet, ifindex)[0]

    def answer(self, program, packet, ifindex=0):
        """(verdict, the packet as the program leaves it)."""
        context = self.skb_type(ifindex=ifindex, ingress_ifindex=ifindex)
        after = ctypes.create_string_buffer(len(packet))
        verdict, options = self._test_run(
            program, data_in=packet, data_size_in=len(packet), repeat=1,
            data_out=ctypes.addressof(after), data_size_out=len(packet),
            ctx_in=ctypes.addressof(context), ctx_size_in=ctypes.sizeof(context))
        return verdict, after.raw[:options.data_size_out]

    def counters(self, field):
        """Sum over CPUs of one counter, per slot."""
        values = (self.counters_type * self.cpus * X.MAX_SLAVES)()
        keys = (ctypes.c_uint32 * X.MAX_SLAVES)()
        count, batch = ctypes.c_uint32(X.MAX_SLAVES), ctypes.c_uint32()
        options = BatchOptions(sz=ctypes.sizeof(BatchOptions))
        libbpf.bpf_map_lookup_batch(self.counters_fd, None, ctypes.byref(batch), keys, values,
                                    ctypes.byref(count), ctypes.byref(options))
        assert count.value == X.MAX_SLAVES
        words = memoryview(bytes(values)).cast("Q")  # ctypes is slow, field by field
        size, first = ctypes.sizeof(self.counters_type) // 8, \
            getattr(self.counters_type, field).offset // 8
        copies = [words[first + cpu * size::self.cpus * size] for cpu in range(self.cpus)]
        return [sum(slot) for slot in zip(*copies)]

    def changed(self, field, action):
        """(what action returns, {slot: by how much its counter rose})."""
        before = self.counters(field)
        result = action()
        after = self.counters(field)
        return result, {slot: now - then for slot, (then, now) in enumerate(zip(before, after))
                        if now != then}

    def transmit(self, packet, program="xbond_port"):
        """(verdict, chosen slot or None) of a packet that is sent."""
        verdict, sent = self.changed("tx_packets", lambda: self.run(program, packet))
        assert len(sent) <= 1 and sum(sent.values()) <= 1, sent
        return verdict, next(iter(sent), None)

    def slot(self, packet):
        """The slot of a packet that must be redirected."""
        verdict, slot = self.transmit(packet)
        assert verdict == TC_REDIRECT and slot is not None, (verdict, slot, packet.hex())
        return slot

    def slots(self, packets):
        return [self.slot(packet) for packet in packets]

    def share(self, packets):
        """{slot: packets} of many packets that must all be redirected; faster than slots()."""
        verdicts, sent = self.changed("tx_packets", lambda: {self.run("xbond_port", packet)
                                                             for packet in packets})
        assert verdicts == {TC_REDIRECT} and sum(sent.values()) == len(packets)
        return sent

    def receive(self, packet, slot=0, ifindex=None):
        """(verdict, {slot: rx_packets}, {slot: rx_dropped}) of a packet that a slave gets."""
        index = SLAVE_INDEX + slot if ifindex is None else ifindex
        (verdict, received), dropped = self.changed("rx_dropped", lambda: self.changed(
            "rx_packets", lambda: self.run("xbond_rx", packet, index)))
        return verdict, received, dropped

    def mac(self, slot):
        """The address of a slot's device."""
        shown = subprocess.run(["ip", "-j", "link", "show", f"s{slot}"], capture_output=True,
                               check=True).stdout
        return json.loads(shown)[0]["address"]

    def sent_by_device(self):
        """tx packets of s0..: what really left a device (clones of broadcast)."""
        dump = subprocess.run(["ip", "-j", "-s", "link"], capture_output=True, check=True).stdout
        stats = {link["ifname"]: link["stats64"]["tx"]["packets"] for link in json.loads(dump)}
        return [stats[f"s{slot}"] for slot in range(self.devices)]

    @staticmethod
    def listen(path):
        """A socket that gets the copies that are handed to the bond: at the other end of the pair,
        or on bond0.
        """
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        made.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        made.bind(("bond0" if path == "direct" else "port0p", ETH_P_ALL))
        made.settimeout(5)
        return made
