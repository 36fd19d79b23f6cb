/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a port comes to carry traffic: by the Mux machine, which churn detection watches, or by
 * fallback.
 */
#include "lacp/machines.h"

/*
 * Mux machine (6.4.15): attaches a selected port to its aggregator and lets it collect and
 * distribute, both at once (coupled control) or one after the other (independent control). Called
 * by system.c; the only writer of the bits synchronization, collecting and distributing.
 */

#define MUX_BITS (LACP_SYNCHRONIZATION | LACP_CARRY)

/* What a state says in Actor_Oper_Port_State. */
static const uint8_t bits_of[] = {
	[LACP_MUX_DETACHED] = 0,
	[LACP_MUX_WAITING] = 0,
	[LACP_MUX_ATTACHED] = LACP_SYNCHRONIZATION,
	[LACP_MUX_COLLECTING] = LACP_SYNCHRONIZATION | LACP_COLLECTING,
	[LACP_MUX_DISTRIBUTING] = LACP_SYNCHRONIZATION | LACP_CARRY,
	[LACP_MUX_COLLECTING_DISTRIBUTING] = LACP_SYNCHRONIZATION | LACP_CARRY,
};

static bool mux_is_waiting(const struct lacp_port_state *port, uint8_t aggregator)
{
	return port->aggregator == aggregator && port->selected == LACP_SELECTED &&
	       port->mux == LACP_MUX_WAITING;
}

/* Is Ready_N true for all ports that wait (6.4.8)? */
static bool mux_all_waited(const struct lacp_system *sys, uint8_t aggregator, uint64_t now_ns)
{
	lacp_for_each_slot (slot, sys->used) {
		if (mux_is_waiting(&sys->port[slot], aggregator) &&
		    !lacp_due(sys->port[slot].wait_while_ns, now_ns))
			return false;
	}
	return true;
}

/* Fast start: the partner has attached all selected ports already. */
static bool mux_all_in_sync(const struct lacp_system *sys, uint8_t aggregator)
{
	lacp_for_each_slot (slot, sys->used) {
		const struct lacp_port_state *port = &sys->port[slot];

		if (port->aggregator == aggregator && port->selected == LACP_SELECTED &&
		    port->config.link && !(port->partner.state & LACP_SYNCHRONIZATION))
			return false;
	}
	return true;
}

/*
 * Fast start: every port of the system has come to this aggregator, so there is none left to wait
 * for.
 */
static bool mux_all_arrived(const struct lacp_system *sys, uint8_t aggregator)
{
	lacp_for_each_slot (slot, sys->used) {
		const struct lacp_port_state *port = &sys->port[slot];

		if (port->aggregator != aggregator || port->selected == LACP_UNSELECTED ||
		    !port->matched || !lacp_is_live(port))
			return false;
	}
	return true;
}

bool lacp_mux_ready(const struct lacp_system *sys, uint8_t aggregator, uint64_t now_ns)
{
	return mux_all_waited(sys, aggregator, now_ns) || mux_all_in_sync(sys, aggregator) ||
	       mux_all_arrived(sys, aggregator);
}

static int mux_next_while_carrying(const struct lacp_port_state *port, bool coupled, bool in_sync)
{
	enum lacp_mux_state state = port->mux;
	bool far_collects = port->partner.state & LACP_COLLECTING;

	if (coupled && state != LACP_MUX_COLLECTING_DISTRIBUTING)
		return in_sync ? LACP_MUX_COLLECTING_DISTRIBUTING : LACP_MUX_ATTACHED;
	if (!coupled && state == LACP_MUX_COLLECTING_DISTRIBUTING)
		return LACP_MUX_DISTRIBUTING;
	if (state == LACP_MUX_DISTRIBUTING)
		return in_sync && far_collects ? LACP_STAY : LACP_MUX_COLLECTING;
	if (!in_sync)
		return LACP_MUX_ATTACHED;
	return state == LACP_MUX_COLLECTING && far_collects ? LACP_MUX_DISTRIBUTING : LACP_STAY;
}

int lacp_mux_next(const struct lacp_port_state *port, bool coupled, bool ready)
{
	enum lacp_mux_state state = port->mux;
	enum lacp_selected selected = port->selected;
	bool in_sync = selected == LACP_SELECTED && port->partner.state & LACP_SYNCHRONIZATION;

	switch (state) {
	case LACP_MUX_DETACHED: return selected == LACP_UNSELECTED ? LACP_STAY : LACP_MUX_WAITING;
	case LACP_MUX_WAITING:
		if (selected == LACP_UNSELECTED)
			return LACP_MUX_DETACHED;
		return selected == LACP_SELECTED && ready ? LACP_MUX_ATTACHED : LACP_STAY;
	case LACP_MUX_ATTACHED:
		if (selected != LACP_SELECTED)
			return LACP_MUX_DETACHED;
		if (!in_sync)
			return LACP_STAY;
		return coupled ? LACP_MUX_COLLECTING_DISTRIBUTING : LACP_MUX_COLLECTING;
	case LACP_MUX_COLLECTING:
	case LACP_MUX_DISTRIBUTING:
	case LACP_MUX_COLLECTING_DISTRIBUTING:
		return mux_next_while_carrying(port, coupled, in_sync);
	}
	return LACP_STAY;
}

/* A port that distributes and is still selected keeps its place; rank.c says when it must leave. */
static bool mux_has_room(const struct lacp_system *sys, const struct lacp_port_state *port)
{
	unsigned int taken = 0;

	lacp_for_each_slot (slot, sys->used) {
		const struct lacp_port_state *other = &sys->port[slot];

		taken += other != port && other->selected == LACP_SELECTED &&
			 other->actor.state & LACP_DISTRIBUTING;
	}
	return !sys->state.config.max_links || taken < sys->state.config.max_links;
}

bool lacp_mux_may(const struct lacp_system *sys, const struct lacp_port_state *port,
		  enum lacp_mux_state next, uint64_t now_ns)
{
	uint8_t begins = bits_of[next] & (uint8_t)~port->actor.state & LACP_CARRY;

	if (begins & LACP_DISTRIBUTING && !mux_has_room(sys, port))
		return false;
	return !begins || port->mux != LACP_MUX_ATTACHED || !port->ntt ||
	       now_ns >= lacp_transmit_allowed_ns(port);
}

/*
 * ntt also in DISTRIBUTING, so that the partner's picture is right at the slow rate, too. A single
 * PDU may get lost.
 */
void lacp_mux_enter(struct lacp_system *sys, unsigned int slot, enum lacp_mux_state state,
		    uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->mux = (uint8_t)state;
	port->actor.state = (uint8_t)((port->actor.state & ~MUX_BITS) | bits_of[state]);
	port->wait_while_ns = state == LACP_MUX_WAITING ? now_ns + LACP_AGGREGATE_WAIT_TIME : 0;
	if (state != LACP_MUX_WAITING) {
		port->ntt = 1;
		port->repeats = 2 + LACP_REPEATS;
	}
	lacp_tell(sys, slot, LACP_EVENT_MUX, state);
}

/*
 * Actor and Partner Churn Detection machines (6.4.17): a port that works but does not come into
 * operation within a minute. The same machine over the synchronization bit of either end. Called by
 * system.c.
 */

static int churn_next(enum lacp_churn_state state, uint64_t timer_ns, bool link, bool in_sync,
		      uint64_t now_ns)
{
	if (!link)
		return state == LACP_CHURN_MONITOR && !timer_ns ? LACP_STAY : LACP_CHURN_MONITOR;
	switch (state) {
	case LACP_CHURN_MONITOR:
		if (in_sync)
			return LACP_CHURN_NONE;
		if (!timer_ns)
			return LACP_CHURN_MONITOR;
		return lacp_due(timer_ns, now_ns) ? LACP_CHURN_CHURNED : LACP_STAY;
	case LACP_CHURN_NONE: return in_sync ? LACP_STAY : LACP_CHURN_MONITOR;
	case LACP_CHURN_CHURNED: return in_sync ? LACP_CHURN_NONE : LACP_STAY;
	}
	return LACP_STAY;
}

/* While the port is not operable the standard restarts the timer for ever; here it does not run. */
static uint64_t churn_timer(enum lacp_churn_state state, bool link, uint64_t now_ns)
{
	return state == LACP_CHURN_MONITOR && link ? now_ns + LACP_CHURN_DETECTION_TIME : 0;
}

int lacp_actor_churn_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	return churn_next((enum lacp_churn_state)port->actor_churn, port->actor_churn_ns,
			  port->config.link, port->actor.state & LACP_SYNCHRONIZATION, now_ns);
}

int lacp_partner_churn_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	return churn_next((enum lacp_churn_state)port->partner_churn, port->partner_churn_ns,
			  port->config.link, port->partner.state & LACP_SYNCHRONIZATION, now_ns);
}

void lacp_actor_churn_enter(struct lacp_system *sys, unsigned int slot, enum lacp_churn_state state,
			    uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool changed = port->actor_churn != state;

	port->actor_churn = (uint8_t)state;
	port->actor_churn_ns = churn_timer(state, port->config.link, now_ns);
	port->counters.actor_churn += state == LACP_CHURN_CHURNED;
	if (changed)
		lacp_tell(sys, slot, LACP_EVENT_ACTOR_CHURN, state);
}

void lacp_partner_churn_enter(struct lacp_system *sys, unsigned int slot,
			      enum lacp_churn_state state, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool changed = port->partner_churn != state;

	port->partner_churn = (uint8_t)state;
	port->partner_churn_ns = churn_timer(state, port->config.link, now_ns);
	port->counters.partner_churn += state == LACP_CHURN_CHURNED;
	if (changed)
		lacp_tell(sys, slot, LACP_EVENT_PARTNER_CHURN, state);
}

/*
 * Fallback (not in the standard), for a machine that boots over the network before its switch
 * speaks LACP, and for a machine whose partner falls silent or does not attach its ports. While no
 * port is in sync, ports may carry traffic without LACP. This changes nothing in the protocol: the
 * PDUs stay true. Called by system.c.
 */

#define LACP_MS 1000000ull
#define PROBE_TIME (50 * LACP_MS)
#define AT_ONCE 1 /* a deadline that has passed */

static bool fallback_is_possible(const struct lacp_port_state *port)
{
	return port->config.link && lacp_enabled(&port->config) && !port->loop_port &&
	       !port->stranger_ns;
}

/*
 * A port that carries traffic goes over at once when its partner falls silent, as the kernel's
 * does. Other ports wait for a delay, in which a partner may speak, and a partner that speaks may
 * get in sync with a port that says that it is in sync.
 */
uint64_t lacp_fallback_timer_next(const struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	uint64_t delay_ns = sys->state.config.fallback_delay_ms * LACP_MS;

	if (!fallback_is_possible(port))
		return 0;
	if (port->actor.state & LACP_CARRY)
		return AT_ONCE;
	if (lacp_is_live(port) && !port->fallback)
		return port->out_sync_ns ? port->out_sync_ns + delay_ns : 0;
	return port->fallback_ns ? port->fallback_ns : now_ns + delay_ns + !now_ns;
}

void lacp_fallback_timer_enter(struct lacp_port_state *port, uint64_t fallback_ns)
{
	port->fallback_ns = fallback_ns;
}

static uint64_t fallback_probe_sent_ns(const struct lacp_port_state *port)
{
	for (unsigned int i = 0; i < LACP_TX_LIMIT; i++)
		if (port->sent_ns[i] && port->sent_ns[i] >= port->heard_ns)
			return port->sent_ns[i];
	return 0;
}

uint64_t lacp_fallback_deadline(const struct lacp_port_state *port)
{
	uint64_t probed_ns = fallback_probe_sent_ns(port) + PROBE_TIME;

	return port->fallback_ns && !port->fallback && probed_ns > port->fallback_ns ? probed_ns
										     : 0;
}

/*
 * Has a PDU left since the link came up, and had the time to come back if there were a loop? A
 * passive port sends none.
 */
static bool fallback_has_probed(const struct lacp_port_state *port, uint64_t now_ns)
{
	if (port->periodic == LACP_PERIODIC_NONE || port->fallback_ns == AT_ONCE)
		return true;
	return fallback_probe_sent_ns(port) && now_ns - fallback_probe_sent_ns(port) >= PROBE_TIME;
}

/*
 * A partner that knows us and does not get in sync has refused us: its port stands by, or it has
 * too few links. A partner that does not know us has not refused us. Neither ends a fallback that
 * is in effect; only a port in sync does.
 */
static bool fallback_may_carry(const struct lacp_port_state *port, uint64_t now_ns)
{
	if (!lacp_due(port->fallback_ns, now_ns))
		return false;
	if (port->fallback)
		return true;
	return lacp_is_live(port) ? !lacp_is_known(port) : fallback_has_probed(port, now_ns);
}

/*
 * A port that already carries traffic must not lose its place and regain it with every PDU that
 * arrives.
 */
static bool fallback_is_talked_to(const struct lacp_port_state *port)
{
	return lacp_is_live(port) && !port->fallback;
}

/* A port whose partner is silent is preferred: the partner of the other does not get in sync. */
static bool fallback_is_better(const struct lacp_port_state *a, const struct lacp_port_state *b)
{
	if (fallback_is_talked_to(a) != fallback_is_talked_to(b))
		return fallback_is_talked_to(b);
	if (a->config.port_priority != b->config.port_priority)
		return a->config.port_priority < b->config.port_priority;
	return a->config.port < b->config.port;
}

static bool fallback_is_any_in_sync(const struct lacp_system *sys)
{
	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].actor.state & LACP_CARRY)
			return true;
	}
	return false;
}

/* The best of these slots. */
static uint64_t fallback_choose(const struct lacp_system *sys, uint64_t slots, unsigned int most)
{
	uint64_t chosen = 0;

	while (slots && most--) {
		unsigned int best = (unsigned int)__builtin_ctzll(slots);

		lacp_for_each_slot (slot, slots) {
			if (fallback_is_better(&sys->port[slot], &sys->port[best]))
				best = slot;
		}
		chosen |= 1ull << best;
		slots &= ~(1ull << best);
	}
	return chosen;
}

uint64_t lacp_fallback_next(const struct lacp_system *sys, uint64_t now_ns)
{
	const struct lacp_config *config = &sys->state.config;
	unsigned int most = config->max_links ? config->max_links : LACP_MAX_PORTS;
	uint64_t possible = 0;

	if (config->strict || config->fallback == LACP_FALLBACK_NONE ||
	    fallback_is_any_in_sync(sys))
		return 0;
	lacp_for_each_slot (slot, sys->used)
		possible |= fallback_may_carry(&sys->port[slot], now_ns) ? lacp_bit(slot) : 0;
	return fallback_choose(sys, possible, config->fallback == LACP_FALLBACK_ONE ? 1 : most);
}

void lacp_fallback_enter(struct lacp_system *sys, unsigned int slot, bool carry)
{
	sys->port[slot].fallback = carry;
	lacp_tell(sys, slot, LACP_EVENT_FALLBACK, carry);
}
