/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an XDP program that sends needs around the worker of choose.h: the packet of a frame, its
 * length, and ways out by devmap. Also for programs of others (xbond/select.bpf.h).
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

#include "bpf/send_frame.h"

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

/* The devmap also has slaves that have just lost carrier. Their copies are lost, and not counted.
 */
__noinline int xdp_broadcast(__u32 length, __u64 mask)
{
	mask = select_live(mask);
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(mask, slot))
			choose_count(slot, length);
	return bpf_redirect_map(&xdp_all, 0, BPF_F_BROADCAST);
}

#endif
