/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which buckets have moved from which slave to which, as an event. Called by evaluate.c and
 * bond_rebalance.c.
 */
#ifndef XBOND_DAEMON_BOND_BOND_TELL_MOVES_H
#define XBOND_DAEMON_BOND_BOND_TELL_MOVES_H

#include "daemon/bond/bond.h"

struct bond_moves {
	uint32_t all;
	/* [from][to]; the last is nobody */
	uint16_t count[XBOND_MAX_SLAVES + 1][XBOND_MAX_SLAVES + 1];
};

/* Owners before and now; XBOND_NO_SLOT: nobody. Only counts. */
void bond_moves_note(struct bond_moves *moves, uint8_t before, uint8_t now);
/* cause: "slaves" or "load". Nothing is told if nothing has moved. */
void bond_moves_tell(struct bond *bond, const struct bond_moves *moves, const char *cause);

/* Only where a hash chooses. The copy that is not in force is still that of before. */
void bond_tell_moves(struct bond *bond, enum xbond_selection selection);

#endif
