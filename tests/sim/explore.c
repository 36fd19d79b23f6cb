/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every history of two systems with two links, of which one may be a reference, and of three in a
 * triangle, up to so many bad moves: before each event, each move is tried. Without a move a state
 * has one successor, so a state that was reached before, with as many moves left, needs no second
 * look. When a state comes again in the same history, nothing changes any more, and the goals must
 * have come about.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/explore.h"

#define NEXT (1000 * SECOND) /* within this time something happens, if anything does */
#define MOVES_MAX 16	     /* with those that end a fault */
#define REPORTS 10	     /* of so many failures; all are counted */

/* One side, as a scenario has it: what differs from the defaults, and a move that comes first. */
static const char *const sides[][2] = {
	{ "" },
	{ "lacp_rate fast" },
	{ "lacp_active off" },
	{ "lacp_rate fast coupled_control off" },
	{ "lacp_rate fast max_links 1" },
	{ "lacp_rate fast max_links 1 coupled_control off lacp_wtr 5" },
	{ "lacp_rate fast lacp_fallback none" },
	{ "lacp_hold off" },
	{ "lacp_rate fast min_links 2 min_links_lacp on" },
	{ "lacp_rate fast max_links 1 lacp_revert off" },
	{ "lacp_rate fast ad_select bandwidth", "individual @" },
	{ "lacp_rate fast ad_select count", "port @.# speed 1000" },
	{ "lacp_rate fast ad_select actor_port_prio", "port @.# speed 1000" },
};

/* The other side, if it is a reference. */
static const char *const references[][2] = {
	{ "" },
	{ "lacp_rate fast" },
	{ "lacp_active off" },
	{ "lacp_rate fast coupled_control off" },
	{ "lacp_rate fast max_links 1" },
	{ "lacp_rate fast max_links 1 ad_actor_sys_prio 1" },
	{ "lacp_rate fast", "port @.# speed 1000" },
};

/* How the systems are connected. The third has the options of the last one of the sides. */
static const struct shape {
	const char *name, *cables;
	int ours, systems;
	/* So long after a move the goals must have come about, too. LAGs that do not know each
	 * other send at times of their own, and aggregators that are refused take turns, so their
	 * states hardly come again. */
	uint64_t settled_ns;
} shapes[] = {
	{ "a reference", "A.1 B.1 A.2 B.2", 1, 2, 300 * SECOND },
	{ "two systems", "A.1 B.1 A.2 B.2", 2, 2, 300 * SECOND },
	{ "a triangle", "A.1 B.1 B.2 C.1 C.2 A.2", 3, 3, 150 * SECOND },
};

/* Of state reached: with how many bad moves left, and in which history. */
struct reached {
	uint64_t key;
	uint32_t history;
	uint32_t left;
};

struct explorer {
	struct world world;
	const struct shape *shape;
	const char *const *side[SYSTEMS];
	struct reached *reached; /* a power of two of them; key 0: free */
	uint64_t room, states, histories;
	unsigned int share, pick; /* moves are made at one state of so many */
	unsigned int failures;
	unsigned int first, depth; /* so many moves made both sides, and so many in all */
	struct {
		uint64_t at_ns;
		char words[40];
	} move[MOVES_MAX];
	uint8_t image[MOVES_MAX + 1][IMAGE_SIZE];
};

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

static void explore_write(struct explorer *all, const struct move *move, struct end end)
{
	char *to = all->move[all->depth].words;

	for (const char *from = move->words; *from; from++)
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
	for (int i = 0; i < all->shape->systems; i++)
		printf("system %c %d %s\n%s", 'A' + i, LINKS, all->side[i][0],
		       all->world.system[i].is_reference ? "reference B\n" : "");
	printf("cable %s\n", all->shape->cables);
	for (unsigned int i = 0; i < all->depth; i++) {
		printf("run %.10gms\n%s\n", (double)(all->move[i].at_ns - at_ns) / MS,
		       all->move[i].words);
		at_ns = all->move[i].at_ns;
	}
	printf("run 300s\n\n");
	fflush(stdout);
}

/*
 * A daemon that goes leaves its ports to hold. A reference takes another port before that one is
 * ready.
 */
static bool explore_goes_on(const struct explorer *all, const struct move *move, struct end end)
{
	const struct world *world = &all->world;

	return world->steady[0][1] && move->kind & SMALL &&
	       (all->depth == all->first || move->kind & FREE) &&
	       !(move->kind & REORDERS && all->shape->ours == 1) &&
	       (!(move->kind & ABSENCE) || world->system[end.system].lacp.state.config.hold);
}

static const struct lacp_config *explore_options(const struct system *system)
{
	return &(system->away ? &system->saved : &system->lacp)->state.config;
}

static bool explore_aggregates(const struct system *system)
{
	return !system->individual &&
	       system->port[0].config.speed_mbps == system->port[1].config.speed_mbps;
}

/*
 * One wants more links than another lets be, and they turn each other away for ever; or two have
 * one address, and take each other for themselves.
 */
static bool explore_is_contradiction(const struct world *world)
{
	for (int i = 0; world->system[i].exists; i++)
		for (int j = 0; world->system[j].exists; j++) {
			const struct lacp_config *x = explore_options(&world->system[i]);
			const struct lacp_config *y = explore_options(&world->system[j]);

			if ((x->max_links && x->max_links < y->min_links) ||
			    (!explore_aggregates(&world->system[i]) && y->min_links > 1) ||
			    (i != j && !memcmp(x->system, y->system, LACP_MAC_SIZE)))
				return true;
		}
	return false;
}

static void explore_from(struct explorer *all, uint32_t left);

/* The move, and what follows. */
static void explore_move(struct explorer *all, const struct move *move, struct end end,
			 uint32_t left)
{
	const bool goes_on = explore_goes_on(all, move, end);

	if ((!left && !(move->kind & FREE)) || !move->make(&all->world, end, move))
		return;
	if (!explore_is_contradiction(&all->world)) {
		all->world.steady[0][1] = goes_on;
		explore_write(all, move, end);
		explore_from(all, left - !(move->kind & FREE));
		all->depth--;
		all->world.failed = false;
	}
	image_world(&all->world, all->image[all->depth], true);
}

static void explore_moves(struct explorer *all, uint32_t left)
{
	if (all->depth == MOVES_MAX)
		return;
	if (all->depth == all->first)
		goals_expect_steady(&all->world, all->shape->systems, LINKS);
	image_world(&all->world, all->image[all->depth], false);
	for (int i = 0; i < all->shape->systems; i++)
		for (unsigned int slot = 0; slot < LINKS; slot++)
			for (int move = 0; move < move_count; move++)
				explore_move(all, &move_table[move], (struct end){ i, slot }, left);
}

/* What a move has changed is judged when time goes on. */
static void explore_from(struct explorer *all, uint32_t left)
{
	uint32_t history = (uint32_t)++all->histories;
	struct world *world = &all->world;
	const uint64_t since_ns = world->now_ns;
	enum seen seen = SEEN_NOT;

	while (!world->failed && world->now_ns - since_ns < all->shape->settled_ns) {
		uint64_t key = state_key(world);

		seen = reached_note(all, key, history, left);
		if (seen != SEEN_NOT)
			break;
		if ((key >> 32) % all->share == all->pick)
			explore_moves(all, left);
		world_step(world, world->now_ns + NEXT);
	}
	if (!world->failed && seen != SEEN_BEFORE)
		goals_check(world, all->shape->systems, LINKS);
	if (!world->failed && seen == SEEN_HERE)
		goals_check_quiet(world, world->now_ns - 7 * SECOND);
	if (world->failed)
		explore_report(all);
}

static void explore_begin_side(struct explorer *all, int index)
{
	const struct end end = { index, 0 };

	for (int move = 0; all->side[index][1] && move < move_count; move++)
		if (!strcmp(move_table[move].words, all->side[index][1]) &&
		    move_table[move].make(&all->world, end, &move_table[move]))
			explore_write(all, &move_table[move], end);
	all->first = all->depth;
}

static void explore_begin(struct explorer *all, const char *const *a, const char *const *b)
{
	struct world *world = &all->world;
	const char *cables = all->shape->cables;
	char x[2], y[2];
	unsigned int i[2];
	int taken;

	all->side[0] = a;
	all->side[1] = all->side[2] = b;
	all->depth = 0;
	all->states = all->histories = 0;
	if (all->reached)
		memset(all->reached, 0, all->room * sizeof(*all->reached));
	world_init(world, 1);
	for (int index = 0; index < all->shape->systems; index++) {
		struct lacp_config options = lacp_config_default();

		move_options(&options, all->side[index][0]);
		options.system[0] = 0x02;
		options.system[5] = (uint8_t)('A' + index);
		world_system(world, index, (char)('A' + index), LINKS, &options);
	}
	if (all->shape->ours == 1)
		world_reference(world, 1);
	while (sscanf(cables, "%1s.%u %1s.%u %n", x, &i[0], y, &i[1], &taken) == 4) {
		world_cable(world, (struct end){ *x - 'A', i[0] - 1 },
			    (struct end){ *y - 'A', i[1] - 1 }, MS);
		cables += taken;
	}
	for (int index = 0; index < all->shape->systems; index++)
		explore_begin_side(all, index);
}

/* Of all pairs of options. */
struct sum {
	uint64_t states, histories;
	unsigned int pairs;
};

static void explore_pair(struct explorer *all, const char *const *a, const char *const *b,
			 unsigned int moves_left, struct sum *sum, bool verbose)
{
	explore_begin(all, a, b);
	if (explore_is_contradiction(&all->world))
		return;
	explore_from(all, moves_left);
	sum->states += all->states;
	sum->histories += all->histories;
	sum->pairs++;
	if (verbose)
		printf("%s, %s | %s: %" PRIu64 " states, %" PRIu64 " histories\n", all->shape->name,
		       *a, *b, all->states, all->histories);
}

static void explore_shape(struct explorer *all, unsigned int moves_left, bool verbose)
{
	const unsigned int count = sizeof(sides) / sizeof(*sides);
	const unsigned int others = sizeof(references) / sizeof(*references);
	struct sum sum = { 0 };

	for (unsigned int a = 0; a < count; a++) {
		for (unsigned int b = a; all->shape->ours > 1 && b < count; b++)
			explore_pair(all, sides[a], sides[b], moves_left, &sum, verbose);
		for (unsigned int b = 0; all->shape->ours == 1 && b < others; b++)
			explore_pair(all, sides[a], references[b], moves_left, &sum, verbose);
	}
	printf("%s, %u pairs of options, %u bad moves, at one state of %u: %" PRIu64
	       " states, %" PRIu64 " histories, %u failures\n",
	       all->shape->name, sum.pairs, moves_left, all->share, sum.states, sum.histories,
	       all->failures);
}

int explore_run(unsigned int bad_moves, unsigned int share, unsigned int pick, int ours,
		bool verbose)
{
	static struct explorer all;

	all.share = share;
	all.pick = pick;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (shapes[i].ours == ours) {
			all.shape = &shapes[i];
			explore_shape(&all, bad_moves, verbose);
		}
	free(all.reached);
	return (int)all.failures;
}
