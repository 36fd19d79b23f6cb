/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles members whose device has gone or was moved to another namespace. */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_LOST_H
#define XBOND_DAEMON_SLAVE_SLAVE_LOST_H

#include "daemon/bond/bond.h"

/* gone: the message that reported it, or NULL. The slot is free afterwards. */
void slave_lost(struct bond *bond, unsigned int slot, const struct link_info *gone);
/* Compares every slave of the bond with its device. Some may be lost, others may have changed. */
void slave_lost_look(struct bond *bond);

#endif
