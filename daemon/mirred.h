/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rx_backlog off: before a slave's receive program stands a classifier whose action hands what
 * is simply the bond's to bond0 at once. The receive program is a clsact filter from then on, for
 * TCX would come first; it takes what the classifier leaves.
 */
#ifndef XBOND_DAEMON_MIRRED_H
#define XBOND_DAEMON_MIRRED_H

#include "daemon/bond.h"

/* rx_backlog off needs slaves with the bond's address. */
int mirred_check(const struct xbond_bond *pin, struct err *err);
/*
 * Of a member: attaches or detaches as rx_backlog says. A refusal leaves the backlog, and is told
 * in the log.
 */
void mirred_follow(struct bond *bond, unsigned int slot);
/*
 * An action forgets bond0 when that leaves the namespace: to be called when it is back, or may be.
 */
void mirred_follow_all(struct bond *bond);
/* Somebody has removed what mirred_follow() has made. */
bool mirred_is_missing(struct bond *bond, unsigned int slot);
/* Takes the classifier off. */
void mirred_remove(struct bond *bond, unsigned int slot);

#endif
