/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The worker of choose.h for a frame that is no skb: its hash, and balance-tlb. For XDP and for
 * user space. Include it after defining FLOW_CONTEXT and packet_of().
 */
#ifndef XBOND_BPF_SEND_FRAME_H
#define XBOND_BPF_SEND_FRAME_H

#include "bpf/choose.h"
#include "bpf/flow_hook.h"

/* Data beyond the linear part cannot be read here and counts for nothing. */
__noinline __u64 hash_headers(FLOW_CONTEXT *ctx)
{
	const struct flow_hook hook = flow_hook_of(ctx);
	struct flow_rule rule = choose_rule();
	struct packet packet = packet_of(ctx);
	__u64 hash;

	if (rule.policy == XBOND_POLICY_FLOW) /* a frame has no skb that the stack has hashed */
		rule.policy = XBOND_POLICY_LAYER34;
	flow_hash(&packet, &rule, &hook, &hash);
	return hash;
}

static __always_inline __u64 hash_of(void *context)
{
	struct packet packet = packet_of(context);
	struct flow_rule rule = choose_rule();
	__u64 hash;

	return flow_hash_plain(&packet, &rule, &hash) ? hash_headers(context) : hash;
}

/* The slot by which a frame leaves, with the source address that it has to have there. */
__noinline __u32 tlb_prepare_frame(FLOW_CONTEXT *ctx, __u64 mask, __u32 length)
{
	struct packet packet = packet_of(ctx);
	__u32 active = tlb_active(mask), slot;
	__u64 source;
	__u8 *at;

	if (tlb_kind_of(&packet) != TLB_BALANCED)
		return active;
	slot = choose_slot(ctx, hash_of, mask, length, READ_ONCE(table.flags));
	packet = packet_of(ctx);
	at = (__u8 *)packet.data + ETH_ALEN;
	source = slot < XBOND_MAX_SLAVES && slot != active ? tlb_source(slot) : 0;
	if (!source || (void *)(at + ETH_ALEN) > packet.end)
		return active;
	__builtin_memcpy(at, &source, ETH_ALEN);
	return slot;
}

#endif
