/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/apply.h"

#include <errno.h>

#include "daemon/base/event.h"
#include "daemon/manage/config.h"
#include "daemon/manage/plan.h"
#include "daemon/manage/requests.h"
#include "daemon/slave/slave.h"
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
				  .leaving = applying->order->leaving,
				  .only_frees = applying->order->only_frees };

	applying->is_new = !bond;
	if (!bond && wish.only_frees)
		return 0;
	if (!bond)
		return plan_make_new(applying->daemon, &applying->file, &applying->plan, err);
	if (applying->order->only_new)
		return 0;
	return plan_make(bond, &wish, &applying->plan, err);
}

/*
 * Before the first step, so that whichever bondd is there later can go back. A new bond that was
 * made only in part is made again.
 */
static int apply_begin(const struct applying *applying, json_t *before, bool waited,
		       struct err *err)
{
	const struct apply_order *order = applying->order;
	json_t *befores;
	int r;

	if (order->confirm.seconds)
		return rollback_begin(applying->daemon, applying->name, json_incref(before),
				      &order->confirm, err);
	if (applying->is_new || order->is_recorded)
		return 0;
	befores =
		json_pack("{s:o}", applying->name, unfinished_record(json_incref(before), waited));
	r = unfinished_begin(applying->daemon, befores, err);
	json_decref(befores);
	return r;
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
			json_array_append_new(applying->notes,
					      json_sprintf("%s; it will be tried again", why.text));
	}
}

static int apply_do(struct applying *applying, struct err *err)
{
	int r;

	if (applying->is_new) {
		r = config_create(applying->daemon, applying->name, &applying->file, err);
		if (!r)
			apply_note_refused(applying);
		return r;
	}
	return plan_run(applying->daemon, applying->name, &applying->plan, false, applying->notes,
			err);
}

static int apply_run(struct applying *applying, struct err *err)
{
	struct bond *bond = daemon_find_bond(applying->daemon, applying->name);
	bool waited = rollback_left_s(applying->name) > 0;
	json_t *before = bond ? snapshot_take(bond) : snapshot_of_nothing();
	int r = apply_begin(applying, before, waited, err);

	if (!r) {
		r = apply_do(applying, err);
		if (r)
			unfinished_undo_one(applying->daemon, applying->name, before, waited);
		if (!r)
			event_config("apply", applying->name, NULL,
				     "is what its configuration says, after %zu steps",
				     applying->plan.count);
	}
	if (!applying->order->is_recorded)
		unfinished_end(applying->daemon);
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
