/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines for stderr or systemd's journal, from any thread. */
#ifndef XBOND_DAEMON_BASE_LOG_H
#define XBOND_DAEMON_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <syslog.h>

/*
 * Lines with fields for systemd's journal, by its datagram protocol. Used instead of stderr if that
 * is a stream to the journal. Never waits: what the journal does not take at once is counted and
 * told of later. Any thread may call.
 */

struct journal_field {
	const char *name; /* capital letters, digits and underscores */
	const char *value;
};

/*
 * Returns false if the line belongs on stderr: bondd does not run under the journal, or nobody
 * listens at the journal's socket.
 */
bool journal_send(int priority, const char *text, const struct journal_field *fields, size_t count);

/*
 * Prints lines to stderr; under systemd, with the journal's priority in front. Called by all of
 * bondd, from any thread.
 */

void log_line(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_line(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)

#endif
