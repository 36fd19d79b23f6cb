/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link states with their delays, and the choice of the active slave. */
#include "common/clock.h"
#include "rules/active.h"
#include "rules/link_state.h"
#include "tests/unit/unit.h"

#define NOW (1000 * NS_PER_MS)

static struct carrier_state state_of(enum xbond_link link)
{
	return (struct carrier_state){ .link = link };
}

static struct carrier_state step(struct carrier_state state, bool carrier, uint64_t now_ns,
				 uint32_t up_ms, uint32_t down_ms, bool needed)
{
	struct carrier_input input = {
		.carrier = carrier,
		.needed = needed,
		.now_ns = now_ns,
		.updelay_ms = up_ms,
		.downdelay_ms = down_ms,
	};

	return carrier_next(state, &input);
}

TEST(without_delays_it_follows_carrier)
{
	assert_int_equal(step(state_of(XBOND_LINK_UP), false, NOW, 0, 0, false).link,
			 XBOND_LINK_DOWN);
	assert_int_equal(step(state_of(XBOND_LINK_DOWN), true, NOW, 0, 0, false).link,
			 XBOND_LINK_UP);
	assert_int_equal(step(state_of(XBOND_LINK_UP), true, NOW, 0, 0, false).link, XBOND_LINK_UP);
	assert_int_equal(step(state_of(XBOND_LINK_DOWN), false, NOW, 0, 0, false).link,
			 XBOND_LINK_DOWN);
}

TEST(downdelay_is_not_rounded)
{
	struct carrier_state going = step(state_of(XBOND_LINK_UP), false, NOW, 0, 33, false);

	assert_int_equal(going.link, XBOND_LINK_GOING_DOWN);
	assert_int_equal(going.deadline_ns, NOW + 33 * NS_PER_MS);
	assert_int_equal(step(going, false, going.deadline_ns - 1, 0, 33, false).link,
			 XBOND_LINK_GOING_DOWN);
	assert_int_equal(step(going, false, going.deadline_ns, 0, 33, false).link, XBOND_LINK_DOWN);
}

TEST(carrier_that_returns_ends_downdelay)
{
	struct carrier_state going = step(state_of(XBOND_LINK_UP), false, NOW, 0, 50, false);
	struct carrier_state back = step(going, true, NOW + 1, 0, 50, false);

	assert_int_equal(back.link, XBOND_LINK_UP);
	assert_int_equal(back.deadline_ns, 0);
}

TEST(updelay_waits_unless_needed)
{
	struct carrier_state going = step(state_of(XBOND_LINK_DOWN), true, NOW, 200, 0, false);

	assert_int_equal(going.link, XBOND_LINK_GOING_UP);
	assert_int_equal(step(going, true, NOW + 199 * NS_PER_MS, 200, 0, false).link,
			 XBOND_LINK_GOING_UP);
	assert_int_equal(step(going, true, NOW + 200 * NS_PER_MS, 200, 0, false).link,
			 XBOND_LINK_UP);
	assert_int_equal(step(going, true, NOW + 1, 200, 0, true).link, XBOND_LINK_UP);
	assert_int_equal(step(going, false, NOW + 1, 200, 0, false).link, XBOND_LINK_DOWN);
	assert_int_equal(step(state_of(XBOND_LINK_DOWN), true, NOW, 200, 0, true).link,
			 XBOND_LINK_UP);
}

static struct active_input both_up(unsigned int current)
{
	return (struct active_input){
		.up = 3,
		.keepable = 3,
		.current = current,
		.primary = XBOND_NO_SLOT,
		.requested = XBOND_NO_SLOT,
	};
}

TEST(the_lowest_slot_begins_and_stays)
{
	struct active_input input = both_up(XBOND_NO_SLOT);

	assert_int_equal(active_choose(&input, false).slot, 0);
	input.current = 1;
	assert_int_equal(active_choose(&input, false).slot, 1);
}

TEST(a_failed_one_is_replaced)
{
	struct active_input input = both_up(0);

	input.up = input.keepable = 2;
	assert_int_equal(active_choose(&input, false).slot, 1);
	input.up = input.keepable = 0;
	assert_int_equal(active_choose(&input, false).slot, XBOND_NO_SLOT);
}

TEST(downdelay_keeps_the_active_one)
{
	struct active_input input = both_up(0);

	input.up = 2;
	assert_int_equal(active_choose(&input, false).slot, 0);
}

TEST(the_primary_is_taken_and_comes_back)
{
	struct active_input input = both_up(0);

	input.primary = 1;
	assert_int_equal(active_choose(&input, false).slot, 1);
	input.up = input.keepable = 1;
	assert_int_equal(active_choose(&input, false).slot, 0);
}

TEST(a_request_holds_until_the_primary_returns)
{
	struct active_input input = both_up(1);
	struct active_choice choice;

	input.primary = 1;
	input.requested = 0;
	choice = active_choose(&input, false);
	assert_int_equal(choice.slot, 0);
	assert_true(choice.by_hand);
	input.current = 0;
	input.requested = XBOND_NO_SLOT;
	assert_int_equal(active_choose(&input, choice.by_hand).slot, 0);
	input.came_up = 2;
	assert_int_equal(active_choose(&input, choice.by_hand).slot, 1);
	input.came_up = 0;
	input.again = true;
	assert_int_equal(active_choose(&input, choice.by_hand).slot, 1);
}

TEST(a_request_for_a_dead_slave_is_not_followed)
{
	struct active_input input = both_up(0);

	input.up = input.keepable = 1;
	input.requested = 1;
	assert_int_equal(active_choose(&input, false).slot, 0);
	assert_false(active_choose(&input, false).by_hand);
}

TEST(a_drained_one_is_the_last_resort)
{
	struct active_input input = both_up(0);

	input.drained = 1;
	assert_int_equal(active_choose(&input, false).slot, 1);
	input.drained = 3;
	assert_int_equal(active_choose(&input, false).slot, 0);
	input.up = input.keepable = 1;
	input.drained = 1;
	input.current = XBOND_NO_SLOT;
	assert_int_equal(active_choose(&input, false).slot, 0);
}
