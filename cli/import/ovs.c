/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bonds of Open vSwitch: ports with more than one interface (ovs-vswitchd.conf.db(5)). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import_tools.h"

/* Modes and settings, which other tools that set up bonds of Open vSwitch have, too. */

/* Columns of a port, and keys of its other_config. */
static const struct import_key ovs_port_keys[] = {
	{ "name", .becomes = "the name of the file" },
	{ "interfaces", .becomes = "[slave DEV]" },
	{ "bond_mode", .becomes = "mode and xmit_hash_policy" },
	{ "lacp", .becomes = "mode and lacp_active" },
	{ "bond_updelay", .option = OPT_UPDELAY },
	{ "bond_downdelay", .option = OPT_DOWNDELAY },
	{ "bond_fake_iface", .becomes = "(nothing: every bond of xbond is a device)" },
	{ .name = NULL },
};

/* Milliseconds; of a positive number at least a second counts. */
static const char *ovs_seconds(struct import *import, const char *value)
{
	char *end;
	long ms = strtol(value, &end, 10);

	return *end || ms <= 0 ? value : import_text(import, "%ld", ms < 1000 ? 1 : ms / 1000);
}

static const struct import_key ovs_port_config_keys[] = {
	{ "bond-primary", .option = OPT_PRIMARY },
	{ "bond-detect-mode",
	  .why_lost = "xbond takes carrier from the kernel, never from MII registers",
	  .usual = "carrier" },
	{ "bond-miimon-interval", .option = OPT_MIIMON },
	{ "lacp-time", .option = OPT_LACP_RATE },
	{ "lacp-system-id", .option = OPT_AD_ACTOR_SYSTEM },
	{ "lacp-system-priority", .option = OPT_AD_ACTOR_SYS_PRIO },
	{ "lacp-fallback-ab", .becomes = "lacp_fallback" },
	{ "all-members-active", .option = OPT_ALL_SLAVES_ACTIVE, .convert = import_switch },
	{ "all-slaves-active", .option = OPT_ALL_SLAVES_ACTIVE, .convert = import_switch },
	{ "bond-hash-basis", .option = OPT_HASH_SEED },
	{ "bond-rebalance-interval", .option = OPT_REBALANCE_INTERVAL, .convert = ovs_seconds },
	{ "lb-output-action", .why_lost = "it concerns the datapath of Open vSwitch",
	  .convert = import_switch, .usual = "off" },
	{ .name = NULL },
};

static bool ovs_is(const char *text, const char *word)
{
	return text && !strcmp(text, word);
}

bool ovs_knows_mode(const char *mode)
{
	return ovs_is(mode, "active-backup") || ovs_is(mode, "balance-slb") ||
	       ovs_is(mode, "balance-tcp");
}

static bool ovs_has_lacp(const struct ovs_mode *ovs)
{
	return ovs_is(ovs->lacp, "active") || ovs_is(ovs->lacp, "passive");
}

/* Without LACP the members share traffic only as far as any switch bears it. */
static void ovs_set_static(struct import *import, struct import_bond *bond,
			   const struct ovs_mode *ovs)
{
	import_option(import, bond, NULL, OPT_MODE, "active-backup", false, &ovs->mode_line);
	if (ovs_is(ovs->mode, "balance-slb"))
		import_changed(import, bond, &ovs->mode_line,
			       "xbond has no such mode; active-backup is written, which needs "
			       "no configuration of the switch either, but uses one slave at "
			       "a time");
	if (ovs_is(ovs->mode, "balance-tcp"))
		import_changed(import, bond, &ovs->mode_line,
			       "without LACP, Open vSwitch does not balance this bond; "
			       "active-backup is written");
}

static void ovs_set_lacp(struct import *import, struct import_bond *bond,
			 const struct ovs_mode *ovs)
{
	const struct import_line *line = &ovs->lacp_line;

	import_option(import, bond, NULL, OPT_MODE, "802.3ad", false, line);
	import_option(import, bond, NULL, OPT_LACP_ACTIVE,
		      ovs_is(ovs->lacp, "active") ? "on" : "off", false, line);
	/* Without a partner Open vSwitch disables the bond, unless lacp-fallback-ab is true. */
	import_option(import, bond, NULL, OPT_LACP_FALLBACK, ovs->falls_back ? "one" : "none",
		      false, line);
	/* What it does without being told. */
	import_option(import, bond, NULL, OPT_AD_ACTOR_SYS_PRIO, "65534", false, line);
	if (ovs_is(ovs->mode, "balance-tcp") || ovs_is(ovs->mode, "balance-slb")) {
		import_option(import, bond, NULL, OPT_REBALANCE_INTERVAL, "10", false, line);
		import_option(import, bond, NULL, OPT_XMIT_HASH_POLICY,
			      ovs_is(ovs->mode, "balance-tcp") ? "layer3+4" : "vlan+srcmac", false,
			      &ovs->mode_line);
	} else {
		import_option(import, bond, NULL, OPT_MAX_LINKS, "1", false, &ovs->mode_line);
		import_changed(import, bond, &ovs->mode_line,
			       "with LACP it becomes 802.3ad with one port in use (max_links 1)");
	}
}

void ovs_set_mode(struct import *import, struct import_bond *bond, const struct ovs_mode *ovs)
{
	bond->is_not_of_driver = true;
	if (ovs->mode && !ovs_knows_mode(ovs->mode))
		import_refuse(import, bond, &ovs->mode_line, "Open vSwitch has no such mode");
	if (ovs->lacp && !ovs_has_lacp(ovs) && strcmp(ovs->lacp, "off") != 0)
		import_refuse(import, bond, &ovs->lacp_line, "lacp is active, passive or off");
	if (ovs_has_lacp(ovs))
		ovs_set_lacp(import, bond, ovs);
	else
		ovs_set_static(import, bond, ovs);
}

const char *ovs_ignores(const struct import_bond *bond, enum option_id id)
{
	const struct import_option *mode = import_find_option(&bond->options, OPT_MODE);

	if ((id == OPT_UPDELAY || id == OPT_DOWNDELAY) && mode &&
	    mode->value.number == XBOND_MODE_8023AD)
		return "Open vSwitch has no delays with LACP";
	/* Modes that balance have a default. */
	if (id == OPT_REBALANCE_INTERVAL &&
	    !import_find_option(&bond->options, OPT_REBALANCE_INTERVAL))
		return "a bond that uses one slave at a time has nothing to balance";
	return NULL;
}

/* key: NULL for what is not of the bond. */
static void ovs_apply(struct import *import, const struct import_key *key, struct import_bond *bond,
		      struct import_slave *slave, const char *value, const struct import_line *line)
{
	const char *why = key && !key->why_lost ? ovs_ignores(bond, key->option) : NULL;

	if (!key)
		import_stays(import, bond, line);
	else if (why && !key->becomes && strcmp(value, "0") != 0)
		import_lost(import, bond, line, "%s", why);
	else if (!why)
		import_apply_key(import, key, bond, slave, value, line);
}

void ovs_take_other_config(struct import *import, struct import_bond *bond, const char *name,
			   const char *value, const struct import_line *line)
{
	ovs_apply(import, import_find_key(ovs_port_config_keys, name), bond, NULL, value, line);
}

/* The value of a word "KEY=VALUE"; NULL: it is another word. */
static const char *ovs_value(const char *word, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}

/* Returns its part behind "other_config:", or NULL. ovs-vsctl takes '-' for '_'. */
static const char *ovs_config_word(const char *word)
{
	return !strncmp(word, "other_config:", 13) || !strncmp(word, "other-config:", 13)
		       ? word + 13
		       : NULL;
}

static void ovs_take_mode_word(struct import *import, struct ovs_mode *ovs, const char *word,
			       const struct import_line *line)
{
	const char *config = ovs_config_word(word), *value;

	if ((value = ovs_value(word, "bond_mode"))) {
		ovs->mode = import_text(import, "%s", value);
		ovs->mode_line = *line;
	} else if ((value = ovs_value(word, "lacp"))) {
		ovs->lacp = import_text(import, "%s", value);
		ovs->lacp_line = *line;
	} else if (config && (value = ovs_value(config, "lacp-fallback-ab"))) {
		ovs->falls_back = !strcmp(value, "true");
	}
}

static void ovs_take_word(struct import *import, struct import_bond *bond, const char *word,
			  const struct import_line *line)
{
	const char *config = ovs_config_word(word), *name;
	char *value = import_text(import, "%s", config ? config : word);
	const struct import_key *key;

	name = strsep(&value, "=");
	key = import_find_key(config ? ovs_port_config_keys : ovs_port_keys, name);
	ovs_apply(import, value ? key : NULL, bond, NULL, value, line);
}

void ovs_take_settings(struct import *import, struct import_bond *bond, const char *words,
		       const struct import_line *line)
{
	struct ovs_mode ovs = { .mode_line = *line, .lacp_line = *line };
	char *rest = import_text(import, "%s", words), *word;

	while ((word = import_next_word(&rest, " \t")))
		ovs_take_mode_word(import, &ovs, word, line);
	ovs_set_mode(import, bond, &ovs);
	rest = import_text(import, "%s", words);
	while ((word = import_next_word(&rest, " \t"))) {
		struct import_line at = *line;

		at.what = import_text(import, "%s", word);
		ovs_take_word(import, bond, word, &at);
	}
}

/* Ports with more than one interface. */

#define OVS_ANSWER_MAX (16 << 20)

static const struct import_key ovs_interface_keys[] = {
	{ "lacp-port-priority", .option = OPT_ACTOR_PORT_PRIO },
	{ "lacp-port-id", .why_lost = "bondd numbers the LACP ports itself" },
	{ "lacp-aggregation-key",
	  .why_lost =
		  "in xbond, slaves of the same speed have the same key; see ad_user_port_key" },
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
	return import_is_one_of(column, "_uuid", "statistics", "rstp_statistics", "rstp_status",
				"status", "other_config", "bond_active_slave", "bond-active-slave");
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
	const struct import_key *key = import_find_key(ovs_port_keys, column);
	struct import_line line = ovs_line(of, "%s=%s", column, ovs_words(of->import, value));
	char number[24];

	if (ovs_is_state(column) || ovs_is_unset(value) || (key && key->becomes))
		return;
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	if (!key || json_integer_value(value))
		ovs_apply(of->import, key, of->bond, NULL, number, &line);
}

static void ovs_take_config(const struct ovs_bond *of, const json_t *row,
			    const struct import_key *table, struct import_slave *slave)
{
	const char *name, *text;

	for (size_t i = 0; ovs_map_at(json_object_get(row, "other_config"), i, &name, &text); i++) {
		const struct import_key *key = import_find_key(table, name);
		struct import_line line =
			ovs_line(of, "%s%sother_config:%s=%s", slave ? slave->name : "",
				 slave ? ": " : "", name, text);

		ovs_apply(of->import, key, of->bond, slave, text, &line);
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
	return !type ||
	       import_is_one_of(type, "", "system", "internal", "tap", "afxdp", "afxdp-nonpmd");
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
				      "it is not in the table Interface; import the output of "
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
				      "a port of type %s is not a device of the kernel", type);
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
			       "ovs-vsctl gave no answer (is Open vSwitch running?); import a "
			       "file with the output of 'ovs-vsctl --format=json list Port' "
			       "and of 'list Interface', or conf.db");
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
