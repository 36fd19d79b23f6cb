/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What bonds were before an `apply` that changes them, to go back to if a step is refused.
 * RUN_DIR/apply.unfinished has it from before the first step until after the last one, of all bonds
 * that are changed together: if bondd dies in their midst, the next one undoes all of them.
 */
#ifndef XBOND_DAEMON_MANAGE_UNFINISHED_H
#define XBOND_DAEMON_MANAGE_UNFINISHED_H

#include <jansson.h>

#include "daemon/bond/daemon.h"

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
