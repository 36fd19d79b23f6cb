/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that happens to a bond is told here, and the last of it is kept. */
#ifndef XBOND_DAEMON_BASE_EVENT_H
#define XBOND_DAEMON_BASE_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <syslog.h>

#include "view/view_json.h"

/*
 * The last events as lines of text, in a fixed amount of memory. The oldest give way to new ones,
 * so nobody who reads slowly can make it grow. Lines are numbered from 1. Knows no readers.
 */

struct event_ring_line;

struct event_ring {
	char *bytes;
	size_t size;
	struct event_ring_line *lines;
	unsigned int room;    /* lines */
	uint64_t first, next; /* the numbers of the oldest line and of the one to come */
};

void event_ring_init(struct event_ring *ring, size_t size, unsigned int lines);
void event_ring_done(struct event_ring *ring);
/* A line that is longer than the ring is only counted. */
void event_ring_add(struct event_ring *ring, const char *line, size_t length);
/*
 * Copies whole lines, beginning with number *at, as many as there are and fit. Returns their
 * bytes; *at is then the number after the last. Lines that are gone are left out: the caller
 * compares *at with ring->first before.
 */
size_t event_ring_copy(const struct event_ring *ring, uint64_t *at, char *buffer, size_t room);

/*
 * The door through which everything that happens to a bond is told: to the log, with fields if that
 * is the journal, and to subscribers (daemon/control/subscriber.c). Called by all of bondd's
 * main loop, after what is told has been put in force. Never waits. Knows bonds and slaves by name
 * only.
 */

/* Before the first event. run_dir tells several bondd of one machine apart in the journal. */
void event_init(const char *run_dir);
void event_done(void);

/* The sentence is about the bond, and does not begin with its name; the log's line does. */
void event_tell(const struct event *event, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* With no fields but those of its kind. bond and slave: names; slave may be NULL. */
#define event_line(kind_, priority_, bond_, slave_, ...)           \
	event_tell(&(const struct event){ .kind = (kind_),         \
					  .priority = (priority_), \
					  .bond = (bond_),         \
					  .slave = (slave_) },     \
		   __VA_ARGS__)
#define event_attached(...) event_line(EVENT_ATTACHED, LOG_WARNING, __VA_ARGS__)
#define event_config(action_, bond_, slave_, ...)                                       \
	event_tell(&(const struct event){ .kind = EVENT_CONFIG,                         \
					  .priority = LOG_NOTICE,                       \
					  .bond = (bond_),                              \
					  .slave = (slave_),                            \
					  .field = { event_text("action", action_) } }, \
		   __VA_ARGS__)
#define event_error(...) event_line(EVENT_PROBLEM, LOG_ERR, __VA_ARGS__)
#define event_warning(...) event_line(EVENT_PROBLEM, LOG_WARNING, __VA_ARGS__)
#define event_notice(...) event_line(EVENT_NOTE, LOG_NOTICE, __VA_ARGS__)
#define event_info(...) event_line(EVENT_NOTE, LOG_INFO, __VA_ARGS__)

/*
 * Who has asked for what follows: the fields pid, program and login_uid of the events of kind
 * config. pid 0: nobody; bondd does it by itself. Returns who it was until now.
 */
int event_set_author(int pid);

#define EVENT_LINE_MAX (16 * 1024)

/* For subscribers. The ring's lines are JSON objects, and end in a line feed. */
const struct event_ring *event_ring(void);
/* Which run of bondd this is. */
const char *event_run(void);
/* Is called after each event; it may not tell events itself. NULL: nobody. */
void event_listen(void (*listener)(void));
/* The line for a reader who has missed so many. Returns its length. */
size_t event_lost_line(uint64_t count, char *line, size_t size);

/* Lines for stderr or systemd's journal, from any thread. */

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
 * Prints lines to stderr; under systemd, with the journal's priority in front. Called by all of
 * bondd, from any thread.
 */

void log_line(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_line(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)

#endif
