// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test_fragments.py: counts packets at a device's egress by the bytes that a program can read
 * directly.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u32);
} seen SEC(".maps");

SEC("tc")
int count_by_linear_part(struct __sk_buff *skb)
{
	__u32 linear = skb->data_end - skb->data, one = 1,
	      *count = bpf_map_lookup_elem(&seen, &linear);

	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&seen, &linear, &one, BPF_ANY);
	return TC_ACT_UNSPEC;
}
