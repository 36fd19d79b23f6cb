/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a slave's receive program stands among the filters and programs of others on its ingress:
 * after them, for what it takes none after it sees. Last of TCX, or the last clsact filter where
 * there are others; before all where one of them lets frames pass for good (TC_ACT_OK), which the
 * bond would lose. Finds out, moves without a gap, says what is passed by.
 */
#ifndef XBOND_DAEMON_SLAVE_HOOKS_H
#define XBOND_DAEMON_SLAVE_HOOKS_H

#include "daemon/bond.h"

/* Before the receive program is attached for the first time: where. */
void slave_hooks_choose(struct bond *bond, unsigned int slot);
/* Of a member: looks, moves, and goes on watching. all: also what the kernel sends messages of. */
void slave_hooks_follow(struct bond *bond, unsigned int slot, bool all);
/* A message told of filters on the slave; changed: of others'. */
void slave_hooks_note(struct bond *bond, unsigned int slot, bool changed);
/* The same for all slaves that such messages named. */
void slave_hooks_follow_noted(struct daemon *daemon);
/* Has anybody else something on the slave's ingress? As last seen. */
bool slave_hooks_has_others(struct bond *bond, unsigned int slot);
/* rx_backlog off must wait: its action would go past filters. */
bool slave_hooks_forbid_mirred(struct bond *bond, unsigned int slot);
/* The receive program becomes the last clsact filter, if it is not, before it leaves TCX. */
int slave_hooks_to_clsact(struct bond *bond, unsigned int slot, struct err *err);
/*
 * Of a member that is adopted, before anything else: ends what a bondd that died, or an earlier
 * build, has left.
 */
void slave_hooks_tidy(struct bond *bond, unsigned int slot);
/* What may be left of moves, but for the receive program in its place. */
void slave_hooks_remove(struct bond *bond, unsigned int slot);
/* Ends watching. */
void slave_hooks_end(struct bond *bond, unsigned int slot);

#endif
