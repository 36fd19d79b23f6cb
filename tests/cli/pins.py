# SPDX-License-Identifier: GPL-2.0-or-later
"""The pinned maps of a bond made by hand, as bondd would leave them: no programs, no devices, no
bondd.

bpf/abi.h and lib/lacp/state.h are read by tests/bpf/abi.py, so no layout is written down twice.
"""

import ctypes
import mmap
import pathlib
import re
import sys
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bpf"))
import abi  # noqa: E402
from frames import mac_bytes  # noqa: E402

HASH, ARRAY, PERCPU_ARRAY, MMAPABLE, NO_PREALLOC = 1, 2, 6, 1 << 10, 1
X = types.SimpleNamespace(**abi.constants())
libbpf = ctypes.CDLL("libbpf.so.1", use_errno=True)


def lacp_constants():
    """Enumerators and flags of state.h, without the LACP_."""
    text = (ROOT / "lib/lacp/state.h").read_text()
    pairs = re.findall(r"^#define LACP_(\w+) (0x[0-9a-f]+|\d+)\b", text, re.M)
    pairs += re.findall(r"^\tLACP_(\w+) = (\d+),", text, re.M)
    return {name: int(value, 0) for name, value in pairs}


L = types.SimpleNamespace(**lacp_constants())


class MapOptions(ctypes.Structure):
    """struct bpf_map_create_opts of libbpf, as far as it is needed."""

    _fields_ = [
        ("sz", ctypes.c_size_t),
        ("btf_fd", ctypes.c_uint32),
        ("btf_key_type_id", ctypes.c_uint32),
        ("btf_value_type_id", ctypes.c_uint32),
        ("btf_vmlinux_value_type_id", ctypes.c_uint32),
        ("inner_map_fd", ctypes.c_uint32),
        ("map_flags", ctypes.c_uint32),
        ("map_extra", ctypes.c_uint64),
        ("numa_node", ctypes.c_uint32),
        ("map_ifindex", ctypes.c_uint32),
    ]


def fill(array, values):
    for at, value in enumerate(values):
        array[at] = value


# States of the second port, for Pins.publish().

def stand_by(system, port):
    system.config.max_links = 1
    port[1].selected = L.STANDBY
    port[1].actor.state &= ~(L.COLLECTING | L.DISTRIBUTING)


def differ(system, port):
    port[1].aggregator, port[1].selected, port[1].partner.key = 2, L.STANDBY, 18
    port[1].actor.state &= ~(L.COLLECTING | L.DISTRIBUTING)
    port[1].partner_churn = L.CHURN_CHURNED


class Pins:
    """bond0 with the slaves eth0, eth1, ...: up, 1000 Mbit/s, all of them in the masks."""

    def __init__(self, bpf_dir, slaves=2, mode=None, name="bond0"):
        self.directory = bpf_dir / name
        self.directory.mkdir()
        struct = abi.btf().struct
        self.settings = self.mapped("settings", struct("xbond_settings"))
        self.table = self.mapped("table", struct("xbond_table"))
        self.buckets = self.mapped("buckets", struct("xbond_buckets"))
        self.bond = self.mapped("bond", struct("xbond_bond"))
        self.slaves = self.mapped("slaves", struct("xbond_slave"), X.MAX_SLAVES)
        self.quality = self.mapped("quality", struct("xbond_quality"), X.MAX_SLAVES)
        self.hold = self.mapped("hold", struct("xbond_hold") * X.MAX_SLAVES)
        self.lacp = self.mapped("lacp", struct("xbond_lacp"))
        self.monitors = self.mapped("monitors", struct("xbond_verdict"), X.MAX_SLAVES)
        self.probes = self.mapped("probes", struct("xbond_probes"))
        self.alb = self.mapped("alb", struct("xbond_alb"))
        self.failover = self.mapped("failover", struct("xbond_failover"))
        self.afxdp = self.mapped("afxdp", struct("xbond_afxdp"))
        self.counters_type = struct("xbond_counters")
        self.counters = self.create("counters", PERCPU_ARRAY, ctypes.sizeof(self.counters_type),
                                    X.MAX_SLAVES)
        self.drops_type = struct("xbond_drops")
        self.drops = self.create("drops", PERCPU_ARRAY, ctypes.sizeof(self.drops_type),
                                 X.MAX_SLAVES + 1)
        self.make_bond(X.MODE_8023AD if mode is None else mode)
        for slot in range(slaves):
            self.make_slave(slot)

    def create(self, pin, kind, size, entries, flags=0, key_size=4):
        options = MapOptions(sz=ctypes.sizeof(MapOptions), map_flags=flags)
        fd = libbpf.bpf_map_create(kind, None, key_size, size, entries, ctypes.byref(options))
        assert fd >= 0 and libbpf.bpf_obj_pin(fd, str(self.directory / pin).encode()) == 0, pin
        return fd

    def mapped(self, pin, kind, entries=1):
        size = ctypes.sizeof(kind)
        stride = (size + 7) // 8 * 8
        fd = self.create(pin, ARRAY, size, entries, MMAPABLE)
        memory = mmap.mmap(fd, -(-stride * entries // mmap.PAGESIZE) * mmap.PAGESIZE)
        found = [kind.from_buffer(memory, stride * at) for at in range(entries)]
        return found if entries > 1 else found[0]

    def make_bond(self, mode):
        bond = self.bond
        bond.magic, bond.abi_version, bond.state = X.ABI_MAGIC, X.ABI_VERSION, X.BOND_READY
        bond.mode, bond.mtu, bond.miimon_ms, bond.active_slot = mode, 1500, 100, X.NO_SLOT
        fill(bond.name, self.directory.name.encode())
        fill(bond.mac, mac_bytes("02:00:5e:10:00:00"))
        self.table.selection = X.SELECT_HASH if mode >= X.MODE_8023AD else mode
        self.settings.packets_per_slave = 1
        bond.ad_actor_sys_prio, bond.lacp_active, bond.coupled_control = 65535, 1, 1
        bond.lacp_hold, bond.lacp_revert = 1, 1
        bond.num_peer_notif, bond.resend_igmp = 1, 1
        bond.arp_missed_max = 2
        bond.bfd_multiplier = 3
        bond.rebalance_idle_ms = 100
        bond.tlb_dynamic_lb, bond.lp_interval_s = 1, 1
        bond.lacp_fallback, bond.lacp_fallback_delay_ms = L.FALLBACK_ONE, 3000

    def make_slave(self, slot):
        slave = self.slaves[slot]
        slave.state, slave.link = X.SLOT_MEMBER, X.LINK_UP
        slave.speed_mbps, slave.duplex, slave.actor_port_prio = 1000, 1, 255
        fill(slave.name, b"eth%d" % slot)
        self.table.tx_mask |= 1 << slot
        self.table.rx_mask |= 1 << slot
        self.monitors[slot].spoken = self.monitors[slot].works = 1 << X.MONITOR_CARRIER

    def take_out(self, slot, link=X.LINK_DOWN):
        self.slaves[slot].link = link
        self.table.tx_mask &= ~(1 << slot)

    # what the programs would count, on each CPU; both return how many these are

    def drop(self, slot, packets):
        """packets: {reason: packets}"""
        value = self.drops_type()
        for reason, number in packets.items():
            value.packets[reason] = number
        return self.put_on_each_cpu(self.drops, slot, value)

    def count(self, slot, **numbers):
        return self.put_on_each_cpu(self.counters, slot, self.counters_type(**numbers))

    @staticmethod
    def put_on_each_cpu(fd, slot, value):
        with open("/sys/devices/system/cpu/possible") as file:
            cpus = int(file.read().strip().split("-")[-1]) + 1
        key, values = ctypes.c_uint32(slot), (type(value) * cpus)(*[value] * cpus)
        assert libbpf.bpf_map_update_elem(fd, ctypes.byref(key), values, ctypes.c_uint64(0)) == 0
        return cpus

    # what bondd's LACP thread would do

    def beat(self):
        self.table.lacp_heartbeat_ns = time.monotonic_ns() + 3600 * 10**9

    def begin(self, mode):
        """What bondd does once for a bond of this mode, all of whose slaves work."""
        if mode == X.MODE_8023AD:
            self.beat()
            self.publish()
        if mode == X.MODE_ACTIVE_BACKUP:
            self.table.selection, self.bond.active_slot = X.SELECT_ACTIVE, 0
        if mode == X.MODE_BALANCE_TLB:
            self.table.selection, self.bond.active_slot = X.SELECT_HASH, 0
            self.table.flags |= X.F_TLB
            fill(self.alb.order, [0] + list(range(len(self.alb.order) - 1)))

    def publish(self, change=lambda system, port: None):
        """All slaves distribute to one partner; change(system, port) may say otherwise. Into the
        other copy.
        """
        copy = self.lacp.copy[1 - self.lacp.current]
        ctypes.memset(ctypes.byref(copy), 0, ctypes.sizeof(copy))
        copy.system.version, copy.system.active_aggregator = L.STATE_VERSION, 1
        config = copy.system.config
        fill(config.system, mac_bytes("02:00:5e:10:00:00"))
        config.system_priority, config.active, config.coupled, config.hold = 65535, 1, 1, 1
        for slot, slave in enumerate(self.slaves):
            if slave.state == X.SLOT_MEMBER:
                self.make_port(copy.port[slot], slot)
        change(copy.system, copy.port)
        self.lacp.current = 1 - self.lacp.current

    def make_port(self, port, slot):
        port.used, port.aggregator, port.selected, port.matched = 1, 1, L.SELECTED, 1
        port.rx, port.mux = L.RX_CURRENT, L.MUX_COLLECTING_DISTRIBUTING
        port.actor_churn = port.partner_churn = L.CHURN_NONE
        port.told = L.COLLECTING | L.DISTRIBUTING
        port.heard_ns = time.monotonic_ns()
        config = port.config
        config.port, config.port_priority = slot + 1, 255
        config.speed_mbps, config.duplex, config.link = 1000, 1, 1
        flags = L.ACTIVITY | L.AGGREGATION | L.SYNCHRONIZATION | L.COLLECTING | L.DISTRIBUTING
        for info, system, key in ((port.actor, "02:00:5e:10:00:00", 9),
                                  (port.partner, "02:00:5e:20:00:00", 17)):
            fill(info.system, mac_bytes(system))
            info.system_priority, info.key = 65535, key
            info.port_priority, info.port = 255, slot + 1
            info.state = flags
        port.counters.lacpdu_rx, port.counters.lacpdu_tx = 10 + slot, 20 + slot
        port.counters.marker_rx, port.counters.marker_tx = 3, 4
        port.counters.illegal_rx, port.counters.stranger_rx = 5, 6


def four_slaves(bpf_dir, seed):
    """A bond with four slaves in balance-xor; bucket i belongs to slave i % 4."""
    made = Pins(bpf_dir, slaves=4, mode=X.MODE_BALANCE_XOR)
    for bucket in range(X.BUCKETS):
        made.buckets.bucket[0][bucket] = made.buckets.home[bucket] = bucket % 4
    made.settings.xmit_hash_policy = X.POLICY_LAYER34
    made.table.hash_seed = seed
    return made
