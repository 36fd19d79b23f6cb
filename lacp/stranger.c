/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strangers: with lacp_partner, all other systems. They are counted and remembered, so that `show`
 * can name them and fallback does not use their ports. Called by the Receive machine and system.c.
 */
#include <string.h>

#include "lacp/machines.h"

bool lacp_is_stranger(const struct lacp_system *sys, const uint8_t system[LACP_MAC_SIZE])
{
	return !lacp_is_believed(sys->state.config.believed, system);
}

/* Reported once, and not again for each of many that take turns. */
void lacp_stranger_hear(struct lacp_system *sys, unsigned int slot,
			const uint8_t system[LACP_MAC_SIZE], uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool is_first = !port->stranger_ns;

	memcpy(port->stranger, system, LACP_MAC_SIZE);
	port->stranger_ns = now_ns + LACP_STRANGER_TIME;
	port->counters.stranger_rx++;
	if (is_first)
		lacp_tell(sys, slot, LACP_EVENT_STRANGER, 0);
}

void lacp_stranger_forget(struct lacp_port_state *port)
{
	port->stranger_ns = 0;
	memset(port->stranger, 0, LACP_MAC_SIZE);
}

void lacp_stranger_follow(struct lacp_port_state *port, uint64_t now_ns)
{
	if (!port->stranger_ns || (port->config.link && !lacp_due(port->stranger_ns, now_ns)))
		return;
	lacp_stranger_forget(port);
}
