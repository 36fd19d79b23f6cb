/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a hash to a slot where more decides than the bucket's owner: load, and gaps in flows. For
 * choose.h, which asks only if one of these is on.
 */
#ifndef XBOND_BPF_STEERED_H
#define XBOND_BPF_STEERED_H

#include "bpf/flow.h"
#include "bpf/flowlet.h"
#include "bpf/select.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XBOND_BUCKETS);
	__type(key, __u32);
	__type(value, struct xbond_load);
} loads SEC(".maps");

struct xbond_moves moves SEC(".data.moves");

/* The coarse clock costs nearly nothing, and is exact enough for ticks. */
static __always_inline void steer_count(__u32 bucket, __u32 length)
{
	struct xbond_load *load = bpf_map_lookup_elem(&loads, &bucket);

	if (!load)
		return;
	load->bytes += length;
	load->packets++;
	load->last = (__u32)(bpf_ktime_get_coarse_ns() >> XBOND_LOAD_TICK_SHIFT);
}

/*
 * A bucket that moves: its owner until the first gap, then the new one. CPUs that send at the same
 * time may see each other's time as later than their own; that is no gap.
 */
__noinline __u32 steer_moving(__u32 bucket, __u32 to, __u32 owner)
{
	__u64 now_ns = bpf_ktime_get_ns(), seen_ns;

	bucket %= XBOND_BUCKETS;
	seen_ns = READ_ONCE(moves.seen_ns[bucket]);
	if (READ_ONCE(moves.moved[bucket]))
		return to;
	if ((__s64)(now_ns - seen_ns) > (__s64)READ_ONCE(moves.gap_ns)) {
		WRITE_ONCE(moves.moved[bucket], 1);
		return to;
	}
	WRITE_ONCE(moves.seen_ns[bucket], now_ns);
	return owner;
}

/*
 * Returns the owner of the hash's bucket, which may be none that may transmit. Reads it after `to`:
 * bondd writes the new owner, then ends the move.
 */
static __always_inline __u32 steer_counted(__u64 hash, __u32 length)
{
	__u32 bucket = FLOW_BUCKET(hash) % XBOND_BUCKETS, to = READ_ONCE(moves.to[bucket]), owner;

	steer_count(bucket, length);
	owner = select_bucket(bucket);
	return to ? steer_moving(bucket, to - 1, owner) : owner;
}

/* Returns a slot, which may be none that may transmit. */
__noinline __u32 steer_slot(__u64 hash, __u64 mask, __u32 length, __u32 flags)
{
	return flags & XBOND_F_FLOWLETS ? flowlet_slot(hash, mask, length)
					: steer_counted(hash, length);
}

#endif
