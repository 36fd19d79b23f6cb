/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moving buckets by load: slaves of very different weights, and more moves than a plan can hold. */
#include <stdlib.h>
#include <string.h>

#include "rules/buckets.h"
#include "tests/unit/unit.h"

#define SLOTS 3
#define INTERVALS 5

static uint8_t bucket[XBOND_BUCKETS], home[XBOND_BUCKETS];
static struct rebalance_input input;
static struct rebalance_move plan[REBALANCE_MOVES];

static void begin(const uint32_t weight[XBOND_MAX_SLAVES])
{
	memset(bucket, XBOND_NO_SLOT, sizeof(bucket));
	memset(home, XBOND_NO_SLOT, sizeof(home));
	memset(&input, 0, sizeof(input));
	buckets_assign(bucket, home, weight, weight);
	memcpy(input.weight, weight, sizeof(input.weight));
	memset(input.may, REBALANCE_SILENT, sizeof(input.may));
	input.bucket = bucket;
	input.home = home;
}

static int put_flows(unsigned int slot, unsigned int flows, uint64_t bytes)
{
	int at = -1;

	while (flows--) {
		do
			at++;
		while (bucket[at] != slot || input.bytes[at]);
		input.bytes[at] = bytes;
	}
	return at;
}

static uint64_t load_of(unsigned int slot)
{
	uint64_t sum = input.base[slot];

	for (int i = 0; i < XBOND_BUCKETS; i++)
		sum += bucket[i] == slot ? input.bytes[i] : 0;
	return sum;
}

static unsigned int carry_out(void)
{
	unsigned int count = rebalance_plan(&input, plan);

	for (unsigned int i = 0; i < count; i++) {
		bucket[plan[i].bucket] = home[plan[i].bucket] = plan[i].to;
		bucket[plan[i].partner] = home[plan[i].partner] = plan[i].from;
	}
	return count;
}

/* It is the idlest, and each elephant is too much for it. */
TEST(an_idle_slow_slave_is_passed_over)
{
	static const uint32_t weight[XBOND_MAX_SLAVES] = { 10000, 10000, 1000 };

	begin(weight);
	put_flows(0, 7, 1000000);
	put_flows(1, 3, 1000000);
	carry_out();
	assert_int_equal(load_of(0), 5000000);
	assert_int_equal(load_of(1), 5000000);
	assert_int_equal(carry_out(), 0);
}

/* The same where single steps lead into a dead end: 15 and 9, or 12 and 12. */
TEST(also_where_sizes_differ)
{
	static const uint32_t weight[XBOND_MAX_SLAVES] = { 10000, 10000, 1000 };

	begin(weight);
	put_flows(0, 3, 5000000);
	put_flows(1, 1, 7000000);
	put_flows(1, 1, 2000000);
	carry_out();
	assert_int_equal(load_of(0), 12000000);
	assert_int_equal(load_of(1), 12000000);
}

/* One of 40 there is less than the busiest has, but more than is even, and then nothing was a gain.
 */
TEST(a_slow_slave_gets_what_is_even)
{
	static const uint32_t weight[XBOND_MAX_SLAVES] = { 10000, 10000, 1000 };
	static const uint64_t of_0[] = { 67, 33, 22 }, of_1[] = { 200, 100, 50, 40, 29, 25 };

	begin(weight);
	for (unsigned int i = 0; i < sizeof(of_0) / sizeof(*of_0); i++)
		put_flows(0, 1, of_0[i] * 10000);
	for (unsigned int i = 0; i < sizeof(of_1) / sizeof(*of_1); i++)
		put_flows(1, 1, of_1[i] * 10000);
	for (int interval = 0; interval < INTERVALS; interval++)
		carry_out();
	for (unsigned int slot = 0; slot < SLOTS; slot++) /* 269 is even */
		assert_in_range(load_of(slot) / weight[slot], 0, 296);
}

/*
 * 40 elephants on the fastest of 64 slaves, half of which are too slow for any. The best
 * distribution has one on a slave of weight 30000.
 */
TEST(of_many_weights_those_that_can_take_some)
{
	uint32_t weight[XBOND_MAX_SLAVES];
	uint64_t peak = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		weight[slot] = 64000 - 1000 * slot;
	begin(weight);
	put_flows(0, 40, 1000000000);
	for (int interval = 0; interval < INTERVALS; interval++)
		carry_out();
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (load_of(slot) / weight[slot] > peak)
			peak = load_of(slot) / weight[slot];
	assert_in_range(peak, 1000000000 / 30000, 1000000000 / 30000 * 11 / 10);
}

static double imbalance(void)
{
	double busier = (double)(load_of(0) > load_of(1) ? load_of(0) : load_of(1));

	return 2 * busier / (double)(load_of(0) + load_of(1)) - 1;
}

/*
 * 10000 flows, and a base load of 30 % on one slave: 128 buckets are less than 10 % of that. Then
 * it takes some intervals, and it ends.
 */
TEST(more_than_a_plan_can_hold)
{
	static const uint32_t weight[XBOND_MAX_SLAVES] = { 1000, 1000 };
	unsigned int rounds = 0;

	srandom(3);
	begin(weight);
	for (int flow = 0; flow < 10000; flow++)
		input.bytes[random() % XBOND_BUCKETS] += 100000;
	input.base[0] = 430000000;
	assert_true(imbalance() > 0.28);
	while (rounds < 20 && carry_out())
		rounds++;
	assert_in_range(rounds, 2, 5);
	assert_true(imbalance() < 0.12);
}

/* All buckets send the same: no exchange is a gain. */
TEST(no_bucket_is_better_than_another)
{
	static const uint32_t weight[XBOND_MAX_SLAVES] = { 1000, 1000 };

	begin(weight);
	input.base[0] = 1000000;
	for (int i = 0; i < XBOND_BUCKETS; i++)
		input.bytes[i] = 1000 + (uint64_t)(i % 7);
	assert_int_equal(carry_out(), 0);
}
