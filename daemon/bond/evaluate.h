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
/*
 * The primary was named or enslaved: it becomes the active slave as soon as it can be, whatever
 * primary_reselect says.
 */
void bond_primary_changed(struct bond *bond);
/* prio or primary_reselect was set: a choice that the user has made by hand ends. */
void bond_choose_active_again(struct bond *bond);
/* Announces a failover that has not been announced yet. */
void bond_announce_failover(struct bond *bond);
/* The next evaluation chooses the active slave as if there were none. */
void bond_free_active(struct bond *bond);

/*
 * The timer of updelay, downdelay, a standby port that takes over, and flows that wait for markers.
 * bond_arm_delay() sets it.
 */

/* Returns 0 or -errno. */
int delay_start(struct bond *bond);
void delay_stop(struct bond *bond);

#endif
