/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rx_backlog off: in front of a slave's receive program there is a classifier. Its action hands
 * frames that are simply the bond's to bond0 at once. The receive program handles the rest. It is
 * then a clsact filter, because TCX would come first.
 */
#ifndef XBOND_DAEMON_SLAVE_BACKLOG_SKIP_H
#define XBOND_DAEMON_SLAVE_BACKLOG_SKIP_H

#include "daemon/bond/bond.h"

/*
 * For a member: attaches or detaches as rx_backlog says. If this is refused, the backlog is used,
 * and the log says so.
 */
void backlog_skip_follow(struct bond *bond, unsigned int slot);
/*
 * An action forgets bond0 when bond0 leaves the namespace. Call this when bond0 is back, or may be.
 */
void backlog_skip_follow_all(struct bond *bond);
/* Somebody has removed what backlog_skip_follow() has made. */
bool backlog_skip_is_missing(struct bond *bond, unsigned int slot);

#endif
