// SPDX-License-Identifier: GPL-2.0-or-later
/* A policy: answers what the map has. */
#include <xbond/policy.bpf.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} wanted SEC(".maps");

XBOND_POLICY(to_wanted)
{
	__u32 key = 0;
	const __u64 *answer = bpf_map_lookup_elem(&wanted, &key);

	return answer ? *answer : XBOND_DEFAULT;
}

char _license[] SEC("license") = "GPL";
