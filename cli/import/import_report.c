/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_report.h"

#include <stdio.h>

#include "cli/base/cli.h"
#include "cli/import/import_write.h"
#include "view/json_value.h"

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

void import_print_remarks(const struct import *import)
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
		cli_say("%s is not written: %s:%d says what it is, and was not carried over; "
			"change that line in a copy, and import the copy",
			bond->name, file, line->number);
	else
		cli_say("%s is not written: '%s' of %s says what it is, and was not carried over",
			bond->name, json_string_value(json_object_get(json, "what")), file);
	json_decref(json);
}

bool import_print_refused(const struct import *import)
{
	for (size_t i = 0; i < import->refused_count; i++)
		import_say_refused(import->refused_bonds[i]);
	if (import->is_incomplete)
		cli_say("not every bond is written; see the lines above");
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

json_t *import_json(struct import *import, const char *dir, struct err *err)
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
