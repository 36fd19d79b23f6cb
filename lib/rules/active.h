/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which slaves are to serve beside what a mode says: the active one, 802.3ad ports that stand by or
 * wait for markers, and those that get the clients of balance-alb. Pure; the caller gives the time.
 */
#ifndef XBOND_RULES_ACTIVE_H
#define XBOND_RULES_ACTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

/* Active-backup: chooses the active slave. Pure. */

struct active_link {
	int32_t prio;
	uint32_t speed_mbps; /* 0: unknown */
	uint32_t duplex;     /* as in struct xbond_slave */
};

struct active_input {
	uint64_t up;	   /* slots that may transmit */
	uint64_t keepable; /* these, and those whose downdelay runs */
	uint64_t drained;
	uint64_t came_up; /* slots that were not up before */
	uint64_t unsure;  /* slots whose speed and duplex are from before their links were lost */
	unsigned int current;
	unsigned int primary;	/* slot, or XBOND_NO_SLOT */
	unsigned int requested; /* requested by the user just now, or XBOND_NO_SLOT */
	enum xbond_reselect reselect;
	bool primary_due; /* the primary was named or enslaved, and has not been up since */
	bool again;	  /* an option that decides has changed: a choice by hand ends */
	bool free;	  /* the user leaves the choice to us, as if no slave were active */
	struct active_link link[XBOND_MAX_SLAVES];
};

/*
 * by_hand: the user has chosen the active slave. It lasts until that slave fails, or until one that
 * is preferred to it comes up. primary_due: as in the input, for the next choice.
 */
struct active_choice {
	unsigned int slot; /* or XBOND_NO_SLOT */
	bool by_hand;
	bool primary_due;
};

/*
 * The primary is preferred to all slaves; without it, those of a higher prio are preferred to the
 * current one. By `reselect` a preferred slave replaces a current one that works. If none works,
 * the primary, or the slave of the highest prio, is taken whatever `reselect` says.
 */
struct active_choice active_choose(const struct active_input *input, bool by_hand);

/*
 * The order in which these slots are chosen if no slot is active, by the same rule: each if none
 * before it works. XBOND_NO_SLOT fills it up.
 */
void active_order(const struct active_input *input, uint64_t slots,
		  uint8_t order[XBOND_MAX_SLAVES]);

/*
 * 802.3ad: a port that works badly is taken out only if the bond can do without it. A port that
 * stands by (max_links, or in an aggregator that LACP would choose next) is as good as one that
 * distributes: it takes over when the other one has left. Pure; the caller gives the time.
 */

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

/*
 * drain_markers: before flows leave slots that work, partners answer markers on these. Other flows
 * may be chosen during the wait, and do not prolong it: its limit runs from its beginning. Pure;
 * the caller gives the time.
 */

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

/*
 * balance-alb: which slave each client sends to, after slaves have failed, come back or changed.
 * Pure; bondd tells the clients.
 */

/*
 * The slots that are to get clients: of `working` those of the highest speed, as in the kernel's
 * driver. Speeds that are unknown are the lowest.
 */
uint64_t receivers_fastest(uint64_t working, const uint32_t speed_mbps[XBOND_MAX_SLAVES]);
/*
 * slot: of each client, or XBOND_NO_SLOT. Those whose slot is not in `working` get one of `among`,
 * the one with the fewest clients. level: also shares out all clients evenly among these, and moves
 * no more of them than that takes. `among` is a part of `working`; without any, nothing changes.
 */
void receivers_share(uint8_t *slot, size_t count, uint64_t working, uint64_t among, bool level);

#endif
