/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines with fields for systemd's journal, by its datagram protocol. Used instead of stderr if that
 * is a stream to the journal. Never waits: what the journal does not take at once is counted and
 * told of later. Any thread may call.
 */
#ifndef XBOND_DAEMON_BASE_JOURNAL_H
#define XBOND_DAEMON_BASE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

struct journal_field {
	const char *name; /* capital letters, digits and underscores */
	const char *value;
};

/*
 * Returns false if the line belongs on stderr: bondd does not run under the journal, or nobody
 * listens at the journal's socket.
 */
bool journal_send(int priority, const char *text, const struct journal_field *fields, size_t count);

#endif
