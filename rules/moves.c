/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/moves.h"

#include "common/pins.h"

static uint8_t *moves_owner(const struct moves_maps *maps, unsigned int bucket)
{
	return &maps->buckets->bucket[maps->copy & 1][bucket];
}

/* Only what is at home has its home moved. A guest will go back when its own slave returns. */
static void moves_move_home(const struct moves_maps *maps, unsigned int bucket, uint8_t from,
			    uint8_t to)
{
	uint8_t *home = &maps->buckets->home[bucket];

	if (*home == from)
		*home = to;
}

void moves_begin(const struct moves_maps *maps, unsigned int bucket, unsigned int to,
		 unsigned int partner, uint64_t last_ns)
{
	struct xbond_moves *moves = maps->moves;

	moves->from[bucket] = *moves_owner(maps, bucket);
	moves->partner[bucket] = (uint16_t)partner;
	moves->moved[bucket] = 0;
	moves->seen_ns[bucket] = last_ns;
	store_release(moves->to[bucket], (uint8_t)(to + 1));
}

bool moves_wait(const struct moves_maps *maps, unsigned int bucket)
{
	return maps->moves->to[bucket];
}

unsigned int moves_count_waiting(const struct moves_maps *maps)
{
	unsigned int count = 0;

	for (unsigned int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
		count += moves_wait(maps, bucket);
	return count;
}

static bool moves_has_moved(const struct moves_maps *maps, unsigned int bucket)
{
	return __atomic_load_n(&maps->moves->moved[bucket], __ATOMIC_RELAXED);
}

bool moves_is_due(const struct moves_maps *maps, unsigned int bucket, uint64_t now_ns)
{
	uint64_t seen_ns = __atomic_load_n(&maps->moves->seen_ns[bucket], __ATOMIC_RELAXED);

	return moves_wait(maps, bucket) &&
	       (moves_has_moved(maps, bucket) ||
		(int64_t)(now_ns - seen_ns) > (int64_t)maps->moves->gap_ns);
}

void moves_finish(const struct moves_maps *maps, unsigned int bucket, uint64_t now_ns)
{
	struct xbond_moves *moves = maps->moves;
	uint8_t from = moves->from[bucket], to = (uint8_t)(moves->to[bucket] - 1);
	unsigned int partner = moves->partner[bucket];

	/* A move that was not waited for any longer: if bondd dies here, it is not given up. */
	store_release(moves->moved[bucket], 1);
	moves_move_home(maps, bucket, from, to);
	store_release(*moves_owner(maps, bucket), to);
	if (partner < XBOND_BUCKETS && *moves_owner(maps, partner) == to &&
	    !moves_wait(maps, partner)) {
		moves_move_home(maps, partner, to, from);
		moves_begin(maps, partner, from, MOVES_NO_PARTNER, now_ns);
	}
	store_release(moves->to[bucket], 0);
	moves->finished++;
}

bool moves_may_give_up(const struct moves_maps *maps, unsigned int bucket)
{
	return moves_wait(maps, bucket) && !moves_has_moved(maps, bucket) &&
	       maps->moves->partner[bucket] != MOVES_NO_PARTNER;
}

void moves_give_up(const struct moves_maps *maps, unsigned int bucket)
{
	store_release(maps->moves->to[bucket], 0);
	maps->moves->given_up++;
}

void moves_settle(const struct moves_maps *maps)
{
	for (unsigned int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
		if (moves_may_give_up(maps, bucket))
			moves_give_up(maps, bucket);
	/* Partners that begin by this are finished in the second turn. */
	for (int turn = 0; turn < 2; turn++)
		for (unsigned int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
			if (moves_wait(maps, bucket))
				moves_finish(maps, bucket, 0);
}
