/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option values of a live bond: reads any option out of its pinned maps, and writes it there;
 * bondctl may write the steering ones (OPTION_IN_SETTINGS), each by one aligned store.
 */
#ifndef XBOND_OPTIONS_VALUES_H
#define XBOND_OPTIONS_VALUES_H

#include "common/pins.h"
#include "options/option_set.h"

/* slot matters only for options of a slave. */
void values_read(const struct pins *pins, const struct option_spec *option, unsigned int slot,
		 struct option_value *ret_value);

/*
 * Active-backup: the slot in use, even if a request for another has not reached bondd yet.
 * XBOND_NO_SLOT if there is none, and in the other modes.
 */
unsigned int values_active_slot(const struct pins *pins);

/* Those of these slots that are not drained now, or all of them if all are drained. */
uint64_t values_undrained(const struct pins *pins, uint64_t may);
/* The slots in use for transmission now. A drained slot counts only if all are drained. */
uint64_t values_tx_slots(const struct pins *pins);

/*
 * Writes an option and nothing else. For active_slave among the steering ones the caller has
 * checked that the name is a member; "" leaves the choice to bondd and writes nothing.
 */
void values_write(struct pins *pins, const struct option_spec *option, unsigned int slot,
		  const struct option_value *value);
/* Those that are given and have this home. */
void values_write_given(struct pins *pins, enum option_home home, unsigned int slot,
			const struct option_set *options);

/* What a new bond with these options has; the others have their defaults. */
void values_fill(struct xbond_bond *bond, struct xbond_settings *settings,
		 const struct option_set *options);

#endif
