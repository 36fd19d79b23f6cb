/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/bond/part.c: marks, and what they say, through the settle loop. */
#include "tests/unit/one_bond.h"

static uint32_t seen[PART_BOND + 1]; /* the news of the last settling of each slot */
static unsigned int settled;
static unsigned int freed;

/* Slot 2 is settled while messages come for slots 1 and 5, as a nested turn of the loop has it. */
static void note(struct bond *of, unsigned int slot, uint32_t news)
{
	seen[slot] = news;
	if (settled++ || slot != 2)
		return;
	parts_hear(of, 1, NEWS_FILTER, NULL, false);
	parts_hear(of, 5, NEWS_ADDRESS, NULL, false);
}

static void note_bond(struct bond *of, uint32_t news)
{
	note(of, PART_BOND, news);
}

static void note_free(struct bond *of)
{
	assert_ptr_equal(of, &bond);
	freed++;
}

static struct part noting = { .hears = NEWS_SLAVE | NEWS_FILTER | NEWS_ADDRESS | NEWS_LOST,
			      .settle = note,
			      .settle_bond = note_bond,
			      .free = note_free };

static int setup(void **state)
{
	bond_begin(&noting);
	memset(seen, 0, sizeof(seen));
	settled = 0;
	freed = 0;
	for (unsigned int slot = 0; slot < 8; slot++)
		slaves[slot].state = XBOND_SLOT_MEMBER;
	return 0;
}

static int teardown(void **state)
{
	bond_end(state);
	assert_int_equal(freed, 1); /* what a part keeps goes with the bond */
	return 0;
}

TEST(news_that_come_meanwhile_keep_their_kind, setup, teardown)
{
	parts_hear(&bond, 2, NEWS_SLAVE, NULL, false);
	while (parts_settle(&bond, UINT64_MAX))
		;
	assert_int_equal(settled, 3);
	assert_true(seen[1] & NEWS_FILTER);
	assert_true(seen[5] & NEWS_ADDRESS);
	assert_false(parts_are_due(&bond));
	/* Nothing of this is left for the next. */
	parts_hear(&bond, 3, NEWS_SLAVE, NULL, false);
	assert_false(parts_settle(&bond, UINT64_MAX));
	assert_int_equal(seen[3], NEWS_SLAVE);
}

TEST(when_time_is_over_marks_stay, setup, teardown)
{
	settled = 1;
	parts_hear(&bond, 4, NEWS_FILTER, NULL, false);
	assert_true(parts_settle(&bond, 0));
	assert_int_equal(settled, 1);
	assert_false(parts_settle(&bond, UINT64_MAX));
	assert_int_equal(seen[4], NEWS_FILTER);
}

TEST(lost_messages_mark_members_alone, setup, teardown)
{
	settled = 1;
	slaves[6].state = XBOND_SLOT_FREE;
	parts_hear(&bond, PART_BOND, NEWS_LOST, NULL, false);
	assert_false(parts_settle(&bond, UINT64_MAX));
	assert_int_equal(settled, 1 + 7 + 1); /* and the bond */
	assert_int_equal(seen[6], 0);
	assert_int_equal(seen[7], NEWS_LOST);
	assert_int_equal(seen[PART_BOND], NEWS_LOST);
}
