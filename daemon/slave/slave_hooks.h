/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slave's receive program among the filters and programs of others at its ingress. It comes after
 * them, because nothing behind it sees what it takes. But it comes before all of them if one of
 * them lets frames pass for good (TC_ACT_OK), because the bond would lose these. Watches them, lets
 * rx_place.c move the program, and reports what is passed by.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_HOOKS_H
#define XBOND_DAEMON_SLAVE_SLAVE_HOOKS_H

#include "daemon/bond/bond.h"

/*
 * For a member: looks, moves, and goes on watching. all: also things that the kernel reports by
 * messages.
 */
void slave_hooks_follow(struct bond *bond, unsigned int slot, bool all);
/* A message reported filters of others on the slave; they are looked at when parts settle. */
void slave_hooks_note(struct bond *bond, unsigned int slot);

#endif
