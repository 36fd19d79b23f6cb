/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A partner that is none of ours: IEEE Std 802.1AX-2014, 6.4, as plainly as the standard has it,
 * with its names. It shares no code with lib/lacp/, so that a mistake there meets somebody who does
 * not make it, too. A system has one Aggregator. Churn detection, markers and version 2 are left
 * out. Called by world.c and arrival.c; options and links are in struct system, where nothing else
 * of it but `reference` of each port is touched.
 */
#include <string.h>

#include "tests/sim/world.h"

/* 6.4.4 */
#define Fast_Periodic_Time SECOND
#define Slow_Periodic_Time (30 * SECOND)
#define Short_Timeout_Time (3 * SECOND)
#define Long_Timeout_Time (90 * SECOND)
#define Aggregate_Wait_Time (2 * SECOND)

/* 6.4.2.3: bits of the state. */
enum {
	LACP_Activity = 1 << 0,
	LACP_Timeout = 1 << 1, /* short */
	Aggregation = 1 << 2,
	Synchronization = 1 << 3,
	Collecting = 1 << 4,
	Distributing = 1 << 5,
	Defaulted = 1 << 6,
	Expired = 1 << 7,
};

/* All zero is BEGIN. */
enum { INITIALIZE, PORT_DISABLED, LACP_DISABLED, EXPIRED, DEFAULTED, CURRENT };
enum { NO_PERIODIC, FAST_PERIODIC, SLOW_PERIODIC, PERIODIC_TX };
enum { DETACHED, WAITING, ATTACHED, COLLECTING, DISTRIBUTING, COLLECTING_DISTRIBUTING };
enum { UNSELECTED, SELECTED, STANDBY };

/* 6.4.2.3; multi-octet fields are big-endian, and compared as they are. */
struct LACPDU {
	uint8_t destination[6], source[6], ethertype[2];
	uint8_t subtype, version;
	uint8_t actor_type, actor_length;
	struct reference_info actor;
	uint8_t actor_reserved[3];
	uint8_t partner_type, partner_length;
	struct reference_info partner;
	uint8_t partner_reserved[3];
	uint8_t collector_type, collector_length, collector_max_delay[2], collector_reserved[12];
	uint8_t terminator_type, terminator_length, reserved[50];
};
_Static_assert(sizeof(struct LACPDU) == LACP_FRAME_SIZE, "LACPDU");

/* No partner: an individual link, out of sync, which is to hear from us often. */
static const struct reference_info Partner_Admin = { .state = LACP_Timeout };

static bool port_enabled(const struct port *port)
{
	return port->exists && port->config.link == LACP_LINK_UP;
}

/* 6.1.1 */
static bool LACP_Enabled(const struct port *port)
{
	return port->config.duplex != LACP_DUPLEX_HALF;
}

static bool is_over(const struct world *world, uint64_t timer)
{
	return timer && timer <= world->now_ns;
}

static void set(struct reference_info *info, uint8_t bits, bool on)
{
	info->state = (uint8_t)(on ? info->state | bits : info->state & ~bits);
}

/* Port, Port_Priority, System, System_Priority, Key and Aggregation. */
static bool is_same(const struct reference_info *a, const struct reference_info *b)
{
	return !memcmp(a, b, offsetof(struct reference_info, state)) &&
	       !((a->state ^ b->state) & Aggregation);
}

static int compare_systems(const struct reference_info *a, const struct reference_info *b)
{
	return memcmp(a, b, sizeof(a->system_priority) + sizeof(a->system));
}

/* 6.4.9 */

/* With Partner_Admin: update_Default_Selected. */
static void update_Selected(struct reference_port *port, const struct reference_info *partner)
{
	if (!is_same(partner, &port->Partner_Oper))
		port->Selected = UNSELECTED;
}

static void update_NTT(struct reference_port *port, const struct LACPDU *pdu)
{
	const uint8_t bits = LACP_Activity | LACP_Timeout | Synchronization;

	if (!is_same(&pdu->partner, &port->Actor_Oper) ||
	    (pdu->partner.state ^ port->Actor_Oper.state) & bits)
		port->NTT = true;
}

static void recordDefault(struct reference_port *port)
{
	port->Partner_Oper = Partner_Admin;
	port->matched = false;
	set(&port->Actor_Oper, Defaulted, true);
}

/* It knows us, or has an individual link, and LACP keeps that up to date. */
static void choose_Matched(struct reference_port *port, const struct LACPDU *pdu)
{
	bool maintained = pdu->actor.state & LACP_Activity ||
			  port->Actor_Oper.state & pdu->partner.state & LACP_Activity;

	port->matched = maintained && (is_same(&pdu->partner, &port->Actor_Oper) ||
				       !(pdu->actor.state & Aggregation));
}

static void recordPDU(struct reference_port *port, const struct LACPDU *pdu)
{
	choose_Matched(port, pdu);
	port->Partner_Oper = pdu->actor;
	if (!port->matched)
		set(&port->Partner_Oper, Synchronization, false);
	set(&port->Actor_Oper, Defaulted, false);
}

/* Receive machine, 6.4.12. */

static uint8_t receive_next(const struct world *world, const struct port *port)
{
	const struct reference_port *own = &port->reference;
	uint8_t state = own->receive;

	if (state == INITIALIZE)
		return PORT_DISABLED;
	if (!port_enabled(port))
		return state == PORT_DISABLED && own->port_moved ? INITIALIZE : PORT_DISABLED;
	if (state == PORT_DISABLED)
		return own->port_moved ? INITIALIZE : LACP_Enabled(port) ? EXPIRED : LACP_DISABLED;
	if ((state == LACP_DISABLED) == LACP_Enabled(port))
		return PORT_DISABLED;
	if (!is_over(world, own->current_while))
		return state;
	return state == CURRENT ? EXPIRED : state == EXPIRED ? DEFAULTED : state;
}

static void receive_enter(const struct world *world, struct reference_port *port, uint8_t state,
			  const struct LACPDU *pdu)
{
	port->receive = state;
	if (state != PORT_DISABLED)
		set(&port->Actor_Oper, Expired, state == EXPIRED);
	switch (state) {
	case INITIALIZE:
		port->Selected = UNSELECTED;
		recordDefault(port);
		port->port_moved = false;
		break;
	case PORT_DISABLED: set(&port->Partner_Oper, Synchronization, false); break;
	case LACP_DISABLED:
		port->Selected = UNSELECTED;
		recordDefault(port);
		set(&port->Partner_Oper, Aggregation, false);
		break;
	case EXPIRED:
		set(&port->Partner_Oper, Synchronization, false);
		set(&port->Partner_Oper, LACP_Timeout, true);
		port->current_while = world->now_ns + Short_Timeout_Time;
		break;
	case DEFAULTED:
		update_Selected(port, &Partner_Admin);
		recordDefault(port);
		break;
	case CURRENT:
		update_Selected(port, &pdu->actor);
		update_NTT(port, pdu);
		recordPDU(port, pdu);
		port->current_while =
			world->now_ns + (port->Actor_Oper.state & LACP_Timeout ? Short_Timeout_Time
									       : Long_Timeout_Time);
		break;
	}
}

/* Periodic Transmission machine, 6.4.13. */

static uint8_t periodic_next(const struct world *world, const struct port *port)
{
	const struct reference_port *own = &port->reference;
	bool is_short = own->Partner_Oper.state & LACP_Timeout;
	bool is_due = is_over(world, own->periodic_timer);

	if (!port_enabled(port) || !LACP_Enabled(port) ||
	    !((own->Actor_Oper.state | own->Partner_Oper.state) & LACP_Activity))
		return NO_PERIODIC;
	switch (own->periodic) {
	case FAST_PERIODIC: return is_due ? PERIODIC_TX : is_short ? FAST_PERIODIC : SLOW_PERIODIC;
	case SLOW_PERIODIC: return is_due || is_short ? PERIODIC_TX : SLOW_PERIODIC;
	case PERIODIC_TX: return is_short ? FAST_PERIODIC : SLOW_PERIODIC;
	default: return FAST_PERIODIC;
	}
}

static void periodic_enter(const struct world *world, struct reference_port *port, uint8_t state)
{
	port->periodic = state;
	port->periodic_timer = state == FAST_PERIODIC	? world->now_ns + Fast_Periodic_Time
			       : state == SLOW_PERIODIC ? world->now_ns + Slow_Periodic_Time
							: 0;
	port->NTT |= state == PERIODIC_TX;
}

/* Selection Logic, 6.4.14: which LAG has the Aggregator, and which of its ports (6.7.1). */

/* 6.3.6: the same LAG ID; the Actor's system is the same anyway. */
static bool is_same_lag(const struct reference_port *a, const struct reference_port *b)
{
	const struct reference_info *x = &a->Actor_Oper, *y = &b->Actor_Oper;

	return a == b ||
	       (!memcmp(x->key, y->key, sizeof(x->key)) &&
		!compare_systems(&a->Partner_Oper, &b->Partner_Oper) &&
		!memcmp(a->Partner_Oper.key, b->Partner_Oper.key, sizeof(x->key)) &&
		x->state & y->state & a->Partner_Oper.state & b->Partner_Oper.state & Aggregation);
}

static bool is_usable(const struct reference_port *port)
{
	return port->receive == CURRENT && port->matched;
}

/* The better system's priorities decide. A port that its partner does not know is the last. */
static bool comes_before(const struct reference_port *a, const struct reference_port *b)
{
	bool actor_decides = compare_systems(&a->Actor_Oper, &a->Partner_Oper) < 0;
	const struct reference_info *x = actor_decides ? &a->Actor_Oper : &a->Partner_Oper;
	const struct reference_info *y = actor_decides ? &b->Actor_Oper : &b->Partner_Oper;
	int order;

	if (is_usable(a) != is_usable(b))
		return is_usable(a);
	order = memcmp(x->port_priority, y->port_priority,
		       sizeof(x->port_priority) + sizeof(x->port));
	if (!order) /* one port of the partner was heard on both */
		order = memcmp(a->Actor_Oper.port, b->Actor_Oper.port, sizeof(x->port));
	return order < 0;
}

/* Who has it keeps it, unless only another one is known to its partner. */
static bool leads(const struct reference_port *a, const struct reference_port *b)
{
	if (is_usable(a) != is_usable(b))
		return is_usable(a);
	return a->Selected == SELECTED && b->Selected != SELECTED;
}

static const struct reference_port *leader(const struct system *system)
{
	const struct reference_port *best = NULL;

	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (port_enabled(&system->port[slot]) &&
		    (!best || leads(&system->port[slot].reference, best)))
			best = &system->port[slot].reference;
	return best;
}

static uint8_t selection(const struct system *system, const struct reference_port *port)
{
	const struct reference_port *first = leader(system);
	unsigned int before = 0, most = system->lacp.state.config.max_links;

	if (port->Selected == UNSELECTED && port->mux != DETACHED)
		return UNSELECTED;
	if (!first || !is_same_lag(port, first))
		return STANDBY;
	for (unsigned int slot = 0; slot < system->ports; slot++)
		before += system->port[slot].exists &&
			  is_same_lag(&system->port[slot].reference, first) &&
			  comes_before(&system->port[slot].reference, port);
	return !most || before < most ? SELECTED : STANDBY;
}

/* Mux machine, 6.4.15: figures 6-21 (independent control) and 6-22 (coupled). */

/* Ready_N of all ports that wait. */
static bool Ready(const struct system *system)
{
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		const struct reference_port *port = &system->port[slot].reference;

		if (port->mux == WAITING && port->Selected == SELECTED &&
		    !is_over(system->world, port->wait_while))
			return false;
	}
	return true;
}

static uint8_t mux_next(const struct system *system, const struct reference_port *port)
{
	bool coupled = system->lacp.state.config.coupled;
	bool in_sync = port->Selected == SELECTED && port->Partner_Oper.state & Synchronization;
	bool far_collects = port->Partner_Oper.state & Collecting;

	switch (port->mux) {
	case DETACHED: return port->Selected == UNSELECTED ? DETACHED : WAITING;
	case WAITING:
		if (port->Selected == UNSELECTED)
			return DETACHED;
		return port->Selected == SELECTED && Ready(system) ? ATTACHED : WAITING;
	case ATTACHED:
		if (port->Selected != SELECTED)
			return DETACHED;
		return !in_sync ? ATTACHED : coupled ? COLLECTING_DISTRIBUTING : COLLECTING;
	case COLLECTING:
		if (!in_sync)
			return ATTACHED;
		return coupled ? COLLECTING_DISTRIBUTING : far_collects ? DISTRIBUTING : COLLECTING;
	case DISTRIBUTING:
		if (coupled)
			return COLLECTING_DISTRIBUTING;
		return in_sync && far_collects ? DISTRIBUTING : COLLECTING;
	default: return !in_sync ? ATTACHED : coupled ? COLLECTING_DISTRIBUTING : DISTRIBUTING;
	}
}

static void mux_enter(const struct world *world, struct port *port, uint8_t state)
{
	struct reference_port *own = &port->reference;

	own->mux = state;
	own->wait_while = state == WAITING ? world->now_ns + Aggregate_Wait_Time : 0;
	port->collecting = state >= COLLECTING;
	port->distributing = state >= DISTRIBUTING;
	set(&own->Actor_Oper, Synchronization, state >= ATTACHED);
	set(&own->Actor_Oper, Collecting, port->collecting);
	set(&own->Actor_Oper, Distributing, port->distributing);
	own->NTT |= state != WAITING && state != DISTRIBUTING;
}

/* Transmit machine, 6.4.16. */

static void transmit(struct system *system, unsigned int slot)
{
	struct port *port = &system->port[slot];
	struct reference_port *own = &port->reference;
	struct LACPDU pdu = {
		.destination = { 0x01, 0x80, 0xc2, 0, 0, 0x02 },
		.ethertype = { 0x88, 0x09 },
		.subtype = 1,
		.version = 1,
		.actor_type = 1,
		.actor_length = 20,
		.actor = own->Actor_Oper,
		.partner_type = 2,
		.partner_length = 20,
		.partner = own->Partner_Oper,
		.collector_type = 3,
		.collector_length = 16,
	};

	memcpy(pdu.source, port->config.mac, sizeof(pdu.source));
	own->NTT = false;
	memmove(own->sent, own->sent + 1, sizeof(own->sent) - sizeof(*own->sent));
	own->sent[2] = system->world->now_ns;
	world_send(system->world, world_end(system, slot), (const uint8_t *)&pdu);
}

/* When there may be one more, as no more than three in a Fast_Periodic_Time. */
static uint64_t transmit_allowed(const struct reference_port *port)
{
	return port->sent[0] ? port->sent[0] + Fast_Periodic_Time : 1;
}

static void put(uint8_t octets[2], uint32_t number)
{
	octets[0] = (uint8_t)(number >> 8);
	octets[1] = (uint8_t)number;
}

/* What the options make of the Actor. Another LAG ID is another selection. */
static void update_Actor(const struct system *system, struct port *port)
{
	const struct lacp_config *config = &system->lacp.state.config;
	struct reference_port *own = &port->reference;
	struct reference_info now = { .state = own->Actor_Oper.state };

	put(now.system_priority, config->system_priority);
	put(now.key, config->user_port_key << 6 | port->config.speed_mbps / 1000);
	put(now.port_priority, port->config.port_priority);
	put(now.port, port->config.port);
	memcpy(now.system, config->system, sizeof(now.system));
	set(&now, LACP_Activity, config->active);
	set(&now, LACP_Timeout, config->rate_fast);
	set(&now, Aggregation, true);
	if (compare_systems(&now, &own->Actor_Oper) != 0 ||
	    memcmp(now.key, own->Actor_Oper.key, sizeof(now.key)) != 0)
		own->Selected = UNSELECTED;
	own->NTT |= memcmp(&now, &own->Actor_Oper, sizeof(now)) != 0;
	own->Actor_Oper = now;
}

/* One step of each machine of a port. Returns false if all stay. */
static bool step(struct system *system, struct port *port)
{
	struct world *world = system->world;
	struct reference_port *own = &port->reference;
	const struct reference_port was = *own;
	uint8_t receive = receive_next(world, port), periodic, mux;

	if (receive != was.receive)
		receive_enter(world, own, receive, NULL);
	if (receive == EXPIRED && was.receive == CURRENT)
		check_expired(world, world_end(system, (unsigned int)(port - system->port)));
	periodic = periodic_next(world, port);
	if (periodic != was.periodic)
		periodic_enter(world, own, periodic);
	own->Selected = selection(system, own);
	mux = mux_next(system, own);
	if (mux != was.mux)
		mux_enter(world, port, mux);
	return receive != was.receive || periodic != was.periodic ||
	       own->Selected != was.Selected || mux != was.mux;
}

static uint64_t next_timer(const struct world *world, const struct reference_port *port)
{
	const uint64_t timers[] = { port->current_while, port->periodic_timer, port->wait_while,
				    port->NTT ? transmit_allowed(port) : 0 };
	uint64_t next = LACP_NEVER;

	for (unsigned int i = 0; i < sizeof(timers) / sizeof(*timers); i++)
		if (timers[i] > world->now_ns && timers[i] < next)
			next = timers[i];
	return next;
}

uint64_t reference_run(struct system *system)
{
	uint64_t next = LACP_NEVER, timer;
	bool moves;

	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (system->port[slot].exists)
			update_Actor(system, &system->port[slot]);
	do {
		moves = false;
		for (unsigned int slot = 0; slot < system->ports; slot++)
			if (system->port[slot].exists)
				moves |= step(system, &system->port[slot]);
	} while (moves);
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		struct reference_port *port = &system->port[slot].reference;

		port->NTT &= port->periodic != NO_PERIODIC;
		if (port->NTT && is_over(system->world, transmit_allowed(port)))
			transmit(system, slot);
		timer = next_timer(system->world, port);
		next = timer < next ? timer : next;
	}
	return next;
}

/* port_moved, 6.4.8: what was heard on a port that is disabled now is heard on another one. */
static void note_move(struct system *system, const struct reference_info *partner)
{
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		struct reference_port *port = &system->port[slot].reference;

		if (port->receive == PORT_DISABLED &&
		    !compare_systems(partner, &port->Partner_Oper) &&
		    !memcmp(partner->port, port->Partner_Oper.port, sizeof(partner->port)))
			port->port_moved = true;
	}
}

void reference_hear(struct system *system, unsigned int slot, const uint8_t *octets)
{
	const struct LACPDU *pdu = (const struct LACPDU *)octets;
	struct reference_port *port = &system->port[slot].reference;

	if (pdu->subtype != 1 || port->receive < EXPIRED ||
	    !memcmp(pdu->actor.system, port->Actor_Oper.system, sizeof(pdu->actor.system)))
		return; /* among them its own, which come back: a system is no partner of itself */
	note_move(system, &pdu->actor);
	receive_enter(system->world, port, CURRENT, pdu);
}

void reference_options(struct lacp_config *config)
{
	config->min_links = config->wtr_s = config->min_links_strict = 0;
	config->fallback = LACP_FALLBACK_NONE;
	memset(config->believed, 0, sizeof(config->believed));
}
