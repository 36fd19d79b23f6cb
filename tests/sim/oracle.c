/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A system that nothing happens to must not change before its deadline: what changes by time alone
 * needs a timer. A copy of it is run just before the next event, and compared.
 */
#include "tests/sim/world.h"

static void no_frame(void *context, unsigned int slot, const uint8_t *frame, size_t length)
{
}

static void no_port(void *context, unsigned int slot, bool collecting, bool distributing)
{
}

static void no_aggregator(void *context, unsigned int aggregator)
{
}

static void no_drain(void *context, unsigned int slot, bool answered)
{
}

static void no_event(void *context, unsigned int slot, enum lacp_event event, unsigned int detail)
{
}

static const struct lacp_outputs nothing = { no_frame, no_port, no_aggregator, no_drain, no_event };

static bool is_same(const struct lacp_port_state *a, const struct lacp_port_state *b)
{
	return a->rx == b->rx && a->periodic == b->periodic && a->mux == b->mux &&
	       a->selected == b->selected && a->fallback == b->fallback &&
	       !a->behind_ns == !b->behind_ns && a->ntt == b->ntt &&
	       a->counters.lacpdu_tx == b->counters.lacpdu_tx;
}

static void ask(struct world *world, const struct system *system, uint64_t before_ns)
{
	static struct lacp_system copy;

	if (before_ns <= world->now_ns || before_ns >= system->deadline_ns)
		return;
	copy = system->lacp;
	copy.outputs = &nothing;
	lacp_run(&copy, before_ns);
	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (!is_same(&copy.port[slot], &system->lacp.port[slot]))
			world_fail(world, "%c.%u changes by time alone, without a deadline",
				   system->name, slot + 1);
	if (copy.state.active_aggregator != system->lacp.state.active_aggregator)
		world_fail(world, "%c changes its aggregator by time alone, without a deadline",
			   system->name);
}

void oracle_ask(struct world *world, uint64_t next_ns)
{
	for (int i = 0; i < SYSTEMS; i++)
		if (world->system[i].exists && !world->system[i].away &&
		    !world->system[i].is_reference)
			ask(world, &world->system[i], next_ns - 1);
}
