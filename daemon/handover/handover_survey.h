/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out what is to be handed over, and refuses what cannot be. Changes nothing. */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_SURVEY_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_SURVEY_H

#include "daemon/handover/handover_plan.h"

/* given: options that the user wants otherwise, {NAME: TEXT}; NULL: none. */
int handover_survey(struct handover *plan, const char *name, const json_t *given, struct err *err);

#endif
