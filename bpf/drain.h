/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which slots are drained: rules that the programs, bondd and bondctl share. */
#ifndef XBOND_BPF_DRAIN_H
#define XBOND_BPF_DRAIN_H

#include <linux/types.h>

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

#endif
