/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/apply.h"

#include <errno.h>
#include <string.h>

#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/manage/plan.h"
#include "daemon/manage/requests.h"
#include "daemon/slave/slave.h"
#include "options/config_file.h"
#include "options/names.h"
#include "view/view_json.h"

struct applying {
	struct daemon *daemon;
	const char *name;
	const struct apply_order *order;
	struct config_file file;
	struct plan plan;
	bool is_new;
	json_t *notes;
};

/*
 * A change that waits to be confirmed is not mixed with another one that does not. A bond that
 * waits runs, so `load` changes nothing.
 */
static int apply_check_waiting(const struct applying *applying, struct err *err)
{
	unsigned int left_s = rollback_left_s(applying->name);

	if (!left_s || applying->order->confirm.seconds || applying->order->is_dry ||
	    applying->order->only_new)
		return 0;
	return err_set(err, EBUSY,
		       "%s will be rolled back in %u s unless it is confirmed; call 'bondctl "
		       "confirm %s' or 'bondctl rollback %s' first",
		       applying->name, left_s, applying->name, applying->name);
}

static int apply_plan(struct applying *applying, struct err *err)
{
	struct bond *bond = daemon_find_bond(applying->daemon, applying->name);
	struct plan_wish wish = { .file = &applying->file,
				  .may_interrupt = applying->order->may_interrupt,
				  .leaving = applying->order->leaving };

	applying->is_new = !bond;
	if (!bond)
		return plan_make_new(applying->daemon, &applying->file, &applying->plan, err);
	if (applying->order->only_new)
		return 0;
	return plan_make(bond, &wish, &applying->plan, err);
}

/* A new bond is made without the slaves that it cannot have. They are awaited, as at a start. */
static void apply_note_refused(struct applying *applying)
{
	struct bond *bond = daemon_find_bond(applying->daemon, applying->name);
	struct link_info link;
	struct err why;

	for (size_t i = 0; i < applying->plan.count && bond; i++) {
		struct plan_step *step = &applying->plan.steps[i];

		if (step->action != PLAN_ADD_SLAVE ||
		    pins_slot_by_name(&bond->dataplane.pins, step->slaves[0]) >= 0)
			continue;
		step->action = PLAN_AWAIT;
		if (enslave_check(bond, step->slaves[0], false, &link, &why))
			request_note(applying->notes, "%s; it will be tried again", why.text);
	}
}

static int apply_do(struct applying *applying, struct err *err)
{
	struct bond *bond;
	int r;

	if (applying->is_new) {
		r = config_create(applying->daemon, applying->name, &applying->file, err);
		if (!r)
			apply_note_refused(applying);
		return r;
	}
	r = plan_run(applying->daemon, applying->name, &applying->plan, false, applying->notes,
		     err);
	bond = r ? NULL : daemon_find_bond(applying->daemon, applying->name);
	if (bond)
		config_keep_names(bond, &applying->file);
	return r;
}

/* waited: an earlier change, which nobody has confirmed yet, goes on waiting. */
static void apply_undo(const struct applying *applying, const json_t *before, bool waited)
{
	struct err why;

	if (snapshot_restore(applying->daemon, applying->name, before, &why))
		event_error(applying->name, NULL, "cannot undo a change that failed: %s", why.text);
	if (!waited)
		rollback_forget(applying->name);
}

/*
 * What the bond was is recorded before the first step, so that whichever bondd is there later can
 * go back. A new bond that was made only in part is made again.
 */
static int apply_run(struct applying *applying, struct err *err)
{
	struct bond *bond = daemon_find_bond(applying->daemon, applying->name);
	const struct rollback_terms *terms = &applying->order->confirm;
	bool waited = rollback_left_s(applying->name) > 0;
	json_t *before = bond ? snapshot_take(bond) : snapshot_of_nothing();
	int r = 0;

	if (bond || terms->seconds)
		r = rollback_begin(applying->daemon, applying->name, json_incref(before), terms,
				   err);
	if (!r) {
		r = apply_do(applying, err);
		if (r)
			apply_undo(applying, before, waited);
		else
			event_config("apply", applying->name, NULL, "now matches its file");
	}
	if (!terms->seconds)
		rollback_forget(applying->name);
	json_decref(before);
	return r;
}

static int apply_steps(struct applying *applying, struct err *err)
{
	int r = name_check("bond", applying->name, err);

	if (!r)
		r = request_check_free(applying->daemon, applying->name, err);
	if (!r)
		r = apply_check_waiting(applying, err);
	if (!r)
		r = config_read(applying->daemon, applying->name, &applying->file, err);
	if (!r)
		r = apply_plan(applying, err);
	if (r || applying->order->is_dry || !applying->plan.count)
		return r;
	return apply_run(applying, err);
}

static json_t *apply_result(const struct applying *applying, int r, const struct err *err)
{
	unsigned int left_s = rollback_left_s(applying->name);
	json_t *steps = json_array();

	for (size_t i = 0; i < applying->plan.count; i++)
		json_array_append_new(steps,
				      plan_step_json(&applying->plan.steps[i], applying->name));
	return json_pack("{s:o, s:b, s:b, s:o, s:O, s:o, s:o}", "bond",
			 json_value_text(applying->name), "changed",
			 !r && !applying->order->is_dry && applying->plan.count > 0, "dry_run",
			 applying->order->is_dry, "steps", steps, "notes", applying->notes, "error",
			 r ? json_value_text(err->text) : json_null(), "goes_back_in_s",
			 json_value_number(left_s));
}

json_t *apply_bond(struct daemon *daemon, const char *bond, const struct apply_order *order)
{
	struct applying applying = {
		.daemon = daemon, .name = bond, .order = order, .notes = json_array()
	};
	struct err err = { "" };
	int r = apply_steps(&applying, &err);
	json_t *result = apply_result(&applying, r, &err);

	if (r && !order->is_dry)
		log_error("%s: not applied: %s", bond, err.text);
	json_decref(applying.notes);
	plan_free(&applying.plan);
	config_file_free(&applying.file);
	return result;
}

/* `apply` of all bonds: in which order, so that a slave can move from one to another. */

static bool apply_all_failed(const json_t *result)
{
	return json_is_string(json_object_get(result, "error"));
}

static const char *apply_all_name(const json_t *result)
{
	return json_string_value(json_object_get(result, "bond"));
}

static bool apply_all_some_changed(const json_t *results)
{
	const json_t *result;
	size_t at;

	json_array_foreach (results, at, result)
		if (json_is_true(json_object_get(result, "changed")))
			return true;
	return false;
}

/* leaving: the slaves that bonds would have given up, and not taken back. */
static void apply_all_note_leaving(json_t *leaving, const json_t *result)
{
	const json_t *step, *slave;
	size_t i, k;

	json_array_foreach (json_object_get(result, "steps"), i, step) {
		const char *action = json_string_value(json_object_get(step, "action"));

		json_array_foreach (json_object_get(step, "slaves"), k, slave)
			if (!strcmp(action, "del-slave"))
				json_object_set_new(leaving, json_string_value(slave), json_true());
			else if (!strcmp(action, "add-slave"))
				json_object_del(leaving, json_string_value(slave));
	}
}

/*
 * A slave that moves from one bond to another can be added only after it has left the first. So
 * those that failed are tried again while others succeed; in a dry run with what would have left.
 */
static void apply_all_again(struct daemon *daemon, const struct apply_order *order, json_t *results)
{
	struct apply_order then = *order;
	bool progress = order->is_dry || apply_all_some_changed(results);
	json_t *result, *again, *leaving;
	size_t at;

	while (progress) {
		progress = false;
		leaving = json_object();
		json_array_foreach (results, at, result)
			apply_all_note_leaving(leaving, result);
		then.leaving = order->is_dry ? leaving : NULL;
		json_array_foreach (results, at, result) {
			if (!apply_all_failed(result) || !apply_all_name(result))
				continue;
			again = apply_bond(daemon, apply_all_name(result), &then);
			progress |= !apply_all_failed(again);
			json_array_set_new(results, at, again);
		}
		json_decref(leaving);
	}
}

json_t *apply_all(struct daemon *daemon, const struct apply_order *order)
{
	json_t *results = json_array();
	char **names;
	struct err err;

	if (config_dir_bonds(daemon->paths.config_dir, &names, &err)) {
		log_error("%s", err.text);
		return results;
	}
	for (char **name = names; *name; name++)
		json_array_append_new(results, apply_bond(daemon, *name, order));
	memory_free_texts(names);
	apply_all_again(daemon, order, results);
	return results;
}
