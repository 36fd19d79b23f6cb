/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which addresses the switches are to find at which slave: its own, and at the active one also
 * those of devices above bond0 and, in balance-alb, those of slaves that have no link. So frames of
 * clients that still send to such a slave reach bond0. Called by learning.c.
 */
#ifndef XBOND_DAEMON_ALB_LEARNING_MACS_H
#define XBOND_DAEMON_ALB_LEARNING_MACS_H

#include "daemon/bond/bond.h"

#define LEARNING_MACS (XBOND_MAX_SLAVES + 1)

/* Has the slave of this slot one? The slot may be none. */
bool learning_has_link(struct bond *bond, unsigned int slot);
/*
 * Is it a virtual router's address (RFC 9568, 7.3), which a backup has, too? The router that has it
 * at the moment sends with it every second.
 */
bool learning_is_of_router(const uint8_t *mac);
/*
 * Those of slaves: 0 if it has none. Returns how many. They stay where they are until the bond
 * changes.
 */
size_t learning_macs(struct bond *bond, unsigned int slot, const uint8_t *ret_macs[LEARNING_MACS]);
/* balance-alb: the slots of slaves without a link whose addresses the active slave teaches. */
uint64_t learning_orphans(struct bond *bond);
/* Finds out now and then which addresses are above bond0: bond->learning.above. */
void learning_read_above(struct bond *bond, uint64_t now_ns);

#endif
