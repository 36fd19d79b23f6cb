/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses behind the other ports of a bridge that bond0, or a VLAN device on it, is a port
 * of: virtual machines, for instance. When another slave is active, switches still send to the one
 * that was, which drops that. What such hosts send leaves with slaves' addresses, so it would teach
 * the switches nothing. Called by learning.c.
 */
#ifndef XBOND_DAEMON_ALB_LEARNING_BRIDGED_H
#define XBOND_DAEMON_ALB_LEARNING_BRIDGED_H

#include "daemon/bond/bond.h"

#define LEARNING_ANY_VLAN 0xffff /* in every VLAN that bond0 sends in */

/*
 * Reads them into bond->learning, if that has those of another active slave, or none, and if the
 * active slave has a link. At most BOND_BRIDGED.
 */
void learning_read_bridged(struct bond *bond);

#endif
