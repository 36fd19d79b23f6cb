// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test_queue_id.py: gives packets the queue_mapping that their socket's mark says, as tc's
 * skbedit would.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tc")
int queue_by_mark(struct __sk_buff *skb)
{
	skb->queue_mapping = skb->mark;
	return TC_ACT_UNSPEC;
}
