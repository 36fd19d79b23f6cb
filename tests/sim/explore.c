/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every history of two systems with two links, up to so many bad moves: before each event, each
 * move is tried. Without a move a state has one successor, so a state that was reached before, with
 * as many moves left, needs no second look. When a state comes again in the same history, nothing
 * changes any more, and the goals must have come about.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/explore.h"
#include "tests/sim/scenario.h"

#define NEXT (1000 * SECOND) /* within this time something happens, if anything does */
#define MOVES_MAX 16	     /* with those that end a fault */
#define REPORTS 10	     /* of so many failures; all are counted */

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
