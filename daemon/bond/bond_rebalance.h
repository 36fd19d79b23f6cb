/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rebalance_interval and tlb_dynamic_lb: at the end of each interval the busiest slaves give hot
 * buckets to the idlest. rules/rebalance.h chooses, rules/buckets.h says how a bucket moves, and
 * the programs move it. Called by evaluate.c; works by a timer.
 */
#ifndef XBOND_DAEMON_BOND_BOND_REBALANCE_H
#define XBOND_DAEMON_BOND_BOND_REBALANCE_H

#include "daemon/bond/bond.h"

/* Are buckets moved by load, as the options are? */
bool bond_rebalance_is_wanted(const struct bond *bond);
/* Begins, goes on or ends, as the options say. Call it before the flags are published. */
void bond_rebalance_follow(struct bond *bond);
/* The bond is let go of. What moves is left to the programs and to the next bondd. */
void bond_rebalance_stop(struct bond *bond);

#endif
