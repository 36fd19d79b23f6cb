/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of the past, from the journal's structured fields. */
#ifndef XBOND_CLI_MONITOR_HISTORY_H
#define XBOND_CLI_MONITOR_HISTORY_H

#include "cli/monitor/event_print.h"
#include "cli/monitor/events_in.h"

/*
 * Prints what bondd of this directory has written since then. If the connection is open, what it
 * brings is left out; otherwise the connection will go on after the last event. Returns false if it
 * is over, as event_print() does. Without a journal it says so and prints nothing.
 */
bool history_print(struct event_print *print, struct events_in *in, uint64_t since_us);

#endif
