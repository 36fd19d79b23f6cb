/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/handover/handover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/base/latency.h"
#include "daemon/handover/handover_journal.h"
#include "daemon/handover/handover_run.h"
#include "daemon/handover/handover_survey.h"
#include "options/names.h"

#define LOOK_US 5000
#define ACCURACY_US 1

struct handover_waiting {
	struct handover_waiting *next;
	struct daemon *daemon;
	char bond[XBOND_NAME_SIZE];
	struct handover_order order;
	json_t *notes;
	struct handover *plan; /* NULL: it has not begun */
	sd_event_source *timer;
};

static struct handover_waiting *handover_first; /* it has its turns; those after it wait */

static void handover_free_waiting(struct handover_waiting *waiting)
{
	sd_event_source_disable_unref(waiting->timer);
	if (waiting->plan)
		handover_free(waiting->plan);
	json_decref(waiting->order.options);
	json_decref(waiting->notes);
	free(waiting);
}

static void handover_wake(struct handover_waiting *waiting, uint64_t after_us)
{
	sd_event_source_set_time_relative(waiting->timer, after_us);
	sd_event_source_set_enabled(waiting->timer, SD_EVENT_ONESHOT);
}

/* Of the first one. */
static void handover_tell(int r, const struct err *err)
{
	struct handover_waiting *done = handover_first;

	for (struct bond *bond = done->daemon->bonds; bond; bond = bond->next)
		bond_hand_over(bond, "");
	handover_first = done->next;
	done->order.tell(r, err, done->notes, done->order.arg);
	handover_free_waiting(done);
	if (handover_first)
		handover_wake(handover_first, 0);
}

static int handover_start(struct handover_waiting *waiting, struct err *err)
{
	struct bond *bond;
	int r = handover_settle(waiting->daemon, waiting->bond, err);

	if (r)
		return r;
	waiting->plan = handover_new(waiting->daemon, waiting->order.is_back, waiting->notes);
	r = handover_survey(waiting->plan, waiting->bond, waiting->order.options, err);
	bond = daemon_find_bond(waiting->daemon, waiting->bond);
	if (!r && bond)
		bond_hand_over(bond, waiting->bond);
	return r;
}

static int handover_on_turn(sd_event_source *source, uint64_t usec, void *arg)
{
	struct handover_waiting *waiting = arg;
	struct err err = { "" };
	int r = 0;

	(void)source;
	(void)usec;
	latency_note(waiting->order.is_back ? "handback" : "takeover");
	event_set_author(waiting->order.author);
	if (!waiting->plan)
		r = handover_start(waiting, &err);
	if (!r)
		r = handover_run(waiting->plan, &err);
	event_set_author(0);
	if (r > 0)
		handover_wake(waiting, LOOK_US);
	else
		handover_tell(r, &err);
	return 0;
}

static void handover_append(struct handover_waiting *waiting)
{
	struct handover_waiting **at = &handover_first;

	while (*at)
		at = &(*at)->next;
	*at = waiting;
	if (waiting == handover_first)
		handover_wake(waiting, 0);
}

int handover_begin(struct daemon *daemon, const struct handover_order *order, struct err *err)
{
	int r = name_check("bond", order->bond, err);
	struct handover_waiting *waiting;

	if (r)
		return r;
	waiting = memory_need(calloc(1, sizeof(*waiting)));
	waiting->daemon = daemon;
	waiting->order = *order;
	waiting->order.bond = waiting->bond;
	waiting->notes = json_array();
	json_incref(order->options);
	snprintf(waiting->bond, sizeof(waiting->bond), "%s", order->bond);
	r = sd_event_add_time_relative(daemon->event, &waiting->timer, CLOCK_MONOTONIC, 0,
				       ACCURACY_US, handover_on_turn, waiting);
	if (r < 0) {
		handover_free_waiting(waiting);
		return err_set(err, -r, "cannot make a timer: %s", strerror(-r));
	}
	sd_event_source_set_enabled(waiting->timer, SD_EVENT_OFF);
	handover_append(waiting);
	return 0;
}

void handover_stop(void)
{
	struct err err = { "" };
	int r = 0;

	if (handover_first && handover_first->plan) {
		event_set_author(handover_first->order.author);
		r = handover_hurry(handover_first->plan, &err);
		event_set_author(0);
		handover_tell(r, &err);
	}
	while (handover_first) {
		r = err_set(&err, EINTR, "bondd is stopping; nothing was changed");
		handover_tell(r, &err);
	}
}

static void handover_recover_one(struct daemon *daemon, const char *file)
{
	size_t length = strlen(file), suffix = strlen(HANDOVER_SUFFIX);
	char name[NAME_MAX + 1];
	struct err err;

	if (length <= suffix || strcmp(file + length - suffix, HANDOVER_SUFFIX))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(length - suffix), file);
	if (name_check("bond", name, NULL))
		return; /* bondd wrote no such file */
	if (handover_settle(daemon, name, &err))
		event_error(name, NULL, "not handed over, and not undone: %s", err.text);
}

void handover_recover(struct daemon *daemon)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/" HANDOVER_DIRECTORY, daemon->paths.run_dir);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		handover_recover_one(daemon, entry->d_name);
	if (directory)
		closedir(directory);
}
