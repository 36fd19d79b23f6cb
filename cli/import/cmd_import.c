/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import: makes xbond's configuration of another tool's, and says which lines it could not carry
 * over. Asks no bondd, and changes nothing but the files that -w writes.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/print.h"
#include "cli/import/import.h"
#include "view/view_json.h"

const struct import_source import_sources[] = {
	{ "ifupdown", "/etc/network/interfaces", ifupdown_tables, ifupdown_read, true },
	{ "netplan", "/run/netplan, /etc/netplan and /lib/netplan", netplan_tables, netplan_read,
	  true },
	{ "networkd", "/etc/systemd/network, /run and /usr/lib", networkd_tables, networkd_read,
	  true },
	{ "networkmanager", "/etc/NetworkManager/system-connections and /etc/sysconfig",
	  networkmanager_tables, networkmanager_read, true },
	{ "teamd", "/etc/teamd", teamd_tables, teamd_read, false },
	{ "ovs", "Open vSwitch", ovs_tables_of_keys, ovs_read, false },
	{ "kernel", "/sys/class/net", kernel_tables, kernel_read, true },
	{ "nmstate", "/etc/nmstate", nmstate_tables, nmstate_read, true },
	{ "cloud-init", "/etc/cloud/cloud.cfg.d and /var/lib/cloud/seed", cloud_init_tables,
	  cloud_init_read, true },
	{ .name = NULL },
};

/* What import prints: the configurations and the remarks, as text or as JSON. */

static const char *const fate_names[] = {
	[IMPORT_LOST] = "lost",
	[IMPORT_CHANGED] = "changed",
	[IMPORT_STAYS] = "stays",
};

static json_t *import_remark_json(const struct import_remark *remark)
{
	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o}", "file",
			 json_value_text(remark->line.file->path), "line",
			 json_value_number((uint64_t)remark->line.number), "bond",
			 remark->bond ? json_value_text(remark->bond) : json_null(), "fate",
			 fate_names[remark->fate], "what", json_value_text(remark->line.what),
			 "why", remark->why ? json_value_text(remark->why) : json_null());
}

/* As JSON, because that holds no characters that could steer a terminal. */
static void import_print_remark(const struct import *import, const struct import_remark *remark)
{
	json_t *json = import_remark_json(remark);
	const char *what = json_string_value(json_object_get(json, "what"));
	const char *why = json_string_value(json_object_get(json, "why"));

	fprintf(stderr, "%s:", json_string_value(json_object_get(json, "file")));
	if (remark->line.number)
		fprintf(stderr, "%d:", remark->line.number);
	if (remark->fate == IMPORT_STAYS)
		fprintf(stderr, " stays with %s: %s\n", import->tool, what);
	else
		fprintf(stderr, " %s: %s: %s\n",
			remark->fate == IMPORT_LOST ? "not carried over"
						    : "carried over differently",
			what, why);
	json_decref(json);
}

/* One line each, to stderr. */
static void import_print_remarks(const struct import *import)
{
	for (size_t i = 0; i < import->remark_count; i++)
		import_print_remark(import, &import->remarks[i]);
}

static void import_say_refused(const struct import_bond *bond)
{
	const struct import_line *line = &bond->refused;
	json_t *json = json_pack("{s:o, s:o}", "file", json_value_text(line->file->path), "what",
				 json_value_text(line->what));
	const char *file = json_string_value(json_object_get(json, "file"));

	if (line->number)
		cli_say("%s is not written: it depends on %s:%d, which is not "
			"carried over; correct that line in a copy, and import the copy",
			bond->name, file, line->number);
	else
		cli_say("%s is not written: it depends on '%s' of %s, which is "
			"not carried over",
			bond->name, json_string_value(json_object_get(json, "what")), file);
	json_decref(json);
}

/* One line to stderr for each bond that is not written. Returns false if there is none. */
static bool import_print_refused(const struct import *import)
{
	for (size_t i = 0; i < import->refused_count; i++)
		import_say_refused(import->refused_bonds[i]);
	if (import->is_incomplete)
		cli_say("some bonds are not written; see above");
	return import->refused_count || import->is_incomplete;
}

static json_t *import_refused_json(const struct import *import)
{
	json_t *names = json_array();

	for (size_t i = 0; i < import->refused_count; i++)
		json_array_append_new(names, json_value_text(import->refused_bonds[i]->name));
	return names;
}

static json_t *import_bond_json(struct import *import, const struct import_bond *bond,
				const char *dir, struct err *err)
{
	json_t *slaves = json_array();
	const char *text;

	if (import_configuration(import, bond, &text, err)) {
		json_decref(slaves);
		return NULL;
	}
	for (size_t i = 0; i < bond->slave_count; i++)
		json_array_append_new(slaves, json_value_text(bond->slaves[i]->name));
	return json_pack("{s:o, s:o, s:o, s:o}", "name", json_value_text(bond->name), "slaves",
			 slaves, "path",
			 dir ? json_value_text(import_target(import, dir, bond)) : json_null(),
			 "configuration", json_string(text));
}

/* dir: where the configurations were written; NULL: nowhere. Returns a new reference, or NULL. */
static json_t *import_json(struct import *import, const char *dir, struct err *err)
{
	json_t *found = json_array(), *remarks = json_array();

	for (size_t i = 0; i < import->bond_count; i++) {
		json_t *bond = import_bond_json(import, import->bonds[i], dir, err);

		if (!bond) {
			json_decref(found);
			json_decref(remarks);
			return NULL;
		}
		json_array_append_new(found, bond);
	}
	for (size_t i = 0; i < import->remark_count; i++)
		json_array_append_new(remarks, import_remark_json(&import->remarks[i]));
	return json_pack("{s:s, s:o, s:o, s:o}", "tool", import->tool, "bonds", found, "refused",
			 import_refused_json(import), "remarks", remarks);
}

static const struct import_source *import_find_source(const char *name)
{
	for (const struct import_source *source = import_sources; source->name; source++)
		if (!strcmp(source->name, name))
			return source;
	return NULL;
}

static enum cli_exit import_unknown_source(const struct verb *verb, const char *name)
{
	char names[128] = "";

	for (const struct import_source *source = import_sources; source->name; source++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 *names ? ", " : "", source->name);
	return cli_usage(verb, "unknown tool '%s'; there are %s", name, names);
}

static const char *import_key_becomes(const struct import_key *key)
{
	if (key->becomes || key->why_lost)
		return key->becomes;
	return option_at(key->option)->name;
}

static json_t *import_keys_json(const struct import_source *source)
{
	json_t *rows = json_array();

	for (const struct import_keys *table = source->tables; table->title; table++)
		for (const struct import_key *key = table->keys; key->name; key++)
			json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s?, s:s?}", "tool",
							      source->name, "place", table->title,
							      "key", key->name, "becomes",
							      import_key_becomes(key), "why_lost",
							      key->why_lost));
	return rows;
}

static void import_print_keys(const struct import_source *source)
{
	for (const struct import_keys *table = source->tables; table->title; table++) {
		printf("%s, %s:\n", source->name, table->title);
		for (const struct import_key *key = table->keys; key->name; key++) {
			const char *becomes = import_key_becomes(key);

			printf("  %-28s %s%s\n", key->name, becomes ? becomes : "- ",
			       becomes ? "" : key->why_lost);
		}
	}
}

static enum cli_exit import_list_keys(const struct cli *cli, const struct import_source *source)
{
	if (cli->json)
		return cli_print_json(import_keys_json(source));
	import_print_keys(source);
	return CLI_DONE;
}

/* A word is a file if it could be no bond, or if there is one of that name. */
static bool import_is_file(const char *word)
{
	return strchr(word, '/') || !access(word, F_OK);
}

static enum cli_exit import_take_words(const struct verb *verb, struct import_request *request,
				       const char **files, int count, char **words)
{
	request->files = files;
	for (int i = 0; i < count; i++) {
		if (import_is_file(words[i]))
			files[request->file_count++] = words[i];
		else if (request->bond)
			return cli_usage(verb, "'%s' and '%s' are not files; give one BOND at most",
					 request->bond, words[i]);
		else
			request->bond = words[i];
	}
	return CLI_DONE;
}

static enum cli_exit import_print_bonds(struct import *import, const char *dir)
{
	const char *text;
	struct err err;

	text_wrap_end();
	for (size_t i = 0; i < import->bond_count; i++) {
		if (import_configuration(import, import->bonds[i], &text, &err))
			return cli_refuse(&err);
		if (import->bond_count > 1)
			printf("%s### %s\n", i ? "\n" : "",
			       import_target(import, dir, import->bonds[i]));
		fputs(text, stdout);
	}
	return CLI_DONE;
}

static enum cli_exit import_print_json(struct import *import, const char *dir)
{
	struct err err;
	json_t *json = import_json(import, dir, &err);

	return json ? cli_print_json(json) : cli_refuse(&err);
}

static enum cli_exit import_put_out(const struct cli *cli, const struct verb *verb,
				    struct import *import)
{
	const char *dir = cli->paths.config_dir;
	bool writes = cli_flag(cli, verb, "--write") && import->bond_count;
	enum cli_exit status = CLI_DONE;
	struct err err;

	if (writes && import_write(import, dir, import->bonds, import->bond_count, &err))
		return cli_refuse(&err);
	if (!cli->json)
		import_print_remarks(import);
	if (cli->json)
		status = import_print_json(import, writes ? dir : NULL);
	else if (!writes)
		status = import_print_bonds(import, dir);
	for (size_t i = 0; writes && !cli->json && i < import->bond_count; i++)
		puts(import_target(import, dir, import->bonds[i]));
	return import_print_refused(import) ? CLI_REFUSED : status;
}

static const char *import_where(const struct import_source *source,
				const struct import_request *request)
{
	return request->file_count ? request->files[0] : source->reads;
}

static enum cli_exit import_found_none(const struct import_source *source,
				       const struct import_request *request,
				       const struct import *import)
{
	const char *root = request->file_count ? "" : import->root;
	const char *where = import_where(source, request);
	struct err err;

	import_print_remarks(import);
	if (request->bond)
		err_set(&err, ENOENT, "'%s' is neither a file nor a bond in %s%s", request->bond,
			root, where);
	else
		err_set(&err, ENOENT, "no bond in %s%s", root, where);
	return cli_refuse(&err);
}

static enum cli_exit import_run(const struct cli *cli, const struct verb *verb,
				const struct import_source *source,
				const struct import_request *request, struct import *import)
{
	struct err err;

	if (source->read(import, request, &err))
		return cli_refuse(&err);
	import_settle(import);
	if (request->bond ? import_settle_on(import, request->bond)
			  : import->bond_count || import->refused_count)
		return import_put_out(cli, verb, import);
	return import_found_none(source, request, import);
}

enum cli_exit cmd_import(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	const struct import_source *source = import_find_source(argv[0]);
	const char *root = cli_flag(cli, verb, "--root");
	struct import import = { .tool = argv[0], .root = root ? root : "" };
	struct import_request request = { 0 };
	const char **files;
	enum cli_exit status;

	if (!source)
		return import_unknown_source(verb, argv[0]);
	import.is_of_driver = source->is_of_driver;
	if (cli_flag(cli, verb, "--keys"))
		return import_list_keys(cli, source);
	files = import_memory(&import, (size_t)argc * sizeof(*files));
	status = import_take_words(verb, &request, files, argc - 1, argv + 1);
	if (status == CLI_DONE)
		status = import_run(cli, verb, source, &request, &import);
	import_free(&import);
	return status;
}
