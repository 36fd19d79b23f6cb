/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slaves of one bond, from its maps. For top_read.c only. */
#ifndef XBOND_CLI_TOP_TOP_READ_SLAVE_H
#define XBOND_CLI_TOP_TOP_READ_SLAVE_H

#include "cli/top/top_model.h"
#include "lacp/lacp.h"

struct top_source {
	const struct pins *pins;
	const struct lacp_system *lacp; /* NULL: the mode is not 802.3ad */
	const json_t *view;		/* the bond as show has it, from the same maps */
	bool with_rates;		/* the counters, too */
};

/* Brings the slaves up to date, in the order of their slots. Those that have left are dropped. */
int top_read_slaves_of(const struct top_source *source, struct top_slave **slaves, size_t *count,
		       struct err *err);

#endif
