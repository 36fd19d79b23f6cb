/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which devices may become slaves. Changes nothing. */
#ifndef XBOND_DAEMON_SLAVE_ENSLAVE_CHECK_H
#define XBOND_DAEMON_SLAVE_ENSLAVE_CHECK_H

#include "daemon/bond/bond.h"

/*
 * 0 and the device, or -errno and one line that says why not and what to do. force: IP addresses
 * are no obstacle.
 */
int enslave_check(struct bond *bond, const char *name, bool force, struct link_info *ret_link,
		  struct err *err);

#endif
