/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which ports of 802.3ad count as able to take over: rules/active.c. */
#include <string.h>

#include "rules/active.h"
#include "tests/unit/unit.h"

static struct standby_state now;
static uint64_t now_ns;

static int setup(void **state)
{
	memset(&now, 0, sizeof(now));
	now_ns = 5000000000ull;
	return 0;
}

/* Ports that neither stand by nor distribute are selected, and wait for their partner. */
static uint64_t counted(uint64_t standby, uint64_t distributing)
{
	const struct standby_input input = { .standby = standby,
					     .selected = ~standby,
					     .distributing = distributing,
					     .now_ns = now_ns };

	return standby_next(&now, &input);
}

TEST(a_port_that_stands_by_counts, setup)
{
	assert_int_equal(counted(2, 1), 2);
	assert_int_equal(counted(6, 1), 6);
}

TEST(it_has_time_to_take_over, setup)
{
	counted(2, 1);
	assert_int_equal(counted(0, 0), 2);
	assert_int_equal(now.until_ns, now_ns + STANDBY_TIME_NS);
	now_ns += STANDBY_TIME_NS - 1;
	assert_int_equal(counted(0, 0), 2);
	assert_int_equal(counted(0, 2), 0); /* it distributes, and counts as such */
	assert_int_equal(now.until_ns, 0);
}

TEST(one_that_cannot_is_not_tried_again, setup)
{
	counted(2, 1);
	counted(0, 0);
	now_ns += STANDBY_TIME_NS;
	assert_int_equal(counted(0, 0), 0);
	assert_int_equal(counted(2, 1), 0);
	counted(0, 2);
	assert_int_equal(counted(2, 1), 2); /* it could do it meanwhile */
}

TEST(others_are_counted_beside_it, setup)
{
	counted(6, 1);
	counted(4, 0);
	now_ns += STANDBY_TIME_NS;
	assert_int_equal(counted(4, 0), 4);
	assert_int_equal(counted(0, 0), 4); /* its own time */
	now_ns += STANDBY_TIME_NS - 1;
	assert_int_equal(counted(0, 0), 4);
}

TEST(a_port_that_never_stood_by_does_not_count, setup)
{
	assert_int_equal(counted(0, 1), 0);
	assert_int_equal(counted(0, 0), 0);
	assert_int_equal(now.until_ns, 0);
}

/* Another aggregator would be chosen now. */
TEST(a_port_that_would_no_longer_be_used_does_not_count, setup)
{
	const struct standby_input none = { .distributing = 1, .now_ns = now_ns };

	counted(2, 1);
	assert_int_equal(standby_next(&now, &none), 0);
	assert_int_equal(now.until_ns, 0);
	assert_int_equal(counted(2, 1), 2); /* and nobody has refused it */
}
