/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether a device may become a slave. Changes nothing. */
#ifndef XBOND_DAEMON_SLAVE_ENSLAVE_CHECK_H
#define XBOND_DAEMON_SLAVE_ENSLAVE_CHECK_H

#include "daemon/bond/bond.h"

/*
 * Returns 0 and the device, or -errno with a line that says why not and what to do. force: IP
 * addresses are no obstacle.
 */
int enslave_check(struct bond *bond, const char *name, bool force, struct link_info *ret_link,
		  struct err *err);

#endif
