/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor/history.h"

#include <stdio.h>
#include <string.h>
#include <systemd/sd-journal.h>

#include "common/paths.h"

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
