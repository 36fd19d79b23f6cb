// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A policy: VLANs that are in the map `vlans` take the slave whose slot is there; other VLANs are
 * distributed, each as a whole; untagged packets go on as xmit_hash_policy says. VLAN 10 to slot 1:
 *
 *   bpftool map update pinned /sys/fs/bpf/xbond/bond0/policy_map_vlans key 10 0 value 1
 */
#include <xbond/policy.bpf.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u16);
	__type(value, __u8);
} vlans SEC(".maps");

XBOND_POLICY(by_vlan)
{
	__u16 vlan = packet->vlan;
	const __u8 *slot;

	if (packet->vlan < 0)
		return XBOND_DEFAULT;
	slot = bpf_map_lookup_elem(&vlans, &vlan);
	return slot ? xbond_slot(*slot) : xbond_hash(vlan);
}

char _license[] SEC("license") = "GPL";
