/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor/event_print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define US_PER_S 1000000

/* For people: ISO 8601 in their time zone. */
static void event_print_time(const json_t *event)
{
	json_int_t us = json_integer_value(json_object_get(event, "time_us"));
	time_t seconds = (time_t)(us / US_PER_S);
	char day[32], zone[16];
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	printf("%s.%06u%s ", day, (unsigned int)(us % US_PER_S), zone);
}

/* Names and words of others may contain what a terminal would obey. */
static void event_print_safe(const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		bool is_c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;

		if (is_c1)
			at++;
		putchar(*at < 0x20 || *at == 0x7f || is_c1 ? '?' : *at);
	}
}

static void event_print_text(const json_t *event)
{
	const char *bond = json_string_value(json_object_get(event, "bond"));
	const char *text = json_string_value(json_object_get(event, "text"));

	event_print_time(event);
	event_print_safe(bond ? bond : "");
	fputs(bond ? ": " : "", stdout);
	event_print_safe(text ? text : "");
}

static bool event_print_is_wanted(const struct event_print *print, const json_t *event)
{
	const char *bond = json_string_value(json_object_get(event, "bond"));

	return !print->bond || !bond || !strcmp(bond, print->bond);
}

/* Each line goes out at once. A reader that has gone is no failure. */
static bool event_print_flush(struct event_print *print)
{
	FILE *null;

	if (!fflush(stdout) && !ferror(stdout))
		return true;
	print->status = CLI_DONE;
	if (errno != EPIPE) {
		cli_say("cannot write to standard output: %m");
		print->status = CLI_REFUSED;
	}
	/* What is left in the buffer is not written again at the end. */
	clearerr(stdout);
	null = fopen("/dev/null", "w");
	if (null)
		stdout = null;
	return false;
}

bool event_print(struct event_print *print, const json_t *event)
{
	if (!event_print_is_wanted(print, event))
		return true;
	if (print->json)
		json_dumpf(event, stdout, JSON_COMPACT);
	else
		event_print_text(event);
	putchar('\n');
	if (!event_print_flush(print))
		return false;
	return !print->limited || --print->left > 0;
}

bool event_print_own(struct event_print *print, const struct event *event, const char *format, ...)
{
	const struct event_stamp stamp = { .time_us = event_now_us() };
	char sentence[512];
	va_list args;
	json_t *json;
	bool goes_on;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	json = view_event(event, &stamp, sentence);
	goes_on = event_print(print, json);
	json_decref(json);
	return goes_on;
}
