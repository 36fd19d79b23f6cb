/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bursts. What the main loop does on its own (messages, polls, timers) must not wait until the
 * programs have let go of a bond's idle buckets. Within a burst, a plan that would have to wait is
 * put off (bond->plan_due). It is published when a thread reports that the programs have let go
 * (dataplane.h). Slaves that fail still leave at once. Requests wait.
 */
#ifndef XBOND_DAEMON_BOND_BURST_H
#define XBOND_DAEMON_BOND_BURST_H

#include "common/err.h"

struct daemon;

/* Call it after the event loop exists. Returns 0 or -errno. */
int burst_init(struct daemon *daemon, struct err *err);
void burst_done(struct daemon *daemon);

void burst_begin(struct daemon *daemon);
void burst_end(struct daemon *daemon);
/* Makes sure that no bond has to wait at its next publication. One wait serves all bonds. */
void burst_settle(struct daemon *daemon);
/* Readable when burst_settled() has something to do. */
int burst_fd(const struct daemon *daemon);
void burst_settled(struct daemon *daemon);

#endif
