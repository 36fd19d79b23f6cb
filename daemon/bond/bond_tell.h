/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells what an evaluation has found and changed, as events. Called by evaluate.c, after the
 * decision has been put in force.
 */
#ifndef XBOND_DAEMON_BOND_BOND_TELL_H
#define XBOND_DAEMON_BOND_BOND_TELL_H

#include "daemon/bond/decision.h"

void bond_tell(struct bond *bond, const struct decision *decision);

#endif
