/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_loop.h"

#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/paths.h"
#include "common/readings.h"

static double metrics_loop_running_s(const struct loop_figures *figures)
{
	uint64_t now_ns = clock_now_ns(), began_ns = figures->began_ns;

	return began_ns && now_ns > began_ns ? (double)(now_ns - began_ns) / 1e9 : 0;
}

void metrics_loop_read(const char *run_dir, struct metrics_loop *ret_loop)
{
	struct loop_figures figures;

	_Static_assert(LOOP_BUCKETS == METRICS_BUCKETS, "the same classes");
	*ret_loop = (struct metrics_loop){ .worst_s = NAN, .running_s = NAN };
	snprintf(ret_loop->build, sizeof(ret_loop->build), "version=\"%s\"", xbond_version);
	if (loop_read(run_dir, &figures))
		return;
	ret_loop->worst_s = (double)figures.worst_ns / 1e9;
	ret_loop->running_s = metrics_loop_running_s(&figures);
	ret_loop->turns.known = true;
	for (unsigned int i = 0; i < METRICS_BUCKETS; i++)
		ret_loop->turns.bucket[i] = (double)figures.histogram[i];
	ret_loop->turns.sum_s = (double)figures.total_ns / 1e9;
}
