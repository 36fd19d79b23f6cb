/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/flaps.h"

#include "common/clock.h"
#include "rules/hold_down.h"

#define FLAPS_WINDOW_NS (60 * NS_PER_S)

void flaps_add(struct xbond_flaps *flaps, uint32_t count, uint64_t now_ns)
{
	for (uint32_t i = 0; i < count && i < XBOND_FLAPS_KEPT; i++)
		flaps->at_ns[flaps->next++ % XBOND_FLAPS_KEPT] = now_ns;
}

static uint32_t flaps_recent(uint32_t count, uint64_t gap_ns)
{
	if (gap_ns <= FLAPS_WINDOW_NS)
		return count;
	return (uint32_t)((uint64_t)count * (FLAPS_WINDOW_NS / NS_PER_S) / (gap_ns / NS_PER_S));
}

/* A count that went down is of a driver that was loaded again. */
void flaps_take(struct xbond_flaps *flaps, uint32_t losses, bool excused, uint64_t now_ns)
{
	uint32_t count = losses - flaps->losses;

	if (flaps->seen_ns && !excused && count <= INT32_MAX && now_ns > flaps->seen_ns)
		flaps_add(flaps, flaps_recent(count, now_ns - flaps->seen_ns), now_ns);
	flaps->losses = losses;
	flaps->seen_ns = now_ns;
}

static uint32_t flaps_since(const struct xbond_flaps *flaps, uint64_t from_ns, uint64_t now_ns)
{
	uint32_t count = 0;

	for (unsigned int i = 0; i < XBOND_FLAPS_KEPT; i++)
		count += flaps->at_ns[i] > from_ns && flaps->at_ns[i] <= now_ns;
	return count;
}

static uint64_t flaps_window_start(uint64_t now_ns)
{
	return now_ns > FLAPS_WINDOW_NS ? now_ns - FLAPS_WINDOW_NS : 0;
}

uint32_t flaps_in_minute(const struct xbond_flaps *flaps, uint64_t now_ns)
{
	return flaps_since(flaps, flaps_window_start(now_ns), now_ns);
}

/* What has led to one hold-down does not lead to the next. */
bool flaps_hold(struct xbond_flaps *flaps, uint32_t limit, uint64_t now_ns)
{
	uint64_t from_ns = flaps_window_start(now_ns);

	if (flaps->counted_ns > from_ns)
		from_ns = flaps->counted_ns;
	if (flaps_since(flaps, from_ns, now_ns) > limit) {
		hold_down_trip(&flaps->hold, now_ns);
		flaps->counted_ns = now_ns;
	}
	return hold_down_left_ns(&flaps->hold, now_ns);
}
