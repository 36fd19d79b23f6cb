/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The evaluation loop: every machine decides and enters its new state, and all are evaluated again
 * until none moves. Then changes are reported and PDUs are sent. Deadlines come from the timers in
 * the state; there is no tick.
 */
#include "lacp/machines.h"

#define MAX_ROUNDS 64 /* a start from scratch takes about six */
#define RETRY_TIME (LACP_SECOND / 10)
#define CARRY (LACP_COLLECTING | LACP_DISTRIBUTING)

static bool system_step_rx(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	int next = lacp_rx_next(port, false, now_ns);

	lacp_stranger_follow(port, now_ns);
	if (port->loop_port && (!port->config.link || lacp_due(port->loop_ns, now_ns)))
		lacp_loop_enter(sys, slot, 0, now_ns);
	if (next == LACP_STAY)
		return false;
	lacp_rx_enter(sys, slot, (enum lacp_rx_state)next, NULL, now_ns);
	return true;
}

static bool system_step_periodic(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	int next;

	lacp_periodic_hasten(&sys->port[slot], now_ns);
	next = lacp_periodic_next(&sys->port[slot], now_ns);
	if (next == LACP_STAY)
		return false;
	lacp_periodic_enter(&sys->port[slot], (enum lacp_periodic_state)next, now_ns);
	return true;
}

static bool system_step_aggregator(struct lacp_system *sys, uint64_t now_ns)
{
	uint8_t next = lacp_aggregator_next(sys, now_ns);

	if (next == sys->state.active_aggregator)
		return false;
	lacp_aggregator_enter(sys, next, now_ns);
	return true;
}

static bool system_step_selection(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	struct lacp_choice next = lacp_selection_next(sys, slot, now_ns);

	if (next.selected == (enum lacp_selected)port->selected &&
	    next.aggregator == port->aggregator)
		return false;
	lacp_selection_enter(sys, slot, next);
	return true;
}

static bool system_step_mux(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	bool ready = port->mux == LACP_MUX_WAITING && lacp_mux_ready(sys, port->aggregator, now_ns);
	int next = lacp_mux_next(port, sys->state.config.coupled, ready);

	if (next == LACP_STAY || !lacp_mux_may(sys, port, (enum lacp_mux_state)next, now_ns))
		return false;
	lacp_mux_enter(sys, slot, (enum lacp_mux_state)next, now_ns);
	return true;
}

static bool system_step_churn(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	int actor = lacp_actor_churn_next(&sys->port[slot], now_ns);
	int partner = lacp_partner_churn_next(&sys->port[slot], now_ns);

	if (actor != LACP_STAY)
		lacp_actor_churn_enter(sys, slot, (enum lacp_churn_state)actor, now_ns);
	if (partner != LACP_STAY)
		lacp_partner_churn_enter(sys, slot, (enum lacp_churn_state)partner, now_ns);
	return actor != LACP_STAY || partner != LACP_STAY;
}

static bool system_step_fallback(struct lacp_system *sys, uint64_t now_ns)
{
	bool moved = false;
	unsigned int slot;
	uint64_t carry;

	lacp_for_each_slot (slot, sys->used) {
		lacp_fallback_timer_enter(&sys->port[slot],
					  lacp_fallback_timer_next(sys, slot, now_ns));
	}
	carry = lacp_fallback_next(sys, now_ns);
	lacp_for_each_slot (slot, sys->used) {
		bool wanted = carry >> slot & 1;

		if (wanted == sys->port[slot].fallback)
			continue;
		lacp_fallback_enter(sys, slot, wanted);
		moved = true;
	}
	return moved;
}

/* A port that only waits for the others is evaluated after all have been selected. */
static bool system_step_all(struct lacp_system *sys, uint64_t now_ns)
{
	bool moved = false;
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		moved |= system_step_rx(sys, slot, now_ns);
		moved |= lacp_rank_follow(sys, slot, now_ns);
		moved |= system_step_periodic(sys, slot, now_ns);
	}
	lacp_for_each_slot (slot, sys->used) {
		moved |= system_step_selection(sys, slot, now_ns);
	}
	moved |= system_step_aggregator(sys, now_ns);
	lacp_for_each_slot (slot, sys->used) {
		moved |= system_step_selection(sys, slot, now_ns);
	}
	lacp_for_each_slot (slot, sys->used) {
		moved |= system_step_mux(sys, slot, now_ns);
		moved |= system_step_churn(sys, slot, now_ns);
	}
	return moved | system_step_fallback(sys, now_ns);
}

static uint8_t system_carrying(const struct lacp_port_state *port)
{
	return port->fallback ? CARRY : port->actor.state & CARRY;
}

static void system_tell_port(struct lacp_system *sys, unsigned int slot)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->told = system_carrying(port);
	sys->outputs->port(sys->context, slot, port->told & LACP_COLLECTING,
			   port->told & LACP_DISTRIBUTING);
}

/*
 * Ports that lose a right are reported first, so that two aggregates never carry traffic at the
 * same time.
 */
static void system_tell_ports(struct lacp_system *sys)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].told & ~system_carrying(&sys->port[slot]))
			system_tell_port(sys, slot);
	}
	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].told != system_carrying(&sys->port[slot]))
			system_tell_port(sys, slot);
	}
}

static void system_send_all(struct lacp_system *sys, uint64_t now_ns)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		int next = lacp_marker_next(&sys->port[slot], now_ns);

		lacp_transmit_enter(sys, slot, lacp_transmit_next(&sys->port[slot], now_ns),
				    now_ns);
		if (next != LACP_STAY)
			lacp_marker_enter(sys, slot, (enum lacp_marker_state)next, false, now_ns);
	}
}

static uint64_t system_earliest(uint64_t a, uint64_t b, uint64_t now_ns)
{
	return b > now_ns && b < a ? b : a;
}

/* A timer that is due but changed nothing (wait_while of a standby port) is no deadline. */
static uint64_t system_port_deadline(const struct lacp_system *sys,
				     const struct lacp_port_state *port, uint64_t now_ns)
{
	const uint64_t timers[] = {
		port->current_while_ns,
		port->periodic_ns,
		port->wait_while_ns,
		port->actor_churn_ns,
		port->partner_churn_ns,
		port->marker_ns,
		port->fallback_ns,
		port->loop_ns,
		port->stranger_ns,
		lacp_rank_deadline(sys, port, now_ns),
		lacp_fallback_deadline(port),
	};
	uint64_t deadline = LACP_NEVER;

	for (unsigned int i = 0; i < sizeof(timers) / sizeof(*timers); i++)
		deadline = system_earliest(deadline, timers[i], now_ns);
	if (port->ntt)
		deadline = system_earliest(deadline, lacp_transmit_allowed_ns(port), now_ns);
	return deadline;
}

static uint64_t system_next_deadline(const struct lacp_system *sys, uint64_t now_ns)
{
	uint64_t deadline = system_earliest(LACP_NEVER, sys->state.yield_ns, now_ns);
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		deadline = system_earliest(
			deadline, system_port_deadline(sys, &sys->port[slot], now_ns), now_ns);
	}
	return deadline;
}

uint64_t lacp_run(struct lacp_system *sys, uint64_t now_ns)
{
	unsigned int rounds = 0;

	while ((system_step_all(sys, now_ns) || lacp_rank_settle(sys)) && rounds < MAX_ROUNDS)
		rounds++;
	system_tell_ports(sys);
	system_send_all(sys, now_ns);
	if (rounds < MAX_ROUNDS)
		return system_next_deadline(sys, now_ns);
	lacp_tell(sys, 0, LACP_EVENT_RESTLESS, 0);
	return now_ns + RETRY_TIME;
}

/* The slots whose last word to the owner had this bit. */
static uint64_t system_told(const struct lacp_system *sys, uint8_t bit)
{
	uint64_t slots = 0;
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].told & bit)
			slots |= 1ull << slot;
	}
	return slots;
}

uint64_t lacp_distributing(const struct lacp_system *sys)
{
	return system_told(sys, LACP_DISTRIBUTING);
}

uint64_t lacp_collecting(const struct lacp_system *sys)
{
	return system_told(sys, LACP_COLLECTING);
}

int lacp_representative(const struct lacp_system *sys)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (sys->state.active_aggregator && sys->port[slot].selected != LACP_UNSELECTED &&
		    sys->port[slot].aggregator == sys->state.active_aggregator)
			return (int)slot;
	}
	return -1;
}

unsigned int lacp_num_ports(const struct lacp_system *sys)
{
	unsigned int slot, count = 0;

	lacp_for_each_slot (slot, sys->used) {
		count += sys->port[slot].selected == LACP_SELECTED;
	}
	return count;
}

bool lacp_rate_fast(const struct lacp_system *sys)
{
	bool fast = sys->state.config.rate_fast;
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		fast |= (sys->port[slot].actor.state & LACP_TIMEOUT) != 0;
	}
	return fast;
}
