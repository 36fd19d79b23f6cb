/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs do by themselves while bondd is away, as the pinned maps tell: it is looked at
 * now and then. Reads only; the rings are left to the next bondd.
 */
#ifndef XBOND_CLI_MONITOR_AWAY_H
#define XBOND_CLI_MONITOR_AWAY_H

#include "cli/monitor/event_print.h"

struct away;

struct away *away_new(const char *bpf_dir);
void away_free(struct away *away);
/* Prints what has changed since the last look. Returns false if it is over: event_print(). */
bool away_look(struct away *away, struct event_print *print);

#endif
