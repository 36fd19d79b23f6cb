/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONFIG_DIR/BOND.conf (xbond.conf(5)): read at start. A file applies only when its bond
 * does not exist; slaves it names that are not there yet are added when they appear.
 */
#ifndef XBOND_DAEMON_CONFIG_H
#define XBOND_DAEMON_CONFIG_H

#include "daemon/daemon.h"

/* After adoption. A malformed file is named as file:line and applied in no part. */
void config_apply_all(struct daemon *daemon);
/* A device is there: adds it if it is waited for. */
void config_link_appeared(struct daemon *daemon, const char *name);
/* The same for every device that is waited for: messages were lost. */
void config_look_again(struct daemon *daemon);
/* A member's device has gone: if the configuration names it, it is waited for, with the settings it had. */
void config_slave_lost(struct bond *bond, unsigned int slot);
void config_done(struct daemon *daemon);

#endif
