// SPDX-License-Identifier: GPL-2.0-or-later
/* TC programs that change what leaves a device. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

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
