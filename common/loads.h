/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each bucket of a bond sends, from the pinned map `loads`. Filled while XBOND_F_LOADS is set.
 */
#ifndef XBOND_COMMON_LOADS_H
#define XBOND_COMMON_LOADS_H

#include "common/pins.h"

/* Sums over all CPUs. Takes some 100 us. Returns 0 or -errno. */
int loads_read(const struct pins *pins, struct xbond_load ret_load[XBOND_BUCKETS]);

/* For how long a bucket has sent nothing, in ticks of XBOND_LOAD_TICK_SHIFT. */
uint32_t loads_silence(const struct xbond_load *load, uint64_t now_ns);

#endif
