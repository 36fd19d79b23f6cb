/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills bucket tables. Pure: weights and the table so far in, a table out. Called by
 * dataplane when the set of slaves or a weight changes.
 */
#ifndef XBOND_RULES_BUCKETS_H
#define XBOND_RULES_BUCKETS_H

#include <stdint.h>

#include "bpf/abi.h"

/*
 * Resilient and weighted: moves only as many buckets as it takes to give every slot with a
 * weight its share (within one bucket), and every bucket of a slot without. bucket[] holds
 * the table so far (XBOND_NO_SLOT: owned by nobody) and becomes the new one. With no weight
 * at all nothing changes.
 */
void buckets_rebalance(uint8_t bucket[XBOND_BUCKETS], const uint32_t weight[XBOND_MAX_SLAVES]);

/*
 * The same for slaves that come and go. home[]: the table if every member worked, kept
 * resilient by the members' weights. A bucket whose home is usable goes home; the others are
 * shared out by the usable ones' weights. So a slave that returns gets back what it had.
 */
void buckets_assign(uint8_t bucket[XBOND_BUCKETS], uint8_t home[XBOND_BUCKETS],
		    const uint32_t member_weight[XBOND_MAX_SLAVES],
		    const uint32_t usable_weight[XBOND_MAX_SLAVES]);

/*
 * For round-robin: whole rounds of a smooth weighted order, in which a slot's turns are as
 * far apart as can be. Returns how many buckets are in use; the rest repeats the first.
 */
uint32_t buckets_round_robin(uint8_t bucket[XBOND_BUCKETS],
			     const uint32_t weight[XBOND_MAX_SLAVES]);

/* All to one slot. */
void buckets_single(uint8_t bucket[XBOND_BUCKETS], uint8_t slot);

#endif
