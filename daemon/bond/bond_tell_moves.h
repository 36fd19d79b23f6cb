/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which buckets have moved from which slave to which, as an event. Called by bond_tell.c. */
#ifndef XBOND_DAEMON_BOND_BOND_TELL_MOVES_H
#define XBOND_DAEMON_BOND_BOND_TELL_MOVES_H

#include "daemon/bond/bond.h"

/* Only where a hash chooses. The copy that is not in force is still that of before. */
void bond_tell_moves(struct bond *bond, enum xbond_selection selection);

#endif
