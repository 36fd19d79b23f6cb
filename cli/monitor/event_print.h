/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints events that are JSON already, one a line, and says when it is time to end. */
#ifndef XBOND_CLI_MONITOR_EVENT_PRINT_H
#define XBOND_CLI_MONITOR_EVENT_PRINT_H

#include <stdbool.h>

#include "cli/base/cli.h"
#include "view/view_event.h"

struct event_print {
	bool json;
	const char *bond; /* NULL: all */
	bool limited;
	unsigned long long left; /* events, if limited */
	enum cli_exit status;	 /* once it is over */
};

/* Returns false if it is over: that was the last one, or nobody reads. */
bool event_print(struct event_print *print, const json_t *event);
/* The same for an event of bondctl's own. */
bool event_print_own(struct event_print *print, const struct event *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
