/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option error_limit: a slave that receives more broken frames among a million than that is held
 * down. Pure; the caller gives the time. The state is pinned, so nothing in it is trusted.
 */
#ifndef XBOND_RULES_ERROR_RATE_H
#define XBOND_RULES_ERROR_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

/* A driver's counters, as in struct rtnl_link_stats64. */
struct error_counters {
	uint64_t packets, errors, crc, frame, length, over, fifo, missed;
};

/*
 * Frames that were broken on the way. Where a driver does not tell CRC and alignment errors apart,
 * these are its errors without those that say nothing of the link: frames that were too long, and
 * those that found no room.
 */
uint64_t error_rate_broken(const struct error_counters *counters);

/*
 * Takes the sums as they are now. The first call, and one after which a sum is lower, only sets
 * where counting begins. Judges by as many frames as are needed for at least five errors at the
 * limit, and at least 1000. While the slave is held it must keep half the limit. Returns true while
 * it is held.
 */
bool error_rate_hold(struct xbond_errors *errors, uint64_t good, uint64_t broken, uint32_t limit,
		     uint64_t now_ns);

#endif
