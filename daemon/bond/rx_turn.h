/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slaves change their receive hook in turns (slave/rx_turn_steps.h). Here is whose turn it is, and
 * what that means for decisions. rx_turn_steps.c writes it.
 */
#ifndef XBOND_DAEMON_BOND_RX_TURN_H
#define XBOND_DAEMON_BOND_RX_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct bond;

enum rx_turn_step {
	RX_TURN_NONE,
	RX_TURN_DRAINING,  /* its flows go to others */
	RX_TURN_LEAVING,   /* it has no flows any more, and its LACP partner is told */
	RX_TURN_RETURNING, /* changed; its return is awaited */
};

struct rx_turn {
	uint64_t due; /* slots that have not had their turn yet */
	enum rx_turn_step step;
	unsigned int slot; /* whose turn it is, except in RX_TURN_NONE */
	uint64_t deadline_ns;
	uint64_t reset; /* slots whose carrier is off because of bondd's change */
};

/* The slots that shall have no flows now, and the slots that send nothing. */
uint64_t rx_turn_drained(const struct bond *bond);
uint64_t rx_turn_out(const struct bond *bond);
/*
 * Was a loss of this slave's carrier caused by bondd? True until it carries traffic again, however
 * often its driver resets.
 */
bool rx_turn_has_reset(const struct bond *bond, unsigned int slot);

#endif
