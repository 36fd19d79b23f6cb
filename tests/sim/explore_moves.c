/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may happen in a history. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/explore.h"
#include "tests/sim/scenario.h"

static bool move_lose(struct world *world, struct end end, const struct move *move)
{
	if (world_port(world, end)->lose)
		return false;
	world_lose(world, end, move->value);
	return true;
}

/* A cable is cut and mended from one of its ends. */
static bool move_cut(struct world *world, struct end end, const struct move *move)
{
	const struct port *port = world_port(world, end);

	if (port->peer.system < end.system || port->cut == move->value)
		return false;
	world_cut(world, end, move->value);
	return true;
}

static bool move_loss(struct world *world, struct end end, const struct move *move)
{
	if (world_port(world, end)->loss == move->value)
		return false;
	world_loss(world, end, move->value);
	return true;
}

static bool move_held(struct world *world, struct end end, const struct move *move)
{
	if (world->system[end.system].away || world_port(world, end)->held == move->value)
		return false;
	world_hold_down(world, end.system, UINT64_C(1) << end.slot, move->value);
	return true;
}

static bool move_away(struct world *world, struct end end, const struct move *move)
{
	const struct system *system = &world->system[end.system];

	if (end.slot || system->away == move->value || system->is_reference)
		return false;
	move->value ? world_away(world, end.system) : world_back(world, end.system);
	return true;
}

static bool move_stopped(struct world *world, struct end end, const struct move *move)
{
	if (end.slot || world->system[end.system].stopped == move->value)
		return false;
	world_stop(world, end.system, move->value);
	return true;
}

/* Of two ports of one system, or a plug. */
static bool move_loop(struct world *world, struct end end, const struct move *move)
{
	if ((end.slot && !move->value) || world_port(world, end)->peer.system == end.system)
		return false;
	world_cable(world, end, move->value ? end : (struct end){ end.system, 1 }, MS);
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

/* Of three systems, frames may reach the wrong one until LACPDUs do, if nobody sees it. */
static bool move_swap(struct world *world, struct end end, const struct move *move)
{
	const struct port *port = world->system[end.system].port;
	const struct end other = { end.system, 1 };

	if (!move_is_crossing(world, end) ||
	    (!move->value && (world->system[2].exists || port[0].cut || port[1].cut)))
		return false;
	move->value ? world_swap(world, end, other) : world_cross(world, end, other);
	return true;
}

/* As two systems were connected. */
static bool move_restore(struct world *world, struct end end, const struct move *move)
{
	const struct port *port = world->system[0].port;

	if (end.system || end.slot || world->system[2].exists ||
	    (port[0].peer.system == 1 && !port[0].peer.slot && port[1].peer.system == 1))
		return false;
	for (unsigned int slot = 0; slot < LINKS; slot++)
		world_cable(world, (struct end){ 0, slot }, (struct end){ 1, slot }, MS);
	return true;
}

/* A reference would not know it itself. */
static bool move_individual(struct world *world, struct end end, const struct move *move)
{
	const struct system *system = &world->system[end.system];

	if (end.slot || system->individual || system->is_reference)
		return false;
	world_individual(world, end.system);
	return true;
}

static bool move_drain(struct world *world, struct end end, const struct move *move)
{
	const struct system *system = &world->system[end.system];

	return !system->away && !system->is_reference &&
	       system->lacp.port[end.slot].actor.state & LACP_DISTRIBUTING &&
	       !world_drain(world, end);
}

static struct scenario nowhere; /* for what is wrong with the words */

void move_options(struct lacp_config *options, const char *words)
{
	char copy[100], *rest = copy, *name, *value;

	snprintf(copy, sizeof(copy), "%s", words);
	while ((name = strtok_r(rest, " ", &rest)) && (value = strtok_r(NULL, " ", &rest)))
		scenario_option(&nowhere, options, name, value);
}

static bool move_set(struct world *world, struct end end, const struct move *move)
{
	const struct system *system = &world->system[end.system];
	struct lacp_config options;

	if (end.slot || system->away)
		return false;
	options = system->lacp.state.config;
	move_options(&options, move->words + strlen("set @ "));
	if (system->is_reference)
		reference_options(&options);
	if (!memcmp(&options, &system->lacp.state.config, sizeof(options)))
		return false;
	world_configure(world, end.system, &options);
	return true;
}

static bool move_port(struct world *world, struct end end, const struct move *move)
{
	struct lacp_port_config options = world_port(world, end)->config;
	char name[20], value[20];

	sscanf(move->words, "port @.# %19s %19s", name, value);
	scenario_port_option(&nowhere, &options, name, value);
	if (!memcmp(&options, &world_port(world, end)->config, sizeof(options)))
		return false;
	world_port_configure(world, end, &options);
	return true;
}

#define SET(words, kind)                          \
	{                                         \
		"set @ " words, kind, move_set, 0 \
	}
#define PORT(words, kind)                             \
	{                                             \
		"port @.# " words, kind, move_port, 0 \
	}

const struct move move_table[] = {
	{ "lose 1 @.#", SMALL, move_lose, 1 },
	{ "cut @.#", 0, move_cut, true },
	{ "mend @.#", FREE | SMALL, move_cut, false },
	{ "loss 100 @.#", 0, move_loss, 100 },
	{ "loss 0 @.#", FREE | SMALL, move_loss, 0 },
	{ "bad @.#", 0, move_held, true },
	{ "good @.#", FREE | SMALL, move_held, false },
	{ "cable @.1 @.2", 0, move_loop, false },
	{ "cable @.# @.#", 0, move_loop, true },
	{ "swap @.1 @.2", 0, move_swap, true },
	{ "cross @.1 @.2", 0, move_swap, false },
	{ "cable A.1 B.1 A.2 B.2", FREE, move_restore, 0 },
	{ "drain @.#", SMALL, move_drain, 0 },
	{ "away @", SMALL | ABSENCE, move_away, true },
	{ "back @", FREE | SMALL, move_away, false },
	{ "stop @", 0, move_stopped, true },
	{ "start @", FREE | SMALL, move_stopped, false },
	{ "individual @", 0, move_individual, 0 },
	PORT("actor_port_prio 1", SMALL | REORDERS),
	PORT("actor_port_prio 255", FREE | SMALL | REORDERS),
	PORT("speed 1000", 0),
	PORT("speed 10000", FREE),
	PORT("duplex half", 0),
	PORT("duplex full", FREE),
	SET("lacp_rate fast", SMALL),
	SET("lacp_rate slow", SMALL),
	SET("lacp_active on", 0),
	SET("lacp_active off", 0),
	SET("coupled_control on", SMALL),
	SET("coupled_control off", SMALL),
	SET("max_links 0", SMALL | REORDERS),
	SET("max_links 1", SMALL | REORDERS),
	SET("lacp_revert off", SMALL | REORDERS),
	SET("lacp_fallback all", SMALL),
	SET("lacp_wtr 5", SMALL),
	SET("min_links 2 min_links_lacp on", 0),
	SET("lacp_partner C", 0),
	SET("lacp_partner none", FREE | SMALL),
	SET("ad_select count", 0),
	SET("ad_select actor_port_prio", 0),
	SET("ad_user_port_key 1", 0),
	SET("ad_actor_system 70", 0),
};
const int move_count = sizeof(move_table) / sizeof(*move_table);
