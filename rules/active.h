/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Active-backup: chooses the active slave. Pure. */
#ifndef XBOND_RULES_ACTIVE_H
#define XBOND_RULES_ACTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

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

#endif
