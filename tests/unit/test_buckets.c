/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bucket tables: shares, resilience, round-robin order. What must hold for each bucket is counted
 * and asserted once: there are 16 million of them.
 */
#include <stdbool.h>
#include <string.h>

#include "rules/buckets.h"
#include "tests/unit/sample.h"
#include "tests/unit/unit.h"

static uint8_t table[XBOND_BUCKETS], before[XBOND_BUCKETS];
static uint32_t random_state;

static unsigned int next_random(void)
{
	random_state = random_state * 1103515245 + 12345;
	return random_state >> 16;
}

static int setup(void **state)
{
	memset(table, XBOND_NO_SLOT, sizeof(table));
	return 0;
}

static int share_of(unsigned int slot)
{
	int count = 0;

	for (int i = 0; i < XBOND_BUCKETS; i++)
		count += table[i] == slot;
	return count;
}

static void rebalance(const uint32_t *weight)
{
	memcpy(before, table, sizeof(table));
	buckets_level(table, NULL, weight);
}

/* Buckets that went from one slot to another, neither of them `slot`. */
static int strangers_moved(unsigned int slot)
{
	int count = 0;

	for (int i = 0; i < XBOND_BUCKETS; i++)
		count += before[i] != table[i] && before[i] != slot && table[i] != slot;
	return count;
}

TEST(equal_weights_share_equally, setup)
{
	for (unsigned int slots = 1; slots <= XBOND_MAX_SLAVES; slots++) {
		uint32_t weight[XBOND_MAX_SLAVES] = { 0 };

		for (unsigned int slot = 0; slot < slots; slot++)
			weight[slot] = 1000;
		rebalance(weight);
		for (unsigned int slot = 0; slot < slots; slot++)
			assert_in_range(share_of(slot), XBOND_BUCKETS / slots,
					XBOND_BUCKETS / slots + 1);
	}
}

TEST(shares_follow_weights, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 100, 250, 1000 };

	rebalance(weight);
	assert_in_range(share_of(0), 303, 304);
	assert_in_range(share_of(1), 758, 759);
	assert_in_range(share_of(2), 3034, 3035);
}

TEST(a_tiny_weight_gets_a_bucket, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 1, 65535, 65535, 65535 };

	rebalance(weight);
	assert_in_range(share_of(0), 1, 1);
}

TEST(who_leaves_takes_nobody_along, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 1, 1, 1, 1 };

	rebalance(weight);
	weight[2] = 0;
	rebalance(weight);
	assert_int_equal(share_of(2), 0);
	assert_int_equal(strangers_moved(2), 0);
	assert_in_range(share_of(0), 1365, 1366);
}

TEST(who_returns_takes_only_its_share, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 1, 1, 1, 1 };

	rebalance(weight);
	weight[2] = 0;
	rebalance(weight);
	weight[2] = 1;
	rebalance(weight);
	assert_int_equal(share_of(2), 1024);
	assert_int_equal(strangers_moved(2), 0);
}

/* Long histories of coming and going. */
TEST(resilience_holds_over_histories, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 5, 5, 5, 5, 5, 5, 5, 5 };
	unsigned int steps = sample_size(400, 2000);

	random_state = sample_seed();
	rebalance(weight);
	for (unsigned int step = 0; step < steps; step++) {
		unsigned int slot = next_random() & 7;

		weight[slot] = weight[slot] ? 0 : 5;
		if (!(weight[0] | weight[1] | weight[2] | weight[3] | weight[4] | weight[5] |
		      weight[6] | weight[7]))
			continue;
		rebalance(weight);
		assert_int_equal(strangers_moved(slot), 0);
		for (unsigned int other = 0; other < 8; other++)
			assert_true(weight[other] ? share_of(other) >= XBOND_BUCKETS / 8
						  : !share_of(other));
	}
}

TEST(no_change_moves_nothing, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 3, 7, 11 };

	rebalance(weight);
	rebalance(weight);
	assert_memory_equal(table, before, sizeof(table));
}

/* Members a to d fail and return in any order; whoever works has its own buckets and its share. */
TEST(who_returns_gets_back_what_it_had, setup)
{
	static const unsigned int histories[][6] = { { 2, 2 },
						     { 1, 3, 1, 3 },
						     { 0, 1, 2, 2, 1, 0 } };
	uint32_t member[XBOND_MAX_SLAVES] = { 1, 1, 1, 1 };
	uint8_t home[XBOND_BUCKETS], first[XBOND_BUCKETS];

	memset(home, XBOND_NO_SLOT, sizeof(home));
	buckets_assign(table, home, member, member);
	memcpy(first, table, sizeof(first));
	for (unsigned int history = 0; history < 3; history++) {
		uint32_t usable[XBOND_MAX_SLAVES] = { 1, 1, 1, 1 };

		for (int step = 0; step < (history == 0 ? 2 : history == 1 ? 4 : 6); step++) {
			int left = 0, away = 0;

			usable[histories[history][step]] ^= 1;
			buckets_assign(table, home, member, usable);
			for (unsigned int slot = 0; slot < 4; slot++)
				left += (int)usable[slot];
			for (unsigned int slot = 0; slot < 4; slot++)
				assert_in_range(share_of(slot),
						usable[slot] ? XBOND_BUCKETS / left : 0,
						usable[slot] ? XBOND_BUCKETS / left + 1 : 0);
			for (int i = 0; i < XBOND_BUCKETS; i++)
				away += usable[first[i]] && table[i] != first[i];
			assert_int_equal(away, 0);
		}
		assert_memory_equal(table, first, sizeof(table));
	}
}

#define MEMBERS 6

static uint32_t member_weight[XBOND_MAX_SLAVES], usable_weight[XBOND_MAX_SLAVES];
static uint8_t homes[XBOND_BUCKETS];

static void assign(void)
{
	memcpy(before, table, sizeof(table));
	buckets_assign(table, homes, member_weight, usable_weight);
}

static void start_with(const uint32_t *weight)
{
	memset(homes, XBOND_NO_SLOT, sizeof(homes));
	memcpy(member_weight, weight, sizeof(member_weight));
	memcpy(usable_weight, weight, sizeof(usable_weight));
	assign();
}

static int moved(void)
{
	int count = 0;

	for (int i = 0; i < XBOND_BUCKETS; i++)
		count += before[i] != table[i];
	return count;
}

/* Those that other shares make necessary. */
static int must_move(void)
{
	int more[UINT8_MAX + 1] = { 0 }, count = 0;

	for (int i = 0; i < XBOND_BUCKETS; i++) {
		more[table[i]]++;
		more[before[i]]--;
	}
	for (unsigned int slot = 0; slot <= UINT8_MAX; slot++)
		count += more[slot] > 0 ? more[slot] : 0;
	return count;
}

static bool is_usable(uint8_t slot)
{
	return slot < XBOND_MAX_SLAVES && usable_weight[slot];
}

/* Everything whose home is usable is there. All have their shares of both tables. */
static void check_shares(void)
{
	uint32_t all = 0, up = 0;
	int owns[UINT8_MAX + 1] = { 0 }, has[UINT8_MAX + 1] = { 0 }, not_at_home = 0;

	for (unsigned int slot = 0; slot < MEMBERS; slot++) {
		all += member_weight[slot];
		up += usable_weight[slot];
	}
	for (int i = 0; i < XBOND_BUCKETS; i++) {
		owns[homes[i]]++;
		has[table[i]]++;
		not_at_home += is_usable(homes[i]) && table[i] != homes[i];
	}
	assert_int_equal(not_at_home, 0);
	for (unsigned int slot = 0; slot < MEMBERS; slot++) {
		uint32_t at_home = member_weight[slot] * XBOND_BUCKETS / all;
		uint32_t share = usable_weight[slot] * XBOND_BUCKETS / up;

		assert_in_range(owns[slot], at_home, at_home + 1);
		assert_in_range(has[slot], share, share + 1);
	}
}

/* Its flows are with others already, and need not change slaves again. */
TEST(who_is_down_moves_nothing, setup)
{
	static const uint32_t first[XBOND_MAX_SLAVES] = { 100, 10, 1, 5 };
	static const uint32_t weights[] = { 1, 40, 0, 100, 3 };

	start_with(first);
	usable_weight[0] = 0;
	assign();
	for (unsigned int i = 0; i < sizeof(weights) / sizeof(*weights); i++) {
		member_weight[0] = weights[i];
		assign();
		assert_int_equal(moved(), 0);
		check_shares();
	}
}

/* Members fail and return, get other weights, and leave or join while they are down. */
static void change_one(unsigned int slot)
{
	switch (next_random() % 4) {
	case 0: usable_weight[slot] = 0; break;
	case 1: usable_weight[slot] = member_weight[slot]; break;
	case 2:
		member_weight[slot] = 1 + next_random() % 10;
		usable_weight[slot] = usable_weight[slot] ? member_weight[slot] : 0;
		break;
	default:
		if (!usable_weight[slot])
			member_weight[slot] = member_weight[slot] ? 0 : 1 + next_random() % 10;
	}
}

TEST(only_what_must_moves, setup)
{
	static const uint32_t first[XBOND_MAX_SLAVES] = { 1, 2, 3, 4, 5, 6 };
	unsigned int steps = sample_size(800, 4000);

	random_state = sample_seed();
	start_with(first);
	for (unsigned int step = 0; step < steps; step++) {
		uint32_t members[XBOND_MAX_SLAVES], up = 0;
		bool same_members;

		memcpy(members, member_weight, sizeof(members));
		change_one(next_random() % MEMBERS);
		for (unsigned int slot = 0; slot < MEMBERS; slot++)
			up += usable_weight[slot];
		if (!up)
			usable_weight[0] = member_weight[0] = 5;
		same_members = !memcmp(members, member_weight, sizeof(members));
		assign();
		check_shares();
		if (!same_members)
			assert_int_equal(moved(), must_move());
	}
}

TEST(nobody_leaves_the_table_alone, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 1, 1 }, none[XBOND_MAX_SLAVES] = { 0 };

	rebalance(weight);
	rebalance(none);
	assert_memory_equal(table, before, sizeof(table));
}

TEST(round_robin_takes_turns, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 7, 0, 7, 7 };
	static const uint8_t turns[] = { 0, 2, 3 };

	assert_int_equal(buckets_round_robin(table, weight), XBOND_BUCKETS / 3 * 3);
	for (int i = 0; i < XBOND_BUCKETS; i++)
		assert_int_equal(table[i], turns[i % 3]);
}

TEST(round_robin_is_smooth_by_weight, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 10000, 25000, 100000 };
	uint32_t used = buckets_round_robin(table, weight);
	int last_small = -1;

	assert_int_equal(used % 27, 0);
	for (uint32_t i = 0; i < used; i++) {
		if (table[i] != 0)
			continue;
		if (last_small >= 0)
			assert_in_range(i - (uint32_t)last_small, 12, 15);
		last_small = (int)i;
	}
	assert_true(last_small >= 0);
}

TEST(round_robin_scales_odd_weights, setup)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 65535, 65521, 1 };
	uint32_t used = buckets_round_robin(table, weight);

	assert_in_range(used, XBOND_BUCKETS / 2, XBOND_BUCKETS);
	assert_in_range(share_of(2), 1, 4);
	assert_in_range(share_of(0), share_of(1) - 8, share_of(1) + 8);
}
