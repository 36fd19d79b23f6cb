/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Named steps at which tests let bondd die, or stand still until SIGCONT: XBOND_TEST_DIE_AT=STEP or
 * XBOND_TEST_STOP_AT=STEP in its environment.
 */
#ifndef XBOND_DAEMON_BASE_CRASHPOINT_H
#define XBOND_DAEMON_BASE_CRASHPOINT_H

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool crashpoint_is(const char *step, const char *variable)
{
	const char *wanted = getenv(variable);

	return wanted && !strcmp(wanted, step);
}

static inline void crashpoint(const char *step)
{
	if (crashpoint_is(step, "XBOND_TEST_DIE_AT"))
		_exit(99);
	if (crashpoint_is(step, "XBOND_TEST_STOP_AT"))
		raise(SIGSTOP);
}

#endif
