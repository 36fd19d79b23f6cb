/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A port leaves its aggregator: each machine that has a part in it goes back to its first state,
 * and the partner is told. Called by port.c and actor.c.
 */
#include "lacp/machines.h"

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
