/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may happen in a history. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/explore.h"
#include "tests/sim/scenario.h"

#define SET "set @ "

static bool move_lose(struct world *world, struct end end)
{
	if (world->system[end.system].port[end.slot].lose)
		return false;
	world_lose(world, end, 1);
	return true;
}

/* A cable is cut and mended from one of its ends. */
static bool move_carrier(struct world *world, struct end end, bool cut)
{
	const struct port *port = world_port(world, end);

	if (port->peer.system < end.system || port->cut == cut)
		return false;
	world_cut(world, end, cut);
	return true;
}

static bool move_cut(struct world *world, struct end end)
{
	return move_carrier(world, end, true);
}

static bool move_mend(struct world *world, struct end end)
{
	return move_carrier(world, end, false);
}

static bool move_loss(struct world *world, struct end end, unsigned int percent)
{
	if (world_port(world, end)->loss == percent)
		return false;
	world_loss(world, end, percent);
	return true;
}

static bool move_deaf(struct world *world, struct end end)
{
	return move_loss(world, end, 100);
}

static bool move_hear(struct world *world, struct end end)
{
	return move_loss(world, end, 0);
}

static bool move_held(struct world *world, struct end end, bool held)
{
	if (world->system[end.system].away || world_port(world, end)->held == held)
		return false;
	world_hold_down(world, end.system, UINT64_C(1) << end.slot, held);
	return true;
}

static bool move_bad(struct world *world, struct end end)
{
	return move_held(world, end, true);
}

static bool move_good(struct world *world, struct end end)
{
	return move_held(world, end, false);
}

static bool move_away(struct world *world, struct end end)
{
	if (end.slot || world->system[end.system].away || world->system[end.system].is_reference)
		return false;
	world_away(world, end.system);
	return true;
}

static bool move_back(struct world *world, struct end end)
{
	if (end.slot || !world->system[end.system].away)
		return false;
	world_back(world, end.system);
	return true;
}

static bool move_stopped(struct world *world, struct end end, bool stopped)
{
	if (end.slot || world->system[end.system].stopped == stopped)
		return false;
	world_stop(world, end.system, stopped);
	return true;
}

static bool move_stop(struct world *world, struct end end)
{
	return move_stopped(world, end, true);
}

static bool move_start(struct world *world, struct end end)
{
	return move_stopped(world, end, false);
}

static bool move_first(struct world *world, struct end end)
{
	struct lacp_port_config options = world_port(world, end)->config;

	if (options.port_priority == 1)
		return false;
	options.port_priority = 1;
	world_port_configure(world, end, &options);
	return true;
}

/* Of two ports of one system, and a plug. */
static bool move_loop(struct world *world, struct end end)
{
	struct end other = { end.system, 1 };

	if (end.slot || world_port(world, end)->peer.system == end.system)
		return false;
	world_cable(world, end, other, MS);
	return true;
}

static bool move_plug(struct world *world, struct end end)
{
	if (world_port(world, end)->peer.system == end.system)
		return false;
	world_cable(world, end, end, MS);
	return true;
}

/* Of two systems, both have the same cables. */
static bool move_is_crossing(const struct world *world, struct end end)
{
	const struct port *port = world->system[end.system].port;

	return !end.slot && port[0].peer.system >= 0 && port[1].peer.system >= 0 &&
	       port[0].peer.system != end.system && port[1].peer.system != end.system &&
	       (world->system[2].exists || !end.system);
}

static bool move_swap(struct world *world, struct end end)
{
	if (!move_is_crossing(world, end))
		return false;
	world_swap(world, end, (struct end){ end.system, 1 });
	return true;
}

/* Of three systems, frames may reach the wrong one until LACPDUs do. */
static bool move_cross(struct world *world, struct end end)
{
	const struct port *port = world->system[end.system].port;

	if (!move_is_crossing(world, end) || world->system[2].exists || port[0].cut || port[1].cut)
		return false;
	world_cross(world, end, (struct end){ end.system, 1 });
	return true;
}

/* As two systems were connected. */
static bool move_restore(struct world *world, struct end end)
{
	const struct port *port = world->system[0].port;

	if (end.system || end.slot || world->system[2].exists ||
	    (port[0].peer.system == 1 && !port[0].peer.slot && port[1].peer.system == 1))
		return false;
	for (unsigned int slot = 0; slot < LINKS; slot++)
		world_cable(world, (struct end){ 0, slot }, (struct end){ 1, slot }, MS);
	return true;
}

static bool move_drain(struct world *world, struct end end)
{
	const struct system *system = &world->system[end.system];

	return !system->away && !system->is_reference &&
	       system->lacp.port[end.slot].actor.state & LACP_DISTRIBUTING &&
	       !world_drain(world, end);
}

const struct move move_table[] = {
	{ "lose 1 @.#", false, true, false, move_lose },
	{ "cut @.#", false, false, false, move_cut },
	{ "mend @.#", true, true, false, move_mend },
	{ "loss 100 @.#", false, false, false, move_deaf },
	{ "loss 0 @.#", true, true, false, move_hear },
	{ "bad @.#", false, false, false, move_bad },
	{ "good @.#", true, true, false, move_good },
	{ "cable @.1 @.2", false, false, false, move_loop },
	{ "cable @.# @.#", false, false, false, move_plug },
	{ "swap @.1 @.2", false, false, false, move_swap },
	{ "cross @.1 @.2", false, false, false, move_cross },
	{ "cable A.1 B.1 A.2 B.2", true, false, false, move_restore },
	{ "drain @.#", false, true, false, move_drain },
	{ "away @", false, true, false, move_away },
	{ "back @", true, true, false, move_back },
	{ "stop @", false, false, false, move_stop },
	{ "start @", true, true, false, move_start },
	{ "port @.# actor_port_prio 1", false, true, true, move_first },
	{ SET "lacp_rate fast", false, true, false, NULL },
	{ SET "lacp_rate slow", false, true, false, NULL },
	{ SET "lacp_active on", false, false, false, NULL },
	{ SET "lacp_active off", false, false, false, NULL },
	{ SET "coupled_control on", false, true, false, NULL },
	{ SET "coupled_control off", false, true, false, NULL },
	{ SET "max_links 0", false, true, true, NULL },
	{ SET "max_links 1", false, true, true, NULL },
	{ SET "lacp_fallback all", false, true, false, NULL },
	{ SET "lacp_wtr 5", false, true, false, NULL },
	{ SET "min_links 2 min_links_lacp on", false, false, false, NULL },
	{ SET "lacp_partner C", false, false, false, NULL },
	{ SET "lacp_partner none", true, true, false, NULL },
	{ SET "ad_actor_system 70", false, false, false, NULL },
};
const int move_count = sizeof(move_table) / sizeof(*move_table);

void move_options(struct lacp_config *options, const char *words)
{
	static struct scenario nowhere; /* for what is wrong with the words */
	char copy[100], *rest = copy, *name, *value;

	snprintf(copy, sizeof(copy), "%s", words);
	while ((name = strtok_r(rest, " ", &rest)) && (value = strtok_r(NULL, " ", &rest)))
		scenario_option(&nowhere, options, name, value);
}

static bool move_set(struct world *world, struct end end, const char *words)
{
	const struct system *system = &world->system[end.system];
	struct lacp_config options;

	if (end.slot || system->away)
		return false;
	options = system->lacp.state.config;
	move_options(&options, words);
	if (system->is_reference)
		reference_options(&options);
	if (!memcmp(&options, &system->lacp.state.config, sizeof(options)))
		return false;
	world_configure(world, end.system, &options);
	return true;
}

bool move_make(struct world *world, const struct move *move, struct end end)
{
	return move->make ? move->make(world, end)
			  : move_set(world, end, move->words + strlen(SET));
}

bool move_is_absence(const struct move *move)
{
	return move->make == move_away;
}
