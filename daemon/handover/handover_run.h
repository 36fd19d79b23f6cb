/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One handover from its first step to its end, in turns between which bondd does other work. */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_RUN_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_RUN_H

#include "daemon/handover/handover_plan.h"

/*
 * Does what can be done now. 1: it waits for a slave to carry traffic; call it again soon. 0: it is
 * done. -errno, with a line in err: it has failed, and what was done is undone.
 */
int handover_run(struct handover *plan, struct err *err);
/*
 * The same without another turn: what has changed over goes on without waiting for slaves, and
 * anything else is undone.
 */
int handover_hurry(struct handover *plan, struct err *err);
/* What an earlier bondd began is finished or undone, as the journal says. */
int handover_settle(struct daemon *daemon, const char *name, struct err *err);

#endif
