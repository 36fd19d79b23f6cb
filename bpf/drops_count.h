/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts packets that the bond's programs drop, by reason. Only drops pay for it. Include it in
 * front of send_tc.h.
 */
#ifndef XBOND_BPF_DROPS_COUNT_H
#define XBOND_BPF_DROPS_COUNT_H

#include "bpf/maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XBOND_MAX_SLAVES + 1);
	__type(key, __u32);
	__type(value, struct xbond_drops);
} drops SEC(".maps");

/* slot: XBOND_DROPS_OF_BOND for what belongs to no slave. */
static __noinline int drops_count(__u32 slot, __u32 reason)
{
	struct xbond_drops *counter = bpf_map_lookup_elem(&drops, &slot);

	if (counter && reason < XBOND_DROPS)
		counter->packets[reason]++;
	return 0;
}

#define TX_LOST_A_COPY(slot) drops_count(slot, XBOND_DROP_NO_COPY)

#endif
