// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts packets at a device's egress by skb->priority, lets all pass. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} seen SEC(".maps");

SEC("tc")
int count_by_priority(struct __sk_buff *skb)
{
	__u32 priority = skb->priority, one = 1, *count = bpf_map_lookup_elem(&seen, &priority);

	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&seen, &priority, &one, BPF_ANY);
	return TC_ACT_UNSPEC;
}
