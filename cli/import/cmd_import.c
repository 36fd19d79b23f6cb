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
#include "view/view_field.h"
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

static json_t *import_read_file(const struct view_place *place)
{
	const struct import_remark *remark = place->at;

	return json_value_text(remark->line.file->path);
}

static const char *import_fate_word(unsigned int fate)
{
	static const char *const words[] = {
		[IMPORT_LOST] = "lost",
		[IMPORT_CHANGED] = "changed",
		[IMPORT_STAYS] = "stays",
	};

	return fate < sizeof(words) / sizeof(words[0]) ? words[fate] : NULL;
}

#define OF_REMARK(member) VIEW_IN(struct import_remark, member)

static const struct view_field import_fields_of_remark[] = {
	{ "file", VIEW_TEXT, "Where it stands.", .read = import_read_file },
	{ "line", VIEW_COUNT, "Its line; null: the file as a whole, or it has no lines.",
	  OF_REMARK(line.number), .null = true },
	{ "bond", VIEW_STRING, "Its bond; null: none alone.", OF_REMARK(bond), .null = true },
	{ "fate", VIEW_WORD,
	  "Lost: not carried over; changed: carried over as something else; stays: it does not "
	  "concern the bond, so it remains with the tool.",
	  OF_REMARK(fate), .word = import_fate_word },
	{ "what", VIEW_STRING, "The line, or the key and its value.", OF_REMARK(line.what),
	  .null = true },
	{ "why", VIEW_STRING, "The reason; null with stays.", OF_REMARK(why), .null = true },
};

static const struct view_table import_table_of_remark =
	VIEW_TABLE("remark", import_fields_of_remark);

/* As JSON, because that holds no characters that could steer a terminal. */
static void import_print_remark(const struct import *import, const struct import_remark *remark)
{
	json_t *json = view_struct(&import_table_of_remark, remark);
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

static json_t *import_read_refused(const struct view_place *place)
{
	const struct import *import = place->at;
	json_t *names = json_array();

	for (size_t i = 0; i < import->refused_count; i++)
		json_array_append_new(names, json_value_text(import->refused_bonds[i]->name));
	return names;
}

static json_t *import_read_slaves(const struct view_place *place)
{
	const struct import_bond *bond = place->at;
	json_t *names = json_array();

	for (size_t i = 0; i < bond->slave_count; i++)
		json_array_append_new(names, json_value_text(bond->slaves[i]->name));
	return names;
}

static json_t *import_read_configuration(const struct view_place *place)
{
	const struct import_bond *bond = place->at;

	return json_string(bond->configuration); /* it has lines */
}

static json_t *import_read_bonds(const struct view_place *place)
{
	const struct import *import = place->at;
	json_t *bonds = json_array();

	for (size_t i = 0; i < import->bond_count; i++)
		json_array_append_new(bonds, view_struct(place->field->table, import->bonds[i]));
	return bonds;
}

static json_t *import_read_remarks(const struct view_place *place)
{
	const struct import *import = place->at;

	return view_structs(place->field->table, import->remarks, import->remark_count,
			    sizeof(*import->remarks));
}

static const char *import_tool_word(unsigned int i)
{
	return i < sizeof(import_sources) / sizeof(import_sources[0]) ? import_sources[i].name
								      : NULL;
}

#define OF_BOND(member) VIEW_IN(struct import_bond, member)

static const struct view_field import_fields_of_bond[] = {
	{ "name", VIEW_TEXT, "Its name.", OF_BOND(name) },
	{ "slaves", VIEW_WORDS, "The names of its slaves.", .read = import_read_slaves },
	{ "path", VIEW_STRING, "The file that was written; null without *--write*.", OF_BOND(path),
	  .null = true },
	{ "configuration", VIEW_STRING, "The contents of the file.",
	  .read = import_read_configuration },
};

static const struct view_table import_table_of_bond = VIEW_TABLE("bond", import_fields_of_bond);

static const struct view_field import_fields[] = {
	{ "tool", VIEW_STRING, "The tool.", VIEW_IN(struct import, tool),
	  .word = import_tool_word },
	{ "bonds", VIEW_ARRAY, "The bonds that were found.", .read = import_read_bonds,
	  .table = &import_table_of_bond },
	{ "refused", VIEW_WORDS,
	  "Bonds that are not written, because their mode or a slave was not carried over.",
	  .read = import_read_refused },
	{ "remarks", VIEW_ARRAY, "What was not carried over unchanged.",
	  .read = import_read_remarks, .table = &import_table_of_remark },
};

const struct view_table import_json = VIEW_TABLE("import", import_fields);

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

/* A key, as JSON has it. */
struct import_listed {
	const char *tool, *place, *key, *becomes, *why_lost;
};

#define OF_KEY(member) VIEW_IN(struct import_listed, member)

static const struct view_field import_fields_of_key[] = {
	{ "tool", VIEW_STRING, "The tool.", OF_KEY(tool), .word = import_tool_word },
	{ "place", VIEW_STRING, "Where the tool has it.", OF_KEY(place) },
	{ "key", VIEW_STRING, "Its name.", OF_KEY(key) },
	{ "becomes", VIEW_STRING, "Its option in xbond's configuration; null: none.",
	  OF_KEY(becomes), .null = true },
	{ "why_lost", VIEW_STRING, "Null where it becomes something.", OF_KEY(why_lost),
	  .null = true },
};

const struct view_table import_keys_json = VIEW_TABLE("key", import_fields_of_key);

static json_t *import_list_json(const struct import_source *source)
{
	json_t *rows = json_array();

	for (const struct import_keys *table = source->tables; table->title; table++)
		for (const struct import_key *key = table->keys; key->name; key++) {
			const struct import_listed listed = { source->name, table->title, key->name,
							      import_key_becomes(key),
							      key->why_lost };

			json_array_append_new(rows, view_struct(&import_keys_json, &listed));
		}
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
		return cli_print_json(import_list_json(source));
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

/* dir: where the configurations were written; NULL: nowhere. */
static enum cli_exit import_print_json(struct import *import, const char *dir)
{
	struct err err;

	for (size_t i = 0; i < import->bond_count; i++) {
		struct import_bond *bond = import->bonds[i];

		if (import_configuration(import, bond, &bond->configuration, &err))
			return cli_refuse(&err);
		bond->path = dir ? import_target(import, dir, bond) : NULL;
	}
	return cli_print_json(view_struct(&import_json, import));
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
