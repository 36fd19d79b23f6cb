/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slots that fail while bondd is away. They leave table.tx_mask if others are left in it, come back
 * when they work again, and serve where nothing else has a carrier (select_live()). table.failed
 * has them until bondd decides.
 */
#ifndef XBOND_BPF_FAILED_H
#define XBOND_BPF_FAILED_H

#include "bpf/maps.h"

#define FAILED_TRIES 4 /* other CPUs may change the mask at this moment */

/* What a program finds must not end all traffic: the mask is never left empty. */
static __always_inline void failed_leave(__u64 slots)
{
	for (int i = 0; i < FAILED_TRIES; i++) {
		__u64 may = READ_ONCE(table.tx_mask), others = may & ~slots;

		if (!others || others == may ||
		    __sync_val_compare_and_swap(&table.tx_mask, may, others) == may)
			return;
	}
}

/* A slot that may not transmit anyway stays what it is. */
static __always_inline void failed_add(__u32 slot)
{
	__u64 bit = 1ULL << slot;

	if (!(READ_ONCE(table.tx_mask) & bit))
		return;
	__sync_fetch_and_or(&table.failed, bit);
	failed_leave(bit);
}

/* The slot may not transmit, for another reason. If no other one may, what fails serves. */
static __always_inline void failed_take_out(__u32 slot)
{
	__u64 others = ~(1ULL << slot);

	__sync_fetch_and_and(&table.failed, others);
	if (!(__sync_fetch_and_and(&table.tx_mask, others) & others))
		__sync_fetch_and_or(&table.tx_mask, READ_ONCE(table.failed));
}

/*
 * The slot may transmit again. What fails, and had to stay or to serve because nothing else was
 * left, leaves.
 */
static __always_inline void failed_put_back(__u32 slot, int fails)
{
	__u64 bit = 1ULL << slot;

	if (fails)
		__sync_fetch_and_or(&table.failed, bit);
	__sync_fetch_and_or(&table.tx_mask, bit);
	failed_leave(READ_ONCE(table.failed));
}

static __always_inline void failed_end(__u32 slot)
{
	__u64 bit = 1ULL << slot;

	if (__sync_fetch_and_and(&table.failed, ~bit) & bit)
		failed_put_back(slot, 0);
}

#endif
