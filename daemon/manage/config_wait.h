/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds awaited slaves (bond/awaited.h) when their device appears: under the name in the
 * configuration, or under another name if the NIC is the same by its permanent MAC address. A slave
 * that is refused is tried again when there is news of it.
 */
#ifndef XBOND_DAEMON_MANAGE_CONFIG_WAIT_H
#define XBOND_DAEMON_MANAGE_CONFIG_WAIT_H

#include "daemon/bond/daemon.h"

/* A device has appeared: adds it if it is awaited under this name. */
void config_link_appeared(struct daemon *daemon, const char *name);
/* Tries every awaited slave whose device is there: at start, and after messages were lost. */
void config_look_again(struct daemon *daemon);
/*
 * Called twice a second: adds NICs that came back under another name, after udev has had the time
 * to rename them.
 */
void config_wait_tick(struct daemon *daemon);

#endif
