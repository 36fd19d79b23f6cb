/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of a packet as people and scripts read it. */
#ifndef XBOND_CLI_BASE_CLOCK_TEXT_H
#define XBOND_CLI_BASE_CLOCK_TEXT_H

#include <time.h>

#define CLOCK_TEXT 32

/* "12:34:56.123456", local time. Returns ret_text. */
const char *clock_text(const struct timespec *time, char ret_text[CLOCK_TEXT]);
/* "1700000000.123456789": seconds of Unix time. Returns ret_text. */
const char *clock_text_unix(const struct timespec *time, char ret_text[CLOCK_TEXT]);

#endif
