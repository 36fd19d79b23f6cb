/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Actor and Partner Churn Detection machines (6.4.17): a port that works but does not come into
 * operation within a minute. The same machine over the synchronization bit of either end. Called by
 * system.c.
 */
#include "lacp/machines.h"

static int churn_next(enum lacp_churn_state state, uint64_t timer_ns, bool link, bool in_sync,
		      uint64_t now_ns)
{
	if (!link)
		return state == LACP_CHURN_MONITOR && !timer_ns ? LACP_STAY : LACP_CHURN_MONITOR;
	switch (state) {
	case LACP_CHURN_MONITOR:
		if (in_sync)
			return LACP_CHURN_NONE;
		if (!timer_ns)
			return LACP_CHURN_MONITOR;
		return lacp_due(timer_ns, now_ns) ? LACP_CHURN_CHURNED : LACP_STAY;
	case LACP_CHURN_NONE: return in_sync ? LACP_STAY : LACP_CHURN_MONITOR;
	case LACP_CHURN_CHURNED: return in_sync ? LACP_CHURN_NONE : LACP_STAY;
	}
	return LACP_STAY;
}

/* While the port is not operable the standard restarts the timer for ever; here it does not run. */
static uint64_t churn_timer(enum lacp_churn_state state, bool link, uint64_t now_ns)
{
	return state == LACP_CHURN_MONITOR && link ? now_ns + LACP_CHURN_DETECTION_TIME : 0;
}

int lacp_actor_churn_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	return churn_next((enum lacp_churn_state)port->actor_churn, port->actor_churn_ns,
			  port->config.link, port->actor.state & LACP_SYNCHRONIZATION, now_ns);
}

int lacp_partner_churn_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	return churn_next((enum lacp_churn_state)port->partner_churn, port->partner_churn_ns,
			  port->config.link, port->partner.state & LACP_SYNCHRONIZATION, now_ns);
}

void lacp_actor_churn_enter(struct lacp_system *sys, unsigned int slot, enum lacp_churn_state state,
			    uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool changed = port->actor_churn != state;

	port->actor_churn = (uint8_t)state;
	port->actor_churn_ns = churn_timer(state, port->config.link, now_ns);
	port->counters.actor_churn += state == LACP_CHURN_CHURNED;
	if (changed)
		lacp_tell(sys, slot, LACP_EVENT_ACTOR_CHURN, state);
}

void lacp_partner_churn_enter(struct lacp_system *sys, unsigned int slot,
			      enum lacp_churn_state state, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool changed = port->partner_churn != state;

	port->partner_churn = (uint8_t)state;
	port->partner_churn_ns = churn_timer(state, port->config.link, now_ns);
	port->counters.partner_churn += state == LACP_CHURN_CHURNED;
	if (changed)
		lacp_tell(sys, slot, LACP_EVENT_PARTNER_CHURN, state);
}
