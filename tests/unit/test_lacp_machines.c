/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Periodic Transmission (6.4.13), Mux (6.4.15), Transmit (6.4.16), Churn Detection (6.4.17), Marker
 * (6.5).
 */
#include "tests/unit/test_lacp.h"

#define S LACP_SYNCHRONIZATION
#define C LACP_COLLECTING

static int periodic(enum lacp_periodic_state from, uint8_t actor, uint8_t partner, uint64_t now_ns)
{
	struct lacp_port_state port = { .config = base_port(0),
					.periodic = (uint8_t)from,
					.periodic_ns = T0 + 10,
					.actor.state = actor,
					.partner.state = partner };

	return lacp_periodic_next(&port, now_ns);
}

TEST(fig_6_19_periodic_transmission)
{
	const uint8_t active = LACP_ACTIVITY, fast = LACP_TIMEOUT;

	/* UCT. */
	assert_int_equal(periodic(LACP_PERIODIC_NONE, active, fast, T0), LACP_PERIODIC_FAST);
	assert_int_equal(periodic(LACP_PERIODIC_NONE, 0, active, T0), LACP_PERIODIC_FAST);
	assert_int_equal(periodic(LACP_PERIODIC_FAST, active, fast, T0 + 9), LACP_STAY);
	assert_int_equal(periodic(LACP_PERIODIC_FAST, active, fast, T0 + 10), LACP_PERIODIC_TX);
	/* It may still count by the short timeout. */
	assert_int_equal(periodic(LACP_PERIODIC_FAST, active, 0, T0 + 9), LACP_STAY);
	assert_int_equal(periodic(LACP_PERIODIC_FAST, active, 0, T0 + 10), LACP_PERIODIC_TX);
	assert_int_equal(periodic(LACP_PERIODIC_SLOW, active, 0, T0 + 9), LACP_STAY);
	assert_int_equal(periodic(LACP_PERIODIC_SLOW, active, 0, T0 + 10), LACP_PERIODIC_TX);
	assert_int_equal(periodic(LACP_PERIODIC_SLOW, active, fast, T0 + 9), LACP_PERIODIC_TX);
	assert_int_equal(periodic(LACP_PERIODIC_TX, active, fast, T0), LACP_PERIODIC_FAST);
	assert_int_equal(periodic(LACP_PERIODIC_TX, active, 0, T0), LACP_PERIODIC_SLOW);
}

TEST(fig_6_19_no_periodic_from_anywhere)
{
	for (int from = LACP_PERIODIC_NONE; from <= LACP_PERIODIC_TX; from++) {
		struct lacp_port_state port = { .config = base_port(0),
						.periodic = (uint8_t)from,
						.actor.state = LACP_ACTIVITY };
		int expected = from == LACP_PERIODIC_NONE ? LACP_STAY : LACP_PERIODIC_NONE;

		assert_int_equal(periodic((enum lacp_periodic_state)from, 0, LACP_TIMEOUT, T0),
				 expected);
		port.config.link = 0;
		assert_int_equal(lacp_periodic_next(&port, T0), expected);
		port.config.link = 1;
		port.config.duplex = LACP_DUPLEX_HALF;
		assert_int_equal(lacp_periodic_next(&port, T0), expected);
	}
}

TEST(clause_6_4_13_timers)
{
	struct lacp_port_state port = { .periodic = LACP_PERIODIC_TX };

	lacp_periodic_enter(&port, LACP_PERIODIC_FAST, T0);
	assert_int_equal(port.periodic_ns, T0 + LACP_FAST_PERIODIC_TIME);
	assert_int_equal(port.ntt, 0);
	lacp_periodic_enter(&port, LACP_PERIODIC_SLOW, T0);
	assert_int_equal(port.periodic_ns, T0 + LACP_SLOW_PERIODIC_TIME);
	lacp_periodic_enter(&port, LACP_PERIODIC_TX, T0);
	assert_int_equal(port.ntt, 1);
	lacp_periodic_enter(&port, LACP_PERIODIC_NONE, T0);
	assert_int_equal(port.periodic_ns, 0);
}

/* It did not hear our last PDU: the next is not a whole period away, at no rate. */
TEST(an_expired_partner_is_answered_soon)
{
	struct lacp_port_state port = { .periodic = LACP_PERIODIC_SLOW,
					.periodic_ns = T0 + LACP_SLOW_PERIODIC_TIME,
					.partner.state = LACP_EXPIRED };

	lacp_periodic_hear(&port, false, false, T0);
	assert_int_equal(port.periodic_ns, T0);
	port.sent_ns[LACP_TX_LIMIT - 1] = T0 - 5;
	lacp_periodic_hear(&port, false, false, T0);
	assert_int_equal(port.periodic_ns, T0);
	port.periodic_ns = T0 + LACP_SLOW_PERIODIC_TIME;
	lacp_periodic_hear(&port, false, false, T0);
	assert_int_equal(port.periodic_ns, T0 - 5 + LACP_CROSSING_TIME);
	lacp_periodic_hear(&port, true, false, T0);
	assert_int_equal(port.periodic_ns, T0 - 5 + LACP_CROSSING_TIME);
	lacp_periodic_enter(&port, LACP_PERIODIC_TX, T0);
	lacp_periodic_hear(&port, false, false, T0);
	assert_int_equal(port.periodic_ns, 0);
	lacp_periodic_enter(&port, LACP_PERIODIC_FAST, T0);
	assert_int_equal(port.periodic_ns, T0 + LACP_RETRY_TIME);
	port.partner.state = 0;
	lacp_periodic_hear(&port, true, false, T0);
	assert_int_equal(port.periodic_ns, T0 - 5 + LACP_FAST_PERIODIC_TIME);
}

/* Else it would send to a partner that does not collect yet. */
TEST(a_port_carries_only_once_it_can_say_that_it_is_in_sync)
{
	struct lacp_port_state port = { .mux = LACP_MUX_ATTACHED,
					.ntt = 1,
					.sent_ns = { T0, T0, T0 } };
	const uint64_t allowed_ns = T0 + LACP_FAST_PERIODIC_TIME;

	assert_false(
		lacp_mux_may(&lacp.sys, &port, LACP_MUX_COLLECTING_DISTRIBUTING, allowed_ns - 1));
	assert_false(lacp_mux_may(&lacp.sys, &port, LACP_MUX_COLLECTING, allowed_ns - 1));
	assert_true(lacp_mux_may(&lacp.sys, &port, LACP_MUX_DETACHED, allowed_ns - 1));
	assert_true(lacp_mux_may(&lacp.sys, &port, LACP_MUX_COLLECTING_DISTRIBUTING, allowed_ns));
	port.ntt = 0; /* it was said */
	assert_true(
		lacp_mux_may(&lacp.sys, &port, LACP_MUX_COLLECTING_DISTRIBUTING, allowed_ns - 1));
	port.ntt = 1;
	port.mux = LACP_MUX_COLLECTING;
	assert_true(lacp_mux_may(&lacp.sys, &port, LACP_MUX_DISTRIBUTING, allowed_ns - 1));
}

TEST(the_first_pdu_leaves_at_once)
{
	start(1);
	assert_int_equal(lacp.sent, 1);
	assert_int_equal(lacp.frame[14], 1);
}

static int mux(enum lacp_mux_state from, enum lacp_selected selected, uint8_t partner, bool coupled,
	       bool ready)
{
	struct lacp_port_state port = { .mux = (uint8_t)from,
					.selected = (uint8_t)selected,
					.partner.state = partner };

	return lacp_mux_next(&port, coupled, ready);
}

TEST(fig_6_21_and_22_detached_waiting_attached)
{
	for (int coupled = 0; coupled < 2; coupled++) {
		int carry = coupled ? LACP_MUX_COLLECTING_DISTRIBUTING : LACP_MUX_COLLECTING;

		assert_int_equal(mux(LACP_MUX_DETACHED, LACP_UNSELECTED, S, coupled, true),
				 LACP_STAY);
		assert_int_equal(mux(LACP_MUX_DETACHED, LACP_SELECTED, 0, coupled, false),
				 LACP_MUX_WAITING);
		assert_int_equal(mux(LACP_MUX_DETACHED, LACP_STANDBY, 0, coupled, false),
				 LACP_MUX_WAITING);
		assert_int_equal(mux(LACP_MUX_WAITING, LACP_UNSELECTED, S, coupled, true),
				 LACP_MUX_DETACHED);
		assert_int_equal(mux(LACP_MUX_WAITING, LACP_SELECTED, S, coupled, false),
				 LACP_STAY);
		assert_int_equal(mux(LACP_MUX_WAITING, LACP_STANDBY, S, coupled, true), LACP_STAY);
		assert_int_equal(mux(LACP_MUX_WAITING, LACP_SELECTED, 0, coupled, true),
				 LACP_MUX_ATTACHED);
		assert_int_equal(mux(LACP_MUX_ATTACHED, LACP_UNSELECTED, S, coupled, true),
				 LACP_MUX_DETACHED);
		assert_int_equal(mux(LACP_MUX_ATTACHED, LACP_STANDBY, S, coupled, true),
				 LACP_MUX_DETACHED);
		assert_int_equal(mux(LACP_MUX_ATTACHED, LACP_SELECTED, 0, coupled, true),
				 LACP_STAY);
		assert_int_equal(mux(LACP_MUX_ATTACHED, LACP_SELECTED, S, coupled, true), carry);
	}
}

TEST(fig_6_22_coupled_control)
{
	const enum lacp_mux_state both = LACP_MUX_COLLECTING_DISTRIBUTING;

	assert_int_equal(mux(both, LACP_SELECTED, S, true, true), LACP_STAY);
	assert_int_equal(mux(both, LACP_SELECTED, C, true, true), LACP_MUX_ATTACHED);
	assert_int_equal(mux(both, LACP_STANDBY, S | C, true, true), LACP_MUX_ATTACHED);
	assert_int_equal(mux(both, LACP_UNSELECTED, S | C, true, true), LACP_MUX_ATTACHED);
}

TEST(fig_6_21_independent_control)
{
	assert_int_equal(mux(LACP_MUX_COLLECTING, LACP_SELECTED, S, false, true), LACP_STAY);
	assert_int_equal(mux(LACP_MUX_COLLECTING, LACP_SELECTED, S | C, false, true),
			 LACP_MUX_DISTRIBUTING);
	assert_int_equal(mux(LACP_MUX_COLLECTING, LACP_SELECTED, C, false, true),
			 LACP_MUX_ATTACHED);
	assert_int_equal(mux(LACP_MUX_COLLECTING, LACP_STANDBY, S | C, false, true),
			 LACP_MUX_ATTACHED);
	assert_int_equal(mux(LACP_MUX_COLLECTING, LACP_UNSELECTED, S | C, false, true),
			 LACP_MUX_ATTACHED);
	assert_int_equal(mux(LACP_MUX_DISTRIBUTING, LACP_SELECTED, S | C, false, true), LACP_STAY);
	assert_int_equal(mux(LACP_MUX_DISTRIBUTING, LACP_SELECTED, S, false, true),
			 LACP_MUX_COLLECTING);
	assert_int_equal(mux(LACP_MUX_DISTRIBUTING, LACP_SELECTED, C, false, true),
			 LACP_MUX_COLLECTING);
	assert_int_equal(mux(LACP_MUX_DISTRIBUTING, LACP_STANDBY, S | C, false, true),
			 LACP_MUX_COLLECTING);
	assert_int_equal(mux(LACP_MUX_DISTRIBUTING, LACP_UNSELECTED, S | C, false, true),
			 LACP_MUX_COLLECTING);
}

TEST(control_changes_without_leaving)
{
	assert_int_equal(mux(LACP_MUX_COLLECTING_DISTRIBUTING, LACP_SELECTED, S | C, false, true),
			 LACP_MUX_DISTRIBUTING);
	assert_int_equal(mux(LACP_MUX_DISTRIBUTING, LACP_SELECTED, S | C, true, true),
			 LACP_MUX_COLLECTING_DISTRIBUTING);
	assert_int_equal(mux(LACP_MUX_COLLECTING, LACP_SELECTED, S, true, true),
			 LACP_MUX_COLLECTING_DISTRIBUTING);
	assert_int_equal(mux(LACP_MUX_COLLECTING, LACP_SELECTED, 0, true, true), LACP_MUX_ATTACHED);
}

TEST(clause_6_4_15_what_states_say)
{
	static const uint8_t bits[] = {
		0, 0, S, S | C, S | C | LACP_DISTRIBUTING, S | C | LACP_DISTRIBUTING
	};

	start(1);
	for (int to = LACP_MUX_DETACHED; to <= LACP_MUX_COLLECTING_DISTRIBUTING; to++) {
		struct lacp_port_state *port = &lacp.sys.port[0];

		port->ntt = 0;
		lacp_mux_enter(&lacp.sys, 0, (enum lacp_mux_state)to, T0);
		assert_int_equal(port->actor.state & (S | C | LACP_DISTRIBUTING), bits[to]);
		assert_int_equal(port->ntt, to != LACP_MUX_WAITING);
		assert_int_equal(port->wait_while_ns,
				 to == LACP_MUX_WAITING ? T0 + LACP_AGGREGATE_WAIT_TIME : 0);
	}
}

TEST(clause_6_4_16_three_in_any_second)
{
	struct lacp_port_state *port = &lacp.sys.port[0];

	start(1);
	lacp.sent = 0;
	memset(port->sent_ns, 0, sizeof(port->sent_ns));
	for (uint64_t at = 1; at <= 4; at++) {
		port->ntt = 1;
		lacp_run(&lacp.sys, T0 + at * 100000000);
	}
	assert_int_equal(lacp.sent, 3);
	assert_int_equal(port->ntt, 1);
	assert_int_equal(lacp_transmit_next(port, T0 + 1099999999), LACP_TRANSMIT_LATER);
	assert_int_equal(lacp_run(&lacp.sys, T0 + 900000000), T0 + LACP_SECOND);
	lacp_run(&lacp.sys, T0 + 1100000000);
	assert_int_equal(lacp.sent, 4);
}

TEST(clause_6_4_16_nothing_without_periodic_transmission)
{
	struct lacp_port_state port = { .ntt = 1, .periodic = LACP_PERIODIC_NONE };

	assert_int_equal(lacp_transmit_next(&port, T0), LACP_TRANSMIT_CLEAR);
	port.periodic = LACP_PERIODIC_SLOW;
	assert_int_equal(lacp_transmit_next(&port, T0), LACP_TRANSMIT_SEND);
	port.ntt = 0;
	assert_int_equal(lacp_transmit_next(&port, T0), LACP_TRANSMIT_NOTHING);
}

static int churn(enum lacp_churn_state from, bool sync, bool link, uint64_t now_ns)
{
	struct lacp_port_state port = { .config = base_port(0),
					.actor_churn = (uint8_t)from,
					.partner_churn = (uint8_t)from,
					.actor_churn_ns = T0 + 10,
					.partner_churn_ns = T0 + 10 };

	port.config.link = link;
	port.actor.state = sync ? S : 0;
	port.partner.state = port.actor.state;
	assert_int_equal(lacp_partner_churn_next(&port, now_ns),
			 lacp_actor_churn_next(&port, now_ns));
	return lacp_actor_churn_next(&port, now_ns);
}

TEST(fig_6_23_and_24_churn)
{
	assert_int_equal(churn(LACP_CHURN_MONITOR, false, true, T0 + 9), LACP_STAY);
	assert_int_equal(churn(LACP_CHURN_MONITOR, false, true, T0 + 10), LACP_CHURN_CHURNED);
	assert_int_equal(churn(LACP_CHURN_MONITOR, true, true, T0 + 9), LACP_CHURN_NONE);
	assert_int_equal(churn(LACP_CHURN_CHURNED, false, true, T0 + 99), LACP_STAY);
	assert_int_equal(churn(LACP_CHURN_CHURNED, true, true, T0), LACP_CHURN_NONE);
	assert_int_equal(churn(LACP_CHURN_NONE, true, true, T0), LACP_STAY);
	assert_int_equal(churn(LACP_CHURN_NONE, false, true, T0), LACP_CHURN_MONITOR);
	for (int from = LACP_CHURN_MONITOR; from <= LACP_CHURN_CHURNED; from++)
		assert_int_equal(churn((enum lacp_churn_state)from, true, false, T0),
				 LACP_CHURN_MONITOR);
}

TEST(clause_6_4_17_after_sixty_seconds)
{
	start(1);
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND);
	lacp_run(&lacp.sys, T0 + LACP_CHURN_DETECTION_TIME - 1);
	assert_int_equal(lacp.sys.port[0].partner_churn, LACP_CHURN_MONITOR);
	lacp_run(&lacp.sys, T0 + LACP_CHURN_DETECTION_TIME);
	assert_int_equal(lacp.sys.port[0].partner_churn, LACP_CHURN_CHURNED);
	assert_int_equal(lacp.sys.port[0].actor_churn, LACP_CHURN_CHURNED);
	assert_int_equal(lacp.sys.port[0].counters.actor_churn, 1);
	bring_up(1);
	assert_int_equal(lacp.sys.port[0].actor_churn, LACP_CHURN_NONE);
	assert_int_equal(lacp.sys.port[0].partner_churn, LACP_CHURN_NONE);
}

static int receive_marker(enum lacp_pdu_kind kind, const struct lacp_marker *marker,
			  uint64_t now_ns)
{
	uint8_t frame[LACP_PDU_SIZE];

	lacp_marker_encode(frame, their_system, marker, kind);
	return lacp_receive(&lacp.sys, 0, frame, sizeof(frame), now_ns);
}

TEST(clause_6_5_4_2_markers_are_answered)
{
	struct lacp_marker marker = { { 9, 8, 7, 6, 5, 4 }, 77, 0x01020304 };
	struct lacp_decoded answer;

	bring_up(1);
	assert_int_equal(receive_marker(LACP_PDU_MARKER, &marker, T0), 0);
	lacp_pdu_decode(lacp.frame, sizeof(lacp.frame), &answer);
	assert_int_equal(answer.kind, LACP_PDU_MARKER_RESPONSE);
	assert_memory_equal(&answer.marker, &marker, sizeof(marker));
	assert_memory_equal(lacp.frame + 6, lacp.sys.port[0].config.mac, LACP_MAC_SIZE);
	lacp.sent = 0;
	for (int i = 0; i < 1000; i++)
		receive_marker(LACP_PDU_MARKER, &marker, T0 + 1);
	assert_int_equal(lacp.sent, LACP_MARKER_RESPONSES - 1);
	receive_marker(LACP_PDU_MARKER, &marker, T0 + LACP_SECOND);
	assert_int_equal(lacp.sent, LACP_MARKER_RESPONSES);
	assert_int_equal(lacp.sys.port[0].counters.marker_rx, 1002);
}

static struct lacp_marker our_marker(void)
{
	struct lacp_decoded decoded;

	lacp_pdu_decode(lacp.frame, sizeof(lacp.frame), &decoded);
	assert_int_equal(decoded.kind, LACP_PDU_MARKER);
	return decoded.marker;
}

TEST(clause_6_5_4_1_a_drain_ends_with_the_response)
{
	struct lacp_marker marker, wrong;

	bring_up(1);
	assert_int_equal(lacp_drain(&lacp.sys, 0, T0 + 2 * LACP_SECOND), 0);
	marker = wrong = our_marker();
	assert_int_equal(marker.port, 1);
	wrong.transaction++;
	receive_marker(LACP_PDU_MARKER_RESPONSE, &wrong, T0);
	wrong = marker;
	wrong.system[0]++;
	receive_marker(LACP_PDU_MARKER_RESPONSE, &wrong, T0);
	assert_int_equal(lacp.drained, 0);
	receive_marker(LACP_PDU_MARKER_RESPONSE, &marker, T0);
	receive_marker(LACP_PDU_MARKER_RESPONSE, &marker, T0);
	assert_int_equal(lacp.drained, 1);
	assert_int_equal(lacp.answered, 1);
}

TEST(a_drain_ends_after_three_seconds)
{
	bring_up(1);
	assert_int_equal(lacp_drain(&lacp.sys, 0, T0 + 2 * LACP_SECOND), 0);
	lacp_run(&lacp.sys, T0 + 5 * LACP_SECOND - 1);
	assert_int_equal(lacp.drained, 0);
	lacp_run(&lacp.sys, T0 + 5 * LACP_SECOND);
	assert_int_equal(lacp.drained, 1);
	assert_int_equal(lacp.answered, 0);
	set_link(0, 0, T0 + 6 * LACP_SECOND);
	assert_int_equal(lacp_drain(&lacp.sys, 0, T0 + 6 * LACP_SECOND), -EAGAIN);
	assert_int_equal(lacp_drain(&lacp.sys, 5, T0 + 6 * LACP_SECOND), -ENOENT);
}
