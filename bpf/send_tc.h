/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a TC program that sends needs around the worker of choose.h: the packet of an skb, its hash,
 * and ways out by ifindex. Also for programs of others (xbond/select.bpf.h).
 */
#ifndef XBOND_BPF_SEND_TC_H
#define XBOND_BPF_SEND_TC_H

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include "bpf/choose.h"
#include "bpf/neighbour.h"

#define FLOW_CONTEXT struct __sk_buff

/* The bond's own programs count it (bpf/drops_count.h). */
#ifndef TX_LOST_A_COPY
#define TX_LOST_A_COPY(slot) ((void)(slot))
#endif
#define TX_CONGESTED 2 /* NET_XMIT_CN: the queue took the packet */

static __always_inline struct packet packet_of(struct __sk_buff *skb)
{
	return (struct packet){
		.data = (void *)(long)skb->data,
		.end = (void *)(long)skb->data_end,
		.vlan_tci = skb->vlan_present ? (__s32)skb->vlan_tci : -1,
	};
}

#include "bpf/flow_hook.h"

/* Returns 0 if headers that count lie beyond the linear part and this is not the last try. */
__noinline __u64 hash_headers(struct __sk_buff *skb, int last_try)
{
	const struct flow_hook hook = flow_hook_of(skb);
	struct flow_rule rule = choose_rule();
	struct packet packet = packet_of(skb);
	__u64 hash;

	if (flow_hash(&packet, &rule, &hook, &hash) && !last_try)
		return 0;
	return hash ? hash : 1;
}

/* Afterwards pointers into the packet are no longer valid: it may have been made linear. */
static __always_inline __u64 hash_of(void *context)
{
	struct __sk_buff *skb = context;
	struct packet packet = packet_of(skb);
	struct flow_rule rule = choose_rule_plain();
	__u64 hash;

	if (!flow_hash_plain(&packet, &rule, &hash))
		return hash;
	if (rule.policy == XBOND_POLICY_FLOW)
		return flow_finish(flow_mix(flow_seed(rule.seed), bpf_get_hash_recalc(skb)));
	hash = hash_headers(skb, 0);
	if (!hash) { /* rare */
		bpf_skb_pull_data(skb, skb->len < FLOW_HEADERS ? skb->len : FLOW_HEADERS);
		hash = hash_headers(skb, 1);
	}
	return hash;
}

/* The verifier loses the bound that the compiler knows. */
static __always_inline __u32 tx_bounded(__u32 slot)
{
	asm volatile("" : "+r"(slot));
	return slot & (XBOND_MAX_SLAVES - 1);
}

static __always_inline int tx_send(__u32 slot, __u32 length)
{
	if (slot >= XBOND_MAX_SLAVES)
		return TC_ACT_SHOT;
	choose_count(slot, length);
	return bpf_redirect(table.ifindex[tx_bounded(slot)], 0);
}

struct tx_copies {
	struct __sk_buff *skb;
	__u64 slots; /* that get one */
	__u32 length;
};

/* For bpf_loop(): a clone to the lowest slot that has none yet. */
static long tx_copy(__u32 turn, void *context)
{
	struct tx_copies *copies = context;
	__u32 slot = select_lowest(copies->slots);
	long refused;

	(void)turn;
	if (!copies->slots)
		return 1;
	copies->slots &= copies->slots - 1;
	choose_count(slot, copies->length);
	refused = bpf_clone_redirect(copies->skb, table.ifindex[tx_bounded(slot)], 0);
	if (refused && refused != TX_CONGESTED)
		TX_LOST_A_COPY(slot);
	return 0;
}

/* A clone to every live slave of mask except the lowest. Returns the slot of that one. */
__noinline __u32 tx_copy_to_others(struct __sk_buff *skb, __u64 mask)
{
	__u64 live = select_live(mask);
	struct tx_copies copies = { .skb = skb, .slots = live & (live - 1), .length = skb->len };

	bpf_loop(XBOND_MAX_SLAVES, tx_copy, &copies, 0);
	return select_lowest(live);
}

static __always_inline int tx_broadcast(struct __sk_buff *skb, __u64 mask)
{
	__u32 length = skb->len;

	return tx_send(tx_copy_to_others(skb, mask), length);
}

static __always_inline int tx_is_neighbour_message(struct __sk_buff *skb)
{
	struct neighbour_headers headers;

	if (skb->protocol == bpf_htons(ETH_P_ARP))
		return 1;
	if (skb->protocol != bpf_htons(ETH_P_IPV6) ||
	    bpf_skb_load_bytes(skb, ETH_HLEN, &headers, sizeof(headers)))
		return 0;
	return neighbour_is_message(&headers);
}

/* balance-tlb at a TC program that sends: what is balanced, and the source address it gets. */

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
