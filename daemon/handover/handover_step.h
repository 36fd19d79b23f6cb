/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of a handover. Each says in err what it could not do. */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_STEP_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_STEP_H

#include "daemon/handover/handover_plan.h"

/* The new bond and what is on it, asleep, under their meanwhile names. */
int handover_prepare(struct handover *plan, struct err *err);
/* Names, masters, addresses, routes: from the old devices to the new ones. */
int handover_switch(struct handover *plan, struct err *err);
/* Moves a slave from the old bond to the new one. */
int handover_move(struct handover *plan, const struct handover_slave *slave, struct err *err);
/* Does the new bond use the slave, if that has a link? */
bool handover_is_used(struct handover *plan, const struct handover_slave *slave);
/* Removes the old bond, which has nothing any more. */
int handover_end(struct handover *plan, struct err *err);
/*
 * Everything is with the old bond again, whatever was done. Goes on after what it cannot do.
 * -ESTALE: another attempt cannot do more.
 */
int handover_undo(struct handover *plan, struct err *err);

/* Tests let a step fail here (XBOND_TEST_FAIL_AT=STEP), or let bondd die. */
int handover_passed(const char *step, struct err *err);

#endif
