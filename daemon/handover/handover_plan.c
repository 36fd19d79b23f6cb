/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/handover/handover_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"
#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "options/names.h"

static const struct handover_words words_of_kind[] = {
	[HANDOVER_TAKEOVER] = { "takeover", "is an xbond bond now" },
	[HANDOVER_HANDBACK] = { "handback", "is a kernel bond now" },
	[HANDOVER_CONVERSION] = { "conversion", "has another kind of device now" },
};

const struct handover_words *handover_words(enum handover_kind kind)
{
	return &words_of_kind[kind];
}

struct handover *handover_new(struct daemon *daemon, enum handover_kind kind, json_t *notes)
{
	struct handover *plan = memory_need(calloc(1, sizeof(*plan)));

	plan->devices = memory_need(calloc(HANDOVER_DEVICES_MAX, sizeof(*plan->devices)));
	plan->daemon = daemon;
	plan->notes = notes;
	plan->kind = kind;
	plan->words = handover_words(kind);
	plan->options = json_object();
	plan->old_side = kind == HANDOVER_TAKEOVER ? &handover_side_kernel : &handover_side_xbond;
	plan->new_side = kind == HANDOVER_HANDBACK ? &handover_side_kernel : &handover_side_xbond;
	return plan;
}

void handover_free(struct handover *plan)
{
	for (size_t i = 0; i < plan->slave_count; i++)
		json_decref(plan->slaves[i].options);
	json_decref(plan->options);
	netconf_free(&plan->conf);
	free(plan->devices);
	free(plan);
}

/* The number alone might be another device's by now. */
static bool plan_is_old(const struct handover *plan, const struct handover_device *device,
			const struct link_info *link)
{
	return !strcmp(link->kind, device->kind) &&
	       (!strcmp(link->name, device->name) || !strcmp(link->name, device->old_name) ||
		mac_is_same(link->mac, plan->mac));
}

int handover_find_old(const struct handover *plan, size_t index, struct link_info *ret_link)
{
	const struct handover_device *device = &plan->devices[index];
	int r = link_get(&plan->daemon->nl, -1, device->old, ret_link);

	if (r)
		return r;
	return plan_is_old(plan, device, ret_link) ? 0 : -ENODEV;
}

struct netconf_device *handover_pairs(const struct handover *plan, bool back)
{
	struct netconf_device *pairs = memory_need(calloc(plan->device_count, sizeof(*pairs)));

	for (size_t i = 0; i < plan->device_count; i++) {
		const struct handover_device *device = &plan->devices[i];

		pairs[i] = (struct netconf_device){ device->old, back ? device->old : device->new };
	}
	return pairs;
}

static void journal_name(const char *bond, char ret_name[NAME_MAX])
{
	snprintf(ret_name, NAME_MAX, HANDOVER_DIRECTORY "/%s" HANDOVER_SUFFIX, bond);
}

static json_t *journal_hex(const struct nlmsghdr *request)
{
	const unsigned char *bytes = (const unsigned char *)request;
	char *text = memory_need(malloc(2 * (size_t)request->nlmsg_len + 1));
	json_t *json;

	for (size_t i = 0; i < request->nlmsg_len; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	json = json_string(text);
	free(text);
	return json;
}

static json_t *journal_slaves(const struct handover *plan)
{
	json_t *slaves = json_array();

	for (size_t i = 0; i < plan->slave_count; i++) {
		const struct handover_slave *slave = &plan->slaves[i];

		json_array_append_new(
			slaves, json_pack("{s:o, s:i, s:i, s:b, s:b, s:b, s:O}", "name",
					  name_to_json(slave->name), "ifindex", slave->ifindex,
					  "port", (int)slave->port, "has_link", slave->has_link,
					  "is_down", slave->is_down, "is_first", slave->is_first,
					  "options", slave->options));
	}
	return slaves;
}

static json_t *journal_devices(const struct handover *plan)
{
	json_t *devices = json_array();

	for (size_t i = 0; i < plan->device_count; i++) {
		const struct handover_device *device = &plan->devices[i];

		json_array_append_new(
			devices, json_pack("{s:s, s:o, s:o, s:o, s:i, s:i, s:i, s:b, s:b}", "kind",
					   device->kind, "name", name_to_json(device->name),
					   "new_name", name_to_json(device->new_name), "old_name",
					   name_to_json(device->old_name), "old", device->old,
					   "new", device->new, "lower", device->lower, "is_up",
					   device->is_up, "has_master", device->has_master));
	}
	return devices;
}

static json_t *journal_pack(const struct handover *plan)
{
	char mac[MAC_FORMAT_SIZE];
	json_t *conf = json_array();

	for (size_t i = 0; i < plan->conf.count; i++)
		json_array_append_new(conf, journal_hex(plan->conf.request[i]));
	return json_pack("{s:s, s:b, s:b, s:s, s:s, s:i, s:o, s:o, s:o}", "what", plan->words->name,
			 "is_untouched", plan->is_untouched, "is_ending", plan->is_ending,
			 "old_kind", plan->old_kind, "mac", mac_format(plan->mac, mac), "mtu",
			 (int)plan->mtu, "slaves", journal_slaves(plan), "devices",
			 journal_devices(plan), "conf", conf);
}

int handover_journal_write(const struct handover *plan, struct err *err)
{
	const struct paths *paths = &plan->daemon->paths;
	char directory[PATH_MAX], name[NAME_MAX];
	int r;

	snprintf(directory, sizeof(directory), "%s/" HANDOVER_DIRECTORY, paths->run_dir);
	paths_make_dir(directory, 0700);
	journal_name(handover_name(plan), name);
	r = run_file_write(paths, name, journal_pack(plan));
	return r ? err_set(err, -r, "the journal %s/%s cannot be written: %s; is there room?",
			   paths->run_dir, name, strerror(-r))
		 : 0;
}

void handover_journal_remove(const struct handover *plan)
{
	char name[NAME_MAX];

	journal_name(handover_name(plan), name);
	run_file_remove(&plan->daemon->paths, name);
}

static bool journal_take_name(const json_t *object, const char *key, char ret_name[XBOND_NAME_SIZE])
{
	return name_from_json(json_object_get(object, key), ret_name) && *ret_name;
}

static int journal_number(const json_t *object, const char *key)
{
	return (int)json_integer_value(json_object_get(object, key));
}

static bool journal_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static bool journal_take_devices(const json_t *devices, struct handover *plan)
{
	json_t *json;
	size_t i;

	if (!json_array_size(devices) || json_array_size(devices) > HANDOVER_DEVICES_MAX)
		return false;
	json_array_foreach (devices, i, json) {
		struct handover_device *device = &plan->devices[i];

		if (!journal_take_name(json, "kind", device->kind) ||
		    !journal_take_name(json, "name", device->name) ||
		    !journal_take_name(json, "new_name", device->new_name) ||
		    !journal_take_name(json, "old_name", device->old_name))
			return false;
		device->old = journal_number(json, "old");
		device->new = journal_number(json, "new");
		device->lower = journal_number(json, "lower");
		device->is_up = journal_flag(json, "is_up");
		device->has_master = journal_flag(json, "has_master");
		plan->device_count = i + 1;
	}
	return true;
}

static bool journal_take_slaves(const json_t *slaves, struct handover *plan)
{
	json_t *json;
	size_t i;

	if (json_array_size(slaves) > XBOND_MAX_SLAVES)
		return false;
	json_array_foreach (slaves, i, json) {
		struct handover_slave *slave = &plan->slaves[i];

		if (!journal_take_name(json, "name", slave->name))
			return false;
		slave->ifindex = journal_number(json, "ifindex");
		slave->port = (unsigned int)journal_number(json, "port");
		slave->has_link = journal_flag(json, "has_link");
		slave->is_down = journal_flag(json, "is_down");
		slave->is_first = journal_flag(json, "is_first");
		slave->options = json_incref(json_object_get(json, "options"));
		plan->slave_count = i + 1;
	}
	return true;
}

static bool journal_take_request(const char *text, struct netconf *conf)
{
	size_t size = text ? strlen(text) / 2 : 0;
	unsigned char *bytes = memory_need(malloc(size + 1));
	bool taken = size > 0;

	for (size_t i = 0; taken && i < size; i++)
		taken = sscanf(text + 2 * i, "%2hhx", &bytes[i]) == 1;
	taken = taken && netconf_add(conf, bytes, size);
	free(bytes);
	return taken;
}

static bool journal_take(const json_t *journal, const char *name, struct handover *plan)
{
	const char *mac = json_string_value(json_object_get(journal, "mac"));
	const char *kind = json_string_value(json_object_get(journal, "old_kind"));
	json_t *request;
	size_t i;

	if (!mac || mac_parse(mac, plan->mac) || !kind || strlen(kind) >= sizeof(plan->old_kind))
		return false;
	memcpy(plan->old_kind, kind, strlen(kind) + 1);
	plan->mtu = (uint32_t)journal_number(journal, "mtu");
	plan->is_untouched = journal_flag(journal, "is_untouched");
	plan->is_ending = journal_flag(journal, "is_ending");
	json_array_foreach (json_object_get(journal, "conf"), i, request)
		if (!journal_take_request(json_string_value(request), &plan->conf))
			return false;
	return journal_take_devices(json_object_get(journal, "devices"), plan) &&
	       !strcmp(handover_name(plan), name) &&
	       journal_take_slaves(json_object_get(journal, "slaves"), plan);
}

/* Returns how many kinds there are if it is none of them. */
static size_t journal_kind(const json_t *journal)
{
	const size_t count = sizeof(words_of_kind) / sizeof(words_of_kind[0]);
	const char *name = json_string_value(json_object_get(journal, "what"));
	size_t kind = 0;

	while (kind < count && (!name || strcmp(name, words_of_kind[kind].name)))
		kind++;
	return kind;
}

/* Its devices ended with that, and others have their numbers, and maybe their names, now. */
static int journal_set_aside(const struct daemon *daemon, const char *name, const char *file)
{
	event_warning(name, NULL,
		      "the record %s/%s of an unfinished takeover is of an earlier boot, or of "
		      "another network namespace; it is removed, and nothing else is changed",
		      daemon->paths.run_dir, file);
	run_file_remove(&daemon->paths, file);
	return -ENOENT;
}

int handover_journal_read(struct daemon *daemon, const char *name, struct handover **ret_plan,
			  struct err *err)
{
	const size_t count = sizeof(words_of_kind) / sizeof(words_of_kind[0]);
	char path[PATH_MAX], file[NAME_MAX];
	bool taken, is_of_this_boot = false;
	struct handover *plan;
	json_t *journal;
	size_t kind;

	journal_name(name, file);
	snprintf(path, sizeof(path), "%s/%s", daemon->paths.run_dir, file);
	if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW))
		return -ENOENT;
	journal = run_file_read(&daemon->paths, file, &is_of_this_boot);
	if (json_is_string(json_object_get(journal, "boot_id")) && !is_of_this_boot) {
		json_decref(journal);
		return journal_set_aside(daemon, name, file);
	}
	kind = journal_kind(journal);
	plan = handover_new(daemon, kind < count ? (enum handover_kind)kind : HANDOVER_TAKEOVER,
			    NULL);
	taken = is_of_this_boot && kind < count && journal_take(journal, name, plan);
	json_decref(journal);
	if (taken) {
		*ret_plan = plan;
		return 0;
	}
	handover_free(plan);
	return err_set(
		err, EPROTO,
		"the record %s of an unfinished takeover cannot be read; bring the bond into "
		"order by hand, then remove this file",
		path);
}
