/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: one JSON object per line as a request, one as an answer
 * (docs/developers/control.md). Checks who asks and that the fields are there; requests.c does the
 * rest.
 */
#ifndef XBOND_DAEMON_CONTROL_CONTROL_H
#define XBOND_DAEMON_CONTROL_CONTROL_H

#include <jansson.h>
#include <sys/types.h>

#include "common/err.h"
#include "daemon/bond/daemon.h"

/* Listens on RUN_DIR/bondd.sock. Returns 0, or -errno with a line in err. */
int control_init(struct daemon *daemon, struct err *err);
/*
 * Called from time to time. If somebody has removed RUN_DIR or what bondd has there (the lock, the
 * socket, the loop's figures), it comes back.
 */
void control_keep(struct daemon *daemon);
/* Removes the socket's file. */
void control_done(struct daemon *daemon);

struct client;

/* Who asks. Only uid 0 may change things. */
struct control_client {
	uid_t uid;
	int pid;
	/* Gets the answer that comes later, as a reference. It has no other request until then. */
	void (*answer_later)(struct client *client, json_t *answer);
	struct client *client;
};

/*
 * Turns one request line into its answer (a jansson reference); NULL: it comes later. *ret_since:
 * the client gets events after the answer, beginning with this one; 0: it does not. Also called by
 * the fuzzers.
 */
json_t *control_answer(struct daemon *daemon, const struct control_client *client, const char *line,
		       size_t length, uint64_t *ret_since);

/*
 * Subscribers of events (the method `monitor`): each has a connection that gets a line for each
 * event. They read out of the ring of events at their own pace. Who is too slow misses events and
 * is told how many; nobody can delay the main loop or make bondd grow.
 */

/* Returns -EBUSY, with a line in err, if there are too many. */
int subscriber_check(uid_t uid, struct err *err);
/*
 * The first event that the client gets, whose request this is: the next one, or, if it names one of
 * this bondd, that one or the oldest that is left. What is of another bondd counts as the oldest.
 */
uint64_t subscriber_first_event(const json_t *words);
/* Takes the connection. from: the number of the first event. */
void subscriber_add(struct daemon *daemon, int fd, uid_t uid, uint64_t from);
/* Ends all connections. */
void subscriber_done(void);

#endif
