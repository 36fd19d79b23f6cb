/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that asks drivers for their carrier and speed. The kernel answers under the RTNL lock,
 * which others may hold for as long as a NIC needs for a reset; the main loop does not wait for
 * that. Knows no bonds.
 */
#ifndef XBOND_DAEMON_MONITOR_POLLER_H
#define XBOND_DAEMON_MONITOR_POLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/err.h"

struct poller_query {
	uint32_t bond, slot; /* numbers that the caller chooses */
	uint32_t ifindex;
	char name[XBOND_NAME_SIZE];
	bool wants_carrier, wants_speed;
	int carrier;		     /* the answer, if requested: 1, 0; else -errno */
	uint32_t speed_mbps, duplex; /* from ethtool_speed(), if requested */
};

struct poller;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct poller *poller_new(struct err *err);
void poller_free(struct poller *poller);

/* Returns false if it is busy. */
bool poller_ask(struct poller *poller, const struct poller_query *queries, size_t count);
/* Is there a question whose answers have not been taken yet? */
bool poller_is_busy(const struct poller *poller);
/* Readable when there are answers. */
int poller_fd(const struct poller *poller);
/*
 * The answers, valid until the next question; 0: there are none. ret_asked_ns: the time of the
 * question.
 */
size_t poller_answers(struct poller *poller, const struct poller_query **ret_queries,
		      uint64_t *ret_asked_ns);

#endif
