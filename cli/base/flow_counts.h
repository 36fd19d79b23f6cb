/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts packets and bytes by flow and slot, in memory that does not grow beyond a limit. When it
 * is full, packets of further flows are only counted together.
 */
#ifndef XBOND_CLI_BASE_FLOW_COUNTS_H
#define XBOND_CLI_BASE_FLOW_COUNTS_H

#include "cli/base/tuple.h"

struct flow_count {
	struct tuple tuple;
	uint32_t slot;
	double packets, bytes; /* estimates, if the packets are samples; packets 0: unused */
	uint64_t samples;
};

struct flow_counts {
	struct flow_count *flows; /* a hash table: the unused ones lie between the others */
	size_t capacity, used;
	uint64_t unnoted; /* packets of flows for which there was no room */
	uint64_t seed;
};

/* At most `most` flows. */
void flow_counts_init(struct flow_counts *counts, size_t most);
void flow_counts_done(struct flow_counts *counts);
/* A packet that stands for `weight` packets like it. */
void flow_counts_add(struct flow_counts *counts, const struct tuple *tuple, uint32_t slot,
		     uint32_t length, double weight);

#endif
