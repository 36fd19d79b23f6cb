/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `apply` of all bonds: in which order, so that slaves can move between them. */
#include <string.h>

#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/plan.h"
#include "daemon/manage/rollback.h"
#include "options/config_file.h"
#include "view/view_json.h"

/* With a turn for other work before each. */
static json_t *apply_all_one(struct daemon *daemon, const char *name,
			     const struct apply_order *order)
{
	idle_turn();
	return apply_bond(daemon, name, order);
}

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
			again = apply_all_one(daemon, apply_all_name(result), &then);
			progress |= !apply_all_failed(again);
			json_array_set_new(results, at, again);
		}
		json_decref(leaving);
	}
}

/* The steps by which a bond would give up its slaves that the file does not have, or gives them. */
static json_t *apply_all_free(struct daemon *daemon, const struct apply_order *order, bool is_dry,
			      const char *name)
{
	struct apply_order then = *order;

	then.is_dry = is_dry;
	then.only_frees = true;
	return apply_all_one(daemon, name, &then);
}

static json_t *apply_all_would_leave(struct daemon *daemon, const struct apply_order *order,
				     const json_t *names)
{
	json_t *leaving = json_object(), *freed;
	const json_t *name;
	size_t at;

	json_array_foreach (names, at, name) {
		freed = apply_all_free(daemon, order, true, json_string_value(name));
		apply_all_note_leaving(leaving, freed);
		json_decref(freed);
	}
	return leaving;
}

/* What a step has refused, and not the plan, is no matter of slaves that others have. */
static bool apply_all_plan_fails(struct daemon *daemon, const struct apply_order *order,
				 const char *name)
{
	struct apply_order dry = *order;
	json_t *result;
	bool fails;

	dry.is_dry = true;
	result = apply_all_one(daemon, name, &dry);
	fails = apply_all_failed(result);
	json_decref(result);
	return fails;
}

/* Which of these bonds would succeed if all of these gave up what they do not need any more. */
static json_t *apply_all_would_succeed(struct daemon *daemon, const struct apply_order *order,
				       const json_t *names)
{
	json_t *leaving = apply_all_would_leave(daemon, order, names), *then_ok = json_array();
	struct apply_order dry = *order;
	const json_t *name;
	size_t at;

	dry.is_dry = true;
	dry.leaving = leaving;
	json_array_foreach (names, at, name) {
		json_t *result = apply_all_one(daemon, json_string_value(name), &dry);

		if (!apply_all_failed(result))
			json_array_append(then_ok, (json_t *)name);
		json_decref(result);
	}
	json_decref(leaving);
	return then_ok;
}

/* The bonds that only wait for each other: a new array of names. */
static json_t *apply_all_tied(struct daemon *daemon, const struct apply_order *order,
			      const json_t *results)
{
	json_t *names = json_array(), *fewer;
	const json_t *result;
	size_t at, count;

	json_array_foreach (results, at, result)
		if (apply_all_failed(result) && apply_all_name(result) &&
		    apply_all_plan_fails(daemon, order, apply_all_name(result)))
			json_array_append_new(names, json_string(apply_all_name(result)));
	do {
		count = json_array_size(names);
		fewer = apply_all_would_succeed(daemon, order, names);
		json_decref(names);
		names = fewer;
	} while (json_array_size(names) && json_array_size(names) < count);
	return names;
}

/* In a dry run it still has what it would have given up. */
static json_t *apply_all_join(const json_t *freed, const json_t *then, bool is_dry)
{
	json_t *steps = json_copy(json_object_get(freed, "steps")), *step;
	size_t at;

	json_array_foreach (json_object_get(then, "steps"), at, step) {
		const char *action = json_string_value(json_object_get(step, "action"));

		if (!is_dry || strcmp(action, "del-slave") != 0)
			json_array_append(steps, step);
	}
	return steps;
}

static void apply_all_retry(struct daemon *daemon, const struct apply_order *order,
			    const json_t *freed, json_t *results)
{
	json_t *result, *again;
	size_t at;

	json_array_foreach (results, at, result) {
		if (!apply_all_failed(result) || !apply_all_name(result))
			continue;
		again = apply_all_one(daemon, apply_all_name(result), order);
		if (!apply_all_failed(again) &&
		    !strcmp(apply_all_name(again), apply_all_name(freed))) {
			json_object_set_new(again, "steps",
					    apply_all_join(freed, again, order->is_dry));
			json_object_set_new(again, "changed", json_boolean(!order->is_dry));
		}
		json_array_set_new(results, at, again);
	}
}

static size_t apply_all_count_failed(const json_t *results)
{
	const json_t *result;
	size_t at, count = 0;

	json_array_foreach (results, at, result)
		count += apply_all_failed(result);
	return count;
}

/* The first has its turn before the next one has given up what it waits for: so several turns. */
static void apply_all_untie(struct daemon *daemon, const struct apply_order *order,
			    const json_t *names, json_t *results)
{
	json_t *leaving = apply_all_would_leave(daemon, order, names);
	json_t *freed = apply_all_free(daemon, order, order->is_dry,
				       json_string_value(json_array_get(names, 0)));
	size_t failed = apply_all_count_failed(results), before = failed + 1;
	struct apply_order then = *order;

	then.leaving = order->is_dry ? leaving : NULL;
	while (failed && failed < before) {
		apply_all_retry(daemon, &then, freed, results);
		before = failed;
		failed = apply_all_count_failed(results);
	}
	json_decref(freed);
	json_decref(leaving);
}

/* The result of a bond that is one of these, and has failed; NULL: there is none. */
static const json_t *apply_all_refused(const json_t *results, const json_t *befores)
{
	const json_t *result;
	size_t at;

	json_array_foreach (results, at, result)
		if (apply_all_failed(result) && apply_all_name(result) &&
		    json_object_get(befores, apply_all_name(result)))
			return result;
	return NULL;
}

static void apply_all_tell_undone(const json_t *befores, const char *refused, json_t *results)
{
	json_t *result;
	size_t at;

	json_array_foreach (results, at, result) {
		const char *name = apply_all_name(result);

		if (apply_all_failed(result) || !name || !json_object_get(befores, name))
			continue;
		json_object_set_new(result, "error",
				    json_sprintf("undone, because %s was not changed", refused));
		json_object_set_new(result, "changed", json_false());
		json_object_set_new(result, "goes_back_in_s",
				    json_value_number(rollback_left_s(name)));
	}
}

/* Nothing was changed yet. */
static void apply_all_tell_refused(const json_t *befores, const struct err *why, json_t *results)
{
	json_t *result;
	size_t at;

	json_array_foreach (results, at, result)
		if (apply_all_name(result) && json_object_get(befores, apply_all_name(result)))
			json_object_set_new(result, "error", json_value_text(why->text));
}

static void apply_all_change(struct daemon *daemon, const struct apply_order *order,
			     const json_t *names, json_t *befores, json_t *results)
{
	const json_t *refused;

	apply_all_untie(daemon, order, names, results);
	refused = apply_all_refused(results, befores);
	if (!refused)
		return;
	unfinished_undo(daemon, befores);
	apply_all_tell_undone(befores, apply_all_name(refused), results);
}

/* All of them or none, also if bondd dies meanwhile. */
static void apply_all_exchange(struct daemon *daemon, const struct apply_order *order,
			       const json_t *names, json_t *results)
{
	json_t *befores = unfinished_take(daemon, names);
	struct apply_order then = *order;
	struct err why;

	then.is_recorded = true;
	if (order->is_dry) {
		apply_all_untie(daemon, order, names, results);
	} else if (unfinished_begin(daemon, befores, &why)) {
		log_error("%s", why.text);
		apply_all_tell_refused(befores, &why, results);
	} else {
		apply_all_change(daemon, &then, names, befores, results);
		unfinished_end(daemon);
	}
	json_decref(befores);
}

/*
 * Bonds that wait for each other's slaves, as for a swap: the first of them gives its slaves up
 * before it gets others. That is done only if plans say that all of them succeed then; if a step is
 * refused all the same, all of them are undone.
 */
static void apply_all_swap(struct daemon *daemon, const struct apply_order *order, json_t *results)
{
	size_t failed = apply_all_count_failed(results), before = failed + 1;

	while (failed && failed < before) {
		json_t *names = apply_all_tied(daemon, order, results);

		if (json_array_size(names))
			apply_all_exchange(daemon, order, names, results);
		json_decref(names);
		before = failed;
		failed = apply_all_count_failed(results);
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
		json_array_append_new(results, apply_all_one(daemon, *name, order));
	config_dir_free(names);
	apply_all_again(daemon, order, results);
	apply_all_swap(daemon, order, results);
	return results;
}
