/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/clock_text.h"

#include <stdio.h>

const char *clock_text(const struct timespec *time, char ret_text[CLOCK_TEXT])
{
	struct tm broken = { 0 };

	localtime_r(&time->tv_sec, &broken);
	snprintf(ret_text, CLOCK_TEXT, "%02d:%02d:%02d.%06ld", broken.tm_hour % 100,
		 broken.tm_min % 100, broken.tm_sec % 100, time->tv_nsec / 1000);
	return ret_text;
}

const char *clock_text_unix(const struct timespec *time, char ret_text[CLOCK_TEXT])
{
	snprintf(ret_text, CLOCK_TEXT, "%lld.%09ld", (long long)time->tv_sec, time->tv_nsec);
	return ret_text;
}
