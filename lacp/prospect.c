/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What would carry traffic if some ports left: the rest of the aggregator in use, or the one that
 * aggregator.c would choose then. Works on a copy of the system. Called by the owner, before it
 * takes ports out.
 */
#include "lacp/machines.h"

/* A port whose link is down keeps its place in its aggregator, until it is stopped. */
static void prospect_leave(struct lacp_system *sys, uint64_t leaving)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used & leaving) {
		struct lacp_port_state *port = &sys->port[slot];

		if (!port->config.link)
			continue;
		port->config.link = LACP_LINK_DOWN;
		port->selected = LACP_UNSELECTED;
		port->aggregator = 0;
		port->fallback = 0;
		port->fallback_ns = 0;
	}
}

static bool prospect_can_begin(const struct lacp_port_state *port)
{
	return port->selected == LACP_STANDBY && lacp_is_live(port) && !port->behind_ns;
}

static bool prospect_is_chosen(const struct lacp_system *rest, unsigned int slot, uint64_t now_ns)
{
	return lacp_is_live(&rest->port[slot]) &&
	       lacp_selection_next(rest, slot, now_ns).selected == LACP_SELECTED;
}

struct lacp_prospect lacp_prospect(const struct lacp_system *sys, uint64_t leaving, uint64_t now_ns)
{
	struct lacp_system rest = *sys;
	struct lacp_prospect prospect = { 0 };
	unsigned int slot;

	prospect_leave(&rest, leaving);
	prospect.fallback = lacp_fallback_next(&rest, now_ns) & ~lacp_distributing(sys);
	prospect.aggregator = lacp_aggregator_next(&rest, now_ns);
	if (prospect.aggregator && lacp_misses_min_links(&rest, prospect.aggregator))
		return prospect;
	if (prospect.aggregator == sys->state.active_aggregator)
		prospect.distributing = lacp_distributing(sys) & ~leaving;
	rest.state.active_aggregator = prospect.aggregator;
	lacp_for_each_slot (slot, rest.used) {
		const struct lacp_port_state *port = &rest.port[slot];

		if (port->aggregator != prospect.aggregator)
			continue;
		if (prospect_can_begin(port))
			prospect.standby |= 1ull << slot;
		if (port->selected == LACP_SELECTED)
			prospect.selected |= 1ull << slot;
		if (prospect_is_chosen(&rest, slot, now_ns))
			prospect.chosen |= 1ull << slot;
	}
	return prospect;
}
