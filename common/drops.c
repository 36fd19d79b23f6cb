/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/drops.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "common/memory.h"

static const struct {
	const char *name, *words;
} reasons[XBOND_DROPS] = {
	[XBOND_DROP_NO_SLAVE] = { "no_slave", "to be sent while no slave could" },
	[XBOND_DROP_NO_COPY] = { "no_copy", "copies that could not be made or sent" },
	[XBOND_DROP_INACTIVE] = { "inactive", "received on a slave that was not to take them" },
	[XBOND_DROP_NO_CARRIER] = { "no_carrier", "received while the bond had no carrier" },
	[XBOND_DROP_LACP_REFUSED] = { "lacp_refused",
				      "LACPDUs and markers that were wrong, without bondd" },
	[XBOND_DROP_LACP_QUEUE] = { "lacp_queue", "LACPDUs that bondd did not read in time" },
	[XBOND_DROP_BFD_REFUSED] = { "bfd_refused", "packets of BFD that were wrong" },
	[XBOND_DROP_BFD_QUEUE] = { "bfd_queue", "packets of BFD that bondd did not read in time" },
	[XBOND_DROP_LACP_FLOOD] = { "lacp_flood", "too many LACPDUs of the partner" },
	[XBOND_DROP_LACP_STRANGERS] = { "lacp_strangers", "too many LACPDUs of others" },
	[XBOND_DROP_MARKER_FLOOD] = { "marker_flood", "too many markers" },
	[XBOND_DROP_BFD_FLOOD] = { "bfd_flood", "too many packets of the BFD session" },
	[XBOND_DROP_BFD_STRANGERS] = { "bfd_strangers", "too many packets of other BFD sessions" },
};

const char *drops_name(enum xbond_drop reason)
{
	return reasons[reason].name;
}

const char *drops_words(enum xbond_drop reason)
{
	return reasons[reason].words;
}

/* The alert XbondControlFlood (packaging/metrics/alerts.yml) leaves out the same reasons. */
bool drops_is_of_control(enum xbond_drop reason)
{
	return reason != XBOND_DROP_NO_SLAVE && reason != XBOND_DROP_NO_COPY &&
	       reason != XBOND_DROP_INACTIVE && reason != XBOND_DROP_NO_CARRIER;
}

/* The sum over all CPUs. */
static bool drops_read_map(const struct pins *pins, uint32_t slot,
			   uint64_t ret_packets[XBOND_DROPS])
{
	int cpus = libbpf_num_possible_cpus();
	struct xbond_drops *each;
	bool known;

	each = cpus > 0 && pins->drops_fd >= 0 ? memory_need(calloc((size_t)cpus, sizeof(*each)))
					       : NULL;
	known = each && !bpf_map_lookup_elem(pins->drops_fd, &slot, each);
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		ret_packets[i] = known ? 0 : DROPS_UNKNOWN;
	for (int cpu = 0; known && cpu < cpus; cpu++)
		for (unsigned int i = 0; i < XBOND_DROPS; i++)
			ret_packets[i] += each[cpu].packets[i];
	free(each);
	return known;
}

static void drops_read_budgets(const struct pins *pins, unsigned int slot,
			       uint64_t ret_packets[XBOND_DROPS])
{
	const struct xbond_pdu_budget *pdus = pins->hold[slot].budget;
	const struct xbond_bfd_link *bfd = pins->bfd ? &pins->bfd->link[slot] : NULL;

	ret_packets[XBOND_DROP_LACP_FLOOD] = pdus[XBOND_PDU_PARTNER].flooded;
	ret_packets[XBOND_DROP_LACP_STRANGERS] = pdus[XBOND_PDU_STRANGER].flooded;
	ret_packets[XBOND_DROP_MARKER_FLOOD] = pdus[XBOND_PDU_MARKER].flooded;
	ret_packets[XBOND_DROP_BFD_FLOOD] = bfd ? bfd->budget[0].flooded : DROPS_UNKNOWN;
	ret_packets[XBOND_DROP_BFD_STRANGERS] = bfd ? bfd->budget[1].flooded : DROPS_UNKNOWN;
}

void drops_read(const struct pins *pins, unsigned int slot, uint64_t ret_packets[XBOND_DROPS])
{
	bool known = drops_read_map(pins, slot, ret_packets);

	if (slot >= XBOND_MAX_SLAVES)
		return;
	drops_read_budgets(pins, slot, ret_packets);
	if (known && pins->bfd)
		ret_packets[XBOND_DROP_BFD_REFUSED] += pins->bfd->link[slot].refused;
}
