/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * Rules that the programs, bondd and bondctl share: which slots may be chosen, and when bondd
 * counts as away. Knows no maps.
 */
#ifndef XBOND_BPF_SLOT_RULES_H
#define XBOND_BPF_SLOT_RULES_H

#include <linux/types.h>

#include "bpf/slots.h"

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

/*
 * Is a heartbeat of bondd missing? Uses a signed difference, because the beat may have come after
 * now_ns was read.
 */
static inline int xbond_heartbeat_is_older(__u64 beat_ns, __u64 now_ns, __s64 age_ns)
{
	return (__s64)(now_ns - beat_ns) > age_ns;
}

#endif
