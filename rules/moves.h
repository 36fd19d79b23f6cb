/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Buckets that move by load, as the maps have them (struct xbond_moves). Two buckets change their
 * owners together: one with much traffic, and when it has moved, one with little the other way. So
 * every slave keeps its number of buckets, and rules/buckets.h finds nothing to level. Each step
 * leaves the maps so that the next bondd can go on.
 */
#ifndef XBOND_RULES_MOVES_H
#define XBOND_RULES_MOVES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

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

#endif
