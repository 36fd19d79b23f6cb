/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moving buckets by load between slaves of very different weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "rules/buckets.h"
#include "rules/rebalance.h"

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
static void an_idle_slow_slave_is_passed_over(void **state)
{
	static const uint32_t weight[XBOND_MAX_SLAVES] = { 10000, 10000, 1000 };

	(void)state;
	begin(weight);
	put_flows(0, 7, 1000000);
	put_flows(1, 3, 1000000);
	carry_out();
	assert_int_equal(load_of(0), 5000000);
	assert_int_equal(load_of(1), 5000000);
	assert_int_equal(carry_out(), 0);
}

/* The same where single steps lead into a dead end: 15 and 9, or 12 and 12. */
static void also_where_sizes_differ(void **state)
{
	static const uint32_t weight[XBOND_MAX_SLAVES] = { 10000, 10000, 1000 };

	(void)state;
	begin(weight);
	put_flows(0, 3, 5000000);
	put_flows(1, 1, 7000000);
	put_flows(1, 1, 2000000);
	carry_out();
	assert_int_equal(load_of(0), 12000000);
	assert_int_equal(load_of(1), 12000000);
}

/*
 * 40 elephants on the fastest of 64 slaves, half of which are too slow for any. The best
 * distribution has one on a slave of weight 30000.
 */
static void of_many_weights_those_that_can_take_some(void **state)
{
	uint32_t weight[XBOND_MAX_SLAVES];
	uint64_t peak = 0;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_slow_slave_is_passed_over),
		cmocka_unit_test(also_where_sizes_differ),
		cmocka_unit_test(of_many_weights_those_that_can_take_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
