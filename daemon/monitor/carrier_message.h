/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's messages say of a slave's carrier: the fast half of LINK_MONITOR_CARRIER. The
 * other is poll.h, which asks, and decides where a message may be old.
 */
#ifndef XBOND_DAEMON_MONITOR_CARRIER_MESSAGE_H
#define XBOND_DAEMON_MONITOR_CARRIER_MESSAGE_H

#include "daemon/bond/bond.h"

/* A link message of a member. Evaluates. */
void carrier_message_take(struct bond *bond, unsigned int slot, const struct link_info *link);
/*
 * The same for a message that says that the device is gone or has no carrier, while the main loop
 * waits for something else. Evaluates.
 */
void carrier_message_take_loss(struct bond *bond, unsigned int slot, uint64_t now_ns);

#endif
