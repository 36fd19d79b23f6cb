/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are the TC and netkit programs of a bond where they must be? Looks at each attachment, puts back
 * what somebody has taken off, replaces what another build has attached; counts and says what it
 * found (xbond_attached). XDP programs: xdp_hooks.c, xdp_upgrade.c.
 */
#ifndef XBOND_DAEMON_BOND_ATTACH_CHECK_H
#define XBOND_DAEMON_BOND_ATTACH_CHECK_H

#include "daemon/bond/bond.h"
#include "daemon/dataplane/attach.h"

/* One attachment. */
struct attach_place {
	struct bond *bond;
	unsigned int slot; /* or XBOND_MAX_SLAVES: of the pair */
	uint32_t end;	   /* of the pair: XBOND_ATTACHED_PORT or _EGRESS */
	struct attach_point point;
	int program_fd;
	const char *device;
	bool expected; /* what is missing there is nobody's doing: put right, and not counted */
	/* Attaches the program anew. 0 or -errno. */
	int (*put_back)(const struct attach_place *place, struct err *err);
};

/* Looks, and puts right. */
void attach_check_place(struct attach_place *place);
/*
 * Of bond0 and the port side. came_back: bond0 was in another namespace, and left its filters
 * behind.
 */
void attach_check_pair(struct bond *bond, bool came_back);
/*
 * One more loss, of the slot, or of the pair (XBOND_MAX_SLAVES), that another module has found and
 * put right.
 */
void attach_check_count(struct bond *bond, unsigned int slot);
/* The slot ends. */
void attach_check_forget(struct bond *bond, unsigned int slot);

#endif
