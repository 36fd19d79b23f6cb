/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the main loop does by itself (messages, polls, timers) must not wait until the programs have
 * let go of a bond's idle buckets: within a burst a plan for which it would have to is put off
 * (bond->evaluation.plan_due), and is published when a thread says that they have (settle.h).
 * Slaves that fail leave at once all the same. Requests wait.
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
