/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads keyfiles (nm-settings-keyfile(5)), what 'nmcli connection show NAME...' prints, and ifcfg
 * files. The latter two become the sections and keys that a keyfile would have.
 */
#include <string.h>

#include "cli/import/import_tools.h"
#include "common/paths.h"

/* An option that the driver has, as nmcli prints them: "mode=1,arp_ip_target=192.0.2.1\,..." */
static void nm_add_options(struct import *import, struct import_ini *ini,
			   const struct import_ini_entry *options)
{
	char *at = import_text(import, "%s", options->value), *end;

	for (; *at; at = end) {
		struct import_ini_entry entry = { .section = "bond", .line = options->line };
		char *word = at, *to = at;

		/* A piece without '=' goes on with the list before it. */
		for (end = at; *end && (*end != ',' || end[1 + strcspn(end + 1, ",=")] != '=');
		     end++)
			if (end[0] != '\\' || end[1] != ',')
				*to++ = *end;
		end += *end == ',';
		*to = '\0';
		entry.line.what = import_text(import, "%s", word);
		entry.key = strsep(&word, "=");
		entry.value = word ? word : "";
		import_ini_add(import, ini, &entry);
	}
}

/* "SECTION.KEY:" at the beginning of a line. Returns its length, 0 if it is none. */
static size_t nm_export_key(const char *line)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_[]";
	size_t section = strspn(line, letters), key;

	if (!section || line[section] != '.')
		return 0;
	key = strspn(line + section + 1, letters);
	return key && line[section + 1 + key] == ':' ? section + 1 + key + 1 : 0;
}

/* nmcli prints all properties, most of which are as they are without being set. */
static bool nm_is_unset(const char *key, const char *value)
{
	static const char *const words[] = { "",	"--",	    "-1",     "0",
					     "0x0",	"no",	    "yes",    "unknown",
					     "default", "disabled", "routed", "auto" };
	size_t length = strcspn(value, " ");

	if (!strcmp(key, "method") || !strcmp(key, "autoconnect"))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == length && !strncmp(value, words[i], length))
			return true;
	return strstr(value, "(default)");
}

/* The scripts' form of nmcli has a backslash before a colon. */
static char *nm_export_value(struct import *import, const char *text)
{
	char *value = import_strip(import_text(import, "%s", text)), *to = value;

	for (const char *at = value; *at; at++)
		if (at[0] != '\\' || at[1] != ':')
			*to++ = *at;
	*to = '\0';
	return value;
}

static void nm_take_property(struct import *import, struct import_ini *ini, char *text,
			     size_t length, struct import_line line)
{
	struct import_ini_entry entry = { .section = text, .line = line };
	char *value = nm_export_value(import, text + length), *key = strchr(text, '.');

	text[length - 1] = '\0';
	entry.line.what = import_text(import, "%s: %s", text, value);
	*key++ = '\0';
	entry.key = key;
	entry.value = value;
	/* What is not of the profile but of the device has capitals; config has all of a team. */
	if (nm_is_unset(key, value) || (*text >= 'A' && *text <= 'Z') ||
	    (!strcmp(text, "team") && strcmp(key, "config")))
		return;
	if (!strcmp(text, "bond") && !strcmp(key, "options"))
		nm_add_options(import, ini, &entry);
	else
		import_ini_add(import, ini, &entry);
}

bool nm_is_bond(const char *type)
{
	return import_is_one_of(type, "bond", "team", "ovsbond", "ovs-port");
}

/* ifcfg files have several variables that say it. */
static const char *nm_type(const struct import_ini *ini)
{
	import_for_each_entry (entry, ini)
		if (!strcmp(entry->section, "connection") && !strcmp(entry->key, "type") &&
		    nm_is_bond(entry->value))
			return entry->value;
	return import_ini_value(ini, "connection", "type");
}

/* A file "ifcfg-NAME" is of the device NAME, if it does not say anything else. */
static const char *nm_named_by_file(const struct import_file *file)
{
	const char *base = paths_base(file->path);

	return strncmp(base, "ifcfg-", 6) ? "" : base + 6;
}

static void nm_describe(struct nm_profile *profile, const struct import_file *file)
{
	const struct import_ini *ini = &profile->ini;

	profile->type = nm_type(ini);
	profile->id = import_ini_value(ini, "connection", "id");
	profile->uuid = import_ini_value(ini, "connection", "uuid");
	profile->interface = import_ini_value(ini, "connection", "interface-name");
	if (!*profile->interface) /* NetworkManager before 1.0 */
		profile->interface = import_ini_value(ini, "bond", "interface-name");
	if (!*profile->interface && !*import_ini_value(ini, "ethernet", "mac-address"))
		profile->interface = nm_named_by_file(file);
	profile->controller = import_ini_find(ini, "connection", "controller");
	if (!profile->controller)
		profile->controller = import_ini_find(ini, "connection", "master");
}

static void nm_add_profile(struct import *import, struct nm_profiles *profiles,
			   const struct import_file *file, const struct import_ini *ini,
			   bool is_ifcfg)
{
	struct nm_profile profile = { .ini = *ini, .is_ifcfg = is_ifcfg };

	if (!ini->count)
		return;
	nm_describe(&profile, file);
	profiles->list = import_grow(import, profiles->list, profiles->count, sizeof(profile));
	profiles->list[profiles->count++] = profile;
}

/* A profile of an export, as far as it is read. */
struct nm_export {
	struct import_ini ini;
	const char *config; /* where the last entry's value begins that may have several lines */
};

static bool nm_is_config(const struct import_ini *ini)
{
	const struct import_ini_entry *last = ini->count ? &ini->entries[ini->count - 1] : NULL;

	return last && !strcmp(last->key, "config");
}

static void nm_end_config(struct import *import, struct nm_export *export, const char *end)
{
	if (export->config)
		export->ini.entries[export->ini.count - 1].value = nm_export_value(
			import,
			import_text(import, "%.*s", (int)(end - export->config), export->config));
	export->config = NULL;
}

/* at: where the line begins in the text of the file. */
static void nm_export_line(struct import *import, struct nm_export *export, char *text,
			   const char *at, struct import_line line)
{
	size_t length = nm_export_key(text), before = export->ini.count;

	if (length || !*text || *text == '-' || *text == '=')
		nm_end_config(import, export, at);
	if (length)
		nm_take_property(import, &export->ini, text, length, line);
	if (export->ini.count > before && nm_is_config(&export->ini))
		export->config = strchr(at, ':') + 1;
}

static void nm_read_export(struct import *import, struct nm_profiles *profiles,
			   const struct import_file *file)
{
	struct import_lines lines = { .rest = file->text };
	struct nm_export export = { .config = NULL };
	const char *at = lines.rest;
	char *text;

	for (; (text = import_next_line(import, &lines)); at = lines.rest) {
		text = import_strip(text);
		if (!strncmp(text, "connection.id:", 14)) {
			nm_end_config(import, &export, at);
			nm_add_profile(import, profiles, file, &export.ini, false);
			export = (struct nm_export){ .config = NULL };
		}
		nm_export_line(import, &export, text, at,
			       (struct import_line){ file, lines.number, NULL });
	}
	nm_end_config(import, &export, at);
	nm_add_profile(import, profiles, file, &export.ini, false);
}

/* The first line that is no comment tells what it is. */
static const char *nm_first_line(struct import *import, const struct import_file *file)
{
	struct import_lines lines = { .rest = file->text };
	char *text;

	while ((text = import_next_line(import, &lines))) {
		text = import_strip(text);
		if (*text && *text != '#' && *text != ';')
			return text;
	}
	return "";
}

static bool nm_is_export(const struct import_file *file)
{
	return !strncmp(file->text, "connection.id:", 14) || strstr(file->text, "\nconnection.id:");
}

/* "[section]"; "[ -f FILE ]" and "[[" are the shell's. */
static bool nm_is_keyfile(const char *first)
{
	return first[0] == '[' && !strchr(" \t[", first[1]);
}

static int nm_read_file(struct import *import, struct nm_profiles *profiles, const char *path,
			struct err *err)
{
	struct import_ini ini = { 0 };
	const struct import_file *file;
	int r = import_file_read(import, path, &file, err);
	const char *first = r ? "" : nm_first_line(import, file);

	if (r)
		return r;
	if (nm_is_export(file)) {
		nm_read_export(import, profiles, file);
		return 0;
	}
	if (nm_is_keyfile(first))
		import_ini_read(import, file, IMPORT_JOINS_NOT, &ini);
	else
		nm_read_ifcfg(import, file, &ini);
	nm_add_profile(import, profiles, file, &ini, !nm_is_keyfile(first));
	return 0;
}

/* What editors and package managers leave is no profile. */
static bool nm_is_leftover(const char *path)
{
	static const char *const ends[] = { "~", ".bak", ".orig", ".rpmnew", ".rpmsave" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (import_ends_with(path, ends[i]))
			return true;
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
		if (!strncmp(paths_base(paths[i]), begins, strlen(begins)) &&
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
	const char *const ifcfg[] = { import_path(import, "/etc/sysconfig/network-scripts"),
				      import_path(import, "/etc/sysconfig/network"), NULL };
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
