/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a slave that has broken a limit stays out of use: 10 s, and twice as long each time that
 * it breaks the limit again after its return, up to 300 s. A minute without that halves the next
 * time. Used for flaps and for errors. Pure; the caller gives the time. The state is pinned, so
 * nothing in it is trusted.
 */
#ifndef XBOND_RULES_HOLD_DOWN_H
#define XBOND_RULES_HOLD_DOWN_H

#include <stdint.h>

#include "bpf/abi.h"

/* How long the hold-down lasts that is in force, or was last. */
uint64_t hold_down_time_ns(const struct xbond_hold_down *hold);
/* How much of it is left; 0: the slave is not held. */
uint64_t hold_down_left_ns(const struct xbond_hold_down *hold, uint64_t now_ns);
/*
 * The slave has broken the limit. If it is held already, the same time begins anew: it returns when
 * it has kept the limit for so long.
 */
void hold_down_trip(struct xbond_hold_down *hold, uint64_t now_ns);

#endif
