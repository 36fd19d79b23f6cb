/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes steering options into a bond's settings map, where they act on the next packet, and tells
 * bondd. Works without bondd. Called by set, set-slave and top. Prints nothing.
 */
#ifndef XBOND_CLI_BASE_STEER_H
#define XBOND_CLI_BASE_STEER_H

#include "common/err.h"
#include "common/pins.h"
#include "options/option_set.h"

/*
 * Fails with -EPERM if this user may only read the bond's settings, and with -EBUSY during a
 * takeover or handback, which would lose them. Without bondd none goes on.
 */
int steer_check(const struct pins *pins, const char *bond, struct err *err);
/* Fails with -ENODEV if it is no slave of the bond. */
int steer_check_slave(const struct pins *pins, const char *bond, const char *slave,
		      struct err *err);
/* A descriptor that holds the lock of the bond until it is closed; -errno, with a line in err. */
int steer_lock(const struct pins *pins, struct err *err);
/*
 * Writes all steering options of the set. slave: NULL for options of the bond. It is looked up
 * under the lock of the bond, because it may have gone since the caller has checked it.
 */
int steer_write(struct pins *pins, const char *bond, const char *slave,
		const struct option_set *set, struct err *err);
/*
 * Tells bondd of what is in the pins already. method: "refresh" for settings, "policy". Returns 0
 * if bondd has acted on it; -ENOTCONN or -ECONNRESET: it is away.
 */
int steer_tell_bondd(const char *run_dir, const struct pins *pins, const char *method,
		     const char *bond, struct err *err);

#endif
