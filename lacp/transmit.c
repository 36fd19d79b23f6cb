/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transmit machine (6.4.16): sends an LACPDU when one is needed (ntt), at most three in any
 * Fast_Periodic_Time. Called by system.c when all other machines are at rest.
 */
#include "lacp/machines.h"

uint64_t lacp_transmit_allowed_ns(const struct lacp_port_state *port)
{
	return port->sent_ns[0] ? port->sent_ns[0] + LACP_FAST_PERIODIC_TIME : 0;
}

enum lacp_transmit lacp_transmit_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	if (!port->ntt)
		return LACP_TRANSMIT_NOTHING;
	if (port->periodic == LACP_PERIODIC_NONE && !lacp_says_goodbye(port))
		return LACP_TRANSMIT_CLEAR;
	return now_ns >= lacp_transmit_allowed_ns(port) ? LACP_TRANSMIT_SEND : LACP_TRANSMIT_LATER;
}

static void transmit_remember(struct lacp_port_state *port, uint64_t now_ns)
{
	for (unsigned int i = 0; i + 1 < LACP_TX_LIMIT; i++)
		port->sent_ns[i] = port->sent_ns[i + 1];
	port->sent_ns[LACP_TX_LIMIT - 1] = now_ns;
}

static void transmit_send(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	uint8_t frame[LACP_PDU_SIZE];

	lacp_pdu_encode(frame, port->config.mac, &port->actor, &port->partner);
	transmit_remember(port, now_ns);
	port->counters.lacpdu_tx++;
	if (port->repeats > 1)
		port->repeats--;
	port->ntt = 0;
	if (port->farewell)
		port->farewell--;
	sys->outputs->transmit(sys->context, slot, frame, sizeof(frame));
}

void lacp_transmit_enter(struct lacp_system *sys, unsigned int slot, enum lacp_transmit action,
			 uint64_t now_ns)
{
	switch (action) {
	case LACP_TRANSMIT_SEND: transmit_send(sys, slot, now_ns); break;
	case LACP_TRANSMIT_CLEAR: sys->port[slot].ntt = 0; break;
	case LACP_TRANSMIT_NOTHING:
	case LACP_TRANSMIT_LATER: break;
	}
}
