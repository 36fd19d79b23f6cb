/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * What xbond_select() answers, in XDP, TC and user space. Include it after defining XBOND_CONTEXT,
 * hash_of(), xbond_is_for_all() and xbond_select_tlb().
 */
#ifndef XBOND_BPF_ANSWER_H
#define XBOND_BPF_ANSWER_H

#include "bpf/choose.h"

/* Not an answer: the worker has to choose. */
#define XBOND_CHOOSE (-3)

static __always_inline int xbond_maps_are_current(void)
{
	return READ_ONCE(table.select_abi) == XBOND_SELECT_ABI;
}

/* The answers that do not depend on the packet's flow, or XBOND_CHOOSE. */
static __always_inline int xbond_select_unusual(XBOND_CONTEXT *ctx, __u64 mask, __u32 length,
						__u32 flags)
{
	if (flags & XBOND_F_POLICY) /* the bond's own programs ask it */
		return XBOND_NO_BOND;
	if (!(flags & XBOND_F_CARRIER) || !mask)
		return XBOND_NO_SLAVE;
	if (flags & XBOND_F_BROADCAST_NEIGHBOR && xbond_is_for_all(ctx))
		return XBOND_EVERY_SLAVE;
	if (flags & XBOND_F_TLB)
		return (int)xbond_select_tlb(ctx, mask, length);
	return XBOND_CHOOSE;
}

static __always_inline int xbond_select_for(XBOND_CONTEXT *ctx, __u32 length)
{
	const __u32 unusual = XBOND_F_POLICY | XBOND_F_BROADCAST_NEIGHBOR | XBOND_F_TLB;
	__u32 flags = READ_ONCE(table.flags), slot;
	__u64 mask = select_mask(flags);
	int selected;

	if (!xbond_maps_are_current())
		return XBOND_NO_BOND;
	if ((flags & (unusual | XBOND_F_CARRIER)) != XBOND_F_CARRIER || !mask) {
		selected = xbond_select_unusual(ctx, mask, length, flags);
		if (selected != XBOND_CHOOSE)
			return selected;
	}
	slot = choose_slot(ctx, hash_of, mask, length, flags) & ~CHOOSE_TELL;
	if (slot < XBOND_MAX_SLAVES)
		return (int)slot;
	return slot == CHOOSE_ALL ? XBOND_EVERY_SLAVE : XBOND_NO_SLAVE;
}

#endif
