/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cni/cni_bondd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "cni/cni_links.h"
#include "network/link.h"
#include "options/options.h"

#define PING_WAIT_S 5

/* Takes the reference to the request. ret_reply may be NULL. */
static int cni_bondd_call(const struct cni_call *call, json_t *request, json_t **ret_reply,
			  struct err *err)
{
	json_t *reply = NULL;
	int r = client_call(call->paths.run_dir, request, CLIENT_WAIT_S, &reply, err);

	json_decref(request);
	if (ret_reply)
		*ret_reply = r ? NULL : reply;
	else
		json_decref(r ? NULL : reply);
	if (r == -ENOTCONN || r == -ECONNRESET)
		return -CNI_TRY_AGAIN;
	return r ? -CNI_REFUSED : 0;
}

/* An option that names a link says what the link is called in the pod. */
static json_t *cni_bondd_options(const struct cni_record *record, const struct cni_call *call)
{
	json_t *options = json_copy(call->config.options), *value;
	const char *name;

	json_object_foreach (call->config.options, name, value)
		if (option_find(OPTION_BOND, name)->type == OPTION_IFNAME)
			json_object_set_new(
				options, name,
				json_string(cni_links_host_name(record, json_string_value(value))));
	return options;
}

static int cni_bondd_add_slaves(const struct cni_record *record, const struct cni_call *call,
				struct err *err)
{
	const struct cni_config *config = &call->config;
	int r = 0;

	for (size_t i = 0; i < config->link_count && !r; i++)
		r = cni_bondd_call(call,
				   json_pack("{s:s, s:s, s:[s], s:O}", "method", "add-slave",
					     "bond", record->bond, "slaves",
					     cni_links_host_name(record, config->links[i].name),
					     "options", config->links[i].options),
				   NULL, err);
	return r;
}

static int cni_bondd_find(const struct cni_record *record, struct nl *nl,
			  struct link_info *ret_link, struct err *err)
{
	if (!link_get_by_name(nl, record->bond, ret_link))
		return 0;
	return err_set(err, CNI_REFUSED,
		       "bondd serves another namespace than the one that the runtime starts "
		       "plugins in; both must be that of the host");
}

/* The slaves follow bond0. The first one has given it its own address. */
static int cni_bondd_finish(const struct cni_config *config, struct nl *nl,
			    const struct link_info *link, struct err *err)
{
	if (config->mtu && link_set_mtu(nl, link->ifindex, config->mtu, err))
		return -CNI_KERNEL;
	if (config->has_mac && link_set_mac(nl, link->ifindex, config->mac, err))
		return -CNI_KERNEL;
	return 0;
}

int cni_bondd_create(const struct cni_record *record, const struct cni_call *call, struct nl *nl,
		     struct err *err)
{
	struct link_info link;
	int r = cni_bondd_call(call,
			       json_pack("{s:s, s:s, s:o}", "method", "create", "bond",
					 record->bond, "options", cni_bondd_options(record, call)),
			       NULL, err);

	if (!r)
		r = cni_bondd_find(record, nl, &link, err);
	if (!r)
		r = cni_bondd_add_slaves(record, call, err);
	return r ? r : cni_bondd_finish(&call->config, nl, &link, err);
}

/* Does bondd know it? Returns 1 or 0, or an error. */
static int cni_bondd_has(const struct cni_record *record, const struct cni_call *call,
			 struct err *err)
{
	json_t *reply, *name;
	int found = 0, r;
	size_t i;

	r = cni_bondd_call(call, json_pack("{s:s}", "method", "list"), &reply, err);
	if (r)
		return r;
	json_array_foreach (json_object_get(reply, "result"), i, name)
		found |= json_is_string(name) && !strcmp(json_string_value(name), record->bond);
	json_decref(reply);
	return found;
}

int cni_bondd_delete(const struct cni_record *record, const struct cni_call *call, struct err *err)
{
	char pins[4096];
	int r = cni_bondd_has(record, call, err);

	snprintf(pins, sizeof(pins), "%s/%s", call->paths.bpf_dir, record->bond);
	if (r == -CNI_TRY_AGAIN && access(pins, F_OK))
		return 0;
	if (r <= 0)
		return r;
	r = cni_bondd_call(call, json_pack("{s:s, s:s}", "method", "delete", "bond", record->bond),
			   NULL, err);
	if (r != -CNI_REFUSED)
		return r;
	/* It may have gone meanwhile, together with the pod's namespace. */
	return cni_bondd_has(record, call, NULL) ? r : 0;
}

void cni_bondd_refresh(const struct cni_record *record, const struct cni_call *call)
{
	struct err ignored;

	cni_bondd_call(call, json_pack("{s:s, s:s}", "method", "refresh", "bond", record->bond),
		       NULL, &ignored);
}

int cni_bondd_show(const struct cni_record *record, const struct cni_call *call, json_t **ret_view,
		   struct err *err)
{
	json_t *reply;
	int r = cni_bondd_call(
		call, json_pack("{s:s, s:s}", "method", "show", "bond", record->bond), &reply, err);

	if (r)
		return r;
	*ret_view = json_incref(json_object_get(json_object_get(reply, "result"), "view"));
	json_decref(reply);
	return *ret_view ? 0 : err_set(err, CNI_IO, "bondd's answer is malformed");
}

/* A runtime asks often, and waits. */
int cni_bondd_ping(const struct cni_call *call, struct err *err)
{
	json_t *request = json_pack("{s:s}", "method", "ping"), *reply = NULL;
	int r = client_call(call->paths.run_dir, request, PING_WAIT_S, &reply, err);

	json_decref(request);
	if (!r)
		json_decref(reply);
	else if (r != -ENOTCONN)
		err_set(err, CNI_UNAVAILABLE,
			"bondd has not answered within %d s; 'systemctl status bondd' says how it "
			"is",
			PING_WAIT_S);
	return r ? -CNI_UNAVAILABLE : 0;
}
