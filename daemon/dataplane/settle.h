/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits in a thread until every BPF program that began before has ended (dataplane_quiesce()),
 * because that takes some 10 ms and the main loop has other things to do. Knows no bonds: they hold
 * tickets.
 */
#ifndef XBOND_DAEMON_DATAPLANE_SETTLE_H
#define XBOND_DAEMON_DATAPLANE_SETTLE_H

#include <stdint.h>

#include "common/err.h"

struct settler;

/* Signals must be blocked. NULL: err says why. */
struct settler *settler_new(struct err *err);
void settler_free(struct settler *settler);

/* A ticket, not 0, for a wait that begins from now on. */
uint64_t settler_ask(struct settler *settler);
/* Readable when tickets have come due. */
int settler_fd(const struct settler *settler);
/* Every ticket up to this one is due: the programs have ended. Makes the descriptor unreadable. */
uint64_t settler_served(struct settler *settler);

#endif
