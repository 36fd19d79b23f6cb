/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a link works is what all monitors that have spoken say together. */
#include "common/mode.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/monitor.h"
#include "tests/unit/one_bond.h"

#define SLOT 3

static struct xbond_verdict monitors[XBOND_MAX_SLAVES];
static struct xbond_table table;

static int make_bond(void **state)
{
	bond_begin(&lacp_part);
	memset(monitors, 0, sizeof(monitors));
	bond.dataplane.pins.monitors = monitors;
	bond.dataplane.pins.table = &table;
	slaves[SLOT].state = slaves[SLOT + 1].state = XBOND_SLOT_MEMBER;
	return 0;
}

TEST(nobody_has_spoken, make_bond, bond_end)
{
	assert_false(bond_link_works(&bond, SLOT));
	assert_null(bond_link_why(&bond, SLOT));
	assert_false(verdict_of(&bond, SLOT, XBOND_MONITOR_CARRIER));
}

TEST(carrier_decides_alone, make_bond, bond_end)
{
	assert_true(verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, true));
	assert_true(bond_link_works(&bond, SLOT));
	assert_null(bond_link_why(&bond, SLOT));
	assert_false(verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, true));
	assert_true(verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, false));
	assert_false(bond_link_works(&bond, SLOT));
	assert_string_equal(bond_link_why(&bond, SLOT), "no carrier");
	assert_false(bond_link_works(&bond, SLOT + 1));
}

TEST(one_that_says_no_is_enough, make_bond, bond_end)
{
	assert_true(verdict_set(&bond, SLOT, XBOND_MONITOR_ARP, false));
	assert_true(verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, true));
	assert_false(bond_link_works(&bond, SLOT));
	assert_true(verdict_of(&bond, SLOT, XBOND_MONITOR_CARRIER));
	assert_string_equal(bond_link_why(&bond, SLOT), monitor_finding(XBOND_MONITOR_ARP));
	assert_true(verdict_set(&bond, SLOT, XBOND_MONITOR_ARP, true));
	assert_true(bond_link_works(&bond, SLOT));
	assert_true(verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, false));
	assert_string_equal(bond_link_why(&bond, SLOT), "no carrier");
}

TEST(a_forgotten_verdict_does_not_count, make_bond, bond_end)
{
	verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, true);
	verdict_set(&bond, SLOT, XBOND_MONITOR_BFD, false);
	assert_true(verdict_forget(&bond, SLOT, XBOND_MONITOR_BFD));
	assert_true(bond_link_works(&bond, SLOT));
	assert_false(verdict_is_known(&bond, SLOT, XBOND_MONITOR_BFD));
	assert_false(verdict_forget(&bond, SLOT, XBOND_MONITOR_BFD));
}

/* Of two slaves with carrier, which flap. */
TEST(a_soft_no_counts_only_beside_a_link_that_works, make_bond, bond_end)
{
	verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, true);
	verdict_set(&bond, SLOT, XBOND_MONITOR_FLAPS, false);
	assert_true(bond_link_works(&bond, SLOT));
	verdict_set(&bond, SLOT + 1, XBOND_MONITOR_CARRIER, true);
	assert_false(bond_link_works(&bond, SLOT));
	verdict_set(&bond, SLOT + 1, XBOND_MONITOR_FLAPS, false);
	assert_true(bond_link_works(&bond, SLOT));
	assert_true(bond_link_works(&bond, SLOT + 1));
	verdict_set(&bond, SLOT + 1, XBOND_MONITOR_FLAPS, true);
	verdict_set(&bond, SLOT + 1, XBOND_MONITOR_CARRIER, false);
	assert_true(bond_link_works(&bond, SLOT));
	verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, false);
	assert_false(bond_link_works(&bond, SLOT));
}

TEST(a_soft_no_does_not_cost_the_bond_its_carrier, make_bond, bond_end)
{
	verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, true);
	verdict_set(&bond, SLOT + 1, XBOND_MONITOR_CARRIER, true);
	verdict_set(&bond, SLOT, XBOND_MONITOR_ERRORS, false);
	assert_false(bond_link_works(&bond, SLOT));
	pin.min_links = 2;
	assert_true(bond_link_works(&bond, SLOT));
	/* No port distributes. Before LACP runs, what was in force counts. */
	pin.min_links = 0;
	pin.mode = XBOND_MODE_8023AD;
	assert_true(bond_link_works(&bond, SLOT));
	bond.dataplane.pins.table->tx_mask = UINT64_C(1) << (SLOT + 1);
	assert_false(bond_link_works(&bond, SLOT));
}

TEST(the_next_bondd_knows_what_was_said, make_bond, bond_end)
{
	const struct xbond_verdict *pinned = &bond.dataplane.pins.monitors[SLOT];
	uint64_t since_ns;

	verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, true);
	verdict_set(&bond, SLOT, XBOND_MONITOR_ARP, false);
	since_ns = pinned->since_ns[XBOND_MONITOR_ARP];
	assert_true(since_ns);
	bond.members[SLOT].verdict = (struct link_verdict){ 0 };
	verdict_adopt(&bond, SLOT);
	assert_false(bond_link_works(&bond, SLOT));
	assert_false(verdict_set(&bond, SLOT, XBOND_MONITOR_ARP, false));
	assert_int_equal(pinned->since_ns[XBOND_MONITOR_ARP], since_ns);
	verdict_begin(&bond, SLOT);
	assert_int_equal(pinned->spoken, 0);
}

TEST(when_it_was_learnt, make_bond, bond_end)
{
	uint64_t before, *learnt_ns = bond.members[SLOT].verdict.learnt_ns;

	verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, false);
	before = learnt_ns[XBOND_MONITOR_CARRIER];
	assert_true(before);
	verdict_set(&bond, SLOT, XBOND_MONITOR_CARRIER, false);
	assert_true(learnt_ns[XBOND_MONITOR_CARRIER] >= before);
}
