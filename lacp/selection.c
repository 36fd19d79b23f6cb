/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selection Logic (6.4.14): which aggregator a port belongs to, and whether it is selected there. A
 * bond has one device, so only one aggregator is in use (aggregator.c). Ports of the others are
 * standby, and so are ports that rank.c leaves out. Called by system.c; the only writer of Selected
 * and of the port's aggregator.
 */
#include "lacp/machines.h"

static bool selection_is_taken(const struct lacp_system *sys, unsigned int slot, uint8_t aggregator)
{
	unsigned int other;

	lacp_for_each_slot (other, sys->used) {
		if (other != slot && sys->port[other].aggregator == aggregator)
			return true;
	}
	return false;
}

/*
 * The aggregator of other ports of the LAG, else the port's own, else the lowest that is free
 * (6.4.14.2).
 */
static uint8_t selection_find_aggregator(const struct lacp_system *sys, unsigned int slot)
{
	const struct lacp_port_state *port = &sys->port[slot], *peer;
	uint8_t aggregator = (uint8_t)(slot + 1);
	unsigned int other;

	lacp_for_each_slot (other, sys->used) {
		peer = &sys->port[other];
		if (other != slot && peer->selected != LACP_UNSELECTED && lacp_same_lag(port, peer))
			return peer->aggregator;
	}
	if (!selection_is_taken(sys, slot, aggregator))
		return aggregator;
	for (aggregator = 1; selection_is_taken(sys, slot, aggregator);)
		aggregator++;
	return aggregator;
}

static bool selection_may_be_used(const struct lacp_system *sys, const struct lacp_port_state *port,
				  uint8_t aggregator, uint64_t now_ns)
{
	return aggregator == sys->state.active_aggregator &&
	       !lacp_misses_min_links(sys, aggregator) && !lacp_is_restoring(sys, port, now_ns) &&
	       lacp_is_within_max_links(sys, port, now_ns);
}

/*
 * A port without a partner is left alone, because there is nothing to aggregate with. A port that
 * is stopped has left.
 */
struct lacp_choice lacp_selection_next(const struct lacp_system *sys, unsigned int slot,
				       uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	struct lacp_choice choice = { .selected = LACP_UNSELECTED, .aggregator = port->aggregator };

	if (port->selected == LACP_UNSELECTED && port->mux != LACP_MUX_DETACHED)
		return choice;
	if (!lacp_has_partner(port) || port->stopped) {
		choice.aggregator = 0;
		return choice;
	}
	if (port->selected == LACP_UNSELECTED)
		choice.aggregator = selection_find_aggregator(sys, slot);
	choice.selected = selection_may_be_used(sys, port, choice.aggregator, now_ns)
				  ? LACP_SELECTED
				  : LACP_STANDBY;
	return choice;
}

void lacp_selection_enter(struct lacp_system *sys, unsigned int slot, struct lacp_choice choice)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool changed = port->selected != choice.selected;

	port->selected = (uint8_t)choice.selected;
	port->aggregator = choice.aggregator;
	if (changed)
		lacp_tell(sys, slot, LACP_EVENT_SELECTED, choice.selected);
}

void lacp_unselect(struct lacp_system *sys, unsigned int slot)
{
	struct lacp_choice none = { .selected = LACP_UNSELECTED,
				    .aggregator = sys->port[slot].aggregator };

	lacp_selection_enter(sys, slot, none);
}
