/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of modes, and how each of them chooses the slave for a packet. */
#include "common/mode.h"

#include <string.h>

#include "bpf/slots.h"
#include "options/options.h"
#include "tests/unit/unit.h"

TEST(every_row_is_found)
{
	const struct mode *mode;
	unsigned int count = 0;

	for (; (mode = mode_at(count)); count++) {
		assert_ptr_equal(mode_find(mode->number), mode);
		assert_ptr_equal(mode_by_name(mode->name), mode);
		assert_string_equal(mode_name(mode->number), mode->name);
		assert_string_equal(mode_name_of_words(mode_words(mode->number)), mode->name);
	}
	assert_true(count >= 7);
	assert_string_equal(mode_words(99), "unknown");
	assert_string_equal(mode_name_of_words("adaptive load balancing (x)"), "balance-alb");
	assert_null(mode_name_of_words("load balancing"));
}

TEST(what_is_no_mode_is_none)
{
	assert_null(mode_find(99));
	assert_null(mode_by_name("balance"));
	assert_string_equal(mode_name(99), "unknown");
	assert_false(mode_has(99, UINT32_MAX));
	assert_false(mode_has(UINT32_MAX, UINT32_MAX));
}

/* An option that no mode has could never be set. */
TEST(every_trait_of_an_option_is_some_modes)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		uint32_t traits = option->needs | option->effect;
		const struct mode *mode;
		bool found = !traits;

		for (unsigned int i = 0; (mode = mode_at(i)); i++)
			found |= !!(mode->traits & traits);
		assert_true(found);
	}
}

static enum xbond_selection selection(uint32_t mode, uint32_t lacp_tx)
{
	const struct xbond_bond bond = { .mode = mode, .lacp_tx = lacp_tx };

	return mode_selection(&bond);
}

TEST(how_each_mode_selects)
{
	assert_int_equal(selection(XBOND_MODE_BALANCE_RR, 0), XBOND_SELECT_TURNS);
	assert_int_equal(selection(XBOND_MODE_ACTIVE_BACKUP, 0), XBOND_SELECT_ACTIVE);
	assert_int_equal(selection(XBOND_MODE_BALANCE_XOR, 0), XBOND_SELECT_HASH);
	assert_int_equal(selection(XBOND_MODE_BROADCAST, 0), XBOND_SELECT_ALL);
	assert_int_equal(selection(XBOND_MODE_8023AD, XBOND_LACP_TX_HASH), XBOND_SELECT_HASH);
	assert_int_equal(selection(XBOND_MODE_8023AD, XBOND_LACP_TX_BALANCE_RR),
			 XBOND_SELECT_TURNS);
	assert_int_equal(selection(XBOND_MODE_BALANCE_TLB, 0), XBOND_SELECT_HASH);
	assert_int_equal(selection(XBOND_MODE_BALANCE_ALB, 0), XBOND_SELECT_HASH);
	/* lacp_tx is kept when the mode changes. */
	assert_int_equal(selection(XBOND_MODE_BALANCE_XOR, XBOND_LACP_TX_BALANCE_RR),
			 XBOND_SELECT_HASH);
}

/* A slot that is none has no bit, rather than another slot's. */
TEST(no_slot_has_no_bit)
{
	assert_int_equal(slots_bit(0), 1);
	assert_int_equal(slots_bit(63), UINT64_C(1) << 63);
	assert_int_equal(slots_bit(64), 0);
	assert_int_equal(slots_bit(XBOND_NO_SLOT), 0);
	assert_false(slots_have(UINT64_MAX, XBOND_NO_SLOT));
	assert_true(slots_have(UINT64_MAX, 63));
}
