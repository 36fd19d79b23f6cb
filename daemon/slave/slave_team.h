/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slaves of a bond whose bond0 is a team: each is a port of it, so the kernel hands what it
 * receives to bond0, shows bond0 as its master, and keeps MTU, multicast groups and VLANs on it.
 * Called by slave.c, and for what others do to members. Does nothing for other bonds, if it does
 * not say otherwise.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_TEAM_H
#define XBOND_DAEMON_SLAVE_SLAVE_TEAM_H

#include "daemon/bond/bond.h"

/* Before a device is changed: a team takes only devices that are down. */
int slave_team_prepare(struct bond *bond, unsigned int slot, struct err *err);
/*
 * Every 10 seconds, and when a bond is adopted: somebody may have changed how the team uses its
 * ports, so it is set again.
 */
void slave_team_keep(struct bond *bond);
/* At once for a slave that is a port: somebody has taken it out and put it in again. */
void slave_team_keep_port(struct bond *bond, unsigned int slot);
#endif
