/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LACP hold as the programs in the kernel do it while the daemon is away: a PDU of the unchanged partner is answered
 * with the port's last PDU, at most once in 0.9 s and never to our own system; silence and change end it.
 */
#include <string.h>

#include "daemon/lacp/pdu.h"
#include "tests/sim/world.h"

#define ANSWER_GAP (900 * MS)

void hold_begin(struct system *system)
{
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		const struct lacp_port_state *state = &system->saved.port[slot];
		struct port *port = &system->port[slot];

		port->hold = (struct hold){ 0 };
		if (!port->exists || state->rx != LACP_RX_CURRENT || !system->saved.state.config.hold ||
		    !port->last[14])
			continue;
		port->hold.holding = true;
		port->hold.heard_ns = state->heard_ns;
		port->hold.partner = state->partner;
	}
}

static void release(struct port *port)
{
	port->hold.holding = false;
	port->collecting = port->distributing = false;
}

static void answer(struct world *world, struct end end, const struct lacp_pdu *pdu)
{
	struct system *system = &world->system[end.system];
	struct port *port = &system->port[end.slot];
	uint8_t octets[LACP_FRAME_SIZE];
	struct lacp_decoded ours;

	if (world->now_ns - system->saved.port[end.slot].sent_ns[0] < SECOND)
		return; /* the daemon's own PDUs count */
	if (port->hold.answered_ns && world->now_ns - port->hold.answered_ns < ANSWER_GAP)
		return;
	lacp_pdu_decode(port->last, sizeof(port->last), &ours);
	lacp_pdu_encode(octets, port->config.mac, &ours.pdu.actor, &pdu->actor);
	port->hold.answered_ns = world->now_ns;
	world_send(world, end, octets);
}

void hold_receive(struct world *world, struct end end, const uint8_t *octets)
{
	struct system *system = &world->system[end.system];
	struct port *port = &system->port[end.slot];
	struct lacp_decoded decoded;

	lacp_pdu_decode(octets, LACP_FRAME_SIZE, &decoded);
	if (decoded.kind != LACP_PDU_LACP || !port->hold.holding)
		return;
	if (!memcmp(decoded.pdu.actor.system, system->saved.state.config.system, LACP_MAC_SIZE))
		return;
	if (memcmp(&decoded.pdu.actor, &port->hold.partner, sizeof(decoded.pdu.actor)) != 0) {
		release(port);
		return;
	}
	port->hold.heard_ns = world->now_ns;
	answer(world, end, &decoded.pdu);
}

static uint64_t silence_ns(const struct system *system, unsigned int slot)
{
	bool fast = system->saved.port[slot].actor.state & LACP_TIMEOUT;

	return system->port[slot].hold.heard_ns + (fast ? 3 : 90) * SECOND;
}

uint64_t hold_deadline(const struct system *system)
{
	uint64_t deadline_ns = LACP_NEVER;

	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (system->port[slot].hold.holding && silence_ns(system, slot) < deadline_ns)
			deadline_ns = silence_ns(system, slot);
	return deadline_ns;
}

void hold_expire(struct world *world, struct system *system)
{
	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (system->port[slot].hold.holding && world->now_ns >= silence_ns(system, slot))
			release(&system->port[slot]);
}

void hold_end(struct system *system)
{
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		const struct hold *hold = &system->port[slot].hold;

		if (system->saved.state.config.hold)
			lacp_hold_ended(&system->lacp, slot, hold->holding ? hold->heard_ns : 0,
					hold->answered_ns);
	}
}
