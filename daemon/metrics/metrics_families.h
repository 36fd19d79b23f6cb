/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of all metrics: names, types, meaning, and where the value is. */
#ifndef XBOND_DAEMON_METRICS_METRICS_FAMILIES_H
#define XBOND_DAEMON_METRICS_METRICS_FAMILIES_H

#include "daemon/metrics/metrics_bond.h"
#include "daemon/metrics/metrics_loop.h"

struct metrics_all {
	struct metrics_loop loop;
	struct metrics_bond *bonds;
	size_t count; /* of them */
};

/* The complete text. */
void metrics_families_write(struct metrics_text *text, const struct metrics_all *all);

#endif
