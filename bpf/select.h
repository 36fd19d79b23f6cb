/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * From a hash, or from the round-robin cursor, to the slot that transmits: hash -> bucket -> slot.
 * If that slot may not transmit now, or has no carrier, another one is taken (the detour). Knows
 * the maps, not the packet.
 */
#ifndef XBOND_BPF_SELECT_H
#define XBOND_BPF_SELECT_H

#include "bpf/flow.h"
#include "bpf/maps.h"
#include "bpf/netdev.h"
#include "bpf/slots.h"

#define SELECT_NONE XBOND_NO_SLOT
#define SELECT_NOBODY (1LL << 62)
#define SELECT_HEAD_START (256LL * 1024 * XBOND_BYTE_COST_ONE)
#define SELECT_FRAMING 24 /* preamble, FCS and gap, which a frame costs in addition */

/* With markers, a drain that the user has asked for waits for bondd, if bondd is there. */
__noinline __u64 select_drained_by_marker(void)
{
	return drain_mask(READ_ONCE(table.watched), &table.drained, &settings.drain_mask);
}

/*
 * The slots that may transmit. Drained slots are among them only if there are no others. flags:
 * table.flags, read once for everything.
 */
static __always_inline __u64 select_mask(__u32 flags)
{
	__u64 may = READ_ONCE(table.tx_mask), drained = READ_ONCE(settings.drain_mask);

	if (flags & XBOND_F_DRAIN_MARKERS)
		drained = select_drained_by_marker();
	return drain_usable(may, drained);
}

/* May be XBOND_NO_SLOT. */
static __always_inline __u32 select_owner(__u32 bucket)
{
	return buckets.bucket[READ_ONCE(table.active) & 1][bucket % XBOND_BUCKETS];
}

static __always_inline __u32 select_bucket(__u32 bucket)
{
	return select_owner(bucket) % XBOND_MAX_SLAVES;
}

/* Position of the lowest bit, by a de Bruijn sequence: no loop, no jump. mask must not be 0. */
static __always_inline __u32 select_lowest(__u64 mask)
{
	static const __u8 position[64] = {
		0,  1,	48, 2,	57, 49, 28, 3,	61, 58, 50, 42, 38, 29, 17, 4,
		62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18, 12, 5,
		63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11,
		46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,	13, 8,	7,  6,
	};

	return position[(mask & -mask) * 0x03f79d71b4cb0a89ULL >> 58] % XBOND_MAX_SLAVES;
}

/*
 * Functions that the programs share and rarely call are global, so the verifier checks them once,
 * by themselves.
 */

struct select_order {
	const __u8 *slots; /* XBOND_MAX_SLAVES + 1 of them */
	__u64 mask;
	__u32 found;
};

/* For bpf_loop(), which the verifier checks once. */
static long select_try(__u32 place, void *context)
{
	struct select_order *order = context;
	__u32 slot;

	if (place > XBOND_MAX_SLAVES)
		return 1;
	slot = order->slots[place];
	if (!slots_have(order->mask, slot))
		return 0;
	order->found = slot;
	return 1;
}

/* successor_of(), or the lowest slot of mask if the order has none of mask. */
static __always_inline __u32 select_first(const __u8 *slots, __u64 mask)
{
	struct select_order order = { .slots = slots, .mask = mask, .found = SELECT_NONE };

	bpf_loop(XBOND_MAX_SLAVES + 1, select_try, &order, 0);
	return order.found < XBOND_MAX_SLAVES ? order.found : select_lowest(mask);
}

__noinline __u32 select_successor(__u64 mask)
{
	return select_first(buckets.bucket[READ_ONCE(table.active) & 1], mask);
}

/*
 * Returns a slot of mask for a bucket whose own slot may not transmit. It tries other buckets
 * first, so that the share of the missing slave spreads over the others by weight.
 */
__noinline __u32 select_detour(__u64 hash, __u64 mask)
{
	if (table.selection == XBOND_SELECT_ACTIVE)
		return select_successor(mask);
	for (__u32 turn = 1; turn <= FLOW_TURNS; turn++) {
		__u32 slot;

		hash = flow_again(hash, turn);
		slot = select_bucket(FLOW_BUCKET(hash));
		if (slots_have(mask, slot))
			return slot;
	}
	return select_lowest(mask);
}

/* Which slot of a mask has sent least, and how far it is ahead of `base`. */
struct select_search {
	const __u64 *sent; /* of each slot */
	__u64 base, mask;
	__s64 least; /* ahead * 64 + slot */
};

/* For bpf_loop(), which the verifier checks once: looks at the lowest slot that is left. */
static long select_compare(__u32 turn, void *context)
{
	struct select_search *search = context;
	__u32 slot = select_lowest(search->mask);
	__s64 ahead;

	(void)turn;
	if (!search->mask)
		return 1;
	search->mask &= search->mask - 1;
	asm volatile("" : "+r"(slot)); /* keeps the bound visible to the verifier */
	slot &= XBOND_MAX_SLAVES - 1;
	ahead = ((READ_ONCE(search->sent[slot]) - search->base) << 6) + slot;
	if (ahead < search->least)
		search->least = ahead;
	return 0;
}

/* Returns ahead * 64 + slot, or SELECT_NOBODY if the mask is empty. */
static __always_inline __s64 select_fewest(const __u64 *sent, __u64 mask, __u64 base)
{
	struct select_search search = {
		.sent = sent, .base = base, .mask = mask, .least = SELECT_NOBODY
	};

	bpf_loop(XBOND_MAX_SLAVES, select_compare, &search, 0);
	return search.least;
}

/*
 * Round-robin by bytes: when the turn of a slave ends, the slave with the fewest bytes is next.
 * Bytes are divided by weight. So packets of unequal size, and senders on several CPUs, do not fill
 * the links unevenly.
 */
__noinline __u32 select_by_bytes(__u64 mask, __u32 length, __u32 bytes_per_slave)
{
	__u32 current = READ_ONCE(cursor.slot) % XBOND_MAX_SLAVES;
	__s64 turn = (__s64)bytes_per_slave * XBOND_BYTE_COST_ONE;
	__u64 sent = READ_ONCE(cursor.sent[current]);
	__s64 left = cursor.until - sent;

	if (left <= 0 || left > turn || !(mask >> current & 1)) {
		__s64 fewest = select_fewest(cursor.sent, mask, sent);

		if (fewest == SELECT_NOBODY)
			return SELECT_NONE;
		current = fewest & (XBOND_MAX_SLAVES - 1);
		/*
		 * A slave that was away gets a small lead; it does not catch up all it has missed.
		 */
		if (-(fewest >> 6) > SELECT_HEAD_START + 2 * turn)
			cursor.sent[current] = sent - SELECT_HEAD_START;
		cursor.slot = current;
		cursor.until = cursor.sent[current] + turn;
	}
	__sync_fetch_and_add(&cursor.sent[current],
			     (__u64)(length + SELECT_FRAMING) * table.byte_cost[current]);
	return current;
}

/* All CPUs share the turn, because one connection sends from several CPUs and its order matters. */
static __always_inline __u32 select_by_turn(__u32 packets_per_slave)
{
	__u32 turn = __sync_fetch_and_add(&cursor.turn, 1);
	__u32 count = READ_ONCE(table.bucket_count[READ_ONCE(table.active) & 1]);

	if (packets_per_slave > 1)
		turn /= packets_per_slave;
	return select_bucket(count ? turn % count : 0);
}

static __always_inline __u32 select_round_robin(__u64 mask, __u32 length)
{
	__u32 packets = READ_ONCE(settings.packets_per_slave);
	__u32 bytes = READ_ONCE(settings.bytes_per_slave);

	if (bytes)
		return select_by_bytes(mask, length, bytes);
	if (packets)
		return select_by_turn(packets);
	return select_bucket(bpf_get_prandom_u32());
}

/*
 * The slave that the user has asked for. It counts from the store on until bondd has it in the
 * table. May be no slot at all.
 */
static __always_inline __u32 select_active_backup(void)
{
	if (READ_ONCE(settings.active_request) != READ_ONCE(table.active_request))
		return READ_ONCE(settings.active_slot);
	return select_owner(0);
}

/*
 * Global, so that the verifier does not know the answer, and a loop over all slots is one path.
 * bits: NETDEV_SENDS or NETDEV_MAY_SEND.
 */
__noinline __u32 select_is_up(__u32 slot, __u64 bits)
{
	return netdev_is_up(slot, bits);
}

__noinline __u64 select_all_up(__u64 mask, __u64 bits)
{
	__u64 live = 0;

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (!(mask >> slot))
			break;
		live |= (__u64)(select_is_up(slot, bits) & 1) << slot;
	}
	return live & mask;
}

/*
 * The slots of mask that send for certain. If none does, drained slots that do, then those of mask
 * that may send, then those that fail but have carrier; without any, all of mask.
 */
__noinline __u64 select_live(__u64 mask)
{
	__u64 live = select_all_up(mask, NETDEV_SENDS);

	losses_tell(mask & ~live);
	if (!live)
		live = select_all_up(READ_ONCE(table.tx_mask), NETDEV_SENDS);
	if (!live)
		live = select_all_up(mask, NETDEV_MAY_SEND);
	if (!live)
		live = select_all_up(READ_ONCE(table.failed), NETDEV_MAY_SEND);
	return live ? live : mask;
}

/*
 * Returns another slot of mask for a packet whose slot has lost carrier. Round-robin goes on among
 * the others; a hash has its detour.
 */
__noinline __u32 select_past_lost(__u32 lost, __u64 hash, __u64 mask, __u32 length)
{
	__u32 bytes = READ_ONCE(settings.bytes_per_slave);
	__u64 live = select_live(mask);

	if (live == mask)
		return lost;
	if (table.selection == XBOND_SELECT_TURNS) {
		if (bytes)
			return select_by_bytes(live, length, bytes);
		hash = bpf_get_prandom_u32();
	}
	return select_detour(hash, live);
}

/* A slot of mask, which must not be empty: `slot` if it may transmit and has carrier. */
static __always_inline __u32 select_usable(__u32 slot, __u64 hash, __u64 mask, __u32 length)
{
	if (slot >= XBOND_MAX_SLAVES || !slots_have(mask, slot))
		slot = select_detour(hash, mask);
	return netdev_is_lost(slot) ? select_past_lost(slot, hash, mask, length) : slot;
}

#endif
