/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's messages about a slave's carrier: the fast half of XBOND_MONITOR_CARRIER. The other
 * half is poll.h, which asks the driver, and decides when a message may be old.
 */
#ifndef XBOND_DAEMON_MONITOR_CARRIER_MESSAGE_H
#define XBOND_DAEMON_MONITOR_CARRIER_MESSAGE_H

#include "daemon/bond/bond.h"

/* Handles a link message of a member. Evaluates. */
void carrier_message_take(struct bond *bond, unsigned int slot, const struct link_info *link);
/*
 * The same, while the main loop waits for something else, and only for a message that the device is
 * gone or has no carrier. Evaluates.
 */
void carrier_message_take_loss(struct bond *bond, unsigned int slot, uint64_t now_ns);

#endif
