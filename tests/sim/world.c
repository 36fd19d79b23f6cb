/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/sim/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lacp/frame.h"
#include "lacp/machines.h"
#include "view/lacp_why.h"

#define ORACLE_STEPS 8 /* asked at one step of so many, for its cost */
/* In a frame. */
#define AT_VERSION 15
#define AT_TERMINATOR 72
#define AT_ACTOR_STATE 32

struct port *world_port(struct world *world, struct end end)
{
	return &world->system[end.system].port[end.slot];
}

void world_init(struct world *world, uint64_t seed)
{
	memset(world, 0, sizeof(*world));
	world->now_ns = SECOND;
	world->random = seed * 2654435761u + 88172645463325252u;
}

uint32_t world_random(struct world *world, uint32_t below)
{
	world->random ^= world->random << 13;
	world->random ^= world->random >> 7;
	world->random ^= world->random << 17;
	return (uint32_t)(world->random >> 20) % below;
}

void world_fail(struct world *world, const char *format, ...)
{
	va_list arguments;
	int at;

	if (world->failed)
		return;
	world->failed = true;
	at = snprintf(world->failure, sizeof(world->failure),
		      "at %.3f s: ", (double)(world->now_ns - SECOND) / 1e9);
	va_start(arguments, format);
	vsnprintf(world->failure + at, sizeof(world->failure) - (size_t)at, format, arguments);
	va_end(arguments);
}

/* What partners say that are none of ours. */
static void add_habits(const struct system *system, uint8_t *octets)
{
	static const uint8_t retry_count[] = { 0x80, 4, 3, 0 };

	if (system->individual)
		octets[AT_ACTOR_STATE] &= (uint8_t)~LACP_AGGREGATION;
	if (!system->newer)
		return;
	octets[AT_VERSION] = 0xf1;
	memcpy(octets + AT_TERMINATOR, retry_count, sizeof(retry_count));
}

void world_send(struct world *world, struct end from, const uint8_t *octets)
{
	struct port *port = world_port(world, from);
	struct frame *frame = &world->frame[world->count];

	if (octets[14] == 1)
		check_sent(world, from, octets);
	if (port->lose && octets[14] == 1) {
		cable_lose_pdu(world, from);
		return;
	}
	if (port->peer.system < 0 || port->cut || world_random(world, 100) < port->loss)
		return;
	if (world->count == FRAMES) {
		world_fail(world, "too many frames under way");
		return;
	}
	frame->due_ns = world->now_ns + port->delay_ns;
	frame->to = port->peer;
	memcpy(frame->octets, octets, LACP_FRAME_SIZE);
	if (octets[14] == 1)
		add_habits(&world->system[from.system], frame->octets);
	world->count++;
}

struct end world_end(const struct system *system, unsigned int slot)
{
	return (struct end){ .system = (int)(system - system->world->system), .slot = slot };
}

static void on_transmit(void *context, unsigned int slot, const uint8_t *frame, size_t length)
{
	struct system *system = context;

	if (length != LACP_FRAME_SIZE)
		world_fail(system->world, "frame of %zu octets", length);
	world_send(system->world, world_end(system, slot), frame);
	if (frame[14] == 1)
		lacp_thread_hold_sent(&system->port[slot].sent, frame, system->world->now_ns);
}

static void on_port(void *context, unsigned int slot, bool collecting, bool distributing)
{
	struct system *system = context;
	bool begins = distributing && !system->port[slot].distributing;

	system->port[slot].collecting = collecting;
	system->port[slot].distributing = distributing;
	if (begins)
		check_begin(system->world, world_end(system, slot));
}

static void on_aggregator(void *context, unsigned int aggregator)
{
	struct system *system = context;

	if (system->world->verbose)
		printf("  %8.3f %c   aggregator %u\n",
		       (double)(system->world->now_ns - SECOND) / 1e9, system->name, aggregator);
}

static void on_drained(void *context, unsigned int slot, bool answered)
{
	struct system *system = context;

	check_drained(system->world, world_end(system, slot), answered);
	system->port[slot].drained = true;
	system->port[slot].far_ok = answered;
	system->port[slot].drain_ns = 0;
}

static void on_event(void *context, unsigned int slot, enum lacp_event event, unsigned int detail)
{
	static const char *const names[] = { "rx",	 "mux",		"selected",
					     "partner",	 "loop",	"loop ended",
					     "fallback", "actor churn", "partner churn",
					     "stranger", "behind",	"restless" };
	struct system *system = context;
	const char *state = event == LACP_EVENT_RX	   ? lacp_rx_name(detail)
			    : event == LACP_EVENT_MUX	   ? lacp_mux_name(detail)
			    : event == LACP_EVENT_SELECTED ? lacp_selected_name(detail)
							   : "";

	if (event == LACP_EVENT_RX && detail == LACP_RX_EXPIRED)
		check_expired(system->world, world_end(system, slot));
	if (event == LACP_EVENT_RESTLESS)
		world_fail(system->world, "%c does not come to rest", system->name);
	if (system->world->verbose)
		printf("  %8.3f %c.%u %s %s%.0u\n", (double)(system->world->now_ns - SECOND) / 1e9,
		       system->name, slot + 1, names[event], state, *state ? 0 : detail);
}

const struct lacp_outputs world_outputs = {
	.transmit = on_transmit,
	.port = on_port,
	.aggregator = on_aggregator,
	.drained = on_drained,
	.event = on_event,
};

void world_evaluate(struct system *system, bool configured)
{
	uint64_t before;

	if (system->is_reference)
		system->deadline_ns = reference_run(system);
	if (system->away || system->is_reference)
		return;
	before = check_by_lacp(system);
	system->deadline_ns = lacp_run(&system->lacp, system->world->now_ns);
	check_run(system->world, system, before, configured);
	for (unsigned int slot = 0; slot < system->ports; slot++)
		lacp_thread_hold_settle(&system->port[slot].hold, &system->lacp, slot,
					&system->port[slot].sent);
}

static struct lacp_port_config default_port(int index, unsigned int slot)
{
	return (struct lacp_port_config){
		.speed_mbps = 10000,
		.port = (uint16_t)(slot + 1),
		.port_priority = 255,
		.mac = { 0x02, 0x01, 0, 0, (uint8_t)index, (uint8_t)slot },
		.duplex = LACP_DUPLEX_FULL,
	};
}

void world_system(struct world *world, int index, char name, unsigned int ports,
		  const struct lacp_config *config)
{
	struct system *system = &world->system[index];

	system->exists = true;
	system->name = name;
	system->ports = ports;
	system->world = world;
	system->deadline_ns = LACP_NEVER;
	lacp_init(&system->lacp, config, &world_outputs, system);
	for (unsigned int slot = 0; slot < ports; slot++) {
		struct port *port = &system->port[slot];

		port->exists = true;
		port->peer = WORLD_NOWHERE;
		port->config = default_port(index, slot);
		lacp_port_add(&system->lacp, slot, &port->config, world->now_ns);
		lacp_thread_hold_begin(&port->hold);
	}
	world_evaluate(system, false);
}

/* It tells a change once, or, when it turns passive, not at all. The rate only says when it
 * expires. */
static void reference_set(struct world *world, int index, const struct lacp_config *config)
{
	struct system *system = &world->system[index];
	struct lacp_config before = system->lacp.state.config;

	system->lacp.state.config = *config;
	reference_options(&system->lacp.state.config);
	before.rate_fast = config->rate_fast;
	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (memcmp(&before, &system->lacp.state.config, sizeof(before)) != 0)
			cable_note_trouble(world, world_end(system, slot));
	world_evaluate(system, true);
}

void world_reference(struct world *world, int index)
{
	struct system *system = &world->system[index];

	system->is_reference = true;
	reference_options(&system->lacp.state.config);
	world_evaluate(system, true);
}

void world_configure(struct world *world, int index, const struct lacp_config *config)
{
	struct system *system = &world->system[index];

	if (system->is_reference) {
		reference_set(world, index, config);
		return;
	}
	/* A passive one has not looked for loops. */
	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (!system->lacp.state.config.active)
			system->port[slot].blind_ns = world->now_ns + SECOND + 100 * MS;
	if (lacp_configure(&system->lacp, config, world->now_ns))
		world_fail(world, "configuration refused");
	world_evaluate(system, true);
}

static uint8_t link_of(const struct system *system, const struct port *port)
{
	if (port->peer.system < 0 || port->cut)
		return LACP_LINK_DOWN;
	return system->stopped || port->held ? LACP_LINK_STOPPED : LACP_LINK_UP;
}

/*
 * Carrier follows the cable; a daemon that is away learns on its return what it was, and the
 * programs do not see it.
 */
static void change_link(struct world *world, struct end end)
{
	struct system *system = &world->system[end.system];
	struct port *port = world_port(world, end);

	port->config.link = link_of(system, port);
	if (system->away || !port->exists)
		port->bounced |= port->config.link == LACP_LINK_DOWN;
	else if (!system->is_reference)
		lacp_port_configure(&system->lacp, end.slot, &port->config, world->now_ns);
}

void world_update_link(struct world *world, struct end end)
{
	change_link(world, end);
	world_evaluate(&world->system[end.system], true);
}

void world_port_configure(struct world *world, struct end end,
			  const struct lacp_port_config *config)
{
	struct port *port = world_port(world, end);

	/* A reference starts anew without a word, also if it is back at once. */
	if (world->system[end.system].is_reference &&
	    lacp_enabled(&port->config) != lacp_enabled(config))
		cable_note_trouble(world, end);
	port->config = *config;
	world_update_link(world, end);
}

void world_hold_down(struct world *world, int index, uint64_t slots, bool held)
{
	struct system *system = &world->system[index];
	struct lacp_prospect prospect;

	if (system->away)
		return;
	if (!system->is_reference)
		prospect = lacp_prospect(&system->lacp, slots, world->now_ns);
	for (unsigned int slot = 0; slot < system->ports; slot++) {
		if (!(slots >> slot & 1))
			continue;
		system->port[slot].held = held;
		change_link(world, (struct end){ .system = index, .slot = slot });
	}
	world_evaluate(system, true);
	if (held && !system->is_reference)
		check_prospect(world, system, &prospect);
}

/* A device that goes without the daemon takes its program with it. */
void world_port_remove(struct world *world, struct end end)
{
	struct system *system = &world->system[end.system];
	struct port *port = world_port(world, end);

	port->exists = false;
	port->timer_ns = 0;
	cable_note_trouble(world, end);
	memset(&port->reference, 0, sizeof(port->reference));
	if (system->away || system->is_reference) {
		port->collecting = port->distributing = false;
		port->drain_ns = 0;
	} else {
		lacp_port_remove(&system->lacp, end.slot, world->now_ns);
		lacp_thread_hold_clear(&port->hold, &port->sent);
	}
	world_evaluate(system, false);
}

void world_port_add(struct world *world, struct end end)
{
	struct port *port = world_port(world, end);

	port->exists = true;
	port->refused = port->bounced = false;
	port->said_ns = 0;
	memset(port->sent_ns, 0, sizeof(port->sent_ns)); /* another device: it has sent nothing */
	lacp_thread_hold_begin(&port->hold);
	if (!world->system[end.system].is_reference &&
	    lacp_port_add(&world->system[end.system].lacp, end.slot, &port->config, world->now_ns))
		world_fail(world, "port refused");
	world_evaluate(&world->system[end.system], false);
}

void world_newer(struct world *world, int index)
{
	world->system[index].newer = true;
}

void world_individual(struct world *world, int index)
{
	world->system[index].individual = true;
}

void world_stop(struct world *world, int index, bool stopped)
{
	world->system[index].stopped = stopped;
	for (unsigned int slot = 0; slot < world->system[index].ports; slot++)
		world_update_link(world, (struct end){ .system = index, .slot = slot });
}

int world_drain(struct world *world, struct end end)
{
	struct system *system = &world->system[end.system];
	int err;

	world_port(world, end)->drained = false;
	err = lacp_drain(&system->lacp, end.slot, world->now_ns);
	if (!err)
		world_port(world, end)->drain_ns = world->now_ns;
	world_evaluate(system, false);
	return err;
}

static struct frame *next_frame(struct world *world)
{
	struct frame *next = NULL;

	for (unsigned int i = 0; i < world->count; i++)
		if (!next || world->frame[i].due_ns < next->due_ns)
			next = &world->frame[i];
	return next;
}

static void act_in(struct world *world, struct system *system)
{
	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (system->port[slot].timer_ns && system->port[slot].timer_ns <= world->now_ns)
			hold_run_timer(world, world_end(system, slot));
	if (!system->away && system->deadline_ns <= world->now_ns)
		world_evaluate(system, false);
}

static void act(struct world *world, struct frame *frame)
{
	if (frame && frame->due_ns <= world->now_ns)
		world_deliver(world, frame);
	for (int i = 0; i < SYSTEMS; i++)
		if (world->system[i].exists)
			act_in(world, &world->system[i]);
}

static uint64_t next_in(const struct system *system)
{
	uint64_t next_ns = system->away ? LACP_NEVER : system->deadline_ns;

	for (unsigned int slot = 0; slot < system->ports; slot++)
		if (system->port[slot].timer_ns && system->port[slot].timer_ns < next_ns)
			next_ns = system->port[slot].timer_ns;
	return next_ns;
}

bool world_step(struct world *world, uint64_t limit_ns)
{
	struct frame *frame = next_frame(world);
	uint64_t next_ns = frame ? frame->due_ns : LACP_NEVER;

	for (int i = 0; i < SYSTEMS; i++)
		if (world->system[i].exists && next_in(&world->system[i]) < next_ns)
			next_ns = next_in(&world->system[i]);
	if (next_ns > limit_ns) {
		world->now_ns = limit_ns;
		return false;
	}
	if (++world->steps % ORACLE_STEPS == 0)
		oracle_ask(world, next_ns);
	if (next_ns > world->now_ns)
		world->now_ns = next_ns;
	act(world, frame);
	check_world(world);
	goals_check_steady(world);
	return !world->failed;
}

void world_run(struct world *world, uint64_t duration_ns)
{
	uint64_t limit_ns = world->now_ns + duration_ns;

	while (!world->failed && world_step(world, limit_ns))
		;
}

unsigned int world_carrying(const struct system *system)
{
	unsigned int count = 0;

	for (unsigned int slot = 0; slot < system->ports; slot++)
		count += system->port[slot].distributing;
	return count;
}

static void print_port(const struct system *system, unsigned int slot)
{
	const struct lacp_port_state *state = &system->lacp.port[slot];
	struct end peer = system->port[slot].peer;
	char why[LACP_WHY_SIZE];

	lacp_why(&system->lacp, slot, system->world->now_ns, NULL, NULL, why);
	printf("  %c.%u-%c.%u %s %s %s aggregator %u of %u: %s\n", system->name, slot + 1,
	       peer.system < 0 ? '-' : 'A' + peer.system, peer.slot + 1, lacp_rx_name(state->rx),
	       lacp_mux_name(state->mux), lacp_selected_name(state->selected), state->aggregator,
	       system->lacp.state.active_aggregator, why);
}

void world_print(const struct world *world)
{
	for (int i = 0; i < SYSTEMS; i++)
		for (unsigned int slot = 0; slot < world->system[i].ports; slot++)
			if (!world->system[i].is_reference)
				print_port(&world->system[i], slot);
}
