/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the scenario interpreter share. */
#ifndef XBOND_TESTS_SIM_SCENARIO_H
#define XBOND_TESTS_SIM_SCENARIO_H

#include "tests/sim/world.h"

#define WORDS 80

struct scenario {
	struct world world;
	char name[40];
	unsigned int line;
};

/* The scenario itself is wrong, or what it expects is not so. */
void scenario_wrong(struct scenario *scenario, const char *what);
struct system *scenario_system(struct scenario *scenario, const char *word);
struct end scenario_end(struct scenario *scenario, const char *word);

/* options.c */
void scenario_option(struct scenario *scenario, struct lacp_config *config, const char *name,
		     const char *value);
void scenario_port_option(struct scenario *scenario, struct lacp_port_config *config,
			  const char *name, const char *value);

/* conditions.c */
bool scenario_holds(struct scenario *scenario, char **words, int count);

#endif
