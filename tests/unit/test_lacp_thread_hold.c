/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the LACP thread leaves for the programs (daemon/lacp_thread/lacp_thread_hold.c): whole, in
 * time, and nothing twice.
 */
#include "tests/unit/test_lacp.h"

#include "daemon/lacp_thread/lacp_thread_hold.h"

static struct xbond_hold hold;
static struct lacp_thread_sent sent;

static const struct xbond_hold_words *words(void)
{
	return &hold.words[hold.in_force];
}

static void follow(void)
{
	lacp_thread_hold_settle(&hold, &lacp.sys, 0, &sent);
}

static int set_up(void **state)
{
	memset(&hold, 0, sizeof(hold));
	memset(&sent, 0, sizeof(sent));
	lacp_thread_hold_begin(&hold);
	bring_up(1);
	lacp_thread_hold_sent(&sent, lacp.frame, T0 + LACP_SECOND);
	follow();
	return 0;
}

TEST(a_port_that_works_is_held, set_up)
{
	uint8_t partner[LACP_INFO_SIZE];

	lacp_info_encode(partner, &lacp.sys.port[0].partner);
	assert_true(hold.enabled);
	assert_true(words()->holding);
	assert_true(words()->current);
	assert_int_equal(words()->told, LACP_COLLECTING | LACP_DISTRIBUTING);
	assert_int_equal(words()->silence_ns, LACP_LONG_TIMEOUT_TIME);
	assert_int_equal(words()->heard_ns, T0 + LACP_SECOND);
	assert_int_equal(words()->sent_ns, T0 + LACP_SECOND);
	assert_false(words()->independent);
	assert_memory_equal(words()->partner, partner, sizeof(partner));
	assert_memory_equal(words()->pdu, lacp.frame, sizeof(lacp.frame));
}

TEST(a_change_goes_whole_into_the_idle_copy, set_up)
{
	uint32_t before = hold.in_force;
	struct xbond_hold_words old = *words();
	struct lacp_pdu pdu = partner_pdu(0);

	pdu.actor.key = 8;
	pdu.actor.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	indicate(0, &pdu, T0 + 2 * LACP_SECOND);
	follow();
	assert_int_equal(hold.in_force, !before);
	assert_memory_equal(&hold.words[before], &old, sizeof(old));
	assert_int_equal(words()->told, 0);
	assert_int_equal(words()->partner[9], 8);
}

TEST(without_a_change_nothing_is_written, set_up)
{
	struct xbond_hold before = hold;

	lacp_run(&lacp.sys, T0 + LACP_SECOND);
	follow();
	assert_memory_equal(&hold, &before, sizeof(before));
}

/* Neither is what the machines have decided by, so the programs must not have it either. */
TEST(what_is_read_and_sent_waits_for_the_machines, set_up)
{
	struct xbond_hold before = hold;
	struct lacp_pdu pdu = partner_pdu(0);
	uint8_t other[LACP_PDU_SIZE] = { 1 };

	pdu.actor.key = 8;
	receive_only(0, &pdu, T0 + 2 * LACP_SECOND);
	lacp_thread_hold_sent(&sent, other, T0 + 2 * LACP_SECOND);
	assert_memory_equal(&hold, &before, sizeof(before));
	lacp_run(&lacp.sys, T0 + 2 * LACP_SECOND);
	assert_memory_equal(&hold, &before, sizeof(before));
	follow();
	assert_memory_equal(words()->pdu, other, sizeof(other));
	assert_int_equal(words()->sent_ns, T0 + 2 * LACP_SECOND);
}

TEST(options_are_followed, set_up)
{
	struct lacp_config config = lacp.sys.state.config;

	config.coupled = config.hold = 0;
	memcpy(config.believed, their_system, sizeof(config.believed));
	assert_int_equal(lacp_configure(&lacp.sys, &config, T0 + 2 * LACP_SECOND), 0);
	lacp_run(&lacp.sys, T0 + 2 * LACP_SECOND);
	follow();
	assert_true(words()->independent);
	assert_false(words()->holding);
	assert_true(words()->current);
	assert_memory_equal(words()->believed, their_system, sizeof(their_system));
}

/* bondd may die before it can say that it asks for the short timeout. */
TEST(the_time_of_silence_is_the_one_last_said, set_up)
{
	struct lacp_config config = lacp.sys.state.config;

	config.rate_fast = 1;
	assert_int_equal(lacp_configure(&lacp.sys, &config, T0 + 2 * LACP_SECOND), 0);
	lacp_run(&lacp.sys, T0 + 2 * LACP_SECOND);
	follow();
	assert_int_equal(words()->silence_ns, LACP_LONG_TIMEOUT_TIME);
	lacp_thread_hold_sent(&sent, lacp.frame, T0 + 2 * LACP_SECOND);
	follow();
	assert_int_equal(words()->silence_ns, LACP_SHORT_TIMEOUT_TIME);
}

TEST(the_next_bondd_knows_what_was_sent, set_up)
{
	struct xbond_hold before = hold;

	memset(&sent, 0xff, sizeof(sent));
	lacp_thread_hold_adopt(&hold, &sent);
	follow();
	assert_memory_equal(&hold, &before, sizeof(before));
}

TEST(what_is_cleared_is_gone, set_up)
{
	static const struct xbond_hold nothing;

	lacp_thread_hold_clear(&hold, &sent);
	assert_memory_equal(&hold, &nothing, sizeof(hold));
	lacp_thread_hold_begin(&hold);
	assert_int_equal(words()->silence_ns, LACP_LONG_TIMEOUT_TIME);
	follow();
	assert_false(words()->holding);
	assert_int_equal(words()->sent_ns, 0);
}

static void end_hold(uint32_t ended, uint32_t withheld)
{
	hold.heard_ns = hold.answered_ns = T0 + 50 * LACP_SECOND;
	hold.ended = ended;
	hold.withheld = withheld;
	hold.hurried = XBOND_HOLD_KNOWS;
	lacp_thread_hold_end(&hold, &lacp.sys, 0);
	assert_int_equal(hold.ended | hold.withheld, 0);
	assert_int_equal(hold.hurried, XBOND_HOLD_KNOWS);
	lacp_run(&lacp.sys, T0 + 50 * LACP_SECOND);
}

TEST(a_port_that_was_held_goes_on, set_up)
{
	end_hold(XBOND_HOLD_GOES_ON, 0);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_CURRENT);
	assert_int_equal(lacp.sys.port[0].heard_ns, T0 + 50 * LACP_SECOND);
	assert_int_equal(lacp.sys.port[0].current_while_ns,
			 T0 + 50 * LACP_SECOND + words()->silence_ns);
}

/* The programs, and the next bondd, must not judge the partner by what it said before the hold. */
TEST(a_bondd_that_dies_at_once_forgets_nothing, set_up)
{
	end_hold(XBOND_HOLD_GOES_ON, 0);
	assert_int_equal(words()->heard_ns, T0 + LACP_SECOND);
	assert_int_equal(hold.heard_ns, T0 + 50 * LACP_SECOND);
	lacp.sys.port[0].heard_ns = T0 + LACP_SECOND; /* it has saved nothing */
	lacp_thread_hold_end(&hold, &lacp.sys, 0);
	assert_int_equal(lacp.sys.port[0].heard_ns, T0 + 50 * LACP_SECOND);
}

TEST(a_port_that_was_given_up_expires, set_up)
{
	end_hold(XBOND_HOLD_OUT_OF_STEP, LACP_COLLECTING | LACP_DISTRIBUTING);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_EXPIRED);
}

/* The core would let it distribute by what it knew, to a partner that does not collect. */
TEST(so_does_one_that_only_collected, set_up)
{
	end_hold(XBOND_HOLD_GOES_ON, LACP_DISTRIBUTING);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_EXPIRED);
}

static void hear_of_a_fast_partner(void)
{
	hold.heard_ns = hold.answered_ns = T0 + 50 * LACP_SECOND;
	hold.hurried = XBOND_HOLD_ASKS | XBOND_HOLD_KNOWS;
	lacp_thread_hold_end(&hold, &lacp.sys, 0);
}

TEST(what_hold_has_asked_for_is_asked_for, set_up)
{
	assert_false(lacp_rate_fast(&lacp.sys));
	lacp.sys.port[0].partner.state |= LACP_TIMEOUT; /* it was fast, and we had decided */
	hear_of_a_fast_partner();
	assert_false(lacp_rate_fast(&lacp.sys));
	lacp.sys.port[0].partner.state &= (uint8_t)~LACP_TIMEOUT;
	lacp.sys.port[0].heard_ns = T0;
	hear_of_a_fast_partner();
	assert_true(lacp_rate_fast(&lacp.sys));
}
