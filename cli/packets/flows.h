/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the verb flows share: cmd_flows.c looks at packets, flows_print.c prints what
 * it found.
 */
#ifndef XBOND_CLI_PACKETS_FLOWS_H
#define XBOND_CLI_PACKETS_FLOWS_H

#include "cli/base/captured.h"
#include "cli/base/cli.h"
#include "cli/base/tap.h"

struct flows_slave {
	bool open;
	bool has_left;		    /* while it was measured; its numbers mean nothing then */
	char name[XBOND_NAME_SIZE]; /* when it began; another slave may get the slot */
	uint32_t ifindex;
	struct tap tap;
	/* Counted by the programs in that time; exact, but for frames of others (LACPDUs). */
	uint64_t packets, bytes;
	uint64_t samples, sampled_bytes;
};

struct flows {
	const struct pins *pins;
	const char *bond;
	enum tap_direction direction;
	uint32_t one_of; /* one packet of so many was looked at */
	double seconds;
	size_t top;
	struct flows_slave slave[XBOND_MAX_SLAVES];
	struct flow_counts counts;
};

void flows_print(struct flows *flows);
json_t *flows_json(struct flows *flows);

#endif
