/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bonds of Open vSwitch: ports with more than one interface (ovs-vswitchd.conf.db(5)). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import_files.h"
#include "cli/import/import_ovs_mode.h"
#include "cli/import/import_sources.h"
#include "cli/import/ovs_tables.h"

#define OVS_ANSWER_MAX (16 << 20)

static const struct import_key ovs_interface_keys[] = {
	{ .name = "lacp-port-priority", .option = OPT_ACTOR_PORT_PRIO },
	{ .name = "lacp-port-id", .why_lost = "bondd numbers the ports" },
	{ .name = "lacp-aggregation-key",
	  .why_lost = "xbond's slaves of one speed have one key; see ad_user_port_key" },
	{ .name = NULL },
};

const struct import_keys ovs_tables_of_keys[] = {
	{ "a Port", ovs_port_keys },
	{ "other_config of a Port", ovs_port_config_keys },
	{ "other_config of an Interface", ovs_interface_keys },
	{ .title = NULL },
};

/* The state of the bond, and what a row has anyway. */
static bool ovs_is_state(const char *column)
{
	static const char *const columns[] = {
		"_uuid",  "statistics",	  "rstp_statistics",   "rstp_status",
		"status", "other_config", "bond_active_slave", "bond-active-slave"
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (!strcmp(column, columns[i]))
			return true;
	return false;
}

static const char *ovs_text(const json_t *row, const char *column)
{
	return json_string_value(json_object_get(row, column));
}

struct ovs_bond {
	struct import *import;
	struct import_bond *bond;
	const char *name;
	const struct import_file *file;
};

static struct import_line ovs_line(const struct ovs_bond *of, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct import_line ovs_line(const struct ovs_bond *of, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return (struct import_line){ of->file, 0,
				     import_text(of->import, "%s: %s", of->name, text) };
}

static void ovs_take_mode(const struct ovs_bond *of, const json_t *port)
{
	const char *falls_back =
		ovs_map_find(json_object_get(port, "other_config"), "lacp-fallback-ab");
	struct ovs_mode ovs = { .mode = ovs_text(port, "bond_mode"),
				.lacp = ovs_text(port, "lacp"),
				.falls_back = falls_back && !strcmp(falls_back, "true") };

	ovs.mode_line = ovs_line(of, "bond_mode=%s", ovs.mode ? ovs.mode : "[]");
	ovs.lacp_line = ovs_line(of, "lacp=%s", ovs.lacp ? ovs.lacp : "[]");
	ovs_set_mode(of->import, of->bond, &ovs);
}

/* A value in one line, of limited length. */
static const char *ovs_words(struct import *import, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	const char *words = import_text(import, "%.100s", text ? text : "");

	free(text);
	return words;
}

static bool ovs_is_unset(const json_t *value)
{
	const json_t *members = json_array_get(value, 1);

	return json_is_false(value) || (json_is_array(members) && !json_array_size(members)) ||
	       (json_is_string(value) && !*json_string_value(value));
}

static void ovs_take_column(const struct ovs_bond *of, const char *column, const json_t *value)
{
	const struct import_key *key = import_find_key(ovs_port_keys, column, strcmp);
	struct import_line line = ovs_line(of, "%s=%s", column, ovs_words(of->import, value));
	char number[24];

	if (ovs_is_state(column) || ovs_is_unset(value) || (key && key->becomes))
		return;
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	if (!key)
		import_stays(of->import, of->bond, &line);
	else if (json_integer_value(value) && ovs_ignores(of->bond, key->option))
		import_lost(of->import, of->bond, &line, OVS_IGNORES);
	else if (json_integer_value(value))
		import_apply_key(of->import, key, of->bond, NULL, number, &line);
}

static void ovs_take_config(const struct ovs_bond *of, const json_t *row,
			    const struct import_key *table, struct import_slave *slave)
{
	const char *name, *text;

	for (size_t i = 0; ovs_map_at(json_object_get(row, "other_config"), i, &name, &text); i++) {
		const struct import_key *key = import_find_key(table, name, strcmp);
		struct import_line line =
			ovs_line(of, "%s%sother_config:%s=%s", slave ? slave->name : "",
				 slave ? ": " : "", name, text);

		if (key && !key->becomes)
			import_apply_key(of->import, key, of->bond, slave, text, &line);
		else if (!key)
			import_stays(of->import, of->bond, &line);
	}
}

/* A port without a priority has the lowest; xbond's default is another number. */
static void ovs_complete_priorities(const struct ovs_bond *of)
{
	const struct import_option *known = NULL;

	for (size_t i = 0; i < of->bond->slave_count && !known; i++)
		known = import_find_option(&of->bond->slaves[i]->options, OPT_ACTOR_PORT_PRIO);
	for (size_t i = 0; known && i < of->bond->slave_count; i++) {
		struct import_slave *slave = of->bond->slaves[i];

		if (!import_find_option(&slave->options, OPT_ACTOR_PORT_PRIO))
			import_option(of->import, of->bond, slave, OPT_ACTOR_PORT_PRIO, "65535",
				      false, &known->line);
	}
}

/* Whether the kernel has a device behind it. "" is the same as "system". */
static bool ovs_is_device(const char *type)
{
	static const char *const types[] = { "",    "system", "internal",
					     "tap", "afxdp",  "afxdp-nonpmd" };

	for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return !type;
}

static int ovs_compare_rows(const void *left, const void *right)
{
	return strcmp(ovs_text(*(json_t *const *)left, "name"),
		      ovs_text(*(json_t *const *)right, "name"));
}

/* Rows in the order of their names, because that of a set of UUIDs means nothing. */
static void ovs_sort(json_t **rows, size_t count)
{
	if (count)
		qsort(rows, count, sizeof(json_t *), ovs_compare_rows);
}

static void ovs_take_interfaces(const struct ovs_bond *of, const struct ovs_tables *tables,
				const json_t *port)
{
	const json_t *set = json_object_get(port, "interfaces"), *member;
	json_t **rows = NULL;
	size_t count = 0;

	for (size_t i = 0; (member = ovs_set_at(set, i)); i++) {
		const char *uuid = ovs_uuid(member);
		json_t *row = uuid ? json_object_get(tables->interfaces, uuid) : NULL;
		struct import_line line = ovs_line(of, "interface %s", uuid ? uuid : "?");

		if (!ovs_text(row, "name")) {
			import_refuse(of->import, of->bond, &line,
				      "the table Interface does not have it; give the output of "
				      "'ovs-vsctl --format=json list Interface', too");
			continue;
		}
		rows = import_grow(of->import, rows, count, sizeof(json_t *));
		rows[count++] = row;
	}
	ovs_sort(rows, count);
	for (size_t i = 0; i < count; i++) {
		struct import_line line = ovs_line(of, "interface %s", ovs_text(rows[i], "name"));
		const json_t *mtu = json_object_get(rows[i], "mtu_request");
		const char *type = ovs_text(rows[i], "type");
		struct import_slave *slave = NULL;

		if (ovs_is_device(type))
			slave = import_slave(of->import, of->bond, ovs_text(rows[i], "name"),
					     &line);
		else
			import_refuse(of->import, of->bond, &line,
				      "a port of type %s is no device of the kernel", type);
		if (slave)
			ovs_take_config(of, rows[i], ovs_interface_keys, slave);
		line = ovs_line(of, "%s: mtu_request=%s", ovs_text(rows[i], "name"),
				ovs_words(of->import, mtu));
		if (slave && json_is_integer(mtu))
			import_stays(of->import, of->bond, &line);
	}
}

static void ovs_take_port(struct import *import, const struct ovs_tables *tables,
			  const struct import_file *file, json_t *port)
{
	struct ovs_bond of = { .import = import, .name = ovs_text(port, "name"), .file = file };
	struct import_line line = ovs_line(&of, "a port with several interfaces");
	const char *column;
	json_t *value;

	of.bond = import_bond(import, of.name, &line);
	if (!of.bond)
		return;
	ovs_take_mode(&of, port);
	json_object_foreach (port, column, value)
		ovs_take_column(&of, column, value);
	ovs_take_config(&of, port, ovs_port_config_keys, NULL);
	ovs_take_interfaces(&of, tables, port);
	ovs_complete_priorities(&of);
}

static void ovs_take(struct import *import, const struct ovs_tables *tables,
		     const struct import_file *file)
{
	json_t **rows = NULL, *row;
	const char *uuid;
	size_t count = 0;

	json_object_foreach (tables->ports, uuid, row) {
		if (!ovs_text(row, "name") || !ovs_set_at(json_object_get(row, "interfaces"), 1))
			continue;
		rows = import_grow(import, rows, count, sizeof(json_t *));
		rows[count++] = row;
	}
	ovs_sort(rows, count);
	for (size_t i = 0; i < count; i++)
		ovs_take_port(import, tables, file, rows[i]);
}

/* Asks the running switch for both tables. */
static int ovs_ask(struct import *import, const struct import_file **ret_file, struct err *err)
{
	static const char command[] =
		"exec 2>/dev/null; ovs-vsctl --timeout=10 --format=json list Port && "
		"ovs-vsctl --timeout=10 --format=json list Interface";
	char *answer = import_memory(import, OVS_ANSWER_MAX);
	FILE *pipe = popen(command, "re");
	size_t size;
	int status;

	if (!pipe)
		return err_set(err, errno, "ovs-vsctl: %m");
	size = fread(answer, 1, OVS_ANSWER_MAX - 1, pipe);
	status = pclose(pipe);
	if (status)
		return err_set(err, EIO,
			       "ovs-vsctl gave no answer (is Open vSwitch there and running?); "
			       "give a FILE with the output of 'ovs-vsctl "
			       "--format=json list Port' and of 'list Interface', or conf.db");
	*ret_file = import_file_of(import, "ovs-vsctl", answer, size);
	return 0;
}

static int ovs_read_own(struct import *import, struct ovs_tables *tables,
			const struct import_file **ret_file, struct err *err)
{
	int r = *import->root
			? import_file_read(import, import_path(import, "/etc/openvswitch/conf.db"),
					   ret_file, err)
			: ovs_ask(import, ret_file, err);

	return r ? r : ovs_tables_add(tables, *ret_file, err);
}

int ovs_read(struct import *import, const struct import_request *request, struct err *err)
{
	const struct import_file *file = NULL, *first = NULL;
	struct ovs_tables tables;
	int r = 0;

	ovs_tables_init(&tables);
	if (!request->file_count)
		r = ovs_read_own(import, &tables, &first, err);
	for (size_t i = 0; i < request->file_count && !r; i++) {
		r = import_file_read(import, request->files[i], &file, err);
		first = first ? first : file;
		r = r ? r : ovs_tables_add(&tables, file, err);
	}
	if (!r)
		ovs_take(import, &tables, first);
	ovs_tables_done(&tables);
	return r;
}
