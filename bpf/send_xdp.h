/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an XDP program that sends needs around the worker of choose.h: the packet of a frame, its
 * length, its hash, and ways out by devmap. Also for programs of others (xbond/select.bpf.h).
 */
#ifndef XBOND_BPF_SEND_XDP_H
#define XBOND_BPF_SEND_XDP_H

#include <linux/bpf.h>

#include "bpf/choose.h"
#include "bpf/neighbour.h"

/* Exactly the slaves of select_mask(), because BPF_F_BROADCAST sends to every entry. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, __u32);
} xdp_all SEC(".maps");

#define FLOW_CONTEXT struct xdp_md

static __always_inline struct packet packet_of(struct xdp_md *ctx)
{
	return (struct packet){
		.data = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
		.vlan_tci = -1,
	};
}

#include "bpf/flow_hook.h"

/* The kernel's frame behind the context; only the field that is read. */
struct xdp_buff {
	__u32 flags;
} __attribute__((preserve_access_index));
#define XDP_HAS_FRAGS 1 /* the kernel's XDP_FLAGS_HAS_FRAGS */

/* From Linux 6.2. It costs nothing: the verifier makes it a move. */
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

/*
 * Does the frame certainly lie in one buffer? Older kernels hide what they know of that, but an
 * IPv4 header tells it for less than the cost of a helper.
 */
static __always_inline int xdp_is_linear(struct xdp_md *ctx, const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;
	const struct iphdr *ip = (void *)(eth + 1);
	const struct xdp_buff *frame;

	if (bpf_cast_to_kern_ctx) {
		frame = bpf_cast_to_kern_ctx(ctx);
		return !(frame->flags & XDP_HAS_FRAGS);
	}
	return (void *)(ip + 1) <= packet->end && flow_ether_type(eth) == bpf_htons(ETH_P_IP) &&
	       (__s64)(sizeof(*eth) + bpf_ntohs(ip->tot_len)) <= packet->end - packet->data;
}

/* The number of bytes of the frame. */
static __always_inline __u32 xdp_frame_length(struct xdp_md *ctx, const struct packet *packet)
{
	return xdp_is_linear(ctx, packet) ? (__u32)(packet->end - packet->data)
					  : (__u32)bpf_xdp_get_buff_len(ctx);
}

/*
 * Is the frame in one buffer? XDP cannot send others everywhere: before Linux 6.3 they cannot be
 * redirected, later drivers that send no fragments refuse them, and until 2026 clones for several
 * devices contained only the first buffer.
 */
static __always_inline int xdp_is_whole(const struct packet *packet, __u32 length)
{
	return length <= packet->end - packet->data;
}

/* Data beyond the linear part cannot be read here and counts for nothing. */
__noinline __u64 hash_headers(struct xdp_md *ctx)
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

static __always_inline int xdp_is_neighbour_message(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;
	const struct neighbour_headers *headers = (void *)(eth + 1);

	if ((void *)(eth + 1) > packet->end)
		return 0;
	if (flow_ether_type(eth) == bpf_htons(ETH_P_ARP))
		return 1;
	if (flow_ether_type(eth) != bpf_htons(ETH_P_IPV6) || (void *)(headers + 1) > packet->end)
		return 0;
	return neighbour_is_message(headers);
}

/* The devmap also has slaves that have just lost carrier. Their copies are lost, and not counted.
 */
__noinline int xdp_broadcast(__u32 length, __u64 mask)
{
	mask = select_live(mask);
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (mask >> slot & 1)
			choose_count(slot, length);
	return bpf_redirect_map(&xdp_all, 0, BPF_F_BROADCAST);
}

/* balance-tlb at an XDP program that sends. */

/* The slot by which a frame leaves, with the source address that it has to have there. */
__noinline __u32 tlb_prepare_frame(struct xdp_md *ctx, __u64 mask, __u32 length)
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
