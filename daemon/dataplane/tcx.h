/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of programs at a device's TCX ingress: which run before ours and which after, and how
 * ours changes its place without a gap. Knows no bonds.
 */
#ifndef XBOND_DAEMON_DATAPLANE_TCX_H
#define XBOND_DAEMON_DATAPLANE_TCX_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/dataplane/attach.h"

struct tcx_order {
	bool is_there;		    /* the program of the pinned link */
	unsigned int before, after; /* those of others; without ours, all count as before */
	uint32_t others;	    /* changes when those of others change */
};

enum tcx_end { TCX_FIRST, TCX_LAST };

/* Reports nothing if the kernel has no TCX. */
struct tcx_order tcx_look(const struct attach_point *point);
/*
 * Puts the program at one end of the order by a new link, then removes the old link. For a moment,
 * frames that they let pass meet both.
 */
int tcx_move(const struct attach_point *point, int program_fd, enum tcx_end end, struct err *err);
/*
 * Cleans up after a tcx_move() of this program that was interrupted. Returns 0, or -errno if a
 * second link may go on.
 */
int tcx_tidy(const struct attach_point *point, int program_fd);

#endif
