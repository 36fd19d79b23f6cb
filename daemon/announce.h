/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * After a failover in active-backup: frames from bond0 that teach switches and neighbours
 * where its MAC address is now, one per IP address and multicast group, there and on its VLANs, as the kernel's driver has its stack send them.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_H
#define XBOND_DAEMON_ANNOUNCE_H

#include "daemon/bond.h"

/* Nothing is sent while bond0 is in another namespace. */
void announce(struct bond *bond);

#endif
