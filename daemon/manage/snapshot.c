/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "common/mac.h"
#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "daemon/bond/awaited.h"
#include "daemon/bond/evaluate.h"
#include "daemon/device/device.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/plan.h"
#include "daemon/manage/requests.h"
#include "options/names.h"
#include "options/values.h"

/* Not what is state, what cannot change, and what another name stands for. */
static bool snapshot_has(const struct option_spec *option, enum option_scope scope)
{
	return option->scope == scope && option->home != OPTION_NOWHERE && !option->is_alias &&
	       option->id != OPT_ACTIVE_SLAVE && option->id != OPT_DEVICE;
}

static json_t *snapshot_options(struct bond *bond, enum option_scope scope, unsigned int slot)
{
	struct option_set options = { 0 };

	for (int id = 0; id < OPT_COUNT; id++) {
		options.given[id] = snapshot_has(option_at(id), scope);
		if (options.given[id])
			values_read(&bond->dataplane.pins, option_at(id), slot, &options.value[id]);
	}
	return option_set_to_json(&options, name_to_json);
}

static json_t *snapshot_given(const struct option_set *set)
{
	struct option_set options = *set;

	for (int id = 0; id < OPT_COUNT; id++)
		options.given[id] &= snapshot_has(option_at(id), OPTION_SLAVE);
	return option_set_to_json(&options, name_to_json);
}

static json_t *snapshot_slave(const char *name, const uint8_t *perm_mac, bool is_awaited,
			      json_t *options)
{
	char mac[MAC_FORMAT_SIZE];

	return json_pack("{s:o, s:s, s:b, s:o}", "name", name_to_json(name), "perm_mac",
			 mac_format(perm_mac, mac), "awaited", is_awaited, "options", options);
}

static json_t *snapshot_slaves(struct bond *bond)
{
	json_t *slaves = json_array();

	bond_for_each_member (bond, slot)
		json_array_append_new(slaves,
				      snapshot_slave(bond_slave(bond, slot)->name,
						     bond_slave(bond, slot)->perm_mac, false,
						     snapshot_options(bond, OPTION_SLAVE, slot)));
	for (const struct awaited *awaited = bond->daemon->awaited; awaited;
	     awaited = awaited->next)
		if (awaited->bond == bond && !awaited->added)
			json_array_append_new(
				slaves, snapshot_slave(awaited->slave.name, awaited->perm_mac, true,
						       snapshot_given(&awaited->slave.options)));
	return slaves;
}

json_t *snapshot_take(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	char mac[MAC_FORMAT_SIZE];

	return json_pack("{s:b, s:s, s:b, s:o, s:o}", "existed", 1, "mac",
			 mac_format(pin->mac, mac), "mac_is_random",
			 mac_is_same(pin->mac, pin->random_mac), "options",
			 snapshot_options(bond, OPTION_BOND, 0), "slaves", snapshot_slaves(bond));
}

json_t *snapshot_of_nothing(void)
{
	return json_pack("{s:b}", "existed", 0);
}

static int snapshot_bad(struct err *err)
{
	return err_set(err, EINVAL, "it is damaged");
}

static int snapshot_read_slave(const json_t *json, struct config_slave *ret_slave, struct err *err)
{
	char *name = ret_slave->name;
	const char *mac = json_string_value(json_object_get(json, "perm_mac"));

	if (!name_from_json(json_object_get(json, "name"), name) || !mac ||
	    mac_parse(mac, ret_slave->perm_mac) ||
	    (*name ? name_check("slave", name, err) : mac_is_zero(ret_slave->perm_mac)))
		return snapshot_bad(err);
	return option_set_from_json(&ret_slave->options, OPTION_SLAVE,
				    json_object_get(json, "options"), err);
}

static int snapshot_read(const json_t *snapshot, struct config_file *ret_file, struct err *err)
{
	const json_t *slaves = json_object_get(snapshot, "slaves"), *slave;
	size_t at;
	int r = option_set_from_json(&ret_file->bond, OPTION_BOND,
				     json_object_get(snapshot, "options"), err);

	if (r || !ret_file->bond.given[OPT_MODE] || !json_is_array(slaves) ||
	    json_array_size(slaves) > 2 * XBOND_MAX_SLAVES)
		return r ? r : snapshot_bad(err);
	json_array_foreach (slaves, at, slave) {
		struct config_slave read = { .name = "" }, *added;

		r = snapshot_read_slave(slave, &read, err);
		if (r)
			return r;
		added = config_file_add_slave(ret_file, &read);
		added->options = read.options;
	}
	return 0;
}

int snapshot_check(const json_t *snapshot, struct err *err)
{
	struct config_file file = { 0 };
	int r;

	if (!json_is_boolean(json_object_get(snapshot, "existed")))
		return snapshot_bad(err);
	if (json_is_false(json_object_get(snapshot, "existed")))
		return 0;
	r = snapshot_read(snapshot, &file, err);
	config_file_free(&file);
	return r;
}

/* A bond that never had a slave has the address that it was made with. */
static int snapshot_restore_mac(struct daemon *daemon, const char *name, const json_t *snapshot,
				struct err *err)
{
	struct bond *bond;
	int r = request_find(daemon, name, &bond, err);

	if (r || json_is_false(json_object_get(snapshot, "mac_is_random")) ||
	    bond_slave_count(bond) || mac_is_same(bond_pin(bond)->mac, bond_pin(bond)->random_mac))
		return r;
	r = device_set_mac(bond, bond_pin(bond)->random_mac, err);
	if (!r)
		bond_evaluate(bond);
	return r;
}

/* What the bond's mode does not have cannot be given to add-slave. It has no effect. */
static void snapshot_restore_latent(struct bond *bond, const struct config_slave *slave)
{
	struct link_info link;
	int slot = slave_find(bond, slave, &link) ? -1 : bond_slot_by_ifindex(bond, link.ifindex);

	if (slot < 0 || !bond_is_member(bond, (unsigned int)slot))
		return;
	for (int id = OPT_WEIGHT; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		if (slave->options.given[id] && option->home == OPTION_IN_SLAVE &&
		    !option_is_of_mode(option, bond_pin(bond)->mode))
			values_write(&bond->dataplane.pins, option, (unsigned int)slot,
				     &slave->options.value[id]);
	}
}

static int snapshot_restore_bond(struct daemon *daemon, const char *name, const json_t *snapshot,
				 struct err *err)
{
	struct config_file file = { 0 };
	struct plan_wish wish = { .file = &file, .is_exact = true, .may_interrupt = true };
	struct plan plan = { 0 };
	struct bond *bond;
	struct err why;
	int r = snapshot_read(snapshot, &file, err), failed;

	if (!r)
		r = request_find(daemon, name, &bond, err);
	if (!r) {
		r = plan_make(bond, &wish, &plan, err);
		failed = plan_run(daemon, name, &plan, true, NULL, &why);
		if (failed && !r)
			r = err_set(err, -failed, "%s", why.text);
		for (size_t i = 0; i < file.slave_count && daemon_find_bond(daemon, name); i++)
			snapshot_restore_latent(daemon_find_bond(daemon, name), &file.slaves[i]);
		failed = snapshot_restore_mac(daemon, name, snapshot, &why);
		if (failed && !r)
			r = err_set(err, -failed, "%s", why.text);
	}
	plan_free(&plan);
	config_file_free(&file);
	return r;
}

int snapshot_restore(struct daemon *daemon, const char *bond, const json_t *snapshot,
		     struct err *err)
{
	if (json_is_true(json_object_get(snapshot, "existed")))
		return snapshot_restore_bond(daemon, bond, snapshot, err);
	return daemon_find_bond(daemon, bond) ? request_delete(daemon, bond, err) : 0;
}

json_t *snapshot_members(struct daemon *daemon, const char *name)
{
	struct bond *bond = daemon_find_bond(daemon, name);
	json_t *members = json_array();

	if (bond)
		bond_for_each_member (bond, slot)
			json_array_append_new(members, name_to_json(bond_slave(bond, slot)->name));
	return members;
}

bool snapshot_keep_members(struct daemon *daemon, const char *name, const json_t *members)
{
	const struct option_set none = { 0 };
	struct bond *bond = daemon_find_bond(daemon, name);
	const json_t *member;
	bool kept = false;
	struct err why;
	size_t at;

	if (!bond || bond_slave_count(bond))
		return false;
	json_array_foreach (members, at, member) {
		char name_of_slave[XBOND_NAME_SIZE];
		const char *slave = name_of_slave;

		if (!name_from_json(member, name_of_slave))
			continue;
		kept |= !request_add_slaves(daemon, name, &slave, 1, &none, NULL, &why);
	}
	return kept;
}

#define SUFFIX ".rollback"

static void snapshot_file_name(char ret_name[NAME_MAX], const char *bond)
{
	snprintf(ret_name, NAME_MAX, "%s" SUFFIX, bond);
}

int snapshot_file_write(const struct paths *paths, const char *bond,
			const struct snapshot_record *record)
{
	char name[NAME_MAX];

	snapshot_file_name(name, bond);
	return run_file_write(paths, name,
			      json_pack("{s:I, s:I, s:O}", "at_us", (json_int_t)record->at_us,
					"apply", (json_int_t)record->apply, "snapshot",
					record->snapshot));
}

void snapshot_file_remove(const struct paths *paths, const char *bond)
{
	char name[NAME_MAX];

	snapshot_file_name(name, bond);
	run_file_remove(paths, name);
}

struct snapshot_visit {
	const struct paths *paths;
	const char *bond;
	snapshot_file_visitor visit;
	void *arg;
};

static void snapshot_file_read(const char *bond, void *arg)
{
	const struct snapshot_visit *to = arg;
	struct snapshot_record record;
	bool is_of_this_boot;
	char name[NAME_MAX];
	json_t *json, *at;
	json_int_t at_us;

	if (to->bond && strcmp(to->bond, bond))
		return;
	snapshot_file_name(name, bond);
	json = run_file_read(to->paths, name, &is_of_this_boot);
	record.snapshot = json_object_get(json, "snapshot");
	at = json_object_get(json, "at_us");
	at_us = json_integer_value(at);
	record.at_us = is_of_this_boot || !at_us ? (uint64_t)at_us : 1;
	record.apply = (uint64_t)json_integer_value(json_object_get(json, "apply"));
	if (!json_is_object(record.snapshot) || !json_is_integer(at) || at_us < 0) {
		log_error("%s/%s: cannot be read, so %s stays as it is", to->paths->run_dir, name,
			  bond);
		run_file_remove(to->paths, name);
	} else if (!at_us && !is_of_this_boot) { /* the bond has been made anew since */
		run_file_remove(to->paths, name);
	} else {
		to->visit(bond, &record, to->arg);
	}
	json_decref(json);
}

void snapshot_file_visit(const struct paths *paths, const char *bond, snapshot_file_visitor visit,
			 void *arg)
{
	struct snapshot_visit to = { paths, bond, visit, arg };

	run_file_visit(paths, "", SUFFIX, snapshot_file_read, &to);
}
