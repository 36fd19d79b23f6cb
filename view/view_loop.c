/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_loop.h"

#include "common/clock.h"
#include "view/json_value.h"

/* Leaves out classes without turns. */
static json_t *view_loop_histogram(const struct loop_figures *figures)
{
	json_t *json = json_array();

	for (unsigned int i = 0; i < LOOP_BUCKETS; i++)
		if (figures->histogram[i])
			json_array_append_new(json,
					      json_pack("{s:f, s:I}", "below",
							(double)(UINT64_C(1) << i) / 1e3, "turns",
							(json_int_t)figures->histogram[i]));
	return json;
}

json_t *view_loop(const struct loop_figures *figures)
{
	uint64_t worst_ns = figures->worst_ns;
	uint64_t now_ns = clock_now_ns(), began_ns = figures->began_ns;

	if (began_ns && now_ns > began_ns && now_ns - began_ns > worst_ns)
		worst_ns = now_ns - began_ns; /* the turn that is still running */
	return json_pack("{s:f, s:o, s:f, s:I, s:o}", "worst_ms", (double)worst_ns / 1e6,
			 "worst_work", json_value_text(figures->worst_work), "worst_own_ms",
			 (double)figures->worst_own_ns / 1e6, "turns", (json_int_t)figures->turns,
			 "histogram_ms", view_loop_histogram(figures));
}
