/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices that somebody has put into bond0, a team, and that did not become slaves. A manager may
 * put one in again and again, and that is logged once.
 */
#ifndef XBOND_DAEMON_MANAGE_TEAM_REFUSAL_H
#define XBOND_DAEMON_MANAGE_TEAM_REFUSAL_H

#include <stdbool.h>

#include "daemon/bond/part.h"

extern struct part team_refusal_part;

/* Returns whether it is for another reason than last time. */
bool team_refusal_note(struct bond *bond, int ifindex, const char *why);
/* It is a slave, or it has gone: another one may get its number. */
void team_refusal_forget(struct bond *bond, int ifindex);
void team_refusal_free_all(struct bond *bond);

#endif
