/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slave's receive program among the filters and programs of others on its ingress: it stands
 * after them, for what it takes none after it sees, but before all where one of them lets frames
 * pass for good (TC_ACT_OK), which the bond would lose. Watches them, has rx_place.c move the
 * program, and says what is passed by.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_HOOKS_H
#define XBOND_DAEMON_SLAVE_SLAVE_HOOKS_H

#include "daemon/bond/bond.h"

/* Of a member: looks, moves, and goes on watching. all: also what the kernel sends messages of. */
void slave_hooks_follow(struct bond *bond, unsigned int slot, bool all);
/* A message told of filters on the slave; changed: of others'. */
void slave_hooks_note(struct bond *bond, unsigned int slot, bool changed);
/* The same for all slaves that such messages named. */
void slave_hooks_follow_noted(struct daemon *daemon);
/* Ends watching. */
void slave_hooks_end(struct bond *bond, unsigned int slot);

#endif
