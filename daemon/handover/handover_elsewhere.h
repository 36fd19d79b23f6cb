/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks for devices in other namespaces that are on those of the plan: they would be lost. */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_ELSEWHERE_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_ELSEWHERE_H

#include "daemon/handover/handover_plan.h"

/* -EOPNOTSUPP: there is one; err names it. */
int handover_elsewhere_check(const struct handover *plan, struct err *err);

#endif
