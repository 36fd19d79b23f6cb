/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates of what is dropped, by reason, from the counts of drops_read(). Pure: knows no maps. */
#ifndef XBOND_CLI_TOP_TOP_DROPS_H
#define XBOND_CLI_TOP_TOP_DROPS_H

#include <stdint.h>

#include "bpf/abi.h"

struct top_drops {
	uint64_t last[XBOND_DROPS];
	uint64_t last_ns; /* 0: nothing was read yet */
	double rate[XBOND_DROPS];
};

/* Takes what was read at now_ns. A rate is 0 where a count is not known, or fell. */
void top_drops_take(struct top_drops *drops, const uint64_t packets[XBOND_DROPS], uint64_t now_ns);

#endif
