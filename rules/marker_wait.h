/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain_markers: before flows leave slots that work, partners answer markers on these. Other flows
 * may be chosen during the wait, and do not prolong it: its limit runs from its beginning. Pure;
 * the caller gives the time.
 */
#ifndef XBOND_RULES_MARKER_WAIT_H
#define XBOND_RULES_MARKER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#define MARKER_WAIT_NS 3000000000ull /* as long as one marker waits for its response */

struct marker_wait_input {
	uint64_t losers;   /* slots that are about to lose flows */
	uint64_t draining; /* slots whose partner has not answered yet */
	bool changed;	   /* other flows are about to move than in the last call */
	uint64_t now_ns;
};

/* All zero while no flows wait. */
struct marker_wait {
	uint64_t asked;	   /* slots that need no other marker */
	uint64_t until_ns; /* the limit */
};

/*
 * Returns the slots on which markers must be sent now. A slot that has answered has sent since, so
 * it is asked again if other flows move; a marker that waits for its response is good for these,
 * too.
 */
uint64_t marker_wait_ask(struct marker_wait *wait, const struct marker_wait_input *input);
/* Call it after the markers are sent. Returns false, and the wait ends, if the flows may move. */
bool marker_wait_goes_on(struct marker_wait *wait, const struct marker_wait_input *input);

#endif
