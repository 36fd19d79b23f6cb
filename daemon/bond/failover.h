/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long failovers take: the figures that `show` prints. They are in the bond's pinned map, so
 * they outlive bondd.
 */
#ifndef XBOND_DAEMON_BOND_FAILOVER_H
#define XBOND_DAEMON_BOND_FAILOVER_H

#include "daemon/bond/decision.h"

/*
 * The slave's link failed at this time (CLOCK_MONOTONIC). Called by a monitor that knows it, before
 * its verdict. Without it, a failure counts from the verdict.
 */
void failover_began(struct bond *bond, unsigned int slot, uint64_t ns);
/* The masks are in force. Counts the slaves that were up and are not. Called by publish.c. */
void failover_published(struct bond *bond, const struct decision *decision);

#endif
