/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/journal.h"

void log_line(int priority, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (journal_send(priority, line, NULL, 0))
		return;
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>%s\n", priority, line);
	else
		fprintf(stderr, "bondd: %s\n", line);
}
