// SPDX-License-Identifier: GPL-2.0-or-later
/* For test_quality.py: at a device's egress, nothing leaves it any more. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tc")
int silent(struct __sk_buff *skb)
{
	return TC_ACT_SHOT;
}
