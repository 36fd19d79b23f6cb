/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a hash, or from the round-robin cursor, to the slot that transmits:
 * hash -> bucket -> slot, and past slots that may not transmit now (the detour).
 * Knows the maps, not the packet.
 */
#ifndef XBOND_BPF_SELECT_H
#define XBOND_BPF_SELECT_H

#include "bpf/flow.h"
#include "bpf/maps.h"

#define SELECT_TRIES 4
#define SELECT_NONE XBOND_NO_SLOT

/* Slots that may transmit; drained ones only when there is no other. */
static __always_inline __u64 select_mask(void)
{
	__u64 may = READ_ONCE(table.tx_mask);
	__u64 undrained = may & ~READ_ONCE(settings.drain_mask);

	return undrained ? undrained : may;
}

static __always_inline __u32 select_bucket(__u32 bucket)
{
	return buckets.bucket[READ_ONCE(table.active) & 1][bucket % XBOND_BUCKETS] % XBOND_MAX_SLAVES;
}

/*
 * A slot of mask for a bucket whose own slot may not transmit. Further buckets are tried
 * first, so that the share of the missing slave spreads over the others by weight.
 */
static __noinline __u32 select_detour(__u64 hash, __u64 mask)
{
	for (int i = 0; i < SELECT_TRIES; i++) {
		__u32 slot;

		hash = flow_finish(hash ^ hash >> 32 ^ (i + 1));
		slot = select_bucket(hash >> 52);
		if (mask >> slot & 1)
			return slot;
	}
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (mask >> slot & 1)
			return slot;
	return SELECT_NONE;
}

static __always_inline __u32 select_advance(struct xbond_cursor *cursor_now)
{
	__u32 count = READ_ONCE(table.bucket_count[READ_ONCE(table.active) & 1]);

	if (++cursor_now->bucket >= count)
		cursor_now->bucket = 0;
	return cursor_now->bucket;
}

static __always_inline __u32 select_round_robin_bucket(__u32 length)
{
	__u32 per_slave = READ_ONCE(settings.packets_per_slave);
	__u32 bytes = READ_ONCE(settings.bytes_per_slave);
	struct xbond_cursor *now;
	__u32 key = 0;

	if (!bytes && !per_slave)
		return (__u64)bpf_get_prandom_u32() * XBOND_BUCKETS >> 32;
	now = bpf_map_lookup_elem(&cursor, &key);
	if (!now)
		return 0;
	if (bytes) {
		if (now->bytes_left <= 0 || now->bytes_left > bytes) {
			now->bytes_left = bytes;
			select_advance(now);
		}
		now->bytes_left -= length;
		return now->bucket;
	}
	if (per_slave == 1)
		return select_advance(now);
	if (!now->packets_left || now->packets_left > per_slave) {
		now->packets_left = per_slave;
		select_advance(now);
	}
	now->packets_left--;
	return now->bucket;
}

/* The slave the user has asked for, from the store on and until bondd has it in the buckets. */
static __always_inline __u32 select_active_backup(void)
{
	if (READ_ONCE(settings.active_request) != READ_ONCE(table.active_request))
		return READ_ONCE(settings.active_slot) % XBOND_MAX_SLAVES;
	return select_bucket(0);
}

static __always_inline __u32 select_usable(__u32 slot, __u64 hash, __u64 mask)
{
	return mask >> slot & 1 ? slot : select_detour(hash, mask);
}

#endif
