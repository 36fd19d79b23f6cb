/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marker protocol (6.5). The responder answers every marker, within the limit for slow protocols.
 * The generator asks whether everything that was sent on a port has arrived, so that flows can move
 * away from it in order. Called by system.c.
 */
#include <string.h>

#include "lacp/machines.h"

static void marker_send(struct lacp_system *sys, unsigned int slot,
			const struct lacp_marker *marker, enum lacp_pdu_kind kind)
{
	uint8_t frame[LACP_PDU_SIZE];

	lacp_marker_encode(frame, sys->port[slot].config.mac, marker, kind);
	sys->outputs->transmit(sys->context, slot, frame, sizeof(frame));
}

/* 6.5.4.2: the same information, as a response. */
void lacp_marker_respond(struct lacp_system *sys, unsigned int slot,
			 const struct lacp_marker *marker, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->counters.marker_rx++;
	if (now_ns - port->response_window_ns >= LACP_SECOND) {
		port->response_window_ns = now_ns;
		port->responses = 0;
	}
	if (port->responses >= LACP_MARKER_RESPONSES)
		return;
	port->responses++;
	port->counters.marker_response_tx++;
	marker_send(sys, slot, marker, LACP_PDU_MARKER_RESPONSE);
}

int lacp_marker_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	bool distributes = port->actor.state & LACP_DISTRIBUTING;

	if (port->marker == LACP_MARKER_WAITING &&
	    (!distributes || lacp_due(port->marker_ns, now_ns)))
		return LACP_MARKER_IDLE;
	return LACP_STAY;
}

static void marker_ask(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	struct lacp_marker marker = { .port = port->actor.port,
				      .transaction = ++sys->state.transaction };

	memcpy(marker.system, port->actor.system, LACP_MAC_SIZE);
	port->transaction = marker.transaction;
	port->marker_ns = now_ns + LACP_DRAIN_TIME;
	port->counters.marker_tx++;
	marker_send(sys, slot, &marker, LACP_PDU_MARKER);
}

void lacp_marker_enter(struct lacp_system *sys, unsigned int slot, enum lacp_marker_state state,
		       bool answered, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->marker = (uint8_t)state;
	switch (state) {
	case LACP_MARKER_WAITING: marker_ask(sys, slot, now_ns); break;
	case LACP_MARKER_IDLE:
		port->marker_ns = 0;
		sys->outputs->drained(sys->context, slot, answered);
		break;
	}
}

void lacp_marker_response(struct lacp_system *sys, unsigned int slot,
			  const struct lacp_marker *marker, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->counters.marker_response_rx++;
	if (port->marker == LACP_MARKER_WAITING && marker->transaction == port->transaction &&
	    marker->port == port->actor.port &&
	    !memcmp(marker->system, port->actor.system, LACP_MAC_SIZE))
		lacp_marker_enter(sys, slot, LACP_MARKER_IDLE, true, now_ns);
}
