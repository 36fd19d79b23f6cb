/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Micro-BFD while bondd is away: which slots fail, which sessions end, and which come up again. */
#ifndef XBOND_BPF_MICRO_BFD_AWAY_H
#define XBOND_BPF_MICRO_BFD_AWAY_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bfd/bfd_wire.h"
#include "bpf/maps.h"
#include "bpf/slots.h"

/*
 * Slots that fail while bondd is away. They leave table.tx_mask if others are left in it, come back
 * when they work again, and serve where nothing else has a carrier (select_live()). table.failed
 * has them until bondd decides.
 */

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
	__u64 bit = slots_bit(slot);

	if (!(READ_ONCE(table.tx_mask) & bit))
		return;
	__sync_fetch_and_or(&table.failed, bit);
	failed_leave(bit);
}

/* The slot may not transmit, for another reason. If no other one may, what fails serves. */
static __always_inline void failed_take_out(__u32 slot)
{
	__u64 others = ~slots_bit(slot);

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
	__u64 bit = slots_bit(slot);

	if (fails)
		__sync_fetch_and_or(&table.failed, bit);
	__sync_fetch_and_or(&table.tx_mask, bit);
	failed_leave(READ_ONCE(table.failed));
}

static __always_inline void failed_end(__u32 slot)
{
	__u64 bit = slots_bit(slot);

	if (__sync_fetch_and_and(&table.failed, ~bit) & bit)
		failed_put_back(slot, 0);
}

/*
 * The sessions of micro-BFD while bondd is away: which of them end, and which come up again. Its
 * BFD thread continues from there (bfd_thread_bond.c).
 */

struct bfd_timer {
	struct bpf_timer timer;
};

struct xbond_bfd bfd SEC(".data.bfd");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, struct bfd_timer);
} bfd_timers SEC(".maps");

/* Called once per packet, because bondd may put the other copy in force meanwhile. */
static __always_inline const struct xbond_bfd_words *
micro_bfd_words(const struct xbond_bfd_link *link)
{
	__u32 copy = READ_ONCE(link->in_force);

	asm volatile("" : "+r"(copy)); /* keeps the bound visible to the verifier */
	return &link->words[copy & 1];
}

static __always_inline int micro_bfd_is_away(__u64 now_ns)
{
	return xbond_heartbeat_is_older(READ_ONCE(bfd.heartbeat_ns), now_ns, XBOND_BFD_AWAY_NS);
}

/* RFC 5880, 6.8.4. The far end may have changed its interval since bondd was here. */
static __always_inline __u64 micro_bfd_detection_ns(const struct xbond_bfd_link *link)
{
	__u64 heard_us = READ_ONCE(link->detection_us);

	return heard_us ? heard_us * 1000 : micro_bfd_words(link)->detection_ns;
}

static __always_inline int micro_bfd_has_failed(const struct xbond_bfd_link *link)
{
	__u32 ended = READ_ONCE(link->ended);

	return ended == XBOND_BFD_SILENT || ended == XBOND_BFD_SIGNALED;
}

static __always_inline void micro_bfd_fail(__u32 slot, struct xbond_bfd_link *link, __u32 why)
{
	if (!__sync_val_compare_and_swap(&link->ended, XBOND_BFD_GOES_ON, why))
		failed_add(slot);
}

/* how: it goes on, or has been turned off. bondd may have taken over at this moment. */
static __always_inline void micro_bfd_end_failure(__u32 slot, struct xbond_bfd_link *link,
						  __u32 how)
{
	__u32 ended = READ_ONCE(link->ended);

	if (__sync_val_compare_and_swap(&link->ended, ended, how) == ended)
		failed_end(slot);
}

/*
 * Was the far end heard in the last detection time on this slave, which is not `but`? Global, so
 * that a loop over all slots is one path for the verifier.
 */
__noinline int micro_bfd_hears(__u32 slot, __u32 but, __u64 now_ns)
{
	const struct xbond_bfd_link *link;

	if (slot >= XBOND_MAX_SLAVES || slot == but)
		return 0;
	link = &bfd.link[slot];
	return READ_ONCE(link->enabled) && link->heard_ns &&
	       now_ns - link->heard_ns < micro_bfd_detection_ns(link);
}

static __always_inline int micro_bfd_hears_others(__u32 slot, __u64 now_ns)
{
	int heard = 0;

	for (__u32 other = 0; other < XBOND_MAX_SLAVES; other++)
		heard |= micro_bfd_hears(other, slot, now_ns);
	return heard;
}

/*
 * If the far end is silent everywhere, it may be that nobody speaks there: its programs answer
 * only, like ours. Its last packets, and its first ones, do not come on all slaves at the same
 * time, so once is not enough.
 */
static __always_inline int micro_bfd_is_lost(__u32 slot, struct xbond_bfd_link *link, __u64 now_ns)
{
	if (!micro_bfd_is_away(now_ns) || !micro_bfd_hears_others(slot, now_ns)) {
		link->suspected = 0;
		return 0;
	}
	return ++link->suspected >= XBOND_BFD_SUSPICIONS;
}

/* No packet for the detection time. If bondd is there, it finds that itself. */
static int micro_bfd_silence(void *map, __u32 *key, struct bfd_timer *timer)
{
	__u64 now_ns = bpf_ktime_get_ns(), detection_ns, end_ns;
	struct xbond_bfd_link *link;
	__u32 slot = *key;

	(void)map;
	if (slot >= XBOND_MAX_SLAVES)
		return 0;
	link = &bfd.link[slot];
	if (!READ_ONCE(link->enabled) || !micro_bfd_words(link)->holding || link->ended)
		return 0;
	detection_ns = micro_bfd_detection_ns(link);
	end_ns = link->heard_ns + detection_ns;
	if ((__s64)(end_ns - now_ns) > 0)
		bpf_timer_start(&timer->timer, end_ns - now_ns, 0);
	else if (micro_bfd_is_lost(slot, link, now_ns))
		micro_bfd_fail(slot, link, XBOND_BFD_SILENT);
	else
		bpf_timer_start(&timer->timer, detection_ns, 0);
	return 0;
}

/* Global, so that the verifier follows the callback once. */
__noinline int micro_bfd_restart_silence(__u32 slot, __u64 detection_ns)
{
	struct bfd_timer *timer = bpf_map_lookup_elem(&bfd_timers, &slot);

	if (!timer)
		return -1;
	/* Refused if it is a timer already. */
	bpf_timer_init(&timer->timer, &bfd_timers, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&timer->timer, micro_bfd_silence);
	return (int)bpf_timer_start(&timer->timer, detection_ns, 0);
}

/*
 * The far end's state, from a packet of the session. A link that has failed comes back when the
 * session is up at the far end again. micro_bfd_hear() answers so that it gets there.
 */
static __always_inline void micro_bfd_hear_state(__u32 slot, struct xbond_bfd_link *link,
						 __u32 state)
{
	if (state == BFD_ADMIN_DOWN) {
		micro_bfd_end_failure(slot, link, XBOND_BFD_TURNED_OFF);
	} else if (state == BFD_DOWN) {
		micro_bfd_fail(slot, link, XBOND_BFD_SIGNALED);
	} else if (micro_bfd_has_failed(link)) {
		micro_bfd_end_failure(slot, link, XBOND_BFD_GOES_ON);
	}
}

#endif
