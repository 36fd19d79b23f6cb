/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules/active.c: the choice of the active slave, compared in every state of three slaves with a
 * model that is written otherwise (it sorts the slaves, and asks one question after the other);
 * and which slave each client of balance-alb gets.
 */
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "rules/active.h"
#include "tests/unit/unit.h"

#define SLAVES 3
#define NONE XBOND_NO_SLOT

static bool has(uint64_t slots, unsigned int slot)
{
	return slot < SLAVES && slots >> slot & 1;
}

/* How much a slave is wanted: the primary most of all, then by prio, then the first. */
static int64_t model_worth(const struct active_input *input, unsigned int slot)
{
	if (slot == input->primary)
		return INT64_MAX;
	return (int64_t)input->link[slot].prio * SLAVES - slot;
}

static unsigned int model_favourite(const struct active_input *input, uint64_t candidates)
{
	unsigned int favourite = NONE;

	for (unsigned int slot = 0; slot < SLAVES; slot++)
		if (has(candidates, slot) &&
		    (favourite == NONE || model_worth(input, slot) > model_worth(input, favourite)))
			favourite = slot;
	return favourite;
}

static int model_duplex(uint32_t duplex)
{
	return duplex == 1 ? 3 : duplex == 0 ? 2 : 1;
}

static bool model_may_replace(const struct active_input *input, unsigned int new)
{
	const struct active_link *a = &input->link[new], *b = &input->link[input->current];

	switch (input->reselect) {
	case XBOND_RESELECT_ALWAYS: return true;
	case XBOND_RESELECT_FAILURE:
		return !has(input->up, input->current) &&
		       (has(input->came_up, new) || input->again);
	case XBOND_RESELECT_BETTER: break;
	}
	if (!has(input->up, input->current))
		return has(input->came_up, new) || input->again;
	return !has(input->unsure, new) && !has(input->unsure, input->current) &&
	       (uint64_t)a->speed_mbps * 4 + (uint64_t)model_duplex(a->duplex) >
		       (uint64_t)b->speed_mbps * 4 + (uint64_t)model_duplex(b->duplex);
}

static struct active_choice model(const struct active_input *input, bool by_hand)
{
	uint64_t undrained = input->up & ~input->drained, candidates = undrained;
	struct active_choice choice = { .primary_due = input->primary_due };
	unsigned int favourite;
	bool works, preferred;

	if (!candidates)
		candidates = input->up;
	if (has(candidates, input->primary))
		choice.primary_due = false;
	if (has(candidates, input->requested)) {
		choice.slot = input->requested;
		choice.by_hand = true;
		return choice;
	}
	favourite = model_favourite(input, candidates);
	works = has(input->keepable, input->current) &&
		!(has(input->drained, input->current) && undrained) && !input->free;
	choice.slot = works ? input->current : favourite;
	if (input->primary_due && has(candidates, input->primary)) {
		choice.slot = input->primary;
		return choice;
	}
	if (!works)
		return choice;
	preferred = favourite != NONE && input->current != input->primary &&
		    (favourite == input->primary ||
		     input->link[favourite].prio > input->link[input->current].prio);
	choice.by_hand = by_hand && !input->again && !(preferred && has(input->came_up, favourite));
	if (preferred && !choice.by_hand && model_may_replace(input, favourite))
		choice.slot = favourite;
	return choice;
}

static unsigned long compared;

static void compare(struct active_input *input)
{
	for (int by_hand = 0; by_hand <= 1; by_hand++) {
		struct active_choice got = active_choose(input, by_hand),
				     want = model(input, by_hand);

		compared++;
		if (got.slot == want.slot && got.by_hand == want.by_hand &&
		    got.primary_due == want.primary_due)
			continue;
		fail_msg("up %x keepable %x drained %x came_up %x current %u primary %u requested "
			 "%u reselect %d due %d again %d free %d by_hand %d: %u %d, not %u %d",
			 (unsigned)input->up, (unsigned)input->keepable, (unsigned)input->drained,
			 (unsigned)input->came_up, input->current, input->primary, input->requested,
			 input->reselect, input->primary_due, input->again, input->free, by_hand,
			 got.slot, got.by_hand, want.slot, want.by_hand);
	}
}

static void with_all_options(struct active_input *input)
{
	for (unsigned int flags = 0; flags < 8; flags++)
		for (unsigned int reselect = 0; reselect <= XBOND_RESELECT_FAILURE; reselect++)
			for (unsigned int primary = 0; primary <= SLAVES; primary++) {
				input->primary_due = flags & 1;
				input->again = flags & 2;
				input->free = flags & 4;
				input->reselect = (enum xbond_reselect)reselect;
				input->primary = primary < SLAVES ? primary : NONE;
				compare(input);
			}
}

static void with_all_slots(struct active_input *input)
{
	for (unsigned int current = 0; current <= SLAVES; current++)
		for (unsigned int requested = 1; requested <= SLAVES; requested += SLAVES - 1) {
			input->current = current < SLAVES ? current : NONE;
			input->requested = requested < SLAVES ? requested : NONE;
			with_all_options(input);
		}
}

/* The links: two bits for each slave say whether it is down, up, just up, or going down. */
static void with_all_states(struct active_input *input)
{
	for (unsigned int states = 0; states < 1 << 2 * SLAVES; states++)
		for (input->drained = 0; input->drained < 1 << SLAVES; input->drained++) {
			input->up = input->keepable = input->came_up = 0;
			for (unsigned int slot = 0; slot < SLAVES; slot++) {
				unsigned int state = states >> 2 * slot & 3;

				input->up |= (uint64_t)(state == 1 || state == 2) << slot;
				input->came_up |= (uint64_t)(state == 2) << slot;
				input->keepable |= (uint64_t)(state != 0) << slot;
			}
			with_all_slots(input);
		}
}

TEST(every_state_is_as_in_the_model)
{
	static const struct active_link links[][SLAVES] = {
		{ { 0, 1000, 1 }, { 0, 1000, 1 }, { 0, 1000, 1 } },
		{ { -50, 1000, 1 }, { 10, 100, 1 }, { 10, 1000, 1 } },
		{ { 5, 0, 255 }, { INT32_MIN, 1000, 0 }, { INT32_MAX, 1000, 1 } },
		{ { 1, 10000, 1 }, { 2, 10000, 0 }, { 3, 10000, 255 } },
		{ { 1, 10, 1 }, { 2, 100, 1 }, { 3, 1000, 1 } },
	};
	struct active_input input = { 0 };

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		memcpy(input.link, links[i], sizeof(links[i]));
		input.unsure = i % 2 ? 1 << (i % SLAVES) : 0;
		with_all_states(&input);
	}
	assert_true(compared > 1000000);
}

/* Three slaves that are up; the third has the highest prio. */
static struct active_input three(unsigned int current, enum xbond_reselect reselect)
{
	return (struct active_input){
		.up = 7,
		.keepable = 7,
		.current = current,
		.primary = NONE,
		.requested = NONE,
		.reselect = reselect,
		.link = { { 0, 1000, 1 }, { 10, 1000, 1 }, { 11, 1000, 1 } },
	};
}

TEST(reselect_decides_when_a_higher_prio_returns)
{
	struct active_input input = three(0, XBOND_RESELECT_ALWAYS);

	input.came_up = 4;
	assert_int_equal(active_choose(&input, false).slot, 2);
	input.reselect = XBOND_RESELECT_BETTER;
	assert_int_equal(active_choose(&input, false).slot, 0);
	input.link[2].speed_mbps = 10000;
	assert_int_equal(active_choose(&input, false).slot, 2);
	input.link[2].speed_mbps = 1000;
	input.link[0].duplex = 0;
	assert_int_equal(active_choose(&input, false).slot, 2);
	input.reselect = XBOND_RESELECT_FAILURE;
	assert_int_equal(active_choose(&input, false).slot, 0);
	input.up = input.keepable = 6;
	assert_int_equal(active_choose(&input, false).slot, 2);
}

TEST(the_primary_is_preferred_to_every_prio)
{
	struct active_input input = three(0, XBOND_RESELECT_ALWAYS);

	input.primary = 1;
	assert_int_equal(active_choose(&input, false).slot, 1);
	input.current = 1;
	assert_int_equal(active_choose(&input, false).slot, 1);
	input.up = input.keepable = 5;
	assert_int_equal(active_choose(&input, false).slot, 2);
}

TEST(an_equal_prio_replaces_nobody)
{
	struct active_input input = three(2, XBOND_RESELECT_ALWAYS);

	input.link[0].prio = 11;
	input.came_up = 1;
	assert_int_equal(active_choose(&input, false).slot, 2);
}

TEST(a_primary_that_is_due_waits_for_its_link)
{
	struct active_input input = three(0, XBOND_RESELECT_FAILURE);
	struct active_choice choice;

	input.primary = 1;
	input.primary_due = true;
	input.up = input.keepable = 5;
	choice = active_choose(&input, false);
	assert_int_equal(choice.slot, 0);
	assert_true(choice.primary_due);
	input.up = input.keepable = 7;
	choice = active_choose(&input, false);
	assert_int_equal(choice.slot, 1);
	assert_false(choice.primary_due);
}

TEST(a_choice_that_is_given_back_is_made_anew)
{
	struct active_input input = three(0, XBOND_RESELECT_FAILURE);

	assert_int_equal(active_choose(&input, true).slot, 0);
	input.free = true;
	assert_int_equal(active_choose(&input, true).slot, 2);
	assert_false(active_choose(&input, true).by_hand);
}

TEST(the_order_foretells_each_next_choice)
{
	static const uint8_t expected[] = { 1, 3, 4, 0, NONE };
	struct active_input input = { .primary = 1, .current = NONE, .requested = NONE };
	uint8_t order[XBOND_MAX_SLAVES];

	input.link[0].prio = -2;
	input.link[3].prio = input.link[4].prio = 7;
	active_order(&input, 0x1b, order);
	assert_memory_equal(order, expected, sizeof(expected));
	assert_int_equal(order[XBOND_MAX_SLAVES - 1], NONE);
	input.up = 0x1b;
	for (unsigned int place = 0; order[place] != NONE; place++) {
		assert_int_equal(active_choose(&input, false).slot, order[place]);
		input.up &= ~(UINT64_C(1) << order[place]);
	}
	assert_int_equal(input.up, 0);
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

/* Clients of balance-alb. */

TEST(the_fastest)
{
	uint32_t speed[XBOND_MAX_SLAVES] = { 1000, 10000, 0, 10000, 25000 };

	assert_true(receivers_fastest(0xf, speed) == 0xa);
	assert_true(receivers_fastest(0x5, speed) == 0x1);
	assert_true(receivers_fastest(0x4, speed) == 0x4);
	assert_true(receivers_fastest(0, speed) == 0);
	assert_true(receivers_fastest(1ULL << 63 | 0x4, speed) == (1ULL << 63 | 0x4));
}

/* Only clients of slaves that do not work get another, and they spread. */
TEST(a_slave_fails)
{
	uint8_t slot[] = { 0, 1, 2, 2, 0, 2, XBOND_NO_SLOT, 2 };
	const uint8_t expected[] = { 0, 1, 1, 0, 0, 1, 0, 1 };

	receivers_share(slot, sizeof(slot), 0x3, 0x3, false);
	assert_true(!memcmp(slot, expected, sizeof(slot)));
}

/* No more move than the new slave's share. */
TEST(a_slave_joins)
{
	uint8_t slot[] = { 0, 0, 0, 1, 1, 1 }, count[3] = { 0 };
	unsigned int moved = 0;

	receivers_share(slot, sizeof(slot), 0x7, 0x7, true);
	for (unsigned int i = 0; i < sizeof(slot); i++) {
		count[slot[i]]++;
		moved += slot[i] == 2;
	}
	assert_true(moved == 2 && count[0] == 2 && count[1] == 2);
}

/* A slave that works but is slow keeps its clients until they are levelled. */
TEST(a_slow_slave)
{
	uint8_t slot[] = { 0, 0, 1 };

	receivers_share(slot, sizeof(slot), 0x3, 0x2, false);
	assert_true(slot[0] == 0 && slot[1] == 0 && slot[2] == 1);
	receivers_share(slot, sizeof(slot), 0x3, 0x2, true);
	assert_true(slot[0] == 1 && slot[1] == 1 && slot[2] == 1);
	receivers_share(slot, sizeof(slot), 0, 0, true);
	assert_true(slot[0] == 1);
}
