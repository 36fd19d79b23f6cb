/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cni/cni_record.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
