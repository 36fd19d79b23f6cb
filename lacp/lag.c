/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ports of a link aggregation group are to each other: which ones belong together, which
 * system decides, which port comes first. Reads two ports and nothing else. Called by rank.c,
 * selection.c, aggregator.c, mux.c, fallback.c and why.c.
 */
#include <string.h>

#include "lacp/machines.h"

/* Is the port operable, and is its partner heard? */
bool lacp_is_live(const struct lacp_port_state *port)
{
	return port->config.link && port->rx == LACP_RX_CURRENT;
}

bool lacp_is_known(const struct lacp_port_state *port)
{
	return lacp_is_live(port) && port->matched && !(port->partner.state & LACP_EXPIRED);
}

bool lacp_actor_decides(const struct lacp_port_state *port)
{
	const struct lacp_info *actor = &port->actor, *partner = &port->partner;

	if (actor->system_priority != partner->system_priority)
		return actor->system_priority < partner->system_priority;
	return memcmp(actor->system, partner->system, LACP_MAC_SIZE) < 0;
}

/*
 * Live ports come before dead ones, and ports in sync before refused ones (which take turns). Then
 * the port priorities of the better system decide.
 */
bool lacp_comes_before(const struct lacp_port_state *a, const struct lacp_port_state *b)
{
	bool decides = lacp_actor_decides(a);
	const struct lacp_info *x = decides ? &a->actor : &a->partner,
			       *y = decides ? &b->actor : &b->partner;

	if (lacp_is_live(a) != lacp_is_live(b))
		return lacp_is_live(a);
	if (a->behind_ns != b->behind_ns)
		return a->behind_ns < b->behind_ns;
	if (x->port_priority != y->port_priority)
		return x->port_priority < y->port_priority;
	if (x->port != y->port)
		return x->port < y->port;
	return a->actor.port < b->actor.port;
}

/* 6.3.6: the same LAG ID, and both ends of both links can be aggregated. */
bool lacp_same_lag(const struct lacp_port_state *a, const struct lacp_port_state *b)
{
	return a->actor.key == b->actor.key && a->partner.key == b->partner.key &&
	       a->partner.system_priority == b->partner.system_priority &&
	       !memcmp(a->partner.system, b->partner.system, LACP_MAC_SIZE) &&
	       (a->actor.state & b->actor.state & a->partner.state & b->partner.state &
		LACP_AGGREGATION);
}
