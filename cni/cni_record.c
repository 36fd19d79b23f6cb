/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ADD has made: its record in a file, and its bond at bondd. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "cni/cni.h"
#include "network/link.h"
#include "options/options.h"

/* The record. */

#define RECORD_SUFFIX ".json"
#define RECORD_PATH_SIZE 4096

static void cni_record_path(const struct cni_call *call, const char *bond, const char *suffix,
			    char ret_path[RECORD_PATH_SIZE])
{
	snprintf(ret_path, RECORD_PATH_SIZE, "%s/cni/%s%s", call->paths.run_dir, bond, suffix);
}

/* FNV-1a. Two attachments of one name are found out when the record is read. */
static void cni_record_name(const char *container, const char *ifname,
			    char ret_bond[XBOND_NAME_SIZE])
{
	unsigned long long hash = 0xcbf29ce484222325;

	for (const char *at = container; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
	hash = (hash ^ '/') * 0x100000001b3;
	for (const char *at = ifname; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
	snprintf(ret_bond, XBOND_NAME_SIZE, "xb%010llx", (hash >> 24) & 0xffffffffff);
}

void cni_record_init(struct cni_record *ret_record, const struct cni_call *call)
{
	cni_record_name(call->container, call->ifname, ret_record->bond);
	ret_record->json =
		json_pack("{s:s, s:s, s:s, s:s, s:s?, s:[]}", "network", call->config.name,
			  "containerID", call->container, "ifname", call->ifname, "device",
			  cni_device(call), "netns", call->netns, "links");
}

const char *cni_record_text(const struct cni_record *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record->json, key));

	return text ? text : "";
}

json_t *cni_record_links(const struct cni_record *record)
{
	return json_object_get(record->json, "links");
}

static bool cni_record_is_sound(const struct cni_record *record)
{
	json_t *link;
	size_t i;

	json_array_foreach (cni_record_links(record), i, link) {
		const char *name = json_string_value(json_object_get(link, "name"));
		const char *host = json_string_value(json_object_get(link, "host"));

		if (!name || !host || !cni_is_device_name(name) || !cni_is_device_name(host))
			return false;
	}
	return json_is_array(cni_record_links(record)) && *cni_record_text(record, "containerID");
}

static int cni_record_read(struct cni_record *record, const struct cni_call *call, struct err *err)
{
	char path[RECORD_PATH_SIZE];
	json_error_t where;

	cni_record_path(call, record->bond, RECORD_SUFFIX, path);
	record->json = json_load_file(path, 0, &where);
	if (!record->json && json_error_code(&where) == json_error_cannot_open_file &&
	    errno == ENOENT)
		return err_set(err, CNI_UNKNOWN_CONTAINER, "there is no bond %s of container %s",
			       call->ifname ? call->ifname : "?",
			       call->container ? call->container : "?");
	if (record->json && cni_record_is_sound(record))
		return 0;
	json_decref(record->json);
	record->json = NULL;
	return err_set(err, CNI_IO,
		       "%s cannot be read (%s); 'bondctl delete %s' ends its bond, then remove it",
		       path, where.text[0] ? where.text : "it is incomplete", record->bond);
}

int cni_record_load(struct cni_record *ret_record, const struct cni_call *call, struct err *err)
{
	int r;

	cni_record_name(call->container, call->ifname, ret_record->bond);
	r = cni_record_read(ret_record, call, err);
	if (r)
		return r;
	if (!strcmp(cni_record_text(ret_record, "containerID"), call->container) &&
	    !strcmp(cni_record_text(ret_record, "ifname"), call->ifname))
		return 0;
	cni_record_done(ret_record);
	return err_set(err, CNI_UNKNOWN_CONTAINER, "there is no bond %s of container %s",
		       call->ifname, call->container);
}

int cni_record_store(const struct cni_record *record, const struct cni_call *call, struct err *err)
{
	char path[RECORD_PATH_SIZE], staging[RECORD_PATH_SIZE];
	int r;

	cni_record_path(call, "", "", path);
	r = paths_make_dir(path, 0700);
	if (r)
		return err_set(err, CNI_IO, "cannot make %s: %s", path, strerror(-r));
	cni_record_path(call, record->bond, RECORD_SUFFIX, path);
	cni_record_path(call, record->bond, ".new", staging);
	if (!access(path, F_OK))
		return err_set(err, CNI_BAD_ENVIRONMENT,
			       "container %s has a bond %s already; it must be deleted first (%s)",
			       call->container, call->ifname, path);
	if (json_dump_file(record->json, staging, JSON_INDENT(2)) || rename(staging, path)) {
		r = err_set(err, CNI_IO, "cannot write %s: %s", path, strerror(errno));
		unlink(staging);
		return r;
	}
	return 0;
}

void cni_record_remove(const struct cni_record *record, const struct cni_call *call)
{
	char path[RECORD_PATH_SIZE];

	cni_record_path(call, record->bond, RECORD_SUFFIX, path);
	unlink(path);
}

void cni_record_done(struct cni_record *record)
{
	json_decref(record->json);
	record->json = NULL;
}

/* The bond of a record's file; false: it is another file. */
static bool cni_record_of_file(const char *file, char ret_bond[XBOND_NAME_SIZE])
{
	size_t length = strlen(file), suffix = strlen(RECORD_SUFFIX);

	if (length <= suffix || length - suffix >= XBOND_NAME_SIZE ||
	    strcmp(file + length - suffix, RECORD_SUFFIX))
		return false;
	memcpy(ret_bond, file, length - suffix);
	ret_bond[length - suffix] = '\0';
	return cni_is_identifier(ret_bond);
}

int cni_record_visit(const struct cni_call *call,
		     int (*visit)(const struct cni_call *call, const struct cni_record *record,
				  struct err *err),
		     struct err *err)
{
	char path[RECORD_PATH_SIZE];
	struct dirent *entry;
	int first = 0;
	DIR *dir;

	cni_record_path(call, "", "", path);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		struct cni_record record;
		struct err why;
		int r;

		if (!cni_record_of_file(entry->d_name, record.bond))
			continue;
		r = cni_record_read(&record, call, &why);
		if (!r && !strcmp(cni_record_text(&record, "network"), call->config.name))
			r = visit(call, &record, &why);
		if (r && !first) {
			first = r;
			*err = why;
		}
		cni_record_done(&record);
	}
	if (dir)
		closedir(dir);
	return first;
}

/* The bond. */

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
