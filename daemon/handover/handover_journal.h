/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal of a handover: the plan as a file. It is replaced as a whole, by a rename. */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_JOURNAL_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_JOURNAL_H

#include "daemon/handover/handover_plan.h"

#define HANDOVER_DIRECTORY "handover"
#define HANDOVER_SUFFIX ".json"

int handover_journal_write(const struct handover *plan, struct err *err);
void handover_journal_remove(const struct handover *plan);
/* name: of the bond. -ENOENT: there is none; -EPROTO: it cannot be read, and err says why. */
int handover_journal_read(struct daemon *daemon, const char *name, struct handover **ret_plan,
			  struct err *err);

#endif
