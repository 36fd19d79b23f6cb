/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads keyfiles (nm-settings-keyfile(5)) and ifcfg files of Red Hat's initscripts, which
 * NetworkManager reads, too (nm-settings-ifcfg-rh(5)). The latter become the sections and keys that
 * a keyfile would have.
 */
#include <string.h>

#include "cli/import/import_files.h"
#include "cli/import/networkmanager.h"

static const struct {
	const char *variable, *section, *key;
} ifcfg_keys[] = {
	{ "DEVICE", "connection", "interface-name" },
	{ "NAME", "connection", "id" },
	{ "UUID", "connection", "uuid" },
	{ "ONBOOT", "connection", "autoconnect" },
	{ "MASTER", "connection", "controller" },
	{ "MASTER_UUID", "connection", "controller" },
	{ "SLAVE", "connection", "port-type" },
	{ "HWADDR", "ethernet", "mac-address" },
	{ "BOND_PORT_QUEUE_ID", "bond-port", "queue-id" },
	{ "BOND_PORT_PRIO", "bond-port", "prio" },
	{ "PHYSDEV", "vlan", "parent" },
};

/* The word that the shell would make of it: without quotes, and without a comment behind it. */
static char *nm_unquote(struct import *import, const char *value)
{
	char *text = import_text(import, "%s", value), *end = text, quote = '\0';

	for (; *value; value++) {
		if (!quote && strchr(" \t;&", *value))
			break;
		if (*value == quote)
			quote = '\0';
		else if (!quote && strchr("\"'", *value))
			quote = *value;
		else if (*value == '\\' && quote != '\'' && value[1])
			*end++ = *++value;
		else
			*end++ = *value;
	}
	*end = '\0';
	return text;
}

static void nm_add_bonding_options(struct import *import, struct import_ini *ini,
				   const struct import_ini_entry *variable, const char *value)
{
	char *rest = import_text(import, "%s", value), *word;

	while ((word = import_next_word(&rest, " \t"))) {
		struct import_ini_entry entry = { .section = "bond", .line = variable->line };

		entry.line.what = import_text(import, "%s", word);
		entry.key = strsep(&word, "=");
		entry.value = word ? word : "";
		import_ini_add(import, ini, &entry);
	}
}

static void nm_take_variable(struct import *import, struct import_ini *ini,
			     const struct import_ini_entry *variable)
{
	struct import_ini_entry entry = *variable;
	const char *on;

	entry.section = "ifcfg";
	entry.value = nm_unquote(import, variable->value);
	for (size_t i = 0; i < sizeof(ifcfg_keys) / sizeof(ifcfg_keys[0]); i++)
		if (!strcmp(variable->key, ifcfg_keys[i].variable)) {
			entry.section = ifcfg_keys[i].section;
			entry.key = ifcfg_keys[i].key;
		}
	on = import_switch(import, entry.value);
	if (!strcmp(variable->key, "BONDING_OPTS"))
		nm_add_bonding_options(import, ini, variable, entry.value);
	if (!strcmp(variable->key, "SLAVE") && on && !strcmp(on, "on"))
		entry.value = "bond";
	if (!strcmp(variable->key, "BONDING_OPTS") ||
	    (!strcmp(variable->key, "TYPE") && import_same(entry.value, "Bond")) ||
	    (!strcmp(variable->key, "BONDING_MASTER") && on && !strcmp(on, "on")))
		entry = (struct import_ini_entry){ "connection", "type", "bond", variable->line };
	else if (!strcmp(variable->key, "TYPE") || !strcmp(variable->key, "BONDING_MASTER"))
		return;
	import_ini_add(import, ini, &entry);
}

static void nm_read_ifcfg(struct import *import, const struct import_file *file,
			  struct import_ini *ini)
{
	struct import_ini variables = { 0 };

	import_ini_read(import, file, IMPORT_JOINS, &variables);
	for (size_t i = 0; i < variables.count; i++)
		nm_take_variable(import, ini, &variables.entries[i]);
}

/* A keyfile begins with a section, after comments. */
static bool nm_is_keyfile(struct import *import, const struct import_file *file)
{
	struct import_lines lines = { .rest = file->text };
	char *text;

	while ((text = import_next_line(import, &lines))) {
		text = import_strip(text);
		if (*text && *text != '#' && *text != ';')
			return *text == '[';
	}
	return false;
}

static void nm_describe(struct nm_profile *profile)
{
	const struct import_ini *ini = &profile->ini;

	profile->type = import_ini_value(ini, "connection", "type");
	profile->id = import_ini_value(ini, "connection", "id");
	profile->uuid = import_ini_value(ini, "connection", "uuid");
	profile->interface = import_ini_value(ini, "connection", "interface-name");
	if (!*profile->interface) /* NetworkManager before 1.0 */
		profile->interface = import_ini_value(ini, "bond", "interface-name");
	profile->controller = import_ini_find(ini, "connection", "controller");
	if (!profile->controller)
		profile->controller = import_ini_find(ini, "connection", "master");
}

static int nm_read_file(struct import *import, struct nm_profiles *profiles, const char *path,
			struct err *err)
{
	struct nm_profile profile = { 0 };
	const struct import_file *file;
	int r = import_file_read(import, path, &file, err);

	if (r)
		return r;
	if (nm_is_keyfile(import, file))
		import_ini_read(import, file, IMPORT_JOINS_NOT, &profile.ini);
	else
		nm_read_ifcfg(import, file, &profile.ini);
	nm_describe(&profile);
	profiles->list = import_grow(import, profiles->list, profiles->count, sizeof(profile));
	profiles->list[profiles->count++] = profile;
	return 0;
}

/* What editors and package managers leave is no profile. */
static bool nm_is_leftover(const char *path)
{
	static const char *const ends[] = { "~", ".bak", ".orig", ".rpmnew", ".rpmsave" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t length = strlen(ends[i]);

		if (strlen(path) > length && !strcmp(path + strlen(path) - length, ends[i]))
			return true;
	}
	return false;
}

/* begins: what the names of its files begin with. */
static int nm_read_dirs(struct import *import, struct nm_profiles *profiles,
			const char *const *dirs, const char *begins, struct err *err)
{
	size_t count;
	char **paths;
	int r = import_collect(import, dirs, "", &paths, &count, err);

	for (size_t i = 0; !r && i < count; i++)
		if (!strncmp(strrchr(paths[i], '/') + 1, begins, strlen(begins)) &&
		    !nm_is_leftover(paths[i]) && !import_is_dir(paths[i]))
			r = nm_read_file(import, profiles, paths[i], err);
	return r;
}

int nm_read_profiles(struct import *import, const struct import_request *request,
		     struct nm_profiles *profiles, struct err *err)
{
	const char *const own[] = {
		import_path(import, "/etc/NetworkManager/system-connections"),
		import_path(import, "/run/NetworkManager/system-connections"),
		import_path(import, "/usr/lib/NetworkManager/system-connections"), NULL
	};
	const char *const ifcfg[] = { import_path(import, "/etc/sysconfig/network-scripts"), NULL };
	int r = 0;

	if (!request->file_count) {
		r = nm_read_dirs(import, profiles, own, "", err);
		return r ? r : nm_read_dirs(import, profiles, ifcfg, "ifcfg-", err);
	}
	for (size_t i = 0; i < request->file_count && !r; i++) {
		const char *const dir[] = { request->files[i], NULL };

		r = import_is_dir(dir[0]) ? nm_read_dirs(import, profiles, dir, "", err)
					  : nm_read_file(import, profiles, dir[0], err);
	}
	return r;
}
