/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a slave's receive program stands among the filters and programs of others on its ingress:
 * last of TCX, or the last clsact filter where there are others; before all where
 * XBOND_TROUBLE_ENDING is known of the slave. Looks, and moves without a gap. When to do that, and
 * what it means for others: slave_hooks.h.
 */
#ifndef XBOND_DAEMON_SLAVE_RX_PLACE_H
#define XBOND_DAEMON_SLAVE_RX_PLACE_H

#include "daemon/bond/bond.h"

/* Before the receive program is attached for the first time: where. */
void rx_place_choose(struct bond *bond, unsigned int slot);
/* What others have there, into member.hooks. all: also what the kernel sends messages of. */
void rx_place_look(struct bond *bond, unsigned int slot, bool all);
/* After rx_place_look(): moves to where it must stand. */
int rx_place_follow(struct bond *bond, unsigned int slot, struct err *err);
/* Has anybody else something on the slave's ingress? As last seen. */
bool rx_place_has_others(struct bond *bond, unsigned int slot);
/* rx_backlog off must wait: its action would go past filters. */
bool rx_place_forbids_backlog_skip(struct bond *bond, unsigned int slot);
/* The receive program becomes the last clsact filter, if it is not, before it leaves TCX. */
int rx_place_to_clsact(struct bond *bond, unsigned int slot, struct err *err);
/* As last seen; the filter as it is now. */
bool rx_place_is_attached(struct bond *bond, unsigned int slot);
/*
 * Of a member that is adopted, before anything else: ends what a bondd that died, or an earlier
 * build, has left.
 */
void rx_place_tidy(struct bond *bond, unsigned int slot);
/* What may be left of moves, but for the receive program in its place. */
void rx_place_remove(struct bond *bond, unsigned int slot);

#endif
