/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option rx_silence: a slave with carrier that has received no frame for so long is not used. Pure;
 * the caller gives the time.
 */
#ifndef XBOND_RULES_SILENCE_H
#define XBOND_RULES_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/clock.h"

/* frames: any count that rises with each frame. The time begins anew while there is no carrier. */
static inline void silence_take(struct xbond_silence *silence, uint64_t frames, bool carrier,
				uint64_t now_ns)
{
	if (!silence->heard_ns || !carrier || frames != silence->frames)
		silence->heard_ns = now_ns;
	silence->frames = frames;
}

static inline bool silence_is(const struct xbond_silence *silence, uint32_t limit_ms,
			      uint64_t now_ns)
{
	return now_ns > silence->heard_ns && now_ns - silence->heard_ns >= limit_ms * NS_PER_MS;
}

#endif
