/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one call of import has found: bonds, slaves and options, and remarks about lines that xbond
 * has no place for. Knows the option table, and no source.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/import/import.h"
#include "common/err.h"
#include "common/memory.h"
#include "options/config_file.h"
#include "options/names.h"
#include "options/option_set.h"

/* The memory of one call of import: pieces that are freed all at once, and an index of them. */

struct import_text {
	struct import_text *next;
	_Alignas(max_align_t) char bytes[];
};

void *import_memory(struct import *import, size_t size)
{
	struct import_text *text = memory_need(calloc(1, sizeof(*text) + size));

	text->next = import->texts;
	import->texts = text;
	return text->bytes;
}

/* The room doubles whenever the count is a power of two. */
void *import_grow(struct import *import, void *list, size_t count, size_t size)
{
	void *grown;

	if (count & (count - 1))
		return list;
	grown = import_memory(import, (count ? 2 * count : 1) * size);
	if (count)
		memcpy(grown, list, count * size);
	return grown;
}

char *import_text(struct import *import, const char *format, ...)
{
	va_list args, again;
	char *text;
	int length;

	va_start(args, format);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	text = import_memory(import, length < 0 ? 1 : (size_t)length + 1);
	if (length > 0)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

void import_free(struct import *import)
{
	struct import_text *next;

	for (struct import_text *text = import->texts; text; text = next) {
		next = text->next;
		free(text);
	}
	*import = (struct import){ 0 };
}

/* FNV-1a */
static size_t import_index_hash(const void *of, const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uintptr_t)of;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ hash >> 32);
}

/* Its entry, or the free one where it would be. There is room. */
static struct import_index_entry *import_index_at(const struct import_index *index, const void *of,
						  const char *name)
{
	size_t i = import_index_hash(of, name) & (index->room - 1);

	while (index->entries[i].name &&
	       (index->entries[i].of != of || strcmp(index->entries[i].name, name)))
		i = (i + 1) & (index->room - 1);
	return &index->entries[i];
}

static void import_index_grow(struct import *import, struct import_index *index)
{
	struct import_index grown = { .count = index->count,
				      .room = index->room ? 2 * index->room : 64 };

	grown.entries = import_memory(import, grown.room * sizeof(*grown.entries));
	for (size_t i = 0; i < index->room; i++)
		if (index->entries[i].name)
			*import_index_at(&grown, index->entries[i].of, index->entries[i].name) =
				index->entries[i];
	*index = grown;
}

void import_index_put(struct import *import, struct import_index *index, const void *of,
		      const char *name, const void *what)
{
	struct import_index_entry *entry;

	if (2 * index->count >= index->room)
		import_index_grow(import, index);
	entry = import_index_at(index, of, name);
	index->count += !entry->name;
	*entry = (struct import_index_entry){ .of = of, .name = name, .what = what };
}

const void *import_index_get(const struct import_index *index, const void *of, const char *name)
{
	return index->room ? import_index_at(index, of, name)->what : NULL;
}

/* Remarks about lines that xbond's configuration has no place for, or another one. */

#define SEPARATORS " \t\r\n\"':=+"

/* Whether the value behind such a key is for nobody's eyes. Tools write a key with '-', '_' or
 * none. */
static bool import_is_secret(const char *key, size_t length)
{
	static const char *const words[] = { "psk",	   "password",	"passphrase", "secret",
					     "wepkey",	   "key1",	"key2",	      "key3",
					     "privatekey", "sharedkey", "wirelesskey" };
	char plain[64];
	size_t count = 0;

	for (size_t i = 0; i < length && count < sizeof(plain) - 1; i++)
		if (key[i] != '-' && key[i] != '_')
			plain[count++] = (char)tolower((unsigned char)key[i]);
	plain[count] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(plain, words[i]))
			return true;
	return false;
}

/* A value may have any characters in it, so all that follows is left out as well. */
static const char *import_without_secrets(struct import *import, const char *what)
{
	const char *at = what;

	while (*at) {
		size_t length = 0;

		while (isalnum((unsigned char)at[length]) ||
		       (at[length] && strchr("-_", at[length])))
			length++;
		if (length && import_is_secret(at, length)) {
			const char *value = at + length + strspn(at + length, SEPARATORS);

			if (value > at + length && *value)
				return import_text(import, "%.*s(hidden)", (int)(value - what),
						   what);
		}
		at += length ? length : 1;
	}
	return what;
}

static void import_add_remark(struct import *import, enum import_fate fate,
			      const struct import_bond *bond, const struct import_line *line,
			      const char *format, va_list args)
{
	size_t count = import->remark_count++;
	char why[512] = "";

	if (format)
		vsnprintf(why, sizeof(why), format, args);
	import->remarks = import_grow(import, import->remarks, count, sizeof(*import->remarks));
	import->remarks[count] = (struct import_remark){
		.fate = fate,
		.line = *line,
		.bond = bond ? bond->name : NULL,
		.why = format ? import_text(import, "%s", why) : NULL,
		.order = count,
	};
	import->remarks[count].line.what = import_without_secrets(import, line->what);
}

void import_remark(struct import *import, enum import_fate fate, const struct import_bond *bond,
		   const struct import_line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	import_add_remark(import, fate, bond, line, format, args);
	va_end(args);
}

void import_refuse(struct import *import, struct import_bond *bond, const struct import_line *line,
		   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	import_add_remark(import, IMPORT_LOST, bond, line, format, args);
	va_end(args);
	if (!bond)
		import->is_incomplete = true;
	else if (!bond->refused.file)
		bond->refused = *line;
}

#define IMPORT_MAX_BONDS 256

struct import_bond *import_find_bond(const struct import *import, const char *name)
{
	for (size_t i = 0; i < import->bond_count; i++)
		if (!strcmp(import->bonds[i]->name, name))
			return import->bonds[i];
	return NULL;
}

/* bondctl and bondd speak JSON, where a name that is not UTF-8 has no place. */
static int import_check_text(const char *what, const char *text, struct err *err)
{
	json_t *json = json_string(text);

	json_decref(json);
	return json ? 0
		    : err_set(err, 1, "the %s is not UTF-8, so bondctl cannot address it", what);
}

static int import_check_bond(const struct import *import, const char *name, struct err *err)
{
	int r = name_check("bond", name, err);

	if (!r)
		r = import_check_text("bond's name", name, err);
	if (!r && name[0] == '.')
		return err_set(err, 1, "%s.conf would be a hidden file, which bondd does not read",
			       name);
	if (!r && import->bond_count == IMPORT_MAX_BONDS)
		return err_set(err, 1, "import takes at most %d bonds in one call",
			       IMPORT_MAX_BONDS);
	return r;
}

struct import_bond *import_bond(struct import *import, const char *name,
				const struct import_line *line)
{
	struct import_bond *bond = import_find_bond(import, name);
	struct err err;

	if (bond)
		return bond;
	if (import_check_bond(import, name, &err)) {
		import_refuse(import, NULL, line, "%s", err.text);
		return NULL;
	}
	bond = import_memory(import, sizeof(*bond));
	snprintf(bond->name, sizeof(bond->name), "%s", name);
	bond->line = *line;
	import->bonds = import_grow(import, import->bonds, import->bond_count,
				    sizeof(struct import_bond *));
	import->bonds[import->bond_count++] = bond;
	return bond;
}

struct import_bond *import_new_bond(struct import *import, const char *name,
				    const struct import_line *line)
{
	struct import_bond *bond = import_find_bond(import, name);

	if (!bond)
		return import_bond(import, name, line);
	import_refuse(import, bond, line, "%s is defined above already; give only one of the two",
		      bond->name);
	return NULL;
}

struct import_slave *import_find_slave(const struct import *import, const char *name,
				       struct import_bond **ret_bond)
{
	/* What the index has is not const. */
	struct import_slave *slave =
		(struct import_slave *)import_index_get(&import->slaves, NULL, name);

	if (slave && ret_bond)
		*ret_bond = slave->bond;
	return slave;
}

static int import_check_slave_name(const char *name, struct err *err)
{
	uint8_t mac[XBOND_MAC_SIZE];

	if (mac_parse(name, mac))
		return name_check("slave", name, err) ||
				       import_check_text("slave's name", name, err)
			       ? -1
			       : config_write_check_name(name, err);
	if (mac[0] & 1 || mac_is_zero(mac))
		return err_set(err, 1, "no device has the MAC address %s", name);
	return 0;
}

static int import_check_slave(const struct import *import, const struct import_bond *bond,
			      const char *name, struct err *err)
{
	struct import_bond *other = NULL;
	int r = import_check_slave_name(name, err);

	if (!r && import_find_slave(import, name, &other))
		return err_set(err, 1, "%s is a slave of %s already", name, other->name);
	if (!r && bond->slave_count == XBOND_MAX_SLAVES)
		return err_set(err, 1, "a bond of xbond has at most %d slaves", XBOND_MAX_SLAVES);
	return r;
}

struct import_slave *import_slave(struct import *import, struct import_bond *bond, const char *name,
				  const struct import_line *line)
{
	struct import_slave *slave;
	uint8_t mac[XBOND_MAC_SIZE];
	char text[MAC_FORMAT_SIZE];
	struct err err;

	if (!mac_parse(name, mac))
		name = mac_format(mac, text);
	slave = import_find_slave(import, name, NULL);
	if (slave && slave->bond == bond)
		return slave;
	if (import_check_slave(import, bond, name, &err)) {
		import_refuse(import, bond, line, "%s", err.text);
		return NULL;
	}
	slave = import_memory(import, sizeof(*slave));
	snprintf(slave->name, sizeof(slave->name), "%s", name);
	slave->bond = bond;
	import_index_put(import, &import->slaves, NULL, slave->name, slave);
	bond->slaves =
		import_grow(import, bond->slaves, bond->slave_count, sizeof(struct import_slave *));
	bond->slaves[bond->slave_count++] = slave;
	return slave;
}

struct import_option *import_find_option(const struct import_options *options, enum option_id id)
{
	for (size_t i = 0; i < options->count; i++)
		if (options->list[i].id == id)
			return &options->list[i];
	return NULL;
}

void import_remove_option(struct import_options *options, enum option_id id)
{
	struct import_option *option = import_find_option(options, id);

	if (option)
		*option = options->list[--options->count];
}

static struct import_option *import_option_add(struct import *import,
					       struct import_options *options, enum option_id id)
{
	struct import_option *option = import_find_option(options, id);

	if (option)
		return option;
	options->list = import_grow(import, options->list, options->count, sizeof(*options->list));
	option = &options->list[options->count++];
	*option = (struct import_option){ .id = id };
	return option;
}

/* Each address by itself, so that one that is refused costs no other. */
static void import_take_list(struct import *import, const struct import_bond *bond,
			     struct import_option *option, const char *text,
			     const struct import_line *line)
{
	char *rest = import_text(import, "%s", text), *address;
	struct err err;

	while ((address = strsep(&rest, ",")))
		if (*address &&
		    option_address_add(option_at(option->id), address, &option->value, &err))
			import_lost(import, bond, line, "%s", err.text);
}

/* What no value of the option says. Returns true if that was all there is to do. */
static bool import_special(struct import *import, struct import_bond *bond, enum option_id id,
			   const char **text, const struct import_line *line)
{
	uint8_t mac[XBOND_MAC_SIZE];
	char name[MAC_FORMAT_SIZE];

	if (id == OPT_MIIMON && !strcmp(*text, "0")) {
		import_changed(import, bond, line,
			       "xbond follows carrier anyway; miimon keeps its default");
		return true;
	}
	if (id == OPT_PRIMARY && !mac_parse(*text, mac)) {
		bond->primary_mac = import_text(import, "%s", mac_format(mac, name));
		bond->primary_line = *line;
		return true;
	}
	return false;
}

void import_option(struct import *import, struct import_bond *bond, struct import_slave *slave,
		   enum option_id id, const char *text, bool more, const struct import_line *line)
{
	const struct option_spec *spec = option_at(id);
	struct import_options *options =
		spec->scope == OPTION_SLAVE ? &slave->options : &bond->options;
	struct option_value value = { 0 };
	struct import_option *option;
	struct err err;

	if (import_special(import, bond, id, &text, line))
		return;
	if (import_check_text("value", text, &err) ||
	    (!option_is_list(spec) && option_parse(spec, text, &value, &err))) {
		if (id == OPT_MODE)
			import_refuse(import, bond, line, "%s", err.text);
		else
			import_lost(import, bond, line, "%s", err.text);
		return;
	}
	option = import_option_add(import, options, id);
	option->line = *line;
	if (!more || !option_is_list(spec))
		option->value = value;
	if (option_is_list(spec))
		import_take_list(import, bond, option, text, line);
}
