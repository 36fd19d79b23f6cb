/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Named steps at which tests let bondd die: XBOND_TEST_DIE_AT=STEP in its environment. */
#ifndef XBOND_DAEMON_BASE_CRASHPOINT_H
#define XBOND_DAEMON_BASE_CRASHPOINT_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void crashpoint(const char *step)
{
	const char *wanted = getenv("XBOND_TEST_DIE_AT");

	if (wanted && !strcmp(wanted, step))
		_exit(99);
}

#endif
