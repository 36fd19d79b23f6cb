/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looped ports: our own PDUs come back, through a cable between two of our ports or a plug. They
 * are not recorded, because a system is no partner of itself. The port is reported and kept out of
 * fallback. Called by the Receive machine and, when the link or time ends the loop, by system.c.
 */
#include "lacp/machines.h"

void lacp_loop_enter(struct lacp_system *sys, unsigned int slot, uint16_t loop_port,
		     uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	uint16_t before = port->loop_port;

	port->loop_port = loop_port;
	port->loop_ns = loop_port ? now_ns + LACP_LOOP_TIME : 0;
	if (loop_port && loop_port != before)
		lacp_tell(sys, slot, LACP_EVENT_LOOP, loop_port);
	if (!loop_port && before)
		lacp_tell(sys, slot, LACP_EVENT_LOOP_ENDED, before);
}
