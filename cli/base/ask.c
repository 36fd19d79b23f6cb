/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/client.h"
#include "common/err.h"

static int ask(const char *run_dir, json_t *request, json_t **ret_result, struct err *err)
{
	json_t *reply = NULL;
	struct err why;
	int r = client_call(run_dir, request, CLIENT_WAIT_S, &reply, &why);

	json_decref(request);
	if (r == -EREMOTEIO)
		return err_set(err, -r, "%s", why.text);
	if (r)
		return err_set(err, -r,
			       "permission denied: run as root, or as a member of the group xbond "
			       "while bondd runs (%s)",
			       why.text);
	*ret_result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return *ret_result ? 0
			   : err_set(err, EPROTO, "bondd is older than this bondctl: run as root");
}

static int ask_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int ask_names(const char *run_dir, char ***ret_names, struct err *err)
{
	json_t *list = NULL, *name;
	char **names;
	size_t at;
	int r = ask(run_dir, json_pack("{s:s}", "method", "list"), &list, err);

	if (r)
		return r;
	names = memory_need(calloc(json_array_size(list) + 1, sizeof(*names)));
	json_array_foreach (list, at, name)
		if (json_is_string(name))
			names[at] = memory_need(strdup(json_string_value(name)));
	qsort(names, json_array_size(list), sizeof(*names), ask_compare);
	json_decref(list);
	*ret_names = names;
	return r;
}

int ask_view(const char *run_dir, const char *method, const char *name, json_t **ret_view,
	     bool *ret_forced_counted, struct err *err)
{
	json_t *result = NULL;
	int r = ask(run_dir, json_pack("{s:s, s:s}", "method", method, "bond", name), &result, err);

	if (r)
		return r;
	*ret_view = json_incref(json_object_get(result, "view"));
	*ret_forced_counted = json_is_true(json_object_get(result, "forced_counted"));
	json_decref(result);
	return *ret_view ? 0 : err_set(err, EPROTO, "cannot understand bondd's answer");
}
