/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a request into a call of its method (control.c) and the result into an answer. The
 * connections are in control_socket.c.
 */
#include "daemon/control/control.h"

#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/manage/requests.h"
#include "view/view_json.h"

json_t *control_words(int r, const struct err *err, json_t *notes, json_t *result)
{
	if (r)
		return json_pack("{s:b, s:o}", "ok", 0, "error", json_value_text(err->text));
	return json_pack("{s:b, s:O, s:o*}", "ok", 1, "notes", notes, "result", result);
}

static const struct field {
	const char *name;
	json_type type; /* JSON_TRUE: or JSON_FALSE */
	const char *is;
	unsigned int traits; /* methods with one of them have it; 0: all */
} fields[] = {
	{ "method", JSON_STRING, "text", 0 },
	{ "bond", JSON_STRING, "text", METHOD_NAMES_BOND | METHOD_MAY_NAME_BOND },
	{ "slaves", JSON_ARRAY, "an array", METHOD_SLAVES },
	{ "options", JSON_OBJECT, "an object", METHOD_OPTIONS },
	{ "config_dir", JSON_STRING, "text", METHOD_APPLY },
	{ "dry_run", JSON_TRUE, "true or false", METHOD_APPLY },
	{ "interrupt", JSON_TRUE, "true or false", METHOD_APPLY },
	{ "confirm", JSON_INTEGER, "an integer", METHOD_APPLY },
	{ "from", JSON_INTEGER, "an integer", METHOD_MONITOR },
	{ "bondd", JSON_STRING, "text", METHOD_MONITOR },
};

static const struct field *control_find_field(const struct method *method, const char *name)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strcmp(fields[i].name, name) &&
		    (!fields[i].traits || fields[i].traits & method->traits))
			return &fields[i];
	return NULL;
}

/* What bondd does not know or cannot read may be a wish, which it must not silently ignore. */
static int control_check_fields(const struct method *method, json_t *words, struct err *err)
{
	const char *name;
	json_t *value;

	json_object_foreach (words, name, value) {
		const struct field *field = control_find_field(method, name);

		if (!field)
			return err_set(err, EINVAL, "bad request: %s has no field '%s'",
				       method->name, name);
		if (json_typeof(value) != field->type &&
		    !(field->type == JSON_TRUE && json_is_false(value)))
			return err_set(err, EINVAL, "bad request: '%s' is not %s", name, field->is);
	}
	return 0;
}

static int control_call(struct request *request, struct err *err)
{
	const char *name = json_string_value(json_object_get(request->words, "method"));
	const struct method *method = control_find_method(name);

	if (!method)
		return err_set(err, EINVAL, "bad request: unknown method %s",
			       name ? name : "(none)");
	if (request->client->uid && !(method->traits & METHOD_FOR_ALL))
		return err_set(err, EPERM, "permission denied: only root may change bonds");
	if (control_check_fields(method, request->words, err))
		return -EINVAL;
	if (method->traits & METHOD_NAMES_BOND && !request->bond)
		return err_set(err, EINVAL, "bad request: no bond named");
	if (method->traits & METHOD_CHANGES &&
	    request_check_free(request->daemon, request->bond, err))
		return -EBUSY;
	latency_note(method->name);
	return method->function(request, err);
}

json_t *control_answer(struct daemon *daemon, const struct control_client *client, const char *line,
		       size_t length, uint64_t *ret_since)
{
	json_error_t where;
	json_t *words = json_loadb(line, length, JSON_REJECT_DUPLICATES, &where);
	struct request request = {
		.daemon = daemon,
		.client = client,
		.words = words,
		.bond = json_string_value(json_object_get(words, "bond")),
		.slaves = json_object_get(words, "slaves"),
		.options = json_object_get(words, "options"),
		.notes = json_array(),
	};
	struct err err = { 0 };
	json_t *answer;
	int r;

	event_set_author(client->pid);
	r = words ? control_call(&request, &err)
		  : err_set(&err, EINVAL, "bad request: %s", where.text);
	event_set_author(0);
	answer = request.is_later ? NULL : control_words(r, &err, request.notes, request.result);
	*ret_since = r ? 0 : request.since;
	json_decref(words);
	json_decref(request.notes);
	return answer;
}
