/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `direct` must not go past on bond0: captures, a root qdisc, filters, an XDP program. Finds
 * captures and filters; device_sync.c sees the others. While there is any, publish.c forces
 * counted.
 */
#ifndef XBOND_DAEMON_BOND_BYPASS_H
#define XBOND_DAEMON_BOND_BYPASS_H

#include "daemon/bond/bond.h"

/* Who captures on which bond; evaluates where that has changed. */
void bypass_follow_captures(struct daemon *daemon);
/*
 * Asks the kernel, and tells the log of a change; for bond->has_filters. As it was while bond0 is
 * away.
 */
bool bypass_look_for_filters(struct bond *bond);
/* The same for the bonds where a message told of a filter (bond->filters_due); evaluates. */
void bypass_follow_filters(struct daemon *daemon);

#endif
