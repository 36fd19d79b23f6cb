/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the explorer share: explore.c tries the histories, explore_moves.c has what may
 * happen, explore_state.c keeps states and compares them.
 */
#ifndef XBOND_TESTS_SIM_EXPLORE_H
#define XBOND_TESTS_SIM_EXPLORE_H

#include "tests/sim/world.h"

#define SIDES 2
#define LINKS 2
#define IMAGE_SIZE 65536

/* explore_state.c: the world as octets, and back. */
void image_world(struct world *world, uint8_t octets[IMAGE_SIZE], bool back);
/* Of the state, as far as it is compared; never 0. */
uint64_t state_key(const struct world *world);

/* explore_moves.c */
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
struct move_kind {
	const char *words;
	bool is_free;  /* it ends a fault, and costs nothing */
	bool is_small; /* alone, it stops no traffic */
};

extern const struct move_kind move_kinds[MOVES];
/* Returns false if it is none now. */
bool move_make(struct world *world, enum move move, struct end end);

#endif
