/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance-tlb at an XDP program that sends. */
#ifndef XBOND_BPF_TLB_XDP_H
#define XBOND_BPF_TLB_XDP_H

#include "bpf/send_xdp.h"

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
