/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/silence.h"

#include "common/clock.h"
#include "rules/hold_down.h"

void silence_take(struct xbond_silence *silence, uint64_t frames, bool carrier, uint64_t now_ns)
{
	if (!silence->heard_ns || silence->heard_ns > now_ns || !carrier ||
	    frames != silence->frames)
		silence->heard_ns = now_ns;
	silence->frames = frames;
}

/* The end of the last hold-down, if it was in this silence. */
static uint64_t silence_began_ns(const struct xbond_silence *silence)
{
	return silence->hold.until_ns > silence->heard_ns ? silence->hold.until_ns
							  : silence->heard_ns;
}

bool silence_hold(struct xbond_silence *silence, uint32_t limit_ms, uint64_t now_ns)
{
	uint64_t limit_ns = limit_ms * NS_PER_MS;

	if (now_ns - silence->heard_ns < limit_ns)
		return false;
	if (hold_down_left_ns(&silence->hold, now_ns))
		return true;
	if (now_ns - silence_began_ns(silence) < limit_ns)
		return false;
	hold_down_trip(&silence->hold, now_ns);
	return true;
}
