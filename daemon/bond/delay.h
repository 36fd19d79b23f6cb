/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timer of updelay, downdelay, a standby port that takes over, and flows that wait for markers.
 * bond_arm_delay() sets it.
 */
#ifndef XBOND_DAEMON_BOND_DELAY_H
#define XBOND_DAEMON_BOND_DELAY_H

#include "daemon/bond/bond.h"

/* Returns 0 or -errno. */
int delay_start(struct bond *bond);
void delay_stop(struct bond *bond);

#endif
