/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slaves send besides their buckets, and what it means for moving buckets. */
#include <string.h>

#include "rules/buckets.h"
#include "tests/unit/unit.h"

#define MIB (UINT64_C(1) << 20)

static uint8_t before[XBOND_BUCKETS], owner[XBOND_BUCKETS];
static uint64_t bytes[XBOND_BUCKETS], base[XBOND_MAX_SLAVES];
static struct base_load_input input;

/* Buckets belong to slots 0 and 1 in turn. */
static int setup(void **state)
{
	for (int i = 0; i < XBOND_BUCKETS; i++)
		owner[i] = before[i] = i % 2;
	memset(bytes, 0, sizeof(bytes));
	memset(&input, 0, sizeof(input));
	input.bytes = bytes;
	input.owner_was = before;
	input.owner_is = owner;
	return 0;
}

/* The slots send 30 and 20 MiB from five buckets, and this besides. */
static void send(uint64_t of_0, uint64_t of_1)
{
	for (int i = 0; i < 5; i++)
		bytes[i] = 10 * MIB;
	input.sent[0] = 30 * MIB + of_0;
	input.sent[1] = 20 * MIB + of_1;
}

TEST(what_no_bucket_has, setup)
{
	send(50 * MIB, 7 * MIB);
	assert_true(base_load(&input, base));
	assert_int_equal(base[0], 50 * MIB);
	assert_int_equal(base[1], 7 * MIB);
	assert_int_equal(base[2], 0);
}

/* Of packets that were sent between the two readings. */
TEST(little_is_nothing, setup)
{
	send(MIB / 2, MIB / 2);
	assert_true(base_load(&input, base));
	assert_int_equal(base[0], 0);
	assert_int_equal(base[1], 0);
}

/* A bucket that has moved has been sent by both. The sum says that there is nothing else. */
TEST(moved_buckets_are_no_base, setup)
{
	send(0, 0);
	input.sent[0] += 4 * MIB;
	input.sent[1] -= 4 * MIB;
	before[1] = 0;
	assert_true(base_load(&input, base));
	assert_int_equal(base[0], 0);
}

TEST(nobody_knows_whose_it_was, setup)
{
	send(50 * MIB, 0);
	before[1] = 0;
	assert_false(base_load(&input, base));
	bytes[1] = 0; /* such a bucket may have moved */
	assert_true(base_load(&input, base));
}

/* Lost before a slave got them, or owned by nobody: less was sent than the buckets say. */
TEST(no_base_is_below_nothing, setup)
{
	send(0, 0);
	input.sent[1] = 0;
	assert_true(base_load(&input, base));
	assert_int_equal(base[0], 0);
	send(50 * MIB, 0);
	input.sent[1] = 0;
	owner[0] = before[0] = XBOND_NO_SLOT;
	assert_true(base_load(&input, base));
	assert_int_equal(base[0], 60 * MIB);
	assert_int_equal(base[1], 0);
}

/* A policy has put five flows on slot 0: of the other five, all have to be on slot 1. */
TEST(buckets_make_room, setup)
{
	static struct rebalance_input rebalance;
	static struct rebalance_move moves[REBALANCE_MOVES];
	unsigned int count;

	send(50 * MIB, 0);
	rebalance.bucket = rebalance.home = owner;
	rebalance.weight[0] = rebalance.weight[1] = 100;
	memcpy(rebalance.bytes, bytes, sizeof(bytes));
	memset(rebalance.may, REBALANCE_SILENT, sizeof(rebalance.may));
	assert_int_equal(rebalance_plan(&rebalance, moves), 0);
	assert_true(base_load(&input, rebalance.base));
	count = rebalance_plan(&rebalance, moves);
	assert_int_equal(count, 3);
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(moves[i].from, 0);
		assert_int_equal(bytes[moves[i].bucket], 10 * MIB);
		owner[moves[i].bucket] = moves[i].to;
		owner[moves[i].partner] = moves[i].from;
	}
	assert_int_equal(rebalance_plan(&rebalance, moves), 0);
}
