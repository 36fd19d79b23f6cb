/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receive machine: every transition of figure 6-18 and every function of 6.4.9 that it uses. */
#include "tests/unit/test_lacp.h"

/* A port in a state, as next() sees it. */
static struct lacp_port_state in(enum lacp_rx_state rx, bool link)
{
	struct lacp_port_state port = { .config = base_port(0),
					.rx = (uint8_t)rx,
					.current_while_ns = T0 + 10 };

	port.config.link = link;
	return port;
}

static int next(enum lacp_rx_state rx, bool link, bool pdu, uint64_t now_ns)
{
	struct lacp_port_state port = in(rx, link);

	return lacp_rx_next(&port, pdu, now_ns);
}

TEST(fig_6_18_transitions)
{
	static const struct {
		enum lacp_rx_state from;
		bool link, pdu, due;
		int to;
	} table[] = {
		{ LACP_RX_INITIALIZE, true, false, false, LACP_RX_PORT_DISABLED }, /* UCT */
		{ LACP_RX_INITIALIZE, false, false, false, LACP_RX_PORT_DISABLED },
		{ LACP_RX_PORT_DISABLED, false, false, false, LACP_STAY },
		{ LACP_RX_PORT_DISABLED, true, false, false,
		  LACP_RX_EXPIRED }, /* port_enabled, LACP_Enabled */
		{ LACP_RX_LACP_DISABLED, false, false, false, LACP_RX_PORT_DISABLED },
		/* !port_enabled. */
		{ LACP_RX_EXPIRED, false, false, false, LACP_RX_PORT_DISABLED },
		{ LACP_RX_DEFAULTED, false, false, false, LACP_RX_PORT_DISABLED },
		{ LACP_RX_CURRENT, false, true, false, LACP_RX_PORT_DISABLED },
		{ LACP_RX_EXPIRED, true, false, false, LACP_STAY },
		{ LACP_RX_EXPIRED, true, true, false, LACP_RX_CURRENT }, /* PDU */
		/* current_while_timer. */
		{ LACP_RX_EXPIRED, true, false, true, LACP_RX_DEFAULTED },
		{ LACP_RX_DEFAULTED, true, false, true, LACP_STAY },
		{ LACP_RX_DEFAULTED, true, true, false, LACP_RX_CURRENT },
		{ LACP_RX_CURRENT, true, false, false, LACP_STAY },
		{ LACP_RX_CURRENT, true, true, false, LACP_RX_CURRENT },
		{ LACP_RX_CURRENT, true, false, true, LACP_RX_EXPIRED },
		{ LACP_RX_CURRENT, true, true, true, LACP_RX_CURRENT },
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_int_equal(next(table[i].from, table[i].link, table[i].pdu,
				      table[i].due ? T0 + 10 : T0 + 9),
				 table[i].to);
}

TEST(fig_6_18_lacp_disabled)
{
	struct lacp_port_state port = in(LACP_RX_PORT_DISABLED, true);

	port.config.duplex = LACP_DUPLEX_HALF;
	assert_int_equal(lacp_rx_next(&port, false, T0), LACP_RX_LACP_DISABLED);
	port.rx = LACP_RX_LACP_DISABLED;
	assert_int_equal(lacp_rx_next(&port, true, T0), LACP_STAY);
	port.rx = LACP_RX_CURRENT;
	assert_int_equal(lacp_rx_next(&port, true, T0), LACP_RX_PORT_DISABLED);
	port.rx = LACP_RX_LACP_DISABLED;
	port.config.duplex = LACP_DUPLEX_FULL;
	assert_int_equal(lacp_rx_next(&port, false, T0), LACP_RX_PORT_DISABLED);
}

TEST(fig_6_18_port_moved)
{
	struct lacp_port_state port = in(LACP_RX_PORT_DISABLED, false);

	port.moved = 1;
	assert_int_equal(lacp_rx_next(&port, false, T0), LACP_RX_INITIALIZE);
}

TEST(clause_6_4_8_a_partner_port_heard_elsewhere_has_moved)
{
	struct lacp_pdu pdu;

	bring_up(2);
	set_link(0, 0, T0 + 2 * LACP_SECOND);
	assert_true(lacp_has_partner(&lacp.sys.port[0]));
	pdu = partner_pdu(1);
	pdu.actor.port = 101;
	indicate(1, &pdu, T0 + 3 * LACP_SECOND);
	assert_false(lacp_has_partner(&lacp.sys.port[0]));
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_PORT_DISABLED);
	assert_int_equal(lacp.sys.port[0].selected, LACP_UNSELECTED);
}

TEST(begin_records_the_default_partner)
{
	struct lacp_port_config config = base_port(0);

	start(0);
	config.link = 0;
	lacp_port_add(&lacp.sys, 0, &config, T0);
	lacp_run(&lacp.sys, T0);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_PORT_DISABLED);
	assert_false(lacp_has_partner(&lacp.sys.port[0]));
	assert_true(lacp.sys.port[0].actor.state & LACP_DEFAULTED);
	assert_true(lacp.sys.port[0].actor.state & LACP_AGGREGATION);
}

TEST(entering_expired)
{
	start(1);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_EXPIRED);
	assert_int_equal(lacp.sys.port[0].current_while_ns, T0 + LACP_SHORT_TIMEOUT_TIME);
	assert_true(lacp.sys.port[0].partner.state & LACP_TIMEOUT);
	assert_false(lacp.sys.port[0].partner.state & LACP_SYNCHRONIZATION);
	assert_true(lacp.sys.port[0].actor.state & LACP_EXPIRED);
}

TEST(entering_defaulted)
{
	bring_up(1);
	lacp_run(&lacp.sys, T0 + 91 * LACP_SECOND);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_EXPIRED);
	assert_true(lacp_has_partner(&lacp.sys.port[0]));
	assert_true(lacp.distributing[0] && lacp.sys.port[0].fallback);
	lacp_run(&lacp.sys, T0 + 94 * LACP_SECOND);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_DEFAULTED);
	assert_false(lacp_has_partner(&lacp.sys.port[0]));
	assert_int_equal(lacp.sys.port[0].selected, LACP_UNSELECTED);
	assert_true(lacp.sys.port[0].actor.state & LACP_DEFAULTED);
	assert_false(lacp.sys.port[0].actor.state & LACP_EXPIRED);
}

TEST(entering_current_records_the_pdu)
{
	struct lacp_pdu pdu;

	start(1);
	pdu = partner_pdu(0);
	indicate(0, &pdu, T0 + 5);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_CURRENT);
	assert_memory_equal(&lacp.sys.port[0].partner, &pdu.actor, sizeof(pdu.actor));
	assert_int_equal(lacp.sys.port[0].current_while_ns, T0 + 5 + LACP_LONG_TIMEOUT_TIME);
	assert_false(lacp.sys.port[0].actor.state & (LACP_EXPIRED | LACP_DEFAULTED));
}

TEST(clause_6_4_4_the_actors_timeout_is_used)
{
	struct lacp_config config = base_config();
	struct lacp_pdu pdu;

	start(1);
	config.rate_fast = 1;
	lacp_configure(&lacp.sys, &config, T0);
	pdu = partner_pdu(0);
	indicate(0, &pdu, T0 + 5);
	assert_int_equal(lacp.sys.port[0].current_while_ns, T0 + 5 + LACP_SHORT_TIMEOUT_TIME);
}

/* With hold we ask for it because the partner does; until it knows, it may send every 30 s. */
TEST(a_short_timeout_of_hold_is_used_when_the_partner_knows)
{
	struct lacp_pdu pdu;

	start(1);
	pdu = partner_pdu(0);
	pdu.actor.state |= LACP_TIMEOUT;
	indicate(0, &pdu, T0 + 5);
	assert_true(lacp.sys.port[0].actor.state & LACP_TIMEOUT);
	assert_int_equal(lacp.sys.port[0].current_while_ns, T0 + 5 + LACP_LONG_TIMEOUT_TIME);
	pdu.partner = lacp.sys.port[0].actor;
	indicate(0, &pdu, T0 + 6);
	assert_int_equal(lacp.sys.port[0].current_while_ns, T0 + 6 + LACP_SHORT_TIMEOUT_TIME);
}

TEST(port_disabled_keeps_selection_and_partner)
{
	bring_up(1);
	set_link(0, 0, T0 + 2 * LACP_SECOND);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_PORT_DISABLED);
	assert_int_equal(lacp.sys.port[0].selected, LACP_SELECTED);
	assert_true(lacp_has_partner(&lacp.sys.port[0]));
	assert_false(lacp.sys.port[0].partner.state & LACP_SYNCHRONIZATION);
	assert_false(lacp.distributing[0] || lacp.collecting[0]);
}

/* Bends one field of the partner's view of us; returns the synchronization that is recorded. */
static bool in_sync_with(void (*bend)(struct lacp_pdu *pdu))
{
	struct lacp_pdu pdu;

	start(1);
	pdu = partner_pdu(0);
	bend(&pdu);
	indicate(0, &pdu, T0 + 5);
	return lacp.sys.port[0].partner.state & LACP_SYNCHRONIZATION;
}

static void nothing(struct lacp_pdu *pdu)
{
}
static void other_port(struct lacp_pdu *pdu)
{
	pdu->partner.port++;
}
static void other_port_priority(struct lacp_pdu *pdu)
{
	pdu->partner.port_priority++;
}
static void other_system(struct lacp_pdu *pdu)
{
	memset(pdu->partner.system, 0, LACP_MAC_SIZE);
}
static void other_system_priority(struct lacp_pdu *pdu)
{
	pdu->partner.system_priority--;
}
static void other_key(struct lacp_pdu *pdu)
{
	pdu->partner.key++;
}
static void other_aggregation(struct lacp_pdu *pdu)
{
	pdu->partner.state ^= LACP_AGGREGATION;
}
static void individual(struct lacp_pdu *pdu)
{
	pdu->partner.port++;
	pdu->actor.state &= (uint8_t)~LACP_AGGREGATION;
}
static void out_of_sync(struct lacp_pdu *pdu)
{
	pdu->actor.state &= (uint8_t)~LACP_SYNCHRONIZATION;
}
static void passive_but_asked(struct lacp_pdu *pdu)
{
	pdu->actor.state &= (uint8_t)~LACP_ACTIVITY;
}
static void passive_and_believes_us_so(struct lacp_pdu *pdu)
{
	pdu->actor.state &= (uint8_t)~LACP_ACTIVITY;
	pdu->partner.state &= (uint8_t)~LACP_ACTIVITY;
}

static void expired(struct lacp_pdu *pdu)
{
	pdu->actor.state |= LACP_EXPIRED;
}

/* Whatever else it says, it has not heard us since its link came up. */
TEST(an_expired_partner_is_not_in_sync)
{
	assert_false(in_sync_with(expired));
	assert_true(lacp.sys.port[0].partner.state & LACP_EXPIRED);
	assert_true(lacp.sys.port[0].matched);
}

/* Not at the heels of our first PDU, and the third of the second is kept for when it may listen. */
TEST(an_expired_partner_hears_us_three_times_in_a_second)
{
	const uint64_t up_ns = T0 + 100 * LACP_SECOND;
	const uint64_t answer_ns = up_ns + LACP_CROSSING_TIME,
		       again_ns = answer_ns + LACP_RETRY_TIME;
	struct lacp_pdu pdu;
	int sent;

	bring_up(1);
	set_link(0, 0, up_ns - LACP_SECOND);
	lacp_run(&lacp.sys, up_ns - LACP_SECOND);
	sent = lacp.sent;
	set_link(0, 1, up_ns);
	lacp_run(&lacp.sys, up_ns);
	assert_int_equal(lacp.sent, sent + 1);
	pdu = partner_pdu(0);
	expired(&pdu);
	indicate(0, &pdu, up_ns + 5);
	assert_int_equal(lacp.sent, sent + 1);
	lacp_run(&lacp.sys, answer_ns);
	assert_int_equal(lacp.sent, sent + 2);
	indicate(0, &pdu, answer_ns + 5);
	assert_int_equal(lacp.sent, sent + 2);
	lacp_run(&lacp.sys, again_ns);
	assert_int_equal(lacp.sent, sent + 3);
}

TEST(clause_6_4_9_record_pdu_matches)
{
	assert_true(in_sync_with(nothing));
	assert_false(in_sync_with(other_port));
	assert_true(in_sync_with(other_port_priority)); /* it only orders our ports */
	assert_false(in_sync_with(other_system));
	assert_false(in_sync_with(other_system_priority));
	assert_false(in_sync_with(other_key));
	assert_false(in_sync_with(other_aggregation));
	assert_true(in_sync_with(individual));
	assert_false(in_sync_with(out_of_sync));
	assert_true(in_sync_with(passive_but_asked));
	assert_false(in_sync_with(passive_and_believes_us_so));
}

static bool unselects(void (*bend)(struct lacp_pdu *pdu))
{
	struct lacp_pdu pdu;
	int before;

	bring_up(1);
	pdu = partner_pdu(0);
	bend(&pdu);
	before = lacp.events[LACP_EVENT_SELECTED];
	indicate(0, &pdu, T0 + 3 * LACP_SECOND);
	return lacp.events[LACP_EVENT_SELECTED] != before;
}

static void partner_port(struct lacp_pdu *pdu)
{
	pdu->actor.port++;
}
static void partner_port_priority(struct lacp_pdu *pdu)
{
	pdu->actor.port_priority++;
}
static void partner_system_priority(struct lacp_pdu *pdu)
{
	pdu->actor.system_priority--;
}
static void partner_system(struct lacp_pdu *pdu)
{
	pdu->actor.system[5]++;
}
static void partner_key(struct lacp_pdu *pdu)
{
	pdu->actor.key++;
}
static void partner_aggregation(struct lacp_pdu *pdu)
{
	pdu->actor.state ^= LACP_AGGREGATION;
}

TEST(clause_6_4_9_update_selected)
{
	assert_false(unselects(nothing));
	assert_false(unselects(out_of_sync));
	assert_true(unselects(partner_port));
	assert_false(unselects(partner_port_priority)); /* it changes the order only */
	assert_true(unselects(partner_system_priority));
	assert_true(unselects(partner_system));
	assert_true(unselects(partner_key));
	assert_true(unselects(partner_aggregation));
}

static bool needs_answer(void (*bend)(struct lacp_pdu *pdu))
{
	struct lacp_pdu pdu;
	unsigned int before;

	bring_up(1);
	lacp_run(&lacp.sys, T0 + 10 * LACP_SECOND);
	pdu = partner_pdu(0);
	pdu.actor.state |= LACP_COLLECTING | LACP_DISTRIBUTING;
	bend(&pdu);
	before = lacp.sent;
	indicate(0, &pdu, T0 + 12 * LACP_SECOND);
	return lacp.sent != before;
}

static void wrong_sync(struct lacp_pdu *pdu)
{
	pdu->partner.state ^= LACP_SYNCHRONIZATION;
}
static void wrong_timeout(struct lacp_pdu *pdu)
{
	pdu->partner.state ^= LACP_TIMEOUT;
}
static void wrong_activity(struct lacp_pdu *pdu)
{
	pdu->partner.state ^= LACP_ACTIVITY;
}
static void wrong_collecting(struct lacp_pdu *pdu)
{
	pdu->partner.state ^= LACP_COLLECTING;
}
static void wrong_distributing(struct lacp_pdu *pdu)
{
	pdu->partner.state ^= LACP_DISTRIBUTING;
}
static void wrong_expired(struct lacp_pdu *pdu)
{
	pdu->partner.state ^= LACP_EXPIRED;
}

/* And what it does not compare: our last PDU may have been lost. */
TEST(clause_6_4_9_update_ntt)
{
	assert_false(needs_answer(nothing));
	assert_true(needs_answer(wrong_collecting));
	assert_true(needs_answer(wrong_distributing));
	assert_true(needs_answer(wrong_expired));
	assert_true(needs_answer(other_port));
	assert_true(needs_answer(other_port_priority));
	assert_true(needs_answer(other_key));
	assert_true(needs_answer(other_system_priority));
	assert_true(needs_answer(other_aggregation));
	assert_true(needs_answer(wrong_sync));
	assert_true(needs_answer(wrong_timeout));
	assert_true(needs_answer(wrong_activity));
}

TEST(our_own_pdu_is_not_recorded_but_named)
{
	struct lacp_pdu pdu;

	start(2);
	pdu = partner_pdu(0);
	memcpy(pdu.actor.system, our_system, LACP_MAC_SIZE);
	pdu.actor.port = 2;
	indicate(0, &pdu, T0 + 5);
	assert_int_equal(lacp.sys.port[0].rx, LACP_RX_EXPIRED);
	assert_int_equal(lacp.sys.port[0].loop_port, 2);
	assert_int_equal(lacp.sys.port[0].counters.looped_rx, 1);
	assert_int_equal(lacp.events[LACP_EVENT_LOOP], 1);
	set_link(0, 0, T0 + 6);
	assert_int_equal(lacp.sys.port[0].loop_port, 0);
}

TEST(a_stranger_that_talks_to_others_does_not_replace_the_partner)
{
	struct lacp_pdu pdu;

	bring_up(1);
	pdu = partner_pdu(0);
	pdu.actor.system[5] = 0x99;
	pdu.partner.system[5] = 0x98;
	indicate(0, &pdu, T0 + 3 * LACP_SECOND);
	assert_int_equal(lacp.sys.port[0].counters.foreign_rx, 1);
	assert_int_equal(lacp.sys.port[0].partner.system[5], 0x42);
	assert_true(lacp.distributing[0]);
	memcpy(pdu.partner.system, our_system, LACP_MAC_SIZE);
	indicate(0, &pdu, T0 + 4 * LACP_SECOND);
	assert_int_equal(lacp.sys.port[0].partner.system[5], 0x99);
}

TEST(illegal_frames_count_and_do_nothing)
{
	uint8_t frame[LACP_PDU_SIZE] = { 1, 0x80, 0xc2, 0, 0, 2, 2, 2, 2, 2, 2, 2, 0x88, 9, 1, 1 };
	struct lacp_port_state before;

	bring_up(1);
	before = lacp.sys.port[0];
	assert_int_equal(lacp_receive(&lacp.sys, 0, frame, sizeof(frame), T0), -EINVAL);
	before.counters.illegal_rx++;
	assert_memory_equal(&before, &lacp.sys.port[0], sizeof(before));
	assert_int_equal(lacp_receive(&lacp.sys, 1, frame, sizeof(frame), T0), -ENOENT);
	assert_int_equal(lacp_receive(&lacp.sys, 64, frame, sizeof(frame), T0), -ENOENT);
	set_link(0, 0, T0 + 2 * LACP_SECOND);
	assert_int_equal(lacp_receive(&lacp.sys, 0, frame, sizeof(frame), T0), -ENETDOWN);
}
