/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may happen in a history. */
#include <stddef.h>

#include "tests/sim/explore.h"

static bool move_lose(struct world *world, struct end end)
{
	if (world->system[end.system].port[end.slot].lose)
		return false;
	world_lose(world, end, 1);
	return true;
}

static bool move_cut(struct world *world, struct end end, bool cut)
{
	if (end.system || world->system[0].port[end.slot].cut == cut)
		return false;
	world_cut(world, end, cut);
	return true;
}

static bool move_loss(struct world *world, struct end end, unsigned int percent)
{
	if (world->system[end.system].port[end.slot].loss == percent)
		return false;
	world_loss(world, end, percent);
	return true;
}

static bool move_away(struct world *world, struct end end, bool away)
{
	if (end.slot || world->system[end.system].away == away)
		return false;
	if (away)
		world_away(world, end.system);
	else
		world_back(world, end.system);
	return true;
}

static bool move_stop(struct world *world, struct end end, bool stopped)
{
	if (end.slot || world->system[end.system].stopped == stopped)
		return false;
	world_stop(world, end.system, stopped);
	return true;
}

/* at: of a flag in the options of the system. */
static bool move_flag(struct world *world, struct end end, size_t at, bool value)
{
	struct lacp_config options = world->system[end.system].lacp.state.config;
	uint8_t *flag = (uint8_t *)&options + at;

	if (end.slot || world->system[end.system].away || *flag == value)
		return false;
	*flag = value;
	world_configure(world, end.system, &options);
	return true;
}

static bool move_priority(struct world *world, struct end end, uint16_t priority)
{
	struct lacp_port_config options = world->system[end.system].port[end.slot].config;

	if (options.port_priority == priority)
		return false;
	options.port_priority = priority;
	world_port_configure(world, end, &options);
	return true;
}

const struct move_kind move_kinds[MOVES] = {
	[MOVE_LOSE] = { "lose 1 @.#", false, true },
	[MOVE_CUT] = { "cut @.#", false, false },
	[MOVE_MEND] = { "mend @.#", true, true },
	[MOVE_DEAF] = { "loss 100 @.#", false, false },
	[MOVE_HEAR] = { "loss 0 @.#", true, true },
	[MOVE_AWAY] = { "away @", false, true },
	[MOVE_BACK] = { "back @", true, true },
	[MOVE_STOP] = { "stop @", false, false },
	[MOVE_START] = { "start @", true, true },
	[MOVE_FAST] = { "set @ lacp_rate fast", false, true },
	[MOVE_SLOW] = { "set @ lacp_rate slow", false, true },
	[MOVE_ACTIVE] = { "set @ lacp_active on", false, false },
	[MOVE_PASSIVE] = { "set @ lacp_active off", false, false },
	[MOVE_FIRST] = { "port @.# actor_port_prio 1", false, true },
};

bool move_make(struct world *world, enum move move, struct end end)
{
	switch (move) {
	case MOVE_LOSE: return move_lose(world, end);
	case MOVE_CUT: return move_cut(world, end, true);
	case MOVE_MEND: return move_cut(world, end, false);
	case MOVE_DEAF: return move_loss(world, end, 100);
	case MOVE_HEAR: return move_loss(world, end, 0);
	case MOVE_AWAY: return move_away(world, end, true);
	case MOVE_BACK: return move_away(world, end, false);
	case MOVE_STOP: return move_stop(world, end, true);
	case MOVE_START: return move_stop(world, end, false);
	case MOVE_FAST: return move_flag(world, end, offsetof(struct lacp_config, rate_fast), true);
	case MOVE_SLOW:
		return move_flag(world, end, offsetof(struct lacp_config, rate_fast), false);
	case MOVE_ACTIVE: return move_flag(world, end, offsetof(struct lacp_config, active), true);
	case MOVE_PASSIVE:
		return move_flag(world, end, offsetof(struct lacp_config, active), false);
	case MOVE_FIRST: return move_priority(world, end, 1);
	case MOVES: break;
	}
	return false;
}
