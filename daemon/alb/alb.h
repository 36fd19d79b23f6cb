/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive balancing of balance-alb: shares out the clients anew when slaves fail, leave, join or
 * come back, and tells the clients. A round reads the whole pinned map, decides, and then writes
 * and sends in steps, so that a full map does not hold up the main loop. What a bondd has left
 * undone the map tells the next one.
 */
#ifndef XBOND_DAEMON_ALB_ALB_H
#define XBOND_DAEMON_ALB_ALB_H

#include "daemon/bond/bond.h"
#include "daemon/bond/part.h"
#include "network/ip.h"

extern struct part clients_part;

/* Does what is due. Called at each tick, and when addresses have changed. */
void client_rounds_settle(struct bond *bond);
/* A link has changed: bond0 may have become a port of a bridge, or may be none any more. */
void client_rounds_note_link(struct bond *bond, const struct link_info *link);
/*
 * A device has an IP address, or has it no longer. If no other device has it, bondd must not tell
 * anybody of it: another host may have it.
 */
void client_rounds_note_address(struct bond *bond, const struct address *address, bool is_gone);

/*
 * Learning packets of balance-tlb and balance-alb, by which switches know where an address is,
 * untagged and in each VLAN that bond0 sends in. From the address to itself they reach the next
 * switch, which keeps them; when slaves' addresses have moved, they are broadcasts, and reach all.
 * Called by the main loop.
 */

extern struct part learning_part;

/* Sends them if they are due. Called at each tick. */
void learning_settle(struct bond *bond);
/* Addresses have moved to other slaves: begins at once. */
void learning_now(struct bond *bond);
/*
 * Is it the active slave, and shall it hear for a while what is for the addresses of slaves that
 * have just lost their links?
 */
bool learning_stands_in(struct bond *bond, unsigned int slot);

#endif
