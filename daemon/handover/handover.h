/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * takeover and handback: a bond of the kernel (or a team) becomes one of xbond, and one of xbond
 * becomes the kernel's, under traffic. The old bond goes on until the new one carries traffic by
 * its first slave; then names, addresses and routes change over; then the other slaves follow, one
 * by one. If anything fails, everything goes back. RUN_DIR/handover/BOND.json is the journal from
 * which the next bondd puts back, or finishes, what a killed one began.
 */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_H

#include <jansson.h>

#include "daemon/bond/daemon.h"

/*
 * options: those of the new bond, {NAME: TEXT}, before the ones that the kernel's bond has; NULL:
 * none. notes: gets a line for each thing the user should know.
 */
int handover_takeover(struct daemon *daemon, const char *name, const json_t *options, json_t *notes,
		      struct err *err);
int handover_handback(struct daemon *daemon, const char *name, json_t *notes, struct err *err);
/* Called after adoption: ends what an earlier bondd began. The log tells. */
void handover_recover(struct daemon *daemon);

#endif
