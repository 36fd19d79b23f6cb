/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that waits until every BPF program that began before has ended (dataplane_quiesce()).
 * That takes some 10 ms, and the main loop must not wait for it. Knows no bonds; callers hold
 * tickets.
 */
#ifndef XBOND_DAEMON_DATAPLANE_SETTLE_H
#define XBOND_DAEMON_DATAPLANE_SETTLE_H

#include <stdint.h>

#include "common/err.h"

struct settler;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct settler *settler_new(struct err *err);
void settler_free(struct settler *settler);

/* A ticket, never 0, for a wait that begins now or later. */
uint64_t settler_ask(struct settler *settler);
/* Readable when tickets are due. */
int settler_fd(const struct settler *settler);
/*
 * Returns the last ticket that is due, with all tickets before it: the programs have ended. Makes
 * the descriptor unreadable.
 */
uint64_t settler_served(struct settler *settler);

#endif
