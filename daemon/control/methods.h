/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the methods of the control socket are, and what of a request they are told. */
#ifndef XBOND_DAEMON_CONTROL_METHODS_H
#define XBOND_DAEMON_CONTROL_METHODS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/control/control.h"

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

#endif
