/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the events of monitor come from, and how they are printed. */
#ifndef XBOND_CLI_MONITOR_EVENTS_IN_H
#define XBOND_CLI_MONITOR_EVENTS_IN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/base/cli.h"
#include "common/err.h"
#include "view/view_json.h"

/* Prints events that are JSON already, one a line, and says when it is time to end. */

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

/*
 * The connection to bondd that brings events (the method `monitor` of docs/developers/control.md):
 * opened, lost, and opened again where it ended. Prints nothing.
 */

#define EVENTS_IN_LINE_MAX (64 * 1024)

struct events_in {
	const char *run_dir;
	int fd;		  /* -1: none */
	bool from_oldest; /* the first request asks for all events that bondd still has */
	char run[32];	  /* of bondd, as its events name it; "": not known yet */
	uint64_t next;	  /* the number of the next event */
	uint64_t head;	  /* the same for what had not happened yet when bondd answered */
	size_t used;
	char buffer[EVENTS_IN_LINE_MAX];
};

void events_in_init(struct events_in *in, const char *run_dir, bool from_oldest);
void events_in_close(struct events_in *in);
/*
 * Asks bondd, and waits some seconds for its answer. Returns 0, or with a line in err: what
 * client_open() returns; -ECONNRESET: bondd does not answer; -EREMOTEIO: it has refused.
 */
int events_in_open(struct events_in *in, struct err *err);
/* When the descriptor is readable. Returns -ECONNRESET if bondd has gone. */
int events_in_read(struct events_in *in);
/* The next event that has been read (a new reference), or NULL; *ret_r as events_in_read(). */
json_t *events_in_take(struct events_in *in, int *ret_r);

/* Events of the past, from the journal's structured fields. */

/*
 * Prints what bondd of this directory has written since then. If the connection is open, what it
 * brings is left out; otherwise the connection will go on after the last event. Returns false if it
 * is over, as event_print() does. Without a journal it says so and prints nothing.
 */
bool history_print(struct event_print *print, struct events_in *in, uint64_t since_us);

/* A point in time as people write it. */

/*
 * Takes -90s, -10min, -2h, -7d; 15:30 and 15:30:10 (today); today, yesterday, now; 2026-01-31, with
 * a time behind it after a space or a T, and a Z if it is UTC; and @SECONDS since 1970. now_us and
 * *ret_us: microseconds since 1970. Returns 0, or -EINVAL with a line in err.
 */
int since_parse(const char *text, uint64_t now_us, uint64_t *ret_us, struct err *err);

/*
 * What the programs do by themselves without bondd, as the pinned maps tell: it is looked at
 * now and then. Reads only; the rings are left to the next bondd.
 */

struct away;

struct away *away_new(const char *bpf_dir);
void away_free(struct away *away);
/* Prints what has changed since the last look. Returns false if it is over: event_print(). */
bool away_look(struct away *away, struct event_print *print);

#endif
