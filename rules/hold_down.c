/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/hold_down.h"

#include "common/clock.h"

#define HOLD_DOWN_FIRST_NS (10 * NS_PER_S)
#define HOLD_DOWN_LONGEST_NS (300 * NS_PER_S)
#define HOLD_DOWN_LEVELS 6 /* 10, 20, 40, 80, 160, 300 s */
#define HOLD_DOWN_FORGETS_NS (60 * NS_PER_S)

uint64_t hold_down_time_ns(const struct xbond_hold_down *hold)
{
	if (!hold->level)
		return 0;
	if (hold->level >= HOLD_DOWN_LEVELS)
		return HOLD_DOWN_LONGEST_NS;
	return HOLD_DOWN_FIRST_NS << (hold->level - 1);
}

uint64_t hold_down_left_ns(const struct xbond_hold_down *hold, uint64_t now_ns)
{
	uint64_t left_ns = hold->until_ns > now_ns ? hold->until_ns - now_ns : 0;

	return left_ns <= hold_down_time_ns(hold) ? left_ns : 0;
}

/* Quiet time counts from the end of the last hold-down. */
static void hold_down_forget(struct xbond_hold_down *hold, uint64_t now_ns)
{
	uint64_t minutes = (now_ns - hold->until_ns) / HOLD_DOWN_FORGETS_NS;

	if (hold->level > HOLD_DOWN_LEVELS)
		hold->level = HOLD_DOWN_LEVELS;
	hold->level -= minutes < hold->level ? (uint32_t)minutes : hold->level;
}

void hold_down_trip(struct xbond_hold_down *hold, uint64_t now_ns)
{
	if (!hold_down_left_ns(hold, now_ns)) {
		hold_down_forget(hold, now_ns);
		if (hold->level < HOLD_DOWN_LEVELS)
			hold->level++;
		hold->count++;
	}
	hold->until_ns = now_ns + hold_down_time_ns(hold);
}
