/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The methods of the control socket: what each does with the fields of a request. */
#include "daemon/control/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/awaited.h"
#include "daemon/handover/handover.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/lifecycle.h"
#include "daemon/manage/requests.h"
#include "daemon/monitor/monitor.h"
#include "options/names.h"
#include "view/view_bond.h"
#include "view/view_json.h"

static int control_do_ping(struct request *request, struct err *err)
{
	return 0;
}

/* As in the kernel's driver, the interval may come first. */
static void control_note_targets(struct request *request, const struct option_set *options)
{
	struct bond *bond = daemon_find_bond(request->daemon, request->bond);

	if (bond && options->given[OPT_ARP_INTERVAL] && bond_pin(bond)->arp_interval_ms &&
	    !arp_has_targets(bond))
		json_array_append_new(request->notes, json_string(ARP_LACKS_TARGETS));
}

static int control_do_create(struct request *request, struct err *err)
{
	struct option_set options;
	int r = option_set_from_json(&options, OPTION_BOND, request->options, err);

	if (!r)
		r = request_create(request->daemon, request->bond, &options, err);
	if (r)
		return r;
	rollback_forget(request->bond);
	control_note_targets(request, &options);
	return 0;
}

static int control_do_delete(struct request *request, struct err *err)
{
	int r = request_delete(request->daemon, request->bond, err);

	if (!daemon_find_bond(request->daemon, request->bond))
		rollback_forget(request->bond);
	return r;
}

static int control_do_refresh(struct request *request, struct err *err)
{
	return request_refresh(request->daemon, request->bond, err);
}

static int control_do_policy(struct request *request, struct err *err)
{
	return request_policy(request->daemon, request->bond, err);
}

/* Who is told, when the request has long been freed. */
struct control_told {
	struct control_client client;
	char bond[XBOND_NAME_SIZE];
	enum handover_kind kind;
};

static void control_tell_handover(int r, const struct err *err, json_t *notes, void *arg)
{
	struct control_told *told = arg;

	if (!r && told->kind == HANDOVER_HANDBACK)
		rollback_forget(told->bond);
	told->client.answer_later(told->client.client, control_words(r, err, notes, NULL));
	free(told);
}

static int control_handover(struct request *request, enum handover_kind kind, struct err *err)
{
	struct control_told *told = memory_need(calloc(1, sizeof(*told)));
	struct handover_order order = { .bond = request->bond,
					.kind = kind,
					.options = request->options,
					.author = request->client->pid,
					.tell = control_tell_handover,
					.arg = told };
	int r;

	told->client = *request->client;
	told->kind = kind;
	snprintf(told->bond, sizeof(told->bond), "%s", request->bond);
	r = handover_begin(request->daemon, &order, err);
	request->is_later = !r;
	if (r)
		free(told);
	return r;
}

static int control_do_takeover(struct request *request, struct err *err)
{
	return control_handover(request, HANDOVER_TAKEOVER, err);
}

static int control_do_handback(struct request *request, struct err *err)
{
	return control_handover(request, HANDOVER_HANDBACK, err);
}

static int control_do_set(struct request *request, struct err *err)
{
	struct bond *bond = daemon_find_bond(request->daemon, request->bond);
	struct option_set options;
	int r = option_set_from_json(&options, OPTION_BOND, request->options, err);

	if (!r && bond && options.given[OPT_DEVICE] &&
	    option_device_converts(&options.value[OPT_DEVICE], bond_pin(bond)->device_kind))
		return control_handover(request, HANDOVER_CONVERSION, err);
	if (!r)
		r = request_set(request->daemon, request->bond, &options, err);
	if (!r)
		control_note_targets(request, &options);
	return r;
}

/* names points into the request; free only the array. */
static int control_slave_names(const struct request *request, const char ***ret_names,
			       size_t *ret_count, struct err *err)
{
	size_t count = json_array_size(request->slaves);
	const char **names;

	if (!count)
		return err_set(err, EINVAL, "bad request: no slaves named");
	names = memory_need(calloc(count, sizeof(*names)));
	for (size_t i = 0; i < count; i++) {
		names[i] = json_string_value(json_array_get(request->slaves, i));
		if (!names[i]) {
			free(names);
			return err_set(err, EINVAL,
				       "bad request: slaves contains something that is not a name");
		}
	}
	*ret_names = names;
	*ret_count = count;
	return 0;
}

typedef int (*slaves_function)(struct request *request, const char *const *slaves, size_t count,
			       const struct option_set *options, struct err *err);

static int control_with_slaves(struct request *request, slaves_function function, struct err *err)
{
	struct option_set options;
	const char **names = NULL;
	size_t count = 0;
	int r = option_set_from_json(&options, OPTION_SLAVE, request->options, err);

	if (!r)
		r = control_slave_names(request, &names, &count, err);
	if (r)
		return r;
	r = function(request, names, count, &options, err);
	free(names);
	return r;
}

static int control_add_slaves(struct request *request, const char *const *slaves, size_t count,
			      const struct option_set *options, struct err *err)
{
	int r = request_add_slaves(request->daemon, request->bond, slaves, count, options,
				   request->notes, err);
	struct bond *bond = daemon_find_bond(request->daemon, request->bond);

	for (size_t i = 0; i < count && !r; i++)
		awaited_remove(bond, slaves[i]);
	return r;
}

static int control_del_slaves(struct request *request, const char *const *slaves, size_t count,
			      const struct option_set *options, struct err *err)
{
	return request_del_slaves(request->daemon, request->bond, slaves, count, request->notes,
				  err);
}

static int control_set_slaves(struct request *request, const char *const *slaves, size_t count,
			      const struct option_set *options, struct err *err)
{
	return request_set_slaves(request->daemon, request->bond, slaves, count, options, err);
}

static int control_do_add_slave(struct request *request, struct err *err)
{
	return control_with_slaves(request, control_add_slaves, err);
}

static int control_do_del_slave(struct request *request, struct err *err)
{
	return control_with_slaves(request, control_del_slaves, err);
}

static int control_do_set_slave(struct request *request, struct err *err)
{
	return control_with_slaves(request, control_set_slaves, err);
}

/* Returns 0 if there is no bond of this name, or if it has our own ABI version. */
static uint32_t control_foreign_abi(const struct daemon *daemon, const char *name)
{
	uint32_t abi;

	pins_abi(daemon->paths.bpf_dir, name, &abi, NULL);
	return abi == XBOND_ABI_VERSION ? 0 : abi;
}

/* Also one that is deleted, as long as not all of its slaves are as before. */
static struct bond *control_find(struct daemon *daemon, const char *name)
{
	struct bond *bond = daemon_find_bond(daemon, name);

	return bond ? bond : lifecycle_ending(daemon, name);
}

static int control_do_list(struct request *request, struct err *err)
{
	char **names;
	int r = pins_names(&names, request->daemon->paths.bpf_dir, err);

	if (r)
		return r;
	request->result = json_array();
	for (char **name = names; *name; name++)
		if (control_find(request->daemon, *name) ||
		    daemon_is_unadopted(request->daemon, *name) ||
		    control_foreign_abi(request->daemon, *name))
			json_array_append_new(request->result, json_value_text(*name));
	memory_free_texts(names);
	return 0;
}

static int control_look_at(struct request *request,
			   json_t *(*view)(const struct pins *pins, const char *name),
			   struct err *err)
{
	struct bond *bond = control_find(request->daemon, request->bond);
	const struct pins *pins;
	json_t *json;

	if (!bond)
		return request_refuse_absent(request->daemon, request->bond, err);
	pins = &bond->dataplane.pins;
	json = view(pins, request->bond);
	if (!json)
		return err_set(err, EIO, "cannot read the counters of %s; try again",
			       request->bond);
	request->result = json_pack("{s:o, s:b, s:o}", "view", json, "forced_counted",
				    !!(pins->table->flags & XBOND_F_FORCE_COUNTED), "awaited",
				    awaited_names(bond));
	return 0;
}

static json_t *control_view_with_bondd(const struct pins *pins, const char *name)
{
	return view_bond(pins, name, true, latency_figures());
}

static json_t *control_stats_with_loop(const struct pins *pins, const char *name)
{
	return view_stats(pins, name, latency_figures());
}

static int control_do_show(struct request *request, struct err *err)
{
	uint32_t abi = control_find(request->daemon, request->bond)
			       ? 0
			       : control_foreign_abi(request->daemon, request->bond);
	int r;

	if (abi) {
		request->result = json_pack("{s:o, s:b, s:[]}", "view",
					    view_foreign(request->bond, abi, true),
					    "forced_counted", 0, "awaited");
		return 0;
	}
	r = control_look_at(request, control_view_with_bondd, err);
	if (!r)
		json_object_set(json_object_get(request->result, "view"), "awaited",
				json_object_get(request->result, "awaited"));
	return r;
}

static int control_do_stats(struct request *request, struct err *err)
{
	return control_look_at(request, control_stats_with_loop, err);
}

static int control_do_monitor(struct request *request, struct err *err)
{
	int r = subscriber_check(request->client->uid, err);

	if (r)
		return r;
	request->since = subscriber_first_event(request->words);
	request->result =
		json_pack("{s:s, s:I, s:I}", "bondd", event_run(), "from",
			  (json_int_t)request->since, "next", (json_int_t)event_ring()->next);
	return 0;
}

static int control_apply(struct request *request, bool only_new, struct err *err)
{
	json_int_t confirm = json_integer_value(json_object_get(request->words, "confirm"));
	struct apply_order order = {
		.only_new = only_new,
		.is_dry = json_is_true(json_object_get(request->words, "dry_run")),
		.may_interrupt = json_is_true(json_object_get(request->words, "interrupt")),
		.confirm.apply = rollback_new_apply(),
	};

	if (confirm > 0 && confirm <= ROLLBACK_MAX_S)
		order.confirm.seconds = (unsigned int)confirm;
	if (confirm && !order.confirm.seconds)
		return err_set(err, EINVAL, "bad request: confirm is not 1 to %d seconds",
			       ROLLBACK_MAX_S);
	if (config_check_dir(request->daemon,
			     json_string_value(json_object_get(request->words, "config_dir")), err))
		return -EINVAL;
	if (request->bond)
		request->result =
			json_pack("[o]", apply_bond(request->daemon, request->bond, &order));
	else
		request->result = apply_all(request->daemon, &order);
	return 0;
}

static int control_do_apply(struct request *request, struct err *err)
{
	return control_apply(request, false, err);
}

static int control_do_load(struct request *request, struct err *err)
{
	return control_apply(request, true, err);
}

/* One bond, or all that wait. The result names those that did it. */
static int control_with_waiting(struct request *request,
				int (*function)(const char *bond, struct err *err), struct err *err)
{
	json_t *names = request->bond ? json_pack("[s]", request->bond) : rollback_names();
	const json_t *name;
	size_t at;
	int r = 0;

	request->result = json_array();
	json_array_foreach (names, at, name) {
		char text[XBOND_NAME_SIZE];
		const char *bond = name_from_json(name, text) ? text : json_string_value(name);
		struct err why;
		int failed = function(bond, &why);

		if (failed && !r)
			r = err_set(err, -failed, "%s", why.text);
		if (!failed)
			json_array_append_new(request->result, json_value_text(bond));
	}
	json_decref(names);
	if (r) {
		json_decref(request->result);
		request->result = NULL;
	}
	return r;
}

static int control_do_confirm(struct request *request, struct err *err)
{
	return control_with_waiting(request, rollback_confirm, err);
}

static int control_do_rollback(struct request *request, struct err *err)
{
	if (!request->bond)
		rollback_prepare_all();
	return control_with_waiting(request, rollback_now, err);
}

static const struct method methods[] = {
	{ "ping", control_do_ping, METHOD_FOR_ALL },
	{ "list", control_do_list, METHOD_FOR_ALL },
	{ "show", control_do_show, METHOD_FOR_ALL | METHOD_NAMES_BOND },
	{ "stats", control_do_stats, METHOD_FOR_ALL | METHOD_NAMES_BOND },
	{ "monitor", control_do_monitor, METHOD_FOR_ALL | METHOD_MONITOR },
	{ "create", control_do_create, METHOD_NAMES_BOND | METHOD_OPTIONS },
	{ "delete", control_do_delete, METHOD_NAMES_BOND | METHOD_CHANGES },
	{ "add-slave", control_do_add_slave,
	  METHOD_NAMES_BOND | METHOD_CHANGES | METHOD_SLAVES | METHOD_OPTIONS },
	{ "del-slave", control_do_del_slave, METHOD_NAMES_BOND | METHOD_CHANGES | METHOD_SLAVES },
	{ "set", control_do_set, METHOD_NAMES_BOND | METHOD_CHANGES | METHOD_OPTIONS },
	{ "set-slave", control_do_set_slave,
	  METHOD_NAMES_BOND | METHOD_CHANGES | METHOD_SLAVES | METHOD_OPTIONS },
	{ "refresh", control_do_refresh, METHOD_NAMES_BOND },
	{ "policy", control_do_policy, METHOD_NAMES_BOND | METHOD_CHANGES },
	{ "takeover", control_do_takeover, METHOD_NAMES_BOND | METHOD_CHANGES | METHOD_OPTIONS },
	{ "handback", control_do_handback, METHOD_NAMES_BOND | METHOD_CHANGES },
	{ "load", control_do_load, METHOD_MAY_NAME_BOND | METHOD_APPLY },
	{ "apply", control_do_apply, METHOD_MAY_NAME_BOND | METHOD_APPLY },
	{ "confirm", control_do_confirm, METHOD_MAY_NAME_BOND },
	{ "rollback", control_do_rollback, METHOD_MAY_NAME_BOND },
};

const struct method *control_find_method(const char *name)
{
	for (size_t i = 0; name && i < sizeof(methods) / sizeof(methods[0]); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}
