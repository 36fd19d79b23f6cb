/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: one JSON object per line as a request, one as an answer
 * (docs/developers/control.md). Checks who asks and that the fields are there; requests.c does the
 * rest.
 */
#ifndef XBOND_DAEMON_CONTROL_CONTROL_H
#define XBOND_DAEMON_CONTROL_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
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

/* control.c has the methods, control_answer.c calls them. For these two: what a request is. */

struct request {
	struct daemon *daemon;
	const struct control_client *client;
	json_t *words;
	uint64_t since; /* for `monitor`: the number of the first event; 0: another method */
	const char *bond;
	json_t *slaves; /* array of names, or NULL */
	json_t *options;
	json_t *notes;
	json_t *result; /* for methods that ask; a new reference */
	bool is_later;	/* the answer comes later */
};

enum method_traits {
	METHOD_FOR_ALL = 1,    /* also for members of the group xbond; it changes nothing */
	METHOD_NAMES_BOND = 2, /* is refused without one */
	METHOD_CHANGES = 4,    /* what a takeover or handback of the bond relies on */
	/* These and the following: fields that it has. */
	METHOD_MAY_NAME_BOND = 8,
	METHOD_SLAVES = 16,
	METHOD_OPTIONS = 32,
	METHOD_APPLY = 64,
	METHOD_MONITOR = 128,
};

struct method {
	const char *name;
	int (*function)(struct request *request, struct err *err);
	unsigned int traits; /* enum method_traits */
};

/* NULL: there is none of that name, which may be NULL. */
const struct method *control_find_method(const char *name);
/* The answer to a request that ended with r. Takes result, which may be NULL. */
json_t *control_words(int r, const struct err *err, json_t *notes, json_t *result);

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
