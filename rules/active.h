/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Active-backup: chooses the active slave. Pure. */
#ifndef XBOND_RULES_ACTIVE_H
#define XBOND_RULES_ACTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct active_input {
	uint64_t up;	   /* slots that may transmit */
	uint64_t keepable; /* these, and those whose downdelay runs */
	uint64_t drained;
	uint64_t came_up; /* slots that were not up before */
	unsigned int current;
	unsigned int primary;	/* slot, or XBOND_NO_SLOT */
	unsigned int requested; /* requested by the user just now, or XBOND_NO_SLOT */
	bool primary_changed;	/* the option was set */
};

/*
 * by_hand: the user has chosen an active slave other than the primary. It lasts until that slave
 * fails or the primary returns.
 */
struct active_choice {
	unsigned int slot; /* or XBOND_NO_SLOT */
	bool by_hand;
};

struct active_choice active_choose(const struct active_input *input, bool by_hand);

#endif
