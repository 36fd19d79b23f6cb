/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables Port and Interface of Open vSwitch's database. Knows nothing of bonds. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/import/import_tools.h"

void ovs_tables_init(struct ovs_tables *tables)
{
	*tables = (struct ovs_tables){ json_object(), json_object() };
}

void ovs_tables_done(struct ovs_tables *tables)
{
	json_decref(tables->ports);
	json_decref(tables->interfaces);
}

/* What is behind the tag of ["set", [...]] and ["map", [...]]; NULL for another value. */
static json_t *ovs_tagged(const json_t *value, const char *tag)
{
	const char *text = json_string_value(json_array_get(value, 0));

	return text && !strcmp(text, tag) ? json_array_get(value, 1) : NULL;
}

const json_t *ovs_set_at(const json_t *value, size_t i)
{
	const json_t *set = ovs_tagged(value, "set");

	if (set)
		return json_array_get(set, i);
	return i ? NULL : value;
}

const char *ovs_uuid(const json_t *atom)
{
	return json_string_value(ovs_tagged(atom, "uuid"));
}

bool ovs_map_at(const json_t *value, size_t i, const char **ret_key, const char **ret_value)
{
	const json_t *pair = json_array_get(ovs_tagged(value, "map"), i);

	if (!pair)
		return false;
	*ret_key = json_string_value(json_array_get(pair, 0));
	*ret_value = json_string_value(json_array_get(pair, 1));
	if (!*ret_key || !*ret_value)
		*ret_key = *ret_value = "";
	return true;
}

const char *ovs_map_find(const json_t *value, const char *key)
{
	const char *name, *text;

	for (size_t i = 0; ovs_map_at(value, i, &name, &text); i++)
		if (!strcmp(name, key))
			return text;
	return NULL;
}

static size_t ovs_heading(const json_t *headings, const char *name)
{
	const json_t *heading;
	size_t i;

	json_array_foreach (headings, i, heading)
		if (json_is_string(heading) && !strcmp(json_string_value(heading), name))
			break;
	return i;
}

/* A table as ovs-vsctl prints it. Only a port has interfaces, and only a bridge has ports. */
static void ovs_add_list(struct ovs_tables *tables, const json_t *list)
{
	const json_t *headings = json_object_get(list, "headings"), *row;
	size_t count = json_array_size(headings), at;
	json_t *table = tables->interfaces;

	if (ovs_heading(headings, "ports") < count)
		return;
	if (ovs_heading(headings, "interfaces") < count)
		table = tables->ports;
	json_array_foreach (json_object_get(list, "data"), at, row) {
		const char *uuid = ovs_uuid(json_array_get(row, ovs_heading(headings, "_uuid")));
		json_t *columns = json_object();

		for (size_t i = 0; i < count; i++) {
			const char *name = json_string_value(json_array_get(headings, i));

			if (name && json_array_get(row, i))
				json_object_set(columns, name, json_array_get(row, i));
		}
		json_object_set_new(table, uuid ? uuid : "", columns);
	}
}

static bool ovs_find_member(const json_t *array, const json_t *value, size_t *ret_at)
{
	const json_t *other;
	size_t at;

	json_array_foreach (array, at, other)
		if (json_equal(other, value)) {
			*ret_at = at;
			return true;
		}
	return false;
}

/* Members that both have go, the others stay: a difference of sets. Returns a new reference. */
static json_t *ovs_toggle(const json_t *old, const json_t *change)
{
	json_t *members = json_array();
	const json_t *member;
	size_t at;

	for (size_t i = 0; old && (member = ovs_set_at(old, i)); i++)
		json_array_append(members, (json_t *)member);
	for (size_t i = 0; (member = ovs_set_at(change, i)); i++)
		if (ovs_find_member(members, member, &at))
			json_array_remove(members, at);
		else
			json_array_append(members, (json_t *)member);
	return json_pack("[s, o]", "set", members);
}

static bool ovs_find_pair(const json_t *pairs, const json_t *key, size_t *ret_at)
{
	const json_t *pair;
	size_t at;

	json_array_foreach (pairs, at, pair)
		if (json_equal(json_array_get(pair, 0), key)) {
			*ret_at = at;
			return true;
		}
	return false;
}

/* A pair that is there already goes, one of another value is replaced. Returns a new reference. */
static json_t *ovs_merge(const json_t *old, const json_t *change)
{
	json_t *pairs = json_array(), *pair;
	size_t at, found;

	json_array_foreach (ovs_tagged(old, "map"), at, pair)
		json_array_append(pairs, pair);
	json_array_foreach (ovs_tagged(change, "map"), at, pair) {
		bool known = ovs_find_pair(pairs, json_array_get(pair, 0), &found);

		if (!known)
			json_array_append(pairs, pair);
		else if (json_equal(json_array_get(pairs, found), pair))
			json_array_remove(pairs, found);
		else
			json_array_set(pairs, found, pair);
	}
	return json_pack("[s, o]", "map", pairs);
}

/* Columns that hold more than one value. A change of one of any other holds its new value. */
static bool ovs_is_set(const char *column)
{
	return import_is_one_of(column, "interfaces", "trunks", "cvlans", "fault");
}

static void ovs_change_row(json_t *row, json_t *change, bool is_difference)
{
	const char *column;
	json_t *value;

	json_object_foreach (change, column, value) {
		const json_t *old = json_object_get(row, column);

		if (is_difference && ovs_tagged(value, "map"))
			json_object_set_new(row, column, ovs_merge(old, value));
		else if (is_difference && ovs_is_set(column))
			json_object_set_new(row, column, ovs_toggle(old, value));
		else
			json_object_set(row, column, value);
	}
}

static void ovs_change_table(json_t *table, json_t *changes, bool is_difference)
{
	const char *uuid;
	json_t *change;

	json_object_foreach (changes, uuid, change) {
		json_t *row = json_object_get(table, uuid);
		bool is_new = !row;

		if (json_is_null(change)) {
			json_object_del(table, uuid);
			continue;
		}
		if (is_new)
			json_object_set_new(table, uuid, row = json_object());
		ovs_change_row(row, change, is_difference && !is_new);
	}
}

/* Moves *at behind the head of a record. Returns false if there is none. */
static bool ovs_take_head(const char **at, unsigned long *ret_size)
{
	int length = 0; /* sscanf() leaves it if there is no checksum */

	if (sscanf(*at, "OVSDB JSON %9lu %*40[0-9a-f]%n", ret_size, &length) != 1 || !length)
		return false;
	*at += length + ((*at)[length] == '\n');
	return true;
}

/* The first record is the schema, which has no rows. */
static int ovs_add_log(struct ovs_tables *tables, const struct import_file *file, struct err *err)
{
	const char *at = file->text, *end = file->text + strlen(file->text);
	unsigned long size;

	while (ovs_take_head(&at, &size)) {
		json_t *record;

		if (size > (size_t)(end - at))
			return err_set(err, EINVAL, "%s: ends in the middle of a record",
				       file->path);
		record = json_loadb(at, size, 0, NULL);
		if (!record)
			return err_set(err, EINVAL, "%s: a record is not JSON", file->path);
		ovs_change_table(tables->ports, json_object_get(record, "Port"),
				 json_is_true(json_object_get(record, "_is_diff")));
		ovs_change_table(tables->interfaces, json_object_get(record, "Interface"),
				 json_is_true(json_object_get(record, "_is_diff")));
		json_decref(record);
		at += size;
	}
	if (at[strspn(at, " \t\r\n")])
		return err_set(err, EINVAL, "%s: a record has no size or no checksum", file->path);
	return 0;
}

/* One table after another, as several calls of ovs-vsctl print them. */
static int ovs_add_lists(struct ovs_tables *tables, const struct import_file *file, struct err *err)
{
	const char *at = file->text;
	json_error_t error;

	while (at[strspn(at, " \t\r\n")]) {
		json_t *list = json_loads(at, JSON_DISABLE_EOF_CHECK, &error);

		if (!list)
			return err_set(err, EINVAL, "%s:%d: %s", file->path, error.line,
				       error.text);
		ovs_add_list(tables, list);
		json_decref(list);
		at += error.position;
	}
	return 0;
}

int ovs_tables_add(struct ovs_tables *tables, const struct import_file *file, struct err *err)
{
	if (!strncmp(file->text, "OVSDB CLUSTER", 13))
		return err_set(err, EINVAL,
			       "%s: is the database of a cluster; import the output of "
			       "'ovs-vsctl --format=json list Port' and of 'list Interface'",
			       file->path);
	if (!strncmp(file->text, "OVSDB JSON", 10))
		return ovs_add_log(tables, file, err);
	if (file->text[0] && !strchr("[{ \t\r\n", file->text[0]))
		return err_set(err, EINVAL,
			       "%s: is not JSON; import the output of 'ovs-vsctl "
			       "--format=json list Port' and of 'list Interface', or conf.db",
			       file->path);
	return ovs_add_lists(tables, file, err);
}
