/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A point in time as people write it. */
#ifndef XBOND_CLI_MONITOR_SINCE_H
#define XBOND_CLI_MONITOR_SINCE_H

#include <stdint.h>

#include "common/err.h"

/*
 * Takes -90s, -10min, -2h, -7d; 15:30 and 15:30:10 (today); today, yesterday, now; 2026-01-31, with
 * a time behind it after a space or a T, and a Z if it is UTC; and @SECONDS since 1970. now_us and
 * *ret_us: microseconds since 1970. Returns 0, or -EINVAL with a line in err.
 */
int since_parse(const char *text, uint64_t now_us, uint64_t *ret_us, struct err *err);

#endif
