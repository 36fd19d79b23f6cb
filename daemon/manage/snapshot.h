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

/*
 * What bonds were before an `apply` that changes them, to go back to if a step is refused.
 * RUN_DIR/apply.unfinished has it from before the first step until after the last one, of all bonds
 * that are changed together: if bondd dies in their midst, the next one undoes all of them.
 */

/* Of those of these names that are there: what they are, and whether they wait to be confirmed. */
json_t *unfinished_take(struct daemon *daemon, const json_t *names);
/* Of one bond, as unfinished_take() gives it. Steals state. */
json_t *unfinished_record(json_t *state, bool waited);
/* -errno, with a line in err: it cannot be written, so nothing shall be changed. */
int unfinished_begin(struct daemon *daemon, json_t *befores, struct err *err);
void unfinished_end(struct daemon *daemon);
/*
 * A bond becomes what a snapshot says, because a change has failed. waited: an earlier change,
 * which nobody has confirmed yet, goes on waiting.
 */
void unfinished_undo_one(struct daemon *daemon, const char *bond, const json_t *before,
			 bool waited);
void unfinished_undo(struct daemon *daemon, json_t *befores);
/* After rollback_resume(): undoes what an earlier bondd has not finished. */
void unfinished_resume(struct daemon *daemon);

#endif
