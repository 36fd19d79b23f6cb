/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 802.3ad: a port that works badly is taken out only if the bond can do without it. A port that
 * stands by (max_links, or in an aggregator that LACP would choose next) is as good as one that
 * distributes: it takes over when the other one has left. Pure; the caller gives the time.
 */
#ifndef XBOND_RULES_STANDBY_H
#define XBOND_RULES_STANDBY_H

#include <stdint.h>

#define STANDBY_TIME_NS 3000000000ull /* as long as LACP with the short timeout waits */

struct standby_input {
	/* Slots, by LACP. No slot is in `standby` and in one of the others. */
	uint64_t standby, selected, distributing;
	uint64_t now_ns;
};

/* All zero at the beginning, and whenever no port is to be taken out. */
struct standby_state {
	uint64_t standby;  /* as in the last input */
	uint64_t coming;   /* slots that have left it for use, and do not distribute yet */
	uint64_t until_ns; /* so long they have time; 0: there are none */
	uint64_t refused;  /* slots whose time has passed; until they distribute once */
};

/*
 * Returns the slots that count beside those that distribute. Without a limit of time, a port that
 * its partner never lets distribute would keep the other one out for ever.
 */
uint64_t standby_next(struct standby_state *state, const struct standby_input *input);

#endif
