/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What flows has seen, for the files that sample it and show it. */
#ifndef XBOND_CLI_PACKETS_FLOWS_OUT_H
#define XBOND_CLI_PACKETS_FLOWS_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/captured.h"
#include "common/pins.h"

struct flows_slave {
	const struct flows *flows;
	unsigned int slot;
	bool open;
	bool has_left;		    /* while it was measured; its numbers mean nothing then */
	char name[XBOND_NAME_SIZE]; /* when it began; another slave may get the slot */
	uint32_t ifindex;
	struct tap tap;
	/* Counted by the programs in that time; exact, but for frames of others (LACPDUs). */
	uint64_t packets, bytes;
	uint64_t samples, sampled_bytes;
	const struct flow_count *flow; /* by flows_sort(), the largest first */
	size_t flow_count;
	double flow_bytes; /* of all of them, in samples that stand for others */
	/* At the end: */
	double packets_per_s, bits_per_s; /* -1: it has left */
	const char *unseen; /* why the samples do not show everything; NULL: they do */
};

struct flows {
	const struct pins *pins;
	const char *bond;
	uint32_t mode;
	enum tap_direction direction;
	uint32_t one_of; /* one packet of so many was looked at */
	double seconds;
	bool all_counted;
	size_t top;
	struct flows_slave slave[XBOND_MAX_SLAVES];
	struct flow_counts counts;
};

/* Gives the slaves their flows, in order. The table has no holes then, and is no hash table. */
void flows_sort(struct flows *flows);
/* Fills in what is known of a slave at the end. */
void flows_judge(struct flows *flows, unsigned int slot);
void flows_print(const struct flows *flows);

#endif
