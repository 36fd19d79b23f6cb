/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection to bondd that brings events (the method `monitor` of docs/developers/control.md):
 * opened, lost, and opened again where it ended. Prints nothing.
 */
#ifndef XBOND_CLI_MONITOR_EVENTS_IN_H
#define XBOND_CLI_MONITOR_EVENTS_IN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

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
/* Events before number next of that bondd are known; to be called before events_in_open(). */
void events_in_go_on(struct events_in *in, const char *run, uint64_t next);
/* When the descriptor is readable. Returns -ECONNRESET if bondd has gone. */
int events_in_read(struct events_in *in);
/* The next event that has been read (a new reference), or NULL; *ret_r as events_in_read(). */
json_t *events_in_take(struct events_in *in, int *ret_r);

#endif
