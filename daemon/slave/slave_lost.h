/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles members whose device has gone, was moved to another namespace, or has left a team. */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_LOST_H
#define XBOND_DAEMON_SLAVE_SLAVE_LOST_H

#include "daemon/bond/bond.h"

/* gone: the message that reported it, or NULL. The slot is free afterwards. */
void slave_lost(struct bond *bond, unsigned int slot, const struct link_info *gone);
/* Nobody knows whether it was moved: the log names the address that it would have there. */
void slave_lost_tell_mac(struct bond *bond, unsigned int slot);
/*
 * If bond0 is a team, and somebody has taken the member out of it: releases it, as with kernel
 * bonding. link: a message. Returns true if so; the slot is free then.
 */
bool slave_has_left(struct bond *bond, unsigned int slot, const struct link_info *link);
/*
 * Compares every slave of the bond with its device. Some may be lost, others may have changed.
 * Those that were not released wholly are tried again.
 */
void slave_lost_look(struct bond *bond);

#endif
