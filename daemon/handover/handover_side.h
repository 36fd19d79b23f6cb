/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two kinds of bond between which slaves move: xbond's and the kernel's. Each function says in
 * err what it could not do. ifindex: of the bond.
 */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_SIDE_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_SIDE_H

#include "daemon/handover/handover_plan.h"

struct handover_side {
	const char *whose; /* "xbond's" */
	/* Makes the bond of the plan under this name, up, without IPv6 and without slaves. */
	int (*create)(struct handover *plan, const char *name, struct err *err);
	/* Adds the slave, which has no master. */
	int (*add)(struct handover *plan, int ifindex, const struct handover_slave *slave,
		   struct err *err);
	/* Frees the slave. */
	int (*release)(struct handover *plan, int ifindex, const struct handover_slave *slave,
		       struct err *err);
	bool (*has)(struct handover *plan, int ifindex, const struct handover_slave *slave);
	/* The slave carries traffic, as far as its link and LACP allow. */
	bool (*uses)(struct handover *plan, int ifindex, const struct handover_slave *slave);
	/* Its name, MTU, address or state was changed. */
	void (*follow)(struct handover *plan, int ifindex);
	/* Frees all slaves and removes the bond with what is on it. */
	int (*remove)(struct handover *plan, int ifindex, struct err *err);
};

extern const struct handover_side handover_side_kernel, handover_side_xbond;

#endif
