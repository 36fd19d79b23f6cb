/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ifcfg files: of Red Hat's initscripts, which NetworkManager reads, too (nm-settings-ifcfg-rh(5)),
 * and of SUSE's wicked (ifcfg-bonding(5)). They are sourced by a shell. They become the sections
 * and keys that a keyfile would have; what is not of the bond is in the section "ifcfg".
 */
#include <ctype.h>
#include <string.h>

#include "cli/import/import_tools.h"

#define BLANKS " \t\r\n"

static const struct {
	const char *variable, *section, *key;
} ifcfg_keys[] = {
	{ "DEVICE", "connection", "interface-name" },
	{ "NAME", "connection", "id" },
	{ "UUID", "connection", "uuid" },
	{ "ONBOOT", "connection", "autoconnect" },
	{ "MASTER", "connection", "controller" },
	{ "MASTER_UUID", "connection", "controller" },
	{ "TEAM_MASTER", "connection", "controller" },
	{ "TEAM_MASTER_UUID", "connection", "controller" },
	{ "SLAVE", "connection", "port-type" },
	{ "TYPE", "connection", "type" },
	{ "DEVICETYPE", "connection", "type" },
	{ "BONDING_MASTER", "connection", "type" },
	{ "HWADDR", "ethernet", "mac-address" },
	{ "TEAM_CONFIG", "team", "config" },
	{ "TEAM_PORT_CONFIG", "team-port", "config" },
	{ "BOND_IFACES", "slaves", "BOND_IFACES" },
	{ "OVS_OPTIONS", "ovs", "OVS_OPTIONS" },
	{ "BOND_PORT_QUEUE_ID", "bond-port", "queue-id" },
	{ "BOND_PORT_PRIO", "bond-port", "prio" },
	{ "PHYSDEV", "vlan", "parent" },
};

/* What the shell makes of a backslash and this character; '\0': nothing. */
static char ifcfg_escaped(char c, char quote)
{
	static const char letters[] = "nrt", means[] = "\n\r\t";
	const char *at = strchr(letters, c);

	if (c == '\n')
		return '\0';
	return quote == '$' && at ? means[at - letters] : c;
}

/* Whether a backslash in this quote only stands for itself; '$' is that of $'...'. */
static bool ifcfg_is_literal(char quote, char next)
{
	return quote == '\'' || !next || (quote == '"' && !strchr("$`\"\\\n", next));
}

/* The word that the shell would make of it, without quotes. ret_rest: what is behind the word. */
static char *ifcfg_unquote(struct import *import, const char *value, const char **ret_rest)
{
	char *text = import_text(import, "%s", value), *end = text, quote = '\0';

	for (; *value; value++) {
		if (!quote && strchr(" \t;&", *value))
			break;
		if (quote && *value == (quote == '$' ? '\'' : quote)) {
			quote = '\0';
		} else if (!quote && value[0] == '$' && value[1] == '\'') {
			quote = *value++;
		} else if (!quote && strchr("\"'", *value)) {
			quote = *value;
		} else if (*value == '\\' && !ifcfg_is_literal(quote, value[1])) {
			*end = ifcfg_escaped(*++value, quote);
			end += *end != '\0';
		} else {
			*end++ = *value;
		}
	}
	*end = '\0';
	*ret_rest = value + strspn(value, " \t");
	return text;
}

/* "VARIABLE=" or "VARIABLE+=" */
static bool ifcfg_is_assignment(const char *line)
{
	line += strspn(line, BLANKS);
	if (!strncmp(line, "export ", 7))
		line += 7;
	while (isalnum((unsigned char)*line) || *line == '_')
		line++;
	return line[*line == '+'] == '=';
}

/* Where the line ends that begins here: not within quotes, nor behind a backslash. */
static const char *ifcfg_line_end(const char *at, bool *ret_is_open)
{
	bool is_comment = !ifcfg_is_assignment(at);
	char quote = '\0';

	for (; *at && (quote || *at != '\n'); at++) {
		if (is_comment)
			continue;
		if (*at == '\\' && quote != '\'' && at[1])
			at++;
		else if (*at == quote)
			quote = '\0';
		else if (!quote && strchr("\"'", *at))
			quote = *at;
		else if (!quote && isblank((unsigned char)*at))
			is_comment = at[strspn(at, " \t")] == '#';
	}
	*ret_is_open = quote;
	return at;
}

/* Options of the driver, with blanks between them. */
static void ifcfg_add_options(struct import *import, struct import_ini *ini,
			      const struct import_line *line, const char *variable,
			      const char *value)
{
	char *rest = import_text(import, "%s", value), *word;

	while ((word = import_next_word(&rest, BLANKS))) {
		struct import_ini_entry entry = { .section = "bond",
						  .variable = variable,
						  .line = *line };

		entry.line.what = import_text(import, "%s", word);
		entry.key = strsep(&word, "=");
		entry.value = word ? word : "";
		import_ini_add(import, ini, &entry);
	}
}

/* The types that are ours, as keyfiles call them; the others in small letters. */
static const char *ifcfg_type(struct import *import, const char *value)
{
	const char *on = import_switch(import, value);
	char *type = import_text(import, "%s", value);

	if (on) /* BONDING_MASTER */
		return strcmp(on, "on") ? "" : "bond";
	for (char *at = type; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return type;
}

static void ifcfg_place(struct import *import, struct import_ini_entry *entry)
{
	entry->section = "ifcfg";
	if (!strncmp(entry->key, "BONDING_", 8))
		entry->section = strncmp(entry->key, "BONDING_SLAVE", 13) ? "bond" : "slaves";
	for (size_t i = 0; i < sizeof(ifcfg_keys) / sizeof(ifcfg_keys[0]); i++)
		if (!strcmp(entry->key, ifcfg_keys[i].variable)) {
			entry->section = ifcfg_keys[i].section;
			entry->key = ifcfg_keys[i].key;
			break;
		}
	if (!strcmp(entry->key, "port-type") && import_is_on(entry->value))
		entry->value = "bond";
	if (!strcmp(entry->key, "type"))
		entry->value = ifcfg_type(import, entry->value);
}

static bool ifcfg_is_bond_options(const char *variable)
{
	return !strcmp(variable, "BONDING_OPTS") || !strcmp(variable, "BONDING_MODULE_OPTS");
}

static void ifcfg_add_unclear(struct import *import, struct import_ini *ini,
			      const struct import_line *line, const char *why)
{
	import_ini_add(import, ini,
		       &(struct import_ini_entry){
			       .section = NM_UNCLEAR, .key = "", .value = why, .line = *line });
}

/* The last value counts of a variable that is set again. Each line is remarked once. */
static void ifcfg_forget(struct import *import, struct import_ini *ini, const char *variable)
{
	size_t kept = 0;

	if (!import_index_get(&ini->variables, NULL, variable))
		return;
	for (size_t i = 0; i < ini->count; i++) {
		const struct import_ini_entry entry = ini->entries[i];

		if (!entry.variable || strcmp(entry.variable, variable))
			ini->entries[kept++] = entry;
		else if (i + 1 == ini->count ||
			 ini->entries[i + 1].line.number != entry.line.number)
			import_lost(import, NULL, &entry.line,
				    "the variable is repeated below, and the last value counts");
	}
	ini->count = kept;
}

/* The options are entries of their own; the variable itself says that it is a bond. */
static void ifcfg_take_options(struct import *import, struct import_ini *ini,
			       struct import_ini_entry *entry, bool adds)
{
	if (adds && *entry->value && !strchr(BLANKS, *entry->value))
		ifcfg_add_unclear(import, ini, &entry->line,
				  "it continues the last word of the earlier value; write the "
				  "whole value in one line");
	ifcfg_add_options(import, ini, &entry->line, entry->variable, entry->value);
	entry->key = "TYPE";
	entry->value = "bond";
}

static void ifcfg_take_value(struct import *import, struct import_ini *ini,
			     struct import_ini_entry *entry, bool adds)
{
	bool is_options = ifcfg_is_bond_options(entry->key);

	if (!adds)
		ifcfg_forget(import, ini, entry->variable);
	if (is_options)
		ifcfg_take_options(import, ini, entry, adds);
	import_index_put(import, &ini->variables, NULL, entry->variable, ini);
	ifcfg_place(import, entry);
	if (adds && !is_options && strcmp(entry->section, "ifcfg") != 0)
		ifcfg_add_unclear(import, ini, &entry->line,
				  "+= needs a shell; write the whole value in one line");
	import_ini_add(import, ini, entry);
}

/* text: "VARIABLE=value" in the syntax of the shell, maybe of several lines. */
static void ifcfg_take(struct import *import, struct import_ini *ini, char *text,
		       const struct import_line *line)
{
	struct import_ini_entry entry = { .line = *line };
	char *what = import_text(import, "%s", text), *key;
	const char *rest;
	bool adds;

	for (char *at = what; (at = strchr(at, '\n'));)
		*at = ' ';
	entry.line.what = what;
	if (!strncmp(text, "export ", 7))
		text = import_strip(text + 7);
	key = strsep(&text, "=");
	adds = key[strcspn(key, "+")];
	key[strcspn(key, "+")] = '\0';
	entry.key = entry.variable = key;
	entry.value = ifcfg_unquote(import, text, &rest);
	if (*rest && *rest != '#')
		import_lost(import, NULL, &entry.line,
			    "the value ends at a blank, ';' or '&', because it is not "
			    "quoted");
	ifcfg_take_value(import, ini, &entry, adds);
}

/* A quote that does not end takes the rest of the file with it. */
static void ifcfg_add_open(struct import *import, struct import_ini *ini, char *text,
			   const struct import_line *line)
{
	struct import_line open = *line;

	open.what = import_text(import, "%.*s", (int)strcspn(text, "\n"), text);
	ifcfg_add_unclear(import, ini, &open, "the quote that begins here is never closed");
}

/* Commands are not run. One that may set what the bond is leaves it unclear. */
static void ifcfg_pass_over(struct import *import, struct import_ini *ini, const char *text,
			    struct import_line line)
{
	static const char why[] = "this is a shell command, which is not run";

	line.what = text;
	if (strstr(text, "BONDING_"))
		ifcfg_add_unclear(import, ini, &line, why);
	else
		import_lost(import, NULL, &line, "%s", why);
}

void nm_read_ifcfg(struct import *import, const struct import_file *file, struct import_ini *ini)
{
	struct import_line line = { .file = file, .number = 1 };
	const char *at = file->text, *end;
	bool is_open;

	for (; *at; at = end + (*end == '\n')) {
		char *text;

		end = ifcfg_line_end(at, &is_open);
		text = import_strip(import_text(import, "%.*s", (int)(end - at), at));
		if (is_open)
			ifcfg_add_open(import, ini, text, &line);
		else if (ifcfg_is_assignment(text))
			ifcfg_take(import, ini, text, &line);
		else if (*text && *text != '#')
			ifcfg_pass_over(import, ini, text, line);
		for (const char *in = at; in <= end && *in; in++)
			line.number += *in == '\n';
	}
}
