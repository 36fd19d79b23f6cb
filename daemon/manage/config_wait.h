/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the slaves that are waited for (bond/awaited.h) when their device appears, under the name
 * the configuration has, or as the NIC that it was, known by its permanent MAC address. One that is
 * refused is tried again when there is news of it.
 */
#ifndef XBOND_DAEMON_MANAGE_CONFIG_WAIT_H
#define XBOND_DAEMON_MANAGE_CONFIG_WAIT_H

#include "daemon/bond/daemon.h"

/* A device is there: adds it if it is waited for by this name. */
void config_link_appeared(struct daemon *daemon, const char *name);
/* Tries every slave that is waited for and there: at start, and when messages were lost. */
void config_look_again(struct daemon *daemon);
/*
 * Twice a second: adds NICs that came back under another name, once udev has had the time to rename
 * them.
 */
void config_wait_tick(struct daemon *daemon);

#endif
