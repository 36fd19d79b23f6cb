/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client of bondd's control socket (docs/developers/control.md): one request, one answer. And
 * settings, which are written without bondd. Knows nothing of verbs and prints nothing.
 */
#ifndef XBOND_CLI_BASE_CLIENT_H
#define XBOND_CLI_BASE_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "common/pins.h"
#include "options/option_set.h"

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
/*
 * The names of the slaves of the configuration that bondd is waiting for; a new reference. NULL: it
 * does not answer, or has no such bond.
 */
json_t *client_awaited(const char *run_dir, const char *bond);
/* Connects, and hears nothing in CLIENT_WAIT_SHORT_S. */
bool client_is_silent(const char *run_dir);

/*
 * Writes steering options into a bond's settings map, where they act on the next packet, and tells
 * bondd. Works without bondd. Called by set, set-slave and top.
 */

/*
 * Fails with -EBUSY during a takeover or handback, which would lose what is written. Without bondd
 * none goes on.
 */
int steer_check(const struct pins *pins, const char *bond, struct err *err);
/* Fails with -ENODEV if it is no slave of the bond. */
int steer_check_slave(const struct pins *pins, const char *bond, const char *slave,
		      struct err *err);
/*
 * A descriptor that holds the lock of the bond until it is closed; -errno, with a line in err: as
 * steer_check(), and -ESTALE if others are pinned now than were opened, and what is written would
 * be lost.
 */
int steer_lock(const struct pins *pins, const char *bond, struct err *err);
/*
 * Writes all steering options of the set. slave: NULL for options of the bond. It is looked up
 * under the lock of the bond, because it may have gone since the caller has checked it.
 */
int steer_write(struct pins *pins, const char *bond, const char *slave,
		const struct option_set *set, struct err *err);
/*
 * Tells bondd of what is in the pins already. method: "refresh" for settings, "policy". Returns 0
 * if bondd has acted on it; -ENOTCONN or -ECONNRESET: it is not running, or was lost.
 */
int steer_tell_bondd(const char *run_dir, const struct pins *pins, const char *method,
		     const char *bond, struct err *err);

#endif
