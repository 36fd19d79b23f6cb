/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a device and its driver have counted, over rtnetlink. The kernel answers under the RTNL
 * lock, and drivers may take their time: not for the main loop. Knows nothing of bonds.
 */
#ifndef XBOND_NETWORK_LINK_STATS_H
#define XBOND_NETWORK_LINK_STATS_H

#include <stdint.h>

#include "network/nl.h"
#include "rules/error_rate.h"

struct link_stats {
	struct error_counters rx;
	uint32_t carrier_losses; /* also those that were too short for a message */
};

/* 0 or -errno; -ENODATA: the kernel did not tell. */
int link_stats_get(struct nl *nl, int ifindex, struct link_stats *ret_stats);

#endif
