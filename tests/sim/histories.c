/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeded random histories: two to four systems, of which one may be a reference, with random
 * options, random cables, a while of random trouble under the invariants of check.c; then trouble
 * ends or goes on without change, and what can aggregate must do so (goals.c). Last comes small
 * trouble, which must not stop traffic.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"

#define TROUBLE (40 * SECOND)
#define MAX_SYSTEMS 4
#define MAX_PORTS 4
/*
 * Slow timeout, expired, slow period, wait; a few turns of trying other partners, and a port's
 * longest turn.
 */
#define BOUND ((90 + 3 + 30 + 2 + 5 * 8 + 80) * SECOND)

struct history {
	struct world world;
	int systems;
	unsigned int ports;
	uint64_t slowed_ns; /* when a system last asked for the long timeout */
};

static bool chance(struct history *history, uint32_t percent)
{
	return world_random(&history->world, 100) < percent;
}

static struct end any_end(struct history *history)
{
	return (struct end){
		.system = (int)world_random(&history->world, (uint32_t)history->systems),
		.slot = world_random(&history->world, history->ports),
	};
}

/* The one that is to be believed, or none. */
static void any_partner(struct history *history, struct lacp_config *config)
{
	uint32_t system = world_random(&history->world, MAX_SYSTEMS + 1);

	memset(config->believed, 0, LACP_MAC_SIZE);
	config->believed[0] = system ? 0x02 : 0;
	config->believed[5] = (uint8_t)system;
}

static struct lacp_config any_config(struct history *history, int index)
{
	struct lacp_config config = lacp_config_default();

	config.system[0] = 0x02;
	config.system[5] = (uint8_t)(index + 1);
	config.system_priority =
		(uint16_t)(chance(history, 50) ? 65535 : world_random(&history->world, 3) + 1);
	config.rate_fast = chance(history, 70);
	config.active = index == 0 || chance(history, 70);
	config.coupled = chance(history, 60);
	config.hold = chance(history, 70);
	config.max_links =
		chance(history, 30) ? (uint16_t)(1 + world_random(&history->world, 3)) : 0;
	config.min_links =
		chance(history, 20) ? (uint16_t)(1 + world_random(&history->world, 3)) : 0;
	config.min_links_strict = chance(history, 50);
	config.revert = chance(history, 60);
	config.wtr_s = chance(history, 20) ? (uint16_t)(1 + world_random(&history->world, 10)) : 0;
	config.strict = chance(history, 10);
	config.ad_select = (uint8_t)world_random(&history->world, 4);
	config.fallback = (uint8_t)world_random(&history->world, 3);
	if (chance(history, 10))
		any_partner(history, &config);
	/* A loop needs a round trip to be found. */
	config.fallback_delay_ms = 100 + world_random(&history->world, 5000);
	return config;
}

static void any_cable(struct history *history)
{
	struct end a = any_end(history), b = any_end(history);
	uint64_t delay_ns = (1 + world_random(&history->world, 20)) * MS;

	world_run(&history->world, MS); /* no two plugs in one instant */
	if (a.system != b.system || chance(history, 10))
		world_cable(&history->world, a, b, delay_ns);
}

/* One that says on the wire that it is individual would not know it itself. */
static bool is_reference(uint64_t seed, const struct history *history, int system)
{
	return seed % 4 == 0 && system == history->systems - 1;
}

static void set_up(struct history *history, uint64_t seed)
{
	memset(history, 0, sizeof(*history));
	world_init(&history->world, seed);
	history->systems = 2 + (int)world_random(&history->world, MAX_SYSTEMS - 1);
	history->ports = 1 + world_random(&history->world, MAX_PORTS);
	for (int i = 0; i < history->systems; i++) {
		struct lacp_config config = any_config(history, i);

		world_system(&history->world, i, (char)('A' + i), history->ports, &config);
		if (chance(history, 10) && !is_reference(seed, history, i))
			world_individual(&history->world, i);
		if (chance(history, 10))
			world_newer(&history->world, i);
	}
	if (is_reference(seed, history, history->systems - 1))
		world_reference(&history->world, history->systems - 1);
	for (unsigned int i = 0; i < 2 * history->ports; i++)
		any_cable(history);
}

static bool has_reference(const struct history *history)
{
	return history->world.system[history->systems - 1].is_reference;
}

static void any_option(struct history *history)
{
	int index = (int)world_random(&history->world, (uint32_t)history->systems);
	struct lacp_config config;

	if (history->world.system[index].away)
		return;
	config = history->world.system[index].lacp.state.config;
	if (chance(history, 30))
		config.rate_fast = !config.rate_fast;
	if (chance(history, 30))
		config.coupled = !config.coupled;
	if (chance(history, 30))
		config.max_links = (uint16_t)world_random(&history->world, 3);
	if (chance(history, 10))
		config.user_port_key = (uint16_t)world_random(&history->world, 2);
	if (chance(history, 10))
		config.system_priority = (uint16_t)(1 + world_random(&history->world, 3));
	if (chance(history, 10))
		config.active = !config.active;
	if (chance(history, 10))
		config.hold = !config.hold;
	if (chance(history, 10))
		config.min_links = (uint16_t)world_random(&history->world, 3);
	if (chance(history, 10))
		config.revert = !config.revert;
	if (chance(history, 10))
		config.wtr_s = (uint16_t)world_random(&history->world, 10);
	if (chance(history, 10))
		config.strict = !config.strict;
	if (chance(history, 10))
		config.min_links_strict = !config.min_links_strict;
	if (chance(history, 10))
		config.ad_select = (uint8_t)world_random(&history->world, 4);
	if (chance(history, 10))
		config.fallback_delay_ms = 100 + world_random(&history->world, 5000);
	if (chance(history, 5))
		any_partner(history, &config);
	if (chance(history, 10))
		config.fallback = (uint8_t)world_random(&history->world, 3);
	world_configure(&history->world, index, &config);
}

static void any_priority(struct history *history, struct end end)
{
	struct lacp_port_config config = history->world.system[end.system].port[end.slot].config;

	config.port_priority = (uint16_t)world_random(&history->world, 4);
	world_port_configure(&history->world, end, &config);
}

static void any_restart(struct history *history)
{
	int index = (int)world_random(&history->world, (uint32_t)history->systems);

	if (history->world.system[index].away)
		world_back(&history->world, index);
	else if (chance(history, 30))
		world_doom(&history->world, index);
	else
		world_away(&history->world, index);
}

/* Leaves, also without the daemon, and returns. */
static void any_device(struct history *history)
{
	struct end end = any_end(history);
	const struct system *system = &history->world.system[end.system];

	if (system->port[end.slot].exists)
		world_port_remove(&history->world, end);
	else if (!system->away)
		world_port_add(&history->world, end);
}

/* A port, or all ports of an aggregator, in use or not. */
static void any_hold_down(struct history *history)
{
	struct end end = any_end(history);
	const struct system *system = &history->world.system[end.system];
	uint8_t aggregator = system->lacp.port[end.slot].aggregator;
	uint64_t slots = 1ull << end.slot;

	for (unsigned int slot = 0; aggregator && slot < history->ports; slot++)
		if (system->lacp.port[slot].aggregator == aggregator && chance(history, 70))
			slots |= 1ull << slot;
	world_hold_down(&history->world, end.system, slots, !system->port[end.slot].held);
}

static void any_trouble(struct history *history)
{
	struct end end = any_end(history);
	struct port *port = &history->world.system[end.system].port[end.slot];

	switch (world_random(&history->world, 12)) {
	case 0:
	case 1: world_cut(&history->world, end, !port->cut); break;
	case 2: any_cable(history); break;
	case 3: world_loss(&history->world, end, chance(history, 50) ? 30 : 0); break;
	case 4:
		world_loss(&history->world, end, chance(history, 50) ? 100 : 0); /* one-way */
		break;
	case 5: any_restart(history); break;
	case 6: any_option(history); break;
	case 7: any_priority(history, end); break;
	case 8: any_device(history); break;
	case 10:
		world_stop(&history->world, end.system, !history->world.system[end.system].stopped);
		break;
	case 9: world_lose(&history->world, end, 1 + world_random(&history->world, 2)); break;
	case 11: any_hold_down(history); break;
	}
}

static void make_trouble(struct history *history)
{
	uint64_t end_ns = history->world.now_ns + TROUBLE;

	while (history->world.now_ns < end_ns && !history->world.failed) {
		any_trouble(history);
		world_run(&history->world, world_random(&history->world, 4000) * MS);
	}
}

/*
 * Half of the histories end with faults that stay: some links dead, or dead in one direction, or
 * held down by a monitor, some ports gone.
 */
static void end_trouble_at(struct history *history, struct end end, bool all)
{
	struct port *port = &history->world.system[end.system].port[end.slot];

	port->lose = 0;
	if (all || port->loss != 100 || chance(history, 30))
		world_loss(&history->world, end, 0);
	if (all || chance(history, 50))
		world_cut(&history->world, end, false);
	if (all || chance(history, 50))
		world_hold_down(&history->world, end.system, 1ull << end.slot, false);
	if (!port->exists && !history->world.system[end.system].away &&
	    (all || chance(history, 50)))
		world_port_add(&history->world, end);
}

static void end_trouble(struct history *history)
{
	bool all = chance(history, 50);

	for (int i = 0; i < history->systems; i++) {
		if (all || chance(history, 70))
			world_back(&history->world, i);
		if (all || chance(history, 50))
			world_stop(&history->world, i, false);
		for (unsigned int slot = 0; slot < history->ports; slot++)
			end_trouble_at(history, (struct end){ .system = i, .slot = slot }, all);
	}
}

/* What changes no LAG, and neither who may carry nor on how many links. */
static bool has_somebody_gone(const struct history *history)
{
	for (int i = 0; i < history->systems; i++)
		if (history->world.system[i].away || history->world.system[i].doomed)
			return true;
	return false;
}

static void any_small_option(struct history *history, int index)
{
	struct lacp_config config = history->world.system[index].lacp.state.config;

	switch (world_random(&history->world, 5)) {
	case 0:
	case 1:
		if (config.rate_fast && has_somebody_gone(history))
			return;
		if (config.rate_fast)
			history->slowed_ns = history->world.now_ns;
		config.rate_fast = !config.rate_fast;
		break;
	case 2: config.coupled = !config.coupled; break;
	case 3: config.revert = !config.revert; break;
	case 4: config.wtr_s = (uint16_t)world_random(&history->world, 10); break;
	}
	world_configure(&history->world, index, &config);
}

/* An LACPDU of one end is lost, or is about to be. */
static bool is_losing(const struct history *history, uint64_t within_ns)
{
	for (int i = 0; i < history->systems; i++)
		for (unsigned int slot = 0; slot < history->ports; slot++) {
			const struct port *port = &history->world.system[i].port[slot];

			if (port->lose || history->world.now_ns < port->lost_ns[2] + within_ns)
				return true;
		}
	return false;
}

/*
 * The kernel holds the ports. If both ends were away, nobody would begin a PDU. The first answer
 * may be missing; two more would be silence. Hold asks for the short timeout if the partner does,
 * which takes until the partner's next PDU when the rate has become slow.
 */
static void any_held_restart(struct history *history, int index)
{
	if (!history->world.system[index].lacp.state.config.hold ||
	    is_losing(history, 35 * SECOND) || has_somebody_gone(history) ||
	    history->world.now_ns < history->slowed_ns + 35 * SECOND)
		return;
	if (chance(history, 30))
		world_doom(&history->world, index);
	else
		world_away(&history->world, index);
}

static bool has_strict_min_links(const struct history *history, int index)
{
	return history->world.system[index].lacp.state.config.min_links_strict;
}

/* A link fails while others of the same systems carry, or works again. */
static void any_link(struct history *history, struct end end)
{
	const struct system *system = &history->world.system[end.system];
	const struct port *port = &system->port[end.slot];
	unsigned int others = 0;

	if (port->peer.system < 0 || has_strict_min_links(history, end.system) ||
	    has_strict_min_links(history, port->peer.system))
		return;
	for (unsigned int slot = 0; slot < history->ports; slot++)
		others += slot != end.slot &&
			  goals_link_carries(&history->world, (struct end){ end.system, slot });
	if (port->loss)
		world_loss(&history->world, end, 0);
	else if (port->cut)
		world_cut(&history->world, end, false);
	else if (others && chance(history, 50))
		world_loss(&history->world, end, 100);
	else if (others)
		world_cut(&history->world, end, true);
}

static void any_loss(struct history *history, struct end end)
{
	if (!is_losing(history, 5 * SECOND) && !has_somebody_gone(history))
		world_lose(&history->world, end, 1);
}

/* A reference starts anew for that. */
static void any_small_priority(struct history *history, struct end end)
{
	if (!has_reference(history))
		any_priority(history, end);
}

static void any_small_trouble(struct history *history)
{
	struct end end = any_end(history);

	if (history->world.system[end.system].away) {
		world_back(&history->world, end.system);
		return;
	}
	switch (world_random(&history->world, 7)) {
	case 0: any_small_priority(history, end); break;
	case 1: any_small_option(history, end.system); break;
	case 2: any_loss(history, end); break;
	case 3: any_held_restart(history, end.system); break;
	case 4:
	case 5: any_link(history, end); break;
	case 6:
		any_loss(history, end); /* of the LACPDU that says so */
		any_small_priority(history, end);
		break;
	}
}

/* A port of another speed, which has an aggregator of its own. */
static void make_other_speed(struct history *history)
{
	struct end end = any_end(history);
	struct lacp_port_config config = history->world.system[end.system].port[end.slot].config;

	config.speed_mbps = 1000;
	world_port_configure(&history->world, end, &config);
	world_run(&history->world, 20 * SECOND);
}

/* Traffic that flows goes on. */
static void make_small_trouble(struct history *history)
{
	uint64_t end_ns;

	if (chance(history, 30))
		make_other_speed(history);
	end_ns = history->world.now_ns + 2 * TROUBLE;
	goals_expect_steady(&history->world, history->systems, history->ports);
	while (history->world.now_ns < end_ns && !history->world.failed) {
		any_small_trouble(history);
		world_run(&history->world,
			  world_random(&history->world, chance(history, 30) ? 50 : 8000) * MS);
	}
}

/* All trouble is over, and forgotten. */
static void end_small_trouble(struct history *history)
{
	struct world *world = &history->world;

	memset(world->steady, 0, sizeof(world->steady));
	for (int i = 0; i < history->systems; i++) {
		world_back(world, i);
		world->system[i].doomed = false;
		for (unsigned int slot = 0; slot < history->ports; slot++)
			world->system[i].port[slot].lose = 0;
	}
	world_run(world, 200 * SECOND);
}

/*
 * A system turns passive, or active, and some LACPDUs that say so may get lost. If its partner is
 * passive, too, it leaves, and no traffic goes there any more (check.c).
 */
static void make_passive(struct history *history)
{
	struct end end = any_end(history);
	struct system *system = &history->world.system[end.system];
	struct lacp_config config;
	uint64_t since_ns;

	end_small_trouble(history);
	config = system->lacp.state.config;
	config.active = !config.active;
	world_lose(&history->world, end,
		   world_random(&history->world, 5)); /* all repeats, or less */
	since_ns = history->world.now_ns;
	world_configure(&history->world, end.system, &config);
	world_run(&history->world, 120 * SECOND);
	goals_check_quiet(&history->world, since_ns + 40 * SECOND); /* a slow LACPDU is answered */
}

static int run_one(uint64_t seed, bool verbose)
{
	static struct history history;

	set_up(&history, seed);
	history.world.verbose = verbose;
	make_trouble(&history);
	if (verbose)
		printf("  trouble ends\n");
	end_trouble(&history);
	world_run(&history.world, BOUND);
	if (!history.world.failed)
		goals_check(&history.world, history.systems, history.ports);
	if (verbose)
		printf("  small trouble\n");
	make_small_trouble(&history);
	if (chance(&history, 20))
		make_passive(&history);
	if (verbose)
		world_print(&history.world);
	if (history.world.failed)
		printf("history %llu: %s\n", (unsigned long long)seed, history.world.failure);
	return history.world.failed;
}

int histories_run(unsigned int count, uint64_t seed, bool verbose)
{
	int failures = 0;

	for (unsigned int i = 0; i < count; i++)
		failures += run_one(seed + i, verbose);
	return failures;
}
