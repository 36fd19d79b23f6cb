/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slaves that the configuration names and that are no members now: they are added when their device
 * appears, under the name the configuration has, or as the NIC that it was, known by its
 * permanent MAC address. One that is refused is tried again when there is news of it.
 */
#ifndef XBOND_DAEMON_CONFIG_WAIT_H
#define XBOND_DAEMON_CONFIG_WAIT_H

#include <jansson.h>

#include "daemon/daemon.h"

struct config_slave;

/* From now on. perm_mac: NULL when it is not known. */
void config_wait(struct bond *bond, const struct config_slave *slave, const uint8_t *perm_mac);
bool config_awaits(const struct bond *bond, const char *slave);
/* Names; a new reference. */
json_t *config_awaited(const struct bond *bond);
/* slave: NULL for all of the bond's. Not to be called from within what adds them. */
void config_wait_no_more(struct bond *bond, const char *slave);
/* A device is there: adds it if it is waited for by this name. */
void config_link_appeared(struct daemon *daemon, const char *name);
/* Tries every slave that is waited for and there: at start, and when messages were lost. */
void config_look_again(struct daemon *daemon);
/*
 * Twice a second: adds NICs that came back under another name, once udev has had the time to rename
 * them.
 */
void config_wait_tick(struct daemon *daemon);
/*
 * A member's device has gone: if the configuration names it, it is waited for, with the settings it
 * had.
 */
void config_slave_lost(struct bond *bond, unsigned int slot);
/*
 * A member is removed by its user: it may have been added under another name than the
 * configuration's.
 */
void config_slave_left(struct bond *bond, unsigned int slot);
void config_done(struct daemon *daemon);

#endif
