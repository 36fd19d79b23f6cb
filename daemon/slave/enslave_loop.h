/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a device lead back to the bond that it shall become a slave of? The way down goes through
 * lower devices (VLAN, macvlan, ipvlan), ports (bridge, team) and the slaves of bonds. The kernel
 * does not know that slaves belong to a bond of xbond.
 */
#ifndef XBOND_DAEMON_SLAVE_ENSLAVE_LOOP_H
#define XBOND_DAEMON_SLAVE_ENSLAVE_LOOP_H

#include "daemon/bond/bond.h"
#include "network/link_list.h"

/* Returns 0, or -ELOOP with a line that shows the way that frames would take. */
int enslave_loop_check(struct bond *bond, const struct link_info *link,
		       const struct link_list *devices, struct err *err);

#endif
