/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a device lead back to the bond that it is to be a slave of? The way down goes through lower
 * devices (VLAN, macvlan, ipvlan), ports (bridge, team) and the slaves of bonds. The kernel knows
 * nothing of the last: to it, slaves and bond are strangers.
 */
#ifndef XBOND_DAEMON_SLAVE_ENSLAVE_LOOP_H
#define XBOND_DAEMON_SLAVE_ENSLAVE_LOOP_H

#include "daemon/bond/bond.h"
#include "daemon/net/link_list.h"

/* 0, or -ELOOP and a line with the way that frames would go; -ENOMEM. */
int enslave_loop_check(struct bond *bond, const struct link_info *link,
		       const struct link_list *devices, struct err *err);

#endif
