/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option values of a live bond: reads any option out of its pinned maps, and writes
 * the steering ones (OPTION_IN_SETTINGS), each by one aligned store.
 */
#ifndef XBOND_OPTIONS_VALUES_H
#define XBOND_OPTIONS_VALUES_H

#include "common/pins.h"
#include "options/options.h"

/* slot is used by options of a slave only. */
void values_read(const struct pins *pins, const struct option *option, unsigned int slot,
		 struct option_value *ret_value);

/*
 * Active-backup: the slot in use, also when a request for another has not reached bondd
 * yet; XBOND_NO_SLOT if none is, and in the other modes.
 */
unsigned int values_active_slot(const struct pins *pins);

/* Of these slots those that are not drained by now; all, when there is no other. */
uint64_t values_undrained(const struct pins *pins, uint64_t may);
/* Slots in use for transmit now. A drained one only counts when all are. */
uint64_t values_tx_slots(const struct pins *pins);

/*
 * Writes a steering option. active_slave: the caller has checked that the name is a
 * member; "" leaves the choice to bondd and is no write here. Writes nothing else.
 */
void values_write_setting(struct pins *pins, const struct option *option, unsigned int slot,
			  const struct option_value *value);

/* Writes an option of OPTION_IN_BOND: bondd's part. */
void values_write_bond(struct xbond_bond *bond, const struct option *option,
		       const struct option_value *value);
/* The same for OPTION_IN_SLAVE. */
void values_write_slave(struct xbond_slave *slave, const struct option *option,
			const struct option_value *value);

#endif
