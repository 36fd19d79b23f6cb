/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must hold at every moment of every history. Frames are not sent one by one: a frame that leaves through a
 * distributing port arrives if the far port collects, so the states of both ends tell where all frames go.
 */
#include <string.h>

#include "tests/sim/world.h"

#define AT_COLLECTOR_END (14 + 58) /* where the terminator begins */

/* Version 1 and nothing after the terminator: what is there would be the partner's words, not ours. */
static void check_form(struct world *world, const struct system *system, unsigned int slot,
		       const uint8_t *octets)
{
	unsigned int rest = 0;

	for (unsigned int at = AT_COLLECTOR_END; at < LACP_FRAME_SIZE; at++)
		rest |= octets[at];
	if (octets[15] != 1 || rest)
		world_fail(world, "%c.%u sends what is not version 1", system->name, slot + 1);
}

/* An answer of the kernel claims nothing that the port does not do; out of sync the partner sends nothing. */
static void check_answer(struct world *world, const struct system *system, unsigned int slot, uint8_t state)
{
	const struct port *port = &system->port[slot];

	if ((state & (LACP_SYNCHRONIZATION | LACP_COLLECTING) && !port->collecting) ||
	    (state & LACP_DISTRIBUTING && !port->distributing))
		world_fail(world, "%c.%u, held, says more than it does", system->name, slot + 1);
	if (state & (LACP_DEFAULTED | LACP_EXPIRED))
		world_fail(world, "%c.%u, held, says that it has no partner", system->name, slot + 1);
}

/* At most three LACPDUs in any second, answers of the kernel included. */
void check_sent(struct world *world, struct end from, const uint8_t *octets)
{
	struct system *system = &world->system[from.system];
	struct port *port = &system->port[from.slot];

	check_form(world, system, from.slot, octets);
	if (system->away)
		check_answer(world, system, from.slot, octets[14 + 18]);
	if (octets[14 + 16] == 0 && octets[14 + 17] == 0)
		world_fail(world, "%c.%u is port number 0", system->name, from.slot + 1);
	if (!(octets[14 + 18] & LACP_AGGREGATION))
		world_fail(world, "%c.%u says it cannot be aggregated", system->name, from.slot + 1);
	if (port->sent_ns[0] && world->now_ns - port->sent_ns[0] < SECOND)
		world_fail(world, "%c.%u sends a fourth PDU in a second", system->name, from.slot + 1);
	memmove(port->sent_ns, port->sent_ns + 1, sizeof(port->sent_ns) - sizeof(*port->sent_ns));
	port->sent_ns[LACP_TX_LIMIT - 1] = world->now_ns;
}

/* Never distributing to a partner that is not in sync; fallback has none. */
static void check_port(struct world *world, const struct system *system, unsigned int slot)
{
	const struct lacp_port_state *state = &system->lacp.port[slot];

	if (!system->port[slot].distributing || state->fallback)
		return;
	if (state->rx != LACP_RX_CURRENT || !(state->partner.state & LACP_SYNCHRONIZATION) ||
	    state->selected != LACP_SELECTED || !state->config.link ||
	    state->aggregator != system->lacp.state.active_aggregator)
		world_fail(world, "%c.%u distributes to a partner that is not in sync", system->name,
			   slot + 1);
}

/* The same of what the programs do. */
static void check_held_port(struct world *world, const struct system *system, unsigned int slot)
{
	if (system->port[slot].distributing && system->port[slot].refused &&
	    !system->saved.port[slot].fallback)
		world_fail(world, "%c.%u, held, distributes to a partner that is not in sync", system->name,
			   slot + 1);
}

static void check_max_links(struct world *world, const struct system *system)
{
	unsigned int most = system->lacp.state.config.max_links;

	if (most && world_carrying(system) > most)
		world_fail(world, "%c carries on more than max_links", system->name);
}

/*
 * Without a partner, a port finds a loop by its own PDUs: not if the daemon is away,
 * sends none, or they are lost.
 */
static bool is_blind_fallback(const struct system *system, unsigned int slot)
{
	const struct lacp_system *lacp = system->away ? &system->saved : &system->lacp;

	return lacp->port[slot].fallback &&
	       (system->away || !lacp->state.config.active || system->port[slot].loss ||
		system->world->now_ns < system->port[slot].blind_ns);
}

/* The cable was moved while nobody looked at carrier: only what the new partner says, or silence, ends it. */
static bool is_unnoticed(const struct system *system, unsigned int slot)
{
	return system->away && system->port[slot].bounced;
}

/* Where frames of the system arrive: never at itself, never at two others. */
static void check_reach(struct world *world, const struct system *system)
{
	int reached = -1;

	for (unsigned int slot = 0; slot < system->ports; slot++) {
		const struct port *port = &system->port[slot];
		struct end peer = port->peer;

		if (!port->distributing || peer.system < 0 || port->cut || port->loss == 100 ||
		    is_unnoticed(system, slot))
			continue;
		if (!world->system[peer.system].port[peer.slot].collecting)
			continue;
		if (&world->system[peer.system] == system && !is_blind_fallback(system, slot))
			world_fail(world, "%c.%u: frames come back", system->name, slot + 1);
		if (reached >= 0 && reached != peer.system)
			world_fail(world, "frames of %c reach two systems", system->name);
		reached = peer.system;
	}
}

void check_world(struct world *world)
{
	for (int i = 0; i < SYSTEMS; i++) {
		const struct system *system = &world->system[i];

		if (!system->exists)
			continue;
		check_reach(world, system);
		for (unsigned int slot = 0; slot < system->ports; slot++)
			(system->away ? check_held_port : check_port)(world, system, slot);
		if (!system->away)
			check_max_links(world, system);
	}
}
