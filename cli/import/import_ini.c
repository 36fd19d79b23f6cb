/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_ini.h"

#include <string.h>

#include "cli/import/import_files.h"

void import_ini_add(struct import *import, struct import_ini *ini,
		    const struct import_ini_entry *entry)
{
	ini->entries = import_grow(import, ini->entries, ini->count, sizeof(*entry));
	ini->entries[ini->count++] = *entry;
}

static void import_ini_take(struct import *import, struct import_ini *ini, char *text,
			    struct import_ini_entry *entry)
{
	char *value;

	entry->line.what = import_text(import, "%s", text);
	value = strchr(text, '=');
	if (!value) {
		import_lost(import, NULL, &entry->line, "it is no line KEY=VALUE");
		return;
	}
	*value++ = '\0';
	entry->key = import_strip(text);
	entry->value = import_strip(value);
	import_ini_add(import, ini, entry);
}

void import_ini_read(struct import *import, const struct import_file *file, enum import_joins joins,
		     struct import_ini *ini)
{
	struct import_lines lines = { .rest = file->text, .joins = joins, .comments = "#;" };
	struct import_ini_entry entry = { .section = "", .line = { .file = file } };
	char *text;

	while ((text = import_next_line(import, &lines))) {
		size_t length = strlen(text = import_strip(text));

		entry.line.number = lines.number;
		if (!length || *text == '#' || *text == ';')
			continue;
		if (*text != '[' || text[length - 1] != ']') {
			import_ini_take(import, ini, text, &entry);
			continue;
		}
		text[length - 1] = '\0';
		entry.section = text + 1;
	}
}

static bool import_ini_is(const struct import_ini_entry *entry, const char *section,
			  const char *key)
{
	return !strcmp(entry->section, section) && !strcmp(entry->key, key);
}

const struct import_ini_entry *import_ini_find(const struct import_ini *ini, const char *section,
					       const char *key)
{
	for (size_t i = ini->count; i--;)
		if (import_ini_is(&ini->entries[i], section, key))
			return &ini->entries[i];
	return NULL;
}

const char *import_ini_value(const struct import_ini *ini, const char *section, const char *key)
{
	const struct import_ini_entry *entry = import_ini_find(ini, section, key);

	return entry ? entry->value : "";
}

/* In one piece of memory, because a file may have very many such lines. */
char *import_ini_list(struct import *import, const struct import_ini *ini, const char *section,
		      const char *key)
{
	size_t room = 1;
	char *list, *end;

	for (size_t i = 0; i < ini->count; i++)
		if (import_ini_is(&ini->entries[i], section, key))
			room += strlen(ini->entries[i].value) + 1;
	list = end = import_memory(import, room);
	for (size_t i = 0; i < ini->count; i++) {
		const struct import_ini_entry *entry = &ini->entries[i];

		if (!import_ini_is(entry, section, key))
			continue;
		if (!*entry->value)
			end = list;
		else if (end > list)
			*end++ = ' ';
		end = stpcpy(end, entry->value);
	}
	return list;
}

bool import_ini_has_section(const struct import_ini *ini, const char *section)
{
	for (size_t i = 0; i < ini->count; i++)
		if (!strcmp(ini->entries[i].section, section))
			return true;
	return false;
}
