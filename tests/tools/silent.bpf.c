// SPDX-License-Identifier: GPL-2.0-or-later
/* At a device's egress: nothing leaves it any more (tc), or not all (classifier). */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tc")
int silent(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_SHOT;
}

SEC("classifier")
int lossy(struct __sk_buff *skb)
{
	(void)skb;
	return bpf_get_prandom_u32() % 6 ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}
