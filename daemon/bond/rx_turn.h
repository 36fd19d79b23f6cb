/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slaves go over to another receive hook in turns (slave/rx_turn_steps.h): whose turn it is, and
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
	RX_TURN_LEAVING,   /* it has none any more, and its LACP partner is told */
	RX_TURN_RETURNING, /* changed; waited for */
};

struct rx_turn {
	uint64_t due; /* slots that have had no turn yet */
	enum rx_turn_step step;
	unsigned int slot; /* whose turn it is, but for RX_TURN_NONE */
	uint64_t deadline_ns;
	uint64_t reset; /* slots whose carrier is away because of us */
};

/* Slots that shall have no flows now, and those that send nothing. */
uint64_t rx_turn_drained(const struct bond *bond);
uint64_t rx_turn_out(const struct bond *bond);
/*
 * A loss of this slave's carrier is ours: until it carries traffic again, however often its driver
 * resets for it.
 */
bool rx_turn_has_reset(const struct bond *bond, unsigned int slot);

#endif
