/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that arrive: what the program on the slave hands on is read by the daemon, at once or when
 * it is back. How it goes, dies and comes back.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"

#include "lacp/frame.h"
#include "lacp/machines.h"

#define AT_PARTNER_STATE 52 /* in a frame */

void world_away(struct world *world, int index)
{
	struct system *system = &world->system[index];

	if (system->away || system->is_reference)
		return;
	system->away = true;
	system->away_ns = world->now_ns;
	system->saved = system->lacp;
	system->doomed = false;
	memset(&system->lacp, 0xff, sizeof(system->lacp));
	for (unsigned int slot = 0; slot < system->ports; slot++)
		memset(&system->port[slot].sent, 0xff, sizeof(system->port[slot].sent));
}

static void return_link(struct system *system, unsigned int slot)
{
	struct port *port = &system->port[slot];
	struct lacp_port_config down = port->config;

	down.link = 0;
	if (port->bounced) {
		lacp_port_configure(&system->lacp, slot, &down, system->world->now_ns);
		world_evaluate(system, true);
	}
	port->bounced = false;
	port->blind_ns = system->world->now_ns + SECOND + 100 * MS;
	lacp_port_configure(&system->lacp, slot, &port->config, system->world->now_ns);
}

/* In the first half second nobody knows that the daemon is away; what comes then waits for it. */
static bool is_unread(const struct world *world, const struct system *system)
{
	return system->away && world->now_ns - system->away_ns <= (uint64_t)XBOND_LACP_AWAY_NS;
}

static void note(struct port *port, uint8_t state, uint64_t said_ns)
{
	if (said_ns < port->said_ns)
		return;
	port->said_ns = said_ns;
	port->refused = !(state & LACP_SYNCHRONIZATION);
}

/* What a PDU that is for this port says, told without the core and without the program. */
static void note_words(struct world *world, struct end to, const uint8_t *octets, uint64_t said_ns)
{
	const struct system *system = &world->system[to.system];
	const struct lacp_system *lacp = system->away ? &system->saved : &system->lacp;
	const uint8_t *ours = lacp->state.config.system;
	struct lacp_decoded decoded;

	lacp_pdu_decode(octets, LACP_FRAME_SIZE, &decoded);
	if (decoded.kind == LACP_PDU_LACP && !is_unread(world, system) &&
	    !lacp_is_stranger(lacp, decoded.pdu.actor.system) &&
	    memcmp(decoded.pdu.actor.system, ours, LACP_MAC_SIZE) != 0 &&
	    !memcmp(decoded.pdu.partner.system, ours, LACP_MAC_SIZE))
		note(world_port(world, to), decoded.pdu.actor.state, said_ns);
}

static void receive(struct system *system, const struct xbond_pdu *pdu)
{
	if (!lacp_thread_hold_is_outdated(&system->port[pdu->slot].hold, pdu))
		lacp_receive(&system->lacp, pdu->slot, pdu->frame, pdu->length, pdu->received_ns);
}

/* As lacp_thread_add() does it. */
static void adopt(struct world *world, struct system *system)
{
	uint64_t used = system->saved.used;

	for (unsigned int slot = 0; slot < system->ports; slot++) {
		struct port *port = &system->port[slot];

		lacp_thread_hold_adopt(&port->hold, &port->sent);
		if (!port->exists) {
			used &= ~(UINT64_C(1) << slot);
			lacp_thread_hold_clear(&port->hold, &port->sent);
		}
	}
	lacp_init(&system->lacp, &system->saved.state.config, &world_outputs, system);
	if (lacp_adopt(&system->lacp, &system->saved.state, system->saved.port, used))
		world_fail(world, "state refused");
	for (unsigned int i = 0; i < system->waiting; i++) {
		const struct xbond_pdu *pdu = &system->ring[i];

		note_words(world, world_end(system, pdu->slot), pdu->frame, pdu->received_ns);
		receive(system, pdu);
	}
	system->waiting = 0;
	for (unsigned int slot = 0; slot < system->ports; slot++)
		lacp_thread_hold_end(&system->port[slot].hold, &system->lacp, slot);
}

void world_back(struct world *world, int index)
{
	struct system *system = &world->system[index];

	if (!system->away)
		return;
	system->away = false;
	adopt(world, system);
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		struct port *port = &system->port[slot];

		port->collecting = lacp_collecting(&system->lacp) >> slot & 1;
		port->distributing = lacp_distributing(&system->lacp) >> slot & 1;
		if (port->exists)
			return_link(system, slot);
	}
	world_evaluate(system, true);
}

static void print_frame(const struct world *world, struct end to, const uint8_t *octets)
{
	struct lacp_decoded decoded;

	lacp_pdu_decode(octets, LACP_FRAME_SIZE, &decoded);
	if (decoded.kind == LACP_PDU_LACP)
		printf("  %8.3f %c.%u hears actor %02x state %02x, partner %02x state %02x\n",
		       (double)(world->now_ns - SECOND) / 1e9, world->system[to.system].name,
		       to.slot + 1, decoded.pdu.actor.system[5], decoded.pdu.actor.state,
		       decoded.pdu.partner.system[5], decoded.pdu.partner.state);
}

/* The pinned state is as the last run left it. */
static void die_of(struct world *world, struct system *system, const struct xbond_pdu *pdu)
{
	static struct lacp_system before;
	struct port *port = &system->port[pdu->slot];
	uint64_t drain_ns = port->drain_ns;

	before = system->lacp;
	lacp_receive(&system->lacp, pdu->slot, pdu->frame, pdu->length, pdu->received_ns);
	world_away(world, (int)(system - world->system));
	system->saved = before;
	port->drain_ns = drain_ns;
}

void world_doom(struct world *world, int index)
{
	world->system[index].doomed =
		!world->system[index].away && !world->system[index].is_reference;
}

/* What the program hands on is read at once, or when the daemon is back. */
void world_deliver(struct world *world, struct frame *frame)
{
	struct frame copy = *frame;
	struct system *system = &world->system[copy.to.system];
	struct port *port = world_port(world, copy.to);
	const struct xbond_pdu *pdu;
	bool refused = port->refused;

	/* The others of this instant stay in order. */
	world->count--;
	memmove(frame, frame + 1, (size_t)(world->frame + world->count - frame) * sizeof(*frame));
	if (!port->exists)
		return;
	if (world->verbose)
		print_frame(world, copy.to, copy.octets);
	if (copy.octets[14] == 1 && system->individual) /* what it believes of itself */
		copy.octets[AT_PARTNER_STATE] |= LACP_AGGREGATION;
	if (system->is_reference) {
		reference_hear(system, copy.to.slot, copy.octets);
		world_evaluate(system, false);
		return;
	}
	note_words(world, copy.to, copy.octets, world->now_ns);
	pdu = hold_receive(world, copy.to, copy.octets);
	if (!pdu)
		return;
	if (system->away) {
		if (system->waiting < RING)
			system->ring[system->waiting++] = *pdu;
		return;
	}
	if (system->doomed) {
		port->refused = refused; /* these words die with it */
		die_of(world, system, pdu);
		return;
	}
	receive(system, pdu);
	world_evaluate(system, false);
}
