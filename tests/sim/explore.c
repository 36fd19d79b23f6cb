/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every history of two systems with two links, up to so many bad moves: before each event, each
 * move is tried. Without a move a state has one successor, so a state that was reached before, with
 * as many moves left, needs no second look. When a state comes again in the same history, nothing
 * changes any more, and the goals must have come about.
 *
 * States are compared with times relative to now and counters left out. What lies further back than
 * OLD counts as OLD: states that differ only there are taken for one, so a history may be missed,
 * but none is judged wrongly.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/scenario.h"

#define SIDES 2
#define LINKS 2
#define OLD (7 * SECOND)
#define NEXT (1000 * SECOND) /* within this time something happens, if anything does */
#define IMAGE_SIZE 65536
#define MOVES_MAX 16 /* with those that end a fault */
#define REPORTS 10   /* of so many failures; all are counted */
#define FUTURE (UINT64_C(1) << 63)

/* One side, as a scenario has it: what differs from the defaults. */
static const char *const sides[] = {
	"",
	"lacp_rate fast",
	"lacp_active off",
	"lacp_rate fast coupled_control off",
	"lacp_rate fast max_links 1",
	"lacp_rate fast max_links 1 coupled_control off lacp_wtr 5",
	"lacp_rate fast lacp_fallback none",
	"lacp_hold off",
	"lacp_rate fast min_links 2 min_links_lacp on",
};

/* Of state reached: with how many bad moves left, and in which history. */
struct reached {
	uint64_t key;
	uint32_t history;
	uint32_t left;
};

struct explorer {
	struct world world;
	const char *side[SIDES];
	struct reached *reached; /* a power of two of them; key 0: free */
	uint64_t room, states, histories;
	unsigned int share, pick; /* moves are made at one state of so many */
	unsigned int failures;
	unsigned int depth;
	struct {
		uint64_t at_ns;
		char words[40];
	} move[MOVES_MAX];
	uint8_t image[MOVES_MAX + 1][IMAGE_SIZE];
};

/* The world as octets, and back. */

struct image {
	uint8_t *at, *end;
	bool back;
};

static void image_take(struct image *image, void *data, size_t size)
{
	if ((size_t)(image->end - image->at) < size)
		abort();
	if (image->back)
		memcpy(data, image->at, size);
	else
		memcpy(image->at, data, size);
	image->at += size;
}

static void image_lacp(struct image *image, struct lacp_system *lacp)
{
	image_take(image, &lacp->state, sizeof(lacp->state));
	image_take(image, lacp->port, LINKS * sizeof(*lacp->port));
	image_take(image, &lacp->used, sizeof(*lacp) - offsetof(struct lacp_system, used));
}

static void image_system(struct image *image, struct system *system)
{
	image_take(image, system, offsetof(struct system, lacp));
	image_lacp(image, &system->lacp);
	image_lacp(image, &system->saved);
	image_take(image, system->port, LINKS * sizeof(*system->port));
	image_take(image, &system->waiting, sizeof(system->waiting));
	image_take(image, system->ring, system->waiting * sizeof(*system->ring));
	image_take(image, &system->deadline_ns, sizeof(system->deadline_ns));
}

static void image_world(struct world *world, uint8_t octets[IMAGE_SIZE], bool back)
{
	struct image image = { octets, octets + IMAGE_SIZE, back };

	image_take(&image, &world->now_ns, sizeof(world->now_ns));
	image_take(&image, &world->count, sizeof(world->count));
	image_take(&image, world->frame, world->count * sizeof(*world->frame));
	image_take(&image, &world->steady[0][1], sizeof(world->steady[0][1]));
	image_take(&image, &world->gap_ns[0][1], sizeof(world->gap_ns[0][1]));
	for (int i = 0; i < SIDES; i++)
		image_system(&image, &world->system[i]);
}

/* What makes two states the same. */

static uint64_t state_time(const struct world *world, uint64_t time_ns)
{
	uint64_t age = world->now_ns - time_ns;

	if (!time_ns || time_ns == LACP_NEVER)
		return time_ns;
	if (time_ns > world->now_ns)
		return FUTURE + time_ns - world->now_ns;
	return 1 + (age < OLD ? age : OLD);
}

static void state_times(const struct world *world, uint64_t *time_ns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		time_ns[i] = state_time(world, time_ns[i]);
}

/* What is compared of a state, and its hash. */
struct gist {
	size_t size;
	uint8_t octets[IMAGE_SIZE + 32];
};

static void gist_add(struct gist *gist, const void *data, size_t size)
{
	if (gist->size + size > IMAGE_SIZE)
		abort();
	memcpy(gist->octets + gist->size, data, size);
	gist->size += size;
}

static uint64_t gist_key(struct gist *gist)
{
	const uint64_t odd = UINT64_C(0x9fb21c651e98df25);
	uint64_t lane[4] = { 1, 2, 3, 4 }, word[4];

	memset(gist->octets + gist->size, 0, sizeof(word));
	for (size_t at = 0; at < gist->size; at += sizeof(word)) {
		memcpy(word, gist->octets + at, sizeof(word));
		for (int i = 0; i < 4; i++) {
			lane[i] = (lane[i] ^ word[i]) * odd;
			lane[i] ^= lane[i] >> 32;
		}
	}
	for (int i = 1; i < 4; i++)
		lane[0] = (lane[0] ^ lane[i]) * odd ^ lane[0] >> 32;
	return lane[0] ? lane[0] : 1;
}

static void state_machines(const struct world *world, struct gist *gist,
			   const struct lacp_system *lacp)
{
	const size_t first = offsetof(struct lacp_port_state, heard_ns);
	const size_t end = offsetof(struct lacp_port_state, counters);
	struct lacp_system_state state = lacp->state;

	state.transaction = 0;
	state.yield_ns = state_time(world, state.yield_ns);
	gist_add(gist, &state, sizeof(state));
	for (unsigned int slot = 0; slot < LINKS; slot++) {
		struct lacp_port_state port = lacp->port[slot];

		port.transaction = 0;
		state_times(world, &port.heard_ns, (end - first) / sizeof(uint64_t));
		gist_add(gist, &port, end);
	}
}

static void state_hold(const struct world *world, struct gist *gist, const struct xbond_hold *from)
{
	struct xbond_hold hold = *from;
	struct xbond_hold_words *words = &hold.words[hold.in_force & 1];

	words->heard_ns = state_time(world, words->heard_ns);
	words->sent_ns = state_time(world, words->sent_ns);
	gist_add(gist, words, sizeof(*words));
	hold.heard_ns = state_time(world, hold.heard_ns);
	hold.answered_ns = state_time(world, hold.answered_ns);
	hold.missed_ns = state_time(world, hold.missed_ns);
	hold.answers = 0;
	for (unsigned int class = 0; class < XBOND_PDU_CLASSES; class ++)
		hold.budget[class].window_ns = state_time(world, hold.budget[class].window_ns);
	gist_add(gist, &hold.heard_ns, sizeof(hold) - offsetof(struct xbond_hold, heard_ns));
}

static void state_port(const struct world *world, struct gist *gist, const struct port *from)
{
	struct port port = *from;

	state_hold(world, gist, &port.hold);
	memset(&port.hold, 0, sizeof(port.hold));
	port.blind_ns = state_time(world, port.blind_ns);
	state_times(world, port.sent_ns, LACP_TX_LIMIT);
	port.sent.sent_ns = state_time(world, port.sent.sent_ns);
	port.timer_ns = state_time(world, port.timer_ns);
	port.said_ns = state_time(world, port.said_ns);
	state_times(world, port.lost_ns, sizeof(port.lost_ns) / sizeof(*port.lost_ns));
	port.troubled_ns = state_time(world, port.troubled_ns);
	port.void_ns = state_time(world, port.void_ns);
	port.half_ns = state_time(world, port.half_ns);
	gist_add(gist, &port, offsetof(struct port, hold));
	gist_add(gist, &port.sent, sizeof(port) - offsetof(struct port, sent));
}

static void state_system(const struct world *world, struct gist *gist, const struct system *system)
{
	const uint64_t more[] = { system->stopped, system->away, system->waiting,
				  state_time(world, system->away ? system->away_ns : 0),
				  state_time(world, system->deadline_ns) };

	gist_add(gist, more, sizeof(more));
	state_machines(world, gist, system->away ? &system->saved : &system->lacp);
	for (unsigned int slot = 0; slot < LINKS; slot++)
		state_port(world, gist, &system->port[slot]);
	for (unsigned int i = 0; i < system->waiting; i++) {
		struct xbond_pdu pdu = system->ring[i];

		pdu.received_ns = state_time(world, pdu.received_ns);
		gist_add(gist, &pdu, sizeof(pdu));
	}
}

static uint64_t state_key(const struct world *world)
{
	static struct gist gist;
	const uint64_t traffic[] = { world->steady[0][1], state_time(world, world->gap_ns[0][1]) };

	gist.size = 0;
	gist_add(&gist, traffic, sizeof(traffic));
	for (unsigned int i = 0; i < world->count; i++) {
		struct frame frame = world->frame[i];

		frame.due_ns = state_time(world, frame.due_ns);
		gist_add(&gist, &frame, sizeof(frame));
	}
	for (int i = 0; i < SIDES; i++)
		state_system(world, &gist, &world->system[i]);
	return gist_key(&gist);
}

/* The states that were reached. */

static struct reached *reached_place(struct reached *reached, uint64_t room, uint64_t key)
{
	uint64_t at = key & (room - 1);

	while (reached[at].key && reached[at].key != key)
		at = (at + 1) & (room - 1);
	return &reached[at];
}

static void reached_grow(struct explorer *all)
{
	uint64_t room = all->room ? 2 * all->room : 1 << 16;
	struct reached *grown = calloc(room, sizeof(*grown));

	if (!grown)
		abort();
	for (uint64_t i = 0; i < all->room; i++)
		if (all->reached[i].key)
			*reached_place(grown, room, all->reached[i].key) = all->reached[i];
	free(all->reached);
	all->reached = grown;
	all->room = room;
}

enum seen { SEEN_NOT, SEEN_BEFORE, SEEN_HERE };

/* Notes a state. SEEN_HERE: this history has been there. */
static enum seen reached_note(struct explorer *all, uint64_t key, uint32_t history, uint32_t left)
{
	struct reached *place;

	if (2 * all->states >= all->room)
		reached_grow(all);
	place = reached_place(all->reached, all->room, key);
	if (place->key && place->left >= left)
		return place->history == history ? SEEN_HERE : SEEN_BEFORE;
	all->states += !place->key;
	*place = (struct reached){ .key = key, .history = history, .left = left };
	return SEEN_NOT;
}

/* The moves. Each returns false if it is none now. */

static bool move_lose(struct world *world, struct end end)
{
	if (world->system[end.system].port[end.slot].lose)
		return false;
	world_lose(world, end, 1);
	return true;
}

static bool move_cut(struct world *world, struct end end, bool cut)
{
	if (end.system || world->system[0].port[end.slot].cut == cut)
		return false;
	world_cut(world, end, cut);
	return true;
}

static bool move_loss(struct world *world, struct end end, unsigned int percent)
{
	if (world->system[end.system].port[end.slot].loss == percent)
		return false;
	world_loss(world, end, percent);
	return true;
}

static bool move_away(struct world *world, struct end end, bool away)
{
	if (end.slot || world->system[end.system].away == away)
		return false;
	if (away)
		world_away(world, end.system);
	else
		world_back(world, end.system);
	return true;
}

static bool move_stop(struct world *world, struct end end, bool stopped)
{
	if (end.slot || world->system[end.system].stopped == stopped)
		return false;
	world_stop(world, end.system, stopped);
	return true;
}

/* at: of a flag in the options of the system. */
static bool move_flag(struct world *world, struct end end, size_t at, bool value)
{
	struct lacp_config options = world->system[end.system].lacp.state.config;
	uint8_t *flag = (uint8_t *)&options + at;

	if (end.slot || world->system[end.system].away || *flag == value)
		return false;
	*flag = value;
	world_configure(world, end.system, &options);
	return true;
}

static bool move_priority(struct world *world, struct end end, uint16_t priority)
{
	struct lacp_port_config options = world->system[end.system].port[end.slot].config;

	if (options.port_priority == priority)
		return false;
	options.port_priority = priority;
	world_port_configure(world, end, &options);
	return true;
}

enum move {
	MOVE_LOSE,
	MOVE_CUT,
	MOVE_MEND,
	MOVE_DEAF,
	MOVE_HEAR,
	MOVE_AWAY,
	MOVE_BACK,
	MOVE_STOP,
	MOVE_START,
	MOVE_FAST,
	MOVE_SLOW,
	MOVE_ACTIVE,
	MOVE_PASSIVE,
	MOVE_FIRST,
	MOVES
};

/* As lines of a scenario; a port or a system comes in place of '@'. */
static const struct {
	const char *words;
	bool is_free;  /* it ends a fault, and costs nothing */
	bool is_small; /* alone, it stops no traffic */
} move_kinds[MOVES] = {
	[MOVE_LOSE] = { "lose 1 @.#", false, true },
	[MOVE_CUT] = { "cut @.#", false, false },
	[MOVE_MEND] = { "mend @.#", true, true },
	[MOVE_DEAF] = { "loss 100 @.#", false, false },
	[MOVE_HEAR] = { "loss 0 @.#", true, true },
	[MOVE_AWAY] = { "away @", false, true },
	[MOVE_BACK] = { "back @", true, true },
	[MOVE_STOP] = { "stop @", false, false },
	[MOVE_START] = { "start @", true, true },
	[MOVE_FAST] = { "set @ lacp_rate fast", false, true },
	[MOVE_SLOW] = { "set @ lacp_rate slow", false, true },
	[MOVE_ACTIVE] = { "set @ lacp_active on", false, false },
	[MOVE_PASSIVE] = { "set @ lacp_active off", false, false },
	[MOVE_FIRST] = { "port @.# actor_port_prio 1", false, true },
};

static bool move_make(struct world *world, enum move move, struct end end)
{
	switch (move) {
	case MOVE_LOSE: return move_lose(world, end);
	case MOVE_CUT: return move_cut(world, end, true);
	case MOVE_MEND: return move_cut(world, end, false);
	case MOVE_DEAF: return move_loss(world, end, 100);
	case MOVE_HEAR: return move_loss(world, end, 0);
	case MOVE_AWAY: return move_away(world, end, true);
	case MOVE_BACK: return move_away(world, end, false);
	case MOVE_STOP: return move_stop(world, end, true);
	case MOVE_START: return move_stop(world, end, false);
	case MOVE_FAST: return move_flag(world, end, offsetof(struct lacp_config, rate_fast), true);
	case MOVE_SLOW:
		return move_flag(world, end, offsetof(struct lacp_config, rate_fast), false);
	case MOVE_ACTIVE: return move_flag(world, end, offsetof(struct lacp_config, active), true);
	case MOVE_PASSIVE:
		return move_flag(world, end, offsetof(struct lacp_config, active), false);
	case MOVE_FIRST: return move_priority(world, end, 1);
	case MOVES: break;
	}
	return false;
}

static void move_write(struct explorer *all, enum move move, struct end end)
{
	char *to = all->move[all->depth].words;

	for (const char *from = move_kinds[move].words; *from; from++)
		*to++ = *from == '@'   ? (char)('A' + end.system)
			: *from == '#' ? (char)('1' + end.slot)
				       : *from;
	*to = 0;
	all->move[all->depth++].at_ns = all->world.now_ns;
}

/* A failure, as a scenario that shows it. */
static void explore_report(struct explorer *all)
{
	uint64_t at_ns = SECOND;

	if (all->failures++ >= REPORTS)
		return;
	printf("# %s\n", all->world.failure);
	for (int i = 0; i < SIDES; i++)
		printf("system %c %d %s\n", 'A' + i, LINKS, all->side[i]);
	printf("cable A.1 B.1 A.2 B.2\n");
	for (unsigned int i = 0; i < all->depth; i++) {
		printf("run %.10gms\n%s\n", (double)(all->move[i].at_ns - at_ns) / MS,
		       all->move[i].words);
		at_ns = all->move[i].at_ns;
	}
	printf("run 300s\n\n");
}

/* A daemon that goes leaves its ports to hold. */
static bool explore_goes_on(const struct explorer *all, enum move move, struct end end)
{
	const struct world *world = &all->world;

	return world->steady[0][1] && move_kinds[move].is_small &&
	       (!all->depth || move_kinds[move].is_free) &&
	       (move != MOVE_AWAY || world->system[end.system].lacp.state.config.hold);
}

static void explore_from(struct explorer *all, uint32_t left);

static void explore_moves(struct explorer *all, uint32_t left)
{
	uint8_t *image = all->image[all->depth];

	if (all->depth == MOVES_MAX)
		return;
	if (!all->depth)
		goals_expect_steady(&all->world, SIDES, LINKS);
	image_world(&all->world, image, false);
	for (int i = 0; i < SIDES * LINKS * MOVES; i++) {
		const struct end end = { i / MOVES / LINKS, (unsigned int)(i / MOVES % LINKS) };
		const enum move move = (enum move)(i % MOVES);
		const bool goes_on = explore_goes_on(all, move, end);

		if ((!left && !move_kinds[move].is_free) || !move_make(&all->world, move, end))
			continue;
		all->world.steady[0][1] = goes_on;
		move_write(all, move, end);
		explore_from(all, left - !move_kinds[move].is_free);
		all->depth--;
		all->world.failed = false;
		image_world(&all->world, image, true);
	}
}

/* What a move has changed is judged when time goes on. */
static void explore_from(struct explorer *all, uint32_t left)
{
	uint32_t history = (uint32_t)++all->histories;
	struct world *world = &all->world;
	enum seen seen = SEEN_NOT;

	while (!world->failed) {
		uint64_t key = state_key(world);

		seen = reached_note(all, key, history, left);
		if (seen != SEEN_NOT)
			break;
		if ((key >> 32) % all->share == all->pick)
			explore_moves(all, left);
		world_step(world, world->now_ns + NEXT);
	}
	if (!world->failed && seen == SEEN_HERE)
		goals_check(world, SIDES, LINKS);
	if (world->failed)
		explore_report(all);
}

static struct lacp_config explore_options(const char *words, int index)
{
	static struct scenario nowhere; /* for what is wrong with the words */
	struct lacp_config options = lacp_config_default();
	char copy[100], *rest = copy, *name, *value;

	snprintf(copy, sizeof(copy), "%s", words);
	while ((name = strtok_r(rest, " ", &rest)) && (value = strtok_r(NULL, " ", &rest)))
		scenario_option(&nowhere, &options, name, value);
	options.system[0] = 0x02;
	options.system[5] = (uint8_t)('A' + index);
	return options;
}

/* One wants more links than the other lets be, and they turn each other away for ever. */
static bool explore_is_contradiction(const char *a, const char *b)
{
	const struct lacp_config x = explore_options(a, 0), y = explore_options(b, 1);

	return (x.max_links && x.max_links < y.min_links) ||
	       (y.max_links && y.max_links < x.min_links);
}

static void explore_begin(struct explorer *all, const char *a, const char *b)
{
	all->side[0] = a;
	all->side[1] = b;
	all->depth = 0;
	all->states = all->histories = 0;
	if (all->reached)
		memset(all->reached, 0, all->room * sizeof(*all->reached));
	world_init(&all->world, 1);
	for (int i = 0; i < SIDES; i++) {
		struct lacp_config options = explore_options(all->side[i], i);

		world_system(&all->world, i, (char)('A' + i), LINKS, &options);
	}
	for (unsigned int slot = 0; slot < LINKS; slot++)
		world_cable(&all->world, (struct end){ 0, slot }, (struct end){ 1, slot }, MS);
}

int explore_run(unsigned int moves, unsigned int share, unsigned int pick, bool verbose)
{
	static struct explorer all;
	const unsigned int count = sizeof(sides) / sizeof(*sides);
	uint64_t states = 0, histories = 0;

	all.share = share;
	all.pick = pick;
	for (unsigned int a = 0; a < count; a++)
		for (unsigned int b = a; b < count; b++) {
			if (explore_is_contradiction(sides[a], sides[b]))
				continue;
			explore_begin(&all, sides[a], sides[b]);
			explore_from(&all, moves);
			states += all.states;
			histories += all.histories;
			if (verbose)
				printf("%s | %s: %" PRIu64 " states, %" PRIu64 " histories\n",
				       sides[a], sides[b], all.states, all.histories);
		}
	free(all.reached);
	printf("%u bad moves, at one state of %u: %" PRIu64 " states, %" PRIu64
	       " histories, %u failures\n",
	       moves, share, states, histories, all.failures);
	return (int)all.failures;
}
