/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONFIG_DIR/BOND.conf (xbond.conf(5)) at start and for `load`: makes the bonds that do not exist.
 * Slaves that a file names but that are not there yet are added when they appear. apply.h changes
 * bonds that run.
 */
#ifndef XBOND_DAEMON_MANAGE_CONFIG_H
#define XBOND_DAEMON_MANAGE_CONFIG_H

#include "daemon/bond/daemon.h"
#include "options/config_file.h"

/*
 * Called after adoption. A mistake in a file is reported as file:line, and nothing of that file is
 * applied.
 */
void config_apply_all(struct daemon *daemon);
/* The bond's file. Logs every mistake. */
int config_read(struct daemon *daemon, const char *bond, struct config_file *ret_file,
		struct err *err);
/*
 * Makes the bond with its slaves, and brings it up if option up says so. What a bondd that dies
 * meanwhile has made is removed.
 */
int config_create(struct daemon *daemon, const char *name, const struct config_file *file,
		  struct err *err);

#endif
