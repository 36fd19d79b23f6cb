/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills bucket tables. Pure: takes weights and the present table, gives a table. Called by
 * dataplane when the set of slaves or a weight changes.
 */
#ifndef XBOND_RULES_BUCKETS_H
#define XBOND_RULES_BUCKETS_H

#include <stdint.h>

#include "bpf/abi.h"

/*
 * Resilient and weighted. Moves only as many buckets as are needed to give every slot with a weight
 * its share (within one bucket), and every bucket of a slot without a weight. bucket[] holds the
 * present table (XBOND_NO_SLOT: nobody owns the bucket) and becomes the new one. If no slot has a
 * weight, nothing changes.
 */
void buckets_rebalance(uint8_t bucket[XBOND_BUCKETS], const uint32_t weight[XBOND_MAX_SLAVES]);

/*
 * The same for slaves that come and go. home[]: the table that would hold if every member worked,
 * kept resilient by the members' weights. A bucket whose home slot is usable goes home. The others
 * are shared out by the weights of the usable slots. So a slave that returns gets back what it had.
 * If other members or weights make homes change, only as many buckets move as the usable slots'
 * shares need: a slot becomes the home of buckets that it carries already.
 */
void buckets_assign(uint8_t bucket[XBOND_BUCKETS], uint8_t home[XBOND_BUCKETS],
		    const uint32_t member_weight[XBOND_MAX_SLAVES],
		    const uint32_t usable_weight[XBOND_MAX_SLAVES]);

/*
 * For round-robin: whole rounds of a smooth weighted order, in which the turns of a slot are as far
 * apart as possible. Returns how many buckets are in use; the rest repeats the first ones.
 */
uint32_t buckets_round_robin(uint8_t bucket[XBOND_BUCKETS],
			     const uint32_t weight[XBOND_MAX_SLAVES]);

/* For active-backup: the active slot, then `order`, which XBOND_NO_SLOT fills up. */
void buckets_in_order(uint8_t bucket[XBOND_BUCKETS], uint8_t active,
		      const uint8_t order[XBOND_MAX_SLAVES]);

#endif
