/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Learning packets of balance-tlb and balance-alb, by which switches know where an address is,
 * untagged and in each VLAN that bond0 sends in. From the address to itself they reach the next
 * switch, which keeps them; when slaves' addresses have moved, they are broadcasts, and reach all.
 * Called by the main loop.
 */
#ifndef XBOND_DAEMON_ALB_LEARNING_H
#define XBOND_DAEMON_ALB_LEARNING_H

#include "daemon/bond/bond.h"

/* Sends them if they are due. Called at each tick. */
void learning_follow(struct bond *bond);
/* Addresses have moved to other slaves: begins at once. */
void learning_now(struct bond *bond);
/*
 * Is it the active slave, and shall it hear for a while what is for the addresses of slaves that
 * have just lost their links?
 */
bool learning_stands_in(struct bond *bond, unsigned int slot);

#endif
