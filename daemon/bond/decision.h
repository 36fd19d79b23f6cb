/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What bond_evaluate() decides from the links of a bond, and what follows for the datapath.
 * decide.c makes a decision, publish.c puts it in force, evaluate.c logs it. Nobody else needs it.
 */
#ifndef XBOND_DAEMON_BOND_DECISION_H
#define XBOND_DAEMON_BOND_DECISION_H

#include "daemon/bond/bond.h"

/* One evaluation: the state before, the state now, and the result. */
struct decision {
	enum xbond_link before[XBOND_MAX_SLAVES];
	uint64_t members, up, usable; /* usable: up, or while its downdelay runs */
	uint64_t linked;	      /* up, whatever LACP says */
	uint64_t came_up, drained;
	uint64_t took_ns[XBOND_MAX_SLAVES]; /* by publish.c; 0: the slave has not failed over */
	uint64_t rx_mask;
	unsigned int active_before;
	uint32_t active_request; /* the request in settings that this decision answers */
	bool carrier, carrier_before;
	struct dataplane_plan plan;
};

/*
 * Advances the links of the bond's slaves and fills in a decision, which must be all zero except
 * `before`.
 */
void decide_links(struct bond *bond, struct decision *decision);
void decide(struct bond *bond, struct decision *decision);

void publish_decision(struct bond *bond, struct decision *decision);
/*
 * Which buckets have moved from which slave to which, as an event. The copy that is not in force is
 * still that of before.
 */
void bond_tell_moves(struct bond *bond);
/* The name of a slot that may have been left; NULL: of none. */
const char *bond_tell_name(struct bond *bond, unsigned int slot);

#endif
