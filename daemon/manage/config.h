/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONFIG_DIR/BOND.conf (xbond.conf(5)): read at start. A file applies only when its bond
 * does not exist; slaves it names that are not there yet are added when they appear.
 */
#ifndef XBOND_DAEMON_MANAGE_CONFIG_H
#define XBOND_DAEMON_MANAGE_CONFIG_H

#include "daemon/bond/daemon.h"

/* After adoption. A malformed file is named as file:line and applied in no part. */
void config_apply_all(struct daemon *daemon);

#endif
