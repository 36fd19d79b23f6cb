/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the metrics tell about bondd itself, as numbers. NAN is unknown. */
#ifndef XBOND_DAEMON_METRICS_METRICS_LOOP_H
#define XBOND_DAEMON_METRICS_METRICS_LOOP_H

#include "daemon/metrics/metrics_text.h"

#define METRICS_VERSION_SIZE 96

struct metrics_loop {
	char build[METRICS_VERSION_SIZE]; /* labels */
	double bonds;
	double worst_s;
	double running_s; /* since the running turn of the main loop began; 0: none is running */
	struct metrics_histogram turns;
};

/* run_dir has the figures of the main loop. */
void metrics_loop_read(const char *run_dir, struct metrics_loop *ret_loop);

#endif
