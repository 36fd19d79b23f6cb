/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of programs on a device's TCX ingress, and ours in it: who runs before it, who after,
 * and how it changes its place without a gap. Knows no bonds.
 */
#ifndef XBOND_DAEMON_DATAPLANE_TCX_H
#define XBOND_DAEMON_DATAPLANE_TCX_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/dataplane/attach.h"

struct tcx_order {
	bool is_there;		    /* the program of the pinned link */
	unsigned int before, after; /* others; without ours all are before */
	uint32_t others;	    /* changes when these do */
};

enum tcx_end { TCX_FIRST, TCX_LAST };

/* Nothing where the kernel has no TCX. */
struct tcx_order tcx_look(const struct attach_point *point);
/*
 * Puts the program at an end of the order by a new link, then takes the old one off. What they let
 * pass meets both for a moment.
 */
int tcx_move(const struct attach_point *point, int program_fd, enum tcx_end end, struct err *err);
/* Ends what a tcx_move() of this program that was interrupted may have left. */
void tcx_tidy(const struct attach_point *point, int program_fd);

#endif
