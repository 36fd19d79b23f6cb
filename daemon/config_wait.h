/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slaves that the configuration names and that have no device now: they are added when it
 * appears, under the name the configuration has, or as the NIC that it was, known by its
 * permanent MAC address.
 */
#ifndef XBOND_DAEMON_CONFIG_WAIT_H
#define XBOND_DAEMON_CONFIG_WAIT_H

#include "daemon/daemon.h"

struct config_slave;

/* perm_mac: NULL when it is not known. */
void config_wait(struct daemon *daemon, const char *bond, const struct config_slave *slave,
		 const uint8_t *perm_mac);
/* A device is there: adds it if it is waited for by this name. */
void config_link_appeared(struct daemon *daemon, const char *name);
/* The same for every device that is waited for: messages were lost. */
void config_look_again(struct daemon *daemon);
/* Twice a second: adds NICs that came back under another name, once udev has had the time to rename them. */
void config_wait_tick(struct daemon *daemon);
/* A member's device has gone: if the configuration names it, it is waited for, with the settings it had. */
void config_slave_lost(struct bond *bond, unsigned int slot);
void config_done(struct daemon *daemon);

#endif
