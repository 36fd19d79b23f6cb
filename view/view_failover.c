/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_failover.h"

/* Without bondd nobody watches links that no packet meets. */
static json_t *view_failover_source(const struct xbond_failover *figures, bool bondd)
{
	if (!figures || !bondd)
		return json_null();
	switch ((enum xbond_carrier_source)figures->carrier_source) {
	case XBOND_CARRIER_POLL: return json_string("poll");
	case XBOND_CARRIER_TRACEPOINT: return json_string("tracepoint");
	case XBOND_CARRIER_FENTRY: return json_string("fentry");
	case XBOND_CARRIER_UNKNOWN: break;
	}
	return json_null();
}

/* Leaves out classes without failovers. */
static json_t *view_failover_histogram(const struct xbond_failover *figures)
{
	json_t *json = json_array();

	for (unsigned int i = 0; i < XBOND_FAILOVER_BUCKETS; i++)
		if (figures->histogram[i])
			json_array_append_new(json, json_pack("{s:I, s:I}", "below",
							      (json_int_t)1 << i, "failovers",
							      (json_int_t)figures->histogram[i]));
	return json;
}

static json_t *view_failover_figures(const struct xbond_failover *figures)
{
	if (!figures)
		return json_null();
	return json_pack("{s:o, s:I, s:o}", "last_us",
			 figures->count ? json_integer((json_int_t)(figures->last_ns / 1000))
					: json_null(),
			 "count", (json_int_t)figures->count, "histogram_us",
			 view_failover_histogram(figures));
}

void view_set_failover(json_t *json, const struct pins *pins, bool bondd)
{
	json_object_set_new(json, "carrier_source", view_failover_source(pins->failover, bondd));
	json_object_set_new(json, "failover", view_failover_figures(pins->failover));
}
