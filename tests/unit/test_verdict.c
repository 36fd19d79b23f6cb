/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a link works is what all monitors that have spoken say together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/monitor/verdict.h"

#define SLOT 3
#define OTHER_MONITOR 2u /* the bit of one that is to come */

static struct bond *bond;

static int make_bond(void **state)
{
	(void)state;
	bond = calloc(1, sizeof(*bond));
	return bond ? 0 : -1;
}

static int free_bond(void **state)
{
	(void)state;
	free(bond);
	return 0;
}

static void nobody_has_spoken(void **state)
{
	(void)state;
	assert_false(bond_link_works(bond, SLOT));
	assert_null(bond_link_why(bond, SLOT));
	assert_false(verdict_of(bond, SLOT, LINK_MONITOR_CARRIER));
}

static void carrier_decides_alone(void **state)
{
	(void)state;
	assert_true(verdict_set(bond, SLOT, LINK_MONITOR_CARRIER, true));
	assert_true(bond_link_works(bond, SLOT));
	assert_null(bond_link_why(bond, SLOT));
	assert_false(verdict_set(bond, SLOT, LINK_MONITOR_CARRIER, true));
	assert_true(verdict_set(bond, SLOT, LINK_MONITOR_CARRIER, false));
	assert_false(bond_link_works(bond, SLOT));
	assert_string_equal(bond_link_why(bond, SLOT), "no carrier");
	assert_false(bond_link_works(bond, SLOT + 1));
}

static void one_that_says_no_is_enough(void **state)
{
	struct link_verdict *verdict = &bond->members[SLOT].verdict;

	(void)state;
	verdict->spoken = OTHER_MONITOR;
	assert_false(verdict_set(bond, SLOT, LINK_MONITOR_CARRIER, true));
	assert_false(bond_link_works(bond, SLOT));
	assert_true(verdict_of(bond, SLOT, LINK_MONITOR_CARRIER));
	verdict->works |= OTHER_MONITOR;
	assert_true(bond_link_works(bond, SLOT));
	assert_true(verdict_set(bond, SLOT, LINK_MONITOR_CARRIER, false));
	assert_string_equal(bond_link_why(bond, SLOT), "no carrier");
}

static void when_it_was_learnt(void **state)
{
	uint64_t before, *learnt_ns = bond->members[SLOT].verdict.learnt_ns;

	(void)state;
	verdict_set(bond, SLOT, LINK_MONITOR_CARRIER, false);
	before = learnt_ns[LINK_MONITOR_CARRIER];
	assert_true(before);
	verdict_set(bond, SLOT, LINK_MONITOR_CARRIER, false);
	assert_true(learnt_ns[LINK_MONITOR_CARRIER] >= before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_bond, free_bond)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_has_spoken),
		TEST(carrier_decides_alone),
		TEST(one_that_says_no_is_enough),
		TEST(when_it_was_learnt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
