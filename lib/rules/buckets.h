/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Buckets: the slaves' shares as numbers, the tables that are filled by them, and buckets that move
 * by load.
 */
#ifndef XBOND_RULES_BUCKETS_H
#define XBOND_RULES_BUCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/pins.h"

/*
 * The slaves' shares as numbers. bondd uses them for the buckets, and bondctl to foretell the
 * buckets.
 */

/*
 * The weights given by the user, or else the speeds. They are equal if the speed of any owner (a
 * slot that carries traffic) is unknown. An owner that is down and has had no speed yet counts as 1
 * until it has one. ret_weight has the weights of owners; all others are 0.
 */
void weights_of(const struct pins *pins, uint64_t owners,
		uint32_t ret_member_weight[XBOND_MAX_SLAVES],
		uint32_t ret_weight[XBOND_MAX_SLAVES]);

/*
 * Fills bucket tables. Pure: takes weights and the present table, gives a table. Called by
 * dataplane when the set of slaves or a weight changes.
 */

/*
 * Resilient and weighted. Moves only as many buckets as are needed to give every slot with a weight
 * its share (within one bucket), and every bucket of a slot without a weight. bucket[] holds the
 * present table (XBOND_NO_SLOT: nobody owns the bucket) and becomes the new one. If no slot has a
 * weight, nothing changes. home: a bucket whose home slot has a weight stays; NULL: none has a
 * home.
 */
void buckets_level(uint8_t bucket[XBOND_BUCKETS], const uint8_t *home,
		   const uint32_t weight[XBOND_MAX_SLAVES]);

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

/*
 * Buckets that move by load, as the maps have them (struct xbond_moves). Two buckets change their
 * owners together: one with much traffic, and when it has moved, one with little the other way. So
 * every slave keeps its number of buckets, and rules/buckets.h finds nothing to level. Each step
 * leaves the maps so that the next bondd can go on.
 */

#define MOVES_NO_PARTNER XBOND_BUCKETS

struct moves_maps {
	struct xbond_moves *moves;
	struct xbond_buckets *buckets;
	uint32_t copy; /* of the buckets: the one in force */
};

/*
 * From now on the bucket moves at its first gap. last_ns: when it last sent, or later. `partner`
 * then goes from `to` to the bucket's present owner; MOVES_NO_PARTNER: none.
 */
void moves_begin(const struct moves_maps *maps, unsigned int bucket, unsigned int to,
		 unsigned int partner, uint64_t last_ns);
bool moves_wait(const struct moves_maps *maps, unsigned int bucket);
unsigned int moves_count_waiting(const struct moves_maps *maps);
/* Has there been a gap, as the programs have seen it, or is there one now? */
bool moves_is_due(const struct moves_maps *maps, unsigned int bucket, uint64_t now_ns);
/* Writes the new owner into the buckets, and begins the partner's move. */
void moves_finish(const struct moves_maps *maps, unsigned int bucket, uint64_t now_ns);
/* Only for a bucket that has not seen its gap, and is no partner of one that has moved. */
void moves_give_up(const struct moves_maps *maps, unsigned int bucket);
bool moves_may_give_up(const struct moves_maps *maps, unsigned int bucket);
/*
 * Ends all moves, before the buckets are filled anew: what has begun is finished, what has not is
 * given up.
 */
void moves_settle(const struct moves_maps *maps);

/*
 * rebalance.c: how bondd levels the load of slaves: what they send that belongs to no bucket, and
 * which buckets shall move.
 */

/*
 * What slaves send that belongs to no bucket: by a policy, by queue_id, unbalanced in balance-tlb
 * and balance-alb. Moving buckets cannot change it. Pure; called before rebalance_plan().
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
	uint64_t base[XBOND_MAX_SLAVES];   /* bytes besides: base_load() */
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
