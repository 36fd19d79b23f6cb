/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/manage/plan.h"
#include "daemon/manage/requests.h"
#include "options/names.h"

#define ROLLBACK_TRIES 3 /* a call that failed may not fail again */

struct rollback {
	struct rollback *next;
	struct daemon *daemon;
	char bond[XBOND_NAME_SIZE];
	json_t *snapshot;
	json_t *members; /* its slaves when it began to go back */
	uint64_t at_us;	 /* by clock_boot_us(); 0: it is being changed, and waits for nobody */
	uint64_t apply;	 /* which one has changed it: the same number for all of one `apply` */
	bool is_ahead;	 /* has its new name already; its bond is told of that later */
	bool is_due;	 /* goes back with the one for which rollback_mark() was called last */
	sd_event_source *timer;
};

static struct rollback *rollback_first; /* the bonds that wait to be confirmed */

static struct rollback *rollback_find(const char *bond)
{
	struct rollback *rollback = rollback_first;

	while (rollback && strcmp(rollback->bond, bond) != 0)
		rollback = rollback->next;
	return rollback;
}

static void rollback_free(struct rollback *rollback)
{
	memory_unlist(rollback_first, rollback);
	sd_event_source_disable_unref(rollback->timer);
	json_decref(rollback->snapshot);
	json_decref(rollback->members);
	free(rollback);
}

static void rollback_end(struct rollback *rollback)
{
	snapshot_file_remove(&rollback->daemon->paths, rollback->bond);
	rollback_free(rollback);
}

static int rollback_on_time(sd_event_source *source, uint64_t usec, void *arg);

static int rollback_wait(struct rollback *rollback)
{
	sd_event_source_disable_unref(rollback->timer);
	rollback->timer = NULL;
	return sd_event_add_time(rollback->daemon->event, &rollback->timer, CLOCK_BOOTTIME,
				 rollback->at_us, US_PER_S / 100, rollback_on_time, rollback);
}

/* Under the name that it has, or will have. */
static int rollback_write(const struct rollback *rollback, const char *bond)
{
	const struct snapshot_record record = { .snapshot = rollback->snapshot,
						.at_us = rollback->at_us,
						.apply = rollback->apply };

	return snapshot_file_write(&rollback->daemon->paths, bond, &record);
}

/* Whichever bondd is there goes on with it at once. */
static void rollback_set_out(struct rollback *rollback)
{
	if (!rollback->members)
		rollback->members = snapshot_members(rollback->daemon, rollback->bond);
	if (rollback->at_us <= clock_boot_us())
		return;
	rollback->at_us = clock_boot_us();
	rollback_write(rollback, rollback->bond);
	rollback_wait(rollback);
}

static bool rollback_may_pass(int r)
{
	return memory_is_want(r) || r == -EIO || r == -ENOSPC;
}

/* If the device of the bond is deleted meanwhile, the rollback has ended by itself. */
static int rollback_do(struct rollback *rollback, struct err *err)
{
	struct daemon *daemon = rollback->daemon;
	json_t *snapshot = json_incref(rollback->snapshot), *members;
	char bond[XBOND_NAME_SIZE];
	bool keeps;
	int r = -EAGAIN;

	memcpy(bond, rollback->bond, sizeof(bond));
	rollback_set_out(rollback);
	members = json_incref(rollback->members);
	for (int try = 0; try < ROLLBACK_TRIES && rollback_may_pass(r); try++)
		r = snapshot_restore(daemon, bond, snapshot, err);
	keeps = r && snapshot_keep_members(daemon, bond, members);
	json_decref(members);
	json_decref(snapshot);
	crashpoint("rollback-done");
	if (r)
		event_error(bond, NULL, "was rolled back only in part%s: %s",
			    keeps ? ", and keeps its present slaves" : "", err->text);
	else
		event_config("rollback", bond, NULL,
			     "was rolled back to what it was before 'bondctl apply --confirm'");
	rollback_forget(bond);
	return r;
}

/* Has the bond of `other` a slave that `rollback` brings back? */
static bool rollback_is_tied(const struct rollback *rollback, const struct rollback *other,
			     char ret_slave[XBOND_NAME_SIZE])
{
	struct bond *bond = daemon_find_bond(other->daemon, other->bond);
	const json_t *slave;
	size_t at;

	if (other == rollback || !bond)
		return false;
	json_array_foreach (json_object_get(rollback->snapshot, "slaves"), at, slave) {
		if (name_from_json(json_object_get(slave, "name"), ret_slave) &&
		    pins_slot_by_name(&bond->dataplane.pins, ret_slave) >= 0)
			return true;
	}
	return false;
}

/* It, and those that have slaves which it brings back. */
static void rollback_mark(struct rollback *rollback)
{
	char slave[XBOND_NAME_SIZE];

	rollback->is_due = true;
	for (struct rollback *other = rollback_first; other; other = other->next)
		if (!other->is_due && rollback_is_tied(rollback, other, slave))
			rollback_mark(other);
}

static void rollback_mark_alone(struct rollback *rollback)
{
	for (struct rollback *each = rollback_first; each; each = each->next)
		each->is_due = false;
	rollback_mark(rollback);
}

/* A takeover or handback has the slaves of one that is marked: all wait for the end of that. */
static int rollback_check_marked(struct err *err)
{
	int r = 0;

	for (struct rollback *each = rollback_first; each && !r; each = each->next)
		if (each->is_due)
			r = request_check_free(each->daemon, each->bond, err);
	return r;
}

static int rollback_check_free(struct rollback *rollback, struct err *err)
{
	rollback_mark_alone(rollback);
	return rollback_check_marked(err);
}

/* Also those that the same 'apply' has changed. */
static void rollback_mark_due(struct rollback *due)
{
	rollback_mark_alone(due);
	for (struct rollback *each = rollback_first; each; each = each->next)
		if (!each->is_due && each->apply == due->apply &&
		    !request_check_free(each->daemon, each->bond, NULL))
			rollback_mark(each);
}

/* Bonds that are going to be deleted come first, because others get slaves of theirs back. */
static json_t *rollback_names_of(bool all)
{
	json_t *names = json_array();

	for (const struct rollback *each = rollback_first; each; each = each->next) {
		bool existed = json_is_true(json_object_get(each->snapshot, "existed"));

		if (all || each->is_due)
			json_array_insert_new(names, existed ? json_array_size(names) : 0,
					      name_to_json(each->bond));
	}
	return names;
}

/*
 * A slave that bonds have exchanged leaves one before it comes back to the other. So of several,
 * all give up first what was not theirs; rollback_do() reports what is still refused then.
 */
static void rollback_prepare(const json_t *names)
{
	const json_t *name;
	struct err ignored;
	size_t at;

	json_array_foreach (names, at, name) {
		char bond[XBOND_NAME_SIZE] = "";
		struct rollback *rollback = name_from_json(name, bond) ? rollback_find(bond) : NULL;
		json_t *snapshot;

		if (!rollback || rollback_check_free(rollback, NULL) || json_array_size(names) < 2)
			continue;
		rollback_set_out(rollback);
		snapshot = json_incref(rollback->snapshot);
		if (json_is_true(json_object_get(snapshot, "existed")))
			snapshot_restore(rollback->daemon, bond, snapshot, &ignored);
		json_decref(snapshot);
	}
}

static int rollback_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	struct rollback *due = arg;
	const json_t *name;
	json_t *names;
	struct err err;
	size_t at;

	rollback_mark_due(due);
	if (rollback_check_marked(NULL)) {
		loop_timer_after(source, US_PER_S);
		return 0;
	}
	names = rollback_names_of(false);
	rollback_prepare(names);
	json_array_foreach (names, at, name) {
		char bond[XBOND_NAME_SIZE];
		struct rollback *rollback = name_from_json(name, bond) ? rollback_find(bond) : NULL;

		if (!rollback)
			continue;
		log_notice("%s: nobody has confirmed the change; it is rolled back",
			   rollback->bond);
		rollback_do(rollback, &err);
	}
	json_decref(names);
	return 0;
}

/* Takes the reference. */
static struct rollback *rollback_new(struct daemon *daemon, const char *bond, json_t *snapshot)
{
	struct rollback *rollback = memory_need(calloc(1, sizeof(*rollback)));

	rollback->daemon = daemon;
	snprintf(rollback->bond, sizeof(rollback->bond), "%s", bond);
	rollback->snapshot = snapshot;
	rollback->next = rollback_first;
	rollback_first = rollback;
	return rollback;
}

/* Not one that another bond's has already. */
uint64_t rollback_new_apply(void)
{
	uint64_t apply = clock_boot_us();

	for (const struct rollback *rollback = rollback_first; rollback; rollback = rollback->next)
		if (rollback->apply >= apply)
			apply = rollback->apply + 1;
	return apply;
}

int rollback_begin(struct daemon *daemon, const char *bond, json_t *snapshot,
		   const struct rollback_terms *terms, struct err *err)
{
	struct rollback *rollback = rollback_find(bond);
	bool is_new = !rollback;
	int r;

	if (is_new)
		rollback = rollback_new(daemon, bond, snapshot);
	else
		json_decref(snapshot);
	rollback->at_us = terms->seconds ? clock_boot_us() + terms->seconds * US_PER_S : 0;
	rollback->apply = terms->apply;
	r = rollback_write(rollback, bond);
	if (!r && rollback->at_us)
		r = rollback_wait(rollback);
	if (r >= 0)
		return 0;
	if (is_new)
		rollback_end(rollback);
	return err_set(err, -r, "cannot record in %s what %s is now: %s; nothing was changed",
		       daemon->paths.run_dir, bond, strerror(-r));
}

unsigned int rollback_left_s(const char *bond)
{
	const struct rollback *rollback = rollback_find(bond);
	uint64_t now_us = clock_boot_us();

	if (!rollback || !rollback->at_us)
		return 0;
	if (rollback->at_us <= now_us)
		return 1;
	return (unsigned int)((rollback->at_us - now_us + US_PER_S - 1) / US_PER_S);
}

static int rollback_find_waiting(const char *bond, struct rollback **ret_rollback, struct err *err)
{
	*ret_rollback = rollback_find(bond);
	return *ret_rollback ? 0
			     : err_set(err, ENOENT,
				       "%s does not wait for 'bondctl confirm': either nothing was "
				       "applied with --confirm, or it was rolled back already",
				       bond);
}

int rollback_confirm(const char *bond, struct err *err)
{
	struct rollback *rollback;
	int r = rollback_find_waiting(bond, &rollback, err);

	if (r)
		return r;
	rollback_end(rollback);
	event_config("confirm", bond, NULL, "the change is confirmed");
	return 0;
}

/* By itself it would lose the slaves that it has got, and not get back those that others have. */
static int rollback_check_alone(const struct rollback *rollback, struct err *err)
{
	char slave[XBOND_NAME_SIZE];

	for (const struct rollback *other = rollback_first; other; other = other->next)
		if (rollback_is_tied(rollback, other, slave))
			return err_set(err, EBUSY,
				       "%s was a slave of %s and is one of %s, which waits for "
				       "'bondctl confirm', too; 'bondctl rollback' without a name "
				       "rolls back both",
				       slave, rollback->bond, other->bond);
	return 0;
}

int rollback_now(const char *bond, struct err *err)
{
	struct rollback *rollback;
	int r = rollback_find_waiting(bond, &rollback, err);

	if (!r)
		r = rollback_check_free(rollback, err);
	if (!r)
		r = rollback_check_alone(rollback, err);
	return r ? r : rollback_do(rollback, err);
}

void rollback_prepare_all(void)
{
	json_t *names = rollback_names();

	rollback_prepare(names);
	json_decref(names);
}

void rollback_forget(const char *bond)
{
	struct rollback *rollback = rollback_find(bond);

	if (rollback)
		rollback_end(rollback);
}

static void rollback_move(struct rollback *rollback, const char *to)
{
	int r = rollback_write(rollback, to);

	if (r)
		event_error(to, NULL,
			    "a restart of bondd will forget that it waits for 'bondctl "
			    "confirm': %s",
			    strerror(-r));
	snprintf(rollback->bond, sizeof(rollback->bond), "%s", to);
}

/* Two bonds that swap their names are told of one after the other. */
void rollback_rename(struct daemon *daemon, const char *from, const char *to)
{
	struct rollback *rollback = rollback_find(from), *other = rollback_find(to);

	if (!strcmp(from, to) || (!rollback && !other))
		return;
	if (other && other->is_ahead) {
		other->is_ahead = false;
		return;
	}
	if (rollback)
		rollback_move(rollback, to);
	else
		snapshot_file_remove(&daemon->paths, to);
	if (other) {
		rollback_move(other, from);
		other->is_ahead = true;
	} else {
		snapshot_file_remove(&daemon->paths, from);
	}
}

int rollback_record_again(void)
{
	int r = 0;

	for (const struct rollback *each = rollback_first; each; each = each->next)
		if (rollback_write(each, each->bond))
			r = -EIO;
	return r;
}

json_t *rollback_names(void)
{
	return rollback_names_of(true);
}

static bool rollback_can_be(struct daemon *daemon, const char *bond, const json_t *snapshot)
{
	struct err why;

	if (snapshot_check(snapshot, &why)) {
		event_error(bond, NULL, "cannot be rolled back: %s", why.text);
		return false;
	}
	return daemon_find_bond(daemon, bond);
}

static void rollback_undo_unfinished(struct daemon *daemon, const char *bond,
				     const json_t *snapshot)
{
	struct err why;

	if (snapshot_restore(daemon, bond, snapshot, &why))
		event_error(bond, NULL,
			    "bondd ended during 'apply', which is undone only in part: %s",
			    why.text);
	else
		event_notice(bond, NULL, "bondd ended during 'apply', which is undone");
}

static void rollback_resume_waiting(struct daemon *daemon, const char *bond,
				    const struct snapshot_record *record)
{
	struct rollback *rollback = rollback_new(daemon, bond, json_incref(record->snapshot));

	rollback->at_us = record->at_us;
	rollback->apply = record->apply;
	event_notice(bond, NULL,
		     "will be rolled back, unless 'bondctl confirm %s' is called within %u s", bond,
		     rollback_left_s(bond));
	if (rollback_wait(rollback) < 0)
		event_error(bond, NULL,
			    "cannot make a timer, so only 'bondctl rollback' undoes the change");
}

static void rollback_resume_one(const char *bond, const struct snapshot_record *record, void *arg)
{
	struct daemon *daemon = arg;
	bool is_later = daemon_is_unadopted(daemon, bond);
	bool can_be = !is_later && rollback_can_be(daemon, bond, record->snapshot);

	if (can_be && record->at_us)
		rollback_resume_waiting(daemon, bond, record);
	else if (can_be)
		rollback_undo_unfinished(daemon, bond, record->snapshot);
	if (!is_later && !(can_be && record->at_us))
		snapshot_file_remove(&daemon->paths, bond);
}

void rollback_resume(struct daemon *daemon, const char *bond)
{
	snapshot_file_visit(&daemon->paths, bond, rollback_resume_one, daemon);
}

void rollback_stop(void)
{
	while (rollback_first)
		rollback_free(rollback_first);
}
