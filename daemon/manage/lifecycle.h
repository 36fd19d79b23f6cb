/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a bond begins and ends: it is made, adopted from an earlier bondd, deleted, or found gone. */
#ifndef XBOND_DAEMON_MANAGE_LIFECYCLE_H
#define XBOND_DAEMON_MANAGE_LIFECYCLE_H

#include "daemon/bond/daemon.h"

/* options and settings: what the user asked for; the function fills in the rest of bond. */
int lifecycle_create(struct daemon *daemon, const struct xbond_bond *options,
		     const struct xbond_settings *settings, struct err *err);
/*
 * Releases every slave and removes the device and the pins. Frees bond. -EAGAIN: the bond has gone,
 * but not all of its slaves are as before; bondd tries again (lifecycle_tick()).
 */
int lifecycle_delete(struct bond *bond, struct err *err);
/* The same for a bond that ended so: tries at once. -ENOENT: there is none. */
int lifecycle_delete_again(struct daemon *daemon, const char *name, struct err *err);
struct bond *lifecycle_ending(struct daemon *daemon, const char *name);
/* Refuses the name of such a bond. */
int lifecycle_check_ending(struct daemon *daemon, const char *name, struct err *err);
/* At each tick: goes on with such bonds. */
void lifecycle_tick(struct daemon *daemon);
/* bond0 is gone already (ip link del, or its namespace died): releases the slaves. Frees bond. */
void lifecycle_gone(struct bond *bond);
/*
 * Takes over every bond below bpf_dir as it runs; finishes or undoes what was left unfinished. An
 * error: nobody knows which there are.
 */
int lifecycle_adopt_all(struct daemon *daemon, struct err *err);
/* Leaves everything running and frees the memory. */
void lifecycle_let_go(struct daemon *daemon);

#endif
