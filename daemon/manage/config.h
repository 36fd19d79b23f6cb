/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONFIG_DIR/BOND.conf (xbond.conf(5)), read at start. A file applies only if its bond does not
 * exist. Slaves that it names but that are not there yet are added when they appear.
 */
#ifndef XBOND_DAEMON_MANAGE_CONFIG_H
#define XBOND_DAEMON_MANAGE_CONFIG_H

#include "daemon/bond/daemon.h"

/*
 * Called after adoption. A mistake in a file is reported as file:line, and nothing of that file is
 * applied.
 */
void config_apply_all(struct daemon *daemon);

#endif
