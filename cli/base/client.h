/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client of bondd's control socket (docs/developers/control.md): one request, one answer.
 * Knows nothing of verbs and prints nothing.
 */
#ifndef XBOND_CLI_BASE_CLIENT_H
#define XBOND_CLI_BASE_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"

#define CLIENT_WAIT_S 30       /* for a change that bondd makes */
#define CLIENT_WAIT_LONG_S 900 /* for one that waits for links, slave by slave */
#define CLIENT_WAIT_SHORT_S 2  /* for news that bondd may also get later */

/*
 * Sends the request and waits wait_s seconds for the answer. Returns 0 if it was done; the caller
 * releases *ret_reply. On an error there is a line in err: -ENOTCONN: bondd is not there;
 * -ECONNRESET: it was lost before it answered; -EACCES: this user may not use the socket;
 * -EREMOTEIO: bondd refused; -EINVAL: nothing was sent.
 */
int client_call(const char *run_dir, const json_t *request, int wait_s, json_t **ret_reply,
		struct err *err);

/*
 * Sends the request and leaves the answer, and whatever comes after it, to the caller. Returns a
 * descriptor, or what client_call() returns.
 */
int client_open(const char *run_dir, const json_t *request, struct err *err);

/* Does the socket accept a connection? Returns at once. */
bool client_present(const char *run_dir);

#endif
