/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_drops.h"

#include "common/readings.h"

static double top_drops_rate(uint64_t before, uint64_t now, double seconds)
{
	return before == DROPS_UNKNOWN || now == DROPS_UNKNOWN || now < before
		       ? 0
		       : (double)(now - before) / seconds;
}

void top_drops_take(struct top_drops *drops, const uint64_t packets[XBOND_DROPS], uint64_t now_ns)
{
	bool is_known = drops->last_ns && now_ns > drops->last_ns;
	double seconds = (double)(now_ns - drops->last_ns) / 1e9;

	for (unsigned int i = 0; i < XBOND_DROPS; i++) {
		drops->rate[i] = is_known ? top_drops_rate(drops->last[i], packets[i], seconds) : 0;
		drops->last[i] = packets[i];
	}
	drops->last_ns = now_ns;
}
