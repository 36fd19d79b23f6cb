/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of a bond that exclude or need each other. bondd asks before it takes options; the reader
 * of configuration files asks, too, so that a file that it takes is not refused later.
 */
#ifndef XBOND_OPTIONS_OPTION_TOGETHER_H
#define XBOND_OPTIONS_OPTION_TOGETHER_H

#include "options/options.h"

#define OPTION_TOGETHER_INVOLVED 5

struct option_together {
	/* Returns 0, or -errno with a line in err that says what does not fit and what to do. */
	int (*check)(const struct xbond_bond *bond, struct err *err);
	enum option_id involved[OPTION_TOGETHER_INVOLVED];
	unsigned int involved_count;
};

/* NULL behind the last one. */
const struct option_together *option_together_at(unsigned int i);
/* All of them; the first that refuses. */
int option_together_check(const struct xbond_bond *bond, struct err *err);

#endif
