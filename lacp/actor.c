/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the actor says of itself: the fields of Actor_Oper that come from options and device
 * (6.4.7), and the timeout that it asks for. Called by the Receive machine, and when options or the
 * device change. The bits that belong to a machine (synchronization to expired) are left alone.
 */
#include <string.h>

#include "lacp/machines.h"

#define OWN_BITS (LACP_ACTIVITY | LACP_TIMEOUT | LACP_AGGREGATION)

static struct lacp_info actor_wanted(const struct lacp_system *sys,
				     const struct lacp_port_state *port, bool short_timeout)
{
	const struct lacp_config *config = &sys->state.config;
	struct lacp_info info = {
		.system_priority = config->system_priority,
		.key = lacp_key(&port->config, config->user_port_key),
		.port_priority = port->config.port_priority,
		.port = port->config.port,
		.state = port->actor.state & (uint8_t)~OWN_BITS,
	};

	memcpy(info.system, config->system, LACP_MAC_SIZE);
	if (config->active)
		info.state |= LACP_ACTIVITY;
	if (short_timeout)
		info.state |= LACP_TIMEOUT;
	if (lacp_enabled(&port->config))
		info.state |= LACP_AGGREGATION;
	return info;
}

static bool actor_same_lag_id(const struct lacp_info *a, const struct lacp_info *b)
{
	return !memcmp(a->system, b->system, LACP_MAC_SIZE) &&
	       a->system_priority == b->system_priority && a->key == b->key &&
	       !((a->state ^ b->state) & LACP_AGGREGATION);
}

/*
 * Partners of a system that asked for the short timeout send slowly only after they have heard of
 * the long one.
 */
static void actor_extend_current_while(struct lacp_port_state *port)
{
	if (port->rx == LACP_RX_CURRENT)
		port->current_while_ns = port->heard_ns + LACP_LONG_TIMEOUT_TIME;
}

/* Neither end would speak any more, so the partner would learn nothing. */
static bool actor_falls_silent(const struct lacp_port_state *port, const struct lacp_info *info)
{
	return port->actor.state & ~info->state & ~port->partner.state & LACP_ACTIVITY;
}

/*
 * The partner hears of it under the old identity. Under the new one it must attach its port anew.
 */
static void actor_leave_lag(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	if (port->mux == LACP_MUX_DETACHED)
		lacp_unselect(sys, slot);
	else
		lacp_leave(sys, slot, now_ns);
	port->matched = 0;
	port->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;
}

static void actor_apply(struct lacp_system *sys, unsigned int slot, bool short_timeout,
			uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	struct lacp_info info = actor_wanted(sys, port, short_timeout);
	bool longer = port->actor.state & ~info.state & LACP_TIMEOUT;

	if (!memcmp(&port->actor, &info, sizeof(info)))
		return;
	if (!actor_same_lag_id(&port->actor, &info) || actor_falls_silent(port, &info)) {
		actor_leave_lag(sys, slot, now_ns);
		info = actor_wanted(sys, port, short_timeout);
	}
	port->actor = info;
	port->ntt = 1;
	if (longer)
		actor_extend_current_while(port);
}

void lacp_actor_refresh(struct lacp_system *sys, unsigned int slot, bool literal, uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	bool keep = !literal && port->actor.state & LACP_TIMEOUT;

	actor_apply(sys, slot, sys->state.config.rate_fast || keep, now_ns);
}

/*
 * With hold, we ask for the short timeout whenever the partner does. Two systems that do so would
 * never return to the long one. Therefore a partner that still believes that we ask for the short
 * one proves nothing, and the timeout is kept.
 */
void lacp_actor_follow(struct lacp_system *sys, unsigned int slot, const struct lacp_pdu *pdu,
		       uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	bool keep = pdu->partner.state & port->actor.state & LACP_TIMEOUT;
	bool follow =
		pdu->actor.state & LACP_TIMEOUT && (keep || !(pdu->partner.state & LACP_TIMEOUT));

	actor_apply(sys, slot, sys->state.config.rate_fast || (sys->state.config.hold && follow),
		    now_ns);
}
