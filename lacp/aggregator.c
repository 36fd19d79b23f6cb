/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the aggregator that the bond uses (ad_select, as in kernel bonding). If in doubt, one
 * that works is kept. One whose partner attaches its ports comes before one whose partner does not:
 * several systems that each have one device and are cabled crosswise must agree in pairs. Called by
 * system.c; the only writer of active_aggregator.
 */
#include <string.h>

#include "lacp/machines.h"

struct merit {
	const struct lacp_port_state *port; /* one of the live ports; NULL: none */
	uint64_t live;			    /* ports whose partner is heard */
	uint64_t bandwidth_mbps;
	uint64_t port_priorities;
	bool aggregatable;
	bool enough;	     /* ports for min_links_lacp */
	bool in_sync;	     /* the partner has attached a port */
	bool trusted;	     /* in sync, or not in use for long enough to be */
	bool returning;	     /* in use, and out of sync only since a moment ago */
	uint64_t refused_ns; /* when it was left because its partner did not attach; 0: never */
};

static struct merit aggregator_merit_of(const struct lacp_system *sys, uint8_t aggregator,
					uint64_t now_ns)
{
	bool active = aggregator == sys->state.active_aggregator,
	     young = active && now_ns < sys->state.yield_ns;
	struct merit merit = { .trusted = young,
			       .enough = !lacp_misses_min_links(sys, aggregator) };
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		const struct lacp_port_state *port = &sys->port[slot];

		if (port->aggregator != aggregator || port->selected == LACP_UNSELECTED ||
		    !lacp_is_live(port))
			continue;
		merit.port = port;
		merit.live++;
		merit.bandwidth_mbps += port->config.speed_mbps;
		merit.port_priorities += port->config.port_priority;
		merit.aggregatable = port->partner.state & LACP_AGGREGATION;
		if (port->refused_ns > merit.refused_ns)
			merit.refused_ns = port->refused_ns;
		merit.returning |= active && port->out_sync_ns &&
				   now_ns < port->out_sync_ns + LACP_RETURN_TIME;
		merit.in_sync |= (port->partner.state & LACP_SYNCHRONIZATION) != 0;
	}
	merit.trusted |= merit.in_sync;
	if (active && !merit.trusted)
		merit.refused_ns = now_ns;
	return merit;
}

/* Returns 1 if a is better, -1 if b is better, 0 if they are equal. */
static int aggregator_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int aggregator_compare_by_policy(const struct merit *a, const struct merit *b,
					enum lacp_ad_select policy)
{
	int by_count = aggregator_compare(a->live, b->live);
	int by_bandwidth = aggregator_compare(a->bandwidth_mbps, b->bandwidth_mbps);

	switch (policy) {
	case LACP_AD_PORT_PRIO: return aggregator_compare(a->port_priorities, b->port_priorities);
	case LACP_AD_COUNT: return by_count ? by_count : by_bandwidth;
	case LACP_AD_STABLE:
	case LACP_AD_BANDWIDTH: return by_bandwidth ? by_bandwidth : by_count;
	}
	return 0;
}

/*
 * An order that both ends of a link see alike: the better partner, then the lower key of the better
 * system. It decides if neither the policy nor working traffic does, so that systems in a ring do
 * not wait for each other.
 */
static bool aggregator_is_before_for_all(const struct lacp_port_state *a,
					 const struct lacp_port_state *b)
{
	const struct lacp_info *x = &a->partner, *y = &b->partner;
	bool decides = lacp_actor_decides(a);

	if (x->system_priority != y->system_priority)
		return x->system_priority < y->system_priority;
	if (memcmp(x->system, y->system, LACP_MAC_SIZE) != 0)
		return memcmp(x->system, y->system, LACP_MAC_SIZE) < 0;
	if (a->actor.key == b->actor.key)
		return x->key < y->key;
	if (x->key == y->key)
		return a->actor.key < b->actor.key;
	return decides ? a->actor.key < b->actor.key : x->key < y->key;
}

/* b is the best so far; the one in use is compared first. */
static bool aggregator_is_better(const struct merit *a, const struct merit *b,
				 enum lacp_ad_select policy)
{
	int by_policy;

	if (!a->live || !b->live)
		return a->live && !b->live;
	if (a->enough != b->enough)
		return a->enough;
	if (a->trusted != b->trusted)
		return a->trusted;
	if (!a->trusted && b->returning)
		return false;
	if (!a->trusted && a->refused_ns != b->refused_ns)
		return a->refused_ns < b->refused_ns;
	if (a->aggregatable != b->aggregatable)
		return a->aggregatable;
	if (b->in_sync && policy == LACP_AD_STABLE)
		return false;
	by_policy = aggregator_compare_by_policy(a, b, policy);
	if (by_policy || b->in_sync)
		return by_policy > 0;
	return aggregator_is_before_for_all(a->port, b->port);
}

static bool aggregator_has_ports(const struct lacp_system *sys, uint8_t aggregator)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].aggregator == aggregator &&
		    sys->port[slot].selected != LACP_UNSELECTED)
			return true;
	}
	return false;
}

/*
 * An aggregator whose ports are all dead stays in use while no other is alive, because its ports
 * may come back.
 */
uint8_t lacp_aggregator_next(const struct lacp_system *sys, uint64_t now_ns)
{
	uint8_t active = sys->state.active_aggregator,
		best = aggregator_has_ports(sys, active) ? active : 0;
	struct merit best_merit = aggregator_merit_of(sys, best, now_ns);
	uint64_t seen = 0;
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		uint8_t aggregator = sys->port[slot].aggregator;
		struct merit merit;

		if (!aggregator || aggregator == active || seen >> (aggregator - 1) & 1)
			continue;
		seen |= 1ull << (aggregator - 1);
		merit = aggregator_merit_of(sys, aggregator, now_ns);
		if (!aggregator_is_better(&merit, &best_merit, sys->state.config.ad_select))
			continue;
		best = aggregator;
		best_merit = merit;
	}
	return best;
}

/*
 * How long an aggregator may take to get in sync with its partner. It differs between systems and
 * times, so that two systems that try several partners in turn do not miss each other for ever.
 */
static uint64_t aggregator_patience(const struct lacp_system *sys, uint64_t now_ns)
{
	uint64_t mixed = now_ns;

	for (unsigned int i = 0; i < LACP_MAC_SIZE; i++)
		mixed = (mixed ^ sys->state.config.system[i]) * 0x9e3779b97f4a7c15ull;
	return LACP_YIELD_TIME + (mixed >> 32) % LACP_YIELD_TIME;
}

/* Aggregators to which no partner attaches take turns. */
static void aggregator_refuse(struct lacp_system *sys, uint8_t aggregator, uint64_t now_ns)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].aggregator == aggregator)
			sys->port[slot].refused_ns = now_ns;
	}
}

void lacp_aggregator_enter(struct lacp_system *sys, uint8_t aggregator, uint64_t now_ns)
{
	struct merit merit = aggregator_merit_of(sys, sys->state.active_aggregator, now_ns);

	if (merit.live && !merit.trusted)
		aggregator_refuse(sys, sys->state.active_aggregator, now_ns);
	sys->state.active_aggregator = aggregator;
	sys->state.yield_ns = now_ns + aggregator_patience(sys, now_ns);
	sys->outputs->aggregator(sys->context, aggregator);
}
