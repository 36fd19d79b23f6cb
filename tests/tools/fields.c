/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields schema|list NAME: prints what is made from the tables of fields: the definitions of
 * docs/json/NAME.schema.json, or a list of a manual. tests/fields.py puts it there.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "common/mode.h"
#include "common/readings.h"
#include "options/options.h"
#include "view/view_field.h"
#include "view/view_json.h"

#define WIDTH 100 /* of a line of a manual */
#define WORDS 32  /* no list of words has as many */

/* What has a list of its own in a manual, or a schema. */
static const struct {
	const char *name;
	const struct view_table *table;
} fields_parts[] = {
	{ "show", &view_table_bond },
	{ "slave", &view_table_slave },
	{ "lacp_bond", &view_table_lacp_bond },
	{ "lacp_slave", &view_table_lacp_slave },
	{ "loop", &view_table_loop },
	{ "stats", &view_table_stats },
	{ "explain", &explain_json },
	{ "flows", &flows_table },
	{ "top", &top_json },
	{ "import", &import_json },
	{ "import-keys", &import_keys_json },
};

#define PARTS (sizeof(fields_parts) / sizeof(fields_parts[0]))

static bool fields_is_word(const char *word)
{
	return word && strcmp(word, "?"); /* which the LACP core has for none */
}

/* The schema */

static json_t *schema_ref(const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/definitions/%s", name));
}

static json_t *schema_object(json_t *required, json_t *properties)
{
	return json_pack("{s:s, s:b, s:o, s:o}", "type", "object", "additionalProperties", 0,
			 "required", required, "properties", properties);
}

/* null: it may be null, too. */
static json_t *schema_typed(const char *type, bool null)
{
	return null ? json_pack("{s:[s, s]}", "type", type, "null")
		    : json_pack("{s:s}", "type", type);
}

static json_t *schema_text(bool null)
{
	json_t *schema = schema_typed("string", null);

	json_object_set_new(schema, "minLength", json_integer(1));
	return schema;
}

static json_t *schema_number(json_int_t min, json_int_t max, bool null)
{
	json_t *schema = schema_typed("integer", null);

	json_object_set_new(schema, "minimum", json_integer(min));
	if (max)
		json_object_set_new(schema, "maximum", json_integer(max));
	return schema;
}

static json_t *schema_real(const struct view_field *field)
{
	json_t *schema = schema_typed("number", field->null);

	json_object_set_new(schema, "minimum", json_integer(0));
	if (field->max)
		json_object_set_new(schema, "maximum", json_integer(field->max));
	return schema;
}

static json_t *schema_word(const struct view_field *field)
{
	json_t *words = json_array();

	for (unsigned int i = 0; i < WORDS; i++)
		if (fields_is_word(field->word(i)))
			json_array_append_new(words, json_string(field->word(i)));
	if (field->null)
		json_array_append_new(words, json_null());
	return json_pack("{s:o}", "enum", words);
}

static json_t *schema_words(const struct view_field *field)
{
	if (!field->word)
		return json_pack("{s:s, s:o}", "type", "array", "items", schema_text(field->null));
	return json_pack("{s:s, s:b, s:o}", "type", "array", "uniqueItems", 1, "items",
			 schema_word(field));
}

static json_t *schema_texts(const struct view_field *field)
{
	json_t *properties = json_object();

	if (!field->word)
		return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
				 schema_text(true));
	for (unsigned int i = 0; i < WORDS; i++)
		if (fields_is_word(field->word(i)))
			json_object_set_new(properties, field->word(i), schema_text(false));
	return schema_object(json_array(), properties);
}

static json_t *schema_table_or_null(const struct view_field *field)
{
	json_t *schema = schema_ref(field->table->name);

	return field->null ? json_pack("{s:[{s:s}, o]}", "oneOf", "type", "null", schema) : schema;
}

/* Of the bond, or of a slave. A count is null if an earlier build made the bond. */
static json_t *schema_drops(bool of_bond)
{
	json_t *required = json_array(), *properties = json_object();

	for (unsigned int i = 0; i < XBOND_DROPS; i++) {
		if (drops_is_of_bond(i) != of_bond)
			continue;
		json_array_append_new(required, json_string(drops_name(i)));
		json_object_set_new(properties, drops_name(i), schema_number(0, 0, true));
	}
	return schema_object(required, properties);
}

static json_t *schema_value(const struct view_field *field)
{
	switch (field->type) {
	case VIEW_COUNT: return schema_number(0, field->max, field->null);
	case VIEW_REAL: return schema_real(field);
	case VIEW_TRUTH: return schema_typed("boolean", field->null);
	case VIEW_MAC: return schema_ref("mac");
	case VIEW_WORD: return schema_word(field);
	case VIEW_WORDS: return schema_words(field);
	case VIEW_TEXTS: return schema_texts(field);
	case VIEW_OBJECT: return schema_table_or_null(field);
	case VIEW_ARRAY:
		return json_pack("{s:s, s:o}", "type", "array", "items",
				 schema_ref(field->table->name));
	case VIEW_TEXT: return schema_text(field->null);
	case VIEW_STRING: return field->word ? schema_word(field) : schema_text(field->null);
	case VIEW_DROPS: return schema_drops(field->index == XBOND_DROPS_OF_BOND);
	case VIEW_OPTIONS:
	case VIEW_FIELDS: break;
	}
	return NULL;
}

/* What is known of a bond of another ABI version is never null there, and it has no slaves. */
static json_t *schema_foreign(const struct view_field *field)
{
	struct view_field known = *field;

	if (!field->foreign)
		return json_pack("{s:s}", "type", "null");
	if (field->type == VIEW_ARRAY)
		return json_pack("{s:s, s:i}", "type", "array", "maxItems", 0);
	known.null = false;
	return schema_value(&known);
}

static void schema_add_fields(const struct view_table *table, bool foreign, bool optional,
			      json_t *required, json_t *properties)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct view_field *field = &table->fields[i];
		bool needed = !optional && !field->optional && !field->needs;
		json_t *schema;

		if (field->type == VIEW_FIELDS)
			schema_add_fields(field->table, foreign, optional || field->optional,
					  required, properties);
		if (!field->name || (foreign && field->needs))
			continue;
		if (field->type == VIEW_OPTIONS && !foreign)
			schema = json_pack("{s:o}", "$ref",
					   json_sprintf("#/definitions/%s_options", table->name));
		else
			schema = foreign ? schema_foreign(field) : schema_value(field);
		if (needed)
			json_array_append_new(required, json_string(field->name));
		json_object_set_new(properties, field->name, schema);
	}
}

static json_t *schema_table(const struct view_table *table, bool foreign)
{
	json_t *required = json_array(), *properties = json_object();

	schema_add_fields(table, foreign, false, required, properties);
	return schema_object(required, properties);
}

/* The names of the fields that are there in modes with these traits only: an array. */
static json_t *schema_names(const struct view_table *table, uint32_t needs)
{
	json_t *names = json_array();

	for (size_t i = 0; i < table->count; i++)
		if (table->fields[i].needs == needs)
			json_array_append_new(names, json_string(table->fields[i].name));
	return names;
}

static json_t *schema_none(const json_t *names)
{
	json_t *none = json_object();
	const json_t *name;
	size_t at;

	json_array_foreach (names, at, name)
		json_object_set_new(none, json_string_value(name), json_false());
	return none;
}

static json_t *schema_needs(uint32_t needs)
{
	json_t *of_bond = schema_names(&view_table_bond, needs);
	json_t *of_slave = schema_names(&view_table_slave, needs), *modes = json_array();
	json_t *no_bond = schema_none(of_bond), *schema;

	for (unsigned int i = 0; mode_at(i); i++)
		if (mode_at(i)->traits & needs)
			json_array_append_new(modes, json_string(mode_at(i)->name));
	json_object_set_new(no_bond, "slaves",
			    json_pack("{s:{s:o}}", "items", "properties", schema_none(of_slave)));
	schema = json_pack("{s:{s:{s:{s:o}}}, s:{s:o, s:{s:{s:{s:o}}}}, s:{s:o}}", "if",
			   "properties", "mode", "enum", modes, "then", "required", of_bond,
			   "properties", "slaves", "items", "required", of_slave, "else",
			   "properties", no_bond);
	return schema;
}

static json_t *schema_option(const struct option_spec *option)
{
	json_int_t min = option->min;
	json_t *names = json_array();

	for (const struct option_name *name = option->names; name && name->name; name++) {
		bool is_number = strspn(name->name, "0123456789") == strlen(name->name);

		if (is_number && name->number < min)
			min = name->number;
		else
			json_array_append_new(names, json_string(name->name));
	}
	for (unsigned int i = 0; option->id == OPT_MODE && mode_at(i); i++)
		json_array_append_new(names, json_string(mode_at(i)->name));
	switch (option->type) {
	case OPTION_ENUM: return json_pack("{s:o}", "enum", names);
	case OPTION_BOOL: return schema_typed("boolean", false);
	case OPTION_MAC: return schema_ref("mac");
	case OPTION_IFNAME:
	case OPTION_ADDRESS: return schema_text(true);
	case OPTION_INT: return schema_number(INT32_MIN, INT32_MAX, false);
	case OPTION_IPV4_LIST:
	case OPTION_IPV6_LIST:
		return json_pack("{s:s, s:{s:s}, s:i}", "type", "array", "items", "type", "string",
				 "maxItems", XBOND_MAX_TARGETS);
	case OPTION_UINT: break;
	}
	if (!json_array_size(names))
		return schema_number(min, option->max, false);
	return json_pack("{s:[{s:o}, o]}", "oneOf", "enum", names,
			 schema_number(min, option->max, false));
}

static json_t *schema_options(enum option_scope scope)
{
	json_t *required = json_array(), *properties = json_object();

	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		if (option->scope != scope || option->home == OPTION_NOWHERE)
			continue;
		json_array_append_new(required, json_string(option->name));
		json_object_set_new(properties, option->name, schema_option(option));
	}
	return schema_object(required, properties);
}

/* The table's definition, and those that it refers to. */
static void schema_define(json_t *definitions, const struct view_table *table)
{
	if (table->name && !json_object_get(definitions, table->name))
		json_object_set_new(definitions, table->name, schema_table(table, false));
	for (size_t i = 0; i < table->count; i++)
		if (table->fields[i].table)
			schema_define(definitions, table->fields[i].table);
}

/* A line for each property. */
static void schema_print(const json_t *definitions)
{
	const char *name, *key, *property;
	const json_t *definition, *value, *schema;
	const char *next = "";

	json_object_foreach ((json_t *)definitions, name, definition) {
		const char *comma = "";

		printf("%s    \"%s\": {", next, name);
		json_object_foreach ((json_t *)definition, key, value) {
			const char *inner = "";

			printf("%s\n      \"%s\": ", comma, key);
			comma = ",";
			if (strcmp(key, "properties")) {
				json_dumpf(value, stdout, JSON_ENCODE_ANY);
				continue;
			}
			printf("{");
			json_object_foreach ((json_t *)value, property, schema) {
				printf("%s\n        \"%s\": ", inner, property);
				json_dumpf(schema, stdout, JSON_ENCODE_ANY);
				inner = ",";
			}
			printf("\n      }");
		}
		printf("\n    }");
		next = ",\n";
	}
	printf("\n");
}

/* Beside the tables, `show` has those of bonds of another version, and options. */
static json_t *schema_of_show(void)
{
	json_t *definitions = json_pack("{s:{s:{s:{s:{s:s}}}, s:o, s:o}}", "known_or_foreign_bond",
					"if", "properties", "options", "type", "null", "then",
					schema_ref("foreign_bond"), "else", schema_ref("bond"));

	json_object_set_new(definitions, "foreign_bond", schema_table(&view_table_bond, true));
	schema_define(definitions, &view_table_bond);
	json_object_set_new(
		json_object_get(definitions, "bond"), "allOf",
		json_pack("[o, o]", schema_needs(MODE_LACP), schema_needs(MODE_RECEIVES)));
	json_object_set_new(definitions, "bond_options", schema_options(OPTION_BOND));
	json_object_set_new(definitions, "slave_options", schema_options(OPTION_SLAVE));
	json_object_set_new(definitions, "mac",
			    json_pack("{s:[s, s], s:s}", "type", "string", "null", "pattern",
				      "^([0-9a-f]{2}:){5}[0-9a-f]{2}$"));
	return definitions;
}

static json_t *schema_null_or(bool null, json_t *schema)
{
	if (!null)
		return schema;
	json_decref(schema);
	return schema_typed("null", false);
}

/* What events of this kind have, with what all have. */
static json_t *schema_event(enum event_kind kind)
{
	const struct event_kind_info *info = event_kind_info(kind);
	const struct view_table added = { info->name, info->fields, info->count };
	bool has_run = kind < EVENT_BONDD, of_slave = info->about == EVENT_ABOUT_SLAVE;
	json_t *slave = schema_text(info->about == EVENT_ABOUT_EITHER);
	json_t *required = json_pack("[s, s, s, s, s, s, s, s]", "time", "time_us", "bondd", "seq",
				     "kind", "bond", "slave", "text");
	json_t *properties = json_pack(
		"{s:o, s:o, s:o, s:o, s:{s:s}, s:o, s:o, s:o}", "time", schema_ref("time"),
		"time_us", schema_number(0, 0, false), "bondd",
		schema_null_or(!has_run, schema_ref("run")), "seq",
		schema_null_or(!has_run, schema_number(1, 0, false)), "kind", "const", info->name,
		"bond", schema_null_or(info->about == EVENT_ABOUT_NEITHER, schema_text(false)),
		"slave", schema_null_or(!of_slave && info->about != EVENT_ABOUT_EITHER, slave),
		"text", schema_text(false));

	schema_add_fields(&added, false, false, required, properties);
	return schema_object(required, properties);
}

static void schema_print_events(void)
{
	json_t *kinds = json_array(), *definitions = json_pack("{s:{}}", "event");

	for (int kind = 0; kind < EVENT_KINDS; kind++) {
		const struct event_kind_info *info = event_kind_info((enum event_kind)kind);
		const struct view_table added = { NULL, info->fields, info->count };

		json_array_append_new(kinds, schema_ref(info->name));
		json_object_set_new(definitions, info->name, schema_event((enum event_kind)kind));
		schema_define(definitions, &added);
	}
	json_object_set_new(json_object_get(definitions, "event"), "oneOf", kinds);
	json_object_set_new(definitions, "time",
			    json_pack("{s:s, s:s}", "type", "string", "pattern",
				      "^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
				      "\\.[0-9]{6}Z$"));
	json_object_set_new(definitions, "run",
			    json_pack("{s:s, s:s}", "type", "string", "pattern", "^[0-9a-f]{16}$"));
	schema_print(definitions);
	json_decref(definitions);
}

static void schema_print_table(const struct view_table *table)
{
	json_t *definitions = table == &view_table_bond ? schema_of_show() : json_object();

	schema_define(definitions, table);
	schema_print(definitions);
	json_decref(definitions);
}

/* The manuals */

static int manual_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += *text == '\t' ? 8 : 1;
	return width;
}

/* The words, in lines of at most 100 columns that begin with `indent`, the first with `begin`. */
static void manual_print_words(const char *begin, const char *indent, const char *text)
{
	int column = manual_width(begin);
	const char *space = "";

	printf("%s", begin);
	for (const char *at = text; *at; at += strspn(at, " ")) {
		int length = (int)strcspn(at, " ");

		if (*space && column + 1 + length > WIDTH) {
			printf("\n%s", indent);
			column = manual_width(indent);
			space = "";
		}
		column += printf("%s%.*s", space, length, at);
		space = " ";
		at += length;
	}
	printf("\n");
}

/* An item of a list, which may be indented by a tab. */
static void manual_print_item(const char *tab, const char *head, const char *text)
{
	char begin[8], indent[8], item[4096];

	snprintf(begin, sizeof(begin), "%s- ", tab);
	snprintf(indent, sizeof(indent), "%s  ", tab);
	snprintf(item, sizeof(item), "%s: %s", head, text);
	manual_print_words(begin, indent, item);
}

static const char *manual_type(enum view_type type)
{
	switch (type) {
	case VIEW_COUNT:
	case VIEW_REAL: return "number";
	case VIEW_TRUTH: return "boolean";
	case VIEW_TEXT:
	case VIEW_STRING:
	case VIEW_MAC:
	case VIEW_WORD: return "string";
	case VIEW_WORDS: return "array of strings";
	case VIEW_ARRAY: return "array of objects";
	case VIEW_TEXTS:
	case VIEW_OBJECT:
	case VIEW_DROPS:
	case VIEW_OPTIONS: return "object";
	case VIEW_FIELDS: break;
	}
	return "";
}

static void manual_describe(const struct view_field *field, char *ret_text, size_t size)
{
	const char *comma = "";
	int length = snprintf(ret_text, size, "%s", field->means);

	for (unsigned int i = 0; field->word && field->type != VIEW_TEXT && i < WORDS; i++) {
		if (!fields_is_word(field->word(i)))
			continue;
		length += snprintf(ret_text + length, size - (size_t)length, "%s%s",
				   *comma		       ? comma
				   : field->type == VIEW_TEXTS ? " Members: "
							       : " Values: ",
				   field->word(i));
		comma = ", ";
	}
	if (*comma)
		snprintf(ret_text + length, size - (size_t)length, ".");
	for (unsigned int i = 0; field->needs && mode_at(i); i++)
		if (mode_at(i)->traits & field->needs)
			snprintf(ret_text + strlen(ret_text), size - strlen(ret_text),
				 " Only in mode %s.", mode_at(i)->name);
}

/* An object of packets has what a bond or a slave itself has. */
static bool manual_has_own_list(const struct view_field *field)
{
	const struct view_table *table = field->table;

	for (size_t i = 0; i < PARTS; i++)
		if (fields_parts[i].table == table)
			return true;
	return field->type == VIEW_OBJECT &&
	       (table == &view_table_packets_of_bond || table == &view_table_packets_of_slave);
}

/* Several objects may have the same fields, which are listed once. */
static bool manual_is_listed(const struct view_table *table)
{
	static const struct view_table *listed[32];
	size_t i = 0;

	while (listed[i] && listed[i] != table)
		i++;
	if (listed[i])
		return true;
	listed[i] = table;
	return false;
}

/* prefix: the objects that it is in, as in "failover." */
static void manual_print_table(const char *tab, const struct view_table *table, const char *prefix)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct view_field *field = &table->fields[i];
		char text[2048], inner[128], head[256];

		snprintf(inner, sizeof(inner), "%s", prefix);
		if (field->name) {
			snprintf(head, sizeof(head), "*%s%s* (%s%s)", prefix, field->name,
				 manual_type(field->type),
				 !field->null		     ? ""
				 : field->type == VIEW_WORDS ? " and nulls"
							     : " or null");
			manual_describe(field, text, sizeof(text));
			manual_print_item(tab, head, text);
			snprintf(inner, sizeof(inner), "%s%s%s.", prefix, field->name,
				 field->type == VIEW_ARRAY ? "[]" : "");
		}
		if (field->table && !manual_has_own_list(field) && !manual_is_listed(field->table))
			manual_print_table(tab, field->table, inner);
	}
}

/* The kinds, and the fields that each adds. */
static void fields_print_events(void)
{
	const char *blank = "";

	for (int kind = 0; kind < EVENT_KINDS; kind++) {
		const struct event_kind_info *info = event_kind_info((enum event_kind)kind);
		const struct view_table added = { NULL, info->fields, info->count };
		char text[256];

		snprintf(text, sizeof(text), "%c%s.%s%s", toupper((unsigned char)info->meaning[0]),
			 info->meaning + 1, info->more ? " " : "", info->more ? info->more : "");
		printf("%s*%s*\n", blank, info->name);
		manual_print_words("\t", "\t", text);
		if (info->count)
			printf("\n");
		manual_print_table("\t", &added, "");
		blank = "\n";
	}
}

static void metrics_print(const struct view_field *field, const char *bond_labels)
{
	static const char *const types[] = { "gauge", "counter", "gauge", "histogram" };
	static const char *const suffixes[] = { "", "_total", "_info", "" };
	const struct view_metric *metric = &field->metric;
	const char *more = metric->labels ? metric->labels : "";
	const char *of = metric->of ? metric->of : bond_labels;
	char labels[128] = "", head[256], text[1024];

	if (*of || *more)
		snprintf(labels, sizeof(labels), "{%s%s%s}", of, *of && *more ? "," : "", more);
	snprintf(head, sizeof(head), "*%s%s*%s (%s)", metric->name, suffixes[metric->type], labels,
		 types[metric->type]);
	snprintf(text, sizeof(text), "%s%s%s", metric->help ? metric->help : field->means,
		 field->more ? " " : "", field->more ? field->more : "");
	manual_print_item("", head, text);
}

static void fields_print_metrics(const struct view_table *table, const char *bond_labels)
{
	for (size_t i = 0; i < table->count; i++) {
		if (table->fields[i].metric.name)
			metrics_print(&table->fields[i], bond_labels);
		if (table->fields[i].base)
			fields_print_metrics(table->fields[i].table, bond_labels);
	}
}

static void fields_print_all_metrics(void)
{
	fields_print_metrics(&view_table_bondd, "");
	fields_print_metrics(&view_table_bond, "bond");
	fields_print_metrics(&view_table_slave, "bond,slave");
}

static void fields_print_drops(void)
{
	char head[64];

	for (unsigned int i = 0; i < XBOND_DROPS; i++) {
		snprintf(head, sizeof(head), "*%s*%s", drops_name(i),
			 drops_is_of_bond(i) ? " (of the bond)" : "");
		manual_print_item("", head, drops_words(i));
	}
}

int main(int argc, char **argv)
{
	bool is_schema = argc == 3 && !strcmp(argv[1], "schema");
	bool is_list = argc == 3 && !strcmp(argv[1], "list");

	for (size_t i = 0; (is_schema || is_list) && i < PARTS; i++) {
		if (strcmp(fields_parts[i].name, argv[2]))
			continue;
		if (is_schema)
			schema_print_table(fields_parts[i].table);
		else
			manual_print_table("", fields_parts[i].table, "");
		return 0;
	}
	if (is_schema && !strcmp(argv[2], "monitor"))
		schema_print_events();
	else if (is_list && !strcmp(argv[2], "events"))
		fields_print_events();
	else if (is_list && !strcmp(argv[2], "metrics"))
		fields_print_all_metrics();
	else if (is_list && !strcmp(argv[2], "drops"))
		fields_print_drops();
	else
		return fprintf(stderr, "usage: fields schema|list NAME\n"), 1;
	return 0;
}
