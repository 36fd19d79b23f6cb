/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance-tlb and balance-alb: what the programs know of addresses and of the active slave.
 */
#ifndef XBOND_DAEMON_BOND_PUBLISH_ALB_H
#define XBOND_DAEMON_BOND_PUBLISH_ALB_H

#include "daemon/bond/bond.h"

/*
 * Puts the published plan and the slaves' recorded addresses in force. Called after each decision,
 * and when addresses have changed.
 */
void publish_alb(struct bond *bond);
/* The flags that make the programs go by it. */
uint32_t publish_alb_flags(struct bond *bond);

#endif
