/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of the ports of a LAG for max_links, and when one takes another's place. The priorities
 * of the better system decide (6.7.1). But a port that does not get in sync goes behind the others,
 * and a port that works keeps its place until a better one is ready to take over. Called by
 * selection.c, mux.c and view/lacp_why.c; system.c lets lacp_rank_note_times() note the times it
 * needs.
 */
#include "lacp/machines.h"

static bool rank_is_in_sync(const struct lacp_port_state *port)
{
	return lacp_is_live(port) && port->partner.state & LACP_SYNCHRONIZATION;
}

/* Does it distribute, and is the partner's port in sync? */
static bool rank_works(const struct lacp_port_state *port)
{
	return port->selected == LACP_SELECTED && port->actor.state & LACP_DISTRIBUTING &&
	       rank_is_in_sync(port);
}

/*
 * The port would carry traffic as soon as another one makes room. The partner must have heard what
 * it does now: it may have said that it collects when it had not yet heard that we left. A partner
 * that does not collect yet may be waiting for us, too. With independent control we say that we
 * collect before that, so the partner need not wait.
 */
static bool rank_can_take_over(const struct lacp_system *sys, const struct lacp_port_state *port,
			       uint64_t now_ns)
{
	bool waited = sys->state.config.coupled && now_ns >= port->in_sync_ns + LACP_HANDOVER_TIME;

	return port->selected == LACP_SELECTED && port->in_sync_ns && !port->repeats &&
	       (port->partner.state & LACP_COLLECTING || waited) &&
	       now_ns >= lacp_transmit_allowed_ns(port);
}

static bool rank_are_together(const struct lacp_port_state *a, const struct lacp_port_state *b)
{
	return a != b && a->aggregator == b->aggregator && b->selected != LACP_UNSELECTED;
}

/* Is it selected and in sync at both ends, so that it works or is about to work? */
static unsigned int rank_count_in_sync_beside(const struct lacp_system *sys,
					      const struct lacp_port_state *port)
{
	unsigned int count = 0;

	lacp_for_each_slot (slot, sys->used) {
		const struct lacp_port_state *peer = &sys->port[slot];

		count += rank_are_together(port, peer) && peer->selected == LACP_SELECTED &&
			 peer->in_sync_ns;
	}
	return count;
}

bool lacp_is_restoring(const struct lacp_system *sys, const struct lacp_port_state *port,
		       uint64_t now_ns)
{
	const struct lacp_config *config = &sys->state.config;
	unsigned int needed = config->min_links ? config->min_links : 1;

	return config->wtr_s && port->carried && port->live_ns && !rank_works(port) &&
	       now_ns < port->live_ns + config->wtr_s * LACP_SECOND &&
	       rank_count_in_sync_beside(sys, port) >= needed;
}

/* The order of lacp_comes_before(), but ports that work come first if the user wants it so. */
static bool rank_ranks_before(const struct lacp_system *sys, const struct lacp_port_state *a,
			      const struct lacp_port_state *b)
{
	if (!sys->state.config.revert && rank_works(a) != rank_works(b))
		return rank_works(a);
	return lacp_comes_before(a, b);
}

static bool rank_goes_first(const struct lacp_system *sys, const struct lacp_port_state *peer,
			    const struct lacp_port_state *port, uint64_t now_ns)
{
	return rank_are_together(port, peer) && rank_ranks_before(sys, peer, port) &&
	       !lacp_is_restoring(sys, peer, now_ns);
}

static unsigned int rank_count_before(const struct lacp_system *sys,
				      const struct lacp_port_state *port, uint64_t now_ns)
{
	unsigned int count = 0;

	lacp_for_each_slot (slot, sys->used)
		count += rank_goes_first(sys, &sys->port[slot], port, now_ns);
	return count;
}

/* Those of them that work, or are about to be used and only wait for the port to make room. */
static unsigned int rank_count_ready_before(const struct lacp_system *sys,
					    const struct lacp_port_state *port, uint64_t now_ns)
{
	unsigned int count = 0;

	lacp_for_each_slot (slot, sys->used) {
		const struct lacp_port_state *peer = &sys->port[slot];

		count += rank_goes_first(sys, peer, port, now_ns) &&
			 (rank_works(peer) ||
			  (rank_can_take_over(sys, peer, now_ns) &&
			   rank_count_before(sys, peer, now_ns) < sys->state.config.max_links));
	}
	return count;
}

bool lacp_is_within_max_links(const struct lacp_system *sys, const struct lacp_port_state *port,
			      uint64_t now_ns)
{
	unsigned int most = sys->state.config.max_links;

	if (!most || rank_count_before(sys, port, now_ns) < most)
		return true;
	return rank_works(port) && rank_count_ready_before(sys, port, now_ns) < most;
}

bool lacp_misses_min_links(const struct lacp_system *sys, uint8_t aggregator)
{
	const struct lacp_config *config = &sys->state.config;
	unsigned int count = 0;

	if (!config->min_links_strict || config->min_links < 2)
		return false;
	lacp_for_each_slot (slot, sys->used) {
		count += sys->port[slot].aggregator == aggregator &&
			 sys->port[slot].selected != LACP_UNSELECTED &&
			 lacp_is_known(&sys->port[slot]) && !sys->port[slot].behind_ns;
	}
	if (config->max_links && count > config->max_links)
		count = config->max_links;
	return count < config->min_links;
}

/* Notes since when something is true; 0: it is not true. */
static void rank_note(uint64_t *since_ns, bool is_so, uint64_t now_ns)
{
	if (!is_so)
		*since_ns = 0;
	else if (!*since_ns)
		*since_ns = now_ns;
}

/* Otherwise no port has to wait for another. */
static bool rank_is_ranked(const struct lacp_system *sys)
{
	return sys->state.config.max_links || sys->state.config.min_links_strict;
}

static uint64_t rank_rest_ns(const struct lacp_port_state *port)
{
	return LACP_REFUSED_TIME << port->refusals;
}

/*
 * How long the port may be attached and out of sync. Ports that are behind wait for each other, and
 * change less and less often.
 */
static uint64_t rank_turn_ns(const struct lacp_port_state *port)
{
	return port->behind_ns ? rank_rest_ns(port) : LACP_REFUSED_TIME;
}

static void rank_put_behind(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	if (!port->behind_ns)
		lacp_tell(sys, slot, LACP_EVENT_BEHIND, 1);
	port->behind_ns = port->out_sync_ns = now_ns;
	if (port->refusals < LACP_REFUSED_DOUBLINGS)
		port->refusals++;
}

/* It has stood by for long enough. The fault may be gone, and both ends may be waiting for that. */
static bool rank_has_rested(const struct lacp_port_state *port, uint64_t now_ns)
{
	return !(port->actor.state & LACP_SYNCHRONIZATION) &&
	       now_ns >= port->behind_ns + rank_rest_ns(port);
}

static void rank_forgive(struct lacp_system *sys, unsigned int slot)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->behind_ns = 0;
	lacp_tell(sys, slot, LACP_EVENT_BEHIND, 0);
}

/*
 * A port that is in sync, or whose link was lost, starts again. The refusals of a port that works
 * are forgotten.
 */
bool lacp_rank_note_times(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool attached = port->actor.state & LACP_SYNCHRONIZATION, live = lacp_is_live(port);
	bool collects = rank_is_in_sync(port) && port->partner.state & LACP_COLLECTING;
	uint64_t behind_ns = port->behind_ns;

	rank_note(&port->live_ns, live, now_ns);
	rank_note(&port->in_sync_ns, attached && rank_is_in_sync(port), now_ns);
	rank_note(&port->out_sync_ns, attached && live && !rank_is_in_sync(port), now_ns);
	rank_note(&port->unsettled_ns, attached && !collects, now_ns);
	port->carried |= (port->actor.state & LACP_DISTRIBUTING) != 0;
	if (rank_works(port) || !live)
		port->refusals = 0;
	if (rank_is_ranked(sys) && port->out_sync_ns &&
	    now_ns >= port->out_sync_ns + rank_turn_ns(port))
		rank_put_behind(sys, slot, now_ns);
	else if (port->behind_ns && (rank_is_in_sync(port) || !live || !rank_is_ranked(sys) ||
				     rank_has_rested(port, now_ns)))
		rank_forgive(sys, slot);
	return behind_ns != port->behind_ns;
}

/* When no port works any more, all are needed, so none has to wait to be restored. */
bool lacp_rank_settle(struct lacp_system *sys)
{
	bool changed = false;

	lacp_for_each_slot (slot, sys->used) {
		if (rank_works(&sys->port[slot]))
			return false;
	}
	lacp_for_each_slot (slot, sys->used) {
		changed |= sys->port[slot].carried;
		sys->port[slot].carried = 0;
	}
	return changed;
}

static uint64_t rank_later_than(uint64_t since_ns, uint64_t time_ns)
{
	return since_ns ? since_ns + time_ns : 0;
}

uint64_t lacp_rank_deadline(const struct lacp_system *sys, const struct lacp_port_state *port,
			    uint64_t now_ns)
{
	const uint64_t times[] = {
		rank_is_ranked(sys) ? rank_later_than(port->out_sync_ns, rank_turn_ns(port)) : 0,
		rank_later_than(port->out_sync_ns, LACP_RETURN_TIME),
		rank_later_than(port->in_sync_ns, LACP_HANDOVER_TIME),
		port->in_sync_ns && !rank_works(port) ? lacp_transmit_allowed_ns(port) : 0,
		rank_later_than(port->live_ns, sys->state.config.wtr_s * LACP_SECOND),
		rank_later_than(port->behind_ns, rank_rest_ns(port)),
	};
	uint64_t deadline = 0;

	for (unsigned int i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (times[i] > now_ns && (!deadline || times[i] < deadline))
			deadline = times[i];
	return deadline;
}
