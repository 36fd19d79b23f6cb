/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does the steps of a plan, one after another, by the requests that users make. */
#ifndef XBOND_DAEMON_MANAGE_PLAN_RUN_H
#define XBOND_DAEMON_MANAGE_PLAN_RUN_H

#include "daemon/manage/plan.h"

/*
 * Ends at the first step that is refused, with its reason in err, or goes on and returns the first
 * reason. A bondd that dies between two steps leaves a bond that is complete and works; the rest of
 * the way is what a new plan contains. notes: as of request_add_slaves().
 */
int plan_run(struct daemon *daemon, const char *bond, const struct plan *plan, bool goes_on,
	     json_t *notes, struct err *err);

#endif
