// SPDX-License-Identifier: GPL-2.0-or-later
/* Count packets at a device's egress, let all pass: tests/net/counting.py. */
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

static int count(__u32 key)
{
	__u32 one = 1, *found = bpf_map_lookup_elem(&seen, &key);

	if (found)
		__sync_fetch_and_add(found, 1);
	else
		bpf_map_update_elem(&seen, &key, &one, BPF_ANY);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int count_by_priority(struct __sk_buff *skb)
{
	return count(skb->priority);
}

/* The bytes that a program can read directly. */
SEC("tc")
int count_by_linear(struct __sk_buff *skb)
{
	return count(skb->data_end - skb->data);
}
