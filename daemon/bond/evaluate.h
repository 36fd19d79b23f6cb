/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place where link states become decisions. Code that finds out something that a decision
 * may depend on calls bond_evaluate().
 */
#ifndef XBOND_DAEMON_BOND_EVALUATE_H
#define XBOND_DAEMON_BOND_EVALUATE_H

#include "daemon/bond/bond.h"

/*
 * Evaluates link states, delays, the active slave and the carrier of the bond: decides, publishes,
 * and logs last. Safe to call at any time; publishes only what has changed.
 */
void bond_evaluate(struct bond *bond);
/* The option primary was set: the next evaluation makes the primary the active slave. */
void bond_primary_changed(struct bond *bond);

#endif
