/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which ports belong together, which aggregator the bond uses, and which ports are selected there.
 */
#include <string.h>

#include "lacp/machines.h"

/*
 * What the ports of a link aggregation group are to each other: which ones belong together, which
 * system decides, which port comes first. Reads two ports and nothing else. Also for
 * rank.c, mux.c and view/lacp_why.c.
 */

/* Is the port operable, and is its partner heard? */
bool lacp_is_live(const struct lacp_port_state *port)
{
	return port->config.link && port->rx == LACP_RX_CURRENT;
}

bool lacp_is_known(const struct lacp_port_state *port)
{
	return lacp_is_live(port) && port->matched && !(port->partner.state & LACP_EXPIRED);
}

/* Is the actor the system with the better priority? Then its port priorities decide. 6.7.1 */
static bool lag_actor_decides(const struct lacp_port_state *port)
{
	const struct lacp_info *actor = &port->actor, *partner = &port->partner;

	if (actor->system_priority != partner->system_priority)
		return actor->system_priority < partner->system_priority;
	return memcmp(actor->system, partner->system, LACP_MAC_SIZE) < 0;
}

/*
 * Live ports come before dead ones, and ports in sync before refused ones (which take turns). Then
 * the port priorities of the better system decide.
 */
bool lacp_comes_before(const struct lacp_port_state *a, const struct lacp_port_state *b)
{
	bool decides = lag_actor_decides(a);
	const struct lacp_info *x = decides ? &a->actor : &a->partner,
			       *y = decides ? &b->actor : &b->partner;

	if (lacp_is_live(a) != lacp_is_live(b))
		return lacp_is_live(a);
	if (a->behind_ns != b->behind_ns)
		return a->behind_ns < b->behind_ns;
	if (x->port_priority != y->port_priority)
		return x->port_priority < y->port_priority;
	if (x->port != y->port)
		return x->port < y->port;
	return a->actor.port < b->actor.port;
}

/* 6.3.6: the same LAG ID, and both ends of both links can be aggregated. */
static bool lag_is_same(const struct lacp_port_state *a, const struct lacp_port_state *b)
{
	return a->actor.key == b->actor.key && a->partner.key == b->partner.key &&
	       a->partner.system_priority == b->partner.system_priority &&
	       !memcmp(a->partner.system, b->partner.system, LACP_MAC_SIZE) &&
	       (a->actor.state & b->actor.state & a->partner.state & b->partner.state &
		LACP_AGGREGATION);
}

/*
 * Chooses the aggregator that the bond uses (ad_select, as in kernel bonding). If in doubt, one
 * that works is kept. One whose partner attaches its ports comes before one whose partner does not:
 * several systems that each have one device and are cabled crosswise must agree in pairs. Called by
 * system.c; the only writer of active_aggregator.
 */

struct merit {
	const struct lacp_port_state *port; /* one of the live ports; NULL: none */
	uint64_t live;			    /* ports whose partner is heard */
	uint64_t bandwidth_mbps;
	uint64_t port_priorities;
	bool aggregatable;
	bool enough;	     /* ports for min_links_lacp */
	bool in_sync;	     /* the partner has attached a port */
	bool attached;	     /* a port of ours has waited for the others (6.4.15) */
	bool trusted;	     /* in sync, or not attached for long enough to be */
	bool ready;	     /* would attach at once; its ports have heard each other */
	bool returning;	     /* in use, and out of sync only since a moment ago */
	bool refused;	     /* in use for long enough to be in sync, and it is not */
	uint64_t refused_ns; /* when it was left because its partner did not attach; 0: never */
};

static struct merit aggregator_merit_of(const struct lacp_system *sys, uint8_t aggregator,
					uint64_t now_ns)
{
	bool active = aggregator == sys->state.active_aggregator,
	     young = active && now_ns < sys->state.yield_ns;
	struct merit merit = { .enough = !lacp_misses_min_links(sys, aggregator), .ready = true };

	lacp_for_each_slot (slot, sys->used) {
		const struct lacp_port_state *port = &sys->port[slot];

		if (port->aggregator != aggregator || port->selected == LACP_UNSELECTED)
			continue;
		merit.ready &= lacp_due(port->wait_while_ns, now_ns);
		if (!lacp_is_live(port))
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
		merit.attached |= (port->actor.state & LACP_SYNCHRONIZATION) != 0;
		merit.ready &= lacp_is_known(port);
	}
	merit.trusted = merit.in_sync || (young && (merit.attached || merit.ready));
	merit.refused = active && !merit.trusted && !young;
	if (merit.refused)
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
	bool decides = lag_actor_decides(a);

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

/*
 * May it be used before the partner has attached its ports? A partner that has one device, too,
 * stands by there while both use the other aggregator. By bandwidth and count it chooses the same.
 * If it does not follow, it is not asked again.
 */
static bool aggregator_may_be_tried(const struct merit *a, const struct merit *in_use,
				    enum lacp_ad_select policy)
{
	if (policy != LACP_AD_BANDWIDTH && policy != LACP_AD_COUNT)
		return false;
	return in_use->in_sync && a->live && a->ready && a->aggregatable && !a->refused_ns &&
	       !memcmp(a->port->partner.system, in_use->port->partner.system, LACP_MAC_SIZE);
}

/* That ports belong to: of number n, bit n - 1. */
static uint64_t aggregator_all(const struct lacp_system *sys)
{
	uint64_t all = 0;

	lacp_for_each_slot (slot, sys->used)
		all |= lacp_bit(sys->port[slot].aggregator - 1u);
	return all;
}

static bool aggregator_has_ports(const struct lacp_system *sys, uint8_t aggregator)
{
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
	uint64_t others = aggregator_all(sys) & ~lacp_bit(active - 1u);
	struct merit in_use, best_merit;

	if (!others)
		return best;
	in_use = best_merit = aggregator_merit_of(sys, best, now_ns);
	lacp_for_each_slot (slot, sys->used) {
		uint8_t aggregator = sys->port[slot].aggregator;
		struct merit merit;

		if (!(others & lacp_bit(aggregator - 1u)))
			continue;
		others &= ~lacp_bit(aggregator - 1u);
		merit = aggregator_merit_of(sys, aggregator, now_ns);
		merit.trusted |=
			aggregator_may_be_tried(&merit, &in_use, sys->state.config.ad_select);
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
	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].aggregator == aggregator)
			sys->port[slot].refused_ns = now_ns;
	}
}

void lacp_aggregator_enter(struct lacp_system *sys, uint8_t aggregator, uint64_t now_ns)
{
	struct merit merit = aggregator_merit_of(sys, sys->state.active_aggregator, now_ns);
	struct merit next = aggregator_merit_of(sys, aggregator, now_ns);
	bool tries = merit.in_sync && !next.in_sync;

	if (merit.live && merit.refused)
		aggregator_refuse(sys, sys->state.active_aggregator, now_ns);
	sys->state.active_aggregator = aggregator;
	sys->state.yield_ns =
		now_ns + (tries ? LACP_RETURN_TIME : aggregator_patience(sys, now_ns));
	sys->outputs->aggregator(sys->context, aggregator);
}

/*
 * Selection Logic (6.4.14): which aggregator a port belongs to, and whether it is selected there. A
 * bond has one device, so only one aggregator is in use. Ports of the others are
 * standby, and so are ports that rank.c leaves out. Called by system.c; the only writer of Selected
 * and of the port's aggregator.
 */

static bool selection_is_taken(const struct lacp_system *sys, unsigned int slot, uint8_t aggregator)
{
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

	lacp_for_each_slot (other, sys->used) {
		peer = &sys->port[other];
		if (other != slot && peer->selected != LACP_UNSELECTED && lag_is_same(port, peer))
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
