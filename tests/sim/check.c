/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must hold at every moment of every history. Frames are not sent one by one: a frame that
 * leaves through a distributing port arrives if the far port collects, so the states of both ends
 * tell where all frames go.
 */
#include <string.h>

#include "lacp/frame.h"
#include "lacp/machines.h"
#include "tests/sim/world.h"

/* It need not know us: 6.4.9, recordPDU. */
static bool is_individual(const struct world *world, struct end end)
{
	return end.system >= 0 && world->system[end.system].individual;
}

#define AT_COLLECTOR_END (14 + 58) /* where the terminator begins */

/*
 * Version 1 and nothing after the terminator: what is there would be the partner's words, not ours.
 */
static void check_form(struct world *world, const struct system *system, unsigned int slot,
		       const uint8_t *octets)
{
	unsigned int rest = 0;

	for (unsigned int at = AT_COLLECTOR_END; at < LACP_FRAME_SIZE; at++)
		rest |= octets[at];
	if (octets[15] != 1 || rest)
		world_fail(world, "%c.%u sends what is not version 1", system->name, slot + 1);
}

/*
 * An answer of the kernel claims nothing that the port does not do; out of sync the partner sends
 * nothing.
 */
static void check_answer(struct world *world, const struct system *system, unsigned int slot,
			 uint8_t state)
{
	const struct port *port = &system->port[slot];

	if ((state & (LACP_SYNCHRONIZATION | LACP_COLLECTING) && !port->collecting) ||
	    (state & LACP_DISTRIBUTING && !port->distributing))
		world_fail(world, "%c.%u, held, says more than it does", system->name, slot + 1);
	if (state & (LACP_DEFAULTED | LACP_EXPIRED))
		world_fail(world, "%c.%u, held, says that it has no partner", system->name,
			   slot + 1);
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
	if (!(octets[14 + 18] & LACP_AGGREGATION) && lacp_enabled(&port->config))
		world_fail(world, "%c.%u says it cannot be aggregated", system->name,
			   from.slot + 1);
	if (port->exists && port->sent_ns[0] && world->now_ns - port->sent_ns[0] < SECOND)
		world_fail(world, "%c.%u sends a fourth PDU in a second", system->name,
			   from.slot + 1);
	if (port->named && !system->is_reference &&
	    memcmp(port->name, octets + 18, sizeof(port->name)) && octets[32] & LACP_COLLECTING &&
	    !is_individual(world, port->peer))
		world_fail(world, "%c.%u has a new name and does not leave first", system->name,
			   from.slot + 1);
	memcpy(port->name, octets + 18, sizeof(port->name));
	port->named = true;
	memmove(port->sent_ns, port->sent_ns + 1, sizeof(port->sent_ns) - sizeof(*port->sent_ns));
	port->sent_ns[LACP_TX_LIMIT - 1] = world->now_ns;
}

static const struct lacp_system *machines_of(const struct system *system)
{
	return system->away ? &system->saved : &system->lacp;
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
		world_fail(world, "%c.%u distributes to a partner that is not in sync",
			   system->name, slot + 1);
	if (!system->lacp.state.config.coupled && !(state->partner.state & LACP_COLLECTING))
		world_fail(world, "%c.%u distributes to a partner that does not say it collects",
			   system->name, slot + 1);
}

void check_begin(struct world *world, struct end end)
{
	const struct system *system = &world->system[end.system];
	const struct lacp_port_state *begins = &system->lacp.port[end.slot], *other;
	unsigned int most = system->lacp.state.config.max_links;

	if (most && world_carrying(system) > most)
		world_fail(world, "%c.%u begins before another has ended", system->name,
			   end.slot + 1);
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		other = &system->lacp.port[slot];
		if (other->told & LACP_DISTRIBUTING && !other->fallback && !begins->fallback &&
		    other->aggregator != begins->aggregator)
			world_fail(world, "%c carries by two aggregators", system->name);
	}
}

/* What makes the LAG, without port priority, which only orders its ports. */
static bool same_lag(const struct lacp_info *a, const struct lacp_info *b)
{
	return a->system_priority == b->system_priority &&
	       !memcmp(a->system, b->system, LACP_MAC_SIZE) && a->key == b->key &&
	       a->port == b->port && !((a->state ^ b->state) & LACP_AGGREGATION);
}

void check_hold_end(struct world *world, struct end end, const uint8_t *octets)
{
	const struct system *system = &world->system[end.system];
	const struct lacp_port_state *state = &system->saved.port[end.slot];
	struct lacp_decoded decoded;
	uint8_t active;

	lacp_pdu_decode(octets, LACP_FRAME_SIZE, &decoded);
	active = decoded.pdu.actor.state | (decoded.pdu.partner.state & state->actor.state);
	if (decoded.kind == LACP_PDU_LACP && same_lag(&decoded.pdu.actor, &state->partner) &&
	    same_lag(&decoded.pdu.partner, &state->actor) && active & LACP_ACTIVITY &&
	    (decoded.pdu.actor.state & (LACP_SYNCHRONIZATION | LACP_EXPIRED)) ==
		    LACP_SYNCHRONIZATION)
		world_fail(world, "%c.%u, held, is given up though its partner is in sync",
			   system->name, end.slot + 1);
}

/* A bond that is administratively down takes no part. */
static void check_stopped(struct world *world, struct system *system, unsigned int slot)
{
	if (!system->away && system->stopped &&
	    (system->port[slot].collecting || system->port[slot].distributing))
		world_fail(world, "%c.%u carries, and the bond is down", system->name, slot + 1);
}

/* Of lacp_partner, and of nobody else. */
static void check_partner(struct world *world, const struct system *system, unsigned int slot)
{
	static const uint8_t anybody[LACP_MAC_SIZE];
	const struct lacp_port_state *state = &system->lacp.port[slot];
	const uint8_t *believed = system->lacp.state.config.believed;

	if (memcmp(believed, anybody, LACP_MAC_SIZE) != 0 &&
	    state->actor.state & LACP_DISTRIBUTING &&
	    memcmp(believed, state->partner.system, LACP_MAC_SIZE) != 0)
		world_fail(world, "%c.%u carries with a partner that is not to be believed",
			   system->name, slot + 1);
}

static void check_machines(struct world *world, const struct system *system, unsigned int slot)
{
	check_port(world, system, slot);
	check_partner(world, system, slot);
}

/* The same of what the programs do. */
static void check_held_port(struct world *world, const struct system *system, unsigned int slot)
{
	uint8_t told = system->saved.port[slot].told;

	if (system->port[slot].distributing && system->port[slot].refused &&
	    !system->saved.port[slot].fallback)
		world_fail(world, "%c.%u, held, distributes to a partner that is not in sync",
			   system->name, slot + 1);
	if ((system->port[slot].collecting && !(told & LACP_COLLECTING)) ||
	    (system->port[slot].distributing && !(told & LACP_DISTRIBUTING)))
		world_fail(world, "%c.%u, held, does more than it was told", system->name,
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
	const struct lacp_system *lacp = machines_of(system);

	return lacp->port[slot].fallback &&
	       (system->away || !lacp->state.config.active || system->port[slot].loss ||
		system->world->now_ns < system->port[slot].blind_ns);
}

/*
 * The cable was moved while nobody looked at carrier: only what the new partner says, or silence,
 * ends it.
 */
static bool is_unnoticed(const struct system *system, unsigned int slot)
{
	return system->away && system->port[slot].bounced;
}

/* The user says that all far ends are one. */
static bool is_fallback_all(const struct system *system, unsigned int slot)
{
	const struct lacp_system *lacp = machines_of(system);

	return lacp->port[slot].fallback && lacp->state.config.fallback == LACP_FALLBACK_ALL;
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
		if (&world->system[peer.system] == system && !is_blind_fallback(system, slot) &&
		    !is_blind_fallback(system, peer.slot))
			world_fail(world, "%c.%u: frames come back", system->name, slot + 1);
		if (is_fallback_all(system, slot))
			continue;
		if (reached >= 0 && reached != peer.system)
			world_fail(world, "frames of %c reach two systems", system->name);
		reached = peer.system;
	}
}

/* Within a round trip there is no answer, and time runs out only where one may have been lost. */
void check_drained(struct world *world, struct end end, bool answered)
{
	const struct system *system = &world->system[end.system];
	const struct port *port = &system->port[end.slot];
	uint64_t since_ns = port->drain_ns;
	bool distributes = system->lacp.port[end.slot].actor.state & LACP_DISTRIBUTING;

	if (!since_ns)
		world_fail(world, "%c.%u ends a drain that nobody began", system->name,
			   end.slot + 1);
	if (answered && world->now_ns < since_ns + 2 * port->delay_ns)
		world_fail(world, "%c.%u takes the answer to another marker", system->name,
			   end.slot + 1);
	if (!answered && distributes && port->troubled_ns < since_ns && port->peer.system >= 0 &&
	    !world->system[port->peer.system].is_reference)
		world_fail(world, "%c.%u: its marker is not answered", system->name, end.slot + 1);
}

static bool is_long_ago(const struct world *world, uint64_t time_ns)
{
	return !time_ns || world->now_ns > time_ns + LACP_LONG_TIMEOUT_TIME + 10 * SECOND;
}

/*
 * Both ends go on, and at most one LACPDU of each was lost within the longest timeout. A reference
 * that turns slow needs the next one.
 */
void check_expired(struct world *world, struct end end)
{
	const struct system *system = &world->system[end.system];
	const struct port *port = &system->port[end.slot], *far;
	const struct lacp_port_state *state = &system->lacp.port[end.slot];
	unsigned int last = system->is_reference ? 2 : 1;

	if (port->peer.system < 0 || state->heard_ns == world->now_ns ||
	    !(world->steady[end.system][port->peer.system] ||
	      world->steady[port->peer.system][end.system]))
		return;
	far = &world->system[port->peer.system].port[port->peer.slot];
	if (!far->held && is_long_ago(world, port->troubled_ns) &&
	    is_long_ago(world, port->lost_ns[last]) && is_long_ago(world, far->lost_ns[last]))
		world_fail(world, "%c.%u: its partner expires, and the link works", system->name,
			   end.slot + 1);
}

static void check_drain(struct world *world, const struct system *system, unsigned int slot)
{
	uint64_t since_ns = system->port[slot].drain_ns;

	if (!system->away && since_ns && world->now_ns > since_ns + 3 * SECOND)
		world_fail(world, "%c.%u does not end a drain", system->name, slot + 1);
}

static bool carries_by_lacp(const struct system *system, unsigned int slot)
{
	return system->port[slot].distributing && !machines_of(system)->port[slot].fallback;
}

uint64_t check_by_lacp(const struct system *system)
{
	uint64_t slots = 0;

	for (unsigned int slot = 0; slot < system->ports; slot++)
		slots |= (uint64_t)carries_by_lacp(system, slot) << slot;
	return slots;
}

/* A reference goes without a word. */
static bool is_mute(const struct system *system, unsigned int slot)
{
	return system->is_reference && (system->stopped || system->port[slot].held ||
					!lacp_enabled(&system->port[slot].config));
}

/* What could keep a PDU from doing its work: loss, a daemon that is away, a device that went. */
static void note_trouble(struct world *world, struct system *system, unsigned int slot)
{
	struct port *port = &system->port[slot];
	const struct end peer = port->peer;
	const struct port *far;

	if (peer.system < 0)
		return;
	far = &world->system[peer.system].port[peer.slot];
	if (port->loss || far->loss || system->away || world->system[peer.system].away ||
	    !port->exists || !far->exists || is_mute(system, slot) ||
	    is_mute(&world->system[peer.system], peer.slot))
		port->troubled_ns = world->now_ns;
}

/*
 * Fails if it is so for longer than it may be. A silent partner may take the long timeout to be
 * found, by one end and then, if the daemon there has gone meanwhile, by the other.
 */
static void limit(struct world *world, struct system *system, unsigned int slot, uint64_t *since_ns,
		  bool is_so, const char *what)
{
	const uint64_t found_ns = 2 * (LACP_LONG_TIMEOUT_TIME + 5 * SECOND);
	const struct port *port = &system->port[slot];
	bool troubled = port->troubled_ns && port->troubled_ns + found_ns >= *since_ns;

	if (!is_so)
		*since_ns = 0;
	else if (!*since_ns)
		*since_ns = world->now_ns;
	else if (world->now_ns - *since_ns > (troubled ? found_ns : 6 * SECOND))
		world_fail(world, "%c.%u %s for %.1f s", system->name, slot + 1, what,
			   (double)(world->now_ns - *since_ns) / 1e9);
}

/* Traffic that a port sends arrives, and a port that could send does. */
static void check_flow(struct world *world, struct system *system, unsigned int slot)
{
	struct port *port = &system->port[slot];
	const struct end peer = port->peer;
	const struct system *far = peer.system < 0 ? NULL : &world->system[peer.system];
	bool is_linked = far && !port->cut && port->exists;
	bool far_collects = is_linked && far->port[peer.slot].collecting;
	bool by_lacp = !machines_of(system)->port[slot].fallback &&
		       (!far || !machines_of(far)->port[peer.slot].fallback);

	note_trouble(world, system, slot);
	limit(world, system, slot, &port->void_ns,
	      is_linked && carries_by_lacp(system, slot) && !far_collects,
	      "distributes to a port that does not collect");
	limit(world, system, slot, &port->half_ns,
	      far_collects && by_lacp && !system->away && port->collecting && !port->distributing,
	      "collects and does not distribute, though its partner collects");
}

/* Who works makes room only for one that takes over at once. */
static void check_handover(struct world *world, const struct system *system, uint64_t before)
{
	const struct lacp_system *lacp = &system->lacp;

	for (unsigned int slot = 0; slot < system->ports; slot++) {
		const struct lacp_port_state *state = &lacp->port[slot];

		if (before >> slot & 1 && state->used && state->selected == LACP_STANDBY &&
		    state->rx == LACP_RX_CURRENT && state->config.link &&
		    state->partner.state & LACP_SYNCHRONIZATION &&
		    state->partner.state & LACP_COLLECTING &&
		    state->aggregator == lacp->state.active_aggregator &&
		    !lacp->state.config.min_links_strict)
			world_fail(world, "%c.%u gives up, and nobody has taken over", system->name,
				   slot + 1);
	}
}

static void check_silence(struct world *world, const struct system *system, uint64_t before)
{
	const struct lacp_system *lacp = &system->lacp;

	if (lacp->state.config.strict || lacp->state.config.fallback == LACP_FALLBACK_NONE ||
	    world_carrying(system) || lacp_collecting(lacp))
		return;
	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (before >> slot & 1 && lacp->port[slot].rx == LACP_RX_EXPIRED &&
		    lacp->port[slot].config.link && !lacp->port[slot].stranger_ns &&
		    lacp->port[slot].heard_ns + 2 * SECOND < world->now_ns)
			world_fail(world, "%c.%u: its partner fell silent, and nothing carries",
				   system->name, slot + 1);
}

void check_run(struct world *world, struct system *system, uint64_t before, bool configured)
{
	if (configured || !before || check_by_lacp(system))
		return;
	check_handover(world, system, before);
	check_silence(world, system, before);
}

void check_prospect(struct world *world, const struct system *system,
		    const struct lacp_prospect *prospect)
{
	const uint64_t promised = prospect->standby | prospect->distributing;

	if (system->lacp.state.active_aggregator != prospect->aggregator)
		world_fail(world, "%c uses aggregator %u, and not %u as foretold", system->name,
			   system->lacp.state.active_aggregator, prospect->aggregator);
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		const struct lacp_port_state *state = &system->lacp.port[slot];

		if (promised >> slot & 1 && !state->fallback &&
		    (state->aggregator != prospect->aggregator ||
		     state->selected == LACP_UNSELECTED))
			world_fail(world, "%c.%u has no part in it, against what was foretold",
				   system->name, slot + 1);
		if (prospect->distributing >> slot & 1 && !system->port[slot].distributing)
			world_fail(world, "%c.%u distributes no longer, against what was foretold",
				   system->name, slot + 1);
	}
}

void check_world(struct world *world)
{
	for (int i = 0; i < SYSTEMS; i++) {
		struct system *system = &world->system[i];

		if (!system->exists)
			continue;
		check_reach(world, system);
		for (unsigned int slot = 0; slot < system->ports; slot++) {
			if (system->away)
				check_held_port(world, system, slot);
			else if (!system->is_reference)
				check_machines(world, system, slot);
			check_flow(world, system, slot);
			check_stopped(world, system, slot);
			check_drain(world, system, slot);
		}
		if (!system->away)
			check_max_links(world, system);
	}
}
