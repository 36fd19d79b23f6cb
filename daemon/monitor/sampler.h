/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that reads the counters of devices, which may have to wait for the RTNL lock or for a
 * driver. Knows no bonds.
 */
#ifndef XBOND_DAEMON_MONITOR_SAMPLER_H
#define XBOND_DAEMON_MONITOR_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "network/link_stats.h"

struct sampler_query {
	uint32_t bond, slot; /* numbers that the caller chooses */
	uint32_t ifindex;
	int result; /* the answer: 0 or -errno */
	uint64_t read_ns;
	struct link_stats stats;
};

struct sampler;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct sampler *sampler_new(struct err *err);
void sampler_free(struct sampler *sampler);

/* Returns false if it is busy. */
bool sampler_ask(struct sampler *sampler, const struct sampler_query *queries, size_t count);
/* Is there a question whose answers have not been taken yet? */
bool sampler_is_busy(const struct sampler *sampler);
/* Readable when there are answers. */
int sampler_fd(const struct sampler *sampler);
/* The answers, valid until the next question; 0: there are none. */
size_t sampler_answers(struct sampler *sampler, const struct sampler_query **ret_queries);

#endif
