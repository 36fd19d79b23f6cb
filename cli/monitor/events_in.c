/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events from bondd and from the journal, and how they are printed. */
#include "cli/monitor/events_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "common/clock.h"
#include "common/paths.h"

/* How events are printed. */

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
	int null;

	if (!fflush(stdout) && !ferror(stdout))
		return true;
	print->status = CLI_DONE;
	if (errno != EPIPE) {
		cli_say("cannot write to standard output: %m");
		print->status = CLI_REFUSED;
	}
	/* What is left in the buffer is not written again at the end. */
	clearerr(stdout);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDOUT_FILENO);
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
	const struct event_stamp stamp = { .time_us = clock_unix_us() };
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

/* Events from bondd. */

void events_in_init(struct events_in *in, const char *run_dir, bool from_oldest)
{
	in->run_dir = run_dir;
	in->fd = -1;
	in->from_oldest = from_oldest;
	in->run[0] = '\0';
	in->next = 0;
	in->used = 0;
}

void events_in_close(struct events_in *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	in->used = 0;
}

/* After the first time it goes on where it was, or with all that a new bondd has. */
static json_t *events_in_request(const struct events_in *in)
{
	if (in->run[0])
		return json_pack("{s:s, s:s, s:I}", "method", "monitor", "bondd", in->run, "from",
				 (json_int_t)in->next);
	if (in->from_oldest)
		return json_pack("{s:s, s:i}", "method", "monitor", "from", 0);
	return json_pack("{s:s}", "method", "monitor");
}

int events_in_read(struct events_in *in)
{
	ssize_t got =
		recv(in->fd, in->buffer + in->used, sizeof(in->buffer) - in->used, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return -ECONNRESET;
	in->used += (size_t)got;
	return 0;
}

/* NULL if there is no whole line. A line that is not JSON, or too long, ends the connection. */
static json_t *events_in_take_line(struct events_in *in, int *ret_r)
{
	char *end = memchr(in->buffer, '\n', in->used);
	json_t *json;

	*ret_r = !end && in->used == sizeof(in->buffer) ? -ECONNRESET : 0;
	if (!end)
		return NULL;
	json = json_loadb(in->buffer, (size_t)(end - in->buffer), 0, NULL);
	in->used -= (size_t)(end + 1 - in->buffer);
	memmove(in->buffer, end + 1, in->used);
	if (json_is_object(json))
		return json;
	json_decref(json);
	*ret_r = -ECONNRESET;
	return NULL;
}

static int events_in_take_answer(struct events_in *in, const json_t *answer, struct err *err)
{
	const json_t *result = json_object_get(answer, "result");
	const char *error = json_string_value(json_object_get(answer, "error"));
	const char *run = json_string_value(json_object_get(result, "bondd"));

	if (!json_is_true(json_object_get(answer, "ok")))
		return err_set(err, EREMOTEIO, "%s", error ? error : "bondd refused");
	if (!run)
		return err_set(err, EREMOTEIO, "bondd's answer is malformed");
	snprintf(in->run, sizeof(in->run), "%s", run);
	in->next = (uint64_t)json_integer_value(json_object_get(result, "from"));
	in->head = (uint64_t)json_integer_value(json_object_get(result, "next"));
	return 0;
}

static int events_in_await_answer(struct events_in *in, struct err *err)
{
	json_t *answer = NULL;
	int r = 0;

	while (!r && !answer) {
		struct pollfd wait = { .fd = in->fd, .events = POLLIN };

		if (poll(&wait, 1, CLIENT_WAIT_SHORT_S * 1000) <= 0)
			return err_set(err, ECONNRESET, "bondd does not answer");
		r = events_in_read(in);
		if (!r)
			answer = events_in_take_line(in, &r);
	}
	if (r)
		err_set(err, -r, "bondd was lost before it answered");
	else
		r = events_in_take_answer(in, answer, err);
	json_decref(answer);
	return r;
}

int events_in_open(struct events_in *in, struct err *err)
{
	json_t *request = events_in_request(in);
	int r = client_open(in->run_dir, request, err);

	json_decref(request);
	if (r < 0)
		return r;
	in->fd = r;
	r = events_in_await_answer(in, err);
	if (r)
		events_in_close(in);
	return r;
}

/* Events before number next of that bondd are known; to be called before events_in_open(). */
static void events_in_go_on(struct events_in *in, const char *run, uint64_t next)
{
	snprintf(in->run, sizeof(in->run), "%s", run);
	in->next = next;
}

json_t *events_in_take(struct events_in *in, int *ret_r)
{
	json_t *json = events_in_take_line(in, ret_r);
	const json_t *seq = json_object_get(json, "seq");

	if (json_is_integer(seq))
		in->next = (uint64_t)json_integer_value(seq) + 1;
	return json;
}

/* Events from the journal. */

#define FIELD "XBOND_EVENT"

/* Fields whose names begin with _ come from the journal itself: only root's lines count. */
static int history_open(sd_journal **ret_journal, const char *run_dir, uint64_t since_us)
{
	char match[PATH_MAX + 32];
	int r = sd_journal_open(ret_journal, SD_JOURNAL_LOCAL_ONLY);

	if (r < 0)
		return r;
	snprintf(match, sizeof(match), "XBOND_RUN_DIR=%.*s", paths_length(run_dir), run_dir);
	r = sd_journal_set_data_threshold(*ret_journal, 0);
	if (r >= 0)
		r = sd_journal_add_match(*ret_journal, "_UID=0", 0);
	if (r >= 0)
		r = sd_journal_add_match(*ret_journal, match, 0);
	if (r >= 0)
		r = sd_journal_seek_realtime_usec(*ret_journal, since_us);
	if (r < 0)
		sd_journal_close(*ret_journal);
	return r;
}

/* A new reference, or NULL if the line is no event. */
static json_t *history_event(sd_journal *journal)
{
	const size_t skip = strlen(FIELD "=");
	const void *data;
	size_t length;
	json_t *json;

	if (sd_journal_get_data(journal, FIELD, &data, &length) < 0 || length < skip)
		return NULL;
	json = json_loadb((const char *)data + skip, length - skip, 0, NULL);
	if (json_is_object(json) && json_is_integer(json_object_get(json, "time_us")))
		return json;
	json_decref(json);
	return NULL;
}

struct history_place {
	char run[32];
	uint64_t seq;
};

static void history_place_of(const json_t *event, struct history_place *ret_place)
{
	const char *run = json_string_value(json_object_get(event, "bondd"));

	snprintf(ret_place->run, sizeof(ret_place->run), "%s", run ? run : "");
	ret_place->seq = (uint64_t)json_integer_value(json_object_get(event, "seq"));
}

static bool history_print_all(struct event_print *print, sd_journal *journal,
			      const struct events_in *in, struct history_place *ret_last)
{
	bool goes_on = true;

	while (goes_on && sd_journal_next(journal) > 0) {
		json_t *event = history_event(journal);

		if (!event)
			continue;
		history_place_of(event, ret_last);
		if (in->fd < 0 || strcmp(ret_last->run, in->run) || ret_last->seq < in->next)
			goes_on = event_print(print, event);
		json_decref(event);
	}
	return goes_on;
}

bool history_print(struct event_print *print, struct events_in *in, uint64_t since_us)
{
	struct history_place last = { .run = "" };
	sd_journal *journal;
	bool goes_on;
	int r = history_open(&journal, in->run_dir, since_us);

	if (r < 0) {
		cli_say("cannot read the journal: %s; only what bondd itself remembers follows",
			strerror(-r));
		return true;
	}
	goes_on = history_print_all(print, journal, in, &last);
	if (in->fd < 0 && last.run[0])
		events_in_go_on(in, last.run, last.seq + 1);
	sd_journal_close(journal);
	return goes_on;
}
