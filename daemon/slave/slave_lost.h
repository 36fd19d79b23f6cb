/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device of a member has gone, or was moved to another namespace. */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_LOST_H
#define XBOND_DAEMON_SLAVE_SLAVE_LOST_H

#include "daemon/bond/bond.h"

/* gone: the message that said so, or NULL. The slot is free afterwards. */
void slave_lost(struct bond *bond, unsigned int slot, const struct link_info *gone);
/* Compares every slave of the bond with its device: some may be lost, others have changed. */
void slave_lost_look(struct bond *bond);

#endif
