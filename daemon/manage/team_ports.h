/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports that somebody else gives to bonds that are teams, as by `ip link set DEV master bond0`:
 * such a device becomes a slave, or it is taken out again, because its frames would reach bond0
 * without xbond_rx. Called for messages about devices, and when bondd starts.
 */
#ifndef XBOND_DAEMON_MANAGE_TEAM_PORTS_H
#define XBOND_DAEMON_MANAGE_TEAM_PORTS_H

#include "daemon/bond/daemon.h"
#include "daemon/bond/part.h"

/* link: a message. Does nothing unless it is a port of such a bond, and no slave. */
void team_ports_take(struct daemon *daemon, const struct link_info *link);
/* Looks at all devices. Does nothing if the bond is no team. */
void team_ports_look(struct bond *bond);

/*
 * Devices that somebody has put into bond0, a team, and that did not become slaves. A manager may
 * put one in again and again, and that is logged once.
 */
extern struct part team_refusal_part;

#endif
