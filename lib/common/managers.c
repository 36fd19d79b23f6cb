/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/managers.h"
#include "common/paths.h"

#include <ctype.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_SIZE 256

bool managers_are_here(void)
{
	struct stat mine, first;

	return stat("/proc/self/ns/net", &mine) || stat("/proc/1/ns/net", &first) ||
	       mine.st_ino == first.st_ino;
}

/* The first KEY=VALUE of the file, as "" if there is none. */
static const char *managers_read(const char *path, const char *key, char ret_value[LINE_SIZE])
{
	FILE *file = fopen(path, "re");
	size_t length = strlen(key);
	char line[LINE_SIZE];

	ret_value[0] = '\0';
	while (file && !ret_value[0] && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, key, length) && line[length] == '=')
			strcpy(ret_value, line + length + 1);
	}
	if (file)
		fclose(file);
	return ret_value;
}

static bool managers_is_of_networkd(int ifindex)
{
	static const char *const managed[] = { "configuring", "configured", "failed" };
	char path[64], state[LINE_SIZE];

	snprintf(path, sizeof(path), "/run/systemd/netif/links/%d", ifindex);
	managers_read(path, "ADMIN_STATE", state);
	for (size_t i = 0; i < sizeof(managed) / sizeof(managed[0]); i++)
		if (!strcmp(state, managed[i]))
			return true;
	return false;
}

static bool managers_is_of_network_manager(int ifindex)
{
	char path[64], managed[LINE_SIZE], connection[LINE_SIZE];

	snprintf(path, sizeof(path), "/run/NetworkManager/devices/%d", ifindex);
	managers_read(path, "managed", managed);
	managers_read(path, "connection-uuid", connection);
	return !strcmp(managed, "true") || (connection[0] && strcmp(managed, "false"));
}

/* A line for each interface that is up: eth0=eth0. */
static bool managers_is_of_ifupdown(const char *name)
{
	char value[LINE_SIZE];

	return *managers_read("/run/network/ifstate", name, value);
}

const char *managers_find(int ifindex, const char *name, bool *ret_is_sure)
{
	*ret_is_sure = true;
	if (managers_is_of_network_manager(ifindex))
		return "NetworkManager";
	if (managers_is_of_networkd(ifindex))
		return "systemd-networkd";
	*ret_is_sure = false;
	return managers_is_of_ifupdown(name) ? "ifupdown" : NULL;
}

/* The first pattern that the name fits decides; a "!" before it means all but these. */
static bool managers_fits(const char *patterns, const char *separators, const char *name)
{
	char copy[LINE_SIZE], *rest = copy, *pattern;

	snprintf(copy, sizeof(copy), "%s", patterns);
	while ((pattern = strsep(&rest, separators))) {
		bool is_not = *pattern == '!';

		if (*pattern && !fnmatch(pattern + is_not, name, 0))
			return !is_not;
	}
	return false;
}

/* interfaces(5): iface NAME FAMILY METHOD */
static bool managers_in_interfaces(const char *line, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(line, "iface", 5) != 0 || !isspace((unsigned char)line[5]))
		return false;
	line += 5 + strspn(line + 5, " \t");
	return !strncmp(line, name, length) && isspace((unsigned char)line[length]);
}

/* nm-settings-keyfile(5): interface-name=NAME, or a list of patterns in [match] */
static bool managers_in_keyfile(const char *line, const char *name)
{
	return !strncmp(line, "interface-name=", 15) && managers_fits(line + 15, "; \t\r\n", name);
}

/* netplan(5): the name is a key, perhaps in quotes. */
static bool managers_in_yaml(const char *line, const char *name)
{
	const char *at = line, *comment = strchr(line, '#');
	size_t length = strlen(name);

	while ((at = strstr(at, name)) && (!comment || at < comment)) {
		const char *end = at + length;
		bool begins = at == line || strchr(" \t\"'{,", at[-1]);

		end += *end == '"' || *end == '\'';
		end += strspn(end, " \t");
		if (begins && *end == ':')
			return true;
		at += length;
	}
	return false;
}

/* systemd.network(5): what a file and its drop-ins ask of a device. */
struct managers_match {
	bool names, name_fits;
	bool kinds, kind_differs; /* Type= and Kind= */
	bool others;		  /* a MAC address, a path */
	bool unmanaged;
};

/* A "!" before the list means all but these. */
static bool managers_fits_list(const char *patterns, const char *word)
{
	bool is_not = *patterns == '!';

	return managers_fits(patterns + is_not, " \t", word) != is_not;
}

static void managers_match_take(struct managers_match *match, const char *key, const char *value,
				const char *name)
{
	if (!strcmp(key, "Name")) {
		match->names = true;
		match->name_fits |= managers_fits_list(value, name);
	} else if (!strcmp(key, "Type")) {
		match->kinds = true;
		match->kind_differs |= !managers_fits_list(value, "ether");
	} else if (!strcmp(key, "Kind")) {
		/* Which of them a bond is depends on the kernel. */
		match->kinds = true;
		match->kind_differs |= !managers_fits_list(value, "veth") ||
				       !managers_fits_list(value, "netkit") ||
				       !managers_fits_list(value, "team");
	} else {
		match->others = true;
	}
}

/* Cuts the line into a key and a value. */
static bool managers_match_cut(char *line, char **ret_key, char **ret_value)
{
	char *end = strchr(line, '=');

	if (!end || strchr("#;", *line))
		return false;
	*ret_key = line;
	*ret_value = end + 1 + strspn(end + 1, " \t");
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return true;
}

static void managers_match_read(struct managers_match *match, const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char buffer[LINE_SIZE], *key, *value;
	bool in_match = false, in_link = false;

	while (file && fgets(buffer, sizeof(buffer), file)) {
		char *line = buffer + strspn(buffer, " \t");

		line[strcspn(line, "\r\n")] = '\0';
		if (*line == '[') {
			in_match = !strncmp(line, "[Match]", 7);
			in_link = !strncmp(line, "[Link]", 6);
		} else if (managers_match_cut(line, &key, &value)) {
			if (in_match)
				managers_match_take(match, key, value, name);
			else if (in_link && !strcmp(key, "Unmanaged"))
				match->unmanaged = *value && strchr("1ytYT", *value);
		}
	}
	if (file)
		fclose(file);
}

#define NETWORKS "{/etc,/run,/usr/lib}/systemd/network/"

static void managers_match_drop_ins(struct managers_match *match, const char *root,
				    const char *file, const char *name)
{
	char pattern[PATH_MAX];
	glob_t paths;

	snprintf(pattern, sizeof(pattern), "%s" NETWORKS "%s.d/*.conf", root, file);
	if (paths_glob(pattern, &paths))
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++)
		managers_match_read(match, paths.gl_pathv[i], name);
	globfree(&paths);
}

/* A file that asks only for a kind of device is for all of that kind. */
static bool managers_is_matched(const char *root, const char *path, const char *name)
{
	struct managers_match match = {};

	managers_match_read(&match, path, name);
	managers_match_drop_ins(&match, root, paths_base(path), name);
	if (match.unmanaged || match.kind_differs || (match.names && !match.name_fits))
		return false;
	return match.names || (match.kinds && !match.others);
}

static bool managers_networkd(const char *root, const char *name)
{
	char pattern[PATH_MAX];
	bool found = false;
	glob_t paths;

	snprintf(pattern, sizeof(pattern), "%s" NETWORKS "*.network", root);
	if (paths_glob(pattern, &paths))
		return false;
	for (size_t i = 0; i < paths.gl_pathc && !found; i++)
		found = managers_is_matched(root, paths.gl_pathv[i], name);
	globfree(&paths);
	return found;
}

/* names: NULL if the file is there for the device: ifcfg-NAME */
static const struct {
	const char *manager, *files;
	bool (*names)(const char *line, const char *name);
} managers_files[] = {
	{ "netplan", "{/etc,/run,/usr/lib}/netplan/*.yaml", managers_in_yaml },
	{ "ifupdown", "/etc/network/{interfaces,interfaces.d/*}", managers_in_interfaces },
	{ "NetworkManager", "{/etc,/run,/usr/lib}/NetworkManager/system-connections/*",
	  managers_in_keyfile },
	{ "NetworkManager", "/etc/sysconfig/network-scripts/ifcfg-", NULL },
	{ "wicked", "/etc/sysconfig/network/ifcfg-", NULL },
};

static bool managers_is_named_in(const char *path, const char *name,
				 bool (*names)(const char *line, const char *name))
{
	FILE *file = fopen(path, "re");
	char line[LINE_SIZE];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = names(line + strspn(line, " \t"), name);
	if (file)
		fclose(file);
	return found;
}

const char *managers_configured(const char *root, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(managers_files) / sizeof(managers_files[0]) && !found; i++) {
		bool is_file_of_device = !managers_files[i].names;
		char pattern[PATH_MAX];
		glob_t paths;

		snprintf(pattern, sizeof(pattern), "%s%s%s", root, managers_files[i].files,
			 is_file_of_device ? name : "");
		if (paths_glob(pattern, &paths))
			continue;
		for (size_t k = 0; k < paths.gl_pathc && !found; k++)
			if (is_file_of_device ||
			    managers_is_named_in(paths.gl_pathv[k], name, managers_files[i].names))
				found = managers_files[i].manager;
		globfree(&paths);
	}
	return found || !managers_networkd(root, name) ? found : "systemd-networkd";
}
