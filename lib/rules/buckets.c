/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/buckets.h"

#include <stdbool.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/pins.h"

static bool weights_speeds_known(const struct pins *pins, uint64_t slots)
{
	pins_for_each_member (pins, slot)
		if (slots_have(slots, slot) && !pins->slaves[slot].speed_mbps)
			return false;
	return true;
}

void weights_of(const struct pins *pins, uint64_t owners,
		uint32_t ret_member_weight[XBOND_MAX_SLAVES], uint32_t ret_weight[XBOND_MAX_SLAVES])
{
	bool by_speed = weights_speeds_known(pins, owners);

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		uint32_t speed = by_speed ? pins->slaves[slot].speed_mbps : 1;
		uint32_t weight = pins->settings->weight[slot] ? pins->settings->weight[slot]
				  : speed		       ? speed
							       : 1;

		if (!pins_is_member(pins, slot))
			continue;
		ret_member_weight[slot] = weight;
		ret_weight[slot] = slots_have(owners, slot) ? weight : 0;
	}
}

/* Odd, so that i * STRIDE visits every bucket once, in an order without pattern. */
#define STRIDE 2531

struct share {
	uint64_t slots; /* that have a weight */
	int have[XBOND_MAX_SLAVES];
	int least[XBOND_MAX_SLAVES]; /* ideal, rounded down, at least 1 */
	int most[XBOND_MAX_SLAVES];  /* ideal, rounded up */
};

static uint64_t buckets_total_of(const uint32_t weight[XBOND_MAX_SLAVES])
{
	uint64_t total = 0;

	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		total += weight[slot];
	return total;
}

static void buckets_count(struct share *share, const uint8_t bucket[XBOND_BUCKETS])
{
	for (int i = 0; i < XBOND_BUCKETS; i++)
		if (bucket[i] < XBOND_MAX_SLAVES)
			share->have[bucket[i]]++;
}

static void buckets_bound(struct share *share, const uint32_t weight[XBOND_MAX_SLAVES],
			  uint64_t total)
{
	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		uint64_t scaled = (uint64_t)weight[slot] * XBOND_BUCKETS;

		if (!weight[slot])
			continue;
		share->slots |= slots_bit((unsigned int)slot);
		share->least[slot] = scaled < total ? 1 : (int)(scaled / total);
		share->most[slot] = (int)((scaled + total - 1) / total);
	}
}

/* The slot that lacks most. One that has its least share counts only if no slot is below that. */
static int buckets_neediest(const struct share *share)
{
	int best = -1, best_gap = 0;

	slots_for_each (share->slots, slot) {
		int gap = share->least[slot] - share->have[slot];

		if (gap > best_gap) {
			best = (int)slot;
			best_gap = gap;
		}
	}
	if (best >= 0)
		return best;
	slots_for_each (share->slots, slot)
		if (share->have[slot] < share->most[slot])
			return (int)slot;
	return -1;
}

static void buckets_give(struct share *share, uint8_t *bucket, int slot)
{
	if (*bucket < XBOND_MAX_SLAVES)
		share->have[*bucket]--;
	*bucket = (uint8_t)slot;
	share->have[slot]++;
}

/* Some buckets may already be at home and stay there. */
static bool buckets_may_move(const uint8_t *home, int i, const uint32_t weight[XBOND_MAX_SLAVES])
{
	return !home || home[i] >= XBOND_MAX_SLAVES || !weight[home[i]];
}

/*
 * Takes every bucket of a slot without weight, and those that nobody owns. As long as there is one,
 * some slot lacks some: the upper bounds together are all buckets, or more.
 */
static void buckets_give_ownerless(struct share *share, uint8_t bucket[XBOND_BUCKETS],
				   const uint32_t weight[XBOND_MAX_SLAVES])
{
	for (int i = 0; i < XBOND_BUCKETS; i++) {
		uint8_t *b = &bucket[i * STRIDE % XBOND_BUCKETS];

		int slot;

		if (*b < XBOND_MAX_SLAVES && weight[*b])
			continue;
		slot = buckets_neediest(share);
		if (slot < 0)
			return; /* somebody else writes the table, too */
		buckets_give(share, b, slot);
	}
}

/* Moves buckets from slots that have more than bound to slots that lack some. */
static void buckets_give_surplus(struct share *share, uint8_t bucket[XBOND_BUCKETS],
				 const uint8_t *home, const uint32_t weight[XBOND_MAX_SLAVES],
				 const int bound[XBOND_MAX_SLAVES])
{
	int slot = buckets_neediest(share);

	for (int k = 0; k < XBOND_BUCKETS && slot >= 0 && share->have[slot] < bound[slot]; k++) {
		int i = k * STRIDE % XBOND_BUCKETS;

		if (!buckets_may_move(home, i, weight) ||
		    share->have[bucket[i]] <= bound[bucket[i]])
			continue;
		buckets_give(share, &bucket[i], slot);
		slot = buckets_neediest(share);
	}
}

/*
 * A surplus above the upper bound goes first. Otherwise a slot that gives down to its lower bound
 * would get some back.
 */
void buckets_level(uint8_t bucket[XBOND_BUCKETS], const uint8_t *home,
		   const uint32_t weight[XBOND_MAX_SLAVES])
{
	struct share share = { 0 };
	uint64_t total = buckets_total_of(weight);

	if (!total)
		return;
	buckets_bound(&share, weight, total);
	buckets_count(&share, bucket);
	buckets_give_ownerless(&share, bucket, weight);
	buckets_give_surplus(&share, bucket, home, weight, share.most);
	buckets_give_surplus(&share, bucket, home, weight, share.least);
}

/* A bucket whose home is not new goes there, if it is usable. The others go only if they must. */
static void buckets_guess(uint8_t bucket[XBOND_BUCKETS], const uint8_t home[XBOND_BUCKETS],
			  const uint8_t old_home[XBOND_BUCKETS],
			  const uint32_t weight[XBOND_MAX_SLAVES])
{
	uint8_t fixed[XBOND_BUCKETS];

	for (int i = 0; i < XBOND_BUCKETS; i++) {
		fixed[i] = home[i] == old_home[i] ? home[i] : XBOND_NO_SLOT;
		if (!buckets_may_move(fixed, i, weight))
			bucket[i] = home[i];
	}
	buckets_level(bucket, fixed, weight);
}

/* The next bucket from i on that the slot carries, though another one is its home. */
static int buckets_next_guest(const uint8_t bucket[XBOND_BUCKETS],
			      const uint8_t home[XBOND_BUCKETS], int i, uint8_t slot)
{
	while (i < XBOND_BUCKETS && (bucket[i] != slot || home[i] == slot))
		i++;
	return i;
}

/* A bucket that would have to go home changes homes with one that is a guest there. */
static void buckets_change_homes(const uint8_t bucket[XBOND_BUCKETS], uint8_t home[XBOND_BUCKETS],
				 const uint32_t weight[XBOND_MAX_SLAVES])
{
	int next[XBOND_MAX_SLAVES] = { 0 };

	for (int i = 0; i < XBOND_BUCKETS; i++) {
		while (home[i] != bucket[i] && !buckets_may_move(home, i, weight)) {
			uint8_t slot = home[i];

			next[slot] = buckets_next_guest(bucket, home, next[slot], slot);
			if (next[slot] == XBOND_BUCKETS)
				break;
			home[i] = home[next[slot]];
			home[next[slot]] = slot;
		}
	}
}

static void buckets_go_home(uint8_t bucket[XBOND_BUCKETS], const uint8_t home[XBOND_BUCKETS],
			    const uint32_t weight[XBOND_MAX_SLAVES])
{
	for (int i = 0; i < XBOND_BUCKETS; i++)
		if (!buckets_may_move(home, i, weight))
			bucket[i] = home[i];
	buckets_level(bucket, home, weight);
}

void buckets_assign(uint8_t bucket[XBOND_BUCKETS], uint8_t home[XBOND_BUCKETS],
		    const uint32_t member_weight[XBOND_MAX_SLAVES],
		    const uint32_t usable_weight[XBOND_MAX_SLAVES])
{
	uint8_t old_home[XBOND_BUCKETS];

	memcpy(old_home, home, sizeof(old_home));
	buckets_level(home, NULL, member_weight);
	if (memcmp(old_home, home, sizeof(old_home))) {
		buckets_guess(bucket, home, old_home, usable_weight);
		buckets_change_homes(bucket, home, usable_weight);
	}
	buckets_go_home(bucket, home, usable_weight);
}

static uint32_t buckets_gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The smallest whole-number proportions, scaled down if one round would not fit. */
static uint32_t buckets_reduce(uint32_t reduced[XBOND_MAX_SLAVES],
			       const uint32_t weight[XBOND_MAX_SLAVES])
{
	uint64_t total = buckets_total_of(weight);
	uint32_t divisor = 0, round = 0;

	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		divisor = buckets_gcd(divisor, weight[slot]);
	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		reduced[slot] = weight[slot] / divisor;
		if (total / divisor > XBOND_BUCKETS / 2 && weight[slot]) {
			reduced[slot] =
				(uint32_t)((uint64_t)weight[slot] * (XBOND_BUCKETS / 2) / total);
			reduced[slot] += !reduced[slot];
		}
		round += reduced[slot];
	}
	return round;
}

uint32_t buckets_round_robin(uint8_t bucket[XBOND_BUCKETS], const uint32_t weight[XBOND_MAX_SLAVES])
{
	int64_t credit[XBOND_MAX_SLAVES] = { 0 };
	uint32_t reduced[XBOND_MAX_SLAVES], round;

	if (!buckets_total_of(weight))
		return XBOND_BUCKETS;
	round = buckets_reduce(reduced, weight);
	for (int i = 0; i < XBOND_BUCKETS; i++) {
		int best = -1;

		for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
			credit[slot] += reduced[slot];
			if (reduced[slot] && (best < 0 || credit[slot] > credit[best]))
				best = slot;
		}
		credit[best] -= round;
		bucket[i] = (uint8_t)best;
	}
	return XBOND_BUCKETS / round * round;
}

void buckets_in_order(uint8_t bucket[XBOND_BUCKETS], uint8_t active,
		      const uint8_t order[XBOND_MAX_SLAVES])
{
	memset(bucket, active, XBOND_BUCKETS);
	memcpy(bucket + 1, order, XBOND_MAX_SLAVES);
}

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
	/* Read once: members of the group xbond-xsk may write it. */
	unsigned int partner = __atomic_load_n(&moves->partner[bucket], __ATOMIC_RELAXED);

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
