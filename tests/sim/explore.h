/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the explorer share: explore.c tries the histories, explore_moves.c has what may
 * happen, explore_state.c keeps states and compares them.
 */
#ifndef XBOND_TESTS_SIM_EXPLORE_H
#define XBOND_TESTS_SIM_EXPLORE_H

#include "tests/sim/world.h"

#define LINKS 2 /* of each system */
#define IMAGE_SIZE 65536

/* explore_state.c: the world as octets, and back. Systems do not come or go meanwhile. */
void image_world(struct world *world, uint8_t octets[IMAGE_SIZE], bool back);
/* Of the state, as far as it is compared; never 0. */
uint64_t state_key(const struct world *world);

/* explore_moves.c */
/* As a line of a scenario; the system comes in place of '@', the port in place of '#'. */
struct move {
	const char *words;
	enum {
		FREE = 1,     /* it ends a fault, and costs nothing */
		SMALL = 2,    /* alone, it stops no traffic */
		REORDERS = 4, /* which ports carry may change */
		ABSENCE = 8,  /* a daemon goes; its ports are left to hold */
	} kind;
	/* Returns false if it is none now. */
	bool (*make)(struct world *world, struct end end, const struct move *move);
	unsigned int value;
};

extern const struct move move_table[];
extern const int move_count;
/* Sets options, in pairs of a name and a value. */
void move_options(struct lacp_config *options, const char *words);

#endif
