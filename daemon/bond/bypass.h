/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `direct` must not go past on bond0: captures, a root qdisc, filters, an XDP program. Finds
 * captures and filters; device_sync.c sees the others. While there is any of these, the bond is
 * forced to counted.
 */
#ifndef XBOND_DAEMON_BOND_BYPASS_H
#define XBOND_DAEMON_BOND_BYPASS_H

#include "daemon/bond/bond.h"

/* Finds out on which bonds somebody captures; evaluates the bonds where that has changed. */
void bypass_follow_captures(struct daemon *daemon);
/*
 * Asks the kernel whether others have filters at bond0's egress, and logs a change. While bond0 is
 * away, the last answer counts. Returns true if it has changed; does not evaluate.
 */
bool bypass_look_for_filters(struct bond *bond);
/* A message told of a filter on bond0, or of one that may be there. */
void bypass_note_filter(struct bond *bond, bool gone);
/* Checks the bonds that such messages reported; evaluates those that have changed. */
void bypass_follow_filters(struct daemon *daemon);

#endif
