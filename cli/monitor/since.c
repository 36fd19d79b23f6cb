/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor/since.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define US_PER_S 1000000u
#define DAY_S 86400

static bool since_number(const char **at, unsigned long long limit, unsigned long long *ret_number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(*at, &end, 10);
	*at = end;
	return !errno && *ret_number <= limit;
}

static unsigned int since_unit_s(const char *unit)
{
	static const struct {
		const char *name;
		unsigned int seconds;
	} units[] = {
		{ "s", 1 },	  { "sec", 1 },	     { "m", 60 },
		{ "min", 60 },	  { "h", 3600 },     { "d", DAY_S },
		{ "day", DAY_S }, { "days", DAY_S }, { "w", 7 * DAY_S },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].seconds;
	return 0;
}

static bool since_ago(const char *text, uint64_t now_us, uint64_t *ret_us)
{
	unsigned long long count;
	unsigned int unit_s;

	if (*text++ != '-' || !since_number(&text, 1000000000, &count))
		return false;
	unit_s = since_unit_s(text);
	if (!unit_s)
		return false;
	*ret_us = count > now_us / US_PER_S / unit_s ? 0 : now_us - count * unit_s * US_PER_S;
	return true;
}

static bool since_epoch(const char *text, uint64_t *ret_us)
{
	unsigned long long seconds;

	if (*text++ != '@' || !since_number(&text, 1ull << 40, &seconds) || *text)
		return false;
	*ret_us = seconds * US_PER_S;
	return true;
}

static void since_midnight(uint64_t now_us, int days_before, struct tm *ret_tm)
{
	time_t now = (time_t)(now_us / US_PER_S);

	if (!localtime_r(&now, ret_tm))
		memset(ret_tm, 0, sizeof(*ret_tm));
	ret_tm->tm_hour = ret_tm->tm_min = ret_tm->tm_sec = 0;
	ret_tm->tm_mday -= days_before;
	ret_tm->tm_isdst = -1;
}

static bool since_word(const char *text, uint64_t now_us, struct tm *ret_tm)
{
	if (strcmp(text, "today") && strcmp(text, "yesterday"))
		return false;
	since_midnight(now_us, *text == 'y', ret_tm);
	return true;
}

static bool since_is_in_order(const struct tm *tm)
{
	return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 61;
}

/* strptime() takes what is there of the format, and says where it ended. */
static bool since_calendar(const char *text, uint64_t now_us, struct tm *ret_tm, bool *ret_utc)
{
	static const char *const formats[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
		"%Y-%m-%d",	     "%H:%M:%S",	  "%H:%M"
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const char *end;

		since_midnight(now_us, 0, ret_tm);
		end = strptime(text, formats[i], ret_tm);
		if (!end || (*end && strcmp(end, "Z")))
			continue;
		*ret_utc = *end == 'Z';
		return since_is_in_order(ret_tm);
	}
	return false;
}

int since_parse(const char *text, uint64_t now_us, uint64_t *ret_us, struct err *err)
{
	bool is_utc = false;
	time_t seconds;
	struct tm tm;

	if (!strcmp(text, "now")) {
		*ret_us = now_us;
		return 0;
	}
	if (since_ago(text, now_us, ret_us) || since_epoch(text, ret_us))
		return 0;
	if (!since_word(text, now_us, &tm) && !since_calendar(text, now_us, &tm, &is_utc))
		return err_set(
			err, EINVAL,
			"not a time: %s; write -1h, 15:30, yesterday, 2026-01-31, '2026-01-31 "
			"15:30' or @SECONDS",
			text);
	seconds = is_utc ? timegm(&tm) : mktime(&tm);
	*ret_us = seconds < 0 ? 0 : (uint64_t)seconds * US_PER_S;
	return 0;
}
