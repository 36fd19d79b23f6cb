/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells a client of balance-alb which slave's address it is to send to. */
#ifndef XBOND_DAEMON_ALB_CLIENT_TELL_H
#define XBOND_DAEMON_ALB_CLIENT_TELL_H

#include "common/client_table.h"
#include "daemon/bond/bond.h"

/*
 * By this slave, twice, as the kernel's driver does, because one frame may get lost. The caller
 * flushes the sender.
 */
void client_tell(struct bond *bond, unsigned int slot, const struct client_entry *entry);

#endif
