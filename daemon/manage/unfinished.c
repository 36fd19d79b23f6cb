/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/unfinished.h"

#include <string.h>

#include "daemon/base/crashpoint.h"
#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "daemon/base/log.h"
#include "daemon/manage/rollback.h"
#include "daemon/manage/snapshot.h"

#define NAME "apply.unfinished"

json_t *unfinished_record(json_t *state, bool waited)
{
	return json_pack("{s:o, s:b}", "state", state, "waited", waited);
}

json_t *unfinished_take(struct daemon *daemon, const json_t *names)
{
	json_t *befores = json_object();
	const json_t *name;
	size_t at;

	json_array_foreach (names, at, name) {
		struct bond *bond = daemon_find_bond(daemon, json_string_value(name));

		if (bond)
			json_object_set_new(
				befores, json_string_value(name),
				unfinished_record(snapshot_take(bond),
						  rollback_left_s(json_string_value(name)) > 0));
	}
	return befores;
}

int unfinished_begin(struct daemon *daemon, json_t *befores, struct err *err)
{
	int r = run_file_write(&daemon->paths, NAME, json_pack("{s:O}", "bonds", befores));

	return r ? err_set(err, -r,
			   "cannot record in %s what the bonds are now: %s; nothing was changed",
			   daemon->paths.run_dir, strerror(-r))
		 : 0;
}

void unfinished_end(struct daemon *daemon)
{
	run_file_remove(&daemon->paths, NAME);
}

void unfinished_undo_one(struct daemon *daemon, const char *bond, const json_t *before, bool waited)
{
	struct err why;

	if (snapshot_restore(daemon, bond, before, &why))
		event_error(bond, NULL, "cannot undo a change that failed: %s", why.text);
	if (!waited)
		rollback_forget(daemon, bond);
}

/* Twice, because one has what another one gets back. */
void unfinished_undo(struct daemon *daemon, json_t *befores)
{
	struct err ignored;
	const char *name;
	json_t *before;

	json_object_foreach (befores, name, before)
		snapshot_restore(daemon, name, json_object_get(before, "state"), &ignored);
	crashpoint("unfinished-half-undone");
	json_object_foreach (befores, name, before)
		unfinished_undo_one(daemon, name, json_object_get(before, "state"),
				    json_is_true(json_object_get(before, "waited")));
}

/* Leaves only bonds that are there, and that can be what it says. */
static void unfinished_check(struct daemon *daemon, json_t *befores)
{
	struct err why;
	const char *name;
	json_t *before;
	void *next;

	json_object_foreach_safe(befores, next, name, before)
	{
		int r = snapshot_check(json_object_get(before, "state"), &why);

		if (!r && daemon_find_bond(daemon, name))
			continue;
		log_error("%s: a change that was not finished cannot be undone: %s", name,
			  r ? why.text : "there is no such bond");
		json_object_del(befores, name);
	}
}

void unfinished_resume(struct daemon *daemon)
{
	bool is_of_this_boot = false;
	json_t *json = run_file_read(&daemon->paths, NAME, &is_of_this_boot);
	json_t *befores = json_object_get(json, "bonds"), *before;
	const char *name;

	if (is_of_this_boot) {
		unfinished_check(daemon, befores);
		unfinished_undo(daemon, befores);
		json_object_foreach (befores, name, before)
			event_notice(name, NULL, "an 'apply' that was not finished is undone");
	}
	json_decref(json);
	unfinished_end(daemon);
}
