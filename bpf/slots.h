/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * Sets of slots: a bit for each of a bond's XBOND_MAX_SLAVES; and which of them may be chosen. For
 * the programs, the library for AF_XDP, bondd and bondctl. Knows no maps.
 */
#ifndef XBOND_BPF_SLOTS_H
#define XBOND_BPF_SLOTS_H

#include <stdint.h>

#include "bpf/abi.h"

/* Nothing for XBOND_NO_SLOT and whatever else is no slot. */
static inline __attribute__((always_inline)) uint64_t slots_bit(unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES ? UINT64_C(1) << slot : 0;
}

static inline __attribute__((always_inline)) _Bool slots_have(uint64_t slots, unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES && slots >> slot & 1;
}

/* The first of them from this one on; XBOND_MAX_SLAVES: there is none. */
static inline unsigned int slots_next(uint64_t slots, unsigned int from)
{
	slots &= from < XBOND_MAX_SLAVES ? ~UINT64_C(0) << from : 0;
	return slots ? (unsigned int)__builtin_ctzll(slots) : XBOND_MAX_SLAVES;
}

#define slots_for_each(slots, slot)                                             \
	for (unsigned int slot = slots_next(slots, 0); slot < XBOND_MAX_SLAVES; \
	     slot = slots_next(slots, slot + 1))

static inline unsigned int slots_count(uint64_t slots)
{
	return (unsigned int)__builtin_popcountll(slots);
}

/* The slots of `may` that are not drained, or all of `may` if all of them are drained. */
static inline __u64 drain_usable(__u64 may, __u64 drained)
{
	__u64 undrained = may & ~drained;

	return undrained ? undrained : may;
}

/*
 * The drained slots. With markers, a drain that the user asks for waits until bondd has its answer.
 */
static inline __u64 drain_mask(int by_markers, const __u64 *answered, const __u64 *asked)
{
	return *(const volatile __u64 *)(by_markers ? answered : asked);
}

/*
 * Active-backup: who sends if the active slave cannot. bondd puts the slots into the first buckets,
 * in the order in which it would choose them (rules/active.h). So a packet that goes there before
 * bondd knows of a loss goes where bondd will follow. Used by the programs, and by bondctl to
 * foretell it.
 */

/*
 * The first slot of the order that is in mask, or XBOND_NO_SLOT. bucket: a copy of the table. The
 * programs have select_first(), which the verifier checks faster.
 */
static inline __attribute__((always_inline)) __u32 successor_of(const __u8 *bucket, __u64 mask)
{
	for (__u32 i = 0; i <= XBOND_MAX_SLAVES; i++) {
		if (slots_have(mask, bucket[i]))
			return bucket[i];
	}
	return XBOND_NO_SLOT;
}

#endif
