/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules/active.c for 802.3ad: which ports count as able to take over, how long flows wait for
 * markers, and which slots are asked.
 */
#include <string.h>

#include "rules/active.h"
#include "tests/unit/unit.h"

static struct standby_state now;
static uint64_t now_ns;

static int standby_setup(void **state)
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

TEST(a_port_that_stands_by_counts, standby_setup)
{
	assert_int_equal(counted(2, 1), 2);
	assert_int_equal(counted(6, 1), 6);
}

TEST(it_has_time_to_take_over, standby_setup)
{
	counted(2, 1);
	assert_int_equal(counted(0, 0), 2);
	assert_int_equal(now.until_ns, now_ns + STANDBY_TIME_NS);
	now_ns += STANDBY_TIME_NS - 1;
	assert_int_equal(counted(0, 0), 2);
	assert_int_equal(counted(0, 2), 0); /* it distributes, and counts as such */
	assert_int_equal(now.until_ns, 0);
}

TEST(one_that_cannot_is_not_tried_again, standby_setup)
{
	counted(2, 1);
	counted(0, 0);
	now_ns += STANDBY_TIME_NS;
	assert_int_equal(counted(0, 0), 0);
	assert_int_equal(counted(2, 1), 0);
	counted(0, 2);
	assert_int_equal(counted(2, 1), 2); /* it could do it meanwhile */
}

TEST(others_are_counted_beside_it, standby_setup)
{
	counted(6, 1);
	counted(4, 0);
	now_ns += STANDBY_TIME_NS;
	assert_int_equal(counted(4, 0), 4);
	assert_int_equal(counted(0, 0), 4); /* its own time */
	now_ns += STANDBY_TIME_NS - 1;
	assert_int_equal(counted(0, 0), 4);
}

TEST(a_port_that_never_stood_by_does_not_count, standby_setup)
{
	assert_int_equal(counted(0, 1), 0);
	assert_int_equal(counted(0, 0), 0);
	assert_int_equal(now.until_ns, 0);
}

/* Another aggregator would be chosen now. */
TEST(a_port_that_would_no_longer_be_used_does_not_count, standby_setup)
{
	const struct standby_input none = { .distributing = 1, .now_ns = now_ns };

	counted(2, 1);
	assert_int_equal(standby_next(&now, &none), 0);
	assert_int_equal(now.until_ns, 0);
	assert_int_equal(counted(2, 1), 2); /* and nobody has refused it */
}

/* Markers. */

static struct marker_wait wait;
static uint64_t draining;

static int wait_setup(void **state)
{
	memset(&wait, 0, sizeof(wait));
	now_ns = 5000000000ull;
	draining = 0;
	return 0;
}

/* Nobody answers by itself. Returns the slots that are asked. */
static uint64_t evaluate(uint64_t losers, bool changed, bool *ret_waits)
{
	struct marker_wait_input input = {
		.losers = losers, .draining = draining, .changed = changed, .now_ns = now_ns
	};
	uint64_t asked = marker_wait_ask(&wait, &input);

	draining |= asked;
	input.draining = draining;
	*ret_waits = marker_wait_goes_on(&wait, &input);
	return asked;
}

static bool waits(uint64_t losers, bool changed)
{
	bool ret;

	evaluate(losers, changed, &ret);
	return ret;
}

static uint64_t asked(uint64_t losers, bool changed)
{
	bool ignored;

	return evaluate(losers, changed, &ignored);
}

TEST(nothing_waits_for_no_slot, wait_setup)
{
	assert_false(waits(0, true));
	assert_int_equal(wait.until_ns, 0);
}

TEST(the_last_answer_ends_it, wait_setup)
{
	assert_int_equal(asked(3, true), 3);
	draining = 2;
	assert_true(waits(3, false));
	draining = 0;
	assert_false(waits(3, false));
	assert_int_equal(wait.until_ns, 0);
}

TEST(nobody_is_asked_twice_for_the_same, wait_setup)
{
	asked(3, true);
	draining = 2;
	assert_int_equal(asked(3, false), 0);
}

TEST(it_has_a_limit, wait_setup)
{
	assert_true(waits(1, true));
	assert_int_equal(wait.until_ns, now_ns + MARKER_WAIT_NS);
	now_ns += MARKER_WAIT_NS - 1;
	assert_true(waits(1, false));
	now_ns++;
	assert_false(waits(1, false));
}

TEST(changes_do_not_prolong_it, wait_setup)
{
	uint64_t until_ns = now_ns + MARKER_WAIT_NS;

	for (uint64_t losers = 1; now_ns < until_ns; losers ^= 3) {
		assert_true(waits(losers, true));
		now_ns += MARKER_WAIT_NS / 10;
	}
	assert_false(waits(1, true));
}

TEST(a_change_asks_again_who_has_answered, wait_setup)
{
	asked(3, true);
	draining = 2;
	assert_int_equal(asked(3, true), 1);
	assert_int_equal(asked(7, true), 4);
}

/* What was sent since is not behind the old marker. */
TEST(the_next_wait_asks_again, wait_setup)
{
	asked(1, true);
	assert_false(waits(0, true)); /* the old plan is wanted again */
	now_ns += MARKER_WAIT_NS / 2;
	assert_int_equal(asked(1, true), 1);
	assert_int_equal(wait.until_ns, now_ns + MARKER_WAIT_NS);
}

TEST(a_wait_after_one_without_answer_is_a_new_one, wait_setup)
{
	asked(1, true);
	now_ns += MARKER_WAIT_NS;
	assert_false(waits(1, true));
	assert_int_equal(asked(1, true), 1);
	assert_true(waits(1, false));
}

TEST(a_slot_that_cannot_be_asked_is_not_awaited, wait_setup)
{
	const struct marker_wait_input input = { .losers = 1, .now_ns = now_ns };

	assert_int_equal(marker_wait_ask(&wait, &input), 1);
	assert_false(marker_wait_goes_on(&wait, &input));
}
