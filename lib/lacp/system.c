/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system as a whole: the loop that evaluates all machines, what is told of it, and what it
 * would do if some ports left.
 */
#include "lacp/lacp.h"
#include "lacp/machines.h"

/* How the machines tell the outside what has happened. Called by most of them. */

void lacp_tell(const struct lacp_system *sys, unsigned int slot, enum lacp_event event,
	       unsigned int detail)
{
	sys->outputs->event(sys->context, slot, event, detail);
}

/*
 * The evaluation loop: every machine decides and enters its new state, and all are evaluated again
 * until none moves. Then changes are reported and PDUs are sent. Deadlines come from the timers in
 * the state; there is no tick.
 */

#define MAX_ROUNDS 64 /* a start from scratch takes about six */
#define RETRY_TIME (LACP_SECOND / 10)

static bool system_step_rx(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	int next = lacp_rx_next(port, false, now_ns);

	lacp_stranger_settle(port, now_ns);
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
	uint64_t carry;

	lacp_for_each_slot (slot, sys->used) {
		lacp_fallback_timer_enter(&sys->port[slot],
					  lacp_fallback_timer_next(sys, slot, now_ns));
	}
	carry = lacp_fallback_next(sys, now_ns);
	lacp_for_each_slot (slot, sys->used) {
		bool wanted = carry & lacp_bit(slot);

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
	bool moved = false, selected = false;

	lacp_for_each_slot (slot, sys->used) {
		moved |= system_step_rx(sys, slot, now_ns);
		moved |= lacp_rank_note_times(sys, slot, now_ns);
		moved |= system_step_periodic(sys, slot, now_ns);
	}
	lacp_for_each_slot (slot, sys->used)
		selected |= system_step_selection(sys, slot, now_ns);
	selected |= system_step_aggregator(sys, now_ns);
	lacp_for_each_slot (slot, selected ? sys->used : 0)
		system_step_selection(sys, slot, now_ns);
	moved |= selected;
	lacp_for_each_slot (slot, sys->used) {
		moved |= system_step_mux(sys, slot, now_ns);
		moved |= system_step_churn(sys, slot, now_ns);
	}
	return moved | system_step_fallback(sys, now_ns);
}

static uint8_t system_carrying(const struct lacp_port_state *port)
{
	return port->fallback ? LACP_CARRY : port->actor.state & LACP_CARRY;
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

	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].told & bit)
			slots |= lacp_bit(slot);
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
	lacp_for_each_slot (slot, sys->used) {
		if (sys->state.active_aggregator && sys->port[slot].selected != LACP_UNSELECTED &&
		    sys->port[slot].aggregator == sys->state.active_aggregator)
			return (int)slot;
	}
	return -1;
}

unsigned int lacp_num_ports(const struct lacp_system *sys)
{
	unsigned int count = 0;

	lacp_for_each_slot (slot, sys->used)
		count += sys->port[slot].selected == LACP_SELECTED;
	return count;
}

bool lacp_rate_fast(const struct lacp_system *sys)
{
	bool fast = sys->state.config.rate_fast;

	lacp_for_each_slot (slot, sys->used)
		fast |= (sys->port[slot].actor.state & LACP_TIMEOUT) != 0;
	return fast;
}

/*
 * What would carry traffic if some ports left: the rest of the aggregator in use, or the one that
 * selection.c would choose then. Works on a copy of the system. Called by the owner, before it
 * takes ports out.
 */

/* A port whose link is down keeps its place in its aggregator, until it is stopped. */
static void prospect_leave(struct lacp_system *sys, uint64_t leaving)
{
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
			prospect.standby |= lacp_bit(slot);
		if (port->selected == LACP_SELECTED)
			prospect.selected |= lacp_bit(slot);
		if (prospect_is_chosen(&rest, slot, now_ns))
			prospect.chosen |= lacp_bit(slot);
	}
	return prospect;
}

/* Names of states and flags, as xbond-json(5) lists them. For JSON, the log and the simulator. */

#define NAME_OF(table, number) \
	((number) < sizeof(table) / sizeof(*(table)) && (table)[number] ? (table)[number] : "?")

static const char *const rx_names[] = {
	[LACP_RX_INITIALIZE] = "initialize",	   [LACP_RX_PORT_DISABLED] = "port_disabled",
	[LACP_RX_LACP_DISABLED] = "lacp_disabled", [LACP_RX_EXPIRED] = "expired",
	[LACP_RX_DEFAULTED] = "defaulted",	   [LACP_RX_CURRENT] = "current",
};

static const char *const mux_names[] = {
	[LACP_MUX_DETACHED] = "detached",
	[LACP_MUX_WAITING] = "waiting",
	[LACP_MUX_ATTACHED] = "attached",
	[LACP_MUX_COLLECTING] = "collecting",
	[LACP_MUX_DISTRIBUTING] = "distributing",
	[LACP_MUX_COLLECTING_DISTRIBUTING] = "collecting_distributing",
};

static const char *const selected_names[] = {
	[LACP_UNSELECTED] = "unselected",
	[LACP_SELECTED] = "selected",
	[LACP_STANDBY] = "standby",
};

static const char *const churn_names[] = {
	[LACP_CHURN_MONITOR] = "monitoring",
	[LACP_CHURN_NONE] = "none",
	[LACP_CHURN_CHURNED] = "churned",
};

static const char *const flag_names[] = {
	"activity",   "timeout",      "aggregation", "synchronization",
	"collecting", "distributing", "defaulted",   "expired",
};

const char *lacp_rx_name(unsigned int state)
{
	return NAME_OF(rx_names, state);
}

const char *lacp_mux_name(unsigned int state)
{
	return NAME_OF(mux_names, state);
}

const char *lacp_selected_name(unsigned int selected)
{
	return NAME_OF(selected_names, selected);
}

const char *lacp_churn_name(unsigned int state)
{
	return NAME_OF(churn_names, state);
}

const char *lacp_flag_name(unsigned int bit)
{
	return NAME_OF(flag_names, bit);
}
