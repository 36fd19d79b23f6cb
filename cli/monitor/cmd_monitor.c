/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * monitor: prints events as they happen. They come from bondd; without it, from the pinned
 * maps; and with --since, first from the journal. It goes on when bondd is started again.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/monitor/events_in.h"
#include "common/clock.h"
#include "view/view_bond.h"
#include "view/view_field.h"

/* Times as people write them after --since. */

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

/* The call, and the loop over what brings events. */

#define AWAY_MS 250
#define COUNT_MAX (1ULL << 62)

struct monitor {
	const struct cli *cli;
	struct event_print print;
	struct events_in in;
	struct away *away; /* without bondd */
	uint64_t back_us;  /* when bondd was back, until that is told: before its first event */
	uint64_t since_us;
	bool has_since, follows;
};

static enum cli_exit monitor_print_kinds_json(void)
{
	json_t *kinds = json_array();

	for (int kind = 0; kind < EVENT_KINDS; kind++) {
		const struct event_kind_info *info = event_kind_info((enum event_kind)kind);
		json_t *fields = json_array();

		for (size_t i = 0; i < info->count; i++)
			json_array_append_new(fields, json_string(info->fields[i].name));
		json_array_append_new(kinds, json_pack("{s:s, s:s, s:o}", "kind", info->name,
						       "meaning", info->meaning, "fields", fields));
	}
	return cli_print_json(kinds);
}

static enum cli_exit monitor_print_kinds(const struct cli *cli)
{
	if (cli->json)
		return monitor_print_kinds_json();
	for (int kind = 0; kind < EVENT_KINDS; kind++) {
		const struct event_kind_info *info = event_kind_info((enum event_kind)kind);

		printf("%-9s %s\n", info->name, info->meaning);
	}
	return CLI_DONE;
}

static bool monitor_tell_bondd(struct monitor *monitor, const char *state, const char *sentence,
			       uint64_t time_us)
{
	const struct event event = { .kind = EVENT_BONDD, .field = { event_text("state", state) } };
	const struct event_stamp stamp = { .time_us = time_us };
	json_t *json = view_event(&event, &stamp, sentence);
	bool goes_on = event_print(&monitor->print, json);

	json_decref(json);
	return goes_on;
}

/* first: the event that bondd has told first; NULL: none. */
static bool monitor_tell_back(struct monitor *monitor, const json_t *first)
{
	uint64_t time_us = monitor->back_us;
	json_int_t first_us = json_integer_value(json_object_get(first, "time_us"));

	if (!time_us)
		return true;
	monitor->back_us = 0;
	if (first_us > 0 && (uint64_t)first_us < time_us)
		time_us = (uint64_t)first_us;
	return monitor_tell_bondd(monitor, "back", "bondd is back", time_us);
}

/* Have all events come that had happened when bondd answered? */
static bool monitor_has_past(const struct monitor *monitor)
{
	return monitor->in.next >= monitor->in.head;
}

static bool monitor_fail(struct monitor *monitor, const struct err *err)
{
	monitor->print.status = cli_refuse(err);
	return false;
}

static bool monitor_begin_away(struct monitor *monitor)
{
	monitor->away = away_new(monitor->cli->paths.bpf_dir);
	return monitor->away &&
	       monitor_tell_bondd(monitor, "away",
				  VIEW_BONDD_SILENT "; the bonds continue without it",
				  clock_unix_us());
}

static bool monitor_is_wanted(const struct monitor *monitor, const json_t *event)
{
	json_int_t us = json_integer_value(json_object_get(event, "time_us"));

	return !monitor->has_since || (us >= 0 && (uint64_t)us >= monitor->since_us);
}

static bool monitor_print_read(struct monitor *monitor, int *ret_r)
{
	json_t *event = events_in_take(&monitor->in, ret_r);
	bool goes_on = true;

	while (event && goes_on) {
		goes_on = monitor_tell_back(monitor, event);
		if (goes_on && monitor_is_wanted(monitor, event))
			goes_on = event_print(&monitor->print, event);
		json_decref(event);
		event = goes_on ? events_in_take(&monitor->in, ret_r) : NULL;
	}
	return goes_on;
}

/* Has all been printed that had happened when bondd answered, if nothing else is wanted? */
static bool monitor_is_done(const struct monitor *monitor)
{
	return !monitor->follows && (monitor->away || monitor_has_past(monitor));
}

/* r: how reading went. Events may also have come together with bondd's answer. */
static bool monitor_take_events(struct monitor *monitor, int r)
{
	if (!r && !monitor_print_read(monitor, &r))
		return false;
	if (!r)
		return true;
	events_in_close(&monitor->in);
	return monitor_tell_back(monitor, NULL) && monitor_begin_away(monitor);
}

/* Returns false if it is over. */
static bool monitor_connect(struct monitor *monitor)
{
	uint64_t asked_us = clock_unix_us();
	struct err err;
	int r = events_in_open(&monitor->in, &err);

	if (r && r != -ENOTCONN && r != -ECONNRESET)
		return monitor_fail(monitor, &err);
	if (r)
		return true;
	away_free(monitor->away);
	monitor->away = NULL;
	monitor->back_us = asked_us;
	return monitor_take_events(monitor, 0);
}

/* One turn: bondd, a reader that has gone, or time for a look. False if it is over. */
static bool monitor_turn(struct monitor *monitor)
{
	struct pollfd fds[] = { { .fd = STDOUT_FILENO },
				{ .fd = monitor->in.fd, .events = POLLIN } };

	if (poll(fds, 2, monitor->away || monitor->back_us ? AWAY_MS : -1) < 0 && errno != EINTR)
		return false;
	if (fds[0].revents & (POLLERR | POLLHUP))
		return false;
	if (fds[1].revents)
		return monitor_take_events(monitor, events_in_read(&monitor->in));
	if (!monitor->away)
		return !monitor_has_past(monitor) || monitor_tell_back(monitor, NULL);
	return monitor_connect(monitor) &&
	       (!monitor->away || away_look(monitor->away, &monitor->print));
}

/* Every line has been written out. A reader that stands still does not delay the end. */
static void monitor_on_signal(int number)
{
	_exit(CLI_DONE);
}

static void monitor_catch_signals(void)
{
	signal(SIGINT, monitor_on_signal);
	signal(SIGTERM, monitor_on_signal);
	signal(SIGPIPE, SIG_IGN);
}

static bool monitor_begin(struct monitor *monitor)
{
	struct err err;
	int r = events_in_open(&monitor->in, &err);
	bool goes_on = true;

	if (r && r != -ENOTCONN && r != -ECONNRESET)
		return monitor_fail(monitor, &err);
	if (monitor->has_since)
		goes_on = history_print(&monitor->print, &monitor->in, monitor->since_us);
	if (!goes_on)
		return false;
	return r ? monitor_begin_away(monitor) : monitor_take_events(monitor, 0);
}

static enum cli_exit monitor_run(struct monitor *monitor)
{
	bool goes_on;

	monitor_catch_signals();
	goes_on = monitor_begin(monitor);
	while (goes_on && !monitor_is_done(monitor))
		goes_on = monitor_turn(monitor);
	events_in_close(&monitor->in);
	away_free(monitor->away);
	return monitor->print.status;
}

static enum cli_exit monitor_parse(struct monitor *monitor, const struct verb *verb)
{
	const struct cli *cli = monitor->cli;
	const char *since = cli_flag(cli, verb, "--since");
	struct err err;

	monitor->has_since = since;
	monitor->follows = !cli_flag(cli, verb, "--no-follow");
	if (!monitor->follows && !since)
		return cli_usage(verb, "--no-follow needs --since");
	if (since && since_parse(since, clock_unix_us(), &monitor->since_us, &err))
		return cli_usage(verb, "--since: %s", err.text);
	monitor->print.limited = cli_flag(cli, verb, "--count");
	return cli_number(cli, verb, "--count", COUNT_MAX, &monitor->print.left);
}

enum cli_exit cmd_monitor(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	static struct monitor monitor;
	enum cli_exit status;

	if (cli_flag(cli, verb, "--kinds") && argc)
		return cli_usage(verb, "--kinds is not about one bond: leave '%s' out", argv[0]);
	if (cli_flag(cli, verb, "--kinds"))
		return monitor_print_kinds(cli);
	monitor.cli = cli;
	monitor.print.json = cli->json;
	monitor.print.bond = argc ? argv[0] : NULL;
	status = monitor_parse(&monitor, verb);
	if (status != CLI_DONE)
		return status;
	events_in_init(&monitor.in, cli->paths.run_dir, monitor.has_since);
	return monitor_run(&monitor);
}
