/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place of a slave's receive program among the filters and programs of others at its ingress:
 * the last of TCX, or the last clsact filter if there are others; before all others if
 * XBOND_TROUBLE_ENDING is set for the slave. Looks, and moves the program without a gap.
 * slave_hooks.h decides when, and what it means for others.
 */
#ifndef XBOND_DAEMON_SLAVE_RX_PLACE_H
#define XBOND_DAEMON_SLAVE_RX_PLACE_H

#include "daemon/bond/bond.h"

/* Chooses the place before the receive program is attached for the first time. */
void rx_place_choose(struct bond *bond, unsigned int slot);
/* Removes it from everywhere where it may be. Returns 0 or -errno. */
int rx_place_remove(struct bond *bond, unsigned int slot);
/*
 * Reads what others have there into member.hooks. all: also things that the kernel reports by
 * messages.
 */
void rx_place_look(struct bond *bond, unsigned int slot, bool all);
/* Call it after rx_place_look(): moves the program to its right place. */
int rx_place_follow(struct bond *bond, unsigned int slot, struct err *err);
/* Did others have anything at the slave's ingress when last seen? */
bool rx_place_has_others(struct bond *bond, unsigned int slot);
/* Must rx_backlog off wait because its action would go past filters? */
bool rx_place_forbids_backlog_skip(struct bond *bond, unsigned int slot);
/* Makes the receive program the last clsact filter, if it is not, before it leaves TCX. */
int rx_place_to_clsact(struct bond *bond, unsigned int slot, struct err *err);
/* By what was last seen; the filter as it is now. */
bool rx_place_is_attached(struct bond *bond, unsigned int slot);
/*
 * For a member that is adopted, before anything else: cleans up after a bondd that died or an
 * earlier build.
 */
void rx_place_tidy(struct bond *bond, unsigned int slot);

#endif
