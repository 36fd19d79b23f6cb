/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_quality.h"

#include "common/clock.h"
#include "rules/link_state.h"
#include "view/json_value.h"

static const struct xbond_hold_down *view_quality_hold(const struct xbond_quality *quality,
						       enum xbond_monitor monitor)
{
	if (monitor == XBOND_MONITOR_FLAPS)
		return &quality->flaps.hold;
	if (monitor == XBOND_MONITOR_SILENCE)
		return &quality->silence.hold;
	return monitor == XBOND_MONITOR_ERRORS ? &quality->errors.hold : NULL;
}

/* What is left of a hold-down then only says how long the next one would be. */
static bool view_quality_works(const struct pins *pins, unsigned int slot,
			       enum xbond_monitor monitor)
{
	return pins->monitors && pins->monitors[slot].works >> monitor & 1;
}

uint64_t view_quality_left_ms(const struct pins *pins, unsigned int slot,
			      enum xbond_monitor monitor)
{
	const struct xbond_hold_down *hold =
		pins->quality && !view_quality_works(pins, slot, monitor)
			? view_quality_hold(&pins->quality[slot], monitor)
			: NULL;

	return hold ? (hold_down_left_ns(hold, clock_now_ns()) + NS_PER_MS - 1) / NS_PER_MS : 0;
}

static json_t *view_quality_heard_ms(const struct xbond_silence *silence, uint64_t now_ns)
{
	if (!silence->heard_ns || silence->heard_ns > now_ns)
		return json_null();
	return json_integer((json_int_t)((now_ns - silence->heard_ns) / NS_PER_MS));
}

void view_quality_add(json_t *json, const struct pins *pins, unsigned int slot,
		      enum xbond_monitor monitor)
{
	uint64_t now_ns = clock_now_ns();
	const struct xbond_quality *quality;

	if (!pins->quality || !view_quality_hold(&pins->quality[slot], monitor))
		return;
	quality = &pins->quality[slot];
	if (monitor == XBOND_MONITOR_FLAPS)
		json_object_set_new(json, "flaps",
				    json_integer(flaps_in_minute(&quality->flaps, now_ns)));
	else if (monitor == XBOND_MONITOR_SILENCE)
		json_object_set_new(json, "heard_ms",
				    view_quality_heard_ms(&quality->silence, now_ns));
	else
		json_object_set_new(json, "errors_per_million", json_integer(quality->errors.rate));
	json_object_set_new(json, "until_ms",
			    json_value_number(view_quality_left_ms(pins, slot, monitor)));
}
