/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option flap_limit: a slave whose link was lost more often than that within a minute is held down.
 * Pure; the caller gives the time. The state is pinned, so nothing in it is trusted.
 */
#ifndef XBOND_RULES_FLAPS_H
#define XBOND_RULES_FLAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

/*
 * The driver's count of losses is `losses` now. Those since the last call count as of now; if that
 * is more than a minute ago, because no bondd looked, only so many as fall into a minute on
 * average. excused: bondd caused them itself.
 */
void flaps_take(struct xbond_flaps *flaps, uint32_t losses, bool excused, uint64_t now_ns);
/* A loss that another monitor has seen. */
void flaps_add(struct xbond_flaps *flaps, uint32_t count, uint64_t now_ns);
/* How many there were in the last minute. */
uint32_t flaps_in_minute(const struct xbond_flaps *flaps, uint64_t now_ns);
/* Begins a hold-down, if the limit is broken. Returns true while the slave is held. */
bool flaps_hold(struct xbond_flaps *flaps, uint32_t limit, uint64_t now_ns);

#endif
