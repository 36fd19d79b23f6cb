/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Periodic Transmission machine (6.4.13): how often the partner wants to hear from us, and whether
 * one of the two speaks without being asked. Called by system.c.
 */
#include "lacp/machines.h"

static bool periodic_is_forced_off(const struct lacp_port_state *port)
{
	return !port->config.link || !lacp_enabled(&port->config) ||
	       !((port->actor.state | port->partner.state) & LACP_ACTIVITY);
}

bool lacp_says_goodbye(const struct lacp_port_state *port)
{
	return port->farewell && port->periodic == LACP_PERIODIC_NONE &&
	       (port->config.link || port->stopped);
}

int lacp_periodic_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	enum lacp_periodic_state state = port->periodic;
	bool fast = port->partner.state & LACP_TIMEOUT, due = lacp_due(port->periodic_ns, now_ns);

	if (periodic_is_forced_off(port))
		return state == LACP_PERIODIC_NONE ? LACP_STAY : LACP_PERIODIC_NONE;
	switch (state) {
	case LACP_PERIODIC_NONE: return LACP_PERIODIC_FAST;
	case LACP_PERIODIC_FAST:
		if (due)
			return LACP_PERIODIC_TX;
		return fast ? LACP_STAY : LACP_PERIODIC_SLOW;
	case LACP_PERIODIC_SLOW: return due || fast ? LACP_PERIODIC_TX : LACP_STAY;
	case LACP_PERIODIC_TX: return fast ? LACP_PERIODIC_FAST : LACP_PERIODIC_SLOW;
	}
	return LACP_STAY;
}

/* An expired partner did not hear our last PDU. It gets the next one as soon as 6.4.16 allows. */
static uint64_t periodic_period(const struct lacp_port_state *port, uint64_t period_ns)
{
	return port->partner.state & LACP_EXPIRED ? LACP_RETRY_TIME : period_ns;
}

static uint64_t periodic_last_sent_ns(const struct lacp_port_state *port)
{
	return port->sent_ns[LACP_TX_LIMIT - 1];
}

static void periodic_answer(struct lacp_port_state *port, uint64_t now_ns)
{
	uint64_t answer_ns = periodic_last_sent_ns(port) + LACP_CROSSING_TIME;

	if (answer_ns < now_ns)
		answer_ns = now_ns;
	if (port->periodic_ns > answer_ns)
		port->periodic_ns = answer_ns;
}

/*
 * It has heard us, so the usual interval holds again. Leaving out needless PDUs makes room for
 * others (6.4.16).
 */
static void periodic_resume(struct lacp_port_state *port)
{
	uint64_t usual_ns = port->periodic == LACP_PERIODIC_SLOW ? LACP_SLOW_PERIODIC_TIME
								 : LACP_FAST_PERIODIC_TIME;

	if (port->periodic_ns && periodic_last_sent_ns(port))
		port->periodic_ns = periodic_last_sent_ns(port) + usual_ns;
}

void lacp_periodic_follow(struct lacp_port_state *port, bool was_expired, bool stale,
			  uint64_t now_ns)
{
	bool is_expired = port->partner.state & LACP_EXPIRED;

	if (is_expired ? !was_expired : stale)
		periodic_answer(port, now_ns);
	else if (was_expired && !is_expired)
		periodic_resume(port);
}

/* In NONE the machine does not need its timer. */
static void periodic_repeat_goodbye(struct lacp_port_state *port, uint64_t now_ns)
{
	uint64_t next_ns = periodic_last_sent_ns(port) + LACP_FAST_PERIODIC_TIME;

	port->ntt |= now_ns >= next_ns;
	port->periodic_ns = port->ntt ? now_ns + LACP_FAST_PERIODIC_TIME : next_ns;
}

void lacp_periodic_hasten(struct lacp_port_state *port, uint64_t now_ns)
{
	uint64_t next_ns =
		(port->ntt ? now_ns : periodic_last_sent_ns(port)) + LACP_FAST_PERIODIC_TIME;
	bool waits = port->unsettled_ns && now_ns < port->unsettled_ns + LACP_UNSETTLED_TIME;

	if (lacp_says_goodbye(port))
		periodic_repeat_goodbye(port, now_ns);
	else if (port->periodic == LACP_PERIODIC_SLOW && (waits || port->repeats > 1) &&
		 port->periodic_ns > next_ns)
		port->periodic_ns = next_ns;
}

/* The first PDU goes out at once (the standard waits one Fast_Periodic_Time). */
static void periodic_start(struct lacp_port_state *port, enum lacp_periodic_state from,
			   uint64_t deadline_ns)
{
	if (from == LACP_PERIODIC_NONE)
		port->ntt = 1;
	if (!(port->partner.state & LACP_EXPIRED) || !port->periodic_ns ||
	    deadline_ns < port->periodic_ns)
		port->periodic_ns = deadline_ns; /* otherwise an answer is due earlier */
}

void lacp_periodic_enter(struct lacp_port_state *port, enum lacp_periodic_state state,
			 uint64_t now_ns)
{
	enum lacp_periodic_state from = port->periodic;

	port->periodic = (uint8_t)state;
	switch (state) {
	case LACP_PERIODIC_NONE: port->periodic_ns = 0; break;
	case LACP_PERIODIC_FAST:
		periodic_start(port, from, now_ns + periodic_period(port, LACP_FAST_PERIODIC_TIME));
		break;
	case LACP_PERIODIC_SLOW:
		periodic_start(port, from, now_ns + periodic_period(port, LACP_SLOW_PERIODIC_TIME));
		break;
	case LACP_PERIODIC_TX:
		port->periodic_ns = 0;
		port->ntt = 1;
		break;
	}
}
