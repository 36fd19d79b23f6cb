/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the actor says of itself, and how it says that it leaves. */
#include <string.h>

#include "lacp/machines.h"

/*
 * Keys (6.3.5) in the form of kernel bonding: bit 0 duplex, bits 1-5 a code of the speed, bits 6-15
 * the user's ad_user_port_key; and which ports may speak LACP at all. Called by actor.c and the
 * Receive machine.
 */

#define OTHER_SPEED 31

/* The index is the code. 0 stands for an unknown speed. */
static const uint32_t speeds_mbps[] = {
	0,     1,     10,    100,   1000,   2500,   5000,   10000,  14000, 20000,
	25000, 40000, 50000, 56000, 100000, 200000, 400000, 800000, 80000,
};

static unsigned int key_speed_code(uint32_t speed_mbps)
{
	for (unsigned int code = 0; code < sizeof(speeds_mbps) / sizeof(*speeds_mbps); code++)
		if (speeds_mbps[code] == speed_mbps)
			return code;
	return OTHER_SPEED;
}

/*
 * Half duplex is excluded (6.1.1). A virtual NIC that does not know its speed does not know its
 * duplex either, whatever it says.
 */
bool lacp_enabled(const struct lacp_port_config *config)
{
	return config->duplex != LACP_DUPLEX_HALF || !config->speed_mbps;
}

uint16_t lacp_key(const struct lacp_port_config *config, uint16_t user_key)
{
	unsigned int duplex = lacp_enabled(config);

	return (uint16_t)(user_key << 6 | key_speed_code(config->speed_mbps) << 1 | duplex);
}

/*
 * What the actor says of itself: the fields of Actor_Oper that come from options and device
 * (6.4.7), and the timeout that it asks for. Called by the Receive machine, and when options or the
 * device change. The bits that belong to a machine (synchronization to expired) are left alone.
 */

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

/*
 * A port leaves its aggregator: each machine that has a part in it goes back to its first state,
 * and the partner is told. Called by port.c and actor.c.
 */

void lacp_leave(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	lacp_unselect(sys, slot);
	if (port->mux != LACP_MUX_DETACHED)
		lacp_mux_enter(sys, slot, LACP_MUX_DETACHED, now_ns);
	if (port->fallback)
		lacp_fallback_enter(sys, slot, false);
	if (port->told)
		sys->outputs->port(sys->context, slot, false, false);
	port->told = 0;
	if (port->marker == LACP_MARKER_WAITING)
		lacp_marker_enter(sys, slot, LACP_MARKER_IDLE, false, now_ns);
	if (!lacp_has_partner(port) || !port->config.link)
		return;
	port->farewell = 1 + LACP_REPEATS;
	lacp_transmit_enter(sys, slot, lacp_transmit_next(port, now_ns), now_ns);
}
