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
 * Asks the kernel about filters, and logs a change; sets the bond's has_filters. Nothing changes
 * while bond0 is away.
 */
bool bypass_look_for_filters(struct bond *bond);
/* The same for the bonds for which a message reported a filter (bond->filters_due); evaluates. */
void bypass_follow_filters(struct daemon *daemon);

#endif
