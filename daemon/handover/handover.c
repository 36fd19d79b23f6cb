/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/handover/handover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/event.h"
#include "daemon/handover/handover_journal.h"
#include "daemon/handover/handover_side.h"
#include "daemon/handover/handover_step.h"
#include "daemon/handover/handover_survey.h"
#include "options/names.h"

/* Those that go first; what has a link must carry traffic before anything else changes over. */
static int handover_move_first(struct handover *plan, struct err *err)
{
	for (size_t i = 0; i < plan->slave_count; i++) {
		const struct handover_slave *slave = &plan->slaves[i];
		int r;

		if (!slave->is_first)
			continue;
		r = handover_move(plan, slave, err);
		if (r)
			return r;
		if (!handover_wait(plan, slave))
			return err_set(err, ETIMEDOUT, "%s carries no traffic in the new bond",
				       slave->name);
	}
	return 0;
}

static int handover_move_others(struct handover *plan, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < plan->slave_count && !r; i++) {
		const struct handover_slave *slave = &plan->slaves[i];

		if (slave->is_first)
			continue;
		r = handover_move(plan, slave, err);
		if (!r && !handover_wait(plan, slave))
			handover_note(plan, "%s carries no traffic yet", slave->name);
	}
	return r ? r : handover_passed("handover-all-moved", err);
}

static int handover_go(struct handover *plan, struct err *err)
{
	int r = handover_journal_write(plan, err);

	if (!r)
		r = handover_passed("handover-recorded", err);
	if (!r)
		r = handover_prepare(plan, err);
	if (!r)
		r = handover_journal_write(plan, err);
	if (!r)
		r = handover_move_first(plan, err);
	if (!r)
		r = handover_switch(plan, err);
	if (!r)
		r = handover_move_others(plan, err);
	if (r)
		return r;
	plan->is_ending = true;
	return handover_journal_write(plan, err);
}

/* From here on it is done. What the old bond has left is removed, or the next bondd does it. */
static void handover_finish(struct handover *plan)
{
	struct err why;

	handover_passed("handover-ending", NULL);
	if (handover_end(plan, &why)) {
		event_error(handover_name(plan), NULL, "the old bond %s is still there: %s",
			    plan->devices[0].old_name, why.text);
		return;
	}
	handover_journal_remove(plan);
	event_config(plan->is_back ? "handback" : "takeover", handover_name(plan), NULL,
		     "is %s now", plan->new_side->whose);
}

static int handover_go_back(struct handover *plan, struct err *err)
{
	struct err why = { 0 };
	int r;

	plan->is_ending = false;
	r = handover_undo(plan, &why);
	if (!r || r == -ESTALE)
		handover_journal_remove(plan);
	return r ? err_set(err, -r, "%s", why.text) : 0;
}

static int handover_run(struct handover *plan, struct err *err)
{
	struct err why = { 0 }, worse;
	int r = handover_go(plan, &why), back;

	if (!r) {
		handover_finish(plan);
		return 0;
	}
	back = handover_go_back(plan, &worse);
	if (back == -ESTALE)
		return err_set(err, -r, "%s; and not everything could be undone: %s", why.text,
			       worse.text);
	if (back)
		return err_set(err, -r,
			       "%s; and not everything could be undone: %s ('bondctl %s %s' tries "
			       "again)",
			       why.text, worse.text, plan->is_back ? "handback" : "takeover",
			       handover_name(plan));
	return err_set(err, -r, "%s; everything is %s again, as it was", why.text,
		       plan->old_side->whose);
}

static int handover_settle(struct daemon *daemon, const char *name, struct err *err)
{
	struct handover *plan;
	int r = handover_journal_read(daemon, name, &plan, err);

	if (r)
		return r == -ENOENT ? 0 : r;
	if (plan->is_ending)
		handover_finish(plan);
	else
		r = handover_go_back(plan, err);
	if (!r && !plan->is_ending)
		event_notice(name, NULL, "a %s that was not finished is undone",
			     plan->is_back ? "handback" : "takeover");
	handover_free(plan);
	return r;
}

static int handover_do(struct daemon *daemon, const char *name, bool is_back, const json_t *options,
		       json_t *notes, struct err *err)
{
	struct handover *plan;
	int r = name_check("bond", name, err);

	if (!r)
		r = handover_settle(daemon, name, err);
	if (r)
		return r;
	plan = handover_new(daemon, is_back, notes);
	r = handover_survey(plan, name, options, err);
	if (!r)
		r = handover_run(plan, err);
	handover_free(plan);
	return r;
}

int handover_takeover(struct daemon *daemon, const char *name, const json_t *options, json_t *notes,
		      struct err *err)
{
	return handover_do(daemon, name, false, options, notes, err);
}

int handover_handback(struct daemon *daemon, const char *name, json_t *notes, struct err *err)
{
	return handover_do(daemon, name, true, NULL, notes, err);
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
