/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * takeover, handback and conversion: a bond of the kernel (or a team of teamd) becomes one of
 * xbond, one of xbond becomes the kernel's, or one of xbond gets another kind of device, under
 * traffic. The old bond goes on until the new one carries traffic by its first slave; then names,
 * addresses and routes change over; then the other slaves follow. If anything fails,
 * everything goes back. RUN_DIR/handover/BOND.json is the journal from which the next bondd puts
 * back, or finishes, what a killed one began.
 *
 * It happens in turns of the main loop. While a slave waits for its link or for LACP, bondd does
 * everything else; only the bond's own slaves and options cannot be changed. Several handovers are
 * done one after another.
 */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_H

#include <jansson.h>

#include "daemon/bond/daemon.h"

/*
 * It has ended. r: 0, or -errno with a line in err. notes: a line for each thing the user should
 * know.
 */
typedef void (*handover_listener)(int r, const struct err *err, json_t *notes, void *arg);

enum handover_kind {
	HANDOVER_TAKEOVER,
	HANDOVER_HANDBACK,
	HANDOVER_CONVERSION, /* of a bond of xbond, to the device that the options name */
};

struct handover_order {
	const char *bond;
	enum handover_kind kind;
	/* Those of the new bond, {NAME: TEXT}, before the ones that the old bond has; NULL: none.
	 */
	json_t *options;
	int author; /* as for event_set_author() */
	handover_listener tell;
	void *arg;
};

/* -errno, with a line in err: it is not done, and nobody is told any more. */
int handover_begin(struct daemon *daemon, const struct handover_order *order, struct err *err);
/*
 * Called after adoption: ends what an earlier bondd began. The log tells. is_again, from time to
 * time: what could not be ended or undone, or whose bonds were not adopted yet.
 */
void handover_recover(struct daemon *daemon, bool is_again);
/* Before bondd ends: what has changed over is finished, and the rest undone or not begun. */
void handover_stop(void);

#endif
