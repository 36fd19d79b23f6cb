/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option rx_silence: a slave with carrier that has received no frame for so long is not used. The
 * next frame brings it back. If none comes it is tried again, for the time of rx_silence, at the
 * end of each hold-down: two hosts that both wait for a frame of the other would wait for ever.
 * Pure; the caller gives the time. The state is pinned, so nothing in it is trusted.
 */
#ifndef XBOND_RULES_SILENCE_H
#define XBOND_RULES_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

#define SILENCE_LOOKS 4	       /* at the counters, in the time of rx_silence */
#define SILENCE_SHORTEST_MS 25 /* between two of them */
#define SILENCE_MIN_MS (SILENCE_LOOKS * SILENCE_SHORTEST_MS)

/* frames: any count that rises with each frame. The time begins anew while there is no carrier. */
void silence_take(struct xbond_silence *silence, uint64_t frames, bool carrier, uint64_t now_ns);
/* Returns true while the slave is out of use. */
bool silence_hold(struct xbond_silence *silence, uint32_t limit_ms, uint64_t now_ns);

#endif
