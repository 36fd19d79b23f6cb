/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How bondd levels the load of slaves: what they send that belongs to no bucket, and which buckets
 * shall move.
 */
#ifndef XBOND_RULES_REBALANCE_H
#define XBOND_RULES_REBALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

/*
 * What slaves send that belongs to no bucket: by a policy, by queue_id, unbalanced in balance-tlb
 * and balance-alb. Moving buckets cannot change it. Pure; called before rules/rebalance.h.
 */

/* All in one interval. */
struct base_load_input {
	uint64_t sent[XBOND_MAX_SLAVES];     /* bytes by slot, buckets included */
	const uint64_t *bytes;		     /* by bucket */
	const uint8_t *owner_was, *owner_is; /* of each bucket, at the beginning and at the end */
};

/*
 * ret_base: bytes by slot; all 0 if they are too few to matter, as when counters are not read at
 * quite the same time. Returns false if they matter, but buckets that send have changed owners
 * meanwhile: then nobody knows which slot has sent what.
 */
bool base_load(const struct base_load_input *input, uint64_t ret_base[XBOND_MAX_SLAVES]);

/*
 * Which buckets shall have another slave, so that the slaves are equally busy for their weights.
 * Pure: takes what each bucket has sent, gives a list. Called by bondd at the end of each
 * rebalance_interval.
 */

#define REBALANCE_MOVES 128 /* in one plan */

enum rebalance_may {
	REBALANCE_STAYS = 0,
	REBALANCE_LIVE = 1,   /* sends now, and may be moved all the same */
	REBALANCE_SILENT = 2, /* has sent nothing for some time; goes first */
};

struct rebalance_input {
	const uint8_t *bucket, *home;	   /* owners, as in struct xbond_buckets */
	uint64_t bytes[XBOND_BUCKETS];	   /* in the last interval */
	uint64_t base[XBOND_MAX_SLAVES];   /* bytes besides, as in rules/rebalance.h */
	uint8_t may[XBOND_BUCKETS];	   /* enum rebalance_may */
	uint32_t weight[XBOND_MAX_SLAVES]; /* 0: not in use */
	uint64_t least;			   /* a slave that has sent less is not relieved */
};

/* The two change owners. `partner` has less traffic, and belongs to `to`. */
struct rebalance_move {
	uint16_t bucket, partner;
	uint8_t from, to;
};

/*
 * Returns how many moves there are: the hottest buckets of the busiest slaves for those of the
 * idlest; where that leaves some elephants badly distributed, also smaller ones the other way.
 * None, unless the busiest slave that can be relieved gets rid of 10 % of its load, or, if that
 * takes more moves than a plan can hold, of a part of that.
 */
unsigned int rebalance_plan(const struct rebalance_input *input,
			    struct rebalance_move ret_moves[REBALANCE_MOVES]);

#endif
