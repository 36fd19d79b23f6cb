/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client of bondd's control socket (docs/control.md): one request, one answer.
 * Knows nothing of verbs and prints nothing.
 */
#ifndef XBOND_CLI_CLIENT_H
#define XBOND_CLI_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"

#define CLIENT_WAIT_S 30      /* for a change that bondd makes */
#define CLIENT_WAIT_SHORT_S 2 /* for a word that bondd may as well hear later */

/*
 * Sends request, waits wait_s for the answer. 0: done, *ret_reply is the answer, to be released.
 * With a line in err: -ENOTCONN bondd is not there, -ECONNRESET it was lost before it
 * answered, -EACCES the socket is not for this user, -EREMOTEIO it refused, -EINVAL nothing was
 * sent.
 */
int client_call(const char *run_dir, const json_t *request, int wait_s, json_t **ret_reply,
		struct err *err);

/* Does the socket accept a connection? Does not wait. */
bool client_present(const char *run_dir);

#endif
