// SPDX-License-Identifier: GPL-2.0-or-later
/* TC filters of others: they judge IPv4 (of_ip()) or all packets, or change them. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

static __always_inline int of_ip(const struct __sk_buff *skb, int verdict)
{
	return skb->protocol == bpf_htons(ETH_P_IP) ? verdict : TC_ACT_UNSPEC;
}

/* Drops it. */
SEC("tc")
int reject(struct __sk_buff *skb)
{
	return of_ip(skb, TC_ACT_SHOT);
}

/* Lets it pass for good: nobody after it sees it. */
SEC("tc")
int end(struct __sk_buff *skb)
{
	return of_ip(skb, TC_ACT_OK);
}

/* Leaves it, and all else, to the next one. */
SEC("tc")
int next(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_UNSPEC;
}

/* Drops all. */
SEC("tc")
int silent(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_SHOT;
}

/* Drops a sixth. */
SEC("tc")
int lossy(struct __sk_buff *skb)
{
	(void)skb;
	return bpf_get_prandom_u32() % 6 ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

/* Tags it with VLAN 7, as a VLAN device does: beside the frame, not in it (test_xdp.py). */
SEC("tc")
int push_tag(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), 7);
	return TC_ACT_UNSPEC;
}

/* Gives it the queue_mapping that its socket's mark says, as skbedit would (test_queue_id.py). */
SEC("tc")
int queue_by_mark(struct __sk_buff *skb)
{
	skb->queue_mapping = skb->mark;
	return TC_ACT_UNSPEC;
}
