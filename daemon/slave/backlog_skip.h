/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rx_backlog off: before a slave's receive program stands a classifier whose action hands what
 * is simply the bond's to bond0 at once. The receive program is a clsact filter from then on, for
 * TCX would come first; it takes what the classifier leaves.
 */
#ifndef XBOND_DAEMON_SLAVE_BACKLOG_SKIP_H
#define XBOND_DAEMON_SLAVE_BACKLOG_SKIP_H

#include "daemon/bond/bond.h"

/* rx_backlog off needs slaves with the bond's address. */
int backlog_skip_check(const struct xbond_bond *pin, struct err *err);
/*
 * Of a member: attaches or detaches as rx_backlog says. A refusal leaves the backlog, and is told
 * in the log.
 */
void backlog_skip_follow(struct bond *bond, unsigned int slot);
/*
 * An action forgets bond0 when that leaves the namespace: to be called when it is back, or may be.
 */
void backlog_skip_follow_all(struct bond *bond);
/* Somebody has removed what backlog_skip_follow() has made. */
bool backlog_skip_is_missing(struct bond *bond, unsigned int slot);

#endif
