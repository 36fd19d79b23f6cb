/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the BFD thread's sessions of a bond as its options and its slaves are. Called by
 * evaluate.c, so whatever changes a bond reaches the sessions. What they find comes back through
 * daemon/monitor/verdict.c.
 */
#ifndef XBOND_DAEMON_BOND_BOND_BFD_H
#define XBOND_DAEMON_BOND_BOND_BFD_H

#include "daemon/bond/bond.h"

/* Does the bond have the monitor? */
bool bond_bfd_is_wanted(const struct xbond_bond *pin);
void bond_bfd_follow(struct bond *bond);
/* forget: as bfd_thread_remove(). */
void bond_bfd_stop(struct bond *bond, bool forget);

#endif
