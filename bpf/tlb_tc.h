/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance-tlb at a TC program that sends: what is balanced, and the source address it gets. */
#ifndef XBOND_BPF_TLB_TC_H
#define XBOND_BPF_TLB_TC_H

#include "bpf/send_tc.h"

static __always_inline enum tlb_kind tlb_kind_of_skb(struct __sk_buff *skb)
{
	struct packet packet = packet_of(skb);
	enum tlb_kind kind = tlb_kind_of(&packet);

	if (kind != TLB_SHORT)
		return kind;
	bpf_skb_pull_data(skb, skb->len < TLB_HEADERS ? skb->len : TLB_HEADERS);
	packet = packet_of(skb);
	kind = tlb_kind_of(&packet);
	return kind == TLB_SHORT ? TLB_OTHER : kind;
}

/* The slot by which a packet leaves then: the active one, if it cannot leave by the other. */
static __always_inline __u32 tlb_give_source(struct __sk_buff *skb, __u32 slot, __u32 active)
{
	__u64 source;

	if (slot == active || slot >= XBOND_MAX_SLAVES)
		return active;
	source = tlb_source(slot);
	if (!source || bpf_skb_store_bytes(skb, ETH_ALEN, &source, ETH_ALEN, 0))
		return active;
	return slot;
}

#endif
