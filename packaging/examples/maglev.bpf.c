// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A policy: consistent hashing by Maglev (Eisenbud and others, NSDI 2016). The map `lookup` has the
 * table, which maglev-fill computes from the names of the slaves: two hosts with the same names
 * choose alike, and few flows move when the set of slaves changes. Entries are a slot plus one. In
 * an empty table the bond decides.
 */
#include <xbond/policy.bpf.h>

#define TABLE 65537 /* a prime, much larger than the number of slaves */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TABLE);
	__type(key, __u32);
	__type(value, __u8);
} lookup SEC(".maps");

XBOND_POLICY(maglev)
{
	__u32 key = (question->hash >> 32) % TABLE;
	const __u8 *entry = bpf_map_lookup_elem(&lookup, &key);

	return entry && *entry ? xbond_slot(*entry - 1) : XBOND_DEFAULT;
}

char _license[] SEC("license") = "GPL";
