/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must have come about when trouble has ended, or goes on without change: where some pair of
 * links works both ways and both sides may use it, traffic flows, on as many links as there may be.
 * And then it goes on, whatever small happens.
 */
#include <string.h>

#include "lacp/machines.h"
#include "tests/sim/world.h"

/* How long traffic may stop: one answer, which may be the fourth LACPDU in a second. */
#define GAP (SECOND + 100 * MS)

static const struct lacp_config *options_of(const struct world *world, int index)
{
	return &world->system[index].lacp.state.config;
}

static bool has_reference(const struct world *world, int a, int b)
{
	return world->system[a].is_reference || world->system[b].is_reference;
}

/* PDUs and frames get through, in both directions. */
static bool is_good(const struct world *world, int index, unsigned int slot)
{
	const struct port *port = &world->system[index].port[slot];
	const struct port *far;

	if (port->peer.system < 0 || port->peer.system == index)
		return false;
	far = &world->system[port->peer.system].port[port->peer.slot];
	return port->exists && far->exists && !port->cut && !port->held && !far->held &&
	       !port->loss && !far->loss && lacp_enabled(&port->config) &&
	       lacp_enabled(&far->config);
}

static unsigned int cables_between(const struct world *world, int a, int b, unsigned int ports)
{
	unsigned int count = 0;

	for (unsigned int slot = 0; slot < ports; slot++)
		count += world->system[a].port[slot].peer.system == b;
	return count;
}

static unsigned int good_between(const struct world *world, int a, int b, unsigned int ports)
{
	unsigned int count = 0;

	for (unsigned int slot = 0; slot < ports; slot++)
		count += world->system[a].port[slot].peer.system == b && is_good(world, a, slot);
	return count;
}

/* Not if ports have different keys, or one end does not aggregate. */
static bool is_one_lag(const struct world *world, int a, int b, unsigned int ports)
{
	const struct port *first = NULL, *far[2];

	for (unsigned int slot = 0; slot < ports; slot++) {
		const struct port *port = &world->system[a].port[slot];

		if (port->peer.system != b || !is_good(world, a, slot))
			continue;
		first = first ? first : port;
		far[0] = &world->system[b].port[first->peer.slot];
		far[1] = &world->system[b].port[port->peer.slot];
		if (port->config.speed_mbps != first->config.speed_mbps ||
		    far[0]->config.speed_mbps != far[1]->config.speed_mbps)
			return false;
	}
	return !world->system[a].individual && !world->system[b].individual;
}

static int only_neighbour(const struct world *world, int index, int systems, unsigned int ports)
{
	int found = -1;

	for (unsigned int slot = 0; slot < ports; slot++) {
		int peer = world->system[index].port[slot].peer.system;

		if (peer < 0 || peer >= systems || peer == found)
			continue;
		if (found >= 0 || peer == index)
			return -1;
		found = peer;
	}
	return found;
}

static bool believes(const struct world *world, int a, int b)
{
	static const uint8_t anybody[LACP_MAC_SIZE];
	const uint8_t *believed = options_of(world, a)->believed;

	return !memcmp(believed, anybody, LACP_MAC_SIZE) ||
	       !memcmp(believed, options_of(world, b)->system, LACP_MAC_SIZE);
}

static unsigned int at_most(unsigned int count, unsigned int most)
{
	return most && most < count ? most : count;
}

static bool has_too_few(const struct lacp_config *config, unsigned int count)
{
	return config->min_links_strict && config->min_links > 1 && count < config->min_links;
}

/* Links that two systems may use with each other. */
static unsigned int usable_between(const struct world *world, int a, int b, unsigned int ports)
{
	const struct lacp_config *x = options_of(world, a), *y = options_of(world, b);
	unsigned int count = good_between(world, a, b, ports);

	if (world->system[a].away || world->system[b].away || world->system[a].stopped ||
	    world->system[b].stopped || (!x->active && !y->active) || !believes(world, a, b) ||
	    !believes(world, b, a))
		return 0;
	if (!is_one_lag(world, a, b, ports))
		count = at_most(count, 1);
	count = at_most(at_most(count, x->max_links), y->max_links);
	return has_too_few(x, count) || has_too_few(y, count) ? 0 : count;
}

static unsigned int carrying_by_lacp(const struct world *world, int index)
{
	return (unsigned int)__builtin_popcountll(check_by_lacp(&world->system[index]));
}

/*
 * The only aggregator of a reference may have a link that works one way: what an individual
 * partner hears is not asked (802.1AX-2014, 6.4.9, recordPDU).
 */
static bool may_choose_badly(const struct world *world, int a, int b, unsigned int ports)
{
	bool individual = world->system[a].individual || world->system[b].individual;

	return has_reference(world, a, b) && individual &&
	       good_between(world, a, b, ports) < cables_between(world, a, b, ports);
}

/* Two systems that have only each other use all links that they may. */
static void check_pair(struct world *world, int a, int b, unsigned int ports)
{
	unsigned int count = usable_between(world, a, b, ports);

	if (may_choose_badly(world, a, b, ports))
		return;
	if (count && (carrying_by_lacp(world, a) != count || carrying_by_lacp(world, b) != count))
		world_fail(world, "%c and %c carry %u and %u of %u", 'A' + a, 'A' + b,
			   carrying_by_lacp(world, a), carrying_by_lacp(world, b), count);
}

/*
 * Of more systems, no two neighbours may be left both without a partner. A reference does not look
 * for another one.
 */
static void check_stranded(struct world *world, int a, int b, unsigned int ports)
{
	if (!has_reference(world, a, b) && usable_between(world, a, b, ports) &&
	    !carrying_by_lacp(world, a) && !carrying_by_lacp(world, b))
		world_fail(world, "%c and %c do not find each other", 'A' + a, 'A' + b);
}

/* Nobody is heard there, and nothing speaks against it. */
static bool may_fall_back(const struct system *system, unsigned int slot)
{
	const struct lacp_port_state *state = &system->lacp.port[slot];

	return state->used && state->config.link && state->rx == LACP_RX_DEFAULTED &&
	       !state->loop_port && !state->stranger_ns;
}

static void check_fallback(struct world *world, int index, unsigned int ports)
{
	const struct system *system = &world->system[index];
	const struct lacp_config *config = &system->lacp.state.config;
	unsigned int count = 0;

	if (system->away || config->strict || config->fallback == LACP_FALLBACK_NONE ||
	    carrying_by_lacp(world, index))
		return;
	for (unsigned int slot = 0; slot < ports; slot++) {
		if (system->lacp.port[slot].actor.state & LACP_COLLECTING)
			return; /* in sync, and about to distribute */
		count += may_fall_back(system, slot);
	}
	if (config->fallback == LACP_FALLBACK_ONE)
		count = at_most(count, 1);
	if (world_carrying(system) < at_most(count, config->max_links))
		world_fail(world, "%c carries on %u ports, and could on %u by fallback",
			   system->name, world_carrying(system), at_most(count, config->max_links));
}

/* Then the ends disagree for ever about how many links there may be. */
static bool is_contradiction(const struct world *world, unsigned int min_links)
{
	for (int i = 0; i < SYSTEMS; i++) {
		unsigned int most = options_of(world, i)->max_links;

		if (world->system[i].individual || (most && most < min_links))
			return true;
	}
	return false;
}

/* A port that the partner has refused has its turn again. */
static bool is_trying(const struct system *system)
{
	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (system->lacp.port[slot].out_sync_ns + 6 * SECOND > system->world->now_ns)
			return true;
	return false;
}

/* Too few links: the partner is told so. */
static void check_min_links(struct world *world, int index, unsigned int ports)
{
	const struct system *system = &world->system[index];

	if (system->away || is_trying(system) ||
	    is_contradiction(world, system->lacp.state.config.min_links) ||
	    !has_too_few(&system->lacp.state.config, carrying_by_lacp(world, index)))
		return;
	for (unsigned int slot = 0; slot < ports; slot++)
		if (system->lacp.port[slot].actor.state & LACP_COLLECTING)
			world_fail(world, "%c.%u says that it collects, with fewer than min_links",
				   system->name, slot + 1);
}

/* LACPDUs that come back to the system are named. At half duplex there are none (6.1.1). */
static void check_loops(struct world *world, int index, unsigned int ports)
{
	const struct system *system = &world->system[index];

	if (system->away || system->stopped || system->is_reference ||
	    !options_of(world, index)->active)
		return;
	for (unsigned int slot = 0; slot < ports; slot++) {
		const struct port *port = &system->port[slot];
		const struct port *far = &system->port[port->peer.slot];

		if (port->peer.system == index && port->exists && far->exists && !port->cut &&
		    !port->held && !far->held && !far->loss && lacp_enabled(&port->config) &&
		    lacp_enabled(&far->config) &&
		    system->lacp.port[slot].loop_port != far->config.port)
			world_fail(world, "%c.%u does not see its loop", system->name, slot + 1);
	}
}

void goals_check(struct world *world, int systems, unsigned int ports)
{
	for (int a = 0; a < systems; a++) {
		check_loops(world, a, ports);
		check_fallback(world, a, ports);
		check_min_links(world, a, ports);
		for (int b = a + 1; b < systems; b++) {
			if (only_neighbour(world, a, systems, ports) == b &&
			    only_neighbour(world, b, systems, ports) == a)
				check_pair(world, a, b, ports);
			else
				check_stranded(world, a, b, ports);
		}
	}
}

bool goals_link_carries(const struct world *world, struct end end)
{
	const struct port *port = &world->system[end.system].port[end.slot], *far;

	if (!is_good(world, end.system, end.slot))
		return false;
	far = &world->system[port->peer.system].port[port->peer.slot];
	return port->distributing && port->collecting && far->distributing && far->collecting;
}

/* In both directions, which need not be on the same link. */
static bool flows_between(const struct world *world, int a, int b)
{
	bool there = false, back = false;

	for (unsigned int slot = 0; slot < world->system[a].ports; slot++) {
		const struct port *port = &world->system[a].port[slot], *far;

		if (port->peer.system != b || !is_good(world, a, slot))
			continue;
		far = &world->system[b].port[port->peer.slot];
		there |= port->distributing && far->collecting;
		back |= far->distributing && port->collecting;
	}
	return there && back;
}

/* A reference with max_links takes another port before that one is ready. */
static bool makes_before_it_breaks(const struct world *world, int index)
{
	return !world->system[index].is_reference || !options_of(world, index)->max_links;
}

void goals_expect_steady(struct world *world, int systems, unsigned int ports)
{
	for (int a = 0; a < systems; a++)
		for (int b = a + 1; b < systems; b++)
			world->steady[a][b] = only_neighbour(world, a, systems, ports) == b &&
					      only_neighbour(world, b, systems, ports) == a &&
					      makes_before_it_breaks(world, a) &&
					      makes_before_it_breaks(world, b) &&
					      usable_between(world, a, b, ports) &&
					      flows_between(world, a, b);
}

/*
 * Has the system chosen an aggregator whose links have all failed silently? It has one device, so
 * it leaves the old aggregator first (6.4.14), and goes by the partner's last LACPDU. That is valid
 * until the partner's timeout (6.4.4), and no LACPDU asks for another. Among the ports of one
 * aggregator it can wait for the partner's answer.
 */
static bool is_misled(const struct world *world, int index)
{
	const struct system *system = &world->system[index];
	const struct lacp_system *lacp = system->away ? &system->saved : &system->lacp;

	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (lacp->port[slot].aggregator == lacp->state.active_aggregator &&
		    is_good(world, index, slot))
			return false;
	return lacp->state.active_aggregator != 0;
}

void goals_check_steady(struct world *world)
{
	for (int a = 0; a < SYSTEMS; a++)
		for (int b = a + 1; b < SYSTEMS; b++) {
			uint64_t *gap_ns = &world->gap_ns[a][b];

			if (!world->steady[a][b] || flows_between(world, a, b) ||
			    is_misled(world, a) || is_misled(world, b))
				*gap_ns = 0;
			else if (!*gap_ns)
				*gap_ns = world->now_ns;
			else if (world->now_ns - *gap_ns > GAP)
				world_fail(world, "%c and %c: no traffic for %.1f s", 'A' + a,
					   'A' + b, (double)(world->now_ns - *gap_ns) / 1e9);
		}
}

/* A reference that turns passive does not say so. */
static bool are_passive(const struct world *world, int a, int b)
{
	return !has_reference(world, a, b) && !options_of(world, a)->active &&
	       !options_of(world, b)->active && believes(world, a, b) && believes(world, b, a);
}

void goals_check_quiet(struct world *world, uint64_t from_ns)
{
	for (int index = 0; index < SYSTEMS; index++) {
		const struct system *system = &world->system[index];

		for (unsigned int slot = 0; slot < system->ports; slot++) {
			const struct port *port = &system->port[slot];

			if (is_good(world, index, slot) &&
			    are_passive(world, index, port->peer.system) &&
			    port->sent_ns[LACP_TX_LIMIT - 1] > from_ns)
				world_fail(world, "%c.%u speaks, and both ends are passive",
					   system->name, slot + 1);
		}
	}
}
