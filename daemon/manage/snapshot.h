/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond as it is, to go back to: every option, every slave, and the slaves that are awaited. As
 * JSON it outlives bondd (rollback.h). Traffic and state, such as the active slave, are no part of
 * it.
 */
#ifndef XBOND_DAEMON_MANAGE_SNAPSHOT_H
#define XBOND_DAEMON_MANAGE_SNAPSHOT_H

#include <jansson.h>

#include "daemon/bond/daemon.h"

/* Both return a new reference; the latter is for a bond that is not there. */
json_t *snapshot_take(struct bond *bond);
json_t *snapshot_of_nothing(void);
/* Returns 0, or -EINVAL with a line in err: it is not one. */
int snapshot_check(const json_t *snapshot, struct err *err);
/*
 * Makes the bond of this name what it was. Does as much as it can; returns the first failure. What
 * it has done is told as events.
 */
int snapshot_restore(struct daemon *daemon, const char *bond, const json_t *snapshot,
		     struct err *err);

/* The names of the bond's slaves, none if there is no such bond. Returns a new reference. */
json_t *snapshot_members(struct daemon *daemon, const char *bond);
/*
 * For a bond that was left without a slave, because it could not have back what it had: adds these
 * again, so that it carries traffic. Returns false if there was no need, or nothing to add.
 */
bool snapshot_keep_members(struct daemon *daemon, const char *bond, const json_t *members);

#endif
